#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# clang compiles everything without a warning.  Not linked: gcc's build does that.
. tests/tap.sh
. tests/lint/sources.sh

if ! command -v clang >/dev/null 2>&1; then
	skip "clang" "not installed: ./bootstrap deps lint"
	done_testing
fi
flags="$(variable LANGUAGE) $(variable WARNINGS) $(variable DEP_CFLAGS) $(variable CMOCKA_CFLAGS)"
# shellcheck disable=SC2086 # words on purpose
found=$(c_files | grep '\.c$' | grep -v '/_template\.c$' |
	xargs -P 2 -n 8 clang $flags -pthread -O1 -fsyntax-only 2>&1)
none "clang has no warnings" "$found"
done_testing
