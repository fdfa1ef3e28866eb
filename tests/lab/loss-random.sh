#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# One packet in fifty vanishes on its way to the peer.
. tests/lab/lib.sh

lab_need nft
lab_up
in_b nft -f - <<'RULES' || lab_skip_all "this kernel's nftables cannot drop at random"
table inet lab {
	chain input {
		type filter hook input priority 0
		tcp dport 5201 numgen random mod 50 == 0 drop
	}
}
RULES
lab_serve
lab_diagnose
expect_first cc-loss-bound path forward
expect "it says how much is lost" '.diagnosis.findings[0].evidence[] |
	select(.fact | endswith("].loss")) | .value > 0.005 and .value < 0.1'
expect_clean reverse
done_testing
