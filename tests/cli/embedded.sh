#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2317 # called by check
# diagnose without a peer, unprivileged and as root: whatever ends it, nothing is left behind.
. tests/cli/lib.sh
need jq perl

# A copy of the program: its processes are known by it, and anybody may run it from there.
program=$work/netdoctor
chmod 711 "$work"
cp "$NETDOCTOR" "$program" && chmod 755 "$program"
mkdir -m 777 "$work/tmp" "$work/cwd" "$work/reports"
report=$work/reports/report

ours() { # processes of the copy
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$program" 2>/dev/null | cut -d/ -f3
}
how_many() { ours | wc -l; }

# as USER COMMAND...: in place of this (sub)shell.
as() {
	as_user=$1
	shift
	export TMPDIR="$work/tmp"
	cd "$work/cwd" || exit 1
	[ "$as_user" = root ] || [ "$(id -u)" != 0 ] ||
		interruptible setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	interruptible "$@"
}

# begin USER: a long run goes on; $main, and how many of its processes live in other $namespaces.
begin() {
	rm -f "$report"
	as "$1" "$program" diagnose -t 60 -O 0 -P 1 --no-experiments --report json \
		-o "$report" >"$work/client" 2>&1 </dev/null &
	main=$!
	background="$background $main"
	for _ in $(seq $((bound * 20))); do
		[ "$(how_many)" -ge 2 ] && break
		sleep 0.05
	done
	sleep 0.8
	namespaces=0
	for pid in $(ours); do
		[ "$(readlink "/proc/$pid/ns/net")" = "$(readlink /proc/self/ns/net)" ] ||
			namespaces=$((namespaces + 1))
	done
}

find /sys/class/net -mindepth 1 -maxdepth 1 | sort >"$work/links"

# What is still there, one a line; with patience for processes that are ending.  The network
# namespaces have no name: they go with the last process in them, and their links with them.
left() {
	for _ in $(seq $((bound * 20))); do
		[ "$(how_many)" -eq 0 ] && break
		sleep 0.05
	done
	for pid in $(ours); do
		echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
	done
	find /sys/class/net -mindepth 1 -maxdepth 1 | sort | diff "$work/links" -
	find "$work/tmp" "$work/cwd" -mindepth 1
}

interrupted() { # NAME: it has ended by itself, with what it had measured
	ends "$main"
	check "$1: it ends" [ "$status" -ge 1 ] && [ "$status" -le 3 ]
	check "$1: in one line" one_line "$work/client" 'interrupted'
	holds "$1: with half a report" '.exam.runs[0].status == "incomplete"' "$report"
	none "$1: nothing is left" "$(left)"
}

exam() { # USER
	rm -f "$report"
	(as "$1" "$program" diagnose -t 0.5 -O 0.1 -P 1 --no-experiments --report json \
		-o "$report") >"$work/client" 2>&1 </dev/null
	status=$?
	check "as $1: an exam" [ "$status" -le 3 ]
	none "as $1: nothing to complain about" "$(cat "$work/client")"
	holds "as $1: both directions" '[.exam.runs[] | .status] == ["complete", "complete"]' "$report"
	none "as $1: nothing is left" "$(left)"
}

kinds="nobody"
if [ "$(id -u)" != 0 ]; then
	skip "as root: in namespaces" "not root"
elif ! unshare -n true 2>/dev/null; then
	skip "as root: in namespaces" "cannot make network namespaces here"
else
	kinds="nobody root"
fi
if [ "$(id -u)" = 0 ] && ! command -v setpriv >/dev/null; then
	skip "as nobody" "no setpriv"
	kinds=${kinds#nobody}
fi
for user in $kinds; do
	exam "$user"
	case $user in
	nobody)
		user_is_root=0
		holds "as nobody: over loopback" '.exam.path.loopback' "$report"
		holds "as nobody: what it may not see has a reason" \
			'[.exam.hosts.local | .. | .unknown? // empty] | any(. == "not-permitted")' \
			"$report"
		;;
	root)
		user_is_root=1
		holds "as root: over a veth" 'any(.exam.hosts.local.links[]; .kind == "veth")' "$report"
		;;
	esac
	begin "$user"
	check "as $user: two processes" [ "$(how_many)" -eq 2 ]
	check "as $user: two namespaces, or none" [ "$namespaces" -eq $((user_is_root * 2)) ]
	kill -INT "$main"
	interrupted "as $user: Ctrl-C"

	begin "$user"
	# As a terminal does it: to all of the foreground.
	# shellcheck disable=SC2046 # words on purpose
	kill -INT $(ours)
	interrupted "as $user: Ctrl-C to both processes"

	# While the embedded peer is being made, and soon after.
	for moment in 0 0.01 0.02 0.04 0.08 0.16; do
		as "$user" "$program" diagnose -q >"$work/client" 2>&1 </dev/null &
		main=$!
		# Its very first moment: nothing in this loop forks.
		child=
		while [ -z "$child" ] && [ -e "/proc/$main/task/$main/children" ]; do
			read -r name <"/proc/$main/comm"
			[ "$name" = netdoctor ] &&
				read -r child <"/proc/$main/task/$main/children"
		done 2>/dev/null
		[ "$moment" = 0 ] || sleep "$moment"
		kill -INT "$main" ${child:+"$child"} 2>/dev/null
		ends "$main"
		check "as $user: Ctrl-C $moment s after the fork says so" \
			grep -q '^netdoctor: .*interrupted' "$work/client"
		none "as $user: and leaves nothing" "$(left)"
	done

	for moment in 0.02 0.1 0.3; do
		as "$user" "$program" diagnose >"$work/client" 2>&1 </dev/null &
		sleep "$moment"
		kill $!
		ends $!
		none "as $user: SIGTERM after $moment s: nothing is left" "$(left)"
	done

	begin "$user"
	kill -KILL "$main"
	ends "$main"
	none "as $user: killed: nothing is left" "$(left)"

	begin "$user"
	for pid in $(ours); do
		[ "$pid" = "$main" ] || kill -KILL "$pid"
	done
	ends "$main"
	check "as $user: its peer is killed: it ends" [ "$status" -ge 1 ] && [ "$status" -le 3 ]
	check "as $user: its peer is killed: in one line" one_line "$work/client" 'session lost'
	none "as $user: its peer is killed: nothing is left" "$(left)"
done

case $kinds in
*root*)
	(as root "$program" demo -t 1) >"$work/demo" 2>"$work/client" </dev/null &
	background="$background $!"
	wait_for "$work/demo" '^=== 1'
	sleep 1
	# shellcheck disable=SC2046 # words on purpose
	kill -INT $(ours)
	none "demo: Ctrl-C: nothing is left" "$(left)"
	check "demo: Ctrl-C: in one line" one_line "$work/client" 'interrupted'
	check "demo: Ctrl-C: no further stage" [ "$(grep -c '^===' "$work/demo")" -eq 1 ]
	;;
esac
done_testing
