"""Drives in USB docks: matched by what they are themselves, through bridges with the faults of real ones."""
import json

from keeping import CONF, Keeping, ours

FILE = """
drives = (
  { match = { transport = "usb"; };      apm = 64; },
  { match = { serial = "SN-GOOD"; };     apm = 101; },
  { match = { serial = "SN-MUTE"; };     apm = 102; },
  { match = { serial = "SN-TWELVE"; };   apm = 103; },
  { match = { serial = "SN-CACHE"; };    apm = 104; },
  { match = { serial = "SN-FIXED"; };    apm = 105; },
  { match = { serial = "SN-CRASH"; };    apm = 106; },
  { match = { serial = "SN-SIXTEEN"; };  apm = 107; }
);
"""

# The drive, its bridge, and what becomes of it: verdict, the drive's own APM level.
DOCKS = {
    "GOOD": ({}, "applied", 101),
    "MUTE": ({"sense": "none"}, "applied", 102),
    "TWELVE": ({"sense": "none", "passthrough": (12,)}, "applied", 103),
    "SIXTEEN": ({"sense": "none", "passthrough": (16,)}, "applied", 107),
    "CACHE": ({"cache_identify": True}, "unverifiable", 104),
    "FIXED": ({"sense": "fixed"}, "applied", 105),
    "NONE": ({"passthrough": ()}, "unsupported", 128),
    "UNTRUSTED": ({"passthrough": (), "refusal": (0x24, 0x00)}, "unsupported", 128),
}


class Bridges(Keeping):
    """USB bridges without registers, with a memory, with (12) or (16) only, without pass-through, and one that crashes"""

    def run(self):
        drives = {name: self.drive(f"SN-{name}", apm=128) for name in [*DOCKS, "CRASH"]}
        bridges = [(drives[name], {"serial": f"DOCK-{name}", **options}) for name, (options, _, _) in DOCKS.items()]
        crash = (drives["CRASH"], {"serial": "DOCK-CRASH", "passthrough": (12,), "unknown": "reset", "plugged": False})
        with self.drives(usb=[*bridges, crash]) as (_, arguments), \
             self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.check_verdicts(machine, drives)
            self.check_identity(machine)
            self.check_memory(machine)
            self.check_restart(machine, drives["SIXTEEN"])
            self.check_late_start(machine, drives["SIXTEEN"])
            self.check_crash(machine, drives["CRASH"])

    def records_of_docks(self, machine):
        """drivekeep's word on the drives, by the serial number of the dock."""
        return {each["dock_serial"] or each["serial"]: each for each in self.all_status(machine) if each["settings"]}

    @staticmethod
    def apm(record):
        return next(each for each in record["settings"] if each["name"] == "apm")

    def dock(self, name):
        return next(dock for dock in self.docks if dock.bridge.serial == f"DOCK-{name}")

    def check_verdicts(self, machine, drives):
        found = self.records_of_docks(machine)
        for name, (_, verdict, level) in DOCKS.items():
            record = found.get(f"DOCK-{name}") or found.get(f"SN-{name}")
            self.claim(f"{name}: is known", record)
            if not record:
                continue
            self.equal(f"{name}: the verdict", self.apm(record)["verdict"], verdict)
            self.equal(f"{name}: the drive itself has", drives[name]["apm"], level)
        cache = found.get("DOCK-CACHE") or found["SN-CACHE"]
        self.match("CACHE: what is known is told", self.apm(cache)["reason"], "the bridge (cached them|appears to answer IDENTIFY from its cache)")

    def check_identity(self, machine):
        """udev asks by (12), and newer ones take an answer without registers."""
        self.no_match("SIXTEEN: udev knows the bridge alone",
                      machine.run("udevadm info -q property /dev/disk/by-id/usb-*DOCK-SIXTEEN-0:0").stdout, "^ID_ATA=1$")
        found = self.records_of_docks(machine)
        for name in ("MUTE", "TWELVE", "SIXTEEN"):
            record = found.get(f"DOCK-{name}", {})
            self.equal(f"{name}: status has the drive's serial number and the dock's",
                       (record.get("serial"), record.get("dock_serial")), (f"SN-{name}", f"DOCK-{name}"))
            listed = {each["serial"]: each for each in json.loads(machine.run("drivekeep list --json").stdout)["drives"]}
            self.equal(f"{name}: so has list", listed.get(f"SN-{name}", {}).get("dock_serial"), f"DOCK-{name}")
            planned = machine.run(f"drivekeep plan SN-{name}", check=False)
            self.match(f"{name}: plan finds it by the drive's serial number", planned.stdout, "apm")

    def check_memory(self, machine):
        before = {name: dict(self.dock(name).bridge.opcodes) for name in DOCKS}
        self.equal("TWELVE: (16) was tried once", before["TWELVE"].get(0x85), 1)
        self.equal("NONE: and here too", before["NONE"].get(0x85), 1)
        machine.run("drivekeep apply", 120, check=False)
        after = {name: dict(self.dock(name).bridge.opcodes) for name in DOCKS}
        self.equal("TWELVE: not again in this attach", after["TWELVE"].get(0x85), 1)
        for name in ("NONE", "UNTRUSTED"):
            self.equal(f"{name}: nothing is tried again", [after[name].get(op) for op in (0x85, 0xa1)],
                       [before[name].get(op) for op in (0x85, 0xa1)])

    def check_restart(self, machine, drive):
        mark = drive.log.mark()
        machine.run("systemctl restart drivekeep", 120)
        self.settle(machine)
        record = self.records_of_docks(machine).get("DOCK-SIXTEEN", {})
        self.equal("a restart of the service forgets nothing", record.get("serial"), "SN-SIXTEEN")
        self.claim("and nobody asks again who it is", len(ours(drive, mark, command=0xec)) <= 1)

    def check_late_start(self, machine, drive):
        """The service finds a drive that is there already, and nothing is known of it: it takes two visits."""
        machine.run("systemctl stop drivekeep; rm -rf /run/drivekeep/drives")
        machine.run("hdparm -B 200 $(readlink -f /dev/disk/by-id/usb-*DOCK-SIXTEEN-0:0)", check=False)
        self.equal("SIXTEEN: another program sets it", drive["apm"], 200)
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        record = self.records_of_docks(machine).get("DOCK-SIXTEEN")
        self.equal("SIXTEEN: the drive that was in use is not taken for one that sleeps",
                   (record and self.apm(record)["verdict"], drive["apm"]), ("applied", 107))

    def check_crash(self, machine, drive):
        dock = self.dock("CRASH")
        mark = drive.log.mark()
        dock.plug()
        machine.wait_until("drivekeep status --json | grep -q forbidden", 120)
        self.settle(machine)
        self.equal("CRASH: it fell off the bus once", len(drive.log.since(mark, text="bridge reset")), 1)
        opcodes = dict(dock.bridge.opcodes)
        machine.run("drivekeep apply", 120, check=False)
        self.equal("and was sent nothing of that kind again", dock.bridge.opcodes[0x85], opcodes.get(0x85, 0))
        self.equal("not by asking for it either", len(drive.log.since(mark, text="bridge reset")), 1)
        self.fault("a bridge resets at an unknown opcode", "ATA PASS-THROUGH(16)", len(DOCKS) + 1, "forbidden")
        self.match("the reason is told", machine.run("drivekeep status", check=False).stdout, "failed at its first ATA command")
