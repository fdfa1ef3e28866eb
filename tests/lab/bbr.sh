#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bbr without fq over a path of no length: an experiment with cubic shows what it costs.
. tests/lab/lib.sh

lab_need
sysctl -n net.ipv4.tcp_available_congestion_control | grep -qw bbr || modprobe tcp_bbr 2>/dev/null
sysctl -n net.ipv4.tcp_available_congestion_control | grep -qw bbr ||
	lab_skip_all "this kernel has no bbr"
lab_up
in_a sysctl -qw net.ipv4.tcp_congestion_control=bbr
lab_serve
lab_diagnose
expect_first cc-bbr-cpu-cost local forward
expect "an experiment proves it" '.diagnosis.findings[0].proof == "experiment"'
expect_clean reverse
lab_fix
expect_faster forward 1.3
done_testing
