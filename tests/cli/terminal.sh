#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# On a terminal: progress that leaves nothing behind, and colours for those who want them.
. tests/cli/lib.sh
need script jq

# Quoted for the shell that script starts.
command="'$NETDOCTOR' diagnose --plain -t 0.5 -O 0.1 -P 1 --no-experiments"
escape=$(printf '\033')

# on_terminal ENVIRONMENT OPTION...: what a terminal of 80 columns gets, in $work/out.
on_terminal() {
	terminal_environment=$1
	shift
	in_time 60 env TERM=xterm LC_ALL=C.UTF-8 script -qec \
		"stty cols 80; $terminal_environment $command $*" /dev/null
}
# What is left on its lines when all has been rewritten.
seen() { sed 's/\r$//; s/.*\r//' "$work/out" | sed "s/$escape\[[0-9;]*[mK]//g"; }

on_terminal ""
check "it ends" [ "$status" -le 3 ]
says "progress" "run 1 of 2: forward, 1 stream" "$work/out"
says "colours" "$escape\[[0-9;]*m"
seen >"$work/seen"
check "no line of progress stays" [ -z "$(grep '^run ' "$work/seen")" ]
# Columns, not bytes.  A complaint is one line however long (on a busy machine a run may fail), and
# so is a command, to be copied.
widest=$(grep -vE '^netdoctor: |^   (now|to keep|to undo) ' "$work/seen" | LC_ALL=C.UTF-8 wc -L)
[ "$widest" -le 80 ] || sed -n 's/^/# /p' "$work/seen"
check "nothing is wider than the terminal" [ "$widest" -le 80 ]

on_terminal NO_COLOR=1 --forward
check "no colours with NO_COLOR" [ -z "$(grep "$escape\[[0-9;]*m" "$work/out")" ]
on_terminal TERM=dumb --forward --quiet
check "no colours on a dumb terminal, and no progress with --quiet" \
	[ -z "$(grep "$escape" "$work/out")" ]
on_terminal "" --forward --no-color --ascii
check "--no-color" [ -z "$(grep "$escape\[[0-9;]*m" "$work/out")" ]
check "--ascii" [ -z "$(seen | tr -d '\000-\177')" ]
on_terminal "" --forward -o "$work/file"
check "none into a file" [ -z "$(grep "$escape" "$work/file")" ]
on_terminal "" --forward --report json "2>/dev/null"
check "none in JSON" [ -z "$(grep "$escape" "$work/out")" ]
done_testing
