#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The screen while an exam goes on: progress, leaving early, the report afterwards.
. tests/terminal/lib.sh

terminal 100 30
note_modes before
type_line "sh -c 'echo \$\$ >\$work/pid; exec \$NETDOCTOR diagnose -t 2 -O 0.2 -P 2'; echo status \$?"
shows "the screen at once" '\[1 Overview\]'
shows "what is being done" 'run 1 of 3: all 2 streams forward'
shows "the rate now" 'bit/s now'
# A thread that took SIGWINCH or SIGTSTP (28, 20) would keep it from the one that draws.
threads=0 open=0
for blocked in $(grep -h '^SigBlk:' /proc/"$(cat "$work/pid")"/task/*/status 2>/dev/null |
	tr -dc '0-9a-f\n'); do
	threads=$((threads + 1))
	[ $((0x$blocked >> 27 & 0x$blocked >> 19 & 1)) = 1 ] || open=$((open + 1))
done
check "$threads threads of a run: each leaves the terminal's signals to one" \
	[ "$threads" -gt 3 -a "$open" = 0 ]
keys 2
shows "where its threads run" '(worker |w)[0-9]'
keys 1
keys p
shows "pause" 'PAUSED at'
keys p
shows "and go on" ' s *$'
keys q
said "leaving early keeps what was measured" 'interrupted: what was measured before still counts'
shows "an exit status" 'status [0-9]'
same_modes "leaving early"

type_line "clear; \$NETDOCTOR diagnose -t 0.5 -O 0.1 -P 1 --forward --no-experiments; echo status \$?"
shows "to the end" 'done: q leaves'
keys q
said "then the report is printed" 'status [0-3]'
said "as text" '^Ruled out'
same_modes "the end"

type_line "clear; \$NETDOCTOR diagnose 127.0.0.1:1; echo status \$?"
said "no peer there: one line, no screen to leave" 'netdoctor: .*127\.0\.0\.1'
shows "and its status" 'status 3'
same_modes "no peer"
done_testing
