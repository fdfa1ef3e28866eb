#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions that nobody calls here, and functions that only some folders call.
. tests/tap.sh
. tests/lint/sources.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# calls WORDS CODE: where any of the functions is called; CODE is what c_code printed.
calls() { grep -E "(^|[^A-Za-z0-9_.>])($1)[[:space:]]*\(" "$2"; }

# shellcheck disable=SC2046 # words on purpose
c_code $(product_files) >"$work/all"
grep -v '^src/cli/' "$work/all" >"$work/library"
grep -E '^(src/model|src/diagnose|rules|src/report)/' "$work/all" >"$work/judging"

none "no copy without a bound" \
	"$(calls 'strcpy|strcat|stpcpy|sprintf|vsprintf|gets|strtok' "$work/all")"
none "no parsing that cannot fail: parse_u64() and its kin" \
	"$(calls 'atoi|atol|atoll|atof|sscanf|fscanf|vsscanf' "$work/all")"
none "no shell" "$(calls 'system|popen' "$work/all")"
none "no guessable randomness or names" \
	"$(calls 'rand|srand|random|rand_r|drand48|mktemp|tmpnam|tempnam' "$work/all")"
none "no results in static buffers" \
	"$(calls 'localtime|gmtime|ctime|asctime|inet_ntoa|gethostbyname|getservbyname' "$work/all")"
none "no allocation on the stack" "$(calls 'alloca' "$work/all")"

printing='printf|vprintf|fprintf|vfprintf|dprintf|puts|fputs|putchar|fputc|putc|perror'
ending='exit|_exit|_Exit|quick_exit|abort|assert'
none "only src/cli prints" "$(calls "$printing|err|errx|warn|warnx" "$work/library")"
none "only src/cli ends the program" "$(calls "$ending" "$work/library")"

# Model, rules and diagnosis see an exam and nothing else: no clock, no environment.
outside='getenv|secure_getenv|time|clock_gettime|gettimeofday|fopen|open|socket|ioctl|read'
none "judging does no I/O" "$(calls "$outside" "$work/judging")"

cat >"$work/sample.c" <<'C'
/* printf(1) in a comment */ a = "printf(2)"; x->printf(3); snprintf(4); printf (5);
/* over
   printf(6) lines */ b = '"'; printf(7);
C
c_code "$work/sample.c" >"$work/sample"
check "the checker sees calls and nothing else" \
	[ "$(calls printf "$work/sample" | grep -c 'printf *([57])')" = 2 ]
check "there is code to look at" [ "$(wc -l <"$work/all")" -gt 1000 ]
done_testing
