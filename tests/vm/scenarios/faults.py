"""Faults in the answers of drives. Each fault hits one drive among healthy drives. The scenario checks the verdict on that drive, and that
the healthy drives get their usual commands."""
import contextlib
import dataclasses

from drives.identify import text
from faulty import Faulty
from keeping import CONF, ours

SET_APM = {"command": 0xEF, "feature": 0x05, "origin": "passthrough"}
IDENTIFY = {"command": 0xEC, "origin": "passthrough"}
SOUND = [f"SN-OK{i}" for i in range(4)]
AT_BOOT = 100


def serial_words(serial):
    words = {}
    text(words, 10, 20, serial.rjust(20))
    return words


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """`fault` occurs in the visit that writes apm. `verdict` is the verdict of this visit. `after` is the verdict of the next visit, which
    has no fault. If `writes` is 0, the visit with the fault ends before it writes apm."""
    name: str
    where: str
    fault: dict
    verdict: str
    after: str = "applied"
    usb: dict = None        # options of the USB bridge; None: a SATA drive
    attention: tuple = ()   # unit attention that the bridge reports first
    writes: int = 1         # number of commands that set apm in the visit with the fault
    slow: bool = False      # the visit takes long, so its verdict is checked after the last case has run


CASES = [
    Case("command aborted", "SET FEATURES", {"kind": "abort", **SET_APM}, "refused"),
    Case("device fault", "SET FEATURES", {"kind": "df", **SET_APM}, "refused"),
    Case("accepted and forgotten", "SET FEATURES", {"kind": "ignore", **SET_APM}, "ignored"),
    Case("hang for 5 s", "SET FEATURES", {"kind": "hang", "seconds": 5, **SET_APM}, "applied", "unchanged", slow=True),
    Case("hang for 40 s", "SET FEATURES", {"kind": "hang", "seconds": 40, **SET_APM}, "failed", slow=True),
    Case("hang for ever", "SET FEATURES", {"kind": "never", **SET_APM}, "failed", slow=True),
    Case("IDENTIFY fails", "IDENTIFY DEVICE", {"kind": "abort", "times": None, **IDENTIFY}, "refused", writes=0),
    Case("IDENTIFY with a wrong checksum", "IDENTIFY DEVICE", {"kind": "corrupt", "times": None, **IDENTIFY}, "failed", writes=0),
    Case("IDENTIFY changes: another drive", "IDENTIFY DEVICE",
         {"kind": "lie", "words": serial_words("SN-STRANGER"), "times": None, **IDENTIFY}, "vanished", writes=0),
    Case("IDENTIFY changes after the write", "IDENTIFY, read back",
         {"kind": "lie", "words": serial_words("SN-STRANGER"), "times": None, "skip": 1, **IDENTIFY}, "vanished", "unchanged"),
    Case("IDENTIFY lies: no such feature", "IDENTIFY DEVICE",
         {"kind": "lie", "words": {83: 0x4000, 86: 0x8000}, "times": None, **IDENTIFY}, "unsupported", writes=0),
    Case("IDENTIFY lies: the old value", "IDENTIFY, read back",
         {"kind": "lie", "words": {91: AT_BOOT}, "times": None, **IDENTIFY}, "ignored", "unchanged"),
    Case("wrong sense (medium error)", "bridge, SET FEATURES", {"kind": "sense", "sense": (3, 0x11, 0), **SET_APM}, "refused", usb={}),
    Case("fixed-format sense", "bridge, SET FEATURES", {"kind": "abort", **SET_APM}, "refused", usb={"sense": "fixed"}),
    Case("missing sense", "bridge, every command", {}, "applied", "unchanged", usb={"sense": "none"}),
    # The result of the command is unknown: the bridge returns no status, and the IDENTIFY data is unchanged. It might
    # come from a cache of the bridge.
    Case("missing sense, command accepted and forgotten", "bridge, SET FEATURES", {"kind": "ignore", **SET_APM}, "unverifiable",
         "unverifiable", usb={"sense": "none"}),
    # The drive executes the command without reporting success. The next visit reads the new value.
    Case("all-zero sense", "bridge, SET FEATURES", {"kind": "empty", **SET_APM}, "failed", "unchanged", usb={}),
    Case("unit attention", "bridge, before the visit", {}, "applied", "unchanged", usb={}, attention=(0x2F, 0x00)),
]

class Faults(Faulty):
    """Aborts, hangs, wrong data and bad sense get the right verdict, the next visit corrects the value, and healthy drives do not wait"""

    def run(self):
        self.sound = [self.drive(serial, apm=128, lookahead=False) for serial in SOUND]
        self.bad = {case: self.drive(f"SN-F{i:02}", apm=128, lookahead=False) for i, case in enumerate(CASES)}
        self.values = {"SN-*": AT_BOOT}
        sata = self.sound + [drive for case, drive in self.bad.items() if case.usb is None]
        usb = [(drive, {"serial": f"DOCK{drive.serial}", **case.usb}) for case, drive in self.bad.items() if case.usb is not None]
        with contextlib.ExitStack() as stack:
            _, first = stack.enter_context(self.drives(*sata[:8], usb=usb))
            self.bridge_of = {dock.drive.serial: dock.bridge for dock in self.docks}
            _, second = stack.enter_context(self.drives(*sata[8:], name="hba1"))
            machine = stack.enter_context(self.machine(files={CONF: self.file(self.values)}, setup="systemctl enable drivekeep",
                                                       extra_args=first + second))
            drives = [*self.sound, *self.bad.values()]
            machine.wait_until(lambda: all(d["apm"] == AT_BOOT and d["lookahead"] for d in drives), 240)
            self.settle(machine)
            self.node_of = self.nodes(machine, drives)
            self.equal("status has every drive's own serial number", sorted(self.node_of), sorted(d.serial for d in drives))
            before = self.fill(machine, self.node_of.values())
            seen = self.strike_all(machine)
            self.check_after(machine, seen, before)

    def strike_all(self, machine):
        """Runs all cases. Returns {case: (verdict, seconds until the healthy drives got their new value)}. A drive that hangs may still
        hang in the next cases."""
        seen, late = {}, {}
        for number, (case, drive) in enumerate(self.bad.items()):
            mark, delay = self.strike(machine, case, drive, AT_BOOT + 1 + number)
            if case.slow:
                late[case] = (mark, delay)
            else:
                seen[case] = (self.verdict_of(machine, case, drive, mark), delay)
        for case, (mark, delay) in late.items():
            seen[case] = (self.verdict_of(machine, case, self.bad[case], mark), delay)
        return seen

    def strike(self, machine, case, drive, value):
        """Gives the healthy drives and `drive` another value. Returns the mark in the log of `drive`, and the healthy drives' delay in
        seconds."""
        # Later blocks take precedence, so the block for `drive` follows the block for all drives.
        self.values |= {"SN-OK*": value, drive.serial: value}
        machine.push(CONF, self.file(self.values))
        marks = {d: d.log.mark() for d in self.sound}
        mark = drive.log.mark()
        if case.fault:
            drive.inject(**case.fault)
        if case.attention:
            self.bridge_of[drive.serial].attention(*case.attention)
        begun = drive.log.event(case.name).time
        machine.start("systemctl reload drivekeep")
        machine.wait_until(lambda: all(d["apm"] == value for d in self.sound), 120)
        done = [d.log.wait(m, 60, **SET_APM) for d, m in marks.items()]
        for d, m in marks.items():
            d.log.wait(m, 60, number=2, **IDENTIFY)
        self.equal(f"{case.name}: each healthy drive gets the usual four commands",
                   {tuple(e.registers()[:5] for e in ours(d, m)) for d, m in marks.items()},
                   {("E5/00", "EC/00", "EF/05", "EC/00")})
        return mark, max(entries[0].time for entries in done) - begun

    def verdict_of(self, machine, case, drive, mark):
        node = self.node_of[drive.serial]
        machine.wait_until(lambda: self.record(machine, drive)["wanted"] == str(self.values[drive.serial]) and
                           self.idle(machine, node), 180, 1)
        record = self.record(machine, drive)
        self.equal(f"{case.name}: the verdict is as expected", record["verdict"], case.verdict)
        self.note(f"{case.name}: {record['reason'] or record['verdict']}")
        sent = ours(drive, mark)
        self.equal(f"{case.name}: apm is sent the expected number of times", len([e for e in sent if e.registers().startswith("EF/05")]),
                   case.writes)
        self.claim(f"{case.name}: the drive gets at most five commands", len(sent) <= 5, "\n".join(map(str, sent)))
        return record["verdict"]

    def check_after(self, machine, seen, before):
        for drive in self.bad.values():
            drive.faults.clear()
        # The drives are read before `drivekeep apply`: a drive whose bridge returns no registers counts as active only after recent I/O.
        after = self.checksums(machine, self.node_of.values())
        machine.run("drivekeep apply", 240, check=False)
        self.settle(machine)
        self.equal("no data is lost on any drive", after, before)
        for case, drive in self.bad.items():
            self.equal(f"{case.name}: after the next visit the APM level and the verdict are as expected",
                       (drive["apm"], self.record(machine, drive)["verdict"]),
                       (self.values[drive.serial], case.after))
            node = self.node_of[drive.serial]
            self.fault(case.name, case.where, len(self.node_of), seen[case][0], seen[case][1], after[node] != before[node])

    def idle(self, machine, node):
        return self.all_status(machine, node)[0]["state"] == "idle"

    def record(self, machine, drive):
        [settings] = self.status(machine, self.node_of[drive.serial]).values()
        return settings["apm"]
