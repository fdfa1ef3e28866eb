#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# No session: each reason is one line within seconds, that says what to do.
. tests/cli/lib.sh
need perl

other=00112233445566778899aabbccddeeff

# Whoever says nothing costs the whole patience of a client: all at once.
silent=0
silent_peer() { # NAME PATTERN STEP...
	silent=$((silent + 1))
	silent_pattern=$2
	echo "$1" >"$work/silent.$silent.name"
	echo "$silent_pattern" >"$work/silent.$silent.pattern"
	shift 2
	stranger "silent.$silent" listen "$@"
	timeout -k 1 "$bound" "$NETDOCTOR" diagnose "$stranger" --key "$other" \
		>"$work/silent.$silent.out" 2>"$work/silent.$silent.err" </dev/null &
	echo $! >"$work/silent.$silent.pid"
}
silent_peer "a server that says nothing" 'connected, but it says nothing' silence
silent_peer "one that falls silent after the cookie" 'connected, but it says nothing' \
	take:37 say:09 silence
silent_peer "one that falls silent in the TLS handshake" 'no answer in the TLS handshake' \
	take:37 say:09 take:4 say:4e silence
stranger silent_iperf3 listen take:37 silence
timeout -k 1 "$bound" "$NETDOCTOR" test "iperf3://$stranger" >"$work/first" 2>&1 </dev/null
check "an iperf3 that says nothing: its status" [ "$?" -eq 3 ]
says "and why" 'its iperf3 says nothing in answer to our cookie' "$work/first"
stranger half listen take:37 say:fe silence
error "one that breaks off in its error" 3 'its iperf3 refused, and broke off before' \
	test "iperf3://$stranger"

serve
peer=127.0.0.1:$port
error "no key" 3 'needs a key: give --key with the key that' diagnose "$peer"
error "the wrong key" 3 "wrong key: use the key that 'netdoctor serve' printed" \
	diagnose "$peer" --key "$other"
error "open against a key" 3 'needs a key' diagnose "$peer" --key open
says "the server tells of a wrong key" '^127.0.0.1: refused: wrong key' "$work/serve"
says "and of none" '^127.0.0.1: refused: it has no key' "$work/serve"
error "a port in use" 3 "port $port is in use .*--port" serve -B 127.0.0.1 -p "$port"
error "an address of another host" 3 'listening on 203.0.113.9 port 0: Cannot assign' \
	serve -B 203.0.113.9 -p 0
error "an address that is none" 3 'nonsense: not an address' serve -B nonsense -p 0
error "our address is another host's" 3 "$peer: .*203.0.113.9" \
	diagnose "$peer" --key "$key" -B 203.0.113.9
error "our address is none" 3 'nonsense: not an address' diagnose "$peer" --key "$key" -B nonsense
error "the other family" 3 'no such host|no address of the family' diagnose "$peer" --key "$key" -6

stop_server
error "nobody listens" 3 "$peer: connection refused: start 'netdoctor serve' there" \
	diagnose "$peer" --key "$key"
error "the other family, of an address" 3 \
	'127.0.0.1: no address of the family asked for, IPv6, by -4, -6 or --bind' test 127.0.0.1 -6
error "of the address to bind to" 3 'no address of the family asked for, IPv6' \
	test 127.0.0.1 -B ::1
error "a link-local address without its link" 3 \
	"a link-local address wants the name of our link: 'fe80::1%IFACE'" test fe80::1
error "no such host" 3 'no-such-host.invalid: (no such host|the name servers do not answer)' \
	diagnose no-such-host.invalid
error "a host with an escape sequence" 3 '^[ -~]*$' diagnose "$(printf 'no\033]0;x\007.invalid')"

serve --open
says "an open server warns" '^WARNING: --open' "$work/serve"
error "a key against an open server" 3 "open to all.*'--key open'" \
	diagnose "127.0.0.1:$port" --key "$other"
still_serves "an open server takes whoever says so"
# shellcheck disable=SC2086 # words on purpose
in_time 30 "$NETDOCTOR" diagnose "127.0.0.1:$port" $quick
served "and whoever has no key"
if command -v iperf3 >/dev/null; then
	in_time 10 iperf3 -c 127.0.0.1 -p "$port" -t 1
	check "an iperf3 client ends, and knows that it failed" \
	sh -c "[ $status -ne 124 ] && [ $status -ne 0 ]"
	says "the server says what to do" "a plain iperf3 client .*--allow-iperf3" "$work/serve"
else
	skip "an iperf3 client" "no iperf3"
fi
still_serves "the next client is served"
stop_server

if command -v iperf3 >/dev/null; then
	# It cannot choose a free port, so we look for one.
	for offset in 1 2 3 4 5 6 7 8; do
		iperf3_port=$((20000 + ($$ * 7 + offset * 1009) % 10000))
		start iperf3 iperf3 -s --forceflush -B 127.0.0.1 -p "$iperf3_port"
		wait_for "$work/iperf3" 'Server listening|error' && ! grep -q error "$work/iperf3" && break
	done
	for time in first second; do
		error "an iperf3 server to one with a key, the $time time" 3 \
			"runs iperf3, not netdoctor: start 'netdoctor serve' there \(on another port" \
			diagnose "127.0.0.1:$iperf3_port" --key "$other"
	done
	kill "$started"
	wait "$started"
else
	skip "an iperf3 server" "no iperf3"
fi

stranger ssh listen say:5353482d322e302d4f70656e535348 silence
error "an ssh server" 3 'is neither netdoctor nor iperf3 \(it answered with byte 0x53\)' \
	diagnose "$stranger"
stranger closes listen take:37 close
error "one that hangs up" 3 'closed the connection during the greeting' diagnose "$stranger"
stranger resets listen take:37 reset
error "one that resets" 3 'closed the connection during the greeting' diagnose "$stranger"
stranger garbage listen take:37 say:09 take:4 say:4e random:4096 silence
error "garbage instead of TLS" 3 'the TLS handshake failed' diagnose "$stranger" --key "$other"
stranger iperf3-busy listen take:37 say:ff close
error "a busy iperf3" 3 'runs iperf3, not netdoctor, and is busy' diagnose "$stranger"

# ---- another version, inside of TLS, as it would say so ----

# One message: its length and JSON.
message() { perl -e 'print pack("N/a*", $ARGV[0])' "$1"; }
psk() { # COMMAND KEY [OPTION...]: openssl with a key of ours, in place of this (sub)shell
	psk_command=$1
	psk_key=$2
	shift 2
	exec openssl "$psk_command" -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256 -psk "$psk_key" \
		-psk_identity netdoctor-1 "$@"
}
if command -v openssl >/dev/null; then
	mkfifo "$work/say"
	exec 3<>"$work/say"
	serve
	stranger bridge-to bridge-to "$port" 99
	message '{"type":"hello","id":0,"version":99,"tool":"9.9.9"}' >&3
	psk s_client "$key" -quiet -connect "$stranger" <"$work/say" >"$work/client" 2>&1 &
	background="$background $!"
	version="this server speaks netdoctor protocol 1 .*the client 99 \(release 9.9.9\): install"
	check "a newer client is told" wait_for "$work/client" "$version"
	check "and so are we" wait_for "$work/serve" "^127.0.0.1: refused: $version"
	still_serves "the next client is served"
	stop_server

	psk s_server "$other" -nocert -accept 127.0.0.1:0 <"$work/say" >"$work/server" 2>&1 &
	background="$background $!"
	wait_for "$work/server" '^ACCEPT ' || give_up "openssl listens"
	stranger bridge-from bridge-from "$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' "$work/server")"
	message '{"type":"hello","id":0,"version":99,"tool":"9.9.9"}' >&3
	error "a newer server" 3 \
		'speaks netdoctor protocol 99 \(release 9.9.9\), this side 1 .*the same release on both' \
		diagnose "$stranger" --key "$other"
else
	skip "another version" "no openssl"
fi

# ---- the silent ones, meanwhile ----
for i in $(seq "$silent"); do
	ends "$(cat "$work/silent.$i.pid")"
	if [ "$status" -eq 3 ] && [ ! -s "$work/silent.$i.out" ] &&
		one_line "$work/silent.$i.err" "$(cat "$work/silent.$i.pattern")"; then
		pass "$(cat "$work/silent.$i.name")"
	else
		echo "# exit status $status"
		sed 's/^/# /' "$work/silent.$i.err"
		fail "$(cat "$work/silent.$i.name")"
	fi
done
done_testing
