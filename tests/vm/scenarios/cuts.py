"""Ten power cuts, each with ten drives. Together they hit a hundred drives at different moments within twenty seconds after a write."""
import time

from cutting import NOTES, Cutting
from keeping import CONF, by_id

DRIVES = 10     # each drive's visit begins 0.1 s after that of the previous drive
TURNS = 10      # in each turn, the power cut comes 2 s later than in the previous turn
HEALTHY = 10    # seconds after which a drive has survived the write of a dangerous setting


class Cuts(Cutting):
    """100 drives lose power within 20 s after their first write: harmless settings are never quarantined, new dangerous settings are"""

    rare = True
    time_limit = 5400

    def run(self):
        with self.drives(*self.victims(DRIVES)) as (_, arguments), \
             self.machine(files={CONF: self.text()}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            moments = []
            for turn in range(TURNS):
                self.settle(machine)
                if turn > 0:
                    self.check(machine, turn, cut)
                machine.run("; ".join(f"drivekeep release {by_id(d.serial)}" for d in self.cut), check=False)
                self.settle(machine)
                machine.wait_until(f"! cat {NOTES}/* 2>/dev/null | grep -q .", 120)
                cut = self.cut_at(machine, turn)
                moments += [first for first, _ in cut.values() if first is not None]
                machine.power_on()
                machine.wait_boot()
            self.settle(machine)
            self.check(machine, TURNS, cut)
            self.note("seconds from the first write to the cut: " + " ".join(f"{m:.1f}" for m in sorted(moments)))
            self.claim("more than half of the power cuts come after the drive's first write", len(moments) > DRIVES * TURNS // 2)

    def text(self):
        return f"drives = (\n{self.blocks()}\n);\n"

    def cut_at(self, machine, turn):
        """Changes the wanted values of all drives, and cuts the power 2 * `turn` + 0.5 seconds after the first write."""
        for drive in self.cut:
            self.wanted[drive] = {"apm": 101 + turn, "verify": "first" if turn % 2 == 0 else "all"}
        marks = {drive: drive.log.mark() for drive in self.cut}
        for number, drive in enumerate(self.cut):
            if number > 0:
                drive.inject("hang", seconds=number / 10, origin="passthrough", command=0xE5)
        machine.push(CONF, self.text())
        machine.start("systemctl reload drivekeep")
        [first, *_] = self.cut[0].log.wait(marks[self.cut[0]], 60, origin="passthrough", command=0xEF)
        time.sleep(max(0, first.time + 2 * turn + 0.5 - time.monotonic()))
        return self.power_cut(machine, marks)

    def check(self, machine, turn, cut):
        """Checks the verdicts and the drives after the next boot."""
        seen = self.status(machine)
        for drive, (first, verify) in cut.items():
            when = "before its first write" if first is None else f"{first:.1f} s after its first write"
            verdicts = {name: s["verdict"] for name, s in seen[drive.serial].items()}
            dangerous = verdicts.pop("write_read_verify")
            self.claim(f"cut {turn}, {drive.serial}, {when}: all harmless settings are in effect",
                       self.harmless(drive) and not {"quarantined", "failed", "forbidden"} & set(verdicts.values()), str(verdicts))
            # The service writes a note shortly before it sends the setting, and may keep the note for longer than HEALTHY seconds. So the
            # setting is surely quarantined only if it was sent less than HEALTHY seconds before the power cut. Otherwise both results are
            # right.
            allowed = {"quarantined"} if verify is not None and verify < HEALTHY else {"quarantined", "applied", "unchanged"}
            self.claim(f"cut {turn}, {drive.serial}: the dangerous setting is {dangerous}", dangerous in allowed and
                       self.dangerous(drive) == (dangerous != "quarantined"), f"sent {verify} s before; {drive['wrv']}")
