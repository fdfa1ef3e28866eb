# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# TAP for test scripts: `. tests/tap.sh`, then pass, fail, skip, check or none for each
# test, and `done_testing` at the end.

tap_tests=0
tap_failed=0

pass() { # NAME
	tap_tests=$((tap_tests + 1))
	echo "ok $tap_tests - $1"
}

fail() { # NAME: what it printed before explains
	tap_tests=$((tap_tests + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_tests - $1"
}

skip() { # NAME REASON
	tap_tests=$((tap_tests + 1))
	echo "ok $tap_tests - $1 # SKIP $2"
}

# check NAME COMMAND...: passes when the command succeeds.
check() {
	tap_name=$1
	shift
	if "$@"; then pass "$tap_name"; else fail "$tap_name"; fi
}

# none NAME FOUND: passes when nothing was found, and shows what was.
none() {
	[ -z "$2" ] || printf '%s\n' "$2"
	check "$1" [ -z "$2" ]
}

done_testing() {
	echo "1..$tap_tests"
	[ "$tap_failed" -eq 0 ]
	exit
}
