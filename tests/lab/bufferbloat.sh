#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A long queue in a router on the way: round trips under load, in the direction that fills it.
. tests/lab/lib.sh

lab_up_routed
# shellcheck disable=SC2034 # for lab_diagnose
lab_peer=10.77.2.2
in_r tc qdisc add dev to-b root tbf rate 200mbit burst 64k latency 200ms
lab_serve
lab_diagnose --latency --no-experiments
expect "the idle path is measured, once" '[.exam.runs[].latency.idle.p50_us] |
	.[0] < 20000 and .[1:] == [null, null]'
expect "forward, requests wait in the queue" '.exam.runs[0].latency |
	.loaded.p50_us > 40000 and .loaded.p50_us > 10 * .idle.p50_us'
expect "in reverse only acknowledgements pass it" \
	'.exam.runs | .[1].latency.loaded.p50_us < .[0].latency.loaded.p50_us / 2'
in_a "$NETDOCTOR" show "$report" --report text >"$lab_dir/text"
tr -s ' \n' ' ' <"$lab_dir/text" >"$lab_dir/line"
check "the report says how many times as long" grep -qE \
	'Run forward round trip .* idle, [0-9.]+ ms .p99 [0-9.]+ ms. under load: [0-9]{2,} times' \
	"$lab_dir/line"
grep -A3 '^Run ' "$lab_dir/text" | sed 's/^/# /'
done_testing
