#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The path is cut in mid-run, without a word to either end, for longer than an outage: both notice,
# what was measured is reported, and the server serves the next client.
. tests/lab/lib.sh

lab_up
lab_serve

for way in forward reverse; do
	in_a "$NETDOCTOR" diagnose "$lab_peer" --key-file "$lab_dir/key" --report json -o "$report" \
		-t 60 -O 0.2 --no-experiments "--$way" 2>"$lab_dir/err" &
	client=$!
	sleep 2.5
	cut=$(date +%s)
	ip -n "$B" link set veth-b down
	wait "$client"
	code=$?
	took=$(($(date +%s) - cut))
	sed 's/^/# /' "$lab_dir/err"
	echo "# status $code after $took s"
	check "$way: the client ends" [ "$code" -le 3 ]
	check "$way: in time" [ "$took" -le 40 ]
	check "$way: in one line" [ "$(grep -c '' "$lab_dir/err")" -eq 1 ]
	expect "$way: its report says why" '.exam.problem | test("no sign of life|gone")'
	expect "$way: with the run until then" '.exam.runs[0] | .status == "incomplete" and
		.goodput_bps > 1000000 and .seconds > 1 and .seconds < 4'
	ip -n "$B" link set veth-b up
	# Else it is still held to be unreachable.
	ip -n "$A" neigh flush dev veth-a
done

# The server must not wait for clients that are gone.
begun=$(date +%s)
lab_diagnose -t 1 --forward --no-experiments
took=$(($(date +%s) - begun))
echo "# the next client took $took s"
check "the next client is served" [ "$code" -le 2 ]
check "and need not wait long" [ "$took" -le 15 ]
check "the server noticed both" [ "$(grep -c 'session over: ' "$lab_dir/serve.out")" -ge 2 ]
sed 's/^/# server: /' "$lab_dir/serve.out"
done_testing
