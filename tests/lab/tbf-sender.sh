#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A token bucket on the sender.
. tests/lab/lib.sh

lab_up
in_a tc qdisc add dev veth-a root tbf rate 1gbit burst 128k latency 20ms
lab_serve
lab_diagnose
expect_first qdisc-rate-limit local forward
expect_evidence "it names the configured rate" qdisc-rate-limit .rate_bps 1000000000
expect_clean reverse
expect "the bottleneck is the shaper" '.diagnosis.directions[] |
	select(.direction == "forward") | .bottleneck | .ceiling == "shaper" and .side == "local"'
lab_fix
expect_faster forward 2
done_testing
