#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# No mutable variable outlives a function: not global, not static, not per thread.
. tests/tap.sh
. tests/lint/sources.sh

# NAME in SOURCE: why it must be.
allowed() {
	cat <<'LIST'
way_out in probes/pci_names.c: libpci's error callback carries no argument of ours
guarded in ui/crash.c: a signal handler is given no argument of ours
armed in ui/crash.c: the same
LIST
}

# shellcheck disable=SC2046 # words on purpose
set -- $(product_files | sed -n 's/\.c$/.o/p' | while read -r object; do
	[ -e "$BUILD/$object" ] && echo "$BUILD/$object"
done)

# FILE NAME SECTION of each writable symbol.  Tables of pointers to constants are
# in .data.rel.ro: read-only once the program is loaded.
mutable() {
	nm -A -f sysv "$@" | awk -F'|' '
		NF >= 7 {
			gsub(/ /, "")
			split($1, where, ":")
			if ($3 !~ /^[BbDdCcGgSs]$/ || $7 ~ /^\.data\.rel\.ro/) next
			sub(/^[^\/]*\//, "", where[1])
			sub(/\.o$/, ".c", where[1])
			print where[1], where[2], $7
		}'
}
unexpected() {
	mutable "$@" | while read -r file name section; do
		allowed | grep -q "^$name in $file:" || echo "$file: $name is mutable ($section)"
	done
}
check "there are objects to look at in $BUILD" [ $# -gt 10 ]
none "no mutable globals or static locals" "$(unexpected "$@" /dev/null 2>/dev/null)"
done_testing
