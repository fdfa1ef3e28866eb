#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Other programs compute on every CPU while the traffic flows.
. tests/lab/lib.sh

hogs=
stop_hogs() {
	for pid in $hogs; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done
	hogs=
}
trap 'stop_hogs; lab_down' EXIT

lab_up
lab_serve
for _ in $(seq $((2 * $(nproc)))); do
	sh -c 'while :; do :; done' &
	hogs="$hogs $!"
done
lab_diagnose --forward --no-experiments
stop_hogs
expect_first cpu-contention both forward
expect "the evidence says how much the others took" '[.diagnosis.findings[0].evidence[] |
	select(.fact | endswith("CPUs used by others")) | .value | tonumber] | .[0] >= 0.3'
expect "full CPUs are no cause of their own" '[.diagnosis.findings[] |
	select(.rule == "cpu-total-saturated" and .direction == "forward")] == []'
done_testing
