#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Kinds of terminals: as many colours as there are, letters for what colour says, ASCII.
. tests/terminal/lib.sh

command -v jq >/dev/null 2>&1 || { skip "the screen" "no jq"; done_testing; }
report=$work/report.json
jq '{schema: "netdoctor-report/1", exam: .exam}' tests/exams/base/lan-25g-cpu-bound.json >"$report" || exit 1

# The largest number of a colour that is asked for; -1: there is none.
most_colour() {
	mux capture-pane -pe | grep -oE "$(printf '\033')\[[0-9;]*m" | tr -d '\033[m' | tr ';' '\n' |
		awk 'fg { if (fg == 1 && $1 == 5) fg = 2; else { if (fg == 2 && $1 > most) most = $1; fg = 0 } next }
		     $1 == 38 || $1 == 48 { fg = 1; next }
		     $1 >= 30 && $1 <= 37 && $1 - 30 >= most { most = $1 - 30 }
		     $1 >= 90 && $1 <= 97 && $1 - 82 >= most { most = $1 - 82 }
		     BEGIN { most = -1 } END { print most }'
}
look() { # TERM OPTIONS
	type_line "clear; TERM=$1 \$NETDOCTOR show $2 $report"
	until_shown '\[1 Overview\]'
	keys 2
	shows "$1 $2: cores" 'cpu 2 +s+q+ +98 %'
	cp "$work/screen" "$work/cores"
	most=$(most_colour)
	keys q
	until_shown '[#$] *$'
	echo "# $1 $2: largest colour $most"
}

terminal 100 30
mux set-option -s default-terminal tmux-256color
note_modes before
look tmux-256color
check "256 colours: beyond sixteen" [ "$most" -gt 15 ]
if infocmp xterm-16color >/dev/null 2>&1; then
	look xterm-16color
	check "16 colours: none beyond" [ "$most" -ge 0 -a "$most" -le 15 ]
else
	skip "16 colours" "xterm-16color is not in terminfo"
fi
look screen
check "8 colours: none beyond" [ "$most" -ge 0 -a "$most" -le 7 ]
look vt100
check "none on a terminal without" [ "$most" -lt 0 ]
look tmux-256color --no-color
check "none when not wanted" [ "$most" -lt 0 ]
look tmux-256color --ascii
# How much of either depends on the moment of the run that plays.
check "ASCII says the same" grep -qE 'cpu 2 .*s{2,}q{4,} *98 %' "$work/cores"

type_line "clear; LC_ALL=C \$NETDOCTOR show $report"
shows "the C locale" '\[1 Overview\]'
check "is ASCII by itself" [ -z "$(screen | LC_ALL=C tr -d '\000-\177')" ]
keys q
# What is typed while the terminal is given back is lost.
until_shown '[#$] *$'
type_line "clear; TERM=no-such-terminal \$NETDOCTOR show $report; echo status \$?"
said "text on a terminal that nobody knows, and why" 'no screen, text instead: '
type_line "clear; \$NETDOCTOR show $report </dev/null >/dev/null; echo status \$?"
said "text where nobody types, and why" 'no screen, text instead: standard input is no terminal'
same_modes "all of them"
done_testing
