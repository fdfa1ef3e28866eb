#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Datagrams that are lost: one in five on the way, those that a small buffer has no room for, all.
. tests/lab/lib.sh

lab_need nft
lab_up

# drops WORDS...: what of the datagrams (not the greetings, which are short) the path drops.
drops() {
	in_b nft -f - <<RULES || lab_skip_all "this kernel's nftables cannot drop by number"
table inet lab
delete table inet lab
table inet lab {
	chain input {
		type filter hook input priority 0
		udp dport 5201 udp length > 500 $* drop
	}
}
RULES
}

drops numgen inc mod 5 == 0
lab_serve
lab_diagnose -u -b 20M -P 2 --forward
expect_first loss-path path forward
expect "a fifth is lost" '.exam.runs[0].loss | . > 0.19 and . < 0.21'
expect "no socket lost any" '[.exam.runs[0].flows[] | select(.direction == "receive").socket_drops |
	tonumber] | add == 0'
expect "that sets the rate" '.diagnosis.verdict == "limited"'

in_b nft delete table inet lab
lab_diagnose -u -b 0 -P 1 -w 4K --forward
expect "the sockets of the peer have no room" '.diagnosis.findings[] |
	select(.rule == "udp-rcvbuf-errors") | .side == "peer" and .proof == "causal" and
	(.severity | IN("high", "critical"))'
expect "and nothing is said of the path, nor of others on the link" '[.diagnosis.findings[].rule] |
	index("loss-path", "tool-cross-traffic") == null'

drops
in_a "$NETDOCTOR" test "$lab_peer" --key-file "$lab_dir/key" -u -b 5M -t 1 --json \
	>"$lab_dir/test" 2>"$lab_dir/err"
code=$?
cat "$lab_dir/err"
check "a test of which nothing arrives could not tell" [ "$code" = 3 ]
check "and says so" grep -q 'not a byte arrived' "$lab_dir/err"
check "in JSON, too" jq -e '.error | test("not a byte arrived")' "$lab_dir/test"
check "with what was sent" jq -e '.end.sum.lost_percent == 100' "$lab_dir/test"
done_testing
