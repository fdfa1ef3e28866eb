#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# While traffic flows: many sizes, suspending, running again, comparing with the run before.
. tests/terminal/lib.sh

terminal 120 40
note_modes before
type_line "clear; \$NETDOCTOR diagnose -t 1.5 -O 0.2 -P 1 --no-experiments; echo status \$?"
until_shown 'run 1' || fail "a run"
storm=0
while [ "$storm" -lt 40 ]; do
	storm=$((storm + 1))
	mux resize-window -x $((20 + storm * 7 % 180)) -y $((3 + storm * 11 % 60))
done
mux resize-window -x 1 -y 1
mux resize-window -x 120 -y 40
# The last row, to the last column.
# shellcheck disable=SC2317 # until_shown calls it
ends() { screen | tail -n 1; screen | sed -n 's/^.\{119\}\(.\)$/\1/p'; }
check "forty sizes in a run leave it right" until_shown '^\? help .*q quit' ends
check "to the last column" until_shown '^[┐┘│]$' ends
keys C-z
shows "Ctrl-Z in the middle of it" 'Stopped|suspended'
note_modes stopped
check "gives the terminal back" cmp -s "$work/before" "$work/stopped"
mux resize-window -x 80 -y 24
type_line 'fg; echo left $?'
shows "fg" '\[1 Overview\]'
check "of another size by now" until_shown '^\? help .*q quit' ends
shows "the exam ends, whatever the pause did" 'done: q leaves|: q leaves'
keys 6
shows "findings" '\[6 Findings\]'
keys b
shows "nothing to compare with yet" 'nothing to compare with'
ended=$(screen | sed -n 's/.* \([0-9]*\)\.[0-9] s, the end$/\1/p')
looked_from=$(date +%s)
sleep 2
keys a
shows "once more" 'reading both hosts|connecting|run 1|choosing'
shows "to its end" 'done: q leaves'
# Neither the first exam nor the time it was looked at is part of the second.
took=$(($(date +%s) - looked_from + 1))
again=$(screen | sed -n 's/.* \([0-9]*\)\.[0-9] s, the end$/\1/p')
check "in a time of its own: $again s, the first $ended s, no more than $took s passed" \
	[ "$again" -lt "$((took - 1))" ]
keys b
shows "the run before is there to compare with" 'compared with the run before'
keys Enter
shows "rate by rate" 'forward|reverse'
keys a
until_shown 'run 1' || fail "a third run"
keys a
shows "not twice at once" 'not over yet'
keys q
shows "and left in the middle" 'left [0-3]'
same_modes "all of it"
done_testing
