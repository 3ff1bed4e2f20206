"""Base class of the scenarios that disturb the service in the middle of its visits."""
import contextlib
import time

from faulty import Faulty
from keeping import CONF, by_id

STEPS = {   # each drive hangs at a different step of its visit, so that one disturbance hits all steps
    "CHECK POWER MODE": {"command": 0xE5},
    "IDENTIFY DEVICE": {"command": 0xEC},
    "first SET FEATURES": {"command": 0xEF, "feature": {0xAA, 0x55}},
    "second SET FEATURES": {"command": 0xEF, "feature": 0x05},
    "IDLE (standby timer)": {"command": 0xE3},
    "IDENTIFY, read back": {"command": 0xEC, "skip": 1},
}
HANG = 14   # seconds that a command hangs at most; a command times out after 15 s
AFTER = 3   # seconds that the drives still hang after the blow, so that restarted processes also find hanging drives
FILE = 'drives = ( { match = { serial = "SN-*"; }; apm = %s; lookahead = %s; spindown_time = "%dmin"; } );\n'
RIGHT = {"applied", "unchanged", "unverifiable"}


class Striking(Faulty):
    """Base class, not itself a scenario."""

    @contextlib.contextmanager
    def struck(self):
        """Runs a machine with a sound drive and one drive for each step, all with settings. Claims at the end that no data is lost."""
        self.hanging = {step: self.drive(f"SN-K{i}", apm=128, lookahead=False) for i, step in enumerate(STEPS)}
        self.sound = self.drive("SN-OK", apm=128, lookahead=False)
        self.all = [self.sound, *self.hanging.values()]
        self.want = (100, True, 60)
        with contextlib.ExitStack() as stack:
            _, arguments = stack.enter_context(self.drives(*self.all))
            machine = stack.enter_context(self.machine(files={CONF: self.text()}, setup="systemctl enable drivekeep",
                                                       extra_args=arguments))
            machine.wait_until(self.have_wanted_values, 240)
            self.settle(machine)
            before = self.fill(machine, [by_id(d.serial) for d in self.all])
            yield machine
            lost = self.checksums(machine, list(before)) != before
            self.claim("no data is lost", not lost)
        self.faults = [(*row[:5], "SOME" if lost else "none", row[6]) for row in self.faults]

    def text(self):
        apm, lookahead, seconds = self.want
        return FILE % (apm, "true" if lookahead else "false", seconds // 60)

    def have_wanted_values(self):
        return all((d["apm"], d["lookahead"], d["standby_seconds"]) == self.want for d in self.all)

    def shows_wanted_values(self, machine):
        seen = self.all_status(machine)
        return all(each["state"] == "idle" for each in seen) and \
            sum(s["name"] == "apm" and s["wanted"] == str(self.want[0]) for each in seen for s in each["settings"]) == len(self.all) and \
            {s["verdict"] for each in seen for s in each["settings"]} <= RIGHT

    def want_other_values(self, machine):
        apm, lookahead, seconds = self.want
        self.want = (apm + 1, not lookahead, seconds + 60)
        machine.push(CONF, self.text())

    def strike(self, machine, event, blow):
        """Runs `blow` while each drive hangs at a different step. `blow` is a shell command, or a function called with the machine and the
        workers' PIDs."""
        machine.run("systemctl reset-failed drivekeep drivekeep-broker.service drivekeep-broker.socket")
        self.want_other_values(machine)
        marks, pids = {d: d.log.mark() for d in self.all}, []
        for step, drive in self.hanging.items():
            fault = dict(STEPS[step])
            if step.startswith("first"):
                fault["feature"] = 0xAA if self.want[1] else 0x55
            drive.inject("hang", origin="passthrough", seconds=HANG, **fault)
        started = self.sound.log.event(event).time
        machine.start("systemctl reload drivekeep")
        for drive in self.hanging.values():
            [entry] = drive.log.wait(marks[drive], 60, fault="hang", status=None)
            pids.append(entry.pid)
        waiting = [e for d in self.hanging.values() for e in d.log.since(marks[d], fault="hang", status=None)]
        self.equal(f"{event}: each drive hangs at its own step", len(waiting), len(STEPS))
        if callable(blow):
            blow(machine, pids)
        else:
            machine.run(blow)
        time.sleep(AFTER)
        for drive in self.hanging.values():
            drive.release()
        machine.wait_until(self.have_wanted_values, 180)
        delay = max(e.time for e in self.sound.log.since(marks[self.sound], command=0xE3, origin="passthrough")) - started
        # A setting whose worker died without a verdict gets a verdict from the next visit, some seconds later.
        machine.wait_until(lambda: self.shows_wanted_values(machine), 120, 1)
        seen = self.status(machine)
        self.claim(f"{event}: every drive has the wanted values, and status shows them", self.have_wanted_values())
        for step, drive in self.hanging.items():
            sent = [e.registers()[:5] for e in drive.log.since(marks[drive], origin="passthrough") if e.sets and e.command == 0xEF]
            self.equal(f"{event}, at {step}: no command with SET FEATURES is sent twice", len(sent), len(set(sent)))
            timers = len(drive.log.since(marks[drive], command=0xE3, origin="passthrough"))
            # The timer cannot be read back. If the worker is killed before it records the drive's answer, the timer is sent again.
            self.claim(f"{event}, at {step}: the standby timer is sent once or twice", 1 <= timers <= 2, str(timers))
            self.fault(event, step, len(self.all), "/".join(sorted({s["verdict"] for s in seen[drive.serial].values()})), delay)
        machine.wait_until("! cat /var/lib/drivekeep/* 2>/dev/null | grep -q .", 60)
        self.equal(f"{event}: no note is left", machine.run("cat /var/lib/drivekeep/* 2>/dev/null", check=False).stdout, "")
