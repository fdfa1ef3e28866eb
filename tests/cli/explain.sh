#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# explain: the list of rules, and each of them.
. tests/cli/lib.sh

works "the list" 0 explain
awk '/^[^ ]/ { print $1 }' "$work/out" >"$work/ids"
find rules -name '*-*.c' | sed 's|.*/||; s|\.c$||' | sort >"$work/files"
sort "$work/ids" >"$work/sorted"
check "it has every rule there is" diff "$work/files" "$work/sorted"
check "each has a sentence" [ -z "$(awk '/^[^ ]/ && NF < 4' "$work/out")" ]
check "no line is wider than 120 columns" [ -z "$(awk 'length > 120' "$work/out")" ]

incomplete() {
	while read -r id; do
		in_time 10 "$NETDOCTOR" explain "$id"
		[ "$status" -eq 0 ] && [ ! -s "$work/err" ] && head -n 1 "$work/out" | grep -q "^$id: " ||
			echo "$id: status $status"
		for part in 'looks at' reads 'fires when' why fix; do
			grep -q "^$part  *[^ ]" "$work/out" || echo "$id: lacks: $part"
		done
		awk -v id="$id" 'length > 80 { print id ": " length " columns: " $0 }' "$work/out"
	done <"$work/ids"
}
none "each rule is explained" "$(incomplete)"

id=$(head -n 1 "$work/ids")
"$NETDOCTOR" explain --ascii "$id" >"$work/out"
check "--ascii is ASCII" [ -z "$(LC_ALL=C tr -d '\000-\177' <"$work/out")" ]
escape=$(printf '\033')
check "no colours into a file" [ -z "$(grep "$escape" "$work/out")" ]

error "an unknown rule" 64 'explain: no rule named no-such-rule \(netdoctor explain lists them\)' \
	explain no-such-rule
error "two rules" 64 'one argument too many' explain "$id" "$id"
done_testing
