#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The commands and options of --help, of the man page and of the completion agree.
. tests/tap.sh

man=docs/man/netdoctor.1
commands=$("$NETDOCTOR" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
check "there are commands" [ "$(echo "$commands" | wc -w)" -ge 4 ]

# Options of a command, "-B" and "--bind" on lines of their own.
help_options() { # COMMAND
	"$NETDOCTOR" "$1" --help | sed -n '/^Options:/,$p' |
		grep -oE '^ +(-[0-9A-Za-z], )?--[a-z0-9-]+' | tr -d ' ' | tr ',' '\n'
}
all_options() {
	for command in $commands; do help_options "$command"; done
	"$NETDOCTOR" --help | grep -oE '^ +--[a-z-]+' | tr -d ' '
	echo "--help"
	echo "--version"
}
# .It Fl B , \-bind Ar address: the options -B and --bind.
man_options() { # [FILE]
	sed -nE 's/^\.(It Fl|Fl|Nm Fl) //p' "${1:-$man}" | sed 's/ Ar .*//; s/\\-/-/g' | tr -s ' ,|:' '\n' |
		sed -n 's/^[a-zA-Z0-9]$/-&/p; s/^-[a-z0-9-]\{2,\}$/-&/p'
}
differences() { # FILE OTHER: lines of FILE that OTHER has not
	sort -u "$2" | awk 'NR == FNR { there[$0] = 1; next } !there[$0]' - "$1" | sort -u
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
all_options >"$work/help"
man_options >"$work/man"
none "options that the man page lacks" "$(differences "$work/help" "$work/man")"
none "options of the man page that are not there" "$(differences "$work/man" "$work/help")"
# The part of the man page about a command, or about the options of several.
man_part() { # FIRST-WORD
	awk -v first="$1" '/^\.S[sh] / { on = $1 == ".Ss" && $2 == first } on' "$man"
}
man_part Options >"$work/common"
man_options "$work/common" >"$work/common-options"
for command in $commands; do
	check "the man page has $command" grep -qE "^\.Ss $command( |\$)" "$man"
	help_options "$command" >"$work/help"
	man_part "$command" >"$work/part"
	man_options "$work/part" | cat - "$work/common-options" >"$work/man"
	none "options that its part on $command lacks" "$(differences "$work/help" "$work/man")"
	grep '^\.It Fl' "$work/part" >"$work/items"
	man_options "$work/items" >"$work/man"
	none "options in it that $command has not" "$(differences "$work/man" "$work/help")"
done
# Defaults are said in both places.
"$NETDOCTOR" diagnose --help | sed -n 's/.*default \([0-9][0-9A-Z]*\)).*/\1/p' | while read -r default; do
	grep -q "$default" "$man" || echo "$default"
done >"$work/defaults"
none "defaults that the man page lacks" "$(cat "$work/defaults")"

if ! command -v bash >/dev/null 2>&1; then
	skip "completion" "no bash"
	done_testing
fi
# tab WORD...: what TAB offers after the last word.
tab() {
	# shellcheck disable=SC2016 # bash expands it
	bash -c '. docs/completion/netdoctor
		program=$1
		shift
		COMP_WORDS=(netdoctor "$@") COMP_CWORD=$#
		previous=netdoctor
		[[ $# -lt 2 ]] || previous=${@:$#-1:1}
		_netdoctor "$program" "${!#}" "$previous"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$NETDOCTOR" "$@"
}
for command in $commands; do
	help_options "$command" >"$work/help"
	tab "$command" - >"$work/completion"
	none "options of $command that the completion lacks" \
		"$(differences "$work/help" "$work/completion")"
done
tab "" >"$work/completion"
none "commands that the completion lacks" \
	"$(echo "$commands" | tr ' ' '\n' | differences /dev/stdin "$work/completion")"
check "values of --report" \
	[ "$(tab diagnose --report "" | tr '\n' ' ')" = "text json markdown html " ]
check "of a test" [ "$(tab test --report "" | tr '\n' ' ')" = "text json " ]
check "rules for explain" [ "$(tab explain pcie-link-d)" = pcie-link-downgraded ]
check "a long option from its beginning" [ "$(tab diagnose --verb)" = "--verbose" ]
check "commands for help" [ "$(tab help dia)" = "diagnose" ]
check "congestion controls" [ "$(tab diagnose -C ren)" = "reno" ]
check "files for a key" [ "$(tab serve --key-file docs/man/netd)" = "docs/man/netdoctor.1" ]
check "files for a report" [ "$(tab check -o docs/man/netd)" = "docs/man/netdoctor.1" ]
check "nothing for a number" [ -z "$(tab diagnose -P "")" ]
check "nothing for an unknown command" [ -z "$(tab frobnicate -)" ]
check "interfaces for check" [ "$(tab check l | grep -cx lo)" = 1 ]
done_testing
