#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The link is down for eight seconds of a run: it goes on, and says so.  Either end sends, by TCP and
# UDP, in both dialects.  Each has a server of its own: turns are tried elsewhere.
. tests/lab/lib.sh

servers=
clients=
port=5300
# shellcheck disable=SC2086 # lists
trap 'kill $servers 2>/dev/null; lab_down' EXIT
lab_need iperf3
lab_up

server() { # COMMAND...: on a port of its own
	port=$((port + 1))
	nsenter --net="/var/run/netns/$B" "$@" -p "$port" >"$lab_dir/serve.$port" 2>&1 9>&- &
	servers="$servers $!"
	for _ in $(seq 100); do
		grep -q istening "$lab_dir/serve.$port" && return
		sleep 0.1
	done
}

client() { # NAME COMMAND...: of the last server
	name=$1
	shift
	nsenter --net="/var/run/netns/$A" "$@" -p "$port" -t 20 -b 20M -J >"$lab_dir/$name.json" 2>"$lab_dir/$name.err" 9>&- &
	clients="$clients $name:$!"
}

ours() { # NAME OPTION...
	name=$1
	shift
	server "$NETDOCTOR" serve --open
	client "$name" "$NETDOCTOR" test "$lab_peer" "$@"
}

ours tcp
ours tcp-reverse -R
ours udp -u
ours udp-reverse -u -R
server "$NETDOCTOR" serve --open --allow-iperf3
client iperf3-client iperf3 -c "$lab_peer"
server iperf3 -s --forceflush
client iperf3-server "$NETDOCTOR" test "$lab_peer"

sleep 3
ip -n "$A" link set veth-a down
sleep 8
ip -n "$A" link set veth-a up

for each in $clients; do
	name=${each%:*}
	wait "${each#*:}"
	code=$?
	sed 's/^/# /' "$lab_dir/$name.err"
	check "$name: an outage does not end it" [ "$code" -eq 0 ]
	# A TCP whose pauses double goes on 12.6 seconds after its link went.
	# The sender of datagrams counts what it sends.
	check "$name: all its intervals are there, some empty, the last full again" \
		jq -e --arg name "$name" '.error == null and (.intervals | length >= 19) and
		($name == "udp" or
			([.intervals[].sum | select(.bits_per_second < 1e6)] | length >= 3)) and
		(.intervals[18].sum.bits_per_second > 5e6)' "$lab_dir/$name.json"
	case $name in
	iperf3*) ;;
	*) check "$name: says that the peer was silent" grep -q \
		'nothing was heard of the peer for .* s of a run' "$lab_dir/$name.err" ;;
	esac
done
done_testing
