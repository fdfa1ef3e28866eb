#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --cport: our ports of the streams' data, one after the other as iperf3 takes them.

. tests/cli/lib.sh
need jq perl

# Eight in a row that nobody has, for TCP and UDP.
first=$(perl -MIO::Socket::INET -e '
	for (1 .. 100) {
		my $at = 20000 + int(rand(10000));
		my @free = grep {
			my $port = $_;
			2 == grep { IO::Socket::INET->new(LocalAddr => "127.0.0.1",
				LocalPort => $port, Proto => $_) } "tcp", "udp";
		} $at .. $at + 7;
		next if @free < 8;
		print $at;
		last;
	}')
ports() { echo "[.start.connected[].local_port] == [range($first; $first + $1)]"; }

# test_with OPTION...: a short test, its JSON in $work/out.
test_with() {
	in_time 60 "$NETDOCTOR" test "127.0.0.1:$port" -t 0.5 -b 10M --cport "$first" --report json \
		"$@"
}

serve --max-sessions 3
for way in "" -u; do
	# Words on purpose.
	# shellcheck disable=SC2086
	test_with --key "$key" -P 3 $way
	holds "three streams $way" "$(ports 3) and .error == null"
	# shellcheck disable=SC2086
	test_with --key "$key" -P 2 --bidir -B 127.0.0.1 $way
	holds "two each way, and our address $way" "$(ports 4) and .error == null"
	# Right after: nothing of the last test is in the way.
	# shellcheck disable=SC2086
	test_with --key "$key" -P 4 -R $way
	holds "and reverse $way" "$(ports 4) and .error == null"
done
in_time 60 "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" -t 0.5 -O 0.1 -P 2 \
	--cport "$first" --no-experiments --report json
served "one run after the other"

stranger busy listen silence
busy=${stranger##*:}
error "a port that somebody has" 3 "cport: our TCP port $busy: Address already in use" \
	test "127.0.0.1:$port" --key "$key" -q --cport "$busy"
error "more streams than ports" 3 'cport 65534: 3 streams need as many ports' \
	test "127.0.0.1:$port" --key "$key" -q -P 3 --cport 65534
error "no port" 64 'cport' test "127.0.0.1:$port" --cport 65536
error "nobody to reach" 64 'need a PEER' diagnose --cport 7000
stop_server

if command -v iperf3 >/dev/null; then
	start theirs iperf3 --forceflush -s -p "$port"
	wait_for "$work/theirs" 'Server listening' || give_up "iperf3 -s listens"
	for way in "" -u; do
		# shellcheck disable=SC2086
		test_with -P 2 --bidir -t 1 $way
		holds "iperf3's server $way" "$(ports 4) and .error == null"
	done
	check "it saw the last of them, both times" \
		[ "$(grep -c "connected to 127.0.0.1 port $((first + 3))\$" "$work/theirs")" -eq 2 ]
else
	skip "iperf3's server" "no iperf3"
fi

done_testing
