#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Markdown and HTML: of a recorded exam, of this host, and what tidy says of the HTML.
. tests/cli/lib.sh
need jq

sound() { # NAME FILE: HTML that tidy has no complaint about
	if command -v tidy >/dev/null; then
		tidy -errors -quiet "$2" >"$work/tidy" 2>&1
		none "$1" "$(cat "$work/tidy")"
	else
		skip "$1" "there is no tidy here"
	fi
}

report=$work/report.json
for exam in tests/exams/base/*.json; do
	name=$(basename "$exam" .json)
	jq '{schema: "netdoctor-report/1", exam: (.exam // .)}' "$exam" >"$report"
	in_time 20 "$NETDOCTOR" show "$report"
	code=$status
	summary=$(head -n 1 "$work/out" | cut -c1-50)
	works "$name as Markdown" "$code" show "$report" --report markdown --verbose
	check "$name: the sentence first" [ -n "$(head -n 1 "$work/out" | grep -F "## $summary")" ]
	says "$name: a table of ceilings" '^\| ceiling \| side \| rate \|'
	works "$name as HTML" "$code" show "$report" --report html --verbose -o "$work/report.html"
	check "$name: nothing on standard output" [ ! -s "$work/out" ]
	check "$name: the sentence is the title" \
		[ -n "$(grep -F "<title>netdoctor: $summary" "$work/report.html")" ]
	sound "$name: sound HTML" "$work/report.html"
done
says "no script may run" "Content-Security-Policy.*default-src 'none'" "$work/report.html"
none "no script is there" "$(grep -iE '<script|javascript:| on[a-z]+=' "$work/report.html")"
none "nothing is fetched" "$(grep -iE 'src=|href=|url\(|@import' "$work/report.html")"

in_time 20 "$NETDOCTOR" check
code=$status
works "this host as Markdown" "$code" check --report markdown
says "its checks in a table" '^\| result \| rule \| what \|'
works "this host as HTML" "$code" check --report html -o "$work/check.html"
sound "sound HTML" "$work/check.html"
check "ended by </html>" [ "$(tail -n 1 "$work/check.html")" = "</html>" ]

# A report of last year is not one of today, however it is told again.
jq '.created = "2025-03-04T05:06:07Z"' "$work/report.json" >"$work/old.json"
"$NETDOCTOR" show "$work/old.json" --report json -o "$work/older.json"
for format in text json markdown html; do
	in_time 20 "$NETDOCTOR" show "$work/older.json" --report "$format"
	says "its own time as $format" '2025-03-04T05:06:07Z'
done

error "an unknown format" 64 '\-\-report' show "$report" --report pdf
error "a format that a test has not" 64 '\-\-report' test 127.0.0.1 --report html
done_testing
