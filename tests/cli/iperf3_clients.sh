#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Our server and the distribution's iperf3 as client: every direction, few streams and many, and
# both sides' byte counts compared.

. tests/cli/lib.sh

need iperf3 jq perl

# The most that a connection holds that one end has sent and the other has not taken in: the
# largest send buffer and receive buffer that the kernel gives by itself.
in_flight=$(($(awk '{ print $3 }' /proc/sys/net/ipv4/tcp_wmem) +
	$(awk '{ print $3 }' /proc/sys/net/ipv4/tcp_rmem)))

serve --allow-iperf3 --max-seconds 20

# client OPTION...: a test with our server, its JSON in $work/out.
client() {
	in_time 60 iperf3 -c 127.0.0.1 -p "$port" -J "$@"
}

# What both sides say of the data that the client sent, or (reverse) that we sent.
bytes='.end | [.sum_sent.bytes, .sum_received.bytes]'

for streams in 1 4 128; do
	client -t 1 -P "$streams"
	holds "forward, $streams streams: both count the same" \
		"$bytes | .[0] > 0 and .[0] == .[1]"
	client -t 1 -P "$streams" -R
	holds "reverse, $streams streams: they differ by no more than was in flight" \
		"$bytes | .[0] > 0 and .[0] >= .[1] and .[0] - .[1] <= $streams * $in_flight"
	client -t 1 -P "$streams" --bidir
	holds "both ways, $streams streams" "$bytes | .[0] > 0 and .[0] == .[1]"
	holds "both ways, $streams streams: ours" ".end | .sum_sent_bidir_reverse.bytes > 0 and
		.sum_sent_bidir_reverse.bytes - .sum_received_bidir_reverse.bytes <=
		$streams * $in_flight"
	holds "both ways, $streams streams: every one of them" \
		".end.streams | length == 2 * $streams"
done

client -n 20M
holds "an amount of bytes arrives whole" "$bytes | .[1] == 20971520"
client -n 20M -R
holds "an amount of bytes is sent" "$bytes | .[0] >= 20971520"
client -n 1000001 -R
holds "its last block is whole" "$bytes | .[0] == 1048576"
in_time 20 tests/cli/stranger.pl late "$port" 20971520
says "having sent it all we wait for the client's word" '^9 10 1 2 13 all 14$'
client -k 50 -l 64K -P 2
holds "an amount of blocks" "$bytes | .[0] == .[1] and .[0] >= 50 * 65536"
client -t 1 -O 1 -b 20M
# Each side starts counting by its own clock; with the warm-up it would be 5000000.
holds "a warm-up that is left out" "$bytes | .[1] > 0 and .[1] < 4500000"
client -n 10M -O 1 -b 100M
holds "an amount after a warm-up" "$bytes | .[0] >= 10485760 and .[0] < 10800000 and
	.[1] > 0.7 * .[0] and .[1] < 1.3 * .[0]"
client -n 10M -O 1 -b 100M -u -l 1400
holds "an amount of datagrams after a warm-up" "$bytes | .[0] >= 10485760 and .[0] < 10800000 and
	.[1] > 0.7 * .[0] and .[1] < 1.3 * .[0]"
client -t 1 -b 20M -R
holds "a rate that we keep" "$bytes | .[0] > 1000000 and .[0] < 4000000"
client -t 1 -C cubic -M 1400 -N -Z -w 128K
holds "options of sockets" "$bytes | .[0] > 0 and .[0] == .[1]"
client -t 1 --get-server-output
holds "what we print" ".server_output_text | test(\"netdoctor\") and test(\"receiver\")"

client -t 30
holds "longer than --max-seconds: refused with iperf3's words" '.error | test("duration")'

four_at_a_time "$bytes | .[0] > 0 and .[0] == .[1]" -t 2 -b 10M

still_serves "and a netdoctor after all of them"

# One that is killed in the middle costs nobody anything.
start victim iperf3 --forceflush -c 127.0.0.1 -p "$port" -t 10
wait_for "$work/victim" 'connected to' || give_up "a client to kill"
kill -KILL "$started"
wait_for "$work/serve" 'iperf3 test over: gone in the middle' && pass "a killed client is noticed"
client -t 1
holds "the next is served" "$bytes | .[0] > 0 and .[0] == .[1]"
stop_server

serve --allow-iperf3 --max-rate 100M --max-streams 2 --report json
client -t 1
holds "more than --max-rate: refused" '.error | test("rate|bandwidth|bitrate|limit")'
in_time 30 tests/cli/stranger.pl greedy "$port"
says "more datagrams than --max-rate: stopped" '^254 [0-9]+ after [0-9]+ ms$'
says "and the server says why" 'the client sends more than --max-rate allows' "$work/serve"
client -t 1 -P 3 -b 1M
holds "more than --max-streams: refused" '.error | test("streams")'
client -t 1 -b 10M
holds "within the limits" "$bytes | .[0] > 0 and .[0] == .[1]"
stop_server
grep '^{' "$work/serve" >"$work/reports"
[ "$(wc -l <"$work/reports")" -eq 1 ] && pass "one line of JSON for the one test" ||
	fail "one line of JSON for the one test"
holds "it is one-ended" '.exam.path.peer_program == "iperf3" and .exam.facts.peer == null and
	.exam.runs[0].direction == "reverse" and (.exam.runs[0].ends.peer.bytes | tonumber) > 0' \
	"$work/reports"
conforms "it conforms to the schema" "$work/reports"

serve
client -t 1
holds "without --allow-iperf3: refused" '.error != null'
stop_server

# ---- logins: 3.12 knows PKCS#1 padding alone, later ones when told ----

if command -v openssl >/dev/null; then
	openssl genrsa -out "$work/private" 2048 2>"$work/openssl" &&
		openssl rsa -in "$work/private" -pubout -out "$work/public" 2>>"$work/openssl"
	chmod 600 "$work/private"
	{
		printf '# who may test here\nbob,%064d\n' 0
		printf 'alice,%s\n' "$(printf '{alice}s3cret' | sha256sum | cut -d' ' -f1)"
	} >"$work/users"
	chmod 644 "$work/users"
	users="--rsa-private-key-path $work/private --authorized-users-path $work/users"
	login="--username alice --rsa-public-key-path $work/public"
	iperf3 --help 2>&1 | grep -q use-pkcs1-padding && login="$login --use-pkcs1-padding"

	# Words on purpose.
	# shellcheck disable=SC2086
	serve --allow-iperf3 $users --use-pkcs1-padding
	IPERF3_PASSWORD=s3cret
	export IPERF3_PASSWORD
	# shellcheck disable=SC2086
	client -t 1 $login
	holds "with the right password" "$bytes | .[0] > 0 and .[0] == .[1]"
	says "and told of by name" 'iperf3 3[^ ]* test of alice: 1 stream' "$work/serve"
	# shellcheck disable=SC2086
	client -u -t 1 $login
	holds "datagrams, too" '.end.sum.packets > 0'
	# shellcheck disable=SC2086
	client -t 1 $login --username bob
	holds "another user: refused" '.error != null'
	openssl genrsa 2048 2>>"$work/openssl" | openssl rsa -pubout -out "$work/other" \
		2>>"$work/openssl"
	# shellcheck disable=SC2086
	client -t 1 $login --rsa-public-key-path "$work/other"
	holds "for another key: refused" '.error != null'
	IPERF3_PASSWORD=guess
	# shellcheck disable=SC2086
	client -t 1 $login
	holds "with a wrong one: refused" '.error != null'
	unset IPERF3_PASSWORD
	client -t 1
	holds "without a login: refused" '.error != null'
	says "and told so" 'refused an iperf3 client: it did not log in' "$work/serve"
	check "four were refused" [ "$(grep -c 'refused an iperf3 client' "$work/serve")" -eq 4 ]
	still_serves "a netdoctor has its key for that"
	stop_server

	# Who cannot log in has not been served.
	# shellcheck disable=SC2086
	serve --allow-iperf3 $users --use-pkcs1-padding --once
	client -t 1
	IPERF3_PASSWORD=s3cret
	export IPERF3_PASSWORD
	# shellcheck disable=SC2086
	client -t 1 $login
	holds "one test: of who can log in" "$bytes | .[0] > 0 and .[0] == .[1]"
	unset IPERF3_PASSWORD
	ends "$server"
	check "and of nobody else" [ "$status" -eq 0 ]

	chmod 644 "$work/private"
	# shellcheck disable=SC2086
	error "a key that others can read" 64 'others may read it' serve --allow-iperf3 $users
	chmod 600 "$work/private"
	chmod 666 "$work/users"
	# shellcheck disable=SC2086
	error "users that others can write" 64 'others may write' serve --allow-iperf3 $users
	error "half of a login" 64 'authorized-users-path' \
		serve --allow-iperf3 --rsa-private-key-path "$work/private"
else
	skip "logins" "no openssl"
fi

done_testing
