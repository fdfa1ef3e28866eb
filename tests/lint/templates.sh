#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The templates that docs/HACKING.md tells to copy compile; nothing else would notice.
. tests/tap.sh

variable() { make -s "print-$1" | tail -n 1; }
for template in probes/_template.c rules/_template.c; do
	# shellcheck disable=SC2046 # words on purpose
	check "$template compiles" $(variable CC) $(variable LANGUAGE) $(variable WARNINGS) \
		$(variable DEP_CFLAGS) -Werror -fsyntax-only "$template"
done
done_testing
