#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions that nobody calls here, and functions that only some folders call.
. tests/tap.sh
. tests/lint/sources.sh

# calls WORDS FILE...: where any of the functions is called.
calls() {
	words=$1
	shift
	c_code "$@" /dev/null | grep -E "(^|[^A-Za-z0-9_.>])($words)[[:space:]]*\("
}

# shellcheck disable=SC2046 # words on purpose
set -- $(product_files)
none "no copy without a bound" \
	"$(calls 'strcpy|strcat|stpcpy|sprintf|vsprintf|gets|strtok' "$@")"
none "no parsing that cannot fail: parse_u64() and its kin" \
	"$(calls 'atoi|atol|atoll|atof|sscanf|fscanf|vsscanf' "$@")"
none "no shell" "$(calls 'system|popen' "$@")"
none "no guessable randomness or names" \
	"$(calls 'rand|srand|random|rand_r|drand48|mktemp|tmpnam|tempnam' "$@")"
none "no results in static buffers" \
	"$(calls 'localtime|gmtime|ctime|asctime|inet_ntoa|gethostbyname|getservbyname' "$@")"
none "no allocation on the stack" "$(calls 'alloca' "$@")"

printing='printf|vprintf|fprintf|vfprintf|dprintf|puts|fputs|putchar|fputc|putc|perror'
ending='exit|_exit|_Exit|quick_exit|abort|assert'
# shellcheck disable=SC2046
set -- $(product_files | grep -v '^src/cli/')
none "only src/cli prints" "$(calls "$printing|err|errx|warn|warnx" "$@")"
none "only src/cli ends the program" "$(calls "$ending" "$@")"

# Model, rules and diagnosis see an exam and nothing else: no clock, no environment.
# shellcheck disable=SC2046
set -- $(product_files | grep -E '^(src/model|src/diagnose|rules|src/report)/')
none "judging does no I/O" \
	"$(calls 'getenv|secure_getenv|time|clock_gettime|gettimeofday|fopen|open|socket|ioctl|read' "$@")"

c_sample=$(mktemp) || exit 1
trap 'rm -f "$c_sample"' EXIT
cat >"$c_sample" <<'C'
/* printf(1) in a comment */ a = "printf(2)"; x->printf(3); snprintf(4); printf (5);
/* over
   printf(6) lines */ b = '"'; printf(7);
C
check "the checker sees calls and nothing else" \
	[ "$(calls printf "$c_sample" | grep -o 'printf *([57])' | wc -l)" = 2 ]
done_testing
