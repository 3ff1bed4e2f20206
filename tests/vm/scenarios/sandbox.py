"""The units' sandboxes: how much they close, and that the service does all its work in them."""
import pathlib
import re
import subprocess
import tempfile

from drives.usb import UsbDisk
from keeping import CONF, MODEL, TRACE, Keeping, by_id
from machine import nvme_disk, scsi_disk, virtio_disk

FILE = f"""
drives = (
  {{ match = "{by_id('SN-SATA')}";
    apm = 127; lookahead = true; spindown_time = "20min"; write_cache = "off"; acoustic_management = 128;
    error_recovery = "7s"; timeout = "60s"; scheduler = "bfq"; read_ahead_kb = 512; }},
  {{ match = {{ transport = "usb"; }};    apm = 127; spindown_time = "10min"; timeout = "50s"; }},
  {{ match = {{ transport = "nvme"; }};   write_cache = "off"; scheduler = "bfq"; read_ahead_kb = 256; }},
  {{ match = {{ transport = "scsi"; }};   queue_depth = 16; timeout = "1min"; }},
  {{ match = {{ transport = "virtio"; }}; scheduler = "bfq"; read_ahead_kb = 256; }}
);
"""

EXPECTED = {
    "SN-SATA": {"apm": "applied", "lookahead": "applied", "spindown_time": "unverifiable", "write_cache": "applied",
                "acoustic_management": "applied", "error_recovery": "applied", "timeout": "applied",
                "scheduler": "applied", "read_ahead_kb": "applied"},
    "SN-USB": {"apm": "applied", "spindown_time": "unverifiable", "timeout": "applied"},
    "NVME1": {"write_cache": "applied", "scheduler": "applied", "read_ahead_kb": "applied"},
    "SCSI1": {"queue_depth": "applied", "timeout": "applied"},
    "VIRTIO1": {"scheduler": "applied", "read_ahead_kb": "applied"},
}

COLD = {"apm": 128, "lookahead": False}
REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
ALLOWED = 1 << 17 | 1 << 21     # CAP_SYS_RAWIO, CAP_SYS_ADMIN
SANDBOX = "daemon/service/sandbox.c"
NEIGHBOUR = "/sys/kernel/tracing/instances/neighbour"
DEEDS = 12

# By whom a process may be taken over: a copy of the unit, its user, the sandbox that the process closes around itself, which of the
# deeds of attack.c it is let do then, and whether a process of root's is killed by them. The unit alone, and root in the place of the
# service, show that each deed can succeed.
PLACES = (
    ("drivekeep", "drivekeep", "unit", "owner owner_ex async", False),
    ("drivekeep", "root", "unit", "bus private kill owner owner_ex async shadow", True),
    ("drivekeep-broker", "root", "unit", "bus private kill sender owner owner_ex async shadow", True),
    ("drivekeep-broker", "root", "worker", "", False),
    ("drivekeep-broker", "root", "proxy", "bus private", False),
    ("drivekeep-tracer", "root", "unit", "kill owner owner_ex async shadow own", True),
    ("drivekeep-tracer", "root", "tracer", "own", False),
)
UNIT_COMPLAINTS = "journalctl -b --no-pager -o cat -p notice _PID=1 | grep drivekeep.service: || true"

LANDLOCK_SAID = "journalctl --sync; journalctl -b --no-pager -o cat -u drivekeep -p warning | grep -c 'has no Landlock' || true"

# Where a write would be harm; each of these is there, or its directory is, and is root's to write outside the sandbox.
CLOSED = """
    /etc/drivekeep/drivekeep.conf /usr/bin/new /boot/new /var/lib/new /var/log/new /run/new /run/udev/new /dev/new /dev/shm/new
    /sys/kernel/mm/ksm/run /sys/power/pm_async /sys/fs/cgroup/cgroup.max.depth /sys/module/block/parameters/events_dfl_poll_msecs
    /sys/devices/system/clocksource/clocksource0/current_clocksource /proc/sys/kernel/hostname /proc/sysrq-trigger
    /home/new /root/new /tmp/new /var/tmp/new /dev/kmsg
""".split()


class Sandbox(Keeping):
    """Exposure is 1.7 at most; who listens is not root and has no right to drives, who writes no other; a first USB disk works"""
    long = True
    core = True

    def run(self):
        self.sata, self.usb = self.drive("SN-SATA", acoustic=254, erc=(0, 0), **COLD), self.drive("SN-USB", **COLD)
        disks = [nvme_disk("NVME1"), scsi_disk("SCSI1"), virtio_disk("VIRTIO1")]
        with self.drives(self.sata, usb=[(self.usb, {"sense": "fixed"})]) as (hba, arguments), \
             self.machine(disks=disks, files={CONF: FILE}, extra_args=arguments,
                          setup="systemctl unmask sys-kernel-tracing.mount; systemctl enable drivekeep") as machine:
            self.settle(machine)
            self.find_processes(machine)
            self.check_exposure(machine)
            self.check_attack(machine)
            self.check_settings(machine)
            self.check_processes(machine)
            self.check_landlock(machine)
            self.check_mounts(machine)
            self.check_devices(machine)
            self.check_unmounting(machine)
            self.check_use(machine)
            self.check_refused_calls(machine)
        self.check_first_usb_disk()

    def check_exposure(self, machine):
        for unit, limit in (("drivekeep", 1.5), ("drivekeep-broker", 1.7), ("drivekeep-tracer", 1.1)):
            text = machine.run(f"systemd-analyze security --no-pager {unit}.service").stdout
            found = re.search(r"exposure level for \S+: ([\d.]+)", text)
            self.claim(f"{unit}: systemd-analyze security: {limit} or lower", found and float(found[1]) <= limit, text)
            self.note(found[0] if found else "no figure")
        self.equal("and of who listens to udev, not by PrivateNetwork=",
                   machine.run("systemctl show -P PrivateNetwork drivekeep").stdout, "no\n")
        self.equal("PID 1 has no complaint about the unit", machine.run(UNIT_COMPLAINTS).stdout, "")

    def check_attack(self, machine):
        """What each could do if it were somebody else's. To own a socket is granted to anybody; the signal is not."""
        self.compile(machine, "attack", "-Idaemon/core", "-Idaemon/service", "tests/vm/attack.c", SANDBOX, "-lsystemd", "-lseccomp")
        node = self.node(machine, "SN-SATA")
        own = machine.run(f"systemctl start sys-kernel-tracing.mount; mkdir {NEIGHBOUR}; readlink -f /sys/class/block/{node[5:]}").stdout.strip()
        for unit, user, sandbox, let, killed in PLACES:
            name = f"attack-{unit}-{sandbox}-{user}"
            victim = machine.run("systemd-run -q --unit=victim sleep infinity; systemctl show -P MainPID victim").stdout.strip()
            said = self.attack(machine, unit, name, f"/usr/lib/drivekeep-test/attack {name} {sandbox} {victim} {node} {own}", user)
            done = " ".join(line[4:] for line in said if line.startswith("yes"))
            self.claim(f"in a copy of {unit}.service, as {user}, with the sandbox of {sandbox}, it can do: {let or 'nothing'}",
                       done == let, "\n".join(said))
            self.equal("it was tried, each of them", len(said), DEEDS)
            self.equal(f"and root's process was {'killed' if killed else 'not killed'}",
                       machine.run("systemctl is-active victim", check=False).stdout.strip() in ("inactive", "failed"), killed)
            started = [f"/{name}.{way}" for way in ("bus", "private") if way in let.split()]
            if started:
                machine.wait_until(f"ls {' '.join(started)}", 30)
            else:
                self.equal("and nothing was run by PID 1", machine.run(f"ls /{name}.*", check=False).stdout, "")
            machine.run("systemctl stop victim; systemctl reset-failed victim", check=False)
        self.check_instance(machine)
        self.equal("the service's user owns what it writes, and no more",
                   machine.run("stat -c '%U %n' /run/drivekeep/drives /run/drivekeep/drives/.private /var/lib/drivekeep /run/drivekeep-broker "
                               "/run/drivekeep /etc/drivekeep/drivekeep.conf").stdout.split()[::2], ["drivekeep"] * 4 + ["root"] * 2)

    def attack(self, machine, unit, name, command, user="root"):
        """Runs a command in a copy of the unit, of a name that PID 1 has not heard: it need not read all units anew. What it said."""
        copy = machine.run(f"cat /usr/lib/systemd/system/{unit}.service").stdout
        copy = re.sub(r"(?m)^(ExecStart=|ExecReload|ExecStopPost=-touch|Restart|RuntimeDirectory|Requires=drivekeep|Wants=drivekeep|Alias|Type|User|LogLevelMax).*\n", "", copy)
        machine.push(f"/etc/systemd/system/{name}.service", copy.replace("[Service]\n", f"[Service]\nType=oneshot\nUser={user}\nExecStart={command}\n"))
        machine.run(f"systemctl start {name}", check=False)
        return machine.run(f"journalctl --sync; journalctl -b -o cat --no-pager -u {name} -t attack").stdout.splitlines()

    def check_instance(self, machine):
        """The tracer's instance of tracefs, which its unit makes and removes outside its walls."""
        for number, (how, before, command, wanted) in enumerate((
                ("when it ends", "true", f"ls {TRACE}/tracing_on", "success"),
                ("also one that was left behind, which is made anew", f"mkdir {TRACE}; echo 0 >{TRACE}/tracing_on", f"grep -qx 1 {TRACE}/tracing_on", "success"),
                ("also when it is killed", "true", "sh -c 'kill -KILL $$$$'", "signal"),
                ("and what there is not is not missed: without tracefs", "umount /sys/kernel/tracing && systemctl mask --runtime sys-kernel-tracing.mount",
                 f"sh -c '! test -e {TRACE}'", "success"))):
            machine.run(f"{before}; true")
            self.attack(machine, "drivekeep-tracer", f"attack-{number}", command)
            state = machine.run(f"systemctl show -P Result attack-{number}; ls -d {TRACE} 2>/dev/null; echo end").stdout
            self.equal(f"the tracer's instance is removed {how}", state, f"{wanted}\nend\n")

    def compile(self, machine, name, *arguments):
        with tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp") as directory:
            program = pathlib.Path(directory) / name
            subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-Werror", "-o", program, *arguments], check=True, cwd=REPOSITORY)
            machine.push(f"/usr/lib/drivekeep-test/{name}", program.read_bytes(), 0o755)

    def check_settings(self, machine):
        # The first that was told: QEMU's SCSI disk may have a unit attention for a visit after that.
        first = {}
        for record in self.records(machine, SYSLOG_IDENTIFIER="drivekeepd"):
            if "DRIVEKEEP_SETTING" in record:
                first.setdefault((record.get("DRIVEKEEP_SERIAL"), record["DRIVEKEEP_SETTING"]), record["DRIVEKEEP_VERDICT"])
        for serial, wanted in EXPECTED.items():
            self.equal(f"{serial}: verdicts", {s: first.get((serial, s)) for s in wanted}, wanted)
        self.check_by_others(machine)

    def check_by_others(self, machine):
        """hdparm, smartctl, nvme, sysfs and the drives themselves."""
        node = self.node(machine, "SN-SATA")
        text = machine.run(f"hdparm -B -W -A -M -a {node}").stdout
        for pattern in (r"APM_level\s+= 127", r"write-caching =\s+0", r"look-ahead\s+=\s+1", r"acoustic\s+= 128",
                        r"readahead\s+= 1024"):
            self.match("hdparm agrees", text, pattern)
        self.match("smartctl reads the error recovery limits", machine.run(f"smartctl -l scterc {node}", check=False).stdout,
                   r"Read:\s+70[^$]*Write:\s+70")
        self.equal("the drive's own word: standby timer", self.sata["standby_seconds"], 1200)
        self.equal("the USB drive's own word", (self.usb["apm"], self.usb["standby_seconds"]), (127, 600))
        self.match("nvme reads the write cache off", machine.run("nvme get-feature /dev/nvme0 --feature-id=6").stdout,
                   r"value:0+$")
        scsi = machine.run("readlink -f /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SCSI1").stdout.strip()
        virtio = machine.run("readlink -f /dev/disk/by-id/virtio-VIRTIO1").stdout.strip()
        usb = machine.run("readlink -f /dev/disk/by-id/usb-*-0:0").stdout.strip()
        # The cache's type is the kernel's view, which `device/rescan` brings into step with the drive.
        for path, wanted in ((f"{node}/queue/scheduler", r"\[bfq\]"), (f"{node}/queue/read_ahead_kb", "^512$"),
                             (f"{node}/device/timeout", "^60$"), (f"{node}/device/scsi_disk/*/cache_type", "^write through$"),
                             (f"{usb}/device/timeout", "^50$"), (f"{scsi}/device/queue_depth", "^16$"),
                             (f"{scsi}/device/timeout", "^60$"), (f"{virtio}/queue/scheduler", r"\[bfq\]"),
                             (f"{virtio}/queue/read_ahead_kb", "^256$"), ("nvme0n1/queue/scheduler", r"\[bfq\]"),
                             ("nvme0n1/queue/read_ahead_kb", "^256$")):
            path = "/sys/block/" + path.removeprefix("/dev/")
            self.match(f"{path}", machine.run(f"cat {path}").stdout, wanted)

    def check_processes(self, machine):
        """The manager's and a worker's rights: one that waits for a slow drive's answer can be looked at."""
        self.let_broker_go(machine)
        self.sata.inject("hang", command=0xEC, origin="passthrough", seconds=8)
        applying = machine.start(f"drivekeep apply {self.node(machine, 'SN-SATA')}")
        # With its files: on a busy machine the answer is there before all else has been looked at.
        worker, *opened = machine.wait_until("w=$(pgrep '^keep-sd' | head -n 1) && readlink /proc/$w/fd/* >/tmp/opened && "
                                             "grep -q '^/dev/sd' /tmp/opened && echo $w && sed 's/:.*//' /tmp/opened").stdout.split()
        self.broker = machine.run(f"ps -o ppid= -p {worker}").stdout.strip()
        for name, pid, allowed in (("the manager", self.manager, 0), ("the broker", self.broker, ALLOWED), ("a worker", worker, ALLOWED)):
            fields = dict(line.split(":\t", 1) for line in machine.run(f"cat /proc/{pid}/status").stdout.splitlines())
            held = [int(fields[f"Cap{kind}"], 16) for kind in ("Bnd", "Prm", "Eff")]
            self.equal(f"{name} may have, and has, {'SYS_RAWIO and SYS_ADMIN alone' if allowed else 'no capability'}",
                       [f"{c:x}" for c in held], [f"{allowed:x}"] * 3)
            self.equal(f"{name} inherits and passes on none", [int(fields[f"Cap{kind}"], 16) for kind in ("Inh", "Amb")], [0, 0])
            self.equal(f"{name}: no new privileges, system calls are filtered", (fields["NoNewPrivs"], fields["Seccomp"]),
                       ("1", "2"))
            self.match(f"{name} is as nice as its unit says, towards other sessions too",
                       machine.run(f"cat /proc/{pid}/autogroup").stdout, r" nice 10$")
        self.equal("the manager alone is not root", machine.run(f"stat -c %U /proc/{self.manager} /proc/{self.broker} /proc/{worker}").stdout.split(),
                   ["drivekeep", "root", "root"])
        self.check_worker(machine, worker, opened)
        applying.result(120)
        self.find_processes(machine)
        self.equal("state files are for everybody",
                   machine.run("stat -c %a /run/drivekeep/drives /run/drivekeep/drives/* | sort -u").stdout, "644\n755\n")

    def check_worker(self, machine, worker, opened):
        """What it has open, and that a filter of its own is around it."""
        filters = int(machine.run(f"grep -Po 'Seccomp_filters:\\t\\K.*' /proc/{worker}/status").stdout)
        broker = int(machine.run(f"grep -Po 'Seccomp_filters:\\t\\K.*' /proc/{self.broker}/status").stdout)
        self.equal("a worker has one filter more than its broker", filters - broker, 1)
        self.equal("and open: its drive, its socket, the standard streams", set(opened) - {"/dev/null", "socket"},
                   {self.node(machine, "SN-SATA")})

    def check_landlock(self, machine):
        """A program that closes the worker's own sandbox around itself, in a root shell where nothing else is closed."""
        self.compile(machine, "confined", "-Idaemon/core", "-Idaemon/service", "tests/vm/confined.c", SANDBOX, "-lseccomp")
        self.equal("nobody says that there is no Landlock", machine.run(LANDLOCK_SAID).stdout, "0\n")
        node = self.node(machine, "SN-SATA")
        syspath = machine.run(f"readlink -f /sys/class/block/{node[5:]}").stdout.strip()
        other = "/sys/class/block/nvme0n1/queue/read_ahead_kb"
        paths = {node: "r-", "/dev/nvme0n1": "--", "/dev/vda": "--", "/etc/shadow": "--", "/usr/lib/drivekeep-test/confined": "--",
                 f"{syspath}/queue/read_ahead_kb": "rw", other: "r-", "/proc/swaps": "r-"}
        said = machine.run(f"/usr/lib/drivekeep-test/confined {node} {syspath} {' '.join(paths)}").stdout
        found = {path: rights for rights, path in (line.split() for line in said.splitlines())}
        self.equal("a worker's own sandbox: its drive for reading, its drive's files in sysfs, and no other drive or file", found, paths)
        said = machine.run(f"/usr/lib/drivekeep-test/confined - {syspath} {' '.join(paths)}").stdout
        self.equal("which without it are all open to root", {line[0] for line in said.splitlines()}, {"r"})

    def find_processes(self, machine):
        """Right after visits; the broker, which ends when nothing is asked of it, is stopped to be looked at."""
        self.manager, self.broker = (machine.run(f"systemctl show -P MainPID {unit}").stdout.strip()
                                     for unit in ("drivekeep", "drivekeep-broker"))
        machine.run(f"kill -STOP {self.broker}")

    def let_broker_go(self, machine):
        machine.run(f"kill -CONT {self.broker}")

    def inside(self, command, pid=None):
        """A shell command in the file system namespace of the one that listens, or of pid's, with all of root's capabilities."""
        return f"nsenter -t {pid or self.manager} -m sh -c '{command}'"

    def check_mounts(self, machine):
        # What the manager may do with devices its control group says.
        for name, pid, closed in (("the manager", self.manager, [path for path in CLOSED if path != "/dev/kmsg"]),
                                  ("the broker", self.broker, CLOSED)):
            opened = [path for path in closed if machine.run(self.inside(f"exec 3>>{path}", pid), check=False).status == 0]
            self.equal(f"{name} can write neither to the system, nor the kernel's knobs, nor homes", opened, [])
        open_outside = [path for path in CLOSED if machine.run(f"exec 3>>{path}", check=False).status == 0]
        machine.run("rm -f $(ls " + " ".join(path for path in CLOSED if path.endswith("/new")) + " 2>/dev/null)")
        self.equal("root outside can", sorted(set(CLOSED) - set(open_outside)), [])
        read_ahead = "/sys/block/nvme0n1/queue/read_ahead_kb"
        for path, manager, broker in (("/run/drivekeep/drives/new", 0, 2), ("/var/lib/drivekeep/new~", 0, 2), (read_ahead, 2, 0)):
            self.equal(f"{path}: one of the two can write to it",
                       [machine.run(self.inside(f"exec 3>>{path}", pid), check=False).status for pid in (self.manager, self.broker)],
                       [manager, broker])
        machine.run("rm /run/drivekeep/drives/new /var/lib/drivekeep/new~")

    def in_cgroup(self, machine, command, unit="drivekeep-broker"):
        return machine.run(f"sh -c 'echo $$ > /sys/fs/cgroup/system.slice/{unit}.service/cgroup.procs && {command}'", check=False).status == 0

    def check_devices(self, machine):
        node = self.node(machine, "SN-SATA")
        for path in (node, "/dev/nvme0n1", "/dev/null"):
            self.claim(f"it can read {path}", self.in_cgroup(machine, f"exec 3<{path}"))
        for path in ("/dev/vda", "/dev/nvme0", "/dev/mem", "/dev/input/event0"):
            outside = machine.run(f"exec 3<{path}", check=False).status == 0
            self.equal(f"root can read {path}, and it cannot", (outside, self.in_cgroup(machine, f"exec 3<{path}")), (True, False))
        for path in (node, "/dev/nvme0n1"):
            self.claim(f"it cannot write to {path}", not self.in_cgroup(machine, f"exec 3<>{path}"))
        self.equal("the manager can read the kernel's messages, and write none",
                   [self.in_cgroup(machine, f"exec 3{how}/dev/kmsg", "drivekeep") for how in ("<", ">>")], [True, False])
        self.claim("the service itself did not suffer",
                   machine.run("systemctl is-active drivekeep", check=False).stdout == "active\n")

    def check_unmounting(self, machine):
        """A namespace that held a file system would keep its disk busy for as long as the service runs."""
        device = "/dev/disk/by-id/virtio-VIRTIO1"
        machine.run(f"mkfs.ext4 -q {device}")
        for place in ("/home", "/mnt"):
            self.let_broker_go(machine)
            machine.run(f"mount {device} {place} && systemctl restart drivekeep")
            self.settle(machine)
            self.find_processes(machine)
            machine.run(f"umount {place}")
            free = machine.run(f"e2fsck -fn {device}", check=False)
            self.no_match(f"what was mounted on {place} when the service started can be unmounted",
                          free.stdout + free.stderr, "in use|is mounted")
            for pid in (self.manager, self.broker):
                self.equal(f"and is nowhere in its namespace: {place}",
                           machine.run(f"grep -c $(readlink -f {device}) /proc/{pid}/mountinfo", check=False).stdout, "0\n")

    def check_use(self, machine):
        """What is mounted where homes are is in use for writing as well as what is mounted elsewhere."""
        device = "/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SCSI1"
        self.let_broker_go(machine)
        machine.run(f"mkfs.ext4 -q {device} && mount {device} /home")
        machine.push(CONF, 'drives = ( { match = { transport = "scsi"; }; read_only = true; } );\n')
        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        found = self.status(machine)["SCSI1"].get("read_only", {})
        self.equal("read_only of a disk that is mounted on /home", found.get("verdict"), "forbidden")
        self.match("which it names", found.get("reason") or "", r"in use \(/home\)")
        self.equal("and it stays writable", machine.run(f"blockdev --getro {device}").stdout, "0\n")
        machine.run("umount /home")
        # As a container's, which the service's namespace does not have.
        machine.run("systemd-run -q --unit=elsewhere -p PrivateMounts=yes -p Type=notify -p NotifyAccess=all "
                    f"sh -c 'mount {device} /mnt && systemd-notify --ready && sleep 10000'")
        machine.run("drivekeep apply", 60, check=False)
        found = self.status(machine)["SCSI1"].get("read_only", {})
        self.equal("read_only of a disk that is mounted in another mount namespace", found.get("verdict"), "forbidden")
        self.match("which it does not name, since it cannot see it", found.get("reason") or "", r"in use \(sd[a-z]+ is open exclusively\)")
        self.equal("and it stays writable", machine.run(f"blockdev --getro {device}").stdout, "0\n")
        machine.run("systemctl stop elsewhere")
        machine.push(CONF, FILE)
        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        self.find_processes(machine)

    def check_refused_calls(self, machine):
        """Refused system calls end with EPERM; were any of them needed, this would be its end."""
        self.let_broker_go(machine)
        for unit in ("drivekeep", "drivekeep-broker"):
            machine.push(f"/etc/systemd/system/{unit}.service.d/kill.conf", "[Service]\nSystemCallErrorNumber=kill\n")
        machine.run("systemctl stop drivekeep; rm -rf /run/drivekeep/drives; systemctl daemon-reload")
        self.sata.power_cycle()
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        self.equal("the same when each system call that the filter refuses kills",
                   (machine.run("systemctl show -P NRestarts drivekeep").stdout, self.sata["apm"], self.sata["lookahead"],
                    self.sata["write_cache"], self.sata["standby_seconds"]), ("0\n", 127, True, False, 1200))
        self.no_match("and no worker was killed", machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout, "killed|ended before")

    def check_first_usb_disk(self):
        """A machine that has never seen a disk of the sd driver, whose module is not even loaded."""
        drive = self.drive("SN-FIRST", **COLD)
        with tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp") as directory, \
             UsbDisk(pathlib.Path(directory) / "usb", drive, plugged=False, sense="fixed") as disk, \
             self.machine(disks=[nvme_disk("NVME1"), virtio_disk("VIRTIO1")], files={CONF: FILE}, append="lsm=yama",
                          setup="systemctl enable drivekeep", extra_args=disk.qemu_args()) as machine:
            self.settle(machine)
            self.equal("NVMe and virtio alone: the sd module is not loaded",
                       machine.run("grep -c ' sd$' /proc/devices; lsmod | grep -c ^sd_mod", check=False).stdout, "0\n0\n")
            self.equal("and the NVMe drive is configured", self.status(machine)["NVME1"]["write_cache"]["verdict"], "applied")
            disk.plug()
            machine.wait_until("ls /dev/disk/by-id/usb-*-0:0", 90)
            self.settle(machine)
            self.equal("the first USB disk ever is configured", (drive["apm"], drive["standby_seconds"]), (127, 600))
            self.match("hdparm agrees", machine.run("hdparm -B /dev/sda").stdout, r"APM_level\s+= 127")
            self.no_match("this kernel's Landlock is switched off", machine.run("cat /sys/kernel/security/lsm").stdout, "landlock")
            self.equal("that is said once, however many workers there were", machine.run(LANDLOCK_SAID).stdout, "1\n")
            self.equal("and its verdicts say so", {s: v["verdict"] for s, v in self.status(machine, "sda").popitem()[1].items()},
                       EXPECTED["SN-USB"])
