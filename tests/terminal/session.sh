#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A user's session: all views, sizes, pause, time, a report, suspending, quitting.
. tests/terminal/lib.sh

report=$work/report.json
exam=tests/exams/base/lan-25g-cpu-bound.json
command -v jq >/dev/null 2>&1 || { skip "the screen" "no jq"; done_testing; }
jq '{schema: "netdoctor-report/1", exam: .exam}' "$exam" >"$report" || exit 1

terminal 80 24
note_modes before
mux pipe-pane "cat >$work/drawn"
type_line "\$NETDOCTOR show $report; echo status \$?"
shows "the first view" '\[1 Overview\]'
mux pipe-pane
# A large report takes seconds.
check "what it did before was on the screen" grep -qF "reading $report" "$work/drawn"
shows "the rate and its ceiling" '> cpu peer .*14\.1'
views=$(screen | head -n 1 | grep -oE '[0-9] [A-Z][a-zA-Z]*' | wc -l)
for view in $(seq 1 "$views"); do
	keys "$view"
	shows "view $view by its key" "\[$view "
done
keys Tab
shows "Tab: from the last to the first" '\[1 '
keys BTab
shows "Shift-Tab: back" "\[$views "
keys 1
keys '?'
shows "help" 'Everywhere'
keys '?'
shows "and back" 'Rate and ceilings'

keys g
shows "the begin of time" 'PAUSED at 0\.0 s, run 1'
keys Right
shows "a step forward" 'PAUSED at [^0][0-9.]* s|PAUSED at 0\.[1-9]'
keys Space
shows "it plays" 'playing|PAUSED|the end'
keys G
shows "the end of time" 'the end'

for size in "120 40" "200 60" "300 100" "40 10" "12 4" "1 1" "80 24"; do
	# Words on purpose.
	# shellcheck disable=SC2086
	set -- $size
	mux resize-window -x "$1" -y "$2"
	sleep 0.3
done
shows "after many sizes" '\[1 Overview\]'
check "it fills the terminal" [ "$(screen | tail -n 1 | cut -c1-6)" = "? help" ]

keys w
shows "a file name is asked for" 'Report file'
mux send-keys -l "$work/again.json"
keys Enter
shows "the report is written" 'wrote'
jq -e .exam.runs "$work/again.json" >"$work/jq"
check "and is one" [ $? -eq 0 ]
keys w
mux send-keys -l "$work/again.json"
keys Enter
shows "an older file stays" 'cannot write'
keys w
mux send-keys -l "$work/again.html"
keys Enter
shows "its name tells the format" 'wrote .*again\.html'
check "HTML" [ "$(head -n 1 "$work/again.html")" = "<!DOCTYPE html>" ]

keys C-z
shows "Ctrl-Z gives the shell its terminal" 'Stopped|suspended'
note_modes stopped
check "with its modes" cmp -s "$work/before" "$work/stopped"
type_line 'fg; echo status $?'
shows "fg: the screen again" '\[1 Overview\]'
keys 1
shows "and its keys" 'Rate and ceilings'
keys q
shows "q: the status of the diagnosis" 'status 1 *$'
same_modes "q"

type_line "clear; \$NETDOCTOR show $report; echo status \$?"
shows "once more" '\[1 Overview\]'
keys C-c
shows "Ctrl-C leaves" 'status [0-9]'
same_modes "Ctrl-C"

type_line "clear; TERM=dumb \$NETDOCTOR show $report | head -n 1; echo status"
said "text where it is no terminal" 'no screen, text instead: standard output is no terminal'
type_line "clear; TERM=dumb \$NETDOCTOR show $report | tail -n 2; TERM=dumb \$NETDOCTOR show $report"
said "text on a dumb terminal, and why" 'no screen, text instead: the terminal is dumb'
"$NETDOCTOR" show "$report" >"$work/text" 2>"$work/error" </dev/null
check "where nobody expects a screen, text" grep -q '^Ruled out' "$work/text"
check "and no word" [ ! -s "$work/error" ]
"$NETDOCTOR" test --tui 127.0.0.1:1 >"$work/text" 2>"$work/error" </dev/null
check "who asks for it is told even there" \
	grep -q 'no screen, text instead: standard input is no terminal' "$work/error"
type_line "clear; \$NETDOCTOR show $report </dev/null 2>\$work/error | tail -n 1; echo status"
said "in a pipe with both" status
check "no word either" [ ! -s "$work/error" ]
type_line "clear; \$NETDOCTOR show $report </dev/null 2>\$work/error; echo status \$?"
said "text on a terminal where one was expected" 'status 1'
check "and why, where errors go" grep -q 'standard input is no terminal' "$work/error"
type_line "clear; NO_COLOR=1 \$NETDOCTOR show --ascii $report"
shows "the screen in ASCII" '^\+- Rate and ceilings -'
check "and in nothing else" [ -z "$(screen | LC_ALL=C tr -d '\000-\177')" ]
check "without colours" [ -z "$(mux capture-pane -pe | grep -E "$(printf '\033')\[[0-9;]*(3[0-8]|4[0-8])[;m]")" ]
keys q
done_testing
