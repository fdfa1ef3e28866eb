#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The command line: help, version, and every way to get it wrong.
. tests/cli/lib.sh

in_time 10 "$NETDOCTOR"
check "without a command it tells how to use it, as an error" \
	[ "$status" -eq 64 -a ! -s "$work/out" -a -s "$work/err" ]
for help in --help -h help; do
	works "$help" 0 "$help"
	says "$help lists commands" '^  diagnose \[PEER\] '
done
for version in --version -V; do
	works "$version" 0 "$version"
	check "$version says one line" [ "$(cat "$work/out")" = "netdoctor $(cat VERSION)" ]
done

"$NETDOCTOR" --help | sed -n 's/^  \([a-z]*\)\( \[[A-Z.]*\]\)*  .*/\1/p' >"$work/commands"
check "the commands are listed" [ "$(wc -l <"$work/commands")" -ge 5 ]
while read -r command; do
	works "$command --help" 0 "$command" --help
	says "$command --help shows its usage" "^Usage: netdoctor $command"
	cp "$work/out" "$work/help"
	works "$command -h" 0 "$command" -h
	check "$command -h is the same" cmp "$work/help" "$work/out"
	works "help $command" 0 help "$command"
	check "help $command is the same" cmp "$work/help" "$work/out"
	# shellcheck disable=SC2016 # an awk program
	long=$(awk 'length > 100' "$work/help")
	check "$command --help fits 100 columns" [ -z "$long" ]
	error "$command: unknown long option" 64 "$command: unknown option --no-such " \
		"$command" --no-such
	error "$command: unknown letter" 64 "$command: unknown option -Z " "$command" -Z
done <"$work/commands"

error "unknown command" 64 'unknown command: frobnicate \(see' frobnicate
error "help of an unknown command" 64 'unknown command: frobnicate' help frobnicate
error "an escape sequence is not repeated" 64 'unknown command: x\?\[31m ' "$(printf 'x\033[31m')"
error "a letter in a cluster" 64 'unknown option -Z ' diagnose -qZ
error "no argument" 64 'missing argument after --time ' diagnose --time
error "no argument after a cluster" 64 'missing argument after -t ' diagnose -qt
error "an argument too many for a flag" 64 'unknown option --quiet=3' diagnose --quiet=3
error "an ambiguous abbreviation" 64 'unknown option --no' diagnose --no
error "an abbreviation" 64 'unknown option --verb: in full: --verbose \(see' diagnose --verb
error "an abbreviation with its argument" 64 'unknown option --ti: in full: --time ' \
	diagnose h --ti 5
error "an abbreviation with its argument behind =" 64 'unknown option --ti=5: in full: --time ' \
	demo --ti=5
error "of help" 64 'unknown option --he: in full: --help ' explain --he
error "of several" 64 'in full: --no-experiments or --no-color ' diagnose --no
error "a key is no file of one" 64 'serve: unknown option --key: in full: --key-file ' \
	serve --key 00112233445566778899aabbccddeeff
error "two peers" 64 'one argument too many: b' diagnose a b
error "a stray argument" 64 'one argument too many: x' serve x
error "time: not a number" 64 '--time abc: want 0.5 to 600 seconds' diagnose -t abc
error "time: too short" 64 'want 0.5 to 600 seconds' diagnose -t 0.1
error "time: not finite" 64 'want 0.5 to 600 seconds' diagnose -t nan
error "time: negative" 64 'want 0.5 to 600 seconds' diagnose -t -1
error "streams: none" 64 'want 1 to 2048 ' diagnose -P 0
error "streams: too many" 64 'want 1 to 2048 ' diagnose -P 2049
error "streams: more behind the number" 64 'want 1 to 2048 ' diagnose -P 4x
error "streams: beyond 64 bits" 64 'want 1 to 2048 ' diagnose -P 99999999999999999999
error "rate: none" 64 'want a rate such as 9.4G or 940M, 1 bit/s to' diagnose --target fast
error "rate: below what a link has" 64 'a rate such as 9.4G or 940M, 1.00 Mbit/s to' \
	check --link-speed 25
error "size: too large" 64 'want bytes such as 64K or 4M, 1024 to 1073741823 ' diagnose -w 1G
error "size: a count is none" 64 '--blockcount 0: want blocks such as 1000 or 64K' test h -k 0
error "number: too large in hexadecimal" 64 '--flowlabel 0x100000: want 1 to' test h -L 0x100000
error "number: no hexadecimal" 64 '--flowlabel 0x: want 1 to' test h -L 0x
error "choice" 64 'want one of: text, json' diagnose --report xml
error "both directions alone" 64 'exclude each other' diagnose --reverse --forward
error "both families alone" 64 'exclude each other' diagnose -4 -6 h
error "two sources of the key" 64 'exclude each other' diagnose h --key open --key-file x
error "congestion control too long for a kernel" 64 'no kernel has such a name' \
	diagnose -C abcdefghijklmnopq
error "congestion control with a slash" 64 "--congestion a/b: no kernel has such a name" \
	diagnose -C a/b h --key open
error "the same of a test" 64 "--congestion a/b: no kernel has such a name" test -C a/b h --key open
error "no host" 64 "'': want HOST" diagnose ''
error "no host but a port" 64 "':5201': want HOST" diagnose :5201
error "port out of range" 64 "'h:65536': want HOST" diagnose h:65536
error "port zero" 64 "'h:0': want HOST" diagnose h:0
error "bracket without its pair" 64 'want HOST, HOST:PORT or' diagnose '[::1'
error "text behind a bracket" 64 'want HOST, HOST:PORT or' diagnose '[::1]x'
error "another scheme" 64 'want HOST or HOST:PORT of a running' diagnose http://h
error "peer options without a peer" 64 'need a PEER' diagnose --port 5201
error "a family without a peer" 64 'need a PEER' diagnose -6
error "a key that is none" 64 '--key: not a key: want the 32 hex digits' diagnose h --key 123
error "a key that is almost one" 64 'not a key' diagnose h --key 0123456789abcdef0123456789abcdeg
error "a server both open and not" 64 'exclude each other' serve --open --key-file x
error "a server's port" 64 'want 0 to 65535 ' serve --port 65536
error "a server without sessions" 64 'want 1 to 1000 ' serve --max-sessions 0

# What iperf3's users type out of habit: it is taken, or what to do instead is said.
while IFS='|' read -r command option instead; do
	# Words on purpose.
	# shellcheck disable=SC2086
	error "iperf3's $option of $command" 64 \
		"$command: unknown option ${option%% *}, which is iperf3's: $instead.* \(see" \
		"$command" $option
done <<'END'
test|-s|run 'netdoctor serve'
test|-c h|write the host alone
test|--client h|write the host alone
test|--logfile x|redirect
test|--timestamps=%s|pipe the output through ts
test|-T x|name the file
test|--version|run 'netdoctor --version'
test|--gsro|give --gso and --gro
test|--dscp cs1|give --tos
test|-f m|JSON has plain numbers
serve|-D|let the shell or systemd
serve|-J|--report json
serve|--server-bitrate-limit 1G|give --max-rate
END
error "iperf3's other name of a bit rate" 64 '--bitrate fast: want a rate' test h --bandwidth fast
error "of a longest time" 64 '--max-seconds x: want' serve --server-max-duration x
error "what is so anyhow" 64 'want the PEER' test -V --verbose --forceflush --udp-counters-64bit
error "is no flag of others" 64 'unknown option --forceflush ' diagnose --forceflush
error "an abbreviation of iperf3's" 64 'unknown option --vers: in full: ' test --vers
error "an argument too many for it" 64 'unknown option --forceflush=1' test --forceflush=1

# A full disk is not success.
if [ -c /dev/full ]; then
	for arguments in --version --help "check --help" explain check; do
		# Words on purpose.
		# shellcheck disable=SC2086
		timeout 10 "$NETDOCTOR" $arguments >/dev/full 2>"$work/err"
		status=$?
		check "$arguments to a full disk" [ "$status" -eq 3 ]
		check "$arguments says so" one_line "$work/err" 'standard output: No space left'
	done
	# Nobody could ever connect to it.
	in_time 5 sh -c 'exec "$0" serve --bind 127.0.0.1 --port 0 >/dev/full' "$NETDOCTOR"
	check "a key that cannot be printed" [ "$status" -eq 3 ]
	check "is said" one_line "$work/err" 'cannot write the key to standard output'
else
	skip "output to a full disk" "no /dev/full"
fi

# The numbers of closed descriptors must not become those of sockets.
in_time 10 sh -c 'exec "$0" check lo >&-' "$NETDOCTOR"
check "standard output is closed" [ "$status" -eq 3 ]
check "and that is said" one_line "$work/err" 'standard output: Bad file descriptor'
done_testing
