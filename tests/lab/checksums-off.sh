#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The sending peer computes checksums: the kernel drops scatter-gather, TSO and GSO with them.
. tests/lab/lib.sh

lab_up
in_b ethtool -K veth-b tx off >/dev/null
lab_serve
lab_diagnose -R
expect_first offload-tx-csum-off peer reverse
expect "what depends on it is no cause of its own" '[.diagnosis.findings[].rule] |
	any(. == "offload-tso-off" or . == "offload-sg-off" or . == "offload-gso-off") | not'
lab_fix
expect_faster reverse 1.5
expect_clean reverse
done_testing
