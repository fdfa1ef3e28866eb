#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Either side ends in mid-run: the other says so in one line within seconds, what was measured
# is reported, and a server is ready for the next client.
. tests/cli/lib.sh
need jq perl

# in_run [OPTION...]: a client $client in the middle of a run that would go on for long.
in_run() {
	rm -f "$work/report"
	already=$(grep -c ' run: ' "$work/serve")
	start client "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" -t 60 -O 0 -P 2 \
		--no-experiments --report json -o "$work/report" "$@"
	client=$started
	run_begins "$already"
	# Something to report.
	sleep 0.8
}

# half_a_run NAME PATTERN: the client ends so, with a report of what was measured until then.
half_a_run() {
	client_ends "$1" "$2"
	check "its exit status is that of the report" [ "$status" = "$(status_of "$work/report")" ]
	holds "the run is incomplete, with what was measured" '.exam.runs | length == 1 and
		(.[0] | .status == "incomplete" and .goodput_bps > 1000000 and .seconds < 30)' \
		"$work/report"
}

# shellcheck disable=SC2317 # called by check
holds_quietly() {
	jq -e "$1" "$2" >/dev/null
}

server_ends() { # NAME
	ends "$server"
	[ "$status" -eq 0 ] || sed 's/^/# /' "$work/serve"
	check "$1" [ "$status" -eq 0 ]
}

# ---- the client ----
# A gentle rate: others run their tests beside this one.
serve --max-rate 2G
in_run --forward
kill -KILL "$client"
ends "$client"
check "the server notices a client that was killed" \
	wait_for "$work/serve" 'session over: gone without a goodbye'
still_serves "and serves the next client"
in_run --reverse
kill -KILL "$client"
ends "$client"
still_serves "also when it was the one that sends"

in_run --forward
kill -INT "$client"
half_a_run "Ctrl-C on the client" 'interrupted'
check "the server was told" wait_for "$work/serve" 'session over: said goodbye'
in_run --reverse
kill -TERM "$client"
half_a_run "SIGTERM on the client" 'interrupted'
conforms "the report is of the published form" "$work/report"

in_run --forward
kill -STOP "$client"
kill -INT "$client"
kill -TERM "$client"
kill -CONT "$client"
ends "$client"
check "a second signal ends it at once" [ "$status" -gt 128 ]
still_serves "the server is as ready as ever"

# timeout(1) signals a process, and then its group.
start echo timeout -s INT --preserve-status 1.5 "$NETDOCTOR" diagnose "127.0.0.1:$port" \
	--key "$key" -t 60 -O 0 -P 2 --no-experiments --report json -o "$work/report"
ends "$started"
check "a signal that comes twice at once is one" [ "$status" -le 3 ]
holds "and leaves a report" '.exam.problem | test("interrupted")' "$work/report"

# In the queue behind another client's run, with a run of its own measured.
start waiting "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" -t 4 -O 0 -P 1 \
	--no-experiments --report json -o "$work/report.waiting"
waiting=$started
wait_for "$work/serve" 'the client sends, 4.0 s'
in_run --forward
kill -INT "$waiting"
asked=$(date +%s)
ends "$waiting"
check "Ctrl-C in the queue ends it" [ "$status" -le 3 ]
check "at once" [ $(($(date +%s) - asked)) -le 5 ]
check "in one line" one_line "$work/waiting" 'interrupted: what was measured before still counts'
holds "what was measured before is reported" '[.exam.runs[].status] == ["complete", "failed"]' \
	"$work/report.waiting"
kill -INT "$client"
ends "$client"

# ---- the server ----
stop_server
serve --max-sessions 2
in_run --forward
kill -HUP "$server"
half_a_run "SIGHUP on the server" 'the server was stopped'
server_ends "which ends well"
# SIGTERM drains: what runs goes to its end, what comes is told.
serve --max-rate 2G
in_run --forward -t 4
kill -TERM "$server"
error "a client that comes while the server drains" 3 'the server was stopped' \
	diagnose "127.0.0.1:$port" --key "$key"
ends "$client"
check "the run went to its end" holds_quietly '.exam.runs[0] | .status == "complete" and
	.seconds > 3.5' "$work/report"
server_ends "the server then ends well"
serve --max-rate 2G
in_run --forward
kill -TERM "$server"
sleep 0.5
check "a server that drains is there" [ -d "/proc/$server" ]
kill -TERM "$server"
ends "$server"
check "a second SIGTERM ends it at once" [ "$status" -eq 143 ]
ends "$client"
serve --max-rate 2G
in_run --reverse
kill -INT "$server"
half_a_run "Ctrl-C on the server" 'the server was stopped'
server_ends "which ends well, too"
serve --max-rate 2G
in_run --forward
kill -KILL "$server"
half_a_run "the server is killed" 'session lost: it closed the connection or is gone'
serve --max-rate 2G
in_run --reverse
kill -KILL "$server"
half_a_run "the server that sends is killed" 'session lost: it closed the connection or is gone'
serve --max-rate 2G
in_run --reverse
kill -STOP "$server"
# It may be an outage of the path, which a run lives through.
patience=$bound
bound=60
half_a_run "the server stands still" 'session lost: no sign of life'
bound=$patience
kill -KILL "$server"

# ---- before there is anything to lose ----
stranger silent listen silence
listener=$started
start client "$NETDOCTOR" diagnose "$stranger"
client=$started
sleep 2	# until it watches for signals, also on a busy machine
kill -INT "$client"
ends "$client"
check "Ctrl-C while it connects ends it at once" [ "$status" -eq 130 ]
check "in one line" one_line "$work/client" 'interrupted$'
kill "$listener"
ends "$listener"

# ---- once ----
serve --once
error "a wrong key" 3 'wrong key' diagnose "127.0.0.1:$port" --key 00112233445566778899aabbccddeeff
in_run --forward
error "a second client of a server for one" 3 'serves one session only, and that has begun' \
	diagnose "127.0.0.1:$port" --key "$key"
kill -INT "$client"
ends "$client"
server_ends "--once ends with its client"

# ---- idle ----
serve
kill -INT "$server"
server_ends "Ctrl-C on an idle server"
serve
kill -HUP "$server"
server_ends "a terminal that is gone ends it"
trap '' HUP
serve
trap - HUP
kill -HUP "$server"
still_serves "unless it was started by nohup"
stop_server

left() {
	for pid in $background; do
		ended "$pid" || echo "$pid"
	done
}
none "no process is left" "$(left)"
done_testing
