#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The tree speaks of netdoctor alone: no paths of somebody's machine, no numbers of
# somebody's tracker, nothing half done.
. tests/tap.sh
. tests/lint/sources.sh

shipped() {
	# shellcheck disable=SC2046 # words on purpose
	find $(folders) docs tools .ci -type f ! -path tests/lint/words.sh 2>/dev/null
	for file in README.md CONTRIBUTING.md Makefile configure bootstrap; do
		[ -e "$file" ] && echo "$file"
	done
}
# shellcheck disable=SC2046
set -- $(shipped)

none "no machine's paths" "$(grep -nIE '(^|[^A-Za-z0-9_./$}-])/(work|home|root)/' "$@")"
none "no tracker's numbers" "$(grep -nIiE '(issue|ticket|bug) ?#?[0-9]|workplace' "$@")"
none "nothing is marked as to be done" \
	"$(grep -nIE '(^|[^A-Za-z.])(TODO|FIXME|XXX|HACK)([^A-Za-z]|$)' "$@")"
done_testing
