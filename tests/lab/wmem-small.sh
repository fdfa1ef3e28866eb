#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# This host's send buffers may not grow.
. tests/lab/lib.sh

lab_up
in_a sysctl -qw net.ipv4.tcp_wmem='4096 16384 16384'
lab_serve
lab_diagnose
expect_first tcp-sndbuf-limit local forward
expect_evidence "it names the sysctl's value" tcp-sndbuf-limit .tcp_wmem_max 16384
expect_clean reverse
lab_fix
expect_faster forward 1.3
done_testing
