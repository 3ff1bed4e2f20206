"""Without a reason to act the service sends no command, does not wake up, and keeps no drive active."""
import contextlib

from keeping import CLOCK, CONF, Keeping, by_id, ours

# The wake log would make the service poll each drive when its spin-down timer expires: see the scenario "wakes".
DRIVES = 'wake_log = false; drives = ( { match = { transport = "sata"; }; apm = 127; spindown_time = "20min"; read_ahead_kb = 512; } );\n'
RECHECK = 'recheck = "10min";\n'

TRACING = "/sys/kernel/tracing"


class Quiet(Keeping):
    """The service is idle for half an hour, and rechecks spin up no drive, keep none active, and report or undo drift"""

    def run(self):
        names = ("SN-IDLE", "SN-ASLEEP", "SN-BUSY")
        self.ata = {name: self.drive(name, apm=128) for name in names}
        with self.drives(*self.ata.values()) as (_, arguments), \
             self.machine(files={CONF: DRIVES}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.leap(machine, 40)      # the daemon polls the drives half a minute after its start
            # This reload visits no drive. The library that reads the files stays in the daemon's memory until no timer of the daemon is
            # armed. The test waits for this in real time: a leap of the clock makes the kernel write messages. When the daemon reads
            # these messages, pages of libraries come back into its memory.
            machine.run("systemctl reload drivekeep")
            machine.wait_until(lambda: not self.timers(machine), 60)
            self.check_idle(machine)
            self.check_rechecks(machine)
            self.check_restore(machine)
            self.check_now(machine)

    def marks(self):
        return {name: drive.log.mark() for name, drive in self.ata.items()}

    def sent(self, marks):
        return {name: [e.registers() for e in ours(drive, marks[name])] for name, drive in self.ata.items()}

    def wakeups(self, machine, pid):
        """Returns the daemon's count of voluntary context switches: one for each wait, and so for each wake-up."""
        return machine.run(f"awk '/^voluntary_ctxt/ {{ print $2 }}' /proc/{pid}/status").stdout

    def is_idle(self, machine, pid):
        before = self.wakeups(machine, pid)
        machine.run(self.leaps(2))
        return self.wakeups(machine, pid) == before

    def leaps(self, minutes):
        """Returns a shell command that moves the guest's clock forward minute by minute. Each timer due in these minutes expires."""
        return f"for n in $(seq {minutes}); do echo 60 > /sys/module/warp/parameters/leap; sleep 0.2; done"

    @contextlib.contextmanager
    def leaping(self, machine):
        """Selects the clock source "leap" only once, for the whole "with" block. Each change of the clock source makes the kernel write a
        message, which wakes the daemon."""
        usual = machine.run(f"modprobe warp && systemctl service-watchdogs no && cat {CLOCK} && echo leap > {CLOCK}").stdout.strip()
        yield
        machine.run(f"echo {usual} > {CLOCK}")

    @contextlib.contextmanager
    def passing(self, machine, minutes):
        before = float(machine.run("cat /proc/uptime").stdout.split()[0])
        yield
        passed = float(machine.run("cat /proc/uptime").stdout.split()[0]) - before
        self.claim(f"{minutes} minutes have passed on the guest's monotonic clock", passed >= minutes * 60, f"{passed} s")

    def work(self, machine, minutes, until=None):
        """Reads SN-BUSY every two minutes of the guest's clock, for `minutes` minutes or until the function `until` returns true."""
        for _ in range(minutes // 2):
            if until and until():
                break
            machine.run(f"dd if={by_id('SN-BUSY')} of=/dev/null bs=4096 count=1 iflag=direct")
            self.leap(machine, 120, step=120)
            for drive in self.ata.values():
                drive.pass_time(120)

    def timers(self, machine):
        """Returns the daemon's armed timers, except those that never expire."""
        return machine.run(r"grep -h it_value /proc/$(systemctl show -P MainPID drivekeep)/fdinfo/* | grep -vE '\(0, 0\)|\([0-9]{9,}, '",
                           check=False).stdout

    def check_idle(self, machine):
        machine.run(f"hdparm -y {by_id('SN-ASLEEP')}; sleep 3")
        self.equal("no timer of the daemon is armed", self.timers(machine), "")
        pid = machine.run("systemctl show -P MainPID drivekeep").stdout.strip()
        held = int(machine.run(f"awk '/^Pss:/ {{ print $2 }}' /proc/{pid}/smaps_rollup").stdout)
        self.note(f"the daemon uses {held} KiB of memory")
        self.claim("the daemon uses less than 1.5 MB of memory, although no other process shares its libraries",
                   held * 1024 < 1.5e6, f"{held} KiB")
        self.equal("no unmodified page of the library that reads the files is in the daemon's memory", machine.run(
            f"awk '/^[0-9a-f]+-/ {{ here = /libconfig/ }} here && /_Clean:/ {{ n += $2 }} END {{ print n }}' /proc/{pid}/smaps"
        ).stdout.strip(), "0")
        marks = self.marks()
        with self.leaping(machine):
            machine.run(f"mount -t tracefs nodev {TRACING}; cd {TRACING}/events/sched/sched_waking && "
                        f"echo pid=={pid} >filter && echo 1 >enable")
            # An idle daemon has handled the message about the clock source, other kernel messages, and its earlier timers.
            machine.wait_until(lambda: self.is_idle(machine, pid), 60)
            machine.run(f"echo >{TRACING}/trace")
            # The count of messages begins earlier and ends later than the count of wake-ups, so that it covers the message of each counted
            # wake-up.
            messages = machine.run("dmesg").stdout.splitlines()
            before = self.wakeups(machine, pid)
            with self.passing(machine, 30):
                machine.run(self.leaps(30))
            after, by = self.wakeups(machine, pid), machine.run(f"grep -v '^#' {TRACING}/trace", check=False).stdout
            messages = machine.run("dmesg").stdout.splitlines()[len(messages):]
            # On a busy host the guest's kernel writes messages. Each message wakes the daemon at once, and again a second later, when the
            # daemon reads further messages.
            self.claim("half an hour without I/O: only kernel messages wake the daemon",
                       int(after) - int(before) <= 3 * len(messages), f"{before} {after} by:\n{by}\n" + "\n".join(messages))
            self.note(f"kernel messages in that time: {len(messages)}")
        self.equal("half an hour without I/O: the daemon sends no command to any drive", self.sent(marks), {name: [] for name in self.ata})

    def check_rechecks(self, machine):
        for name in ("SN-IDLE", "SN-BUSY"):
            machine.run(f"dd if={by_id(name)} of=/dev/null bs=4096 count=1 iflag=direct")
        machine.push(CONF, RECHECK + DRIVES)
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        idle = self.node(machine, "SN-IDLE")[5:]
        machine.run(f"hdparm -B 200 {by_id('SN-BUSY')}; hdparm -y {by_id('SN-ASLEEP')}; "
                    f"echo 256 > /sys/block/{idle}/queue/read_ahead_kb")
        asleep, busy = self.ata["SN-ASLEEP"], self.ata["SN-BUSY"]
        marks, spin_ups = self.marks(), asleep["spin_ups"]
        with self.passing(machine, 40):
            self.work(machine, 40)
        sent = self.sent(marks)
        visits = [(r["DRIVEKEEP_DRIVE"], r["DRIVEKEEP_VISIT"]) for r in self.records(machine, _SYSTEMD_UNIT="drivekeep.service")
                  if "DRIVEKEEP_VISIT" in r and "DRIVEKEEP_SETTING" not in r]
        self.note("visits so far: " + ", ".join(f"{drive} for {reason}" for drive, reason in visits))
        self.equal("rechecks send nothing to a drive in standby", (sent["SN-ASLEEP"], asleep["mode"], asleep["spin_ups"]),
                   ([], "standby", spin_ups))
        self.equal("rechecks send nothing to a drive without I/O", sent["SN-IDLE"], [])
        self.equal("the drive without I/O enters standby by its own timer in spite of rechecks", self.ata["SN-IDLE"]["mode"], "standby")
        self.claim("rechecks read a drive with I/O several times", len(sent["SN-BUSY"]) >= 4, str(sent["SN-BUSY"]))
        self.equal("rechecks send only CHECK POWER MODE and IDENTIFY to the drive with I/O", {r[:2] for r in sent["SN-BUSY"]}, {"E5", "EC"})
        drift = self.records(machine, DRIVEKEEP_SERIAL="SN-BUSY", DRIVEKEEP_DRIFT_TO="200")
        self.equal("a value changed by another program is logged once, with the old and the new value",
                   [(d["DRIVEKEEP_SETTING"], d["DRIVEKEEP_DRIFT_FROM"], d["DRIVEKEEP_VISIT"]) for d in drift],
                   [("apm", "127", "recheck")])
        self.match("the catalog describes the drift", machine.run("journalctl -b -x -o short DRIVEKEEP_DRIFT_TO=200").stdout,
                   r"Subject: sd.: apm has drifted from 127 to 200$")
        self.equal("without on_drift = restore the drifted value is not changed", busy["apm"], 200)
        status = self.status(machine)
        self.equal("status shows the drift with the old and the new value",
                   [status["SN-BUSY"]["apm"][key] for key in ("verdict", "actual", "drift_from", "drift_to")],
                   ["drifted", "200", "127", "200"])
        self.equal("the kernel's values are rechecked for every drive, also without I/O",
                   status["SN-IDLE"]["read_ahead_kb"]["verdict"], "drifted")

    def check_restore(self, machine):
        # The marks in the logs are taken before the reload, because the next recheck may follow the reload at once.
        marks = self.marks()
        machine.push(CONF, RECHECK + 'on_drift = "restore";\n' + DRIVES)
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("a reload that changes only on_drift visits no drive", self.records(machine, DRIVEKEEP_VISIT="reload"), [])
        # The reads stop after this recheck: the next recheck, ten minutes later, would undo the change that check_now() makes.
        self.work(machine, 20, lambda: self.ata["SN-BUSY"].log.since(marks["SN-BUSY"], command=0xE3))
        self.leap(machine, 180, step=60)
        self.equal("on_drift = restore: the recheck sets the drifted value back", self.ata["SN-BUSY"]["apm"], 127)
        sent = [r for r in self.sent(marks)["SN-BUSY"] if r[:2] not in ("E5", "EC")]
        self.equal("on_drift = restore: one command restores apm, and one sets the timer, which cannot be read", sent,
                   ["EF/05 7F 000000", "E3/00 F0 000000"])
        status = self.status(machine)
        self.equal("on_drift = restore: status shows the restored setting and the drift",
                   [status["SN-BUSY"]["apm"][key] for key in ("verdict", "drift_to")], ["applied", "200"])
        self.equal("on_drift = restore: the drive in standby gets no command and stays in standby",
                   (self.sent(marks)["SN-ASLEEP"], self.ata["SN-ASLEEP"]["mode"]), ([], "standby"))

    def check_now(self, machine):
        """`status --now` reads and shows the drives' values and changes none of them, in spite of on_drift = restore."""
        machine.run(f"hdparm -B 200 {by_id('SN-BUSY')}")
        marks = self.marks()
        shown = machine.run("drivekeep status --now", check=False)
        node = self.node(machine, "SN-BUSY")[5:]
        self.match("status --now shows a value that another program has set", shown.stdout, rf"^{node} .* apm +127 +200 +drifted ")
        self.equal("status --now exits with 2 for a drifted value", shown.status, 2)
        self.equal("status --now sends only reads and does not change the drifted value",
                   ({r[:2] for r in self.sent(marks)["SN-BUSY"]} - {"E5"}, self.ata["SN-BUSY"]["apm"]), ({"EC"}, 200))
        self.equal("status --now sends only CHECK POWER MODE to a drive in standby",
                   ({r[:2] for r in self.sent(marks)["SN-ASLEEP"]}, self.ata["SN-ASLEEP"]["mode"]), ({"E5"}, "standby"))
        self.match("status --now reports that the drive in standby was not read", shown.stderr,
                   rf"^drivekeep: {self.node(machine, 'SN-ASLEEP')[5:]} was not read now: the drive is in standby")
