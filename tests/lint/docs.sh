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
done_testing
