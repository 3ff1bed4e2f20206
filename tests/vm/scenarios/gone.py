"""Drives are unplugged at each step of a visit, replaced by other drives, or plugged and unplugged repeatedly."""
import contextlib
import time

from faulty import Faulty
from keeping import CONF, by_id, ours, settings

STEPS = {   # command at which the drive hangs and is pulled: (fault, verdict of apm at the next visit)
    "CHECK POWER MODE": ({"command": 0xE5}, "applied"),
    "IDENTIFY DEVICE": ({"command": 0xEC}, "applied"),
    # The write may have made the drive vanish. A harmless setting is still written again after the drive has vanished once.
    "SET FEATURES": ({"command": 0xEF, "feature": 0x05}, "applied"),
    "IDENTIFY, read back": ({"command": 0xEC, "skip": 1}, "applied"),
}
COLD = {"apm": 128, "lookahead": False}
FLAPS = 25


class Gone(Faulty):
    """Drives that are pulled at each step of a visit, or replugged every 200 ms, get all settings later; so do drives that replace them"""

    def run(self):
        self.sound = self.drive("SN-OK", **COLD)
        self.pulled = {step: self.drive(f"SN-P{i}", **COLD) for i, step in enumerate(STEPS)}
        self.swapped, self.other = self.drive("SN-OLD", **COLD), self.drive("SN-NEW", **COLD)
        self.flapping = self.drive("SN-FLAP", **COLD)
        drives = [self.sound, *self.pulled.values(), self.swapped]
        dock = (self.flapping, {"serial": "DOCKFLAP", "plugged": False})
        with contextlib.ExitStack() as stack:
            hba, arguments = stack.enter_context(self.drives(*drives, usb=[dock]))
            machine = stack.enter_context(self.machine(files={CONF: self.file({"SN-*": 100, "SN-NEW": 77})},
                                                       setup="systemctl enable drivekeep", extra_args=arguments))
            machine.wait_until(lambda: all(d["apm"] == 100 for d in drives), 240)
            self.settle(machine)
            self.check_gone(machine, hba, drives)
            self.check_back(machine, hba, drives)
            self.check_flaps(machine)

    def check_gone(self, machine, hba, drives):
        machine.push(CONF, self.file({"SN-*": 101, "SN-NEW": 77}))
        marks = {drive: drive.log.mark() for drive in drives}
        gone = self.are_gone(machine, *(by_id(drive.serial) for drive in drives if drive is not self.sound))
        hung = []
        for step, drive in [*self.pulled.items(), ("SET FEATURES", self.swapped)]:
            fault, _ = STEPS[step]
            drive.inject("never", origin="passthrough", times=None, **fault)
            hung.append((drive, fault.get("skip", 0) + 1, {k: v for k, v in fault.items() if k != "skip"}))
        begun = time.monotonic()
        machine.start("systemctl reload drivekeep")
        # Each drive is unplugged as soon as it hangs, since the kernel's time limit for the command is 15 s.
        for drive, number, fault in hung:
            drive.log.wait(marks[drive], 60, number=1, fault="never", status=None, **fault)
            hba.detach(drives.index(drive))
        self.sound.log.wait(marks[self.sound], 60, number=2, command=0xEC, origin="passthrough")
        self.delay = time.monotonic() - begun
        self.equal("the drive that stays attached has the new APM level", self.sound["apm"], 101)
        for step, drive in [*self.pulled.items(), ("another drive", self.swapped)]:
            machine.wait_until(f"journalctl -b -o cat DRIVEKEEP_SERIAL={drive.serial} DRIVEKEEP_SETTING=apm "
                               "DRIVEKEEP_VERDICT=vanished | grep -q .", 150)
            self.claim(f"unplugged at {step}: the verdict is vanished", True)
            self.claim(f"unplugged at {step}: the drive gets at most four commands", len(ours(drive, marks[drive])) <= 4)
        # The service collects udev's events, so it handles the last of them after the kernel has removed the drives.
        pulled = "|".join(drive.serial for drive in drives if drive is not self.sound)
        machine.wait_until(f"{gone} && ! drivekeep status --json | grep -qE '{pulled}'", 120)
        self.equal("status lists none of the pulled drives", [s for s in self.status(machine) if s and s.startswith("SN-")], ["SN-OK"])

    def check_back(self, machine, hba, drives):
        mark = self.sound.log.mark()
        for port, drive in enumerate(drives):
            drive.faults.clear()
            if drive is self.swapped:
                hba.attach(port, self.other)
            elif drive is not self.sound:
                hba.attach(port, drive)
        for step, drive in self.pulled.items():
            _, verdict = STEPS[step]
            machine.wait_until(lambda: self.status(machine).get(drive.serial, {}).get("apm", {}).get("verdict") == verdict, 120, 1)
            self.equal(f"unplugged at {step}, then plugged again: apm is {verdict}, and both settings are in effect",
                       (drive["apm"], drive["lookahead"]),
                       (101, True))
            self.fault("unplugged in mid-visit, plugged again", step, len(drives), f"vanished, then {verdict}", self.delay)
        machine.wait_until(lambda: self.other["apm"] == 77, 60)
        self.settle(machine)
        self.equal("another drive at the same port gets its own APM level, not that of the pulled drive",
                   {e.count for e in ours(self.other, command=0xEF, feature=0x05)}, {77})
        self.fault("unplugged in mid-visit, replaced by another drive", "SET FEATURES", len(drives), "vanished, then applied", self.delay)
        self.equal("the drive that stays attached gets no command when the pulled drives are plugged again", ours(self.sound, mark), [])
        machine.wait_until("! cat /var/lib/drivekeep/* 2>/dev/null | grep -q .", 60)
        self.claim("no setting is quarantined, and no note is left", True)

    def check_flaps(self, machine):
        dock = self.docks[0]
        mark, quiet = self.flapping.log.mark(), self.sound.log.mark()
        for _ in range(FLAPS):
            dock.plug()
            time.sleep(0.2)
            dock.unplug()
            time.sleep(0.2)
        during = len(settings(self.flapping, mark))
        dock.plug()
        machine.wait_until(lambda: self.flapping["apm"] == 101 and self.flapping["lookahead"], 180)
        self.settle(machine)
        verdict = self.status(machine)["SN-FLAP"]["apm"]["verdict"]
        self.equal(f"after {FLAPS} flaps, 200 ms apart, the drive has its APM level", (self.flapping["apm"], verdict), (101, "applied"))
        self.claim("the drive gets at most one setting per flap, and at most two settings afterwards",
                   len(settings(self.flapping, mark)) <= 2 + during <= 2 + FLAPS,
                   str(settings(self.flapping, mark)))
        self.equal("the drive that stays attached gets no command during the flaps", ours(self.sound, quiet), [])
        self.claim("the service has not restarted",
                   machine.run("systemctl show -P NRestarts drivekeep").stdout == "0\n")
        self.fault("flaps every 200 ms", "USB plug", len(self.pulled) + 3, verdict)
