#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files stay under 600 lines and functions under 100.
. tests/tap.sh
. tests/lint/sources.sh

long_files() {
	# shellcheck disable=SC2046 # words on purpose
	wc -l $(c_files) $(scripts) Makefile |
		awk '$2 != "total" && $1 >= 600 { print $2 ": " $1 " lines" }'
}
none "files are under 600 lines" "$(long_files)"

# In kernel style only a function's braces stand alone in the first column.
long_functions() { # LEAST FILE...
	least=$1
	shift
	awk -v least="$least" '
		FNR == 1 { start = 0 }
		/^{/ { start = FNR; name = before; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
		/^}/ && start {
			lines = FNR - start + 1
			if (lines >= least) print FILENAME ":" start ": " name "() has " lines " lines"
			start = 0
		}
		/^[A-Za-z].*\(/ { before = $0 }' "$@"
}
# shellcheck disable=SC2046
none "functions are under 100 lines" "$(long_functions 100 $(c_files))"
# shellcheck disable=SC2046
check "the counter sees functions" [ -n "$(long_functions 20 $(c_files))" ]

# The count rests on this.
brace_at_the_end() {
	# shellcheck disable=SC2046
	c_code $(c_files) | grep -E ':[A-Za-z_][^=;]*\)[[:space:]]*\{$'
}
none "a function's opening brace stands on its own line" "$(brace_at_the_end)"
done_testing
