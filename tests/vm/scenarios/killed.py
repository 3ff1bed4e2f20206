"""Daemon, workers and broker killed at every step of a visit; /run full; journald stuck."""
import contextlib
import json
import time

from faulty import Faulty
from keeping import CONF, by_id

STEPS = {   # each drive hangs at another one, so that one blow meets all of them
    "CHECK POWER MODE": {"command": 0xE5},
    "IDENTIFY DEVICE": {"command": 0xEC},
    "first SET FEATURES": {"command": 0xEF, "feature": {0xAA, 0x55}},
    "second SET FEATURES": {"command": 0xEF, "feature": 0x05},
    "IDLE (standby timer)": {"command": 0xE3},
    "IDENTIFY, read back": {"command": 0xEC, "skip": 1},
}
HANG = 12   # seconds; the kernel waits for 15
AFTER = 3   # seconds that the drives are busy after the blow, so that it meets whoever comes next, too
BROKEN = "/run/systemd/system/drivekeep-broker.service.d/broken.conf"
FILE = 'drives = ( { match = { serial = "SN-*"; }; apm = %s; lookahead = %s; spindown_time = "%dmin"; } );\n'
RIGHT = {"applied", "unchanged", "unverifiable"}
JOURNALD = "systemctl kill --kill-whom=main -s %s systemd-journald"
# Until its queue takes no more, by senders whose own buffers are not what is full.
FILL = r"""perl -MSocket -e 'for (;;) { my $n = 0; socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
connect($s, sockaddr_un("/run/systemd/journal/socket")) or die $!; $n++ while send($s, "MESSAGE=full\n", 64); $n or last }'"""


class Killed(Faulty):
    """SIGKILL for workers, daemon, broker at every step of a visit: all as wanted, nothing twice, no note left; /run full; journald stuck"""

    def run(self):
        self.hanging = {step: self.drive(f"SN-K{i}", apm=128, lookahead=False) for i, step in enumerate(STEPS)}
        self.sound = self.drive("SN-OK", apm=128, lookahead=False)
        self.all = [self.sound, *self.hanging.values()]
        self.want = (100, True, 60)
        with contextlib.ExitStack() as stack:
            _, arguments = stack.enter_context(self.drives(*self.all))
            machine = stack.enter_context(self.machine(files={CONF: self.text()}, setup="systemctl enable drivekeep",
                                                       extra_args=arguments))
            machine.wait_until(self.are_right, 240)
            self.settle(machine)
            before = self.fill(machine, [by_id(d.serial) for d in self.all])
            for victim, blow in (("worker", self.kill_workers), ("daemon", "systemctl kill -s KILL drivekeep"),
                                 ("broker and workers", "systemctl kill -s KILL drivekeep-broker"),
                                 ("daemon, workers, broker", self.kill_everything)):
                self.check_killed(machine, victim, blow)
            self.check_closed(machine)
            self.check_full(machine)
            self.check_journal(machine)
            lost = self.checksums(machine, list(before)) != before
            self.claim("no data is lost", not lost)
        self.faults = [(*row[:5], "SOME" if lost else "none", row[6]) for row in self.faults]

    def text(self):
        apm, lookahead, seconds = self.want
        return FILE % (apm, "true" if lookahead else "false", seconds // 60)

    def are_right(self):
        return all((d["apm"], d["lookahead"], d["standby_seconds"]) == self.want for d in self.all)

    def says_right(self, machine):
        seen = self.all_status(machine)
        return all(each["state"] == "idle" for each in seen) and \
            sum(s["name"] == "apm" and s["wanted"] == str(self.want[0]) for each in seen for s in each["settings"]) == len(self.all) and \
            {s["verdict"] for each in seen for s in each["settings"]} <= RIGHT

    def want_others(self, machine):
        apm, lookahead, seconds = self.want
        self.want = (apm + 1, not lookahead, seconds + 60)
        machine.push(CONF, self.text())

    def kill_workers(self, machine, pids):
        machine.run("kill -KILL " + " ".join(map(str, pids)))

    def kill_everything(self, machine, pids):
        machine.run("systemctl kill -s KILL drivekeep drivekeep-broker")

    def check_killed(self, machine, victim, blow):
        machine.run("systemctl reset-failed drivekeep drivekeep-broker.service drivekeep-broker.socket")
        self.want_others(machine)
        marks, pids = {d: d.log.mark() for d in self.all}, []
        for step, drive in self.hanging.items():
            fault = dict(STEPS[step])
            if step.startswith("first"):
                fault["feature"] = 0xAA if self.want[1] else 0x55
            drive.inject("hang", origin="passthrough", seconds=HANG, **fault)
        started = self.sound.log.event(victim).time
        machine.start("systemctl reload drivekeep")
        for drive in self.hanging.values():
            [entry] = drive.log.wait(marks[drive], 60, fault="hang", status=None)
            pids.append(entry.pid)
        waiting = [e for d in self.hanging.values() for e in d.log.since(marks[d], fault="hang", status=None)]
        self.equal(f"{victim} killed: each drive is at another step", len(waiting), len(STEPS))
        if callable(blow):
            blow(machine, pids)
        else:
            machine.run(blow)
        time.sleep(AFTER)
        for drive in self.hanging.values():
            drive.release()
        machine.wait_until(self.are_right, 180)
        delay = max(e.time for e in self.sound.log.since(marks[self.sound], command=0xE3, origin="passthrough")) - started
        # What had no verdict when its worker died gets one from the next visit, some seconds later.
        machine.wait_until(lambda: self.says_right(machine), 120, 1)
        seen = self.status(machine)
        self.claim(f"{victim} killed: every drive has what is wanted, and says so", self.are_right())
        for step, drive in self.hanging.items():
            sent = [e.registers()[:5] for e in drive.log.since(marks[drive], origin="passthrough") if e.sets and e.command == 0xEF]
            self.equal(f"{victim} killed at {step}: nothing that was right is written twice", len(sent), len(set(sent)))
            timers = len(drive.log.since(marks[drive], command=0xE3, origin="passthrough"))
            # Nothing tells whether the drive has it but that somebody lived to note that it was accepted.
            self.claim(f"{victim} killed at {step}: the timer, which nothing reads back, is sent once, at most twice", 1 <= timers <= 2,
                       str(timers))
            self.fault(f"SIGKILL of {victim}", step, len(self.all), "/".join(sorted({s["verdict"] for s in seen[drive.serial].values()})), delay)
        machine.wait_until("! cat /var/lib/drivekeep/* 2>/dev/null | grep -q .", 60)
        self.equal(f"{victim} killed: no note is left", machine.run("cat /var/lib/drivekeep/* 2>/dev/null", check=False).stdout, "")

    def check_closed(self, machine):
        """What keeps the broker from starting for a moment makes systemd give up on its socket, too."""
        machine.push(BROKEN, "[Unit]\nStartLimitIntervalSec=60s\nStartLimitBurst=3\n[Service]\nExecStart=\nExecStart=/bin/false\n")
        machine.run("systemctl daemon-reload; systemctl stop drivekeep-broker.service")
        self.want_others(machine)
        started = self.sound.log.event("no broker").time
        machine.start("systemctl reload drivekeep")
        machine.wait_until("systemctl is-failed --quiet drivekeep-broker.socket", 60)
        machine.run(f"rm {BROKEN}; systemctl daemon-reload")
        self.hurry(machine, "journalctl -b -u drivekeep -o cat | grep -q 'socket stays closed'", step=5)
        machine.wait_until(self.are_right, 120)
        delay = max(e.time for e in self.sound.log.since(0, command=0xE3)) - started
        self.match("the broker cannot be started for a while: the service says so", machine.run("journalctl -b -u drivekeep -o cat").stdout,
                   r"(?m)^drivekeep-broker\.socket stays closed: starting anew, and that with it\.$")
        machine.wait_until(lambda: self.says_right(machine), 60, 1)
        self.claim("and afterwards every drive has what is wanted", self.are_right())
        self.fault("the broker cannot start", "systemd's start limit", len(self.all), "unverifiable/applied", delay)

    def check_full(self, machine):
        self.want_others(machine)
        machine.run("dd if=/dev/zero of=/run/fill bs=64k 2>/dev/null; dd if=/dev/zero of=/run/fill2 bs=4k 2>/dev/null; true", 120)
        self.claim("/run is full", machine.run("head -c 65536 /dev/zero > /run/more", check=False).status != 0)
        started = self.sound.log.event("/run full").time
        # Not by systemctl: systemd itself starts no process while /run is full.
        machine.start("drivekeep reload")
        machine.wait_until(self.are_right, 120)
        delay = max(e.time for e in self.sound.log.since(0, command=0xE3)) - started
        self.claim("/run full: the drives get what is wanted", True)
        machine.wait_until("! systemctl show -P StatusText drivekeep | grep -q visited", 120)
        # What commands print goes through files below /run, too.
        machine.run("drivekeep status --json > /root/told; rm -f /run/fill /run/fill2 /run/more", check=False)
        told = [s for each in json.loads(machine.run("cat /root/told").stdout)["drives"] for s in each["settings"] if s["name"] == "apm"]
        self.claim("/run full: status says nothing that is not true any more",
                   {s["actual"] for s in told} <= {str(self.want[0])}, str(told))
        machine.run("drivekeep apply", 120)
        machine.wait_until(lambda: self.says_right(machine), 60, 1)
        self.claim("and with room again, all", True)
        self.fault("/run full", "state files", len(self.all), "/".join(sorted({s["verdict"] for s in told})) or "nothing is said", delay)

    def check_journal(self, machine):
        """journald does not run, and its queue is full, as when its disk hangs."""
        self.want_others(machine)
        machine.run(f"{JOURNALD % 'STOP'}; {FILL}")
        started = self.sound.log.event("journald stuck").time
        machine.run("drivekeep reload; drivekeep apply", 120)
        delay = max(e.time for e in self.sound.log.since(0, command=0xE3)) - started
        self.claim("journald stuck: who asks is answered, and the drives have what is wanted", self.are_right())
        self.fault("journald stuck", "full queue", len(self.all), "unverifiable/applied", delay)
        machine.run(f"{JOURNALD % 'CONT'}; journalctl --sync", 120)
        told = self.records(machine, DRIVEKEEP_SETTING="apm", DRIVEKEEP_WANTED=str(self.want[0]), DRIVEKEEP_VERDICT="applied")
        self.equal("when it goes on, it is told all that waited", {r["DRIVEKEEP_SERIAL"] for r in told}, {d.serial for d in self.all})
        machine.run(f"{JOURNALD % 'STOP'}; {FILL}; drivekeep apply; systemctl stop drivekeep", 120)
        self.claim_stop(machine, "with journald stuck")
        machine.run(f"{JOURNALD % 'CONT'}; systemctl start drivekeep")
        self.settle(machine)
