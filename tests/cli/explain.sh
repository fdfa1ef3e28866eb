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
		[ "$status" -eq 0 ] && [ ! -s "$work/err" ] || echo "$id: status $status"
		awk -v id="$id" '
			NR == 1 && index($0, id ": ") != 1 { print id ": begins with: " $0 }
			/^[a-z]/ && NR > 1 && NF > 1 { part = $1; parts[part] = 1 }
			length > 80 { print id ": " length " columns: " $0 }
			END {
				n = split("looks reads fires why fix", want, " ")
				for (i = 1; i <= n; i++)
					if (!parts[want[i]]) print id ": lacks: " want[i]
			}' "$work/out"
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
