#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every header compiles by itself, and guards itself.
. tests/tap.sh
. tests/lint/sources.sh

compiler=$(variable CC)
flags="$(variable LANGUAGE) $(variable WARNINGS) $(variable DEP_CFLAGS)"

# A compiler for each, two at a time.  Included, not compiled itself: compilers warn
# of a main file with a guard.
incomplete() { # the headers on standard input
	# shellcheck disable=SC2086 # words on purpose
	xargs -P 2 -I HEADER \
		$compiler $flags -Werror -fsyntax-only -include HEADER -x c /dev/null 2>&1
}
none "headers compile alone" "$(headers | incomplete)"

# One without an #ifndef of that kind has none, also an empty one.
unguarded() { # HEADER...
	awk '
		function wanted(path) {
			sub(/^src\//, "", path)
			gsub(/[.\/-]/, "_", path)
			return "ND_" toupper(path)
		}
		!(FILENAME in guard) && /^#ifndef ND_[A-Z0-9_]*_H$/ { guard[FILENAME] = $2 }
		END {
			for (i = 1; i < ARGC; i++) {
				found = ARGV[i] in guard ? guard[ARGV[i]] : "missing"
				if (found != wanted(ARGV[i]))
					print ARGV[i] ": guard " found ", not " wanted(ARGV[i])
			}
		}' "$@"
}
# shellcheck disable=SC2046
none "headers are guarded by their path" "$(unguarded $(headers | grep -v '^tests/'))"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
printf '#ifndef ND_OTHER_H\nstruct nd_u64 v;\n#endif\n' >"$work/bad.h"
: >"$work/empty.h"
check "the checker sees a header that needs another" \
	[ -n "$(echo "$work/bad.h" | incomplete)" ]
check "the checker sees guards that are wrong or missing" \
	[ "$(unguarded "$work/bad.h" "$work/empty.h" | grep -c guard)" = 2 ]
done_testing
