#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Bytes both ways: copying by OSC 52, clicks, what is no key, search, folding, time.
. tests/terminal/lib.sh

command -v jq >/dev/null 2>&1 || { skip "the screen" "no jq"; done_testing; }
report=$work/report.json
jq '{schema: "netdoctor-report/1", exam: .exam}' tests/exams/base/lan-25g-cpu-bound.json >"$report" || exit 1
fix=$("$NETDOCTOR" show --report json "$report" | jq -r '.diagnosis.findings[0].fix.commands | join("\n")')

# Bytes as a terminal sends them, in one write.
send() {
	# shellcheck disable=SC2059 # escapes on purpose
	printf "$@" >"$work/bytes"
	mux load-buffer "$work/bytes"
	mux paste-buffer
}

terminal 100 30
note_modes before
# The kind whose clicks are told as SGR.
type_line "TERM=xterm-256color \$NETDOCTOR show $report; echo status \$?"
shows "the screen" '\[1 Overview\]'

send '\377' && sleep 0.3 && send '\3772'
shows "a byte that is no character takes no key with it" '\[2 Cores\]'
send '\303\303(\3423'
shows "nor does half of one" '\[3 Queues\]'
send '\303\2514'
shows "nor one that is no key" '\[4 Ladder\]'
send '\033[1;5R5'
shows "a key that nobody knows is none of its bytes" '\[5 Flows\]'
send '\033[<0;14;1M1'
shows "no click without the mouse" '\[1 Overview\]'

keys m
shows "the mouse, when asked for" 'mouse: click tabs'
column=$(screen | head -n 1 | awk '{ print index($0, "3 Queues") + 2 }')
# shellcheck disable=SC2059
send "\033[<0;$column;1M\033[<0;$column;1m"
shows "a click chooses a view" '\[3 Queues\]'
# shellcheck disable=SC2059
send "\033[<0;$((column + 400));400M\033[<0;0;0M\033[<999;99999;1M\033[<M"
keys 6
shows "clicks beside everything do nothing" '\[6 Findings\]'
# shellcheck disable=SC2059
send '\033[<65;10;5M'
shows "the wheel selects" 'not evaluated|the plan|ruled out'
keys g
check "the mouse is asked to tell of clicks" [ "$(mux display-message -p '#{mouse_any_flag}#{mouse_standard_flag}')" != 00 ]
keys m
shows "and the terminal's again" "the terminal's own"

# What goes to the terminal itself.
mux pipe-pane -O "cat >'$work/raw'"
mux set-option -s set-clipboard on
keys c
shows "copying is said" 'copied, if the terminal'
mux pipe-pane
check "there is a command to copy" [ -n "$fix" ]
sent=$(LC_ALL=C tr '\007' '\n' <"$work/raw" | LC_ALL=C sed -n "s/.*$(printf '\033')\]52;c;\([A-Za-z0-9+/=]*\)\$/\1/p" | base64 -d)
check "OSC 52 sent the command, to the byte" [ "$sent" = "$fix" ]
check "and the terminal has it" [ "$(mux show-buffer)" = "$fix" ]
keys v
shows "plain text to select" 'rule      '
check "without frames" [ -z "$(screen | grep -E '[│┌└]')" ]
keys Escape
shows "and back" '[│┌└]'

keys 5
keys '/'
mux send-keys -l 'nothing-of-that-name'
keys Enter
shows "a search that finds nothing" 'not found'
keys 4
keys '/'
shows "a search" 'Search: '
mux send-keys -l 'pcie peer'
keys Enter Enter
shows "finds a row, which opens" 'pcie.*peer'
check "the ladder's formula has numbers" grep -qE '[0-9.]+ G' "$work/screen"

keys 1 g
shows "back to the begin of time" 'PAUSED at 0\.0 s, run 1'
keys '>'
shows "five seconds on" 'PAUSED at 5\.0 s'
keys '<'
shows "and back" 'PAUSED at 0\.0 s'
keys Right Right Right
shows "step by step" 'PAUSED at [1-9]|PAUSED at 0\.[1-9]'
keys q
shows "q" 'status [0-9]'
same_modes "q after mouse and clipboard"
check "no mouse is left behind" [ "$(mux display-message -p '#{mouse_any_flag}')" = 0 ]
done_testing
