#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A peer that is no netdoctor, or half of one.  Perl's core alone.
#
#   stranger.pl listen STEP...        prints "port N", takes clients one after the other
#   stranger.pl connect PORT COUNT STEP...   COUNT connections at once; prints "done", holds them
#   stranger.pl bridge-to PORT VERSION       prints "port N"; opens a session with the server
#                                     there as protocol VERSION, then passes bytes on
#   stranger.pl bridge-from PORT      prints "port N"; answers a client's greeting, then
#                                     passes bytes on to PORT
#   stranger.pl late PORT BYTES       an iperf3 client that BYTES are sent to, and that thinks for
#                                     half a second before it says so; prints all states it hears
#   stranger.pl greedy PORT           an iperf3 client that asks for 8 Mbit/s of datagrams and sends
#                                     all it can; prints what it hears instead of the end, and when
#   stranger.pl endless PORT          an iperf3 client that asks for one second and never says it is
#                                     over; prints the ms until our last byte, and until we hang up
#   stranger.pl half PORT COUNT       iperf3 clients that open 6 of the 8 streams that they ask for;
#                                     prints "done", holds them
#   stranger.pl hellos PORT           opens an iperf3 client's UDP stream each ms; prints "done" first
#
# Steps: take:N bytes, say:HEX, cookie (another each time), random:N bytes, drip (a letter each
# 100 ms), silence (until the other side has closed), close, reset; of connect alone
# slowly:HEX, a byte each 10 ms.
#
# A bare Debian has perl-base alone: modules beyond it are not to be had.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_LINGER);

$| = 1;
$SIG{PIPE} = 'IGNORE';

# In hundredths of a second; Time::HiRes is not in perl-base.
sub now {
	open(my $uptime, '<', '/proc/uptime') or die "/proc/uptime: $!\n";
	return (split ' ', <$uptime>)[0];
}

sub take {
	my ($socket, $want) = @_;
	my $got = '';
	while (length($got) < $want) {
		my $n = sysread($socket, $got, $want - length($got), length($got));
		return undef unless $n;
	}
	return $got;
}

sub silence {
	my ($socket) = @_;
	1 while sysread($socket, my $ignored, 65536);
}

my $cookies = 0;

sub step {
	my ($socket, $step) = @_;
	my ($word, $value) = split /:/, $step;
	if ($word eq 'take') {
		take($socket, $value);
	} elsif ($word eq 'say') {
		syswrite($socket, pack('H*', $value));
	} elsif ($word eq 'cookie') {
		syswrite($socket, sprintf('%036b', ++$cookies) =~ tr/01/pq/r . "\0");
	} elsif ($word eq 'random') {
		# The same bytes each time, and no letter of a cookie first.
		srand(20240607);
		syswrite($socket, join('', "\xf3", map { chr(int(rand(256))) } 2 .. $value));
	} elsif ($word eq 'drip') {
		while (syswrite($socket, 'a')) {
			select(undef, undef, undef, 0.1);
		}
	} elsif ($word eq 'silence') {
		silence($socket);
	} elsif ($word eq 'reset') {
		setsockopt($socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
		close($socket);
	} elsif ($word eq 'close') {
		close($socket);
	} else {
		die "unknown step $step\n";
	}
}

sub listener {
	my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 16, ReuseAddr => 1)
		or die "listen: $!\n";
	print 'port ', $l->sockport, "\n";
	return $l;
}

sub dial {
	my ($port) = @_;
	return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
		|| die "connect: $!\n";
}

sub pass_on {
	my ($one, $other) = @_;
	my $select = IO::Select->new($one, $other);
	while (1) {
		for my $from ($select->can_read) {
			return unless sysread($from, my $bytes, 65536);
			syswrite($from == $one ? $other : $one, $bytes);
		}
	}
}

my $mode = shift || '';
if ($mode eq 'listen') {
	my $l = listener();
	while (my $socket = $l->accept) {
		step($socket, $_) for @ARGV;
	}
} elsif ($mode eq 'connect') {
	my ($port, $count, @steps) = @ARGV;
	my @sockets = map { dial($port) } 1 .. $count;
	for my $step (@steps) {
		if ($step =~ /^slowly:(.*)/) {
			for my $byte (split //, pack('H*', $1)) {
				syswrite($_, $byte) for @sockets;
				select(undef, undef, undef, 0.01);
			}
			next;
		}
		step($_, $step) for @sockets;
	}
	print "done\n";
	sleep;
} elsif ($mode eq 'bridge-to') {
	my ($port, $version) = @ARGV;
	my $l = listener();
	while (my $client = $l->accept) {
		my $server = dial($port);
		my $parameters = "{\"tcp\":true,\"netdoctor\":{\"version\":$version}}";
		syswrite($server, 'a' x 36 . "\0");
		die "no greeting\n" unless (take($server, 1) || '') eq "\x09";
		syswrite($server, pack('N/a*', $parameters));
		die "no switch\n" unless (take($server, 1) || '') eq 'N';
		pass_on($client, $server);
		close($_) for $client, $server;
	}
} elsif ($mode eq 'bridge-from') {
	my ($port) = @ARGV;
	my $l = listener();
	while (my $client = $l->accept) {
		take($client, 37);
		syswrite($client, "\x09");
		take($client, unpack('N', take($client, 4)));
		my $server = dial($port);
		syswrite($client, 'N');
		pass_on($client, $server);
		close($_) for $client, $server;
	}
} elsif ($mode eq 'late') {
	my ($port, $bytes) = @ARGV;
	my $cookie = 'c' x 36 . "\0";
	my $control = dial($port);
	syswrite($control, $cookie);
	my @heard = ord(take($control, 1));
	syswrite($control, pack('N/a*', qq({"tcp":true,"omit":0,"time":0,"num":$bytes,) .
		'"parallel":1,"reverse":true,"len":131072}'));
	push @heard, ord(take($control, 1));
	my $data = dial($port);
	syswrite($data, $cookie);
	push @heard, map { ord } split //, take($control, 2);
	take($data, $bytes);
	push @heard, 'early' if IO::Select->new($control, $data)->can_read(0.5);
	syswrite($control, "\x04");
	push @heard, ord(take($control, 1));
	syswrite($control, pack('N/a*', '{"cpu_util_total":0,"cpu_util_user":0,' .
		'"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[{"id":1,' .
		qq("bytes":$bytes,"retransmits":-1,"jitter":0,"errors":0,"packets":0,) .
		'"start_time":0,"end_time":1}]}'));
	my $results = take($control, unpack('N', take($control, 4)));
	push @heard, $results =~ /"bytes":$bytes\b/ ? 'all' : 'other';
	push @heard, ord(take($control, 1));
	print "@heard\n";
} elsif ($mode eq 'greedy') {
	my ($port) = @ARGV;
	my $control = dial($port);
	syswrite($control, 'g' x 36 . "\0");
	take($control, 1);
	syswrite($control, pack('N/a*', '{"udp":true,"omit":0,"time":10,"num":0,"parallel":1,' .
		'"len":1000,"bandwidth":8000000}'));
	take($control, 1);
	my $data = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'udp')
		or die "socket: $!\n";
	send($data, '9876', 0);
	recv($data, my $answer, 4, 0);
	take($control, 2);
	my ($begun, $number, $select) = (now(), 0, IO::Select->new($control));
	until (++$number % 100 == 0 && ($select->can_read(0) || now() - $begun > 9)) {
		send($data, pack('NNNx988', 0, 0, $number), 0);
	}
	my $heard = take($control, 1);
	my $code = take($control, 4);
	printf "%d %d after %d ms\n", ord($heard), unpack('N', $code), 1000 * (now() - $begun);
} elsif ($mode eq 'half') {
	my ($port, $clients) = @ARGV;
	my @sockets;
	for my $client (1 .. $clients) {
		my $cookie = sprintf('%036b', $client) =~ tr/01/hi/r . "\0";
		my $control = dial($port);
		syswrite($control, $cookie);
		take($control, 1);
		syswrite($control, pack('N/a*', '{"tcp":true,"omit":0,"time":5,"num":0,' .
			'"parallel":8,"len":1000}'));
		take($control, 1);
		push @sockets, $control;
		for (1 .. 6) {
			my $data = dial($port);
			syswrite($data, $cookie);
			push @sockets, $data;
		}
	}
	print "done\n";
	sleep;
} elsif ($mode eq 'hellos') {
	my ($port) = @ARGV;
	my @sockets;
	print "done\n";
	while (1) {
		my $data = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port,
			Proto => 'udp') or die "socket: $!\n";
		send($data, '9876', 0);
		push @sockets, $data;
		shift @sockets if @sockets > 100;
		select(undef, undef, undef, 0.001);
	}
} elsif ($mode eq 'endless') {
	my ($port) = @ARGV;
	my $cookie = 'e' x 36 . "\0";
	my $control = dial($port);
	syswrite($control, $cookie);
	take($control, 1);
	syswrite($control, pack('N/a*', '{"tcp":true,"omit":0,"time":1,"num":0,"parallel":1,' .
		'"reverse":true,"len":131072}'));
	take($control, 1);
	my $data = dial($port);
	syswrite($data, $cookie);
	take($control, 2);
	my $begun = now();
	my ($last, $bytes) = ($begun, 0);
	while (my $n = sysread($data, my $ignored, 65536)) {
		$bytes += $n;
		$last = now();
	}
	silence($control);
	printf "%d bytes, last after %d ms, over after %d ms\n", $bytes,
		1000 * ($last - $begun), 1000 * (now() - $begun);
} else {
	die "stranger.pl: unknown mode $mode\n";
}
