#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every script under shellcheck's eyes, and dash can read them.
. tests/tap.sh
. tests/lint/sources.sh

if command -v shellcheck >/dev/null 2>&1; then
	# shellcheck disable=SC2046 # words on purpose
	# Not told: A && B || C where B cannot fail (SC2015), dollars of awk, jq and sed in
	# single quotes (SC2016), functions with optional arguments (SC2119, SC2120).
	none "shellcheck has nothing to say" "$(shellcheck -x -e SC2015,SC2016,SC2119,SC2120 $(scripts) .ci/run docs/completion/netdoctor 2>&1)"
else
	skip "shellcheck" "not installed: ./bootstrap deps lint"
fi
if command -v dash >/dev/null 2>&1; then
	none "dash reads them" "$(for script in $(scripts); do dash -n "$script" 2>&1; done)"
else
	skip "dash" "not installed"
fi
done_testing
