# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034
#
# A terminal to show the screen on: tmux with a server of its own, driven by keys.

. tests/tap.sh
: "${NETDOCTOR:?is not set: use tests/run --only terminal/}"

work=$(mktemp -d) || exit 1
terminal_down() {
	tmux -S "$work/socket" kill-server 2>/dev/null
	rm -rf "$work"
}
trap terminal_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

unset NO_COLOR TMUX
LC_ALL=C.UTF-8
export LC_ALL
command -v tmux >/dev/null 2>&1 || { skip "the screen" "no tmux"; done_testing; }

mux() { tmux -S "$work/socket" -f /dev/null "$@"; }
# terminal COLUMNS ROWS: a shell on a terminal of that size.
terminal() {
	mux kill-server 2>/dev/null
	mux new-session -d -x "$1" -y "$2" -e "work=$work" -e "NETDOCTOR=$NETDOCTOR" \
		-e LC_ALL=C.UTF-8 -e ENV= sh || exit 1
	mux set-option -g remain-on-exit on
	until_shown '[#$>]'
}
type_line() { mux send-keys -l "$1" && mux send-keys Enter; }
keys() { mux send-keys "$@"; }
screen() { mux capture-pane -p; }
scrolled() { mux capture-pane -p -S -300; }
# until_shown PATTERN [scrolled]: waits for the screen to show it; false when it never does.
until_shown() {
	waited=0
	until ${2:-screen} >"$work/screen" 2>/dev/null && grep -qE -e "$1" "$work/screen"; do
		waited=$((waited + 1))
		if [ "$waited" -gt 600 ]; then
			echo "# never shown: $1"
			sed 's/^/# /' "$work/screen"
			return 1
		fi
		sleep 0.1
	done
}
shows() { check "$1" until_shown "$2"; }
# What may have left the screen upwards.
said() { check "$1" until_shown "$2" scrolled; }
# The terminal's modes before and after, and what a program said last.
note_modes() { type_line "stty -g >\$work/$1; echo noted-$1-\$?"; until_shown "noted-$1-0"; }
same_modes() {
	note_modes after
	check "$1: the terminal's modes are as they were" cmp -s "$work/before" "$work/after"
	# On the alternate screen the shell's lines would be gone.
	check "$1: and its screen" grep -q 'noted-before-0\|status [0-9]\|left [0-9]' "$work/screen"
	check "$1: and its cursor" [ "$(mux display-message -p '#{cursor_flag}')" = 1 ]
}
