#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every header compiles by itself, and guards itself.
. tests/tap.sh
. tests/lint/sources.sh

variable() { make -s "print-$1" | tail -n 1; }
compiler=$(variable CC)
flags="$(variable LANGUAGE) $(variable WARNINGS) $(variable DEP_CFLAGS)"

incomplete() {
	for header in $(headers); do
		# Included, not compiled itself: compilers warn of a main file with a guard.
		# shellcheck disable=SC2086 # words on purpose
		echo "#include \"$header\"" | $compiler $flags -Werror -fsyntax-only -x c - 2>&1 |
			sed "s|^|$header: |"
	done
}
none "headers compile alone" "$(incomplete)"

unguarded() {
	for header in $(headers | grep -v '^tests/'); do
		guard=$(sed -n 's/^#ifndef \(ND_[A-Z0-9_]*_H\)$/\1/p' "$header" | head -n 1)
		wanted=ND_$(echo "${header#src/}" | tr '[:lower:]./-' '[:upper:]___')
		[ "$guard" = "$wanted" ] || echo "$header: guard ${guard:-missing}, not $wanted"
	done
}
none "headers are guarded by their path" "$(unguarded)"
done_testing
