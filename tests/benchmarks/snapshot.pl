#!/usr/bin/perl
# Prints what the guest has spent so far, as lines "NAME VALUE": the number of processes started; the CPU time of the machine,
# of PID 1 and of each service, in microseconds; the wake-ups and the memory of the processes in the arguments. The sum of the
# services' CPU time does not include this script.
use strict;
use warnings;

sub slurp {
    my ($path) = @_;
    open my $f, '<', $path or return '';
    local $/;
    my $text = <$f>;
    return defined $text ? $text : '';
}

sub usage {
    my ($group) = @_;
    return slurp("/sys/fs/cgroup/$group/cpu.stat") =~ /^usage_usec (\d+)/m ? $1 : 0;
}

my $stat = slurp('/proc/stat');
print "processes $1\n" if $stat =~ /^processes (\d+)/m;
# These fields of the line "cpu" are in hundredths of a second: user, nice, system, irq, softirq.
print "machine ", ($1 + $2 + $3 + $4 + $5) * 10000, "\n" if $stat =~ /^cpu +(\d+) (\d+) (\d+) \d+ \d+ (\d+) (\d+)/m;
print "group.pid1 ", usage('init.scope'), "\n";
print "group.all ", usage('system.slice') - usage('system.slice/drivekeep-test-agent.service') + usage('init.scope'), "\n";
for my $path (glob '/sys/fs/cgroup/system.slice/*.service') {
    my ($name) = $path =~ m{([^/]+)\.service$};
    print "group.$name ", usage("system.slice/$name.service"), "\n";
}

# Adds up all processes of the same name, since a service may have several processes.
my (%wanted, %sum);
$wanted{$_} = 1 for @ARGV;
exit 0 unless %wanted;
for my $path (glob '/proc/[0-9]*') {
    my $name = slurp("$path/comm");
    chomp $name;
    next unless $wanted{$name};
    for my $task (glob "$path/task/*/status") {
        my $status = slurp($task);
        $sum{"wakeups.$name"} += $1 while $status =~ /^voluntary_ctxt_switches:\s+(\d+)/mg;
    }
    my $memory = slurp("$path/smaps_rollup");
    $sum{"rss.$name"} += $1 if $memory =~ /^Rss:\s+(\d+)/m;
    $sum{"pss.$name"} += $1 if $memory =~ /^Pss:\s+(\d+)/m;
}
print "$_ $sum{$_}\n" for sort keys %sum;
