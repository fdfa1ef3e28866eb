#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The templates that docs/HACKING.md tells to copy compile; nothing else would notice.
. tests/tap.sh
. tests/lint/sources.sh

compiler=$(variable CC)
flags="$(variable LANGUAGE) $(variable WARNINGS) $(variable DEP_CFLAGS)"
for template in probes/_template.c rules/_template.c; do
	# shellcheck disable=SC2086 # words on purpose
	check "$template compiles" $compiler $flags -Werror -fsyntax-only "$template"
done
done_testing
