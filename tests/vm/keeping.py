"""What the scenarios about drivekeep itself have in common: drives on one controller, a file, and how to ask the guest."""
import contextlib
import json
import pathlib
import shutil
import tempfile

from drives.hba import Hba
from drives.model import AtaDrive
from drives.usb import UsbDisk
from scenario import Scenario

CONF = "/etc/drivekeep/drivekeep.conf"
MODEL = "DRIVEKEEP TESTDISK"
OURS = "keep-"      # the workers' names, as the drives' logs have them


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
                arguments += disk.qemu_args()
            yield hba, arguments

    def drive(self, serial, **features):
        return AtaDrive(model=MODEL, serial=serial, **features)

    # Asking the guest

    def settle(self, machine, timeout=300):
        """Until the system is up and drivekeep has no visit under way."""
        machine.wait_running(timeout)
        machine.run("udevadm settle", timeout)
        machine.wait_until("systemctl is-active --quiet drivekeep && "
                           "! systemctl show -P StatusText drivekeep | grep -q visited && "
                           "systemctl show -P StatusText drivekeep | grep -q drive", timeout)

    def node(self, machine, serial):
        return machine.run(f"readlink -f {by_id(serial)}").stdout.strip()

    def status(self, machine, *drives):
        """drivekeep's word on drives, by serial: {serial: {setting: {...}}}."""
        result = machine.run(f"drivekeep status --json {' '.join(drives)}", check=False)
        return {drive["serial"]: {s["name"]: s for s in drive["settings"]} for drive in json.loads(result.stdout)}

    def records(self, machine, **fields):
        """The journal's records of this boot with these fields, as dicts, oldest first."""
        matches = " ".join(f"{name}={value}" for name, value in fields.items())
        out = machine.run(f"journalctl -b -o json --no-pager {matches}").stdout
        return [json.loads(line) for line in out.splitlines()]

    def verdict(self, machine, serial, setting):
        found = self.records(machine, DRIVEKEEP_SERIAL=serial, DRIVEKEEP_SETTING=setting)
        return found[-1]["DRIVEKEEP_VERDICT"] if found else None
