# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034
#
# Tests of the program as people run it: loopback only, unprivileged, ports that
# the kernel picks, and every process gone on exit, however that comes.

. tests/tap.sh
: "${NETDOCTOR:?is not set: use tests/run --only cli/}"

work=$(mktemp -d) || exit 1
background=	# processes to end

cli_down() {
	for pid in $background; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rm -rf "$work"
}
trap cli_down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

unset NO_COLOR
LC_ALL=C
export LC_ALL

# The least that is still a measurement: one run of half a second.
quick="-t 0.5 -O 0.1 -P 1 --forward --no-experiments"
# Nothing may hang: what an error may take at most.  The machine may be busy.
bound=10

# in_time SECONDS COMMAND...: into $work/out and $work/err, exit status in $status; what takes
# longer has status 124.
in_time() {
	limit=$1
	shift
	timeout -k 1 "$limit" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

show() {
	echo "# exit status $status"
	sed 's/^/# stdout: /' "$work/out"
	sed 's/^/# stderr: /' "$work/err"
}

# one_line FILE PATTERN: a single line, a complaint of ours, that matches.
one_line() {
	[ "$(wc -l <"$1")" -eq 1 ] && grep -q '^netdoctor: ' "$1" && grep -qE -e "$2" "$1"
}

# error NAME STATUS PATTERN ARGUMENT...: netdoctor ends so within $bound seconds, saying one
# line that matches and nothing on standard output.
error() {
	error_name=$1
	error_status=$2
	error_pattern=$3
	shift 3
	in_time "$bound" "$NETDOCTOR" "$@"
	if [ "$status" -eq "$error_status" ] && [ ! -s "$work/out" ] &&
		one_line "$work/err" "$error_pattern"; then
		pass "$error_name"
	else
		echo "# wanted status $error_status and a line with: $error_pattern"
		show
		fail "$error_name"
	fi
}

# works NAME STATUS ARGUMENT...: netdoctor ends so and says nothing on standard error.
works() {
	works_name=$1
	works_status=$2
	shift 2
	in_time 60 "$NETDOCTOR" "$@"
	if [ "$status" -eq "$works_status" ] && [ ! -s "$work/err" ]; then
		pass "$works_name"
	else
		echo "# wanted status $works_status"
		show
		fail "$works_name"
	fi
}

# holds NAME JQ-CONDITION [FILE]: true of a report (default: what was printed).
holds() {
	if jq -e "$2" "${3:-$work/out}" >"$work/jq" 2>&1; then
		pass "$1"
	else
		echo "# not true: $2"
		head -n 5 "$work/jq" | sed 's/^/# /'
		jq -c '.error // empty' "${3:-$work/out}" 2>&1 | head -n 2 | sed 's/^/# error: /'
		fail "$1"
	fi
}

# says NAME PATTERN [FILE]
says() {
	if grep -qE -e "$2" "${3:-$work/out}"; then
		pass "$1"
	else
		echo "# no line with: $2"
		sed 's/^/# /' "${3:-$work/out}"
		fail "$1"
	fi
}

# served NAME [REPORT COMPLAINTS]: the exam with $status had a peer until its end.  What half a
# second on a busy machine tells may be nothing (exit status 3), but then in a report, and a lost
# session always has a line of complaint.
served() {
	served_report=${2:-$work/out}
	served_complaints=${3:-$work/err}
	if [ "$status" -le 3 ] && [ ! -s "$served_complaints" ] && went_well "$served_report"; then
		pass "$1"
	else
		echo "# exit status $status"
		head -n 20 "$served_report" | sed 's/^/# report: /'
		sed 's/^/# complaint: /' "$served_complaints"
		sed 's/^/# server: /' "$work/serve"
		fail "$1"
	fi
}

# went_well REPORT: text with a verdict, or JSON of complete runs.
went_well() {
	case $(head -c 1 "$1") in
	'{') jq -e '.exam.problem == null and (.exam.runs | length > 0) and
		all(.exam.runs[]; .status == "complete" or .stood_still_us > 0)' "$1" >/dev/null ;;
	*) grep -qE '^(Healthy|Limited|Unexplained|Inconclusive)[ :.]' "$1" ;;
	esac
}

# The exit status that a report's diagnosis asks for.
status_of() { # FILE
	jq '.diagnosis | if .verdict == "healthy" then 0
		elif .verdict != "limited" then 3
		elif any(.findings[]; .severity == "critical") then 2 else 1 end' "$1"
}

# conforms NAME FILE: to the published schema.
conforms() {
	if ! command -v python3 >/dev/null; then
		skip "$1" "no python3"
		return
	fi
	python3 tests/tools/validate_json.py docs/schema/netdoctor-report-1.schema.json "$2" \
		>"$work/conforms" 2>&1
	case $? in
	0) pass "$1" ;;
	77) skip "$1" "$(cat "$work/conforms")" ;;
	*)
		sed 's/^/# /' "$work/conforms"
		fail "$1"
		;;
	esac
}

# wait_for FILE PATTERN: until it is there; false after $bound seconds, or when what writes the file
# was started by us and has ended.
wait_for() {
	for _ in $(seq $((bound * 20))); do
		grep -qsE -e "$2" "$1" && return 0
		if [ -s "$1.pid" ] && ended "$(cat "$1.pid")"; then
			grep -qsE -e "$2" "$1" && return 0
			break
		fi
		sleep 0.05
	done
	echo "# never came: $2"
	sed 's/^/# /' "$1"
	return 1
}

# four_at_a_time CONDITION OPTION...: iperf3 clients of ours side by side, of each of which it holds.
four_at_a_time() {
	four_condition=$1
	shift
	clients=
	for n in 1 2 3 4; do
		iperf3 -c 127.0.0.1 -p "$port" -J "$@" >"$work/many.$n" 2>&1 &
		clients="$clients $!"
	done
	background="$background $clients"
	for pid in $clients; do
		wait "$pid"
	done
	background=$server
	for n in 1 2 3 4; do
		holds "client $n of four at a time" "$four_condition" "$work/many.$n"
	done
}

# run_begins COUNT: one more run than so many, as the server tells them.  What comes before it, two
# programs' start and a key exchange, takes long on a busy machine.
run_begins() {
	for _ in $(seq $((bound * 100))); do
		[ "$(grep -c ' run: ' "$work/serve")" -gt "$1" ] && return 0
		sleep 0.05
	done
	return 1
}

# A process that has ended but was not waited for yet is a zombie.
ended() { # PID
	! grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# ends PID: its exit status in $status; after $bound seconds it is killed and $status is 124.
ends() {
	for _ in $(seq $((bound * 20))); do
		if ended "$1"; then
			wait "$1"
			status=$?
			return 0
		fi
		sleep 0.05
	done
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	status=124
	return 1
}

# client_ends NAME PATTERN: $client, whose output is in $work/client, with a complaint that matches
# and a report that says the same.
client_ends() {
	# shellcheck disable=SC2154 # set by the script that calls
	ends "$client"
	if [ "$status" -ge 1 ] && [ "$status" -le 3 ] && one_line "$work/client" "$2"; then
		pass "$1"
	else
		echo "# exit status $status"
		sed 's/^/# /' "$work/client"
		fail "$1"
	fi
	holds "the report says what ended it" ".exam.problem | test(\"$2\")" "$work/report"
}

# A shell lets its background ignore Ctrl-C; this undoes it, in place of the (sub)shell.
interruptible() { # COMMAND...
	exec perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV or exit 127' "$@"
}

# start FILE COMMAND...: in the background, its output in $work/FILE; its number in $started.
start() {
	start_file=$work/$1
	shift
	interruptible "$@" >"$start_file" 2>&1 </dev/null &
	started=$!
	echo "$started" >"$start_file.pid"
	background="$background $started"
}

give_up() { # NAME
	fail "$1"
	done_testing
}

# stranger FILE listen STEP... or bridge-...: see tests/cli/stranger.pl; its port in $stranger.
stranger() {
	stranger_file=$1
	shift
	start "$stranger_file" tests/cli/stranger.pl "$@"
	wait_for "$work/$stranger_file" '^port ' || give_up "a stranger listens"
	# shellcheck disable=SC2034 # for the script that asked
	stranger=127.0.0.1:$(sed -n 's/^port //p' "$work/$stranger_file")
}

# serve [OPTION...]: a server that is ready; $server, $port, $key (the one it made, or "open").
serve() {
	start serve "$NETDOCTOR" serve --bind 127.0.0.1 --port 0 "$@"
	server=$started
	wait_for "$work/serve" '^  netdoctor diagnose' || give_up "a server starts"
	port=$(sed -n 's/^Listening on .* port \([0-9]*\)\..*/\1/p' "$work/serve")
	key=$(sed -n 's/^  netdoctor diagnose .* --key \([0-9a-f]*\)$/\1/p' "$work/serve")
	key=${key:-open}
}

# The server is still there and takes the next client.  A run so short may get no CPU at all on a
# busy machine, which says nothing of the server: then once more.
still_serves() { # NAME
	for _ in 1 2 3; do
		# Words on purpose.
		# shellcheck disable=SC2086
		in_time 30 "$NETDOCTOR" diagnose "127.0.0.1:$port" --key "$key" $quick
		grep -qs 'cut short before data moved' "$work/err" || break
	done
	served "$1"
}

stop_server() {
	kill "$server"
	ends "$server"
}

# need TOOL...: or all is skipped.
need() {
	for tool; do
		command -v "$tool" >/dev/null && continue
		skip "$(basename "$0" .sh)" "needs $tool"
		done_testing
	done
}
