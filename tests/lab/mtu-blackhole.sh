#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Jumbo frames at both ends, a smaller link behind the router, and its ICMP is dropped.
. tests/lab/lib.sh

lab_need nft
lab_up_routed
ip -n "$A" link set veth-a mtu 9000
ip -n "$R" link set to-a mtu 9000
ip -n "$B" link set veth-b mtu 9000
in_r nft -f - <<'RULES' || lab_skip_all "no nftables here"
table inet lab {
	chain output {
		type filter hook output priority 0
		icmp type destination-unreachable drop
	}
}
RULES
lab_peer=10.77.2.2
lab_serve
lab_diagnose
expect_first mtu-blackhole path forward
expect "an experiment proves it" '.diagnosis.findings[0].proof == "experiment"'
expect "it promises what small segments reached" '.diagnosis.findings[0] as $f |
	.exam.runs[] | select(.purpose == "small-segments" and .direction == "forward") |
	.goodput_bps > 0 and $f.after_bps.low >= .goodput_bps * 0.99'
done_testing
