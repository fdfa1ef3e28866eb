#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A class of the peer's htb limits what the peer sends; what it receives is not touched.
. tests/lab/lib.sh

lab_up
in_b tc qdisc add dev veth-b root handle 1: htb default 20
in_b tc class add dev veth-b parent 1: classid 1:10 htb rate 100mbit quantum 15000
in_b tc class add dev veth-b parent 1: classid 1:20 htb rate 800mbit quantum 15000 burst 128k
lab_serve
lab_diagnose
expect_first qdisc-rate-limit peer reverse
expect_evidence "it names the rate of the class in use" qdisc-rate-limit .rate_bps 800000000
expect_clean forward
lab_fix
expect_faster reverse 2
done_testing
