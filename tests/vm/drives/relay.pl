# Relays each TCP connection to port 4420 of the loopback interface to a free virtio-serial port.
use strict;
use warnings;
use IO::Socket::INET;

my %busy;    # PID of the child that relays a connection => its port
$SIG{CHLD} = 'DEFAULT';
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 4420, Listen => 8, ReuseAddr => 1)
    or die "cannot listen: $!\n";

while (my $peer = $listener->accept) {
    while ((my $gone = waitpid -1, 1) > 0) {
        delete $busy{$gone};
    }
    my %taken = map { $_ => 1 } values %busy;
    my ($port) = grep { !$taken{$_} } sort glob '/dev/virtio-ports/org.drivekeep.nvme.*';
    if (!$port) {
        close $peer;
        next;
    }
    my $child = fork;
    if (!$child) {
        sysopen my $serial, $port, 2 or die "$port: $!\n";
        for (;;) {
            my $ready = '';
            vec($ready, fileno $_, 1) = 1 for $peer, $serial;
            select $ready, undef, undef, undef;
            for my $way ([$peer, $serial], [$serial, $peer]) {
                my ($from, $to) = @$way;
                next if !vec $ready, fileno $from, 1;
                my $got = sysread $from, my $data, 65536;
                exit 0 if !$got;
                while (length $data) {
                    my $sent = syswrite $to, $data;
                    exit 0 if !$sent;
                    substr $data, 0, $sent, '';
                }
            }
        }
    }
    $busy{$child} = $port;
    close $peer;
}
