#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Documents that are made from tables say what the tables say.
. tests/tap.sh

made=$(mktemp -d) || exit 1
trap 'rm -rf "$made"' EXIT
mkdir "$made/rules"
generator=$BUILD/tests/tools/gen_docs

check "the generator builds" make -s "$generator"
check "the schema can be made" \
	"$generator" schema src/report/schema.skeleton.json "$made/netdoctor-report-1.schema.json"
check "the pages of rules can be made" "$generator" rules "$made/rules"
check "docs/schema is current (make docs)" \
	cmp docs/schema/netdoctor-report-1.schema.json "$made/netdoctor-report-1.schema.json"
check "docs/rules is current (make docs)" diff -r docs/rules "$made/rules"

# Screens in documents are what the program draws.
screens=$BUILD/tests/tools/gen_screens
check "the generator of screens builds" make -s "$screens"
cp README.md docs/man/netdoctor.1 "$made"
check "screens can be made" "$screens" "$made/README.md" "$made/netdoctor.1"
check "screens in README.md are current (make docs)" cmp README.md "$made/README.md"
check "screens in the man page are current (make docs)" \
	cmp docs/man/netdoctor.1 "$made/netdoctor.1"
done_testing
