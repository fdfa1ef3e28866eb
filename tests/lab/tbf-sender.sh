#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A token bucket on the sender.
. tests/lab/lib.sh

lab_up
in_a tc qdisc add dev veth-a root tbf rate 1gbit burst 128k latency 20ms
lab_serve
lab_diagnose --latency
expect_first qdisc-rate-limit local forward
expect_evidence "it names the configured rate" qdisc-rate-limit .rate_bps 1000000000
expect_evidence "and the round trips that its queue makes" qdisc-rate-limit \
	"runs[1-forward-all-streams].latency.loaded.p50_us" \
	"$(jq '.exam.runs[0].latency.loaded.p50_us' "$report")"
expect_clean reverse
expect "the bottleneck is the shaper" '.diagnosis.directions[] |
	select(.direction == "forward") | .bottleneck | .ceiling == "shaper" and .side == "local"'
lab_fix
expect_faster forward 2
done_testing
