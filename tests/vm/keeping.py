"""What the scenarios about drivekeep itself have in common: drives on one controller, a file, and how to ask the guest."""
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
# Of the scenarios about metrics and alerts, and of the machine to play in: one image is enough for them.
FLEET_PACKAGES = ("prometheus", "prometheus-node-exporter", "exim4-daemon-light", "bsd-mailx", "openssh-server", "openssh-client", "man-db",
                  "less", "nano", "bash-completion")
# For mount: of its own accord the kernel neither zeroes inode tables of a new ext4 nor reads block bitmaps some time after the mount.
CALM = "noinit_itable,no_prefetch_block_bitmaps"
CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
OURS = "keep-"      # the workers' names, as the drives' logs have them

# In Perl, as nothing is asked more often: in a shell it would be half a dozen programs, each some hundredths of a second of work for the
# host.
SETTLE = r"""
sub rests { !grep { slurp($_) =~ /^STATE=(queued|visiting)/m } glob '/run/drivekeep/drives/*' }

sub settled { return rests() && system('/usr/lib/drivekeep-test/settled') == 0 && rests() }

sub settle {
    # Once it is up, it stays so.
    unless (-e '/run/is-up') {
        system 'systemctl is-system-running --wait >/dev/null 2>&1';
        put('/run/is-up', '');
    }
    # The kernel looks at what is behind a USB bridge a second after it has found the bridge, and tells udev of a disk once it has read
    # its partition table: "udevadm settle" waits for neither.
    my $disks = '/sys/bus/usb/devices/*:*/host*/target*/*:*/block/*/dev';
    pause(0.1) while $usb > grep { slurp($_) =~ /(\S+)/ && -e "/run/udev/data/b$1" } glob $disks;
    system 'udevadm', 'settle';
    pause(0.2) until settled();
}
"""

# For systemd's watchdogs, too, time runs: three seconds in which the host has something else to do would be the end of logind.
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

# Where the tracer works. The machines of the tests have no tracefs otherwise; the kernel needs its time to remove an instance, and with
# warp() the clock runs fast.
TRACE = "/sys/kernel/tracing/instances/drivekeep"
TRACE_FILTER = f"{TRACE}/events/scsi/scsi_dispatch_cmd_start/filter"
# The filter stays while the instance is being removed, when no drive is watched any more.
TRACES = f"grep -qsx 1 {TRACE}/events/scsi/scsi_dispatch_cmd_start/enable"
# For units in which something may run while the clock leaps or runs fast: no time limit of systemd's passes.
PATIENT = """for unit in {units}; do
        mkdir -p /usr/lib/systemd/system/$unit.service.d
        printf '[Service]\\nTimeoutStopSec=infinity\\nTimeoutStartSec=infinity\\n' > /usr/lib/systemd/system/$unit.service.d/clock.conf
done
"""
TRACING = "systemctl unmask sys-kernel-tracing.mount\n" + PATIENT.format(units="drivekeep drivekeep-tracer drivekeep-broker")

# What a path unit has started for a file of the daemon's has looked at the last change, and ended.
LOOKED = "! test -e /run/drivekeep/drives/{file} && systemctl show -P ActiveState {unit} | grep -qE 'inactive|failed'"

# A program whose output is not taken, so that it is still there when it is looked at: the pipe is full.
HELD = "sh -c '(head -c 65536 /dev/zero; {}) | sleep 1000'"

NO_TIMER = r"! grep -h it_value /proc/$(systemctl show -P MainPID drivekeep)/fdinfo/* | grep -qvE '\(0, 0\)|\([0-9]{9,}, '"

# All that `meson install` has put into the image is laid aside before systemd starts.
LAY_ASIDE = """cd /
find usr etc var -xdev -name '*drivekeep*' ! -name 'drivekeep-test*' -prune > /root/installed
tar -cf /root/installed.tar -T /root/installed
xargs rm -r < /root/installed
journalctl --update-catalog
userdel drivekeep
"""


def by_id(serial):
    return f"/dev/disk/by-id/ata-{MODEL.replace(' ', '_')}_{serial}"


def ours(drive, mark=0, **wanted):
    """The commands that drivekeep sent to a drive: all pass-through but udev's own (ata_id)."""
    return [e for e in drive.log.since(mark, origin="passthrough", **wanted) if e.comm != "ata_id"]


def settings(drive, mark=0):
    """Of these, the ones that set something, as registers."""
    return [e.registers() for e in ours(drive, mark) if e.sets]


class Keeping(Scenario):
    """Base class; not a scenario of its own (the runner takes only what a file defines itself)."""

    def __init__(self, image):
        super().__init__(image)
        self.docks = []

    @contextlib.contextmanager
    def drives(self, *drives, usb=(), name="hba0"):
        """The controller with these drives, and USB disks (drive, bridge arguments); yields what Machine needs."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="dkd-", dir="/tmp"))
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
            hba = stack.enter_context(Hba(directory / "hba", ports=max(len(drives), 1), name=name))
            for port, drive in enumerate(drives):
                if drive is not None:   # an empty port, for later
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
        """The host's clock and the guest's, in seconds."""
        return time.monotonic(), float(machine.run("cut -d ' ' -f 1 /proc/uptime").stdout)

    @contextlib.contextmanager
    def warp(self, machine):
        """The guest's clocks run thirty times faster; time limits of commands do so too, but for the kernel's own."""
        usual = machine.run(f"modprobe warp factor={WARP} && systemctl service-watchdogs no && cat {CLOCK}").stdout.strip()
        # A host that stalls for a second is no drive for the kernel to reset.
        limits = "for file in /sys/block/sd*/device/timeout /sys/block/sd*/device/eh_timeout; do echo $(($(cat $file) {})) > $file; done"
        machine.run(f"{limits.format(f'* {WARP}')}; echo warp > {CLOCK}")
        try:
            yield
        finally:
            machine.run(f"echo {usual} > {CLOCK}; {limits.format(f'/ {WARP}')}")

    def leap(self, machine, seconds, until=None, step=10):
        """So many seconds pass in the guest at once, in steps: before the next one whatever was due has begun and ended. As the service
        has no visit under way then, no time limit of a command's or a visit's passes, however busy the host is. With `until`, a
        function, no more than it takes until that returns something true."""
        self.settle(machine)
        for _ in range(0, int(seconds), step):
            if until and until():
                return
            self.settle(machine, after=f"{LEAP}leap({step});")
        if until:
            machine.wait_until(until, 60)

    def let_timers_end(self, machine, seconds, step):
        """A timer of the service's that was set before may still run out."""
        self.leap(machine, seconds, lambda: machine.run(NO_TIMER, check=False).status == 0, step)

    def hurry(self, machine, condition, step=2):
        """Until a shell command succeeds in the guest, or for a minute of the guest's, of which some seconds pass at once again and again.
        No drive may have a command meanwhile."""
        until = "system('/bin/sh', '-c', $condition) == 0"
        machine.run(f"{PERL}my $condition = slurp('/dev/stdin');{LEAP} for (1..{60 // step}) {{ last if {until}; leap({step}) }}", 120, data=condition)
        machine.wait_until(condition, 60)

    def unplug(self, machine, hba, port, serial):
        """Until the kernel has let go of the drive; it waits ten seconds for the link. No other drive may have a command."""
        gone = self.are_gone(machine, by_id(serial))
        hba.detach(port)
        self.hurry(machine, gone)

    def are_gone(self, machine, *nodes):
        """As a shell condition for later: the kernel has let go of the drives that these nodes, or links to nodes, are of now. When udev has
        forgotten one, the kernel has yet to spin it down, and that command would reach a drive that is plugged in there."""
        devices = machine.run("; ".join(f"name=$(readlink -f {node}); readlink -f /sys/class/block/${{name##*/}}/device" for node in nodes)).stdout.split()
        return f"! [ {' -o '.join(f'-e {each}' for each in (*nodes, *devices))} ]"

    # Asking the guest

    def settle(self, machine, timeout=300, after=""):
        """Until the system is up and drivekeep has no visit under way; `after` something else in Perl."""
        machine.run(f"{PERL}my $usb = {sum(dock.plugged for dock in self.docks)};{SETTLE}{after}\nsettle();", timeout)

    def stop_seconds(self, machine):
        """How long the service's last stop took, by PID 1's clock."""
        shown = machine.run("systemctl show -p ActiveExitTimestampMonotonic -p InactiveEnterTimestampMonotonic drivekeep.service").stdout
        stamps = dict(line.split("=") for line in shown.splitlines())
        return (int(stamps["InactiveEnterTimestampMonotonic"]) - int(stamps["ActiveExitTimestampMonotonic"])) / 1e6

    def claim_stop(self, machine, when):
        """README and the unit say five."""
        seconds = self.stop_seconds(machine)
        self.claim(f"it stops within 5 s {when}", 0 <= seconds <= 5, f"{seconds:.1f} s")

    def node(self, machine, serial):
        return machine.run(f"readlink -f {by_id(serial)}").stdout.strip()

    def all_status(self, machine, *drives):
        """drivekeep's word on drives: a list of dicts."""
        return json.loads(machine.run(f"drivekeep status --json {' '.join(drives)}", check=False).stdout)["drives"]

    def status(self, machine, *drives):
        """The same by serial: {serial: {setting: {...}}}."""
        return {drive["serial"]: {s["name"]: s for s in drive["settings"]} for drive in self.all_status(machine, *drives)}

    def records(self, machine, **fields):
        """The journal's records of this boot with these fields, as dicts, oldest first."""
        matches = " ".join(f"{name}={value}" for name, value in fields.items())
        out = machine.run(f"journalctl -b -o json --no-pager {matches}").stdout
        return [json.loads(line) for line in out.splitlines()]

    def verdict(self, machine, serial, setting):
        found = self.records(machine, DRIVEKEEP_SERIAL=serial, DRIVEKEEP_SETTING=setting)
        return found[-1]["DRIVEKEEP_VERDICT"] if found else None
