# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034
#
# Labs: two hosts that are network namespaces joined by a veth pair, real
# traffic between them, a fault injected.  A lab script sources this, calls
# lab_up, breaks something, calls lab_diagnose, and asks the JSON report.
#
# Everything is undone on exit: namespaces, processes, cgroups, and the one
# host-wide sysctl a healthy lab needs (cubic allowed for all).

. tests/tap.sh

lab_dir=
lab_server=
lab_allowed=
lab_cgroup=
A=nd-a-$$	# the local host
B=nd-b-$$	# the peer
R=nd-r-$$	# a router between them, when a lab asks for one

lab_down() {
	if [ -n "$lab_server" ]; then
		kill "$lab_server" 2>/dev/null
		wait "$lab_server" 2>/dev/null
	fi
	for ns in "$A" "$B" "$R"; do
		ip netns del "$ns" 2>/dev/null
	done
	[ -n "$lab_allowed" ] && sysctl -qw net.ipv4.tcp_allowed_congestion_control="$lab_allowed"
	[ -n "$lab_cgroup" ] && rmdir "$lab_cgroup" 2>/dev/null
	[ -n "$lab_dir" ] && rm -rf "$lab_dir"
}
trap lab_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

lab_skip_all() { # REASON
	skip "$(basename "$0" .sh)" "$1"
	done_testing
}

lab_need() { # COMMAND...
	[ "$(id -u)" = 0 ] || lab_skip_all "needs root for network namespaces"
	for tool in ip tc ethtool jq nsenter flock "$@"; do
		command -v "$tool" >/dev/null || lab_skip_all "needs $tool"
	done
	lab_alone
}

# Labs measure: two at a time on one machine would measure each other.
lab_alone() {
	exec 9>"${TMPDIR:-/tmp}/netdoctor-lab.lock"
	flock 9
}

# in_a, in_b, in_r COMMAND...: run on that host.  nsenter and not `ip netns exec`, which
# would hide the cgroup mounts.
in_a() { nsenter --net="/var/run/netns/$A" "$@"; }
in_b() { nsenter --net="/var/run/netns/$B" "$@"; }
in_r() { nsenter --net="/var/run/netns/$R" "$@"; }

# A host must not turn its peer's slow start into ours: cubic on both, whatever the machine defaults to.
lab_use_cubic() {
	lab_allowed=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
	case " $lab_allowed " in
	*" cubic "*) lab_allowed= ;;
	*) sysctl -qw net.ipv4.tcp_allowed_congestion_control="$lab_allowed cubic" ;;
	esac
	for ns in "$@"; do
		nsenter --net="/var/run/netns/$ns" sysctl -qw net.ipv4.tcp_congestion_control=cubic
	done
}

lab_dir_make() {
	lab_dir=$(mktemp -d) || exit 1
	report=$lab_dir/report.json
}

# host NAMESPACE: one with its loopback up.  Inside a plain chroot ip makes them but cannot enter.
host() {
	ip netns add "$1" || lab_skip_all "cannot make network namespaces"
	ip -n "$1" link set lo up || lab_skip_all "cannot enter network namespaces"
}

# Two hosts, one veth: $A has veth-a 10.77.0.1, $B has veth-b 10.77.0.2.
lab_up() {
	lab_need
	lab_dir_make
	host "$A"
	host "$B"
	ip -n "$A" link add veth-a type veth peer name veth-b netns "$B"
	ip -n "$A" addr add 10.77.0.1/24 dev veth-a
	ip -n "$B" addr add 10.77.0.2/24 dev veth-b
	ip -n "$A" link set veth-a up
	ip -n "$B" link set veth-b up
	lab_use_cubic "$A" "$B"
}

# A router between them: $A 10.77.1.1 - 10.77.1.254 $R 10.77.2.254 - 10.77.2.2 $B
lab_up_routed() {
	lab_need
	lab_dir_make
	for ns in "$A" "$B" "$R"; do host "$ns"; done
	ip -n "$A" link add veth-a type veth peer name to-a netns "$R"
	ip -n "$B" link add veth-b type veth peer name to-b netns "$R"
	ip -n "$A" addr add 10.77.1.1/24 dev veth-a
	ip -n "$B" addr add 10.77.2.2/24 dev veth-b
	ip -n "$R" addr add 10.77.1.254/24 dev to-a
	ip -n "$R" addr add 10.77.2.254/24 dev to-b
	ip -n "$A" link set veth-a up; ip -n "$B" link set veth-b up
	ip -n "$R" link set to-a up; ip -n "$R" link set to-b up
	ip -n "$A" route add default via 10.77.1.254
	ip -n "$B" route add default via 10.77.2.254
	in_r sysctl -qw net.ipv4.ip_forward=1
	lab_use_cubic "$A" "$B"
}

# lab_serve [COMMAND-PREFIX...]: the peer, on $B; waits until it listens.
lab_serve() {
	key=00112233445566778899aabbccddeeff
	(umask 077; echo "$key" >"$lab_dir/key")
	nsenter --net="/var/run/netns/$B" "$@" "$NETDOCTOR" serve --key-file "$lab_dir/key" \
		>"$lab_dir/serve.out" 2>&1 &
	lab_server=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		grep -q Listening "$lab_dir/serve.out" && return 0
		sleep 0.1
	done
	cat "$lab_dir/serve.out"
	fail "the peer starts"
	done_testing
}

lab_peer=10.77.0.2

# lab_diagnose [OPTION...]: a diagnosis from $A into $report; exit code in $code.
lab_diagnose() {
	in_a "$NETDOCTOR" diagnose "$lab_peer" --key-file "$lab_dir/key" --report json \
		-o "$report" -t 2 -O 0.5 "$@" >"$lab_dir/out" 2>"$lab_dir/err"
	code=$?
	cat "$lab_dir/out"
	sed 's/^/# /' "$lab_dir/err"
	[ -s "$report" ] || { fail "a report is written (exit code $code)"; done_testing; }
}

# What a failing lab needs to be understood from a log.
lab_show() {
	jq -r '"# " + .diagnosis.verdict + ": " + .diagnosis.summary,
		(.exam.runs[] | "# \(.id): \(.goodput_bps) bit/s \(.status) loss \(.loss) \(.problem // "")"),
		(.diagnosis.findings[] | "# \(.rank) \(.rule) \(.severity) \(.proof) \(.side) \(.direction) \(.title)")
	' "$report" 2>&1
}

# lab_fix: does what the first finding says, on its side; expect_faster then measures again.
lab_fix() {
	lab_side=$(jq -r '.diagnosis.findings[0].side' "$report")
	jq -r '.diagnosis.findings[0].fix.commands[]' "$report" >"$lab_dir/fix.sh"
	sed 's/^/# fix: /' "$lab_dir/fix.sh"
	if [ "$lab_side" = peer ]; then in_b sh -e "$lab_dir/fix.sh"; else in_a sh -e "$lab_dir/fix.sh"; fi \
		>"$lab_dir/fix.out" 2>&1
	fix_code=$?
	sed 's/^/# /' "$lab_dir/fix.out"
	check "the commands of the fix work" [ "$fix_code" -eq 0 ]
}

# expect_faster DIRECTION FACTOR: after a fix, the rate is at least FACTOR times what it was.
# Rates of a machine that does other things vary: up to three tries.
expect_faster() {
	lab_rate='[.exam.runs[] | select(.direction == $d and .purpose == "all-streams")][0].goodput_bps'
	lab_wanted=$(jq --arg d "$1" --argjson f "$2" "$lab_rate * \$f" "$report")
	if [ "$1" = forward ]; then lab_only=--forward; else lab_only=-R; fi
	for _ in 1 2 3; do
		lab_diagnose "$lab_only" --no-experiments
		jq -e --arg d "$1" --argjson w "$lab_wanted" "$lab_rate >= \$w" "$report" \
			>/dev/null && break
	done
	expect "the rate $1 rises at least $2-fold" "$lab_rate >= \$w" \
		--arg d "$1" --argjson w "$lab_wanted"
}

# expect_clean DIRECTION: nothing above low is said about that direction, but for what else
# goes on on this machine.
expect_clean() {
	expect "nothing is wrong $1" '[.diagnosis.findings[] | select((.direction == $d or
		.direction == null) and (.severity | IN("medium", "high", "critical")) and
		(.rule | IN("cpu-contention", "cpu-steal") | not))] == []' --arg d "$1"
}

# expect NAME JQ-CONDITION [JQ-OPTION...]
expect() {
	expect_name=$1
	expect_filter=$2
	shift 2
	if jq -e "$@" "$expect_filter" "$report" >/dev/null; then
		pass "$expect_name"
	else
		echo "# not true: $expect_filter"
		lab_show
		fail "$expect_name"
	fi
}

# expect_first RULE SIDE DIRECTION: the finding of rank 1.
expect_first() {
	expect "first finding is $1, $2, $3" \
		'.diagnosis.findings[0] | .rule == $r and .side == $s and .direction == $d' \
		--arg r "$1" --arg s "$2" --arg d "$3"
}

# expect_evidence NAME RULE FACT-SUFFIX VALUE: a number in the evidence is really the machine's.
expect_evidence() {
	expect "$1" '[.diagnosis.findings[] | select(.rule == $r) | .evidence[] |
		select(.fact | endswith($f)) | .value | tonumber] | any(. == ($v | tonumber))' \
		--arg r "$2" --arg f "$3" --arg v "$4"
}
