"""Base class of the scenarios about power cuts."""
import time

from keeping import Keeping

NOTES = "/var/lib/drivekeep"
COLD = {"apm": 128, "lookahead": False, "wrv": False}
APM = {"command": 0xEF, "feature": 0x05}
VERIFY = {"command": 0xEF, "feature": 0x0B}     # write-read-verify, a dangerous setting
MODES = {"all": 0, "first": 1}
BLOCK = """  {{ match = {{ serial = "{serial}"; }}; apm = {apm}; lookahead = true; spindown_time = "20min";
    write_read_verify = "{verify}"; allow_dangerous = true; }}"""


class Cutting(Keeping):
    """Base class, not itself a scenario. Each drive has some harmless settings and one dangerous setting."""

    def victims(self, number):
        self.cut = [self.drive(f"SN-C{i}", **COLD) for i in range(number)]
        self.wanted = {drive: {"apm": 127, "verify": "all"} for drive in self.cut}
        return self.cut

    def blocks(self):
        return ",\n".join(BLOCK.format(serial=drive.serial, **wanted) for drive, wanted in self.wanted.items())

    def harmless(self, drive):
        return drive["apm"] == self.wanted[drive]["apm"] and drive["lookahead"] and drive["standby_seconds"] == 1200

    def dangerous(self, drive):
        return drive["wrv"] == MODES[self.wanted[drive]["verify"]]

    def wait_no_notes(self, machine, what):
        self.leap(machine, 60, lambda: machine.run(f"grep -qsE 'INTENDED|VISITING' {NOTES}/*", check=False).status, step=5)
        self.claim(f"no note is left {what}", True)

    def power_cut(self, machine, marks):
        """Cuts the power now. Returns for each drive the seconds since the first setting after its mark, and since the first dangerous
        setting after its mark. A number is None if there was no such setting."""
        now = time.monotonic()
        machine.power_cut()
        moments = {}
        for drive, mark in marks.items():
            sent = [e for e in drive.log.since(mark, origin="passthrough") if e.sets]
            verify = [e for e in sent if (e.command, e.feature) == (0xEF, 0x0B)]
            moments[drive] = tuple(now - found[0].time if found else None for found in (sent, verify))
        for drive in self.cut:
            drive.faults.clear()
            drive.power_cycle()
        return moments
