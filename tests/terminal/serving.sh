#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The screen of a server: nobody there, a netdoctor, an iperf3, many of both, and leaving it.
. tests/terminal/lib.sh

# The command that the screen tells, for a client outside of it: "PORT KEY".
# Port and key, once they are on the screen: it may be in the middle of another view.
invited() {
	until_shown '--port [0-9]+ --key [0-9a-f]{32}' >&2 &&
		sed -n 's/.*netdoctor diagnose 127.0.0.1 --port \([0-9]*\).*--key \([0-9a-f]*\).*/\1 \2/p' \
			"$work/screen" | head -n 1
}
client() { "$NETDOCTOR" "$@" >"$work/client" 2>&1; }

terminal 100 30
note_modes before
type_line "\$NETDOCTOR serve --tui --bind 127.0.0.1 -p 0 --max-seconds 20; echo status \$?"
shows "the screen at once" 'Clients: none'
shows "and whom it waits for" 'waiting for clients'
shows "the command for the other machine" 'netdoctor diagnose 127\.0\.0\.1 --port [0-9]+ --key [0-9a-f]{32}'
shows "this host without a client" 'cpu [0-9]+ .*%'
keys 2
shows "its cores" '\[2 Cores\]'
shows "live" 'cpu 0 .*%'
keys 1
# Words on purpose.
# shellcheck disable=SC2046
set -- $(invited)
port=${1-} key=${2-}
check "port and key are told" [ -n "$key" ]

client test --port "$port" --key "$key" -t 4 -O 0.2 -P 2 127.0.0.1 &
pid=$!
shows "a client" 'Clients: 1, '
shows "with what it does" '127\.0\.0\.1 .*netdoctor .*sends .*bit/s'
shows "its run" 'run 1: from 127\.0\.0\.1, 2 streams'
shows "its rate against this end's ceilings" 'bit/s now'
wait "$pid"
check "it was served" [ $? -le 3 ]
shows "it goes" 'Clients: none'
shows "what was measured stays" 'bit/s measured'
shows "and is the past, and how long ago" 'bit/s measured, ended [0-9]+ s ago'
shows "what was not is another thing" 'not measured yet'
shows "who left, and when" '127\.0\.0\.1 .*left [0-9]+ s ago'
keys 5
shows "its flows are not now" 'run 1 of 1: .*ended [0-9]+ s ago'
keys 2
shows "this host is, without a run" 'no run: the last ended [0-9]+ s ago'
keys 6
shows "the diagnosis of this end" 'ruled out'
keys a
shows "to run again is for the client" 'not possible here'
keys 1

client test --port "$port" --key "$key" --bidir -t 3 -O 0.2 -P 1 127.0.0.1 &
pid=$!
shows "a client both ways: what it sends" '127\.0\.0\.1 .*sends .*bit/s'
shows "and receives" '^[^F]* receives .*bit/s'
shows "forward is its own" 'Forward .*: [0-9.]+ .bit/s now'
shows "and reverse" 'Reverse .*: [0-9.]+ .bit/s now'
wait "$pid"
shows "both stay" 'Forward .*: [0-9.]+ .bit/s measured, ended'
shows "both" 'Reverse .*: [0-9.]+ .bit/s measured, ended'

client diagnose --port "$port" --key 00112233445566778899aabbccddeeff 127.0.0.1
shows "a stranger" 'refused'
keys q
shows "q leaves" 'status 0'
same_modes "q"

if ! command -v iperf3 >/dev/null 2>&1; then
	skip "iperf3 clients" "no iperf3"
else
	type_line "clear; \$NETDOCTOR serve --tui --bind 127.0.0.1 -p $port --allow-iperf3; echo status \$?"
	shows "once more, for iperf3 too" 'lets anybody who reaches'
	pids=''
	for n in 1 2 3; do
		iperf3 -c 127.0.0.1 -p "$port" -t 4 -b 50M >"$work/iperf3.$n" 2>&1 &
		pids="$pids $!"
	done
	shows "three at once" 'Clients: 3, 3 in a run'
	shows "each an iperf3" '127\.0\.0\.1 .*iperf3 .*sends .*Mbit/s'
	mux resize-window -x 80 -y 24
	shows "in fewer columns" '127\.0\.0\.1 .*iperf3 .*sends .*Mbit/s'
	for pid in $pids; do wait "$pid"; done
	shows "all gone" 'Clients: none'
	# A client that says nothing more never makes the count wrong.
	(exec iperf3 -c 127.0.0.1 -p "$port" -t 20 >/dev/null 2>&1) &
	pid=$!
	shows "one that will be killed" 'Clients: 1, 1 in a run'
	kill -9 "$pid"
	shows "is noticed" 'Clients: none'
	keys C-c
	shows "Ctrl-C leaves" 'status 0'
	same_modes "Ctrl-C"
fi

type_line "clear; \$NETDOCTOR serve --tui --bind 127.0.0.1 -p $port --once; echo status \$?"
shows "for one client" 'Clients: none'
# shellcheck disable=SC2046
set -- $(invited)
client test --port "$port" --key "${2-}" -t 0.3 127.0.0.1
shows "when that is gone it serves no more" 'done: q leaves'
keys q
shows "and q leaves" 'status 0'
type_line "clear; TERM=dumb \$NETDOCTOR serve --tui --bind 127.0.0.1 -p $port"
shows "lines on a dumb terminal, and why" 'no screen, text instead: the terminal is dumb'
keys C-c
shows "which end as ever" '[#$] *$'
done_testing
