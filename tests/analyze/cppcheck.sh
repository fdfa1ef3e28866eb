#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# cppcheck.  What it cannot know about libraries' headers is no finding.
. tests/tap.sh
. tests/lint/sources.sh

if ! command -v cppcheck >/dev/null 2>&1; then
	skip "cppcheck" "not installed: ./bootstrap deps lint"
	done_testing
fi
# normalCheckLevel tells that it could look deeper: no finding.
found=$(product_files | grep '\.c$' | cppcheck --file-list=- -j2 --quiet --inline-suppr \
	--std=c11 -I. -D_GNU_SOURCE -DNETDOCTOR_VERSION='""' \
	--enable=warning,performance,portability --error-exitcode=0 2>&1)
none "cppcheck has nothing to say" "$found"
done_testing
