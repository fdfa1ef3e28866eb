#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# However it ends, the terminal is given back.
. tests/terminal/lib.sh

command -v jq >/dev/null 2>&1 || { skip "the screen" "no jq"; done_testing; }
report=$work/report.json
jq '{schema: "netdoctor-report/1", exam: .exam}' tests/exams/base/lan-10g.json >"$report" || exit 1
# A crash under ASan prints a page; the signal is what counts.
ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"
export ASAN_OPTIONS

terminal 80 24
note_modes before
# ended_by SIGNAL WHAT SHOWN COMMAND: by that signal to the process, once the screen shows that.
ended_by() {
	type_line "clear; sh -c 'echo \$\$ >\$work/pid; exec \$NETDOCTOR $4'; echo status \$?"
	until_shown "$3" || fail "$2: the screen before SIG$1"
	kill -"$1" "$(cat "$work/pid")"
	shows "$2: SIG$1 ends it" 'status [0-9]'
	case $1 in
	SEGV|ABRT|QUIT)
		check "$2: as it would have ended" grep -q 'status 1[0-9][0-9]' "$work/screen" ;;
	esac
	same_modes "$2: SIG$1"
}
for signal in TERM HUP INT QUIT SEGV ABRT; do
	ended_by "$signal" "show" '\[1 Overview\]' "show $report"
done
for signal in HUP SEGV; do
	ended_by "$signal" "a run" 'bit/s now' "diagnose -t 20 -P 1 --no-experiments"
	ended_by "$signal" "serve" 'waiting for clients' "serve --tui --bind 127.0.0.1 -p 0"
done

# The other end of a test is killed: nothing is called healthy.
$NETDOCTOR serve --open --bind 127.0.0.1 -p 0 --max-rate 500M >"$work/peer" 2>&1 &
peer=$!
for _ in $(seq 100); do
	grep -q 'port [0-9]' "$work/peer" && break
	sleep 0.1
done
port=$(sed -n 's/.*port \([0-9][0-9]*\)\..*/\1/p' "$work/peer" | head -n 1)
type_line "clear; \$NETDOCTOR test 127.0.0.1 -p $port -t 20 --tui; echo status \$?"
until_shown 'bit/s now' || fail "the screen before the server is killed"
sleep 1
kill -KILL "$peer"
shows "a server that is killed: the test's end" 'session lost'
shows "and what it is worth" 'Verdict: inconclusive'
keys q
shows "and its exit status" 'status 3'
same_modes "a server that is killed"

# The terminal vanishes: nothing is left running.
type_line "clear; exec sh -c 'echo \$\$ >\$work/pid; exec \$NETDOCTOR show $report'"
until_shown '\[1 Overview\]'
pid=$(cat "$work/pid")
mux kill-server
waited=0
while kill -0 "$pid" 2>/dev/null && [ "$waited" -lt 300 ]; do
	waited=$((waited + 1))
	sleep 0.1
done
check "a terminal that is gone ends it" [ "$waited" -lt 300 ]
done_testing
