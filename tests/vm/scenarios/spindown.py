"""Drives without I/O are spun down again, no matter what has woken them. hd-idle is only measured; drivekeep must spin down in time.

The drive's own log shows each spin-down. The time since the last I/O is given as a multiple of the configured idle time, by the guest's
clock.
"""
import contextlib
import json
import pathlib
import re
import tempfile
import time

from drives import model, power, scsi, smart
from drives.sas import SasHba
from drives.scsi import ScsiDisk
from keeping import CONF, TRACING, WARP, Keeping, by_id

IDLE, SHORT = 600, 120      # seconds without I/O
# Limits for the time of a spin-down, as multiples of the idle time. A program that polls the I/O counters four times in each idle
# time may notice I/O late, by up to a quarter of the idle time. The guest's clock is known only to half a minute, which is one second of the host.
EARLIEST, LATEST, LIMIT = 0.9, 1.6, 2
HD_IDLE, DRIVEKEEP = "hd-idle", "drivekeep"
SAS = "/dev/disk/by-id/wwn-0x5000c500000000a1"
ASLEEP = power.SPUN_DOWN | scsi.SPUN_DOWN | {"sleep"}
MEDIUM = model.READ | model.WRITE | {0x28, 0x88, 0x2a, 0x8a}
# The journal contains each of these messages once: about a drive that was woken too often, and about one that ignores its standby timer.
WOKEN_TOO_OFTEN, IGNORES_TIMER = "not spun down for the next hour", "from now on the service"
# WAKEUPS prints the daemon's voluntary context switches, which count its wake-ups. MESSAGES prints the number of kernel messages.
WAKEUPS = "cat /proc/$(systemctl show -P MainPID {})/task/*/status | awk '/^voluntary_ctxt/ {{ n += $2 }} END {{ print n + 0 }}'"
MESSAGES = "dmesg | wc -l"

# Each drive has a rule, except OTHER.
PLAIN = ("NAMED", "READS", "DRIFT", "BUSY", "TESTED", "SAS")
RULES = {serial: ("10min", "service") for serial in PLAIN} | \
    {"LAZY": ("10min", "auto"), "TIMER": ("10min", "auto"), "WOKEN": ("2min", "service"), "ASKED": ("10min", "service")}
MORE = {"ASKED": " commands_are_use = true;"}
LINKS = {serial: by_id(f"SN-{serial}") for serial in (*RULES, "OTHER")} | {"SAS": SAS}
FILE = "drives = (" + ",".join(f"""
  {{ match = "{LINKS[serial]}"; spindown_time = "{idle}"; spindown_by = "{by}";{MORE.get(serial, "")} }}""" for serial, (idle, by) in RULES.items()) + "\n);\n"

# {case: (numbers of hd-idle's issues about the case, what the test checks)}.
CASES = {
    "first": ("", "a drive without I/O is spun down in time"),
    "asleep": ("", "a drive in standby gets no command for ten minutes"),
    "wake-ups": ("", "wake-ups of the program in ten minutes of standby"),
    "second": ("#123, #131", "a drive woken by a read is spun down a second time"),
    "third": ("#123, #131", "a drive woken by a second read is spun down a third time"),
    "drift": ("#19, #111, #112, #113", "a drive woken by smartctl is spun down again"),
    "sas": ("#92, #122", "a SAS drive that was spun down completes the next read"),
    "sas again": ("#92, #122", "a SAS drive woken by a read is spun down again"),
    "busy": ("", "a drive that is read every minute is not spun down"),
    "asked": ("", "commands_are_use: a drive that gets a command every minute is not spun down"),
    "test": ("", "a drive with a running self-test is not spun down"),
    "after test": ("", "a drive is spun down after the end of its self-test"),
    "renamed": ("#132", "a drive that gets another device name is spun down"),
    "other": ("#132", "a drive without a rule is not spun down under the old name of another drive"),
    "resume": ("#66", "a drive active after a short suspend is spun down again, but not within a minute"),
    "restart": ("", "a restart of the service does not extend the idle time"),
    "lazy": ("", "auto: a drive that ignores its timer is spun down each time"),
    "timer": ("", "auto: a drive that obeys its timer gets no spin-down command"),
    "woken": ("", "a drive woken soon after three spin-downs is no longer spun down"),
}


class Spindown(Keeping):
    """The service spins down drives without I/O again, no matter what has woken the drives"""
    long = True
    real_time = True    # each delay by the host counts thirty times by the fast clock
    halves = (DRIVEKEEP,)

    def run(self):
        self.results = {cause: {HD_IDLE: "-", DRIVEKEEP: "-"} for cause in CASES}
        self.version = ""
        try:
            for self.half in self.halves:
                self.run_half()
        finally:
            self.print_table()

    def run_half(self):
        self.ours = self.half == DRIVEKEEP
        features = {"LAZY": {"ignores_timer": True}, "TIMER": {"time_scale": 2 * WARP}}
        self.ata = {serial: self.drive(f"SN-{serial}", **features.get(serial, {})) for serial in LINKS if serial != "SAS"}
        self.all = self.ata | {"SAS": ScsiDisk(serial="SN-SAS", wwn="5000c500000000a1")}
        files = {CONF: FILE} if self.ours else {}
        setup = TRACING + "systemctl enable drivekeep\n" if self.ours else ""
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp")))
            self.controller = stack.enter_context(SasHba(folder / "sas", ports=1, name="sas0"))
            self.controller.attach(0, self.all["SAS"])
            self.hba, arguments = stack.enter_context(self.drives(*self.ata.values()))
            # With nohz=off the tick never stops, so that timers expire in time even while the clock runs fast.
            machine = stack.enter_context(self.machine(suspends=True, append="nohz=off", files=files, setup=setup,
                                                       extra_args=arguments + self.controller.qemu_args()))
            machine.wait_until(" && ".join(f"[ -b {link} ]" for link in LINKS.values()), 120)
            self.begin(machine)
            with self.warp(machine):
                for check in (self.check_first, self.check_asleep, self.check_woken_once, self.check_woken_again, self.check_woken_often):
                    check(machine)
            self.check_counters(machine)
            self.check_renamed(machine)
            self.check_resume(machine)

    def begin(self, machine):
        self.spin_ups = {serial: drive["spin_ups"] for serial, drive in self.ata.items()}
        if self.ours:
            self.settle(machine)
            return
        machine.wait_running()
        self.version = machine.run("dpkg-query -W -f '${Version}' hd-idle").stdout
        options = " ".join(f"-a {LINKS[serial]} -i {IDLE}" for serial in PLAIN)
        machine.run(f"udevadm settle; systemd-run -q --unit=spinning-down hd-idle -d -i 0 {options}")

    # Results from the drives' logs

    def downs(self, serial, mark):
        """Returns the commands that spun the drive down."""
        return [e for e in self.all[serial].log.since(mark, command={0xe0, 0xe2, 0xe6, 0x1b})
                if e.mode not in ASLEEP and (not e.cdb or e.cdb[4] >> 4 == 3 or e.cdb[4] & 0xf1 == 0)]

    def marks(self, *serials):
        return {serial: self.all[serial].log.mark() for serial in serials}

    def watch(self, machine, marks, limit=LIMIT * IDLE):
        """Waits until all drives are spun down, or for `limit` seconds of the guest's clock."""
        begun, waited = self.clocks(machine), machine.start(f"sleep {limit}")
        machine.wait_until(lambda: waited.done() or all(self.downs(*each) for each in marks.items()), 300)
        ours, guests = (end - begin for begin, end in zip(begun, self.clocks(machine)))
        self.rate = guests / ours

    def lateness(self, serial, mark, since=None):
        """Returns the time from the last I/O to the first spin-down, as a multiple of the idle time; None if there was no spin-down."""
        down = next(iter(self.downs(serial, mark)), None)
        if not down:
            return None
        uses = [e.time for e in self.all[serial].log.since(mark) if e.time < down.time
                and (e.comm == "smartctl" or e.origin == "kernel" and e.command in MEDIUM)]
        return (down.time - (since or max(uses))) * self.rate / IDLE

    def let_pass(self, machine, seconds):
        """Lets time pass. With drivekeep the guest's clock leaps. With hd-idle the test sleeps, because hd-idle does not show when it is
        idle."""
        if self.ours:
            self.leap(machine, seconds, step=IDLE // 4)
        else:
            machine.run(f"sleep {seconds}", 120)

    # Verdicts

    def judge(self, cause, holds, detail="", measured=""):
        self.results[cause][self.half] = ("yes" if holds else "NO") + measured
        if self.ours:
            self.claim(CASES[cause][1], holds, detail)
        else:
            self.note(f"{CASES[cause][1]}: {self.results[cause][self.half]}")

    def judge_down(self, cause, marks, since=None, earliest=EARLIEST):
        late = [self.lateness(*each, since) for each in marks.items()]
        told = [each for each in late if each is not None]
        self.judge(cause, len(told) == len(late) and all(earliest <= each <= LATEST for each in told),
                   "\n".join(f"{each[0]} after {times} times the time:\n{self.tail(*each)}" for each, times in zip(marks.items(), late)),
                   f", {max(told):.2f} times" if told else "")

    def tail(self, serial, mark=0):
        return "\n".join(f"{e.name} {e.comm} {e.mode}" for e in self.all[serial].log.since(mark)[-12:])

    def judge_no_spin_down(self, cause, marks):
        found = [(serial, e.comm) for serial, mark in marks.items() for e in self.downs(serial, mark)]
        self.judge(cause, not found, str(found))

    def read(self, machine, *serials):
        """Reads one block of each drive. Returns true if all reads succeed."""
        command = "; ".join(f"dd if={LINKS[serial]} of=/dev/null bs=4096 count=1 iflag=direct status=none || exit" for serial in serials)
        return machine.run(command, check=False).status == 0

    def said(self, machine, serial, pattern):
        return [r["MESSAGE"] for r in self.records(machine, DRIVEKEEP_SERIAL=f"SN-{serial}") if re.search(pattern, r["MESSAGE"])]

    def count(self, machine, command):
        return int(machine.run(command).stdout or 0)

    # Checks of the causes

    def check_first(self, machine):
        marks, auto = self.marks(*PLAIN), self.marks("LAZY", "TIMER")
        self.read(machine, *PLAIN, "LAZY", "TIMER")
        self.watch(machine, marks)
        self.judge_down("first", marks)
        if self.ours:
            # If a drive has its own standby timer, the service may notice I/O late, by up to the whole idle time.
            self.leap(machine, 2 * IDLE, lambda: self.downs("LAZY", auto["LAZY"]), step=IDLE // 4)
            self.claim("auto: a drive that ignores its timer is spun down", self.downs("LAZY", auto["LAZY"]), self.tail("LAZY"))
            machine.wait_until(lambda: self.ata["TIMER"].log.since(auto["TIMER"], command=0xe5, mode="standby"), 120)
            self.equal("auto: the service sets the drive's own timer", self.all["LAZY"]["standby_seconds"], IDLE)
            self.judge("timer", self.all["TIMER"]["mode"] == "standby" and not self.downs("TIMER", auto["TIMER"]), self.tail("TIMER"))

    def check_asleep(self, machine):
        machine.run(f"sleep {IDLE / 10}")
        if self.ours:
            self.let_timers_end(machine, 4 * IDLE, step=IDLE // 4)
        wakeups = WAKEUPS.format("drivekeep" if self.ours else "spinning-down")
        # The count of messages begins earlier and ends later than the count of wake-ups, so that it covers the message of each counted
        # wake-up. A message causes up to three wake-ups.
        marks, messages, woken = self.marks(*PLAIN), self.count(machine, MESSAGES), self.count(machine, wakeups)
        machine.run(f"sleep {IDLE}", 120)
        woken, messages = self.count(machine, wakeups) - woken, self.count(machine, MESSAGES) - messages
        self.results["wake-ups"][self.half] = str(woken)
        if self.ours:
            self.claim("while drives are in standby, the daemon wakes up only for kernel messages",
                       woken <= 3 * messages, f"{woken} times, {messages} messages")
        sent = [(serial, e.name, e.comm) for serial, mark in marks.items() for e in self.all[serial].log.since(mark)]
        self.judge("asleep", not sent, str(sent))

    def check_woken_once(self, machine):
        """Wakes all drives together. They have been in standby for long, so that drivekeep does not regard them as woken too early."""
        marks, busy, tested = self.marks("READS", "DRIFT", "SAS"), self.marks("BUSY"), self.all["TESTED"]
        self.read(machine, "READS", "TESTED", "ASKED")
        asked = self.marks("ASKED")
        machine.start(f"while ! [ -e /run/enough ]; do dd if={LINKS['BUSY']} of=/dev/null bs=4096 count=1 iflag=direct; "
                      f"hdparm -C {LINKS['ASKED']}; sleep 60; done")
        machine.run(f"smartctl -a {LINKS['DRIFT']}; smartctl -t long {LINKS['TESTED']}", 120, check=False)
        self.equal(f"{self.half}: smartctl wakes one drive and starts a self-test of another",
                   (self.all["DRIFT"]["mode"], tested["self_test"]),
                   ("active", smart.Smart.RUNNING))
        self.judge("sas", self.read(machine, "SAS"), self.tail("SAS", marks["SAS"]))
        if self.all["SAS"]["mode"] == "stopped":
            machine.run(f"sg_start --readonly --start {SAS}")
            self.read(machine, "SAS")
        self.watch(machine, marks)
        for cause, serial in (("second", "READS"), ("drift", "DRIFT"), ("sas again", "SAS")):
            self.judge_down(cause, {serial: marks[serial]})
        self.judge("test", tested["self_test"] == smart.Smart.RUNNING, self.tail("TESTED"))
        self.judge_no_spin_down("busy", busy)
        if self.ours:
            self.judge_no_spin_down("asked", asked)

    def check_woken_again(self, machine):
        self.let_pass(machine, IDLE * 1.25)
        own = ("LAZY",) if self.ours else ()
        marks, tested = self.marks("READS", *own), self.marks("TESTED")
        self.read(machine, "READS", *own)
        runs = self.all["TESTED"]["self_test"] == smart.Smart.RUNNING
        self.all["TESTED"].feature("smart").end_test()
        begun = time.monotonic()
        if self.ours:
            machine.run(f"sleep {IDLE / 2}; systemctl restart drivekeep", 120)
        self.watch(machine, marks)
        self.judge_down("third", {"READS": marks["READS"]})
        if runs:    # false if the program that spins down drives has aborted the self-test
            self.judge_down("after test", tested, begun, 0)
        machine.run("touch /run/enough")
        if self.ours:
            self.results["restart"][self.half] = self.results["third"][self.half]
            self.judge_down("lazy", {"LAZY": marks["LAZY"]})
            said = self.said(machine, "LAZY", IGNORES_TIMER)
            self.claim("auto: the journal says once that a drive ignores its timer", len(said) == 1, str(said))
            # The journal may be on a drive that was just spun down, and each message would wake this drive.
            self.equal("starts and stops of the broker and the tracer are not logged",
                       machine.run("journalctl -b -q -o cat UNIT=drivekeep-broker.service + UNIT=drivekeep-tracer.service").stdout, "")

    def check_woken_often(self, machine):
        if not self.ours:
            return
        drive, [mark] = self.all["WOKEN"], self.marks("WOKEN").values()
        for number in (0, 1, 2, 3):
            self.read(machine, "WOKEN")
            if number < 3:
                self.watch(machine, {"WOKEN": mark}, 4 * SHORT)
                self.claim(f"a drive woken soon after {number} spin-downs is spun down again",
                           self.downs("WOKEN", mark), self.tail("WOKEN", mark))
                mark = drive.log.mark()
        self.let_pass(machine, 5 * SHORT)
        self.judge_no_spin_down("woken", {"WOKEN": mark})
        said = self.said(machine, "WOKEN", WOKEN_TOO_OFTEN)
        self.claim("the journal says once that a drive woken too often is not spun down", len(said) == 1, str(said))

    def check_counters(self, machine):
        """Checks the counters that the service has kept, before and after a restart."""
        if not self.ours:
            return
        for serial in ("READS", "DRIFT"):
            told = json.loads(machine.run(f"drivekeep explain --json {LINKS[serial]} spindown_time").stdout)["use"]
            self.equal(f"{serial}: explain shows as many spin-ups as the drive counts", told["spin_ups"],
                       self.ata[serial]["spin_ups"] - self.spin_ups[serial])
            self.claim(f"{serial}: explain shows load cycles and temperature from the drive",
                       told["load_cycles"]["count"] is not None and told["temperature"] == 35, str(told))
        asleep = [(serial, e.name) for serial, drive in self.ata.items() for e in drive.log.since(0, mode=ASLEEP)
                  if e.comm.startswith("keep-") and e.command in (0xb0, 0x2f)]
        self.equal("the service reads no SMART data from drives in standby", asleep, [])
        # The service stores its counters when it stops, and has only limited time for this. So it is restarted only after the clock has
        # stopped running fast.
        machine.run("systemctl restart drivekeep")
        self.match("the spin-up count is stored for the next boot",
                   machine.run("cat /var/lib/drivekeep/drives/*SN-READS*").stdout, r"(?m)^USE_SPIN_UPS=[1-9]")
        told = json.loads(machine.run(f"drivekeep wakes --json {LINKS['READS']}").stdout)
        self.claim("wakes --json has the wakes that show --plot draws, each with the time in standby before it",
                   any(wake["standby_seconds"] for wake in told["wakes"]) and [drive["serial"] for drive in told["drives"]] == ["SN-READS"], str(told))

    def check_renamed(self, machine):
        nodes = {serial: self.node(machine, f"SN-{serial}") for serial in ("NAMED", "OTHER")}
        ports = {serial: list(self.ata).index(serial) for serial in nodes}
        if self.ours:
            self.settle(machine)
        gone = self.are_gone(machine, *(LINKS[serial] for serial in nodes))
        for port in ports.values():
            self.hba.detach(port)
        self.hurry(machine, gone)
        marks = self.marks(*nodes)
        # The drive that appears first gets the lower device name.
        for serial in sorted(nodes, key=nodes.get, reverse=True):
            self.hba.attach(ports[serial], self.ata[serial])
            machine.wait_until(f"[ -b {LINKS[serial]} ]", 60)
        self.equal(f"{self.half}: the two drives have exchanged their device names",
                   [self.node(machine, f"SN-{serial}") for serial in nodes], [*reversed(nodes.values())])
        if self.ours:
            self.settle(machine)
        with self.warp(machine):
            # Each drive is read twice. After one read, its counters could equal the counters of the drive that had its name before.
            self.read(machine, *nodes, *nodes)
            self.watch(machine, {"NAMED": marks["NAMED"]})
            self.judge_down("renamed", {"NAMED": marks["NAMED"]})
            self.let_pass(machine, IDLE)
            self.judge_no_spin_down("other", {"OTHER": marks["OTHER"]})

    def check_resume(self, machine):
        """Suspends the machine after the drives were spun down. The drives lose power during the suspend."""
        machine.suspend(while_asleep=lambda: [each.power_cycle() for each in (self.hba, self.controller)])
        if self.ours:
            self.settle(machine)
        self.equal(f"{self.half}: the drive is active after resume", self.all["READS"]["mode"], "active")
        marks = self.marks("READS")
        with self.warp(machine):
            begun = time.monotonic()
            self.watch(machine, marks)
            self.judge_down("resume", marks, begun, 60 / IDLE)

    def print_table(self):
        lines = [("claim", "hd-idle's issues", f"{HD_IDLE} {self.version}", DRIVEKEEP)]
        lines += [(text, issues or "-", *self.results[cause].values())
                  for cause, (issues, text) in CASES.items()]
        self.show_table(lines)


class SpindownBeside(Spindown):
    """The checks of `spindown` run with hd-idle and with drivekeep, and a table shows the results of both"""
    rare = True
    time_limit = 2400
    halves = (HD_IDLE, DRIVEKEEP)


class SpindownUncounted(Keeping):
    """A drive is not spun down while the kernel does not count its reads and writes, and is spun down after the kernel counts them again"""
    SERIALS = ("HAND", "FILE")
    SECONDS = 900   # by the guest's clock
    RULE = '{{ match = "{}"; spindown_time = "2min"; spindown_by = "service"; {}}}'

    def run(self):
        links = [by_id(f"SN-{serial}") for serial in self.SERIALS]
        rules = [self.RULE.format(link, more) for link, more in zip(links, ("", "iostats = false; "))]
        drives = [self.drive(f"SN-{serial}") for serial in self.SERIALS]
        with self.drives(*drives) as (_, arguments), \
             self.machine(append="nohz=off", files={CONF: f"drives = ({', '.join(rules)});\n"},
                          setup=TRACING + "systemctl enable drivekeep\n", extra_args=arguments) as machine:
            self.settle(machine)
            by_hand = f"/sys/block/{self.node(machine, 'SN-HAND').removeprefix('/dev/')}/queue/iostats"
            machine.run(f"echo 0 > {by_hand}")
            with self.warp(machine):
                self.check_used(machine, drives, links)
                self.check_standby_request(machine, drives[0], links[0])
                machine.run(f"echo 1 > {by_hand}; sed -i 's/iostats = false/iostats = true/' {CONF}; systemctl reload drivekeep", 120)
                self.check_counted(machine, drives)

    def spin_downs(self, drives, marks):
        return [[e.comm for e in drive.log.since(mark, command=0xe0)] for drive, mark in zip(drives, marks)]

    def said(self, machine, pattern):
        return [len([r for r in self.records(machine, DRIVEKEEP_SERIAL=f"SN-{serial}") if re.search(pattern, r["MESSAGE"])])
                for serial in self.SERIALS]

    def check_used(self, machine, drives, links):
        """Reads each drive every two seconds, for much longer than the configured idle time."""
        marks = [drive.log.mark() for drive in drives]
        reads = "; ".join(f"dd if={link} of=/dev/null bs=4096 count=1 iflag=direct status=none" for link in links)
        reader = machine.start(f"while ! [ -e /run/enough ]; do {reads}; sleep 2; done")
        machine.run(f"sleep {self.SECONDS}", 600)
        for drive, mark in zip(drives, marks):
            drive.log.wait(mark, 120, number=self.SECONDS // 36 + 1, command=MEDIUM)
        machine.run("touch /run/enough")
        machine.wait_until(reader.done, 60)
        self.equal(f"drives with I/O that the kernel does not count are not spun down in {self.SECONDS} s",
                   self.spin_downs(drives, marks), [[], []])
        read = [len([e for e in drive.log.since(mark) if e.command in MEDIUM]) for drive, mark in zip(drives, marks)]
        self.claim("both drives were read all the time", min(read) > self.SECONDS / 36, str(read))
        self.equal("the journal says once for each drive that the kernel does not count I/O",
                   self.said(machine, "does not count the drive's reads and writes"), [1, 1])

    def check_standby_request(self, machine, drive, link):
        """Checks that 'drivekeep standby' still spins down a drive whose I/O the kernel does not count."""
        mark = drive.log.mark()
        slept = machine.run(f"drivekeep standby {link}", 300, check=False)
        self.claim("'drivekeep standby' puts a drive with uncounted I/O into standby",
                   slept.status == 0 and len(drive.log.since(mark, command=0xe0)) == 1,
                   slept.stdout + slept.stderr)
        machine.run(f"dd if={link} of=/dev/null bs=4096 count=1 iflag=direct status=none")

    def check_counted(self, machine, drives):
        """Checks the spin-down after the reads have stopped and the kernel counts I/O again."""
        marks = [drive.log.mark() for drive in drives]
        machine.wait_until(lambda: all(self.spin_downs(drives, marks)), 120)
        self.equal("with I/O counted again, each drive without I/O is spun down once",
                   [len(each) for each in self.spin_downs(drives, marks)], [1, 1])
        # Only the second drive is checked. 'drivekeep standby' has put the first drive into standby, after which the journal need not have
        # this message about the first drive.
        self.equal("the journal says once that the kernel counts the drive's I/O again",
                   self.said(machine, "counts the drive's reads and writes again")[1], 1)


class SpindownUncountedHour(SpindownUncounted):
    """The drives of `spindown-uncounted` are read for an hour of the guest's clock, and are not spun down before the kernel counts I/O"""
    rare = True
    SECONDS = 3600
