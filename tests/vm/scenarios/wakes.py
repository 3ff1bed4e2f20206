"""Who woke a drive that slept: the daemon names the process, its unit and what it did."""
import contextlib
import dataclasses
import json
import re

import schema
from keeping import CONF, HELD, TRACE, TRACE_FILTER, TRACES, TRACING, Keeping, ours

FILE = 'drives = ( { match = { transport = "sata"; }; spindown_time = "1min"; } );\n'
RECORD = "b2d3f4a1c6e84d0f9a7b5c3e1d2f4a68"
SERIALS = {"disk": "SN-SLEEPY", "member": "SN-MEMBER1", "other": "SN-MEMBER2", "btrfs": "SN-BTRFS"}

# A file system, swap space, a volume group; beside it two members of an array, and a btrfs. khugepaged reads from swap space, too, and
# zswap keeps in memory what would go there. What the container is registered with runs before the clocks do, and nobody waits less for
# an answer on D-Bus because of those.
LAYOUT = """
printf 'size=20MiB\\nsize=20MiB,type=swap\\n,\\n' | sfdisk -q {disk}; udevadm settle
mkfs.ext4 -q {disk}1; mkdir -p /data; mount {disk}1 /data; mkswap -q {disk}2; swapon {disk}2; pvcreate -q {disk}3; vgcreate -q box {disk}3
mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --assume-clean {member} {other}
mkfs.btrfs -q {btrfs}; mkdir -p /btrfs; mount {btrfs} /btrfs; echo old > /btrfs/file; dd if=/dev/urandom of=/btrfs/read bs=64k count=16
mkfs.ext4 -q /dev/md0; echo never > /sys/kernel/mm/transparent_hugepage/enabled; echo N > /sys/module/zswap/parameters/enabled
echo old > /data/file; dd if=/dev/zero of=/data/synced bs=4096 count=4 conv=fsync; sync; udevadm settle
systemctl set-environment SYSTEMD_BUS_TIMEOUT=1h; systemctl start systemd-machined
"""

# What is said by who waits for a drive, the root file system or the kernel for so many seconds: by that clock they are soon over.
IMPATIENT = "no answer for 20 s|/var/lib/drivekeep cannot be written|configure loopback network device, ignoring"


@dataclasses.dataclass(frozen=True)
class Cause:
    """What is run in a unit of its own, and what the record is to say. `before` has read from the drive what it is not about."""
    name: str
    command: str
    kind: str
    process: str
    what: str
    unit: str = "its own"
    before: str = "true"
    on: str = "disk"        # which drive sleeps and is woken
    ended: bool = False     # so soon that its unit may not be known
    quick: bool = False     # the drive spins up at once: the program's patience with it runs out thirty times faster
    warped: bool = True     # by clocks that run thirty times faster

    @property
    def own_unit(self):
        return "cause-" + re.sub("[^a-z]+", "-", self.name.lower()) + ".service"


CAUSES = (
    Cause("direct read", "dd if={disk} of=/dev/null bs=4096 count=1 iflag=direct", "read", "dd", "read sector 0"),
    Cause("buffered read", "dd if={disk} of=/dev/null bs=4096 count=1 skip=1000", "read", "dd", r"read sector \d+"),
    Cause("buffered write", "sh -c 'echo new >> /data/file; sleep 100'", "flush", "sh", r"changed inode \d+, which (kworker|jbd2)\S* wrote out",
          before="cat /data/file"),
    Cause("fsync", "dd if=/dev/zero of=/data/synced bs=4096 count=1 conv=fsync,notrunc", "write", "dd", r"wrote sector \d+", before="cat /data/synced"),
    Cause("btrfs, write", "sh -c 'echo new >> /btrfs/file; sleep 100'", "flush", "sh", r"changed inode \d+, which (kworker|btrfs-)\S* wrote out",
          before="cat /btrfs/file", on="btrfs"),
    Cause("btrfs, ended before the flush", "sh -c 'echo new >> /btrfs/file'", "flush", "sh", r"changed inode \d+, which (kworker|btrfs-)\S* wrote out",
          before="cat /btrfs/file", on="btrfs", ended=True),
    Cause("btrfs, read", "dd if=/btrfs/read of=/dev/null bs=64k count=1", "read", "dd", r"read sector \d+", on="btrfs"),
    Cause("btrfs, fsync", "dd if=/dev/zero of=/btrfs/read bs=4096 count=1 conv=fsync,notrunc", "write", "dd", r"wrote sector \d+", on="btrfs"),
    # Not HELD: smartctl flushes its output after each line, and would block before its command.
    Cause("smartctl", "smartctl -a {disk}", "command", "smartctl", r"sent SMART \w+", warped=False),
    Cause("hdparm", HELD.format("hdparm -I {disk}"), "command", "hdparm", "sent (IDENTIFY DEVICE|READ LOG EXT)", quick=True),
    Cause("udev", "sh -c ': > {disk}'", "udev", r"\(udev-(?:worker|synth)\)|systemd-udevd", "probed the drive", unit="systemd-udevd.service"),
    Cause("md, read", "dd if=/dev/md0 of=/dev/null bs=4096 count=1 iflag=direct", "read", "dd", r"read sector \d+", on="member"),
    Cause("md, write", "dd if=/dev/zero of=/dev/md0 bs=4096 count=1 seek=2000 oflag=direct", "write", "dd", r"wrote sector \d+ by way of md0_raid1",
          on="member"),
    Cause("md, check", "sh -c 'echo check > /sys/block/md0/md/sync_action'", "md", None, "worked on its array", unit=None, on="member"),
    Cause("LVM", "pvs", "read", "pvs", r"read sector \d+"),
    # The emulated kernel came to a standstill in one of forty of these where its clocks ran faster.
    Cause("swap", "-p MemoryMax=12M perl -e '$$x = q(x) x 14e6; sleep 100'", "swap", "perl", "needed swap space", warped=False),
    Cause("ended before the flush", "sh -c 'echo new >> /data/file'", "flush", "sh", r"changed inode \d+, which (kworker|jbd2)\S* wrote out",
          before="cat /data/file", ended=True),
    Cause("a container", "systemd-nspawn -q -M box -D / --volatile=yes --bind-ro=/data dd if=/data/synced of=/dev/null", "read", "dd",
          r"read sector \d+", unit="machine-box.scope"),
)

# Programs that ask whether a drive sleeps, or what it is, do not wake this one.
HARMLESS = ("hdparm -C {disk}", "smartctl -n standby -a {disk}", "drivekeep show {disk}", "drivekeep list",
            "cat /sys/block/*/stat", "lsblk")


class Wakes(Keeping):
    """Eighteen causes of a wake, each named with its process, its unit and what it did; nobody else is named, and nothing runs meanwhile"""
    long = True
    times = 1
    spin_up, quick_spin_up = 1, 0   # seconds: one is half a minute by the guest's clock
    options = {}
    programs = "drivekeepd"     # whose waking up is counted: a pattern of pgrep's

    def run(self):
        # As a real drive, one keeps whoever wakes it waiting.
        self.all = {name: self.drive(serial, size_mb=128, spin_up_seconds=self.spin_up) for name, serial in SERIALS.items()}
        self.sata = self.all["disk"]
        with self.drives(*self.all.values()) as (_, arguments), \
             self.machine(files={CONF: FILE}, setup=TRACING + "systemctl enable drivekeep\n", extra_args=arguments,
                          **self.options) as machine:
            self.settle(machine)
            names = {name: self.node(machine, serial) for name, serial in SERIALS.items()}
            machine.run(LAYOUT.format(**names), 120)
            self.check_asked_once(machine, names)
            with self.warp(machine):
                self.check_rest(machine, names)
                self.check_causes(machine, names, warped=True)
            self.check_causes(machine, names, warped=False)
            self.check_resumed(machine, names)
            self.check_end(machine)

    def wakes(self, machine):
        return self.records(machine, MESSAGE_ID=RECORD)

    def send_to_sleep(self, machine, names, drive="disk", before="true"):
        """By hdparm, just after the drive was used: the daemon finds out by itself, and has the drive watched."""
        node = names[drive]
        device = machine.run(f"readlink -f /sys/block/{node[5:]}/device").stdout
        host = device.rpartition("/")[2].partition(":")[0]
        machine.run(f"sync; echo 3 > /proc/sys/vm/drop_caches; {before} > /dev/null; "
                    f"dd if={node} of=/dev/null bs=4096 count=1 skip=500 iflag=direct status=none; sync; udevadm settle")
        self.mark = self.sata.log.mark()
        mark = self.all[drive].log.mark()
        traced = f"{TRACES} && grep -q 'host_no=={host}&' {TRACE_FILTER}"
        machine.run(f"hdparm -q -y {node}")

        def watched():
            # Once the drive has said that it sleeps, no time is to pass before it is watched: it would be asked again.
            if any(e.comm.startswith("keep-") and e.mode == "standby" for e in ours(self.all[drive], mark)):
                return machine.wait_until(traced, 60)
            return machine.run(traced, check=False).status == 0

        self.leap(machine, 240, watched, step=15)

    def check_causes(self, machine, names, warped):
        for _ in range(self.times):
            for cause in CAUSES:
                if cause.warped is warped:
                    self.check(machine, cause, names)

    def check_asked_once(self, machine, names):
        machine.run("hdparm -q -y {other}".format(**names))
        for drive in ("btrfs", "member", "disk"):
            self.send_to_sleep(machine, names, drive)
        # It may have been asked before that, too.
        self.equal("a drive that does not tell when it falls asleep is asked once", [e.registers()[:5] for e in ours(self.sata, self.mark)
                                                                                   if e.comm.startswith("keep-") and e.mode == "standby"], ["E5/00"])

    def check_rest(self, machine, names):
        """Nobody runs until a drive is used."""
        told = len(self.wakes(machine))
        for command in HARMLESS:
            machine.run(command.format(**names), check=False)
        self.equal("who only asks whether it sleeps is not told of", (self.wakes(machine)[told:], self.sata["mode"]), ([], "standby"))
        # The daemon asks the drive after a command of which it does not know that; then it is at rest again.
        self.settle(machine)
        machine.run("sleep 60")
        machine.wait_until("! systemctl is-active -q drivekeep-broker", 60)
        self.let_timers_end(machine, 1200, step=30)
        # In this order: what wakes the daemon from here on has its message counted.
        messages = self.messages(machine)
        mark, before = self.sata.log.mark(), self.sleeps(machine)
        machine.run("sleep 600", 900)
        after = self.sleeps(machine)
        messages = self.messages(machine) - messages
        self.equal("ten minutes asleep: the tracer has not run", (after["drivekeep-tracer"], after.keys()),
                   (before["drivekeep-tracer"], before.keys()))
        self.claim("nor has the daemon, but for messages of the kernel's", after["drivekeep"] - before["drivekeep"] <= 3 * messages,
                   f"{before} {after}, {messages} messages")
        self.equal("and no command was sent", [e.registers() for e in self.sata.log.since(mark)], [])
        self.rest = {unit: after[unit] - before.get(unit, 0) for unit in after}

    def messages(self, machine):
        return len(machine.run("dmesg").stdout.splitlines())

    def sleeps(self, machine):
        """How often each has been put to sleep, and so woken."""
        return self.of_each(machine, "awk '/^voluntary_ctxt/ { n += $2 } END { print n }' /proc/$pid/task/*/status")

    def of_each(self, machine, command):
        """A number of each process that there is, by its unit."""
        told = machine.run(f"for pid in $(pgrep '{self.programs}'); do echo $(grep -o '[a-z-]*.service' /proc/$pid/cgroup) $({command}); done")
        return {unit.removesuffix(".service"): int(number) for unit, number in map(str.split, told.stdout.splitlines())}

    def expected_unit(self, cause):
        if cause.unit == "its own":
            return cause.own_unit
        # machined creates machine-NAME.scope for a container, systemd-nspawn of later suites NAME.scope without machined.
        return cause.unit if not cause.unit or self.image.suite in ("bookworm", "trixie") else cause.unit.removeprefix("machine-")

    def check(self, machine, cause, names, tries=3):
        """The record of it. A command that had to wait in the drive's queue may be sent by a thread of the kernel's, and then nothing tells
        whose it is: such a cause is tried again."""
        drive = self.all[cause.on]
        self.send_to_sleep(machine, names, cause.on, cause.before)
        drive.power.spin_up_seconds = self.quick_spin_up if cause.quick else self.spin_up
        before, spin_ups = len(self.wakes(machine)), drive["spin_ups"]

        def found():    # another member of the array may be woken first
            return [r for r in self.wakes(machine)[before:] if r["DRIVEKEEP_SERIAL"] == SERIALS[cause.on]]

        words = cause.command.format(**names)
        running = machine.start(f"systemd-run -q --unit={cause.own_unit} {words}")
        machine.wait_until(lambda: drive["spin_ups"] > spin_ups and found(), 60)
        running.result(60)
        [record, *more] = found()
        if tries > 1 and cause.kind == "command" and (record.get("DRIVEKEEP_WAKE_PROCESS") or "").startswith("kworker/"):
            self.note(f"{record['MESSAGE']} Once more:")
            self.end(machine, cause, drive)
            return self.check(machine, cause, names, tries - 1)
        unit = record.get("DRIVEKEEP_WAKE_UNIT")
        self.equal(f"{cause.name}: kind and unit", (record.get("DRIVEKEEP_WAKE_KIND"), None if cause.ended and not unit else unit),
                   (cause.kind, None if cause.ended and not unit else self.expected_unit(cause)))
        process = record.get("DRIVEKEEP_WAKE_PROCESS")
        self.claim(f"{cause.name}: process", process is cause.process is None or re.fullmatch(cause.process, process or ""), f"{record}")
        self.match(f"{cause.name}: what", record.get("DRIVEKEEP_WAKE_WHAT", ""), f"^({cause.what})")
        self.equal(f"{cause.name}: told once, and the drive was woken once", (len(more), drive["spin_ups"] - spin_ups), (0, 1))
        self.note(record["MESSAGE"])
        self.end(machine, cause, drive)
        return record

    def check_resumed(self, machine, names):
        """The kernel resumes a suspended drive by its own command, for the process that needs the drive."""
        node = names["btrfs"]
        device = machine.run(f"readlink -f /sys/block/{node[5:]}/device").stdout.strip()
        host = device.rpartition("/")[2].partition(":")[0]
        machine.run("umount /btrfs; udevadm settle")
        for command, kind, process in ("dd if={btrfs} of=/dev/null bs=4096 count=1 skip=700 iflag=direct", "read", "dd"), \
                                      ("hdparm -B {btrfs}", "command", "hdparm"):
            machine.run(f"dd if={node} of=/dev/null bs=4096 count=1 skip=500 iflag=direct status=none; "
                        f"echo 100 > {device}/power/autosuspend_delay_ms; echo auto > {device}/power/control")
            machine.wait_until(f"grep -q '^suspended' {device}/power/runtime_status", 30)
            # After a long idle time the drive is polled seldom.
            self.leap(machine, 1800, lambda: machine.run(f"{TRACES} && grep -q 'host_no=={host}&' {TRACE_FILTER}", check=False).status == 0, step=60)
            before = len(self.wakes(machine))
            machine.run(f"echo 60000 > {device}/power/autosuspend_delay_ms; systemd-run -q --wait {command.format(**names)}", check=False)
            machine.wait_until(lambda: len(self.wakes(machine)) > before, 60)
            self.equal(f"{process} has the kernel resume the drive: the record names {process}, no kernel thread",
                       [(r.get("DRIVEKEEP_WAKE_KIND"), r.get("DRIVEKEEP_WAKE_PROCESS")) for r in self.wakes(machine)[before:]], [(kind, process)])
            self.note(self.wakes(machine)[-1]["MESSAGE"])
        machine.run(f"echo on > {device}/power/control")

    def end(self, machine, cause, drive):
        machine.run(f"systemctl stop {cause.own_unit}; systemctl reset-failed", check=False)

    def check_end(self, machine):
        told = machine.run("journalctl -b -q -o short-monotonic --no-pager -u drivekeep -u drivekeep-tracer -u drivekeep-broker -p notice").stdout
        self.claim("the service has run through", machine.run("systemctl show -P NRestarts drivekeep").stdout == "0\n", told)
        self.no_match("and nothing is complained of", re.sub(f".*({IMPATIENT}).*", "", told), ".")
        shown = machine.run("drivekeep wakes --summary").stdout
        self.match("drivekeep wakes --summary: who it was", shown, r"smartctl +cause-smartctl\.service$")
        self.match("and what helps", shown, "-n standby")
        for shape, line in ("wakes", "wakes"), ("wakes_summary", "wakes --summary"):
            self.equal(f"drivekeep {line} --json is as the schema says",
                       schema.errors(shape, json.loads(machine.run(f"drivekeep {line} --json").stdout)), [])
        self.match("who may not read the journal is told so",
                   machine.run("setpriv --reuid=65534 --clear-groups drivekeep wakes", check=False).stderr, "only root and members")
        machine.run("systemctl stop drivekeep")
        self.equal("the service has stopped: nothing is traced any more", machine.run(
            f"until systemctl show -P ActiveState drivekeep-tracer | grep -qE 'inactive|failed'; do sleep 0.3; done; ls -d {TRACE}", check=False).stdout, "")


class WakesOften(Wakes):
    """The same, twenty times each"""
    rare = True
    times = 20
    time_limit = 7200


# What people look with today: as each is run, and whom a line of it names that is about the drive. iotop's lines do not tell of a drive:
# they count if they name who is looked for, or a kernel thread that has the drive in its name.
OUTPUT = "/run/beside"
TOOLS = {
    "fatrace": ("fatrace", r"^(\S+)\(\d+\): \S+ +/(?:data|btrfs)/"),
    "iotop": ("iotop -b -o -t -qqq -d 1", r" % (?:/\S*/|\[)?((?:{wanted})(?= |$)|\S*(?:{drive}|flush-8:|btrfs|md0|kswapd)[^]\s]*)"),
    "biosnoop": ("biosnoop-bpfcc -Q", r"^\d\S* +(\S+) +\d+ +{drive} "),
    "auditd": (None, r'^type=SYSCALL .*comm="([^"]+)".*key="woke"'),
}
NOBODY = "(?!)"
BEGIN = """
mkdir {output}; ln -s /var/log/audit/audit.log {output}/auditd; sysctl -q kernel.task_delayacct=1; mount -t debugfs debugfs /sys/kernel/debug
for each in {disk}* {member} {other} {btrfs} /dev/md0 /data /btrfs; do auditctl -w $each -p rwxa -k woke; done
run() {{
        unit=$1; shift
        systemd-run -q --unit=$unit -E PYTHONUNBUFFERED=1 -p StandardOutput=file:{output}/$unit -p StandardError=file:{output}/$unit "$@"
}}
"""


class WakesBeside(Wakes):
    """The same beside fatrace, iotop, biosnoop and auditd, and a table of whom each names; at the speed of real clocks, as some poll"""
    rare = True
    time_limit = 4800
    packages = ("fatrace", "iotop", "bpfcc-tools", "linux-headers-amd64", "auditd")
    spin_up = quick_spin_up = 8
    options = {"append": "audit=1", "memory": 1536}
    programs = "drivekeepd|fatrace|iotop|biosnoop|^auditd"

    def run(self):
        self.table, self.end_of_table = [("who wakes it", *TOOLS, "drivekeep")], []
        try:
            super().run()
        finally:
            self.show_table(self.table + self.end_of_table)

    def warp(self, machine):
        return contextlib.nullcontext()

    def check_rest(self, machine, names):
        runs = "".join(f"run {name} {command}\n" for name, (command, _) in TOOLS.items() if command)
        machine.run(BEGIN.format(output=OUTPUT, **names) + runs)
        # It compiles a program, which an emulated machine takes minutes for.
        machine.run(f"until grep -q COMM {OUTPUT}/biosnoop || ! systemctl is-active -q biosnoop; do sleep 1; done", 1200)
        self.dead = {name for name in TOOLS if machine.run(f"systemctl is-active -q {name}", check=False).status}
        for name in self.dead:
            self.note(f"{name} cannot run here: {machine.run(f'tail -n 1 {OUTPUT}/{name}').stdout}")
        super().check_rest(machine, names)
        memory = self.of_each(machine, "awk '/^Pss:/ { print $2 }' /proc/$pid/smaps_rollup")
        self.end_of_table = [self.row(machine, "nobody: it is asked whether it sleeps", names["disk"], NOBODY, "no")]
        for what, told in (("wake-ups in ten minutes asleep", self.rest), ("memory meanwhile, kB (PSS)", memory)):
            ours = told["drivekeep"] + told["drivekeep-tracer"]
            self.end_of_table.append((what, *(str(told.get(name, "cannot run")) for name in TOOLS), str(ours)))

    def send_to_sleep(self, *arguments, **options):
        super().send_to_sleep(*arguments, **options)
        machine = arguments[0]
        self.begun = {name: int(machine.run(f"stat -Lc %s {OUTPUT}/{name}").stdout) for name in TOOLS}

    def check(self, machine, cause, names):
        failed = self.failed
        record = super().check(machine, cause, names)
        ours = "NO" if self.failed > failed else f"yes: {record.get('DRIVEKEEP_WAKE_UNIT') or 'no unit'}"
        self.table.append(self.row(machine, cause.name, names[cause.on], cause.process or "md0_resync", ours))

    def end(self, machine, cause, drive):
        """Some of them tell of a request when it is over, or look once a second."""
        machine.wait_until(lambda: drive["mode"] == "active", 60)
        machine.run("sleep 3")
        super().end(machine, cause, drive)

    def row(self, machine, text, node, wanted, ours):
        """Whom each tool has named since the drive was sent to sleep: "yes" and how many others, or only others, or nobody."""
        cells = []
        for name, (_, pattern) in TOOLS.items():
            said = machine.run(f"tail -c +{self.begun[name] + 1} {OUTPUT}/{name}").stdout
            found = set(re.findall(pattern.format(drive=node[5:], wanted=wanted), said, re.M))
            others = {each for each in found if not re.fullmatch(wanted, each)}
            more = f" and {len(others)} more" if others else ""
            cells.append("cannot run" if name in self.dead else f"yes{more}" if found > others else ", ".join(sorted(others)) or "no")
        return (text, *cells, ours)
