#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The classic "stuck at 6 Gbit/s": segmentation and receive offloads off on both hosts.
. tests/lab/lib.sh

lab_up
in_a ethtool -K veth-a tso off gso off gro off
in_b ethtool -K veth-b tso off gso off gro off
lab_serve
lab_diagnose --forward
expect_first offload-tso-off local forward
expect "it names the other offloads as the same cause" \
	'[.diagnosis.findings[0].also[]] | contains(["offload-gso-off", "offload-gro-off"])'
expect "half the segment size was tried" '[.exam.runs[].purpose] | index("half-segments") != null'
expect "the peer's GRO is in the evidence" '[.diagnosis.findings[0].evidence[] |
	select(.fact | endswith("rx-gro].active"))] | length == 1'
expect "the fix turns on what is off" \
	'.diagnosis.findings[0].fix.commands == ["ethtool -K veth-a tso on gso on"]'
expect "the undo is its opposite" \
	'.diagnosis.findings[0].fix.undo == ["ethtool -K veth-a tso off gso off"]'
lab_fix
expect_faster forward 2
expect_clean forward
done_testing
