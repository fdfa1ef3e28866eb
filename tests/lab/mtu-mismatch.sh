#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Jumbo frames here, none at the peer: it works, and is worth a word.
. tests/lab/lib.sh

lab_up
ip -n "$A" link set veth-a mtu 9000
lab_serve
lab_diagnose
expect "mtu-mismatch is low advice" \
	'any(.diagnosis.findings[]; .rule == "mtu-mismatch" and .severity == "low" and
		.proof == "static")'
expect_evidence "it names this host's MTU" mtu-mismatch 'local.links[veth-a].mtu' 9000
expect_evidence "it names the peer's MTU" mtu-mismatch 'peer.links[veth-b].mtu' 1500
expect_clean forward
expect_clean reverse
done_testing
