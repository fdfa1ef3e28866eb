#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The test runner counts what programs print, and never takes silence for success.
. tests/tap.sh

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# counts NAME EXPECTED: standard input is the program to run.
counts() {
	{ echo '#!/bin/sh'; cat; } >"$work/program"
	chmod +x "$work/program"
	report=$(TEST_RESULTS=$work tests/run-one "unit/$1" "$work/program")
	read -r got <"$work/unit.$1.counts"
	[ "$got" = "$2" ] || echo "counted \"$got\", not \"$2\": $report"
	check "$1" [ "$got" = "$2" ]
}

counts passes "2 0 0" <<'SH'
echo 1..2; echo "ok 1 - a"; echo "ok 2 - b"
SH
counts fails "1 1 0" <<'SH'
echo "ok 1 - a"; echo "not ok 2 - b"; exit 1
SH
counts fails-without-status "0 1 0" <<'SH'
echo "not ok 1 - b"
SH
counts skips "1 0 1" <<'SH'
echo "ok 1 - a"; echo "ok 2 - b # SKIP no root"
SH
counts cmocka-skips "0 0 1" <<'SH'
echo 1..1; echo "no root"; echo "not ok 1 # SKIP b"
SH
counts skips-all "0 0 1" <<'SH'
echo "1..0 # SKIP no root"
SH
counts status-without-failure "1 1 0" <<'SH'
echo "ok 1 - a"; exit 3
SH
counts crash "1 1 0" <<'SH'
echo "ok 1 - a"; kill -SEGV $$
SH
counts silence "0 1 0" <<'SH'
exit 0
SH
counts too-few "1 1 0" <<'SH'
echo 1..2; echo "ok 1 - a"
SH
counts comment-is-no-result "1 0 0" <<'SH'
echo "ok 1 - a"; echo "# not ok - group"; echo "okay"; echo "not okay"
SH

TEST_TIMEOUT=1
export TEST_TIMEOUT
counts hang "1 1 0" <<'SH'
echo "ok 1 - a"; sleep 30
SH
done_testing
