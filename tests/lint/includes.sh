#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Folders include only what includes.table lets them: the layers of docs/ARCHITECTURE.md.
. tests/tap.sh
. tests/lint/sources.sh

# shellcheck disable=SC2046 # words on purpose
c_includes() { grep -nE '^[[:space:]]*#[[:space:]]*include' $(c_files) /dev/null; }

none "folders include only what the table allows" "$(c_includes | awk -f tests/lint/includes.awk)"

# By another path a header of ours would escape the table.
none "project headers are named from the top of the tree" \
	"$(c_includes | grep '"' | grep -vE '"(src|probes|rules|ui|tests)/')"

own_header_later() {
	for file in $(c_files); do
		own=${file%.c}.h
		if [ "$own" = "$file" ] || [ ! -e "$own" ]; then continue; fi
		first=$(sed -n 's/^#include ["<]\(.*\)[">].*/\1/p' "$file" | head -n 1)
		[ "$first" = "$own" ] || echo "$file: includes $first before its own header"
	done
}
none "a file includes its own header first" "$(own_header_later)"

# The block of docs/ARCHITECTURE.md between ```includes and ```.
shown_table() {
	awk '/^```/ { inside = $0 == "```includes"; next } inside' docs/ARCHITECTURE.md
}
none "docs/ARCHITECTURE.md shows the table as it is" \
	"$(shown_table | diff tests/lint/includes.table - 2>&1)"

# The checker itself: a rule that opens a socket must not pass.
bad='rules/x.c:1:#include <sys/socket.h>
rules/x.c:2:#include "src/load/load.h"
rules/x.c:3:#include <cjson/cJSON.h>
rules/x.c:4:#include "src/core/facts.h"
elsewhere/x.c:1:#include <stdio.h>'
check "the checker finds what it should" \
	[ "$(echo "$bad" | awk -f tests/lint/includes.awk | wc -l)" -eq 4 ]
done_testing
