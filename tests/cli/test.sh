#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# netdoctor test: the engine alone, in the words of iperf3.
. tests/cli/lib.sh
need jq

# measure ARGUMENT...: a short test against our server, into $work/out and $work/err.  On a machine
# that is busy with other things it may get no CPU in all its time, and says so: then again.
measure() {
	for _ in 1 2 3 4; do
		in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" --key "$key" "$@"
		grep -qE 'could not look|measured (nothing|only)' "$work/err" || return 0
		sleep 2
	done
}

# measured NAME: it went well.
measured() {
	if [ "$status" -eq 0 ] && [ ! -s "$work/err" ]; then
		pass "$1"
	else
		show
		fail "$1"
	fi
}

# Names and types of all values, but for what is ours alone.
keys() { # FILE
	jq -r 'del(.netdoctor) | del(.intervals[].netdoctor) |
		paths(type != "object" and type != "array") as $p |
		($p | map(if type == "number" then "[]" else . end) | join(".")) + " " +
		(getpath($p) | type)' "$1" | sort -u
}

# as_iperf3 NAME: what a real iperf3 prints is all in $work/out.
as_iperf3() {
	keys "$work/out" >"$work/keys"
	if comm -23 "tests/cli/iperf3-json/$1.keys" "$work/keys" >"$work/missing" &&
		[ ! -s "$work/missing" ]; then
		pass "$1: all that iperf3 -J prints, in its types"
	else
		sed 's/^/# missing: /' "$work/missing"
		fail "$1: all that iperf3 -J prints, in its types"
	fi
}

error "no peer" 64 'want the PEER' test
error "a test without an end" 64 'without an end' test 127.0.0.1 -t 0
error "two ends" 64 '--time excludes --bytes' test 127.0.0.1 -t 3 -n 1M
error "bytes and blocks" 64 'exclude each other' test 127.0.0.1 -k 3 -n 1M
error "two directions" 64 '--reverse and --bidir' test 127.0.0.1 -R --bidir
error "sendfile of datagrams" 64 'of TCP' test 127.0.0.1 -u -Z
error "offloads of datagrams without them" 64 'want --udp' test 127.0.0.1 --gso
error "a rate that is none" 64 '--bitrate' test 127.0.0.1 -b 10M/0
error "a CPU that is none" 64 '--affinity' test 127.0.0.1 -A 1,x
error "a TOS that is none" 64 '--tos' test 127.0.0.1 -S 0x1ff
error "a fraction that begins with its point" 64 '--interval: want 0.1 to 3600 seconds, or 0' \
	test 127.0.0.1 -i .05
error "an interval too long" 64 '--interval 1e6: want 0.1 to 3600 seconds, or 0' \
	test 127.0.0.1 -i 1e6
error "an interval of a point" 64 '--interval .: want 0.1 to 3600 seconds, or 0' \
	test 127.0.0.1 -i .
error "nobody there" 3 'refused' test 127.0.0.1:1

in_time "$bound" "$NETDOCTOR" test 127.0.0.1:1 -J
check "nobody there, in JSON: exit status" [ "$status" -eq 3 ]
holds "a whole object with the error" \
	'.start.connected == [] and .intervals == [] and .end == {} and (.error | test("refused"))'

serve

measure -t 1.5 -P 2 -i .5
measured "two streams"
says "a line a stream" \
	'^\[  7\] +0\.00-[01]\.[0-9]+ +sec +[0-9.]+ [KMG]?Bytes +[0-9.]+ [KMG]?bits/sec'
says "their sum" '^\[SUM\] .* sender$'
says "the busiest core" '^\[CPU\] .* core [0-9]+ [0-9]+% \('
says "what held TCP up" 'RTT min/mean/max .* limited by'

measure -t 1 -R -q
measured "reverse, quiet"
check "no intervals" [ "$(grep -c '^\[  5\]' "$work/out")" -eq 2 ]

# The sender counts it exactly; the receiver has what was in flight when the warm-up ended, too.
while read -r options; do
	# Words on purpose.
	# shellcheck disable=SC2086
	measure -J -O 0.5 -b 100M $options
	holds "an amount after a warm-up: $options" '.error == null and
		(.end | [.sum_sent.bytes, .sum_sent_bidir_reverse.bytes // empty] |
		all(. == 10485760)) and
		(.end | [.sum_received.bytes, .sum_received_bidir_reverse.bytes // empty] |
		all(. > 7000000 and . < 14000000)) and .end.sum_sent.seconds > 0.5'
done <<'END'
-n 10M
-n 10M -R
-n 10M -P 4 -b 25M
-n 10M --bidir
-k 80
-n 10M -u
-n 10M -u -R
-n 10M -u --bidir
END
measure -n 20M -J
measured "by bytes"
holds "exactly so many were sent and received" \
	'.end.sum_sent.bytes == 20971520 and .end.sum_received.bytes == 20971520'
measure -k 10 -l 64K -R -J
holds "by blocks, from the peer" '.end.sum_received.bytes == 655360'

# Without a warm-up from the first byte to the sender's last.
for options in "" "-R" "--bidir" "-P 4 -R"; do
	# shellcheck disable=SC2086
	measure -t 1 -J $options
	holds "no receiver counts more than was sent: $options" '.error == null and (.end |
		.sum_received.bytes <= .sum_sent.bytes and .sum_received.bytes > 0 and
		(.sum_received_bidir_reverse.bytes // 0) <= (.sum_sent_bidir_reverse.bytes // 0))'
done

measure -t 1 -i 0.5 -O 0.5 -J
measured "TCP in JSON"
as_iperf3 tcp
holds "intervals add up" '([.intervals[] | select(.sum.omitted | not) | .sum.bytes] | add) as $n |
	.end.sum_sent.bytes == $n'
holds "the warm-up is marked" '.intervals[0].sum.omitted and (.intervals[-1].sum.omitted | not)'
holds "cores of both ends" 'all(.intervals[].netdoctor; .local.cores | length > 0) and
	any(.intervals[].netdoctor; .peer.busiest.busy >= 0)'
holds "what a report has of the run" '.netdoctor.run.status == "complete"'
# What perfSONAR, dashboards and scripts read.
holds "what consumers read" '(.end.sum_received.bits_per_second > 0) and
	(.end.sum_sent.retransmits >= 0) and (.intervals[0].sum.bits_per_second > 0) and
	(.end.cpu_utilization_percent.host_total > 0) and (has("error") | not)'

measure -t 1 -R -J
as_iperf3 tcp-reverse
measure -t 1 --bidir -J
as_iperf3 bidir
measure -t 1 -u --bidir -J
as_iperf3 udp-bidir
holds "a sum each way" '.end | .sum_bidir_reverse.sender == false and .sum.sender and
	.sum_bidir_reverse.packets == .sum_sent_bidir_reverse.packets'
measure -t 1 -b 10M -l 100K -J
holds "blocks of a length that was asked for are whole" '.end.sum_sent.bytes |
	. > 0 and . % 102400 == 0'
measure -t 1 -u -b 10M -J
as_iperf3 udp
measure -t 1 -u -b 10M -R -J
as_iperf3 udp-reverse
holds "loss has its own keys" '.end.sum.packets > 0 and .end.sum.lost_percent >= 0'

measure -t 0.5 -i 0 -J
holds "without intervals there is one, of all" '(.intervals | length == 1) and
	.intervals[0].sum.bytes == .end.sum_sent.bytes and .start.test_start.interval == 0'
measure -t 1 -i 0.5 --json-stream
measured "a line an event"
check "start, intervals, end" [ "$(jq -r .event "$work/out" | uniq | tr '\n' ' ')" = \
	"start interval end " ]

# Ctrl-C: the summary so far, of both ends.
start cut "$NETDOCTOR" test "127.0.0.1:$port" --key "$key" -t 60 -i 0.5
client=$started
wait_for "$work/cut" '^\[CPU\]'
kill -INT "$client"
ends "$client"
check "Ctrl-C ends it" [ "$status" -eq 3 ]
says "the sender's summary" ' sender$' "$work/cut"
says "and the receiver's" ' receiver$' "$work/cut"

still_serves "the server is as ready as ever"
# Loopback takes every datagram, but one of another namespace may have a smaller MTU.
# shellcheck disable=SC2016 # for the other shell
if unshare -rn true 2>/dev/null; then
	in_time 30 unshare -rn sh -c 'ip link set lo up mtu 1500
		"$0" serve --open -B 127.0.0.1 -p 5201 >/dev/null 2>&1 &
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			ss -ltn | grep -q 5201 && break
			sleep 0.5
		done
		"$0" test 127.0.0.1 -u -t 0.3 -l 1473 --dont-fragment
		status=$?
		kill $!
		exit $status' "$NETDOCTOR"
	check "a datagram that does not fit" [ "$status" -eq 3 ]
	check "is told with what does" one_line "$work/err" \
		'do not fit the path.s MTU of 1500 .*--length 1472 or less'
else
	skip "a datagram that does not fit" "no network namespaces"
fi

done_testing
