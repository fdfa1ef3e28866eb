#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# clang-tidy, with the checks of .clang-tidy.
. tests/tap.sh
. tests/lint/sources.sh

if ! command -v clang-tidy >/dev/null 2>&1; then
	skip "clang-tidy" "not installed: ./bootstrap deps lint"
	done_testing
fi
# A stand-in that says nothing must not pass for a program that found nothing.
if ! clang-tidy --version 2>/dev/null | grep -q LLVM; then
	skip "clang-tidy" "the clang-tidy in PATH does not run"
	done_testing
fi
flags="$(variable LANGUAGE) $(variable DEP_CFLAGS)"
# One process a file, two at a time; its own count of what it left out says nothing.
# shellcheck disable=SC2086 # words on purpose
found=$(product_files | grep '\.c$' |
	xargs -P 2 -I FILE clang-tidy --quiet FILE -- $flags 2>&1 |
	grep -vE '^[0-9]+ warnings? (generated|treated as)|^Suppressed|^Use -header-filter')
none "clang-tidy has nothing to say" "$found"
done_testing
