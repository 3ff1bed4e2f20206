"""The daemon names the waker of a drive in standby: the process, its unit and its action."""
import contextlib
import dataclasses
import json
import re

import schema
from keeping import CALM, CONF, HELD, OURS, TRACE, TRACE_FILTER, TRACES, TRACING, Keeping, ours

FILE = 'drives = ( { match = { transport = "sata"; }; spindown_time = "1min"; } );\n'
RECORD = "b2d3f4a1c6e84d0f9a7b5c3e1d2f4a68"
FOLLOWED, POWER_EVENTS = "/run/followed", ("standby", "active", "unknown")
SERIALS = {"disk": "SN-SLEEPY", "member": "SN-MEMBER1", "other": "SN-MEMBER2", "btrfs": "SN-BTRFS"}

# "disk" has a file system, swap space and a volume group. "member" and "other" are members of an array, and "btrfs" has a btrfs.
# khugepaged is off because it would read from swap space, and zswap is off because it would keep the pages in memory. systemd-machined is
# started before the clocks run fast. The D-Bus timeout is one hour, because on a fast clock it expires after two minutes.
LAYOUT = """
printf 'size=20MiB\\nsize=20MiB,type=swap\\n,\\n' | sfdisk -q {disk}; udevadm settle
mkfs.ext4 -q {disk}1; mkdir -p /data; mount {disk}1 /data; mkswap -q {disk}2; swapon {disk}2; pvcreate -q {disk}3; vgcreate -q box {disk}3
mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --assume-clean {member} {other}
mkfs.btrfs -q {btrfs}; mkdir -p /btrfs; mount {btrfs} /btrfs; echo old > /btrfs/file; dd if=/dev/urandom of=/btrfs/read bs=64k count=16
mkfs.ext4 -q /dev/md0; echo never > /sys/kernel/mm/transparent_hugepage/enabled; echo N > /sys/module/zswap/parameters/enabled
echo old > /data/file; dd if=/dev/zero of=/data/synced bs=4096 count=4 conv=fsync; sync; udevadm settle
systemctl set-environment SYSTEMD_BUS_TIMEOUT=1h; systemctl start systemd-machined
"""

# Messages about expired time limits for a drive, PID 1, the root file system or the kernel. The fast clock makes the limits expire early.
IMPATIENT = "no answer for 20 s|still waiting for systemd to answer|/var/lib/drivekeep cannot be written|configure loopback network device, ignoring"


@dataclasses.dataclass(frozen=True)
class Cause:
    """A command that runs in a separate unit, and the expected record. The command `before` caches data that `command` would otherwise
    read first."""
    name: str
    command: str
    kind: str
    process: str
    what: str
    unit: str = "its own"
    before: str = "true"
    on: str = "disk"        # the drive in standby that is woken
    ended: bool = False     # the process ends so soon that its unit may not be known
    quick: bool = False     # the drive spins up at once, because the fast clocks make the program's timeout expire early
    warped: bool = True     # the cause is checked while clocks run thirty times faster

    @property
    def own_unit(self):
        return "cause-" + re.sub("[^a-z]+", "-", self.name.lower()) + ".service"


CAUSES = (
    Cause("direct read", "dd if={disk} of=/dev/null bs=4096 count=1 iflag=direct", "read", "dd", "read sector 0"),
    Cause("buffered read", "dd if={disk} of=/dev/null bs=4096 count=1 skip=1000", "read", "dd", r"read sector \d+"),
    Cause("buffered write", "sh -c 'echo new >> /data/file; sleep 100'", "flush", "sh",
          r"changed inode \d+, and (kworker|jbd2)\S* wrote the change to the drive", before="cat /data/file"),
    Cause("fsync", "dd if=/dev/zero of=/data/synced bs=4096 count=1 conv=fsync,notrunc", "write", "dd", r"wrote sector \d+", before="cat /data/synced"),
    Cause("btrfs, write", "sh -c 'echo new >> /btrfs/file; sleep 100'", "flush", "sh",
          r"changed inode \d+, and (kworker|btrfs-)\S* wrote the change to the drive", before="cat /btrfs/file", on="btrfs"),
    Cause("btrfs, process ended before the flush", "sh -c 'echo new >> /btrfs/file'", "flush", "sh",
          r"changed inode \d+, and (kworker|btrfs-)\S* wrote the change to the drive", before="cat /btrfs/file", on="btrfs", ended=True),
    Cause("btrfs, read", "dd if=/btrfs/read of=/dev/null bs=64k count=1", "read", "dd", r"read sector \d+", on="btrfs"),
    Cause("btrfs, fsync", "dd if=/dev/zero of=/btrfs/read bs=4096 count=1 conv=fsync,notrunc", "write", "dd", r"wrote sector \d+", on="btrfs"),
    # HELD is not used: smartctl flushes its output after each line and would block before it sends its command.
    Cause("smartctl", "smartctl -a {disk}", "command", "smartctl", r"sent SMART \w+", warped=False),
    Cause("hdparm", HELD.format("hdparm -I {disk}"), "command", "hdparm", "sent (IDENTIFY DEVICE|READ LOG EXT)", quick=True),
    Cause("udev", "sh -c ': > {disk}'", "udev", r"\(udev-(?:worker|synth)\)|systemd-udevd", "probed the drive", unit="systemd-udevd.service"),
    Cause("md, read", "dd if=/dev/md0 of=/dev/null bs=4096 count=1 iflag=direct", "read", "dd", r"read sector \d+", on="member"),
    Cause("md, write", "dd if=/dev/zero of=/dev/md0 bs=4096 count=1 seek=2000 oflag=direct", "write", "dd", r"wrote sector \d+ by way of md0_raid1",
          on="member"),
    Cause("md, check", "sh -c 'echo check > /sys/block/md0/md/sync_action'", "md", None, "worked on the drive's array", unit=None, on="member"),
    Cause("LVM", "pvs", "read", "pvs", r"read sector \d+"),
    # With faster clocks the emulated kernel hung in one of forty runs of this cause.
    Cause("swap", "-p MemoryMax=12M perl -e '$$x = q(x) x 14e6; sleep 100'", "swap", "perl", "needed swap space", warped=False),
    Cause("process ended before the flush", "sh -c 'echo new >> /data/file'", "flush", "sh",
          r"changed inode \d+, and (kworker|jbd2)\S* wrote the change to the drive", before="cat /data/file", ended=True),
    Cause("a container", "systemd-nspawn -q -M box -D / --volatile=yes --bind-ro=/data dd if=/data/synced of=/dev/null", "read", "dd",
          r"read sector \d+", unit="machine-box.scope"),
)

# Stops the service and its tracer, and starts the service again.
RESTART = f"systemctl stop drivekeep; while {TRACES}; do sleep 0.3; done; systemctl start drivekeep"

# Commands that make the kernel resume a drive with a btrfs: a command to run before the suspend, a command to run during the suspend, the
# command that needs the drive, and the expected record.
RESUMES = (
    ("cat /btrfs/file", "true", "sh -c 'echo new >> /btrfs/file'", "flush", "sh"),
    ("umount /btrfs", "true", "dd if={btrfs} of=/dev/null bs=4096 count=1 skip=700 iflag=direct", "read", "dd"),
    ("true", "true", "dd if={btrfs} of=/dev/null bs=4096 count=1 skip=900", "read", "dd"),
    ("true", "true", "dd if=/dev/zero of={btrfs} bs=4096 count=1 seek=20000 oflag=direct conv=notrunc", "write", "dd"),
    ("true", "true", "smartctl -a {btrfs}", "command", "smartctl"),
    ("true", RESTART, "hdparm -B {btrfs}", "command", "hdparm"),
)

# Commands that query the power mode or the identity of a drive without waking it.
HARMLESS = ("hdparm -C {disk}", "smartctl -n standby -a {disk}", "drivekeep show {disk}", "drivekeep list",
            "cat /sys/block/*/stat", "lsblk")


class Wakes(Keeping):
    """Each of eighteen wakes is recorded once with process, unit and action; the daemon and tracer are idle while drives are in standby"""
    long = True
    times = 1
    spin_up, quick_spin_up = 1, 0   # seconds; one second is half a minute of the guest's clock
    options = {}
    programs = "drivekeepd"     # processes whose wake-ups are counted: a pgrep pattern

    def run(self):
        # Like a real drive, the emulated drive makes the waker wait for its spin-up.
        self.all = {name: self.drive(serial, size_mb=128, spin_up_seconds=self.spin_up) for name, serial in SERIALS.items()}
        self.sata = self.all["disk"]
        with self.drives(*self.all.values()) as (_, arguments), \
             self.machine(files={CONF: FILE}, setup=TRACING + "systemctl enable drivekeep\n", extra_args=arguments,
                          **self.options) as machine:
            self.settle(machine)
            names = {name: self.node(machine, serial) for name, serial in SERIALS.items()}
            machine.run(LAYOUT.format(**names), 120)
            self.check_one_poll(machine, names)
            with self.warp(machine):
                self.check_idle(machine, names)
                self.check_causes(machine, names, warped=True)
            followed = self.follow(machine)
            self.check_causes(machine, names, warped=False)
            self.check_resumed(machine, names)
            self.check_followed(machine, followed)
            self.check_end(machine)

    def wakes(self, machine):
        return self.records(machine, MESSAGE_ID=RECORD)

    def traced_in_standby(self, node, host):
        """Returns a shell condition that is true while the tracer watches a drive in standby. The tracer also watches active drives."""
        return f"{TRACES} && grep -q 'host_no=={host}&' {TRACE_FILTER} && grep -qE '^POWER=(standby|suspended)' /run/drivekeep/drives/{node[5:]}"

    def use(self, machine, names, drive, before="true"):
        """Makes a drive active. Returns a shell condition that is true while the tracer watches the drive in standby."""
        node = names[drive]
        device = machine.run(f"readlink -f /sys/block/{node[5:]}/device").stdout
        # By the fast clock of warp(), the usual limit of two minutes would be over after four seconds.
        machine.run(f"sync; echo 3 > /proc/sys/vm/drop_caches; {before} > /dev/null; "
                    f"dd if={node} of=/dev/null bs=4096 count=1 skip=500 iflag=direct status=none; sync; udevadm settle -t 3600")
        self.mark = self.sata.log.mark()
        return self.traced_in_standby(node, device.rpartition("/")[2].partition(":")[0])

    def put_into_standby(self, machine, names, drive="disk", before="true"):
        """Puts a drive into standby right after I/O, and waits until the tracer watches the drive."""
        traced = self.use(machine, names, drive, before)
        machine.run(f"drivekeep standby {names[drive]}", 120)
        machine.wait_until(traced, 60)

    def wait_poll(self, machine, names, drive):
        """Puts a drive into standby by hdparm, right after I/O, and waits until the daemon has noticed at its next poll and the tracer watches
        the drive."""
        traced = self.use(machine, names, drive)
        mark = self.all[drive].log.mark()
        machine.run(f"hdparm -q -y {names[drive]}")

        def watched():
            # After the drive has reported standby, the clock must not leap before the tracer watches the drive: the daemon would poll again.
            if any(e.comm.startswith("keep-") and e.mode == "standby" for e in ours(self.all[drive], mark)):
                return machine.wait_until(traced, 60)
            return machine.run(traced, check=False).status == 0

        self.leap(machine, 240, watched, step=15)

    def check_causes(self, machine, names, warped):
        for _ in range(self.times):
            for cause in CAUSES:
                if cause.warped is warped:
                    self.check(machine, cause, names)

    def check_one_poll(self, machine, names):
        machine.run("hdparm -q -y {other}".format(**names))
        for drive in ("btrfs", "member", "disk"):
            self.wait_poll(machine, names, drive)
        # Only polls in standby count: the daemon may have polled the drive before, too.
        self.equal("a drive in standby gets one CHECK POWER MODE", [e.registers()[:5] for e in ours(self.sata, self.mark)
                                                                                   if e.comm.startswith("keep-") and e.mode == "standby"], ["E5/00"])

    def check_idle(self, machine, names):
        """Checks that the daemon and the tracer do not run while no drive has I/O."""
        told = len(self.wakes(machine))
        for command in HARMLESS:
            machine.run(command.format(**names), check=False)
        self.equal("programs that only query the power mode neither wake the drive nor are recorded",
                   (self.wakes(machine)[told:], self.sata["mode"]), ([], "standby"))
        # Some commands in HARMLESS make the daemon poll the drive, because the daemon does not know that these commands are harmless. The
        # test waits until the daemon is idle again.
        self.settle(machine)
        machine.run("sleep 60")
        machine.wait_until("! systemctl is-active -q drivekeep-broker", 60)
        self.let_timers_end(machine, 1200, step=30)
        # The count of messages begins earlier and ends later than the count of wake-ups, so that it covers the message of each counted
        # wake-up.
        messages = self.messages(machine)
        mark, before = self.sata.log.mark(), self.wakeups(machine)
        machine.run("sleep 600", 900)
        after = self.wakeups(machine)
        messages = self.messages(machine) - messages
        self.equal("during ten minutes in standby the tracer does not run", (after["drivekeep-tracer"], after.keys()),
                   (before["drivekeep-tracer"], before.keys()))
        self.claim("during ten minutes in standby the daemon wakes up only for kernel messages",
                   after["drivekeep"] - before["drivekeep"] <= 3 * messages,
                   f"{before} {after}, {messages} messages")
        self.equal("during ten minutes in standby the drive gets no command", [e.registers() for e in self.sata.log.since(mark)], [])
        self.rest = {unit: after[unit] - before.get(unit, 0) for unit in after}

    def messages(self, machine):
        return len(machine.run("dmesg").stdout.splitlines())

    def wakeups(self, machine):
        """Returns the voluntary context switches of each process, which count its wake-ups."""
        return self.of_each(machine, "awk '/^voluntary_ctxt/ { n += $2 } END { print n }' /proc/$pid/task/*/status")

    def of_each(self, machine, command):
        """Runs a command that prints a number for each process of `programs`; returns the numbers by unit."""
        told = machine.run(f"for pid in $(pgrep '{self.programs}'); do echo $(grep -o '[a-z-]*.service' /proc/$pid/cgroup) $({command}); done")
        return {unit.removesuffix(".service"): int(number) for unit, number in map(str.split, told.stdout.splitlines())}

    def expected_unit(self, cause):
        if cause.unit == "its own":
            return cause.own_unit
        # For a container, machined creates machine-NAME.scope. In later suites systemd-nspawn creates NAME.scope without machined.
        return cause.unit if not cause.unit or self.image.suite in ("bookworm", "trixie") else cause.unit.removeprefix("machine-")

    def check(self, machine, cause, names, tries=3):
        """Checks the record of one cause and returns the record. If a command had to wait in the drive's queue, a kernel thread sends
        the command, and the record cannot name the command's process. The test then tries the cause again."""
        drive = self.all[cause.on]
        self.put_into_standby(machine, names, cause.on, cause.before)
        drive.power.spin_up_seconds = self.quick_spin_up if cause.quick else self.spin_up
        before, spin_ups = len(self.wakes(machine)), drive["spin_ups"]

        def found():    # only records of this drive: another member of the array may be woken first
            return [r for r in self.wakes(machine)[before:] if r["DRIVEKEEP_SERIAL"] == SERIALS[cause.on]]

        words = cause.command.format(**names)
        running = machine.start(f"systemd-run -q --collect --unit={cause.own_unit} {words}")
        machine.wait_until(lambda: drive["spin_ups"] > spin_ups and found(), 60)
        running.result(60)
        [record, *more] = found()
        if tries > 1 and cause.kind == "command" and (record.get("DRIVEKEEP_WAKE_PROCESS") or "").startswith("kworker/"):
            self.note(f"{record['MESSAGE']} A kernel thread sent the command, so this cause is tried again:")
            self.end(machine, cause, drive)
            return self.check(machine, cause, names, tries - 1)
        unit = record.get("DRIVEKEEP_WAKE_UNIT")
        self.equal(f"{cause.name}: the record has the expected kind and unit",
                   (record.get("DRIVEKEEP_WAKE_KIND"), None if cause.ended and not unit else unit),
                   (cause.kind, None if cause.ended and not unit else self.expected_unit(cause)))
        process = record.get("DRIVEKEEP_WAKE_PROCESS")
        self.claim(f"{cause.name}: the record has the expected process",
                   process is cause.process is None or re.fullmatch(cause.process, process or ""), f"{record}")
        self.match(f"{cause.name}: the record has the expected action", record.get("DRIVEKEEP_WAKE_WHAT", ""), f"^({cause.what})")
        self.equal(f"{cause.name}: the drive is woken once and the wake is recorded once",
                   (len(more), drive["spin_ups"] - spin_ups), (0, 1))
        self.note(record["MESSAGE"])
        self.end(machine, cause, drive)
        return record

    def check_resumed(self, machine, names):
        """Checks the waker of a runtime-suspended drive. When a process needs the drive, a kernel thread sends the command
        that resumes the drive. The record must still name the process."""
        node = names["btrfs"]
        device = machine.run(f"readlink -f /sys/block/{node[5:]}/device").stdout.strip()
        host = device.rpartition("/")[2].partition(":")[0]
        for before, during, command, kind, process in RESUMES:
            machine.run(f"{before.format(**names)}; sync; udevadm settle; "
                        f"dd if={node} of=/dev/null bs=4096 count=1 skip=500 iflag=direct status=none; "
                        f"echo 100 > {device}/power/autosuspend_delay_ms; echo auto > {device}/power/control")
            machine.wait_until(f"grep -q '^suspended' {device}/power/runtime_status", 30)
            # The kernel's message starts the tracing. No clock leaps here, so that no poll is due.
            machine.wait_until(self.traced_in_standby(node, host), 60)
            machine.run(during)
            machine.wait_until(self.traced_in_standby(node, host), 60)
            seen = len(self.wakes(machine))
            machine.run(f"echo 60000 > {device}/power/autosuspend_delay_ms; systemd-run -q --wait {command.format(**names)}", check=False)
            machine.wait_until(lambda: len(self.wakes(machine)) > seen, 120)
            self.equal(f"{command}{', after a restart of the service' * (during == RESTART)}: "
                       f"the kernel resumes the drive, and the record names {process}, not a kernel thread",
                       [(r.get("DRIVEKEEP_WAKE_KIND"), r.get("DRIVEKEEP_WAKE_PROCESS")) for r in self.wakes(machine)[seen:]], [(kind, process)])
            self.note(self.wakes(machine)[-1]["MESSAGE"])
        machine.run(f"echo on > {device}/power/control")

    def follow(self, machine):
        """Starts `drivekeep events --follow`. Returns the number of wakes recorded before."""
        machine.run(f"systemd-run -q --unit=follow -p StandardOutput=file:{FOLLOWED} drivekeep events --follow --json")
        return len(self.wakes(machine))

    def check_followed(self, machine, before):
        records = self.wakes(machine)[before:]
        wakes = [(r.get("DRIVEKEEP_WAKE_PROCESS"), r.get("DRIVEKEEP_WAKE_UNIT"), r.get("DRIVEKEEP_WAKE_WHAT")) for r in records]

        def events():
            documents = [json.loads(line) for line in machine.run(f"cat {FOLLOWED}").stdout.splitlines()]
            return [e for d in documents for e in d["events"]]

        def actives():
            return [(e["process"], e["unit"], e["what"]) for e in events() if e["event"] == "active"]

        machine.wait_until(lambda: len(actives()) >= len(wakes), 60)
        self.equal("drivekeep events --follow prints each wake once, with process, unit and action", actives(), wakes)
        self.equal("after a restart of the service, drivekeep events --follow prints standby again",
                   [e["event"] for e in events() if e["serial"] == SERIALS["btrfs"] and e["event"] in POWER_EVENTS][-2:], ["standby", "active"])
        self.equal("the output of drivekeep events --json matches the schema",
                   schema.errors("events", json.loads(machine.run("systemctl stop follow; drivekeep events --json").stdout)), [])

    def end(self, machine, cause, drive):
        machine.run(f"systemctl stop {cause.own_unit}", check=False)

    def check_end(self, machine):
        told = machine.run("journalctl -b -q -o short-monotonic --no-pager -u drivekeep -u drivekeep-tracer -u drivekeep-broker -p notice").stdout
        self.claim("the service was never restarted", machine.run("systemctl show -P NRestarts drivekeep").stdout == "0\n", told)
        self.no_match("the service logs no problem except expected time-outs", re.sub(f".*({IMPATIENT}).*", "", told), ".")
        shown = machine.run("drivekeep wakes --summary").stdout
        self.match("drivekeep wakes --summary shows the waker and its unit", shown, r"smartctl +cause-smartctl\.service$")
        self.match("drivekeep wakes --summary suggests how to avoid the wake", shown, "-n standby")
        for shape, line in ("wakes", "wakes"), ("wakes_summary", "wakes --summary"):
            self.equal(f"the output of drivekeep {line} --json matches the schema",
                       schema.errors(shape, json.loads(machine.run(f"drivekeep {line} --json").stdout)), [])
        self.match("drivekeep wakes names the missing permission to read the journal",
                   machine.run("setpriv --reuid=65534 --clear-groups drivekeep wakes", check=False).stderr, "only root and members")
        machine.run("systemctl stop drivekeep")
        self.equal("after the service has stopped, the tracefs instance is gone", machine.run(
            f"until systemctl show -P ActiveState drivekeep-tracer | grep -qE 'inactive|failed'; do sleep 0.3; done; ls -d {TRACE}", check=False).stdout, "")


class WakesOften(Wakes):
    """Each cause of `wakes` runs twenty times"""
    rare = True
    times = 20
    time_limit = 7200


ACTIVE = "d6a04b7e38f14c1c9c5f0a72e91b36d4"
ACTIVE_FILE = FILE.replace("1min", "4min")
# Clocks run ten times faster. With a larger factor, a slow host could not run the programs of all drives every 90 s of the guest's time, and
# some drives would enter standby.
ACTIVE_FACTOR = 10


@dataclasses.dataclass(frozen=True)
class Keeper:
    """A command that a separate unit runs again and again, so that the drive never enters standby, and the expected record."""
    name: str
    command: str
    kind: str
    process: str
    what: str
    setup: str = "true"
    unit: str = "its own"
    lasting: bool = False   # the process does not end, so its unit is always known
    daemon: bool = False    # the command repeats its work itself
    advice: str = "."       # a pattern
    opened: str = ""        # path of the changed file, which the process has open

    @property
    def own_unit(self):
        return f"keeper-{self.name}.service"


# Each cause has a drive of its own, whose node is {d}. "mirror" has the drives {d} and {other}.
EXT4 = f"mkfs.ext4 -q {{d}}; mkdir -p /mnt/{{name}}; mount -o {CALM},{{options}} {{d}} /mnt/{{name}}; echo old > /mnt/{{name}}/file; sync"
HELD_OPEN = "sh -c 'exec 3>> {file}; while :; do echo new >&3; sleep 90; done'"
KEEPERS = (
    Keeper("smart", "smartctl -q silent -A {d}", "command", "smartctl", "sent SMART ", advice='spindown_by = "service"'),
    Keeper("temperature", "smartctl -q silent -l scttempsts {d}", "command", "smartctl", "sent (SMART|READ LOG)"),
    Keeper("smartd", "smartd --no-fork --interval=90 --configfile=/run/smartd.conf", "command", "smartd", "sent (SMART|CHECK|IDENTIFY)",
           setup="echo {d} -H > /run/smartd.conf", lasting=True, daemon=True),
    Keeper("reader", "dd if={d} of=/dev/null bs=4096 count=1 iflag=direct status=none", "read", "dd", "read from the drive"),
    Keeper("atime", "cat /mnt/atime/file > /dev/null", "flush", "cat", r"changed (a file|inode \d+), and \S+ wrote the change to the drive",
           setup=EXT4.format(name="atime", options="strictatime", d="{d}"), advice="noatime"),
    Keeper("append", HELD_OPEN.format(file="/mnt/append/file"), "flush", "sh", r"changed (a file|inode \d+), and \S+ wrote the change to the drive",
           setup=EXT4.format(name="append", options="noatime", d="{d}"), lasting=True, daemon=True, advice="move its files",
           opened="/mnt/append/file"),
    Keeper("fsync", "dd if=/dev/zero of=/mnt/fsync/file bs=4096 count=1 conv=fsync,notrunc status=none", "write", "dd", "wrote to the drive",
           setup=EXT4.format(name="fsync", options="noatime", d="{d}")),
    Keeper("btrfs", "echo new >> /mnt/btrfs/file", "flush", "sh", r"changed (a file|inode \d+), and \S+ wrote the change to the drive", lasting=True,
           setup="mkfs.btrfs -q {d}; mkdir -p /mnt/btrfs; mount {d} /mnt/btrfs; sync"),
    Keeper("udev", ": > {d}", "udev", r"\(udev-(?:worker|synth)\)|systemd-udevd", "probed the drive", unit="systemd-udevd.service",
           advice="opened the drive for writing"),
    Keeper("lvm", "pvs --devices {d} > /dev/null", "read", "pvs", "read from the drive", setup="pvcreate -q {d}", advice="global_filter"),
    Keeper("linear", "dd if=/dev/mapper/linear of=/dev/null bs=4096 count=1 iflag=direct status=none", "read", "dd", "read from the drive",
           setup="dmsetup create linear --table '0 2048 linear {d} 2048'"),
    Keeper("mirror", "dd if=/dev/zero of=/dev/md0 bs=4096 count=1 seek=2000 oflag=direct status=none", "write", "dd", "wrote to the drive",
           setup="mdadm -q --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --assume-clean {d} {other}"),
)


class KeptActive(Keeping):
    """Each of twelve programs that keep a drive active is named with its unit and action; a program that only polls the power mode is not named"""
    options = {}
    limit = 300     # seconds of the host until all programs are found

    def run(self):
        names = [*(k.name for k in KEEPERS), "other", "polled"]
        self.all = {name: self.drive(f"SN-{name.upper()}", size_mb=128, ignores_timer=name == "polled") for name in names}
        with self.drives(*self.all.values()) as (_, arguments), \
             self.machine(files={CONF: ACTIVE_FILE}, setup=TRACING + "systemctl enable drivekeep\n", extra_args=arguments,
                          **self.options) as machine:
            self.settle(machine)
            self.nodes = {name: self.node(machine, f"SN-{name.upper()}") for name in names}
            machine.run("\n".join(k.setup.format(d=self.nodes[k.name], other=self.nodes["other"]) for k in KEEPERS), 300)
            self.begin(machine)
            with self.warp(machine, ACTIVE_FACTOR):
                machine.wait_until(f"test $(grep -l ^KEPT_WHEN= /run/drivekeep/drives/* | wc -l) -ge {len(names) - 1}", self.limit)
                machine.wait_until(f"! {TRACES}", 120)
            for keeper in KEEPERS:
                self.check(machine, keeper, keeper.name)
            self.check(machine, KEEPERS[-1], "other")
            self.equal("hdparm -C is not named", self.kept(machine, "polled"), [])
            self.check_sleep(machine)

    def begin(self, machine):
        """Starts a unit for each cause. Clocks run ten times faster soon, so that 90 s are nine seconds."""
        lines = []
        for keeper in KEEPERS:
            command = keeper.command.format(d=self.nodes[keeper.name])
            if not keeper.daemon:
                command = f'sh -c "while :; do {command}; sleep 90; done"'
            lines.append(f"systemd-run -q --unit={keeper.own_unit} {command}")
        lines.append(f"systemd-run -q --unit=poller sh -c 'while :; do hdparm -C {self.nodes['polled']}; sleep 90; done'")
        machine.run("\n".join(lines), 300)

    def kept(self, machine, name):
        return self.records(machine, MESSAGE_ID=ACTIVE, DRIVEKEEP_SERIAL=f"SN-{name.upper()}")

    def check(self, machine, keeper, name):
        records = self.kept(machine, name)
        unit = keeper.own_unit if keeper.unit == "its own" else keeper.unit
        units = (unit,) if keeper.lasting else (unit, None)
        self.claim(f"{name}: a record has the expected kind, process, unit and action",
                   any(r["DRIVEKEEP_WAKE_KIND"] == keeper.kind and re.fullmatch(keeper.process, r.get("DRIVEKEEP_WAKE_PROCESS", "")) and
                       r.get("DRIVEKEEP_WAKE_UNIT") in units and re.match(keeper.what, r["DRIVEKEEP_WAKE_WHAT"]) for r in records),
                   "\n".join(f"{r['MESSAGE']} {r}" for r in records))
        self.equal(f"{name}: no record names the unit of another drive's program",
                   [r["MESSAGE"] for r in records if r.get("DRIVEKEEP_WAKE_UNIT", unit).startswith("keeper-") and
                    r.get("DRIVEKEEP_WAKE_UNIT", unit) != keeper.own_unit], [])
        node = self.nodes[name]
        shown = machine.run(f"drivekeep wakes {node}").stdout
        self.match(f"{name}: drivekeep wakes names the program", shown, rf"{node[5:]}: kept active: {keeper.process} .*{keeper.what}")
        self.match(f"{name}: drivekeep wakes shows the remedy", shown, keeper.advice)
        if keeper.opened:
            self.check_path(machine, keeper, node, shown)
        for record in records:
            self.note(record["MESSAGE"])

    def check_path(self, machine, keeper, node, shown):
        """Checks that root sees the path of the changed file, which is still open, without a command to the drive."""
        def paths(line):
            told = json.loads(machine.run(f"{line} --json").stdout)
            kept = (told["drives"][0] if "drives" in told else told)["kept_active"]["programs"]
            return {(p["inode"], p["path"]) for p in kept if p["kind"] == "flush" and p["unit"] == keeper.own_unit}

        inode = int(machine.run(f"stat -c %i {keeper.opened}").stdout)
        lines = [f"drivekeep {verb} {node}" for verb in ("wakes", "explain")]
        for line in lines:
            self.equal(f"{keeper.name}: {line} --json has the path of the open file", paths(line), {(inode, keeper.opened)})
        self.match(f"{keeper.name}: drivekeep wakes shows the path of the open file", shown,
                   rf"(?m)^{node[5:]}: inode {inode} is the open file {keeper.opened}$")
        self.no_match(f"{keeper.name}: drivekeep wakes shows no find command", shown, "-inum")
        reader = machine.run(f"setpriv --reuid=65534 --regid=65534 --groups=$(getent group systemd-journal | cut -d: -f3) {lines[0]}").stdout
        self.equal(f"{keeper.name}: a user who can read the journal sees the program, but not the path",
                   ("kept active: sh" in reader, keeper.opened in reader), (True, False))
        machine.run(f"systemctl kill --signal=STOP {keeper.own_unit}; sync; hdparm -q -y {node}")
        drive = self.all[keeper.name]
        mark = drive.log.mark()
        for line in lines:
            machine.run(line)
        self.equal(f"{keeper.name}: the search for the open file sends no command to a drive in standby",
                   ([e.registers() for e in drive.log.since(mark) if e.command and not e.comm.startswith(OURS)], drive["mode"]), ([], "standby"))

    def check_sleep(self, machine):
        """Checks that the programs are no longer shown after the drive has entered standby."""
        node = self.nodes["reader"]
        self.match("drivekeep explain names the program", machine.run(f"drivekeep explain {node}").stdout, r"Kept active by \(.*\):\n  dd .*read from the drive")
        for shape, line in ("wakes", "wakes"), ("explain", f"explain {node}"):
            self.equal(f"the output of drivekeep {line} --json matches the schema",
                       schema.errors(shape, json.loads(machine.run(f"drivekeep {line} --json").stdout)), [])
        machine.run(f"systemctl stop keeper-reader; hdparm -q -y {node}")
        self.leap(machine, 1200, lambda: machine.run(f"grep -q ^KEPT_WHEN= /run/drivekeep/drives/{node[5:]}", check=False).status, step=30)
        self.no_match("after the drive has entered standby, drivekeep explain names no program", machine.run(f"drivekeep explain {node}").stdout, "Kept active")
        told = machine.run("journalctl -b -q --no-pager -u drivekeep -u drivekeep-tracer -u drivekeep-broker -p notice").stdout
        self.no_match("the service logs no problem except expected time-outs", re.sub(f".*({IMPATIENT}).*", "", told), ".")


# Tools other than drivekeep that find wakers. Each tool has a command, and a pattern that finds the process in a line about the drive.
# iotop's lines name no drive: a line counts if it names the wanted process, or a kernel thread with the drive or one of {threads} in its name.
OUTPUT = "/run/beside"
TOOLS = {
    "fatrace": ("fatrace", r"^(\S+)\(\d+\): \S+ +{place}/"),
    "iotop": ("iotop -b -o -t -qqq -d {pause}", r" % (?:/\S*/|\[)?((?:{wanted})(?= |$)|\S*(?:{drive}|{threads})[^]\s]*)"),
    "biosnoop": ("biosnoop-bpfcc -Q", r"^\d\S* +(\S+) +\d+ +{drive} "),
    "auditd": (None, r'^type=SYSCALL .*comm="([^"]+)".*key="{key}"'),
}
NOBODY = "(?!)"
BEGIN = """
mkdir {output}; ln -s /var/log/audit/audit.log {output}/auditd; sysctl -q kernel.task_delayacct=1; mount -t debugfs debugfs /sys/kernel/debug
run() {{
        unit=$1; shift
        systemd-run -q --unit=$unit -E PYTHONUNBUFFERED=1 -p StandardOutput=file:{output}/$unit -p StandardError=file:{output}/$unit "$@"
}}
"""


class Beside:
    """Starts the tools, and finds the processes that each tool names. Mixed into a scenario."""
    rare = True
    time_limit = 4800
    packages = ("fatrace", "iotop", "bpfcc-tools", "linux-headers-amd64", "auditd")
    options = {"append": "audit=1", "memory": 1536}
    pause = 1       # seconds of the guest's clock between two polls of iotop

    def begin_tools(self, machine, audited):
        """Starts the tools. `audited`: the files that auditd watches, by key."""
        watches = "".join(f"for each in {files}; do auditctl -w $each -p rwxa -k {key}; done\n" for key, files in audited.items())
        runs = "".join(f"run {name} {command.format(pause=self.pause)}\n" for name, (command, _) in TOOLS.items() if command)
        machine.run(BEGIN.format(output=OUTPUT) + watches + runs)
        # biosnoop first compiles a program, which takes minutes in an emulated machine.
        machine.run(f"until grep -q COMM {OUTPUT}/biosnoop || ! systemctl is-active -q biosnoop; do sleep 1; done", 1200)
        self.dead = {name for name in TOOLS if machine.run(f"systemctl is-active -q {name}", check=False).status}
        for name in self.dead:
            self.note(f"{name} cannot run here: {machine.run(f'tail -n 1 {OUTPUT}/{name}').stdout}")

    def mark_tools(self, machine):
        self.begun = {name: int(machine.run(f"stat -Lc %s {OUTPUT}/{name}").stdout) for name in TOOLS}

    def row(self, machine, text, node, wanted, ours, key="woke", place="/(?:data|btrfs)", threads="flush-8:|btrfs|md0|kswapd"):
        """Returns a row of the table, with a cell for each tool. The cell is "yes" if the tool has named the right process since
        mark_tools(), and "yes and 2 more" if the tool has also named two wrong processes. Without the right process, the cell lists the
        wrong names, or is "no" if there is no name."""
        cells = []
        for name, (_, pattern) in TOOLS.items():
            said = machine.run(f"tail -c +{self.begun[name] + 1} {OUTPUT}/{name}").stdout
            found = set(re.findall(pattern.format(drive=node[5:], wanted=wanted, key=key, place=place, threads=threads), said, re.M))
            others = {each for each in found if not re.fullmatch(wanted, each)}
            more = f" and {len(others)} more" if others else ""
            cells.append("cannot run" if name in self.dead else f"yes{more}" if found > others else ", ".join(sorted(others)) or "no")
        return (text, *cells, ours)


class WakesBeside(Beside, Wakes):
    """fatrace, iotop, biosnoop and auditd run beside the causes of `wakes`, and a table shows the wakers that each tool names"""
    spin_up = quick_spin_up = 8
    programs = "drivekeepd|fatrace|iotop|biosnoop|^auditd"

    def run(self):
        self.table, self.end_of_table = [("cause of the wake", *TOOLS, "drivekeep")], []
        try:
            super().run()
        finally:
            self.show_table(self.table + self.end_of_table)

    def warp(self, machine):
        return contextlib.nullcontext()

    def check_idle(self, machine, names):
        self.begin_tools(machine, {"woke": "{disk}* {member} {other} {btrfs} /dev/md0 /data /btrfs".format(**names)})
        super().check_idle(machine, names)
        memory = self.of_each(machine, "awk '/^Pss:/ { print $2 }' /proc/$pid/smaps_rollup")
        self.end_of_table = [self.row(machine, "none: programs query the power state", names["disk"], NOBODY, "no")]
        for what, told in (("wake-ups of the program during ten minutes of standby", self.rest), ("memory in this time, kB (PSS)", memory)):
            ours = told["drivekeep"] + told["drivekeep-tracer"]
            self.end_of_table.append((what, *(str(told.get(name, "cannot run")) for name in TOOLS), str(ours)))

    def put_into_standby(self, *arguments, **options):
        super().put_into_standby(*arguments, **options)
        self.mark_tools(arguments[0])

    def check(self, machine, cause, names):
        failed = self.failed
        record = super().check(machine, cause, names)
        ours = "NO" if self.failed > failed else f"yes: {record.get('DRIVEKEEP_WAKE_UNIT') or 'no unit'}"
        self.table.append(self.row(machine, cause.name, names[cause.on], cause.process or "md0_resync", ours))

    def end(self, machine, cause, drive):
        """Waits before the unit of the cause is stopped: some tools poll once a second, or report a request only when the request has ended."""
        machine.wait_until(lambda: drive["mode"] == "active", 60)
        machine.run("sleep 3")
        super().end(machine, cause, drive)


class KeptBeside(Beside, KeptActive):
    """fatrace, iotop, biosnoop and auditd run beside the programs of `kept-active`, and a table shows the programs that each tool names"""
    pause = ACTIVE_FACTOR      # one second of the host
    limit = 1200

    def run(self):
        self.table = [("program that keeps the drive active", *TOOLS, "drivekeep")]
        try:
            super().run()
        finally:
            self.show_table(self.table)

    def begin(self, machine):
        audited = {name: f"{node} $(ls -d /mnt/{name})" for name, node in self.nodes.items()}
        audited["linear"] += " $(readlink -f /dev/mapper/linear)"
        audited["mirror"] += " /dev/md0"
        self.begin_tools(machine, audited)
        # The drives may have entered standby while the tools were starting.
        machine.run("\n".join(f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct" for node in self.nodes.values()))
        self.mark_tools(machine)
        super().begin(machine)

    def check(self, machine, keeper, name):
        failed = self.failed
        super().check(machine, keeper, name)
        self.equal(f"{name}: drivekeep does not name the tools that run beside", [
            r["MESSAGE"] for r in self.kept(machine, name) if r.get("DRIVEKEEP_WAKE_UNIT", "").removesuffix(".service") in TOOLS or
            re.match("fatrace|iotop|biosnoop|python|audit", r.get("DRIVEKEEP_WAKE_PROCESS", ""))], [])
        if name == keeper.name:
            unit = keeper.own_unit if keeper.unit == "its own" else keeper.unit
            named = any(r.get("DRIVEKEEP_WAKE_UNIT") == unit for r in self.kept(machine, name))
            ours = "NO" if self.failed > failed else f"yes: {unit if named else 'no unit'}"
            self.table.append(self.row(machine, name, self.nodes[name], keeper.process, ours,
                                       key=name, place=f"/mnt/{name}", threads=NOBODY))   # other threads may work for other drives
