#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The peer runs in a cgroup that may use a twentieth of a CPU.
. tests/lab/lib.sh

# Makes $lab_cgroup with that quota, version 1 or 2, whichever has the cpu controller.
make_quota() {
	if [ -d /sys/fs/cgroup/cpu ]; then
		lab_cgroup=/sys/fs/cgroup/cpu/nd-lab-$$
		mkdir "$lab_cgroup" 2>/dev/null || { lab_cgroup=; return 1; }
		echo 100000 >"$lab_cgroup/cpu.cfs_period_us" &&
			echo 5000 >"$lab_cgroup/cpu.cfs_quota_us"
	elif grep -qsw cpu /sys/fs/cgroup/cgroup.subtree_control; then
		lab_cgroup=/sys/fs/cgroup/nd-lab-$$
		mkdir "$lab_cgroup" 2>/dev/null || { lab_cgroup=; return 1; }
		echo '5000 100000' >"$lab_cgroup/cpu.max"
	else
		return 1
	fi
}

lab_up
make_quota 2>/dev/null || lab_skip_all "no cgroup with a CPU quota can be made here"
# shellcheck disable=SC2016
lab_serve sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$lab_cgroup"
lab_diagnose -R --no-experiments
expect_first cpu-cgroup-throttled peer reverse
expect_evidence "the quota is the one that was set" cpu-cgroup-throttled \
	"quota_us / period_us" 0.05
lab_fix
expect_faster reverse 1.5
expect "it is no longer found" 'any(.diagnosis.findings[]; .rule == "cpu-cgroup-throttled") | not'
done_testing
