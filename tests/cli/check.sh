#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check: this host alone, as text and as JSON.
. tests/cli/lib.sh
need jq

in_time 20 "$NETDOCTOR" check --report json
code=$status
check "it is told in one of its exit statuses" [ "$code" -le 3 ]
check "which is that of the report" [ "$code" = "$(status_of "$work/out")" ]
check "nothing on standard error" [ ! -s "$work/err" ]
cp "$work/out" "$work/report"
conforms "the report is of the published form" "$work/report"
holds "it is a report of this program" \
	'.schema == "netdoctor-report/1" and .tool.name == "netdoctor"' "$work/report"
holds "it has this host and no other" \
	'.exam.hosts.peer == null and .exam.runs == []' "$work/report"
holds "its name is right" ".exam.hosts.local.host.hostname == \"$(uname -n)\"" "$work/report"
holds "its kernel is right" ".exam.hosts.local.host.kernel == \"$(uname -r)\"" "$work/report"
holds "the sysctls are right" \
	".exam.hosts.local.sysctl.rmem_max == $(cat /proc/sys/net/core/rmem_max)" "$work/report"
find /sys/class/net -mindepth 1 -maxdepth 1 -type l | sed 's|.*/||' | sort >"$work/links"
jq -r '.exam.hosts.local.links[].name' "$work/report" | sort >"$work/found"
check "all links are there" diff "$work/links" "$work/found"

works "text" "$code" check
check "a sentence first" [ -n "$(head -n 1 "$work/out" | grep '^[A-Z].* ')" ]
says "then what was checked" '^Checks: '
works "with its reasons" "$code" check --verbose
works "text into a file" "$code" check -o "$work/file"
check "and nothing on standard output" [ ! -s "$work/out" ]
says "the same text" '^Checks: ' "$work/file"
in_time 20 env LC_ALL=C.UTF-8 "$NETDOCTOR" check --ascii
check "--ascii is ASCII" [ -z "$(tr -d '\000-\177' <"$work/out")" ]

in_time 20 "$NETDOCTOR" check lo --report json
check "one link" [ "$status" -le 3 ]
holds "no link that was not asked for is judged" \
	'.diagnosis | [.findings, .not_evaluated | tostring | select(test("links"))] == []'
holds "it is there" 'any(.exam.hosts.local.links[]; .name == "lo")'
holds "the verdict says what was checked" \
	'.diagnosis.summary | test("the software link lo \\(no network card was examined\\)")'

if unshare -rn true 2>/dev/null; then
	in_time 20 unshare -rn "$NETDOCTOR" check
	check "where no link is up nothing can be told" [ "$status" -eq 3 ]
	says "and why" '^Inconclusive: no check applies to this host'
	# shellcheck disable=SC2016 # for the inner shell
	in_time 20 unshare -rn sh -c 'ip link set lo up && exec "$0" check' "$NETDOCTOR"
	check "one of software is checked" [ "$status" -eq 0 ]
	says "by what applies to it" 'qdisc-netem-left'
else
	skip "check without a link" "no network namespace can be made here"
fi

error "an unknown link" 3 'check: no link named no-such-link here' check no-such-link
error "an unknown link beside a known one" 3 'no link named no-such-link' check lo no-such-link
error "a link whose name is a path" 3 'no link named \.\./\.\./etc' check ../../etc
error "a link that cannot be" 3 'no link named' check "$(printf 'a%0100d' 0)"
error "a file that cannot be written" 3 "cannot write /nonexistent/report: No such file" \
	check -o /nonexistent/report
error "a report onto a folder" 3 "cannot write $work: Is a directory" check -o "$work"
done_testing
