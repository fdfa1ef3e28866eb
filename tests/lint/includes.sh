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

# c_includes' lines come in the order of their files: the first counts, none is none.
own_header_later() {
	{ c_files; c_includes; } | awk '
		/^[^:]*\.h$/ { header[$0] = 1; next }
		/^[^:]*\.c$/ { file[++n] = $0; next }
		{ path = $0; sub(/:.*/, "", path) }
		!(path in first) { sub(/^[^"<]*["<]/, ""); sub(/[">].*/, ""); first[path] = $0 }
		END {
			for (i = 1; i <= n; i++) {
				own = file[i]
				sub(/c$/, "h", own)
				if (own in header && first[file[i]] != own)
					print file[i] ": includes " first[file[i]] " before its own header"
			}
		}'
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
