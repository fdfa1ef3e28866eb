#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# netdoctor test against the distribution's iperf3: recognised at the first try, whatever is asked.

. tests/cli/lib.sh
need iperf3 jq

# A port that is free now.
serve
stop_server
start theirs iperf3 --forceflush -s -p "$port"
theirs=$started
wait_for "$work/theirs" 'Server listening' || give_up "iperf3 -s listens"

both='.error == null and (.end | .sum_sent.bytes > 0 and .sum_received.bytes > 0)'
while read -r streams options; do
	# Words on purpose.
	# shellcheck disable=SC2086
	in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" --report json $options
	holds "$options" "$both and (.end.streams | length) == $streams and
		([.end.streams[] | .udp // .sender | .bytes > 0] | all)"
done <<'END'
1 -t 1
1 -t 1 -R
2 -t 1 --bidir
4 -t 1 -P 4
4 -t 1 -P 4 -R -u
8 -t 1 -P 4 --bidir
1 -n 20M
1 -k 100 -l 64K -R
1 -t 1 -O 1 -b 20M
END
# The warm-up of 12.5 MB is none of it, in neither direction.
whole='10485760'
while read -r options; do
	# Words on purpose.
	# shellcheck disable=SC2086
	in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" --report json -O 1 -b 100M $options
	holds "an amount after a warm-up: $options" ".error == null and (.end |
		[.sum_sent, .sum_received, .sum_sent_bidir_reverse, .sum_received_bidir_reverse] |
		map(.bytes // empty) | all(. > 0.7 * $whole and . < 1.3 * $whole))"
done <<'END'
-n 10M
-k 80
-n 10M -R
-n 10M --bidir
-n 10M -u -l 1400
END
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -t 1 -N -b 20M/10 --report json
holds "what is sent before the first sample counts, too" '.end | .sum_sent.bytes > 1000000 and
	.sum_sent.bytes == .sum_received.bytes'
# 10.5 Mbit, then nothing for a second: the pause is a part of the second.
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -t 1 -b 10M/10 --report json
holds "a pause until the end counts, too" '.end.sum_sent.seconds >= 0.95'
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -t 1 --report json
holds "its congestion control" '.end | has("sender_tcp_congestion") and
	has("receiver_tcp_congestion")'
holds "how busy it was" '.end.cpu_utilization_percent | .remote_total > 0 and
	.remote_user + .remote_system > 0 and
	(.remote_user + .remote_system - .remote_total | fabs) < 0.1'
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -t 1
says "the same in words" '^CPU, peer: its iperf3 [0-9.]+% of a core \(user'
in_time 60 "$NETDOCTOR" test "iperf3://127.0.0.1:$port" -t 1 --json-stream
[ "$(jq -r .event "$work/out" | tr '\n' ' ')" = "start interval end " ] && pass "line by line" ||
	{ show; fail "line by line"; }

# Either side is killed in the middle.
start client "$NETDOCTOR" test "127.0.0.1:$port" -t 60 -b 10M
wait_for "$work/client" ' 0\.00-[0-9.]+ +sec' || give_up "a test that goes on"
kill -KILL "$started"
ends "$started"
for _ in $(seq $((bound * 2))); do
	in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -n 1M --report json
	[ "$status" -eq 0 ] && break
	sleep 0.5
done
holds "its server is free after a client of ours was killed" "$both"
start client "$NETDOCTOR" test "127.0.0.1:$port" -t 60 -b 10M
wait_for "$work/client" ' 0\.00-[0-9.]+ +sec' || give_up "a test that goes on"
kill -KILL "$theirs"
ends "$started"
check "its server is killed: our client ends" [ "$status" -eq 3 ]
says "and says why" '^netdoctor: .* closed the connection in the middle of the run' "$work/client"

done_testing
