"""Base class of the scenarios about drivekeep: drives on one controller, a configuration file, and queries of the guest's state."""
import contextlib
import json
import pathlib
import shutil
import tempfile
import time

from drives.hba import Hba
from drives.model import AtaDrive
from drives.usb import UsbDisk
from machine import PERL
from scenario import Scenario

CONF = "/etc/drivekeep/drivekeep.conf"
MODEL = "DRIVEKEEP TESTDISK"
WARP = 30
# Packages for the scenarios about metrics and alerts and for play.py, which share one image.
FLEET_PACKAGES = ("prometheus", "prometheus-node-exporter", "exim4-daemon-light", "bsd-mailx", "openssh-server", "openssh-client",
                  "man-db", "less", "nano", "bash-completion")
# Mount options that prevent delayed I/O of the kernel on a new ext4: the kernel zeroes no inode tables and reads no block bitmaps.
CALM = "noinit_itable,no_prefetch_block_bitmaps"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
OURS = "keep-"      # prefix of the workers' process names in the drives' logs

# settle() is the most frequent query, so it is written in Perl: a shell would start half a dozen programs, each of which costs the host
# some hundredths of a second.
SETTLE = r"""
sub no_visit { !grep { slurp($_) =~ /^STATE=(queued|visiting)/m } glob '/run/drivekeep/drives/*' }

sub settled { return no_visit() && system('/usr/lib/drivekeep-test/settled') == 0 && no_visit() }

sub settle {
    # A system that is up stays up, so the result is stored.
    unless (-e '/run/is-up') {
        system 'systemctl is-system-running --wait >/dev/null 2>&1';
        put('/run/is-up', '');
    }
    # The kernel probes the disk of a USB bridge one second after the bridge, and sends the disk's uevent after it has read the partition
    # table. "udevadm settle" waits for neither.
    my $disks = '/sys/bus/usb/devices/*:*/host*/target*/*:*/block/*/dev';
    pause(0.1) while $usb > grep { slurp($_) =~ /(\S+)/ && -e "/run/udev/data/b$1" } glob $disks;
    system 'udevadm', 'settle';
    pause(0.2) until settled();
}
"""

# Service watchdogs are off, because leaps shorten their time limits: on a host that is busy for three seconds, systemd would kill logind.
LEAP = fr"""
unless (-e '/run/leaps') {{
    system('modprobe warp && systemctl service-watchdogs no') == 0 or die 'time cannot leap';
    put('/run/leaps', '');
}}
sub leap {{
    my $usual = slurp('{CLOCK}');
    put('{CLOCK}', 'leap');
    put('/sys/module/warp/parameters/leap', shift);
    pause(0.2);
    put('{CLOCK}', $usual);
}}
"""

# The tracer's instance of tracefs. Only scenarios that use TRACING mount tracefs: the kernel needs some time to remove an instance, and this
# time is many times longer by the fast clock of warp().
TRACE = "/sys/kernel/tracing/instances/drivekeep"
TRACE_FILTER = f"{TRACE}/events/scsi/scsi_dispatch_cmd_start/filter"
# Succeeds while the tracer watches a drive. Reads the file `enable`, because the file `filter` still exists while the instance is being
# removed.
TRACES = f"grep -qsx 1 {TRACE}/events/scsi/scsi_dispatch_cmd_start/enable"
# Disables systemd's start and stop timeouts of units that may run something while the clock leaps or runs fast.
PATIENT = """for unit in {units}; do
        mkdir -p /usr/lib/systemd/system/$unit.service.d
        printf '[Service]\\nTimeoutStopSec=infinity\\nTimeoutStartSec=infinity\\n' > /usr/lib/systemd/system/$unit.service.d/clock.conf
done
"""
TRACING = "systemctl unmask sys-kernel-tracing.mount\n" + PATIENT.format(units="drivekeep drivekeep-tracer drivekeep-broker")

# Succeeds if {unit} has handled the last change of {file} and has ended. A path unit starts {unit} when the daemon creates {file}.
CHANGE_HANDLED = "! test -e /run/drivekeep/drives/{file} && systemctl show -P ActiveState {unit} | grep -qE 'inactive|failed'"

# A program whose output pipe is full. The program waits, so the daemon can still find its process.
HELD = "sh -c '(head -c 65536 /dev/zero; {}) | sleep 1000'"

NO_TIMER = r"! grep -h it_value /proc/$(systemctl show -P MainPID drivekeep)/fdinfo/* | grep -qvE '\(0, 0\)|\([0-9]{9,}, '"

# Packs all files of `meson install` into a tar archive, and removes them from the guest. If udev runs, its database must not contain the
# properties from drivekeep's rules.
LAY_ASIDE = """cd /
find usr etc var -xdev -name '*drivekeep*' ! -name 'drivekeep-test*' -prune > /root/installed
tar -cf /root/installed.tar -T /root/installed
xargs rm -r < /root/installed
journalctl --update-catalog
userdel drivekeep
[ ! -e /run/udev/control ] || { udevadm control --reload; udevadm trigger --action=add --subsystem-match=block; }
"""


def by_id(serial):
    return f"/dev/disk/by-id/ata-{MODEL.replace(' ', '_')}_{serial}"


def ours(drive, mark=0, **wanted):
    """Returns the commands that drivekeep sent to a drive: all pass-through commands except those of udev (ata_id)."""
    return [e for e in drive.log.since(mark, origin="passthrough", **wanted) if e.comm != "ata_id"]


def settings(drive, mark=0):
    """Returns the registers of drivekeep's commands that change a setting of a drive."""
    return [e.registers() for e in ours(drive, mark) if e.sets]


class Keeping(Scenario):
    """Base class, not itself a scenario: the runner runs only classes that a scenario file defines itself."""

    def __init__(self, image):
        super().__init__(image)
        self.docks = []

    @contextlib.contextmanager
    def drives(self, *drives, usb=(), name="hba0"):
        """Runs a controller with these drives, and a USB disk for each (drive, bridge arguments) of `usb`. Yields the controller and QEMU's
        arguments."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="dkd-", dir="/tmp"))
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            hba = stack.enter_context(Hba(directory / "hba", ports=max(len(drives), 1), name=name))
            for port, drive in enumerate(drives):
                if drive is not None:   # None leaves the port empty for a later attach()
                    hba.attach(port, drive)
            arguments = hba.qemu_args()
            for number, (drive, bridge) in enumerate(usb):
                disk = stack.enter_context(UsbDisk(directory / f"usb{number}", drive, name=f"usb{number}", **bridge))
                self.docks.append(disk)
                stack.callback(self.docks.remove, disk)
                arguments += disk.qemu_args()
            yield hba, arguments

    def drive(self, serial, **features):
        return AtaDrive(model=MODEL, serial=serial, **features)

    def clocks(self, machine):
        """Returns the host's and the guest's monotonic clock, in seconds."""
        return time.monotonic(), float(machine.run("cut -d ' ' -f 1 /proc/uptime").stdout)

    @contextlib.contextmanager
    def warp(self, machine, factor=WARP):
        """Makes the guest's clocks run `factor` times faster. Time limits of programs expire sooner by the same factor. The kernel's time
        limits for drives are multiplied by the factor."""
        usual = machine.run(f"modprobe warp factor={factor} && systemctl service-watchdogs no && cat {CLOCK}").stdout.strip()
        # With the usual time limits, the kernel would reset a drive when the host stalls for a second.
        limits = "for file in /sys/block/sd*/device/timeout /sys/block/sd*/device/eh_timeout; do echo $(($(cat $file) {})) > $file; done"
        machine.run(f"{limits.format(f'* {factor}')}; echo warp > {CLOCK}")
        try:
            yield
        finally:
            machine.run(f"echo {usual} > {CLOCK}; {limits.format(f'/ {factor}')}")

    def leap(self, machine, seconds, until=None, step=10):
        """Advances the guest's clock by `seconds` in steps. Waits before each step until no visit is under way, so that no timeout of a
        command or a visit expires, however busy the host is. Stops early when the function `until` returns true."""
        self.settle(machine)
        for _ in range(0, int(seconds), step):
            if until and until():
                return
            self.settle(machine, after=f"{LEAP}leap({step});")
        if until:
            machine.wait_until(until, 60)

    def let_timers_end(self, machine, seconds, step):
        """Advances the guest's clock until no timer of the service is set."""
        self.leap(machine, seconds, lambda: machine.run(NO_TIMER, check=False).status == 0, step)

    def hurry(self, machine, condition, step=2):
        """Advances the guest's clock by `step` seconds at a time, and by a minute at most, until a shell command succeeds in the guest. No
        drive may have a pending command meanwhile."""
        until = "system('/bin/sh', '-c', $condition) == 0"
        machine.run(f"{PERL}my $condition = slurp('/dev/stdin');{LEAP} for (1..{60 // step}) {{ last if {until}; leap({step}) }}", 120, data=condition)
        machine.wait_until(condition, 60)

    def unplug(self, machine, hba, port, serial):
        """Unplugs a drive and waits until the kernel has removed it, which takes ten seconds. No other drive may have a pending command."""
        gone = self.are_gone(machine, by_id(serial))
        hba.detach(port)
        self.hurry(machine, gone)

    def are_gone(self, machine, *nodes):
        """Returns a shell condition that is true when the kernel has removed the drives of these nodes or links. It is not enough that udev's
        links are gone: the kernel may still send a spin-down command, which would reach a drive newly plugged into the same port."""
        devices = machine.run("; ".join(f"name=$(readlink -f {node}); readlink -f /sys/class/block/${{name##*/}}/device" for node in nodes)).stdout.split()
        return f"! [ {' -o '.join(f'-e {each}' for each in (*nodes, *devices))} ]"

    # Queries of the guest's state

    def settle(self, machine, timeout=300, after=""):
        """Runs the Perl code in `after`. Then waits until the system is up and drivekeep has no visit under way."""
        machine.run(f"{PERL}my $usb = {sum(dock.plugged for dock in self.docks)};{SETTLE}{after}\nsettle();", timeout)

    def claim_stop(self, machine, when):
        """Claims that the service, which is now stopped, ended by itself before the unit's time limit. PID 1 would have killed the service
        after this limit."""
        shown = machine.run("systemctl show -p Result -p TimeoutStopUSec drivekeep.service").stdout
        self.equal(f"the service stops within 5 s {when}", sorted(shown.split()), ["Result=success", "TimeoutStopUSec=5s"])

    def node(self, machine, serial):
        return machine.run(f"readlink -f {by_id(serial)}").stdout.strip()

    def all_status(self, machine, *drives):
        """Returns the drives of `drivekeep status --json`: a list of dicts."""
        return json.loads(machine.run(f"drivekeep status --json {' '.join(drives)}", check=False).stdout)["drives"]

    def status(self, machine, *drives):
        """Returns the settings of `drivekeep status --json` as {serial: {setting: {...}}}."""
        return {drive["serial"]: {s["name"]: s for s in drive["settings"]} for drive in self.all_status(machine, *drives)}

    def records(self, machine, **fields):
        """Returns the journal's records of this boot that have these fields, as dicts, oldest first."""
        matches = " ".join(f"{name}={value}" for name, value in fields.items())
        out = machine.run(f"journalctl -b -o json --no-pager {matches}").stdout
        return [json.loads(line) for line in out.splitlines()]

    def verdict(self, machine, serial, setting):
        found = self.records(machine, DRIVEKEEP_SERIAL=serial, DRIVEKEEP_SETTING=setting)
        return found[-1]["DRIVEKEEP_VERDICT"] if found else None
