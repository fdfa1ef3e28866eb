#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every script under shellcheck's eyes, and dash can read them.
. tests/tap.sh
. tests/lint/sources.sh

if command -v shellcheck >/dev/null 2>&1; then
	# shellcheck disable=SC2046 # words on purpose
	none "shellcheck has nothing to say" "$(shellcheck -x $(scripts) .ci/run docs/completion/netdoctor 2>&1)"
else
	skip "shellcheck" "not installed: ./bootstrap deps lint"
fi
if command -v dash >/dev/null 2>&1; then
	none "dash reads them" "$(for script in $(scripts); do dash -n "$script" 2>&1; done)"
else
	skip "dash" "not installed"
fi
done_testing
