#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2317 # called by check
# A server whose port strangers have found: good clients notice nothing, and memory does not grow.
. tests/cli/lib.sh
need perl jq

serve --max-sessions 4
peer=127.0.0.1:$port

# 32 that say nothing, 16 that stop in the middle of the greeting, 16 that fall silent in TLS.
start silent tests/cli/stranger.pl connect "$port" 32
start half tests/cli/stranger.pl connect "$port" 16 say:61616161
cookie=$(printf '61%.0s' $(seq 36))00
start tls tests/cli/stranger.pl connect "$port" 16 "say:$cookie" take:1 \
	"say:0000001b7b226e6574646f63746f72223a7b2276657273696f6e223a317d7d" take:1 say:1603
for file in silent half tls; do
	check "strangers are connected: $file" wait_for "$work/$file" '^done'
done
still_serves "a client is served while strangers hold connections"

# Random bytes, an impossible length, HTTP, during a run.
start good "$NETDOCTOR" diagnose "$peer" --key "$key" --report json -t 2 -O 0.1 -P 1 --forward \
	--no-experiments -o "$work/report"
good=$started
check "a run begins" wait_for "$work/serve" 'run: 1 stream, the client sends, 2'
for i in 1 2 3; do
	start "random.$i" tests/cli/stranger.pl connect "$port" 8 random:65536
	start "http.$i" tests/cli/stranger.pl connect "$port" 8 say:474554202f20485454502f312e310d0a
	start "length.$i" tests/cli/stranger.pl connect "$port" 8 "say:$cookie" take:1 say:ffffffff
done
for file in random.1 http.1 length.1; do
	check "strangers spoke during it: $file" wait_for "$work/$file" '^done'
done
check "the client's run goes to its end" ends "$good"
served "all of it, with a diagnosis and nothing to complain about" "$work/report" "$work/good"

# Those are still held at the strangers' end: only the server can have closed them.
open_files() { find "/proc/$server/fd" -mindepth 1 | wc -l; }
strangers_are_gone() {
	for _ in $(seq $((bound * 10))); do
		[ "$(open_files)" -lt 20 ] && return 0
		sleep 0.1
	done
	echo "# $(open_files) descriptors"
	return 1
}
check "those that say nothing are cut off" strangers_are_gone
says "those that are no netdoctor are told of" \
	'^127.0.0.1: refused: (not a netdoctor|announced)' "$work/serve"
# A flood of refusals is summed up: never more than ten lines a second.
check "refusals do not flood the terminal" [ "$(grep -c refused "$work/serve")" -lt 100 ]

still_serves "the next client is served"
case $BUILD in
*address*) skip "in less than 32 MiB" "sanitizers need more" ;;
*)
	check "in less than 32 MiB" \
		[ "$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$server/status")" -lt 32768 ]
	;;
esac
stop_server
check "it ends well" [ "$status" -eq 0 ]
done_testing
