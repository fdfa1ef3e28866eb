#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2086,SC2317,SC3045 # words on purpose; called by check; dash has ulimit -S
# A server that cannot be held up: whatever hangs on its port, a good client is served, and what
# was taken is given back.  One of few descriptors, too.
. tests/cli/lib.sh
need perl jq

count() { find "/proc/$server/$1" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l; }
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status"; }

# served_soon NAME: its session begins, and it goes well.
served_soon() {
	begun=$(grep -c 'session begins' "$work/serve")
	start good "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" --report json -o \
		"$work/report" $quick
	good=$started
	asked=$(date +%s%N)
	for _ in $(seq $((bound * 50))); do
		[ "$(grep -c 'session begins' "$work/serve")" -gt "$begun" ] && break
		sleep 0.02
	done
	echo "# session after $((($(date +%s%N) - asked) / 1000000)) ms"
	check "$1: a session begins" [ "$(grep -c 'session begins' "$work/serve")" -gt "$begun" ]
	ends "$good"
	served "$1: served" "$work/report" "$work/good"
}

# A plain iperf3 client, too; how long all of it took is told.
served_iperf3() { # NAME
	command -v iperf3 >/dev/null || { skip "$1: iperf3" "no iperf3"; return; }
	asked=$(date +%s%N)
	in_time 30 iperf3 -c 127.0.0.1 -p "$port" -n 100K -J
	echo "# iperf3's test took $((($(date +%s%N) - asked) / 1000000)) ms"
	holds "$1: iperf3 is served" '.error == null and .end.sum_received.bytes > 0'
}

# given_back NAME: descriptors and threads as before, and no memory to speak of.
given_back() {
	for _ in $(seq $((bound * 10))); do
		[ "$(count fd)" -le "$fds" ] && [ "$(count task)" -le "$threads" ] && break
		sleep 0.1
	done
	echo "# descriptors $fds, now $(count fd); threads $threads, now $(count task);" \
		"kB $memory, now $(resident)"
	check "$1: descriptors are given back" [ "$(count fd)" -le "$fds" ]
	check "$1: threads are gone" [ "$(count task)" -le "$threads" ]
	case $BUILD in
	*address*) skip "$1: memory" "sanitizers keep what was freed" ;;
	*) check "$1: memory is given back" [ "$(resident)" -lt $((memory + 8192)) ] ;;
	esac
}

says_nothing() { ! grep -q "$1" "$work/serve"; } # PATTERN

cookie=$(printf '61%.0s' $(seq 36))00
# Of an iperf3 test: whoever comes with it again is one of its streams.
own=$(printf '62%.0s' $(seq 36))00
slow=$(printf '63%.0s' $(seq 36))00
# {"tcp":true,"time":9} of an iperf3, {"netdoctor":{"version":1}} and a record of TLS.
slow_iperf3=000000157b22746370223a747275652c2274696d65223a397d
slow_netdoctor=0000001b7b226e6574646f63746f72223a7b2276657273696f6e223a317d7d
attack() { # NAME
	strangers=
	set -- "$1" "500" "100 say:6161" "20 random:65536" "20 say:$cookie take:1 say:ffffffff" \
		"20 say:$cookie take:1 say:00001fff7b" "1 say:$own take:1 say:000000027b7d" \
		"20 say:$cookie take:1 say:00000004ffffffff" "20 say:${cookie}09fffffffffffff" \
		"20 say:$cookie reset" "80 cookie take:1 say:000000027b7d" "20 slowly:$slow take:1 slowly:$slow_iperf3" \
		"20 slowly:$cookie take:1 slowly:$slow_netdoctor take:1 slowly:160301010001"
	name=$1
	shift
	i=0
	for steps; do
		i=$((i + 1))
		start "stranger.$i" tests/cli/stranger.pl connect "$port" $steps
		strangers="$strangers $started"
	done
	for i in $(seq 12); do
		wait_for "$work/stranger.$i" '^done' || fail "$name: strangers $i are there"
	done
}

hold_up() { # NAME
	served_soon "$1, before"
	sleep 0.2
	fds=$(count fd)
	threads=$(count task)
	memory=$(resident)
	attack "$1"
	served_soon "$1, 500 idle and 341 that talk nonsense"
	served_iperf3 "$1, held up"
	kill -KILL $strangers
	given_back "$1"
	still_serves "$1, after"
}

serve --allow-iperf3
hold_up "a server"
stop_server
check "it ends well" [ "$status" -eq 0 ]

soft=$(ulimit -S -n)
ulimit -S -n 96
serve --allow-iperf3
ulimit -S -n "$soft"
hold_up "a server of 96 descriptors"
stop_server
check "it ends well, too" [ "$status" -eq 0 ]

# Descriptors that somebody's half-open tests hold go to who comes next, before their time is over.
if command -v iperf3 >/dev/null; then
	ulimit -S -n 64
	serve --allow-iperf3
	ulimit -S -n "$soft"
	start half tests/cli/stranger.pl half "$port" 7
	for _ in $(seq $((bound * 10))); do
		[ "$(count fd)" -ge 60 ] && break
		sleep 0.1
	done
	# They might still bring the rest.
	sleep 1.2
	served_iperf3 "as good as no descriptors left"
	check "it did not wait for half-open tests to end" says_nothing 'did not come in time'
	kill -KILL "$started"
	stop_server
else
	skip "descriptors of half-open tests" "no iperf3"
fi

# Where its lines go is full: that is no client's concern.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir "$work/small"
	# A page, which what it says to begin with leaves room in.
	start serve unshare -m sh -c 'mount -t tmpfs -o size=4k none "$1" || exit 1
		exec "$2" serve --bind 127.0.0.1 --port 0 --allow-iperf3 >"$1/log" 2>&1' sh \
		"$work/small" "$NETDOCTOR"
	server=$started
	log=/proc/$server/root$work/small/log
	wait_for "$log" '^  netdoctor diagnose' || give_up "a server with a small disk"
	port=$(sed -n 's/^Listening on .* port \([0-9]*\)\..*/\1/p' "$log")
	key=$(sed -n 's/^  netdoctor diagnose .* --key \([0-9a-f]*\)$/\1/p' "$log")
	for i in $(seq 100); do
		perl -MIO::Socket::INET -e 'for (1 .. 20) {
			my $s = IO::Socket::INET->new("127.0.0.1:'"$port"'") or next;
			syswrite($s, "GET /\n");
		}'
		[ "$(stat -c %s "$log")" -ge 4096 ] && break
		sleep 0.1
	done
	check "its disk is full" [ "$(stat -c %s "$log")" -eq 4096 ]
	still_serves "a server whose disk is full"
	served_iperf3 "its disk full"
	stop_server
	check "it ends well all the same" [ "$status" -eq 0 ]
else
	skip "a server whose disk is full" "needs root and a mount namespace of its own"
fi
(umask 077 && echo 00112233445566778899aabbccddeeff >"$work/key")
port=$(perl -MIO::Socket::INET -e \
	'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport')
interruptible "$NETDOCTOR" serve --bind 127.0.0.1 --port "$port" --key-file "$work/key" \
	>/dev/full 2>/dev/full </dev/null &
server=$!
background="$background $server"
key=00112233445566778899aabbccddeeff
: >"$work/serve"
for _ in $(seq $((bound * 20))); do
	perl -MIO::Socket::INET -e 'exit !IO::Socket::INET->new("127.0.0.1:'"$port"'")' && break
	sleep 0.05
done
still_serves "a server whose log is full"
still_serves "and again"
stop_server
done_testing
