#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The distribution's iperf3 as server: each direction, few streams and many, and both sides' byte
# counts compared.

. tests/cli/lib.sh

need iperf3 jq

# The most that a connection holds that one end has sent and the other has not taken in: the
# largest send buffer and receive buffer that the kernel gives by itself.
in_flight=$(($(awk '{ print $3 }' /proc/sys/net/ipv4/tcp_wmem) +
	$(awk '{ print $3 }' /proc/sys/net/ipv4/tcp_rmem)))

# A port that is free now.
serve
stop_server
start theirs iperf3 --forceflush -s -p "$port"
theirs=$started
wait_for "$work/theirs" 'Server listening' || give_up "iperf3 -s listens"

for direction in --forward --reverse; do
	for streams in 1 4 128; do
		in_time 90 "$NETDOCTOR" diagnose "127.0.0.1:$port" -t 1 -O 0 -P "$streams" \
			"$direction" --no-experiments --report json
		served "$direction, $streams streams: recognised and measured"
		holds "$direction, $streams streams: one-ended" '.exam.facts.peer == null and
			.exam.path.peer_program == "iperf3"'
		# It counts from the first byte to the last, we while we measure.
		holds "$direction, $streams streams: its byte counts" '.exam.runs[0] |
			(.ends.peer.bytes | tonumber) >= (.ends.local.bytes | tonumber) - '"
				$streams * $in_flight"' and
			([.flows[] | select(.side == "peer")] | length) == '"$streams"
	done
done

in_time 90 "$NETDOCTOR" diagnose "127.0.0.1:$port" -t 1 -O 0 -P 2 --bidir --no-experiments \
	--report json
served "both at once: measured"
holds "both at once: the rate of each direction" '.exam.runs[2] | .direction == "bidir" and
	.goodput_bps > 1000000 and .other_goodput_bps > 1000000 and
	([.flows[] | select(.side == "peer")] | length) == 4'
holds "both at once: beside each alone" '.diagnosis.both_at_once.run == "3-bidir-both-directions"'

for direction in forward reverse; do
	[ "$direction" = forward ] && option= || option=--reverse
	# shellcheck disable=SC2086
	in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -n 1000001 $option --report json
	holds "$direction, an amount of bytes: its last block is whole at both ends" \
		'.error == null and (.end | .sum_sent.bytes == 1048576 and
			.sum_received.bytes == 1048576)'
done

# shellcheck disable=SC2086 # words on purpose
in_time 60 "$NETDOCTOR" diagnose "iperf3://127.0.0.1:$port" $quick
served "iperf3:// asks for it"
says "it says so, with how to see more" "one-ended.*iperf3"
[ "$(grep -c one-ended "$work/out")" -eq 1 ] && pass "once" || fail "once"

start other iperf3 --forceflush -c 127.0.0.1 -p "$port" -t 10
wait_for "$work/other" 'connected to' || give_up "another client"
# shellcheck disable=SC2086 # words on purpose
error "a busy server" 3 'busy with a test' diagnose "127.0.0.1:$port" -q $quick
kill "$started"
ends "$started"


in_time "$bound" "$NETDOCTOR" diagnose "127.0.0.1:$port" --key 00112233445566778899aabbccddeeff
[ "$status" -eq 3 ] && one_line "$work/err" 'runs iperf3, not netdoctor' &&
	pass "who has a key takes no iperf3" || { show; fail "who has a key takes no iperf3"; }

# ---- a login, as 3.12 takes it: PKCS#1 padding, which later ones call old ----

if command -v openssl >/dev/null; then
	openssl genrsa -out "$work/private" 2048 2>"$work/openssl" &&
		openssl rsa -in "$work/private" -pubout -out "$work/public" 2>>"$work/openssl"
	printf 'alice,%s\n' "$(printf '{alice}s3cret' | sha256sum | cut -d' ' -f1)" >"$work/users"
	kill "$theirs"
	ends "$theirs"
	start locked iperf3 --forceflush -s -p "$port" --rsa-private-key-path "$work/private" \
		--authorized-users-path "$work/users"
	wait_for "$work/locked" 'Server listening' || give_up "iperf3 -s with users listens"
	login="--username alice --rsa-public-key-path $work/public"
	iperf3 --help 2>&1 | grep -q use-pkcs1-padding || login="$login --use-pkcs1-padding"

	IPERF3_PASSWORD=s3cret
	export IPERF3_PASSWORD
	# Words on purpose.
	# shellcheck disable=SC2086
	in_time 60 "$NETDOCTOR" diagnose "127.0.0.1:$port" $login $quick
	served "with the right password"
	IPERF3_PASSWORD=guess
	# shellcheck disable=SC2086
	error "with a wrong one" 3 'refused' diagnose "127.0.0.1:$port" -q $login $quick
	unset IPERF3_PASSWORD
	# shellcheck disable=SC2086
	error "without one" 64 'IPERF3_PASSWORD' diagnose "127.0.0.1:$port" -q $login $quick
	# shellcheck disable=SC2086
	error "a login without its key" 64 'rsa-public-key-path' \
		diagnose "127.0.0.1:$port" -q --username alice $quick
else
	skip "logins" "no openssl"
fi

done_testing
