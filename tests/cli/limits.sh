#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2317 # called by check
# A server's limits: what is against them is refused with the limit, the rate is kept.
. tests/cli/lib.sh
need jq perl

# refused NAME PATTERN OPTION...: in one line, and a report of both hosts without a rate.
refused() {
	refused_name=$1
	refused_pattern=$2
	shift 2
	rm -f "$work/report"
	in_time "$bound" "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" --report json \
		-o "$work/report" "$@"
	if [ "$status" -eq 3 ] && one_line "$work/err" "$refused_pattern"; then
		pass "$refused_name"
	else
		show
		fail "$refused_name"
	fi
	holds "it is in the report" ".exam.problem | test(\"$refused_pattern\")" "$work/report"
	holds "with the facts of both hosts" \
		'.exam.hosts.peer.host.hostname == .exam.hosts.local.host.hostname' "$work/report"
}

serve --max-seconds 2 --max-streams 1 --max-rate 40M
refused "too many streams" 'refused: 3 streams asked for, this server allows 1' -t 0.5 -P 3
refused "too long" 'refused: a run of 3.500 s .*, this server allows 2 s' -t 3 -O 0.5 -P 1
refused "too long by itself" 'refused: a run of 5.000 s .*, this server allows 2 s' -t 4

# Without -t the client asks for no more than it may have, and says so.
in_time 30 "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" --report json --no-experiments
check "the usual time does not fit: it says what it does" \
	one_line "$work/err" 'the peer allows runs of 2 s: measuring 1.6 s of each, after 0.4 s'
served "and measures as long as it may" "$work/out" /dev/null
holds "both of a shorter run" 'all(.exam.runs[]; .spec.window_ms == 1600 and
	.spec.warmup_ms == 400)'
in_time 30 "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" --report json --no-experiments \
	-t 1.5 --forward
served "a time of the user's own stays, the warm-up is fitted" "$work/out" /dev/null
holds "to what is left" '.exam.runs[0].spec | .window_ms == 1500 and .warmup_ms == 500'

# Without -P the client asks for what it may have.
in_time 30 "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" --report json -t 1 -O 0.2 \
	--no-experiments
served "a run within the limits"
holds "has as many streams as are allowed" 'all(.exam.runs[]; .spec.streams == 1)'
holds "and says what pace was agreed" 'all(.exam.runs[]; .spec.pacing_bps == 40000000)'
# The kernel paces packets, not what lies in buffers.
holds "keeps the rate, forward and reverse" '[.exam.runs[] | .direction, .goodput_bps < 60000000] ==
	["forward", true, "reverse", true]'
stop_server

# Addresses: who is not named is told so.
serve --allow 192.0.2.0/24,::1,10.0.0.0/8
error "a client from elsewhere" 3 "refused: that server.s --allow does not name the address" \
	diagnose "127.0.0.1:$port" --key "$key"
says "the server says so" "^127.0.0.1: refused: not among the addresses of --allow" "$work/serve"
stop_server
serve --allow 192.0.2.1,127.0.0.0/8
still_serves "a client that is named"
stop_server
for wrong in x 192.0.2.0/33 ::/129 1.2.3.4/ "1.2.3.4,," 1.2.3/8 "1.2.3.4 " 1.2.3.4/-1; do
	error "no network: $wrong" 64 "serve: --allow: .* is no network" serve --allow "$wrong"
done

# Places: a third client is told, the two are served.
serve --max-sessions 2 --max-rate 100M
for i in 1 2; do
	start "client.$i" "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" -t 2 -O 0.1 -P 1 \
		--forward --no-experiments -o "$work/report.$i"
	eval "client_$i=$started"
done
two_sessions() {
	for _ in $(seq $((bound * 20))); do
		[ "$(grep -c 'session begins' "$work/serve")" -eq 2 ] && return 0
		sleep 0.05
	done
	return 1
}
check "two clients have the places" two_sessions
error "a third client" 3 'busy: 2 sessions already, as many as it allows: try later' \
	diagnose "127.0.0.1:$port" --key "$key"
for i in 1 2; do
	eval "ends \$client_$i"
	served "client $i was served" "$work/report.$i" "$work/client.$i"
done
stop_server

# under FIRST SECOND: what the endless one told of is no later, in ms.
under() {
	sed -n 's/^[1-9][0-9]* bytes, last after \([0-9]*\) ms, over after \([0-9]*\) ms$/\1 \2/p' \
		"$work/out" >"$work/ms"
	read -r last_ms over_ms <"$work/ms" && [ "$last_ms" -lt "$1" ] && [ "$over_ms" -lt "$2" ]
}

# Nor how long a client's test takes.
serve --allow-iperf3 --max-seconds 1 --max-rate 100M
in_time 60 tests/cli/stranger.pl endless "$port"
sed 's/^/# /' "$work/out"
check "who never says that its second is over: we stop, and hang up" under 15000 30000
says "and say why" 'its test did not end in time' "$work/serve"
still_serves "and a netdoctor after it"
stop_server

# Plain iperf3 clients, whatever they ask for: we send no more than --max-rate, in any second.
if command -v iperf3 >/dev/null; then
	serve --allow-iperf3 --max-seconds 3 --max-streams 4 --max-rate 10M
	for asks in "-R" "-R -P 4 -u -b 2M" "-u -R -b 0 --fq-rate 9M" "-R --fq-rate 9M" \
		"-R -b 1M/1000 -l 1M" "-u -R -b 1M/1000 -l 60000" "--bidir -b 1M/1000 -l 1M"; do
		# Words on purpose.
		# shellcheck disable=SC2086
		in_time 30 iperf3 -c 127.0.0.1 -p "$port" -J -t 1 $asks
		holds "iperf3 $asks: limited" '.error == null and (.end |
			(.sum_sent_bidir_reverse // .sum_sent // .sum).bytes | . > 0 and . < 4000000)'
	done
	in_time 30 iperf3 -c 127.0.0.1 -p "$port" -J -t 1 -u -b 0 --fq-rate 9M
	holds "iperf3's datagrams that nothing paces: refused" '.error | test("rate|limit")'
	in_time 60 iperf3 -c 127.0.0.1 -p "$port" -J -R -n 1G
	holds "iperf3's bytes that take longer than --max-seconds: ended" '.error != null'
	stop_server
else
	skip "limits of iperf3 clients" "no iperf3"
fi
done_testing
