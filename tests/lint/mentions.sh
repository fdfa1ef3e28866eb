#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The files, make targets and functions that the documents name are there.
. tests/tap.sh

documents() { ls README.md CONTRIBUTING.md docs/*.md 2>/dev/null; }

# Words that look like paths of ours; capitals stand for a name to be chosen.
missing_files() {
	for document in $(documents); do
		grep -oE '(^|[^A-Za-z0-9_/.])(src|probes|rules|tests|docs|tools|\.ci)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]' \
			"$document" | sed 's/^[^A-Za-z.]//' | sort -u | grep -vE '[A-Z]{2}|\*$' | while read -r path; do
			# Patterns may name several.
			# shellcheck disable=SC2086
			ls -d $path >/dev/null 2>&1 || echo "$document: $path"
		done
	done
}
none "files" "$(missing_files | grep -vE 'docs/[A-Z]+\.md$')"

missing_documents() {
	for document in $(documents); do
		grep -oE 'docs/[A-Z]+\.md' "$document" | sort -u | while read -r path; do
			[ -e "$path" ] || echo "$document: $path"
		done
	done
}
none "documents" "$(missing_documents)"

missing_functions() {
	for document in $(documents); do
		grep -oE '[a-z_]+\(' "$document" | tr -d '(' | grep _ | sort -u | while read -r name; do
			grep -rqw --include='*.[ch]' "$name" src probes rules tests || echo "$document: $name()"
		done
	done
}
none "functions" "$(missing_functions | grep -vE ': (read_x|parse_x|read_|parse_)\(\)')"

missing_targets() {
	for document in $(documents); do
		grep -oE '(^|    |`)make [a-z]+(`|  |$)' "$document" | awk '{ print $2 }' | tr -d '`' | sort -u | while read -r target; do
			grep -qE "^$target:" Makefile || echo "$document: make $target"
		done
	done
}
none "make targets" "$(missing_targets)"

if command -v mandoc >/dev/null 2>&1; then
	none "the man page is well formed" "$(mandoc -T lint -W warning docs/man/netdoctor.1 2>&1)"
else
	skip "the man page is well formed" "no mandoc: ./bootstrap deps lint"
fi
done_testing
