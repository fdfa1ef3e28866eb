#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The peer's receive buffers may not grow.
. tests/lab/lib.sh

lab_up
in_b sysctl -qw net.ipv4.tcp_rmem='4096 16384 16384'
lab_serve
lab_diagnose
expect_first tcp-rcvbuf-limit peer forward
expect_evidence "it names the sysctl's value" tcp-rcvbuf-limit .tcp_rmem_max 16384
expect_clean reverse
lab_fix
expect_faster forward 1.5
done_testing
