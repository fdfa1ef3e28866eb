#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2086,SC2317 # words on purpose; called by check
#
# The far end over ssh: a private sshd of this user's on loopback, with keys and settings of its own.
# Nothing outside $work is read or written, and nothing is left running.
. tests/cli/lib.sh
PATH=$PATH:/usr/sbin:/sbin
need ssh sshd ssh-keygen jq perl
# A login costs a key exchange, which on a busy machine takes seconds.
bound=40

# ---- a private sshd ----
mkdir "$work/bin" "$work/far dir" "$work/root"
chmod 700 "$work"
ssh-keygen -q -t ed25519 -N '' -f "$work/host" && ssh-keygen -q -t ed25519 -N '' -f "$work/user" ||
	give_up "keys are made"
cp "$work/user.pub" "$work/authorized"
real_ssh=$(command -v ssh)
real_sshd=$(command -v sshd)

free_port() {
	perl -MIO::Socket::INET -e \
		'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'
}

# As root sshd wants a folder in /run, which it gets in a mount namespace of its own.
start_sshd() {
	ssh_port=$(free_port)
	cat >"$work/sshd_config" <<-CONFIG
		Port $ssh_port
		ListenAddress 127.0.0.1
		HostKey $work/host
		AuthorizedKeysFile $work/authorized
		PidFile none
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		PermitRootLogin prohibit-password
		PermitUserRC no
		PrintMotd no
		PrintLastLog no
		MaxStartups 100
	CONFIG
	if [ "$(id -u)" -eq 0 ] && [ ! -d /run/sshd ]; then
		start sshd unshare -m sh -c 'mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd &&
			exec "$0" -D -e -f "$1"' "$real_sshd" "$work/sshd_config"
	else
		start sshd "$real_sshd" -D -e -f "$work/sshd_config"
	fi
	sshd=$started
	wait_for "$work/sshd" 'Server listening'
}

cat >"$work/ssh_config" <<-CONFIG
	Host far shared far-unknown far-refused
	  HostName 127.0.0.1
	Host far shared far-unknown
	  IdentityFile $work/user
	Host shared
	  ControlPath $work/control
	Host far-unknown
	  UserKnownHostsFile /dev/null
	Host far-refused
	  IdentityFile $work/host
	Host *
	  User $(id -un)
	  BatchMode yes
	  IdentitiesOnly yes
	  StrictHostKeyChecking yes
	  UserKnownHostsFile $work/known
	  GlobalKnownHostsFile /dev/null
CONFIG
# Whatever is started notes its number: both are looked for when all is over.
cat >"$work/bin/ssh" <<-SCRIPT
	#!/bin/sh
	echo \$\$ >>$work/ssh.pids
	exec $real_ssh -F $work/ssh_config "\$@"
SCRIPT
cat >"$work/far dir/it's netdoctor" <<-SCRIPT
	#!/bin/sh
	echo \$\$ >>$work/far.pids
	exec $(realpath "$NETDOCTOR") "\$@"
SCRIPT
chmod +x "$work/bin/ssh" "$work/far dir/it's netdoctor"
far="$work/far dir/it's netdoctor"
PATH=$work/bin:$PATH

if ! start_sshd && ! start_sshd; then
	sed 's/^/# /' "$work/sshd"
	skip "over ssh" "no private sshd can be run here"
	done_testing
fi
echo "[127.0.0.1]:$ssh_port $(cut -d' ' -f1,2 "$work/host.pub")" >"$work/known"
peer=ssh://far:$ssh_port
if ! ssh -p "$ssh_port" far true >"$work/err" 2>&1; then
	sed 's/^/# /' "$work/err" "$work/sshd"
	skip "over ssh" "this user cannot log in to a private sshd"
	done_testing
fi

# nothing_left NAME: neither ssh nor a far server, soon after.
nothing_left() {
	cat "$work/ssh.pids" "$work/far.pids" >"$work/pids" 2>/dev/null
	for _ in $(seq $((bound * 20))); do
		left=
		while read -r pid; do
			ended "$pid" || left="$left $pid"
		done <"$work/pids"
		[ -z "$left" ] && break
		sleep 0.05
	done
	[ -z "$left" ] || ps -o pid,ppid,args -p "${left# }" | sed 's/^/# /'
	check "$1" [ -z "$left" ]
	: >"$work/ssh.pids"
	: >"$work/far.pids"
}

# ---- it works ----
in_time 60 "$NETDOCTOR" diagnose "$peer" --remote-command "$far" --report json $quick
served "a diagnosis of a far end that ssh started"
holds "of the address behind the name" '.exam.path.peer_address == "127.0.0.1"'
nothing_left "nothing is left running"

in_time 60 "$NETDOCTOR" test "$peer" --remote-command "$far" -t 0.5 -O 0.1 -J
holds "a test of one" '.end.sum_received.bytes > 0'
nothing_left "leaves nothing, either"

far_port=$(free_port)
in_time 60 "$NETDOCTOR" diagnose "ssh://$(id -un)@far:$ssh_port" --remote-command "$far" \
	--remote-port "$far_port" --report json $quick
served "with a user's name and a port of our choice"
nothing_left "nothing is left of that"

# in_run: a client $client in mid-run, its far server $far_pid, its ssh $ssh_pid.
in_run() {
	rm -f "$work/report"
	start client "$NETDOCTOR" diagnose "$peer" --remote-command "$far" --remote-port "$far_port" \
		-t 60 -O 0 -P 1 --forward --no-experiments --report json -o "$work/report"
	client=$started
	wait_for "$work/far.pids" . && far_pid=$(tail -n 1 "$work/far.pids") &&
		ssh_pid=$(tail -n 1 "$work/ssh.pids")
	# It listens; a session and a data connection: traffic flows.
	for _ in $(seq $((bound * 20))); do
		[ "$(find "/proc/$far_pid/fd" -lname 'socket:*' 2>/dev/null | wc -l)" -ge 3 ] && break
		sleep 0.05
	done
	sleep 1
}

in_run
tr '\0' '\n' <"/proc/$far_pid/cmdline" >"$work/seen"
tr '\0' '\n' <"/proc/$ssh_pid/cmdline" >>"$work/seen"
tr '\0' '\n' <"/proc/$client/cmdline" >>"$work/seen"
check "the far server was asked for as it should be" grep -qx -e --until-eof "$work/seen"
for pid in $far_pid $ssh_pid $client; do
	tr '\0' '\n' <"/proc/$pid/environ" >>"$work/seen"
done
none "no key in any argument or environment" "$(grep -E '(^|[^0-9a-f])[0-9a-f]{32}($|[^0-9a-f])' \
	"$work/seen")"
kill -INT "$client"
client_ends "Ctrl-C in mid-run" interrupted
nothing_left "and nothing is left"

# From a terminal all of its processes get it.
in_run
kill -INT "$client" "$ssh_pid"
client_ends "a Ctrl-C that ssh gets, too" interrupted
nothing_left "leaves nothing, either"

in_run
kill -KILL "$client"
ends "$client"
nothing_left "kill -9 of the client"
in_run
kill -KILL "$ssh_pid"
client_ends "kill -9 of ssh" 'the server was stopped|session lost'
nothing_left "takes the far server with it"
in_run
kill -KILL "$far_pid"
client_ends "kill -9 of the far server" 'session lost: it closed the connection or is gone'
nothing_left "takes ssh with it"

# Before there is a session: the far side is slow to listen.
cat >"$work/slow" <<-SCRIPT
	#!/bin/sh
	echo \$\$ >>$work/far.pids
	exec cat
SCRIPT
chmod +x "$work/slow"
start client "$NETDOCTOR" diagnose "$peer" --remote-command "$work/slow"
client=$started
check "it waits for the far server" wait_for "$work/far.pids" .
kill -INT "$client"
ends "$client"
check "Ctrl-C then ends it at once" [ "$status" -eq 130 ]
check "in one line" one_line "$work/client" 'interrupted$'
nothing_left "with all that was started"
start client "$NETDOCTOR" diagnose "$peer" --remote-command "$work/slow"
client=$started
wait_for "$work/far.pids" .
kill -KILL "$client"
ends "$client"
nothing_left "kill -9 then"

# ---- what can be wrong ----
# Over one connection that is there already, as ssh's ControlPath has it: no login each time.
start master ssh -N -M -p "$ssh_port" shared
master=$started
for _ in $(seq $((bound * 20))); do
	[ -S "$work/control" ] && break
	sleep 0.05
done
check "a connection is shared" [ -S "$work/control" ]
: >"$work/ssh.pids"
error "nobody logs in with that key" 3 'ssh to far-refused failed: .*Permission denied' \
	diagnose "ssh://far-refused:$ssh_port"
error "an unknown host key" 3 'ssh to far-unknown failed: Host key verification failed' \
	diagnose "ssh://far-unknown:$ssh_port"
error "nobody at that port" 3 'ssh to far failed: .*Connection refused' diagnose "ssh://far:1"
error "no such host" 3 'ssh to no-such-host.invalid failed: .*[Rr]esolve' \
	diagnose ssh://no-such-host.invalid
peer=ssh://shared:$ssh_port
error "no netdoctor there" 3 "shared: no '/nowhere/netdoctor' there: .*--remote-command" \
	diagnose "$peer" --remote-command /nowhere/netdoctor
error "a file that is no program" 3 "'$work/known' cannot be run there: " \
	diagnose "$peer" --remote-command "$work/known"
error "something else there" 3 "'true' there ended with status 0 before it listened: is it" \
	diagnose "$peer" --remote-command true
error "it is quoted for the far shell" 3 "shared: no '.*; echo pwned" \
	diagnose "$peer" --remote-command "x'; echo pwned >$work/pwned; '"
check "which obeys nothing in it" [ ! -e "$work/pwned" ]

fake() { # LINE...: what a far program says
	{
		echo '#!/bin/sh'
		printf '%s\n' "$@"
	} >"$work/fake"
	chmod +x "$work/fake"
}
fake 'echo "netdoctor: serve: unknown option --until-eof (see netdoctor serve --help)" >&2' \
	'exit 64'
error "an older one" 3 'there is of another release than this one, .*unknown option --until-eof' \
	diagnose "$peer" --remote-command "$work/fake"
fake 'printf "\033[31mred\033[0m\n" >&2' 'exit 9'
error "its last line cannot harm the terminal" 3 'ended with status 9 .*: \?\[31mred' \
	diagnose "$peer" --remote-command "$work/fake"
fake 'yes'
error "a flood" 3 'says a lot, but not that it listens' \
	diagnose "$peer" --remote-command "$work/fake"
fake 'yes >&2'
start flood "$NETDOCTOR" diagnose "$peer" --remote-command "$work/fake"
sleep 1
kill -INT "$started"
ends "$started"
check "a flood of errors: Ctrl-C works" [ "$status" -eq 130 ]
fake 'echo "Listening on all addresses, port 1.  On the other machine run:"' 'exec cat'
error "a firewall between" 3 '127.0.0.1:1: .* TCP port 1 cannot be reached .*--remote-port' \
	diagnose "$peer" --remote-command "$work/fake"
fake 'echo "Listening on all addresses, port 99999.  On the other machine run:"' 'exit 3'
error "an impossible port" 3 'ended with status 3 before it listened' \
	diagnose "$peer" --remote-command "$work/fake"
busy=$far_port
start occupied tests/cli/stranger.pl listen silence
wait_for "$work/occupied" '^port '
busy=$(sed -n 's/^port //p' "$work/occupied")
error "a port that is taken there" 3 "netdoctor there: port $busy is in use" \
	diagnose "$peer" --remote-command "$far" --remote-port "$busy"
# A login that talks before.
fake 'echo "Welcome to far!"' 'echo "Listening to music"' \
	"exec '$work/far dir/it'\\''s netdoctor' \"\$@\""
in_time 60 "$NETDOCTOR" diagnose "$peer" --remote-command "$work/fake" $quick
served "a login that talks before is no obstacle"
mkdir "$work/no-ssh"
in_time "$bound" env PATH="$work/no-ssh" "$(realpath "$NETDOCTOR")" diagnose "$peer"
check "no ssh here" [ "$status" -eq 3 ]
peer=ssh://far:$ssh_port
check "it says so" one_line "$work/err" "ssh is not installed here: install .*'netdoctor serve'"
nothing_left "nothing is left of all these"
check "the shared connection is still there" [ -S "$work/control" ]
kill "$master"
ends "$master"

# ---- the command line ----
error "a key of one's own" 64 'ssh:// makes a key for itself' diagnose "$peer" --key open
error "no host" 64 'want ssh://\[USER@\]HOST\[:PORT\]' diagnose ssh://
error "an option for a host" 64 'want ssh://' diagnose ssh://-oProxyCommand=x
error "an option for a user" 64 'want ssh://' diagnose ssh://-oX@host
error "a password" 64 'no password in it' diagnose ssh://me:secret@host
error "an impossible port of ssh's" 64 'want ssh://' diagnose ssh://host:70000
error "two ports" 64 'are the same thing' diagnose ssh://host -p 1 --remote-port 2
error "an option for a program" 64 'not the name of a program' \
	diagnose ssh://host --remote-command -x
error "no ssh meant" 64 'are for a PEER of ssh://HOST' diagnose host --remote-command x
kill "$sshd"
ends "$sshd"
done_testing
