#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What we print as iperf3 -J does, read by a program that was written for iperf3's: the plotting
# script of iperf's own source, as Debian 12 distributes it.  It is fetched each time;
# NETDOCTOR_CONSUMER names one that is there already.

. tests/cli/lib.sh
need jq python3

script=iperf3_to_gnuplot.py
source=pool/main/i/iperf3/iperf3_3.12.orig.tar.gz
sha256=e38e0a97b30a97b4355da93467160a20dea10932f6c17473774802e03d61d4a7

# To $work/$script, from where this machine's packages come from; says why not.
fetch() {
	[ -x /usr/lib/apt/apt-helper ] || { echo "needs apt, to fetch $script"; return 1; }
	# shellcheck disable=SC2016 # apt's
	from=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
		grep -m 1 '/debian/*$')
	from=${from:-http://deb.debian.org/debian}
	timeout 60 /usr/lib/apt/apt-helper -o Acquire::http::Timeout=10 -o Acquire::Retries=0 \
		-o APT::Sandbox::User=root download-file "${from%/}/$source" "$work/source" \
		"SHA256:$sha256" >"$work/apt" 2>&1 ||
		{ echo "no $source from ${from%/}, which has $script"; return 1; }
	tar -xOf "$work/source" --wildcards "*/contrib/$script" >"$work/$script"
}

consumer=${NETDOCTOR_CONSUMER:-}
if [ -z "$consumer" ]; then
	why=$(fetch) || {
		skip "iperf3's JSON in other hands" "$why"
		done_testing
	}
	consumer=$work/$script
fi

# reads NAME ROWS [OPTION...]: from $work/json so many rows of five numbers, to $work/rows.
reads() {
	name=$1
	rows=$2
	shift 2
	if python3 "$consumer" -f "$work/json" "$@" >"$work/rows" 2>"$work/err" &&
		[ "$(wc -l <"$work/rows")" -eq "$rows" ] &&
		[ "$(grep -cE '^([0-9.e-]+ ){4}[0-9.e-]+$' "$work/rows")" -eq "$rows" ]; then
		pass "$name"
	else
		sed 's/^/# /' "$work/rows" "$work/err"
		fail "$name"
	fi
}

# sums NAME: the bytes in the rows are those of the intervals.
sums() {
	told=$(jq '[.intervals[].sum.bytes] | add' "$work/json")
	read_=$(awk '{ sum += $2 } END { printf "%.0f\n", sum }' "$work/rows")
	check "$1: $told bytes" [ "$read_" = "$told" ]
}

consume() { # WHO STREAMS
	intervals=$(jq '.intervals | length' "$work/json")
	check "$1: there are intervals" [ "$intervals" -ge 2 ]
	reads "$1: each stream's intervals" $((intervals * $2))
	sums "$1: none is lost"
	reads "$1: their sums" "$intervals" --sum
	sums "$1: added up"
}

serve
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" --key "$key" -t 2 -i 0.5 -P 3 --report json
cp "$work/out" "$work/json"
consume "netdoctor" 3
in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" --key "$key" -t 2 -O 1 -b 10M --report json
cp "$work/out" "$work/json"
consume "with a warm-up" 1
stop_server

# So that a failure of the script's own shows.
if command -v iperf3 >/dev/null; then
	start theirs iperf3 --forceflush -s -p "$port"
	wait_for "$work/theirs" 'Server listening' || give_up "iperf3 -s listens"
	in_time 60 iperf3 -c 127.0.0.1 -p "$port" -t 2 -i 0.5 -P 3 -J
	cp "$work/out" "$work/json"
	consume "iperf3" 3
	in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -t 2 -P 3 --report json
	cp "$work/out" "$work/json"
	consume "netdoctor with iperf3's server" 3
fi

done_testing
