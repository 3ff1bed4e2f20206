#!/usr/bin/perl
# The guest's end of the test harness: run what the host asks for, say what came of it.
#
# Host to guest:  "\nrun ID COMMAND-LENGTH INPUT-LENGTH\n" COMMAND INPUT
# Guest to host:  "\nhello BOOT-ID\n"                                  once, at the start
#                 "\ndone ID STATUS OUTPUT-LENGTH ERROR-LENGTH\n" OUTPUT ERROR
#
# The command is a shell's, or "#!perl" is its first line: then it is run without starting a program, and may use what is below.
#
# Only what perl-base has.  The leading newline lets either side find its feet again after a frame that a reset cut short.
use strict;
use warnings;

my $dir = '/run/drivekeep-test-agent';
mkdir $dir, 0700;

sub slurp { my $name = shift; open my $f, '<', $name or return ''; local $/; my $all = <$f>; return $all // '' }
sub put { my ($name, $text) = @_; open my $f, '>', $name or die "$name: $!"; print $f $text; close $f or die "$name: $!" }

# No udev is needed: sysfs knows the port's name, and devtmpfs has its node.
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

# In the child, with files instead of pipes: neither a hung command nor a daemon it leaves behind holds up anything.
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
    # Perl leaves out the shell for a command that is a program and its arguments.
    no warnings 'exec';
    exec $command or exec '/bin/sh', '-c', $command or exit 127;
}

# A file that can be selected on, and is readable once that process has ended: 434 is pidfd_open().
sub end_of {
    my $pid = shift;
    open my $end, '<&=', syscall(434, $pid, 0) or die "pidfd_open: $!";
    return $end;
}

# For commands in Perl

sub pause { select undef, undef, undef, shift }

my $node;
pause(0.1) until $node = port_node();
open my $port, '+<:raw', $node or die "$node: $!";
slurp('/proc/sys/kernel/random/boot_id') =~ /(\S+)/;
reply($port, "\nhello $1\n");

my %running;    # by process: { id, end }
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

    # A read of nothing means that no one is connected on the host, not that the port is finished.
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
