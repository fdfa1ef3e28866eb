#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# diagnose against serve: reports, where they go, exit statuses, keys, addresses.
. tests/cli/lib.sh
need jq perl

serve --max-sessions 4
says "the server says how to reach it" \
	"^  netdoctor diagnose 127.0.0.1 --port $port --key [0-9a-f]{32}\$" "$work/serve"
peer=127.0.0.1:$port

# All runs but experiments, once.
in_time 60 "$NETDOCTOR" diagnose "$peer" --key "$key" --report json -o "$work/report" \
	-t 0.5 -O 0.1 -P 2 --no-experiments
code=$status
check "the whole exam" [ "$code" -le 3 ]
check "says nothing when the report goes to a file" [ -z "$(cat "$work/out" "$work/err")" ]
check "its exit status is that of the report" [ "$code" = "$(status_of "$work/report")" ]
conforms "the report is of the published form" "$work/report"
holds "both hosts are in it" \
	'.exam.hosts | .local.host.boot_id == .peer.host.boot_id and .peer.host.boot_id != null' \
	"$work/report"
holds "they are known to be one machine" '.exam.path.same_machine and .exam.path.loopback' \
	"$work/report"
holds "forward, reverse, one stream" '[.exam.runs[].id] | .[:2] == ["1-forward-all-streams",
	"2-reverse-all-streams"] and (.[2] | endswith("-one-stream")) and length == 3' "$work/report"
holds "all complete, with a rate" \
	'all(.exam.runs[]; .status == "complete" and .goodput_bps > 1000000)' "$work/report"
holds "as long as was asked for" 'all(.exam.runs[]; .seconds > 0.2 and .seconds < 3)' \
	"$work/report"
holds "with two flows at each end" \
	'all(.exam.runs[:2][]; [.flows[].side] == ["local", "local", "peer", "peer"])' "$work/report"
holds "both directions have a diagnosis" \
	'[.diagnosis.directions[].direction] == ["forward", "reverse"]' "$work/report"
holds "nothing ended it early" '.exam.problem == null' "$work/report"
says "the server tells of the session" '^127.0.0.1: session begins' "$work/serve"

# ---- datagrams ----

in_time 60 "$NETDOCTOR" diagnose "$peer" --key "$key" --report json -o "$work/udp" -t 0.5 -O 0.1 \
	-P 2 -u -b 20M -l 1200 --gso --gro
check "-u" [ "$status" -le 3 ]
conforms "its report is of the published form" "$work/udp"
holds "each direction, nothing else: a stream that is told its rate has it" '[.exam.runs[].id] ==
	["1-forward-all-streams", "2-reverse-all-streams"]' "$work/udp"
holds "datagrams of that length, at that rate" 'all(.exam.runs[].spec; .protocol == "udp" and
	.block_bytes == 1200 and .rate_bps == 20000000 and .udp_gso and .udp_gro)' "$work/udp"
holds "counted at both ends" 'all(.exam.runs[]; all(.flows[]; (.packets | tonumber) > 10))' "$work/udp"
holds "no window, no congestion control" 'all(.diagnosis.ceilings[]; .kind != "window-send")' \
	"$work/udp"
holds "rules about TCP do not apply" '([.diagnosis | .findings[].rule, .not_evaluated[].rule] |
	map(select(startswith("tcp-") or startswith("cc-"))) | length) == 0' "$work/udp"
in_time "$bound" "$NETDOCTOR" show "$work/udp" --report text
says "it says what was sent" '^  2 UDP streams of 1200-byte datagrams'
error "-u without a rate" 64 '\-\-udp wants --bitrate' diagnose "$peer" --key "$key" -u
error "-b: too low" 64 '8 kbit/s at least' diagnose "$peer" --key "$key" -b 500
error "-u and -M" 64 'are of TCP' diagnose "$peer" --key "$key" -u -b 1M -M 1400
error "-u and -C" 64 'are of TCP' diagnose "$peer" --key "$key" -u -b 1M -C reno
error "-u: too long" 64 'a datagram has 16 to 65507' diagnose "$peer" --key "$key" -u -b 1M -l 1M
error "--gro without -u" 64 'want --udp' diagnose "$peer" --key "$key" --gro

# ---- both at once, and round trips ----

in_time 60 "$NETDOCTOR" diagnose "$peer" --key "$key" --report json -o "$work/both" -t 0.5 -O 0.1 \
	-P 2 --no-experiments --bidir --latency
check "--bidir --latency" [ "$status" -le 3 ]
holds "round trips of the idle path, before the first run" '[.exam.runs[].latency.idle.samples |
	. != null and . > 10] == [true, false, false, false]' "$work/both"
holds "and under load in each run with all streams" '[.exam.runs[].latency.loaded.samples |
	. != null and . > 1] == [true, true, true, false]' "$work/both"
holds "without it none" '[.exam.runs[].latency] == [null, null, null]' "$work/report"
conforms "its report is of the published form" "$work/both"
holds "after forward and reverse, before one stream" '[.exam.runs[].id] | .[:3] ==
	["1-forward-all-streams", "2-reverse-all-streams", "3-bidir-both-directions"] and
	(.[3] | endswith("-one-stream")) and length == 4' "$work/both"
holds "as many streams each way, at both ends" '.exam.runs[2] | .direction == "bidir" and
	.spec.bidirectional and ([.flows[] | select(.direction == "send")] | length) == 4 and
	(.flows | length) == 8' "$work/both"
holds "with the rate of each direction" '.exam.runs[2] | .status == "complete" and
	.goodput_bps > 1000000 and .other_goodput_bps > 1000000' "$work/both"
holds "beside what it reaches alone" '. as $r | .diagnosis.both_at_once |
	.run == "3-bidir-both-directions" and ([.directions[].direction] == ["forward", "reverse"]) and
	([.directions[].measured_bps] == ($r.exam.runs[2] | [.goodput_bps, .other_goodput_bps])) and
	([.directions[].alone_bps] == [$r.exam.runs[:2][].goodput_bps]) and
	all(.directions[]; .lower == (.share < 0.9))' "$work/both"
holds "without it nothing of that" '.diagnosis.both_at_once == null and
	([.exam.runs[].direction] | index("bidir")) == null' "$work/report"
in_time "$bound" "$NETDOCTOR" show "$work/both" --report text
says "and in a recorded report" '^Both at once: [0-9.]+ [MGT]bit/s forward, [0-9.]+ [MGT]bit/s reverse'
says "a line for each" '^  reverse  .* [0-9.]+ % of the [0-9.]+ [MGT]bit/s'
says "round trips of each run beside those of the idle path" \
	'^  round trip +[0-9.]+ [mu]s .p99 [0-9.]+ [mu]s. idle, [0-9.]+ [mu]s .p99 [0-9.]+ [mu]s. under'
check "of three runs" [ "$(grep -c '^  round trip ' "$work/out")" -eq 3 ]
check "which is none of the other runs" [ -z "$(grep '^  3-bidir' "$work/out")" ]
for option in --reverse --forward; do
	error "--bidir and $option exclude each other" 64 "--bidir compares.*$option leaves one out" \
		diagnose "$peer" --key "$key" --bidir $option
done
error "--bidir: too many streams" 64 '1024 streams each way' diagnose "$peer" --key "$key" --bidir \
	-P 1025

# shellcheck disable=SC2086 # words on purpose
{
	in_time 60 "$NETDOCTOR" diagnose "$peer" --key "$key" $quick
	check "text" [ "$status" -le 3 ]
	check "and no complaint" [ ! -s "$work/err" ]
	says "a verdict first" '^(Healthy|Limited|Unexplained|Inconclusive)[ :.]'
	says "the direction asked for" '^Forward .local -> peer.: [0-9.]+ [MGT]bit/s'
	check "and not the other" [ -z "$(grep '^Reverse' "$work/out")" ]
	check "no colours, no progress into a file" \
		[ -z "$(grep "$(printf '[\033\r]')" "$work/out")" ]

	in_time 60 "$NETDOCTOR" diagnose "$peer" --key "$key" --report json $quick --target 1M
	holds "a pipe gets JSON" '.schema == "netdoctor-report/1"'
	check "a target that is met is healthy" [ "$status" -eq 0 ]
	in_time 60 "$NETDOCTOR" diagnose "$peer" --key "$key" --report json $quick --target 90T
	check "one that is not met is not" [ "$status" -ne 0 ]

	(umask 077; echo "$key" >"$work/key")
	in_time 60 "$NETDOCTOR" diagnose localhost -4 -p "$port" --key-file "$work/key" --report json \
		$quick --reverse 2>/dev/null
	check "reverse and forward exclude each other" [ "$status" -eq 64 ]
	in_time 60 "$NETDOCTOR" diagnose localhost -4 -p "$port" --key-file "$work/key" -B 127.0.0.1 \
		--report json -t 0.5 -O 0 -P 1 -R --no-experiments
	holds "by name, with the key in a file, reverse" \
		'.exam.runs | length == 1 and .[0].spec.direction == "reverse"'
}
# A virtual machine that is stopped for a while: its rate would be that of the pause.
runs=$(grep -c ' run: ' "$work/serve")
start paused "$NETDOCTOR" diagnose "$peer" --key "$key" --report json -o "$work/report" -t 3 -O 0 \
	-P 1 --forward --no-experiments
paused=$started
run_begins "$runs"
sleep 0.3
kill -STOP "$server" "$paused"
sleep 2
kill -CONT "$paused" "$server"
ends "$paused"
holds "a run in which the machine stood still is told, and made again" '.exam.runs |
	(.[0] | .status == "incomplete" and (.problem | test("stood still for [12][.]"))) and
	.[1].status == "complete" and .[1].stood_still_us == 0' "$work/report"

if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	old=$server
	# shellcheck disable=SC2119
	serve --bind ::1
	for address in "[::1]:$port" "::1 --port $port"; do
		# shellcheck disable=SC2086 # words on purpose
		in_time 60 "$NETDOCTOR" diagnose $address --key "$key" --report json $quick
		holds "IPv6: $address" '.exam.path.peer_address == "::1"'
	done
	for options in "-u -L 7" "-L 7 -R" "-L 7 -u --bidir"; do
		# Words on purpose.
		# shellcheck disable=SC2086
		in_time 60 "$NETDOCTOR" test "[::1]:$port" --key "$key" -t 0.3 $options
		check "a flow label: $options" [ "$status" -eq 0 ]
	done
	stop_server
	server=$old
else
	skip "IPv6" "no ::1 here"
fi

chmod 644 "$work/key"
error "a key file that others can read" 64 "key file $work/key: others can read it" \
	diagnose "$peer" --key-file "$work/key"
echo "not a key" >"$work/key"
chmod 600 "$work/key"
error "a key file without a key" 64 "key file $work/key: " diagnose "$peer" --key-file "$work/key"
: >"$work/key"
error "an empty key file" 64 "key file $work/key: " diagnose "$peer" --key-file "$work/key"
error "a key file that is not there" 64 "key file $work/none: No such file" \
	diagnose "$peer" --key-file "$work/none"
mkfifo "$work/fifo"
error "a key file that nobody writes" 64 "key file $work/fifo: " \
	diagnose "$peer" --key-file "$work/fifo"
error "a folder as key file" 64 "key file $work: is a directory" serve --key-file "$work"

# Before any traffic, not after.
runs=$(grep -c ' run: ' "$work/serve")
error "a report that cannot be written" 3 'cannot write /nonexistent/report: No such file' \
	diagnose "$peer" --key "$key" -o /nonexistent/report
error "a report onto a folder" 3 "cannot write $work: Is a directory" \
	diagnose "$peer" --key "$key" -o "$work"
error "a link that is not there" 3 'diagnose: no link named no-such-link here' \
	diagnose "$peer" --key "$key" --iface no-such-link
check "no run was made for these" [ "$(grep -c ' run: ' "$work/serve")" = "$runs" ]

stop_server
check "the server ends well" [ "$status" -eq 0 ]
check "it told of every session's end" \
	[ "$(grep -c 'session over: said goodbye' "$work/serve")" = \
	"$(grep -c 'session begins' "$work/serve")" ]
done_testing
