#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Two hosts with nothing wrong: no finding above low.
. tests/lab/lib.sh

lab_up
lab_serve
lab_diagnose
expect_clean forward
expect_clean reverse
expect "both directions were measured" '.diagnosis.directions | length == 2'
expect "it says that both ends share the CPUs" \
	'any(.diagnosis.findings[]; .rule == "tool-same-machine" and .severity == "info")'
done_testing
