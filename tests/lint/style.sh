#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What docs/STYLE.md asks for and a pattern can see.
. tests/tap.sh
. tests/lint/sources.sh

# shellcheck disable=SC2046 # words on purpose
set -- $(c_files)

# Files whose first line, or the one below #!, is not the SPDX line; also empty ones.
without_spdx() { # START END FILE...
	spdx="$1SPDX-License-Identifier: GPL-3.0-or-later$2"
	shift 2
	awk -v spdx="$spdx" '
		FNR == 1 || (FNR == 2 && interpreter) { if ($0 == spdx) has[FILENAME] = 1 }
		FNR == 1 { interpreter = /^#!/ }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' "$@"
}
none "C files begin with the SPDX line" "$(without_spdx '/* ' ' */' "$@")"
# shellcheck disable=SC2046
none "scripts have the SPDX line first, or after #!" \
	"$(without_spdx '# ' '' $(scripts) .ci/run Makefile tools/packages)"

# shellcheck disable=SC2046
none "no white space at the end of a line" "$(grep -nE '[[:space:]]+$' "$@" $(scripts))"
none "tabs, not eight spaces" "$(grep -nE '^	* {8}' "$@")"

long_lines() {
	awk '
		{
			# Even if every tab were eight wide: the common case, decided quickly.
			tabs = gsub(/\t/, "&")
			if (length($0) + 7 * tabs <= 100) next
			width = 0
			n = length($0)
			for (i = 1; i <= n; i++)
				width = substr($0, i, 1) == "\t" ? width + 8 - width % 8 : width + 1
			if (width > 100) print FILENAME ":" FNR ": " width " columns"
		}' "$@"
}
none "lines are at most 100 columns" "$(long_lines "$@")"

code=$(mktemp) || exit 1
trap 'rm -f "$code"' EXIT
c_code "$@" >"$code"
none "no typedefs but callbacks" "$(grep -E ':typedef' "$code" | grep -vE '\(\*')"
none "no constructors: tables are explicit" "$(grep -E 'constructor(__)?[)(]' "$code")"
done_testing
