"""Nothing to do is nothing done: no command, no wake-up, no drive kept awake."""
import contextlib

from keeping import CLOCK, CONF, Keeping, by_id, ours

# Who is told of wakes has each drive looked at when its timer has run out: see the scenario "wakes".
DRIVES = 'wake_log = false; drives = ( { match = { transport = "sata"; }; apm = 127; spindown_time = "20min"; read_ahead_kb = 512; } );\n'
RECHECK = 'recheck = "10min";\n'

TRACING = "/sys/kernel/tracing"


class Quiet(Keeping):
    """Half an hour at rest; 40 minutes of rechecks, with drives that sleep, fall asleep, and are in use; drift is told, or set back"""

    def run(self):
        names = ("SN-IDLE", "SN-ASLEEP", "SN-BUSY")
        self.ata = {name: self.drive(name, apm=128) for name in names}
        with self.drives(*self.ata.values()) as (_, arguments), \
             self.machine(files={CONF: DRIVES}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.leap(machine, 40)      # what the daemon looks at half a minute after its start
            # No drive is visited for it; the library that reads files lies in the daemon's memory afterwards, until the last of its
            # timers ends. That is waited for without a leap, which makes the kernel write messages: the daemon reads them, and code and
            # text of the libraries that this needs are in its memory again.
            machine.run("systemctl reload drivekeep")
            machine.wait_until(lambda: not self.timers(machine), 60)
            self.check_rest(machine)
            self.check_rechecks(machine)
            self.check_restore(machine)
            self.check_now(machine)

    def marks(self):
        return {name: drive.log.mark() for name, drive in self.ata.items()}

    def sent(self, marks):
        return {name: [e.registers() for e in ours(drive, marks[name])] for name, drive in self.ata.items()}

    def wakeups(self, machine, pid):
        """How often the daemon has been put to sleep, and so woken."""
        return machine.run(f"awk '/^voluntary_ctxt/ {{ print $2 }}' /proc/{pid}/status").stdout

    def rests(self, machine, pid):
        before = self.wakeups(machine, pid)
        machine.run(self.leaps(2))
        return self.wakeups(machine, pid) == before

    def leaps(self, minutes):
        """A shell command: so many minutes pass for the guest, and each timer in them runs out."""
        return f"for n in $(seq {minutes}); do echo 60 > /sys/module/warp/parameters/leap; sleep 0.2; done"

    @contextlib.contextmanager
    def leaping(self, machine):
        """The clock changes before and after, as the kernel says so each time, and each of its messages wakes the daemon."""
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
        """So many minutes, or until a function returns something true, in which one drive is read every two minutes."""
        for _ in range(minutes // 2):
            if until and until():
                break
            machine.run(f"dd if={by_id('SN-BUSY')} of=/dev/null bs=4096 count=1 iflag=direct")
            self.leap(machine, 120, step=120)
            for drive in self.ata.values():
                drive.pass_time(120)

    def timers(self, machine):
        """Those of the daemon that are set, but for the ones that never end."""
        return machine.run(r"grep -h it_value /proc/$(systemctl show -P MainPID drivekeep)/fdinfo/* | grep -vE '\(0, 0\)|\([0-9]{9,}, '",
                           check=False).stdout

    def check_rest(self, machine):
        machine.run(f"hdparm -y {by_id('SN-ASLEEP')}; sleep 3")
        self.equal("no timer of the daemon's is set", self.timers(machine), "")
        pid = machine.run("systemctl show -P MainPID drivekeep").stdout.strip()
        held = int(machine.run(f"awk '/^Pss:/ {{ print $2 }}' /proc/{pid}/smaps_rollup").stdout)
        self.note(f"it holds {held} KiB")
        self.claim("it holds less than 1.5 MB, though nothing else here shares its libraries", held * 1024 < 1.5e6, f"{held} KiB")
        self.equal("and of the library that reads the files nothing that is the file's own", machine.run(
            f"awk '/^[0-9a-f]+-/ {{ here = /libconfig/ }} here && /_Clean:/ {{ n += $2 }} END {{ print n }}' /proc/{pid}/smaps"
        ).stdout.strip(), "0")
        marks = self.marks()
        with self.leaping(machine):
            machine.run(f"mount -t tracefs nodev {TRACING}; cd {TRACING}/events/sched/sched_waking && "
                        f"echo pid=={pid} >filter && echo 1 >enable")
            # The clock's own message, those of a busy host, and what a timer that was set before has the daemon do, are over.
            machine.wait_until(lambda: self.rests(machine, pid), 60)
            machine.run(f"echo >{TRACING}/trace")
            # In this order: what wakes the daemon from here on has its message counted.
            messages = machine.run("dmesg").stdout.splitlines()
            before = self.wakeups(machine, pid)
            with self.passing(machine, 30):
                machine.run(self.leaps(30))
            after, by = self.wakeups(machine, pid), machine.run(f"grep -v '^#' {TRACING}/trace", check=False).stdout
            messages = machine.run("dmesg").stdout.splitlines()[len(messages):]
            # On a host that keeps it from running the kernel has something to say, and its messages wake the daemon: once, and once
            # a second later to see whether there are more.
            self.claim("half an hour at rest: the daemon has not been woken once, but by messages of the kernel's",
                       int(after) - int(before) <= 3 * len(messages), f"{before} {after} by:\n{by}\n" + "\n".join(messages))
            self.note(f"messages of the kernel's in that time: {len(messages)}")
        self.equal("and no drive was sent anything", self.sent(marks), {name: [] for name in self.ata})

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
        self.equal("rechecks: a drive that sleeps is sent nothing", (sent["SN-ASLEEP"], asleep["mode"], asleep["spin_ups"]),
                   ([], "standby", spin_ups))
        self.equal("nor one that nobody uses", sent["SN-IDLE"], [])
        self.equal("whose own timer has sent it to sleep in that time", self.ata["SN-IDLE"]["mode"], "standby")
        self.claim("one that is in use is read, several times", len(sent["SN-BUSY"]) >= 4, str(sent["SN-BUSY"]))
        self.equal("and not written to", {r[:2] for r in sent["SN-BUSY"]}, {"E5", "EC"})
        drift = self.records(machine, DRIVEKEEP_SERIAL="SN-BUSY", DRIVEKEEP_DRIFT_TO="200")
        self.equal("what another program changed is told once, with old and new value",
                   [(d["DRIVEKEEP_SETTING"], d["DRIVEKEEP_DRIFT_FROM"], d["DRIVEKEEP_VISIT"]) for d in drift],
                   [("apm", "127", "recheck")])
        self.match("the catalog explains it", machine.run("journalctl -b -x -o short DRIVEKEEP_DRIFT_TO=200").stdout,
                   r"Subject: sd.: apm has drifted from 127 to 200$")
        self.equal("and it is left so", busy["apm"], 200)
        status = self.status(machine)
        self.equal("status shows it", [status["SN-BUSY"]["apm"][key] for key in ("verdict", "actual", "drift_from", "drift_to")],
                   ["drifted", "200", "127", "200"])
        self.equal("what the kernel holds is looked at on every drive", status["SN-IDLE"]["read_ahead_kb"]["verdict"], "drifted")

    def check_restore(self, machine):
        # The next recheck may come at any time.
        marks = self.marks()
        machine.push(CONF, RECHECK + 'on_drift = "restore";\n' + DRIVES)
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("another policy is no reason to visit", self.records(machine, DRIVEKEEP_VISIT="reload"), [])
        # No longer than that: the next one comes ten minutes later, and would set back what check_now() wants to be left.
        self.work(machine, 20, lambda: self.ata["SN-BUSY"].log.since(marks["SN-BUSY"], command=0xE3))
        self.leap(machine, 180, step=60)
        self.equal("on_drift = restore: it is set back", self.ata["SN-BUSY"]["apm"], 127)
        sent = [r for r in self.sent(marks)["SN-BUSY"] if r[:2] not in ("E5", "EC")]
        self.equal("by one command, and one for what cannot be read: nobody knows what has become of it", sent,
                   ["EF/05 7F 000000", "E3/00 F0 000000"])
        status = self.status(machine)
        self.equal("and status remembers", [status["SN-BUSY"]["apm"][key] for key in ("verdict", "drift_to")], ["applied", "200"])
        self.equal("the sleeper sleeps on", (self.sent(marks)["SN-ASLEEP"], self.ata["SN-ASLEEP"]["mode"]), ([], "standby"))

    def check_now(self, machine):
        """Whoever asks what the drives hold now is told that, and it stays so, though the file says to set it back."""
        machine.run(f"hdparm -B 200 {by_id('SN-BUSY')}")
        marks = self.marks()
        shown = machine.run("drivekeep status --now", check=False)
        node = self.node(machine, "SN-BUSY")[5:]
        self.match("status --now: what another program has set is read", shown.stdout, rf"^{node} .* apm +127 +200 +drifted ")
        self.equal("and the exit status tells", shown.status, 2)
        self.equal("it is left so", ({r[:2] for r in self.sent(marks)["SN-BUSY"]} - {"E5"}, self.ata["SN-BUSY"]["apm"]), ({"EC"}, 200))
        self.equal("the sleeper is asked whether it sleeps, and not woken",
                   ({r[:2] for r in self.sent(marks)["SN-ASLEEP"]}, self.ata["SN-ASLEEP"]["mode"]), ({"E5"}, "standby"))
        self.match("and that it was not read is said", shown.stderr,
                   rf"^drivekeep: {self.node(machine, 'SN-ASLEEP')[5:]} was not read now: it is in standby")
