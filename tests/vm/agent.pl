#!/usr/bin/perl
# The guest's side of the test harness: runs commands of the host and returns their results.
#
# Host to guest:  "\nrun ID COMMAND-LENGTH INPUT-LENGTH\n" COMMAND INPUT
# Guest to host:  "\nhello BOOT-ID\n"                                  once, at the start
#                 "\ndone ID STATUS OUTPUT-LENGTH ERROR-LENGTH\n" OUTPUT ERROR
#
# COMMAND is a shell command. If its first line is "#!perl", COMMAND is Perl code. A child of this program runs the code, which may call the
# functions below.
#
# This program needs only perl-base.  Each frame begins with a newline, so that the receiver finds the next frame after an incomplete one:
# a reset can cut a frame short.
use strict;
use warnings;

my $dir = '/run/drivekeep-test-agent';
mkdir $dir, 0700;

sub slurp { my $name = shift; open my $f, '<', $name or return ''; local $/; my $all = <$f>; return $all // '' }
sub put { my ($name, $text) = @_; open my $f, '>', $name or die "$name: $!"; print $f $text; close $f or die "$name: $!" }

# Returns the port's node without udev: sysfs has the port's name, and devtmpfs has its node.
sub port_node {
    for my $name (glob '/sys/class/virtio-ports/*/name') {
        return "/dev/$1" if slurp($name) =~ /^org\.drivekeep\.test$/m && $name =~ m{([^/]+)/name$};
    }
}

sub reply {
    my ($port, $frame) = @_;
    while (length $frame) {
        my $n = syswrite $port, $frame;
        substr($frame, 0, $n) = '' if $n;
    }
}

# Runs a command in the child process. The output goes to files, not pipes, so the agent never waits for a command that hangs, or for a
# daemon that a command has started.
sub run {
    my ($base, $command, $input) = @_;
    put("$base.in", $input) if length $input;
    open STDIN,  '<', length $input ? "$base.in" : '/dev/null';
    open STDOUT, '>', "$base.out";
    open STDERR, '>', "$base.err";
    if ($command =~ /^#!perl\n/) {
        eval "$command; 1" or die $@;
        exit 0;
    }
    # Perl starts no shell for a command that has only a program and plain arguments.
    no warnings 'exec';
    exec $command or exec '/bin/sh', '-c', $command or exit 127;
}

# Returns a file for select() that becomes readable when the process has ended. System call 434 is pidfd_open().
sub end_of {
    my $pid = shift;
    open my $end, '<&=', syscall(434, $pid, 0) or die "pidfd_open: $!";
    return $end;
}

# Functions for commands in Perl

sub pause { select undef, undef, undef, shift }

my $node;
pause(0.1) until $node = port_node();
open my $port, '+<:raw', $node or die "$node: $!";
slurp('/proc/sys/kernel/random/boot_id') =~ /(\S+)/;
reply($port, "\nhello $1\n");

my %running;    # PID => { id => ID of the command, end => file from end_of(), readable after the command }
my $asked = '';
for (;;) {
    my $ready = '';
    vec($ready, fileno $_, 1) = 1 for $port, map { $_->{end} } values %running;
    next unless select($ready, undef, undef, undef) > 0;
    for my $pid (grep { vec $ready, fileno $running{$_}{end}, 1 } keys %running) {
        waitpid $pid, 0;
        my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
        my $id = delete($running{$pid})->{id};
        my ($out, $err) = map { slurp("$dir/$id.$_") } qw(out err);
        unlink map { "$dir/$id.$_" } qw(in out err);
        reply($port, sprintf "\ndone %d %d %d %d\n%s%s", $id, $status, length $out, length $err, $out, $err);
    }
    next unless vec $ready, fileno $port, 1;

    # An empty read means that the host is not connected at the moment. The host may connect again.
    unless (sysread $port, $asked, 65536, length $asked) {
        $asked = '';
        pause(0.1);
    }
    while ($asked =~ /\nrun (\d+) (\d+) (\d+)\n/ && length $asked >= $+[0] + $2 + $3) {
        my ($id, $command, $input) = ($1, substr($asked, $+[0], $2), substr($asked, $+[0] + $2, $3));
        substr($asked, 0, $+[0] + $2 + $3) = '';
        my $pid = fork // die "fork: $!";
        run("$dir/$id", $command, $input) unless $pid;
        $running{$pid} = { id => $id, end => end_of($pid) };
    }
}
