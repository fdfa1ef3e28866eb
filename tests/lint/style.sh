#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What docs/STYLE.md asks for and a pattern can see.
. tests/tap.sh
. tests/lint/sources.sh

# shellcheck disable=SC2046 # words on purpose
set -- $(c_files)

without_spdx() {
	for file; do
		head -n 1 "$file" | grep -qxF '/* SPDX-License-Identifier: GPL-3.0-or-later */' ||
			echo "$file"
	done
}
none "C files begin with the SPDX line" "$(without_spdx "$@")"

scripts_without_spdx() {
	for file in $(scripts) .ci/run Makefile tools/packages; do
		head -n 2 "$file" | grep -qxF '# SPDX-License-Identifier: GPL-3.0-or-later' ||
			echo "$file"
	done
}
none "scripts have the SPDX line first, or after #!" "$(scripts_without_spdx)"

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

none "no typedefs but callbacks" "$(c_code "$@" | grep -E ':typedef' | grep -vE '\(\*')"
none "no constructors: tables are explicit" "$(c_code "$@" | grep -E 'constructor(__)?[)(]')"
done_testing
