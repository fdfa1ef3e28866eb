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
for signal in TERM HUP SEGV ABRT; do
	type_line "clear; sh -c 'echo \$\$ >\$work/pid; exec \$NETDOCTOR show $report'; echo status \$?"
	until_shown '\[1 Overview\]' || fail "the screen before SIG$signal"
	kill -"$signal" "$(cat "$work/pid")"
	shows "SIG$signal ends it" 'status [0-9]'
	case $signal in
	SEGV|ABRT) check "SIG$signal: as it would have ended" grep -q 'status 1[0-9][0-9]' "$work/screen" ;;
	esac
	same_modes "SIG$signal"
done

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
