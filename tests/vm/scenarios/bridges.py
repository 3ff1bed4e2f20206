"""Drives in USB docks: rules match the drive's own identity, through bridges with the faults of real bridges."""
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

# {drive: (options of its bridge, verdict of apm, APM level of the drive after the first visit)}.
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

# A dock of QEMU with the driver uas. The quirk "t" makes the driver reject ATA commands, as it does for Seagate's bridges
# (Documentation/admin-guide/kernel-parameters.txt, usb-storage.quirks).
UAS = ("-blockdev", "driver=null-co,node-name=uas-file,size=67108864,read-zeroes=on", "-device", "qemu-xhci,id=uas-controller",
       "-device", "usb-uas,id=uas0,bus=uas-controller.0",
       "-device", "scsi-hd,bus=uas0.0,drive=uas-file,serial=SN-UAS")
QUIRK = "usb-storage.quirks=46f4:0003:t"
UAS_DISK = "/sys/bus/usb/drivers/uas/*:*/host*/target*:*/*:*/block/*"


class Bridges(Keeping):
    """Drives get the right verdicts behind USB bridges that return no registers, cache IDENTIFY, lack ATA PASS-THROUGH or crash"""

    def run(self):
        drives = {name: self.drive(f"SN-{name}", apm=128) for name in [*DOCKS, "CRASH"]}
        bridges = [(drives[name], {"serial": f"DOCK-{name}", **options}) for name, (options, _, _) in DOCKS.items()]
        crash = (drives["CRASH"], {"serial": "DOCK-CRASH", "passthrough": (12,), "unknown": "reset", "plugged": False})
        with self.drives(usb=[*bridges, crash]) as (_, arguments), \
             self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=[*arguments, *UAS], append=QUIRK) as machine:
            machine.wait_until(f"[ -e {UAS_DISK} ]", 120)
            self.settle(machine)
            self.check_verdicts(machine, drives)
            self.check_identity(machine)
            self.check_memory(machine)
            self.check_restart(machine, drives["SIXTEEN"])
            self.check_late_start(machine, drives["SIXTEEN"])
            self.check_crash(machine, drives["CRASH"])
            self.check_uas(machine)

    def records_of_docks(self, machine):
        """Returns {serial number: status} of all managed drives. For a drive in a dock, the key is the serial number of the dock."""
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
            self.claim(f"{name}: status has settings of the drive", record)
            if not record:
                continue
            self.equal(f"{name}: the verdict of apm is as expected", self.apm(record)["verdict"], verdict)
            self.equal(f"{name}: the drive has the expected APM level", drives[name]["apm"], level)
        hidden = {name: record.get("power_obstacle") for name in DOCKS
                  for record in [found.get(f"DOCK-{name}") or found.get(f"SN-{name}") or {}] if record.get("power_obstacle")}
        registers, commands = "the USB bridge returns no ATA registers", "the USB bridge passes no ATA commands"
        self.equal("status names the drives that report no power mode, and the cause", hidden,
                   dict.fromkeys(("MUTE", "TWELVE", "SIXTEEN"), registers) | dict.fromkeys(("NONE", "UNTRUSTED"), commands))
        cache = found.get("DOCK-CACHE") or found["SN-CACHE"]
        self.match("CACHE: the reason names the bridge's cache",
                   self.apm(cache)["reason"], "the bridge (cached them|appears to answer IDENTIFY from its cache)")

    def check_identity(self, machine):
        """udev identifies a drive behind a bridge by ATA PASS-THROUGH(12). Newer versions of udev accept an answer without registers."""
        self.no_match("SIXTEEN: udev identifies only the bridge, not the ATA drive",
                      machine.run("udevadm info -q property /dev/disk/by-id/usb-*DOCK-SIXTEEN-0:0").stdout, "^ID_ATA=1$")
        found = self.records_of_docks(machine)
        for name in ("MUTE", "TWELVE", "SIXTEEN"):
            record = found.get(f"DOCK-{name}", {})
            self.equal(f"{name}: status has the serial numbers of the drive and of the dock",
                       (record.get("serial"), record.get("dock_serial")), (f"SN-{name}", f"DOCK-{name}"))
            listed = {each["serial"]: each for each in json.loads(machine.run("drivekeep list --json").stdout)["drives"]}
            self.equal(f"{name}: list has the serial numbers of the drive and of the dock",
                       listed.get(f"SN-{name}", {}).get("dock_serial"), f"DOCK-{name}")
            planned = machine.run(f"drivekeep plan SN-{name}", check=False)
            self.match(f"{name}: plan finds the drive by its own serial number", planned.stdout, "apm")

    def check_memory(self, machine):
        before = {name: dict(self.dock(name).bridge.opcodes) for name in DOCKS}
        self.equal("TWELVE: the bridge got ATA PASS-THROUGH(16) once", before["TWELVE"].get(0x85), 1)
        self.equal("NONE: the bridge got ATA PASS-THROUGH(16) once", before["NONE"].get(0x85), 1)
        machine.run("drivekeep apply", 120, check=False)
        after = {name: dict(self.dock(name).bridge.opcodes) for name in DOCKS}
        self.equal("TWELVE: apply does not send ATA PASS-THROUGH(16) again", after["TWELVE"].get(0x85), 1)
        for name in ("NONE", "UNTRUSTED"):
            self.equal(f"{name}: apply sends no ATA PASS-THROUGH again", [after[name].get(op) for op in (0x85, 0xa1)],
                       [before[name].get(op) for op in (0x85, 0xa1)])

    def check_restart(self, machine, drive):
        mark = drive.log.mark()
        machine.run("systemctl restart drivekeep", 120)
        self.settle(machine)
        record = self.records_of_docks(machine).get("DOCK-SIXTEEN", {})
        self.equal("SIXTEEN: the service still knows the drive's serial number after a restart", record.get("serial"), "SN-SIXTEEN")
        self.claim("SIXTEEN: the restart leads to at most one IDENTIFY", len(ours(drive, mark, command=0xec)) <= 1)

    def check_late_start(self, machine, drive):
        """A service that starts without stored data about an attached drive needs two visits to it."""
        machine.run("systemctl stop drivekeep; rm -rf /run/drivekeep/drives")
        machine.run("hdparm -B 200 $(readlink -f /dev/disk/by-id/usb-*DOCK-SIXTEEN-0:0)", check=False)
        self.equal("SIXTEEN: hdparm sets another APM level", drive["apm"], 200)
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        record = self.records_of_docks(machine).get("DOCK-SIXTEEN")
        self.equal("SIXTEEN: a drive with recent I/O is treated as active and gets its setting",
                   (record and self.apm(record)["verdict"], drive["apm"]), ("applied", 107))

    def check_crash(self, machine, drive):
        dock = self.dock("CRASH")
        mark = drive.log.mark()
        dock.plug()
        machine.wait_until("drivekeep status --json | grep -q forbidden", 120)
        self.settle(machine)
        self.equal("CRASH: the bridge has reset once", len(drive.log.since(mark, text="bridge reset")), 1)
        opcodes = dict(dock.bridge.opcodes)
        machine.run("drivekeep apply", 120, check=False)
        self.equal("CRASH: apply does not send ATA PASS-THROUGH(16) again", dock.bridge.opcodes[0x85], opcodes.get(0x85, 0))
        self.equal("CRASH: apply does not cause another reset of the bridge", len(drive.log.since(mark, text="bridge reset")), 1)
        self.fault("a bridge resets at an unknown opcode", "ATA PASS-THROUGH(16)", len(DOCKS) + 1, "forbidden")
        self.match("CRASH: status shows the reason", machine.run("drivekeep status", check=False).stdout, "failed during its first ATA command")

    def check_uas(self, machine):
        name = machine.run(f"basename {UAS_DISK}").stdout.strip()
        self.match("UAS: status says why the drive reports no power mode, and how to find the remedy",
                   machine.run(f"drivekeep status {name}", check=False).stdout,
                   rf"{name}: reports no power mode: the uas driver blocks ATA commands; .*; 'drivekeep show {name}' names the remedy")
        remedy = r"usb-storage\.quirks=46f4:0003:u .* slower \(no command queueing\)"
        # QEMU's disk would answer "invalid command operation code".
        self.match("UAS: the kernel's driver rejects ATA PASS-THROUGH(16)", machine.run(
            f"sg_raw -r 512 /dev/{name} 85 08 0e 00 00 00 01 00 00 00 00 00 00 00 ec 00 2>&1", check=False).stdout, "(?i)invalid field in cdb")
        for line in (f"status -v {name}", f"show --setting=apm {name}", "check"):
            self.match(f"UAS: drivekeep {line} names the remedy and its cost", machine.run(f"drivekeep {line}", check=False).stdout, remedy)
