#!/usr/bin/perl
# The guest's end of the test harness: run what the host asks for, say what came of it.
#
# Host to guest:  "\nrun ID COMMAND-LENGTH INPUT-LENGTH\n" COMMAND INPUT
# Guest to host:  "\nhello BOOT-ID\n"                                  once, at the start
#                 "\ndone ID STATUS OUTPUT-LENGTH ERROR-LENGTH\n" OUTPUT ERROR
#
# Only what perl-base has.  The leading newline lets either side find its feet again after a frame that a reset cut short.
use strict;
use warnings;

my $dir = '/run/drivekeep-test-agent';
mkdir $dir, 0700;
$SIG{CHLD} = 'IGNORE';

sub slurp { my $name = shift; open my $f, '<', $name or return ''; local $/; my $all = <$f>; return $all // '' }

# No udev is needed: sysfs knows the port's name, and devtmpfs has its node.
sub port_node {
    for my $name (glob '/sys/class/virtio-ports/*/name') {
        return "/dev/$1" if slurp($name) =~ /^org\.drivekeep\.test$/m && $name =~ m{([^/]+)/name$};
    }
}

# The whole of a frame in one call and under a lock, as every child writes to the one port.
sub reply {
    my ($port, $frame) = @_;
    open my $lock, '>', "$dir/lock" or die "lock: $!";
    flock $lock, 2;
    while (length $frame) {
        my $n = syswrite $port, $frame;
        substr($frame, 0, $n) = '' if $n;
    }
}

# A read of nothing means that no one is connected on the host, not that the port is finished.
sub read_some {
    my ($port, $length) = @_;
    for (;;) {
        my $data;
        my $n = sysread $port, $data, $length;
        return $data if $n;
        select undef, undef, undef, 0.1;
    }
}

sub read_line {
    my $port = shift;
    my $line = '';
    $line .= read_some($port, 1) until $line =~ /\n$/;
    return $line;
}

sub read_exactly {
    my ($port, $length) = @_;
    my $data = '';
    $data .= read_some($port, $length - length $data) while length $data < $length;
    return $data;
}

# In a child of its own, with files instead of pipes: neither a hung command nor a daemon it leaves behind holds up anything.
sub run {
    my ($port, $id, $command, $input) = @_;
    local $SIG{CHLD} = 'DEFAULT';
    my $base = "$dir/$id";
    open my $f, '>', "$base.in" or die "$base.in: $!";
    print $f $input;
    close $f;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN,  '<', "$base.in";
        open STDOUT, '>', "$base.out";
        open STDERR, '>', "$base.err";
        exec '/bin/sh', '-c', $command or exit 127;
    }
    waitpid $pid, 0;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    my ($out, $err) = (slurp("$base.out"), slurp("$base.err"));
    unlink map { "$base.$_" } qw(in out err);
    reply($port, sprintf "\ndone %d %d %d %d\n%s%s", $id, $status, length $out, length $err, $out, $err);
}

my $node;
select undef, undef, undef, 0.1 until $node = port_node();
open my $port, '+<:raw', $node or die "$node: $!";
slurp('/proc/sys/kernel/random/boot_id') =~ /(\S+)/;
reply($port, "\nhello $1\n");

for (;;) {
    next unless read_line($port) =~ /^run (\d+) (\d+) (\d+)$/;
    my ($id, $command, $input) = ($1, read_exactly($port, $2), read_exactly($port, $3));
    next if fork // die "fork: $!";
    run($port, $id, $command, $input);
    exit 0;
}
