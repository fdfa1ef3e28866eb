#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Datagrams between the distribution's iperf3 and us, in both roles and every direction: what was
# sent and what arrived, as both sides tell it.

. tests/cli/lib.sh

need iperf3 jq

serve --allow-iperf3 --max-seconds 20

# ---- its client ----

# At this rate nothing is lost on loopback, however busy the machine is.
client() { # NAME OPTION...
	client_name=$1
	shift
	in_time 60 iperf3 -c 127.0.0.1 -p "$port" -u -t 1 -J "$@"
	cp "$work/out" "$work/$client_name"
}

# Of the direction that the client sends in, then of the other if there is one.  Whoever receives
# stops at the end of its time: what is sent last it may not see.
whole='.end | .sum_sent.packets > 0 and .sum_received.packets <= .sum_sent.packets and
	.sum_received.packets >= 0.8 * .sum_sent.packets and .sum_received.lost_packets == 0 and
	.sum_received.bytes * .sum_sent.packets == .sum_sent.bytes * .sum_received.packets'
some='.sent.packets > 0 and .sent.bytes >= .received.bytes and .received.packets > 0 and
	.received.packets <= .sent.packets and .received.lost_packets == 0'

for streams in 1 4 128; do
	client forward -P "$streams" -l 1000
	holds "its client, $streams streams: all that it sends arrives" "$whole" "$work/forward"
	client reverse -P "$streams" -l 1000 -R
	holds "reverse, $streams streams: it counts what we send" \
		".end | {sent: .sum_sent, received: .sum_received} | $some" "$work/reverse"
	client both -P "$streams" -l 1000 --bidir
	holds "both ways, $streams streams: what it sends" "$whole" "$work/both"
	holds "both ways, $streams streams: what we send" ".end | {sent: .sum_sent_bidir_reverse,
		received: .sum_received_bidir_reverse} | $some" "$work/both"
	holds "both ways, $streams streams: every one of them" \
		".end.streams | length == 2 * $streams" "$work/both"
done

client rate -b 8M -l 1000
holds "a rate: we take in what it sends" "($whole) and .end.sum_sent.packets > 200" "$work/rate"
client rate -b 8M -l 1000 -R
holds "a rate that we keep" '.end.sum_sent.bytes | . > 200000 and . < 1500000' "$work/rate"
client usual -R
holds "the usual one is 1 Mbit/s" '.end.sum_sent.bytes < 300000' "$work/usual"
client old -l 1000 --udp-counters-64bit
holds "64-bit numbers" "$whole" "$work/old"
client warm -O 1 -b 8M -l 1000
holds "a warm-up that is left out" '.end.sum_received.bytes | . > 0 and . < 1800000' "$work/warm"

# From one host they take turns at opening their streams, and run side by side.
four_at_a_time "($whole) and (.end.streams | length == 16)" -u -t 1 -P 16 -l 1000
still_serves "and a netdoctor after all of them"

# Of its host, and told to open their streams or waiting for that.  Each could keep it for 10 s, all for a minute.
asks='{"udp":true,"omit":0,"time":5,"parallel":1,"len":1000,"bandwidth":1000000}'
start silent tests/cli/stranger.pl connect "$port" 6 cookie take:1 \
	"say:$(printf '000000%02x' ${#asks})$(printf %s "$asks" | od -An -tx1 | tr -d ' \n')"
wait_for "$work/silent" "done" || give_up "silent strangers"
in_time 30 iperf3 -c 127.0.0.1 -p "$port" -u -n 10K -l 1000 -b 10M -J
holds "silent clients of its host do not hold a client up" "$whole"

# Nor does who opens streams beside its own, which say nothing of whose they are.
start hellos tests/cli/stranger.pl hellos "$port"
hellos=$started
wait_for "$work/hellos" "done" || give_up "a program that opens streams"
for i in 1 2 3; do
	in_time 60 iperf3 -c 127.0.0.1 -p "$port" -u -t 1 -P 16 -l 1000 -J
	holds "with a program beside it that opens streams, $i" '.error == null and (.end |
		.sum_sent.packets > 0 and .sum_received.packets > 0.5 * .sum_sent.packets and
		(.streams | length == 16))'
done
kill "$hellos"
stop_server

# ---- its server ----

start theirs iperf3 --forceflush -s -p "$port"
wait_for "$work/theirs" 'Server listening' || give_up "iperf3 -s listens"

for streams in 1 4 64; do
	for way in forward reverse bidir; do
		option=
		[ "$way" = forward ] || option=--$way
		# shellcheck disable=SC2086
		in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -u -t 1 -O 0 -P "$streams" -l 1000 \
			$option --report json
		holds "its server, $streams streams, $way: both count datagrams" '
			.error == null and (.end | .sum_sent.packets > 0 and
				.sum_received.packets > 0 and .sum_received.lost_packets == 0 and
				(.streams | length) == '"$streams * $([ "$way" = bidir ] && echo 2 ||
				echo 1)"')'
	done
done

# All that we send counts, from the first byte on, at both ends and in the intervals.
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -u -t 1 -b 20M -l 1000 --report json
holds "its server counts what we have sent" '.end | .sum_sent.packets > 1000 and
	.sum_sent.packets == .sum_received.packets'
holds "and so do our intervals" '([.intervals[].sum.packets] | add) == .end.sum_sent.packets'
holds "the sum's rate is the sender's, as iperf3's" '.end |
	.sum.bits_per_second == .sum_sent.bits_per_second and
	.sum.seconds == .sum_received.seconds'
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -u -t 1 -O 1 -b 8M -l 1000 --report json
holds "a warm-up that we leave out, and it" '.end | .sum_sent.packets > 500 and
	.sum_received.packets < 1.5 * .sum_sent.packets and
	.sum_received.packets > 0.6 * .sum_sent.packets'
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -u -R -t 1 -O 1 -b 8M -l 1000 --report json
holds "the same when it sends" '.end | .sum_received.packets > 500 and
	.sum_sent.packets < 1.5 * .sum_received.packets'

done_testing
