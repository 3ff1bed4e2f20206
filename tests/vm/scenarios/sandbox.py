"""The units' sandboxes: they deny what the service does not need, and the service does all its work in them."""
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
ATTACKS = 12

# Each row is a process that an attacker may control: the unit whose copy runs the process, the user, the sandbox that the process applies
# to itself, the attacks of attack.c that succeed, and whether the attacks kill a process of root. The rows
# whose sandbox is "unit" show that each attack can succeed. For this, drivekeep.service has an extra row with root as its user.
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

# Files that must not be written. Each file or its directory exists, and root can write to the file outside the sandbox.
CLOSED = """
    /etc/drivekeep/drivekeep.conf /usr/bin/new /boot/new /var/lib/new /var/log/new /run/new /run/udev/new /dev/new /dev/shm/new
    /sys/kernel/mm/ksm/run /sys/power/pm_async /sys/fs/cgroup/cgroup.max.depth /sys/module/block/parameters/events_dfl_poll_msecs
    /sys/devices/system/clocksource/clocksource0/current_clocksource /proc/sys/kernel/hostname /proc/sysrq-trigger
    /home/new /root/new /tmp/new /var/tmp/new /dev/kmsg
""".split()


class Sandbox(Keeping):
    """systemd rates each unit's exposure at most 1.7; the manager is not root and accesses no drive; a worker has one drive; a USB disk works"""
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
            self.claim(f"{unit}: systemd-analyze security reports an exposure of {limit} or lower",
                       found and float(found[1]) <= limit, text)
            self.note(found[0] if found else "no figure")
        self.equal("drivekeep.service, which listens to udev, does not use PrivateNetwork=",
                   machine.run("systemctl show -P PrivateNetwork drivekeep").stdout, "no\n")
        self.equal("PID 1 logs no problem with drivekeep.service", machine.run(UNIT_COMPLAINTS).stdout, "")

    def check_attack(self, machine):
        """Checks what an attacker in control of each process can do. Any process may name another process as the
        owner of a socket, but the sandbox denies the kernel's signal to this owner."""
        self.compile(machine, "attack", "-Idaemon/core", "-Idaemon/service", "tests/vm/attack.c", SANDBOX, "-lsystemd", "-lseccomp")
        node = self.node(machine, "SN-SATA")
        own = machine.run(f"systemctl start sys-kernel-tracing.mount; mkdir {NEIGHBOUR}; readlink -f /sys/class/block/{node[5:]}").stdout.strip()
        for unit, user, sandbox, let, killed in PLACES:
            name = f"attack-{unit}-{sandbox}-{user}"
            victim = machine.run("systemd-run -q --unit=victim sleep infinity; systemctl show -P MainPID victim").stdout.strip()
            said = self.attack(machine, unit, name, f"/usr/lib/drivekeep-test/attack {name} {sandbox} {victim} {node} {own}", user)
            done = " ".join(line[4:] for line in said if line.startswith("yes"))
            self.claim(f"in a copy of {unit}.service, as {user}, in the {sandbox} sandbox, an attacker can do: {let or 'nothing'}",
                       done == let, "\n".join(said))
            self.equal("every attack was tried", len(said), ATTACKS)
            self.equal(f"the attacks have {'killed' if killed else 'not killed'} the process of root",
                       machine.run("systemctl is-active victim", check=False).stdout.strip() in ("inactive", "failed"), killed)
            started = [f"/{name}.{way}" for way in ("bus", "private") if way in let.split()]
            if started:
                machine.wait_until(f"ls {' '.join(started)}", 30)
            else:
                self.equal("PID 1 ran no command for the attacker", machine.run(f"ls /{name}.*", check=False).stdout, "")
            machine.run("systemctl stop victim; systemctl reset-failed victim", check=False)
        self.check_instance(machine)
        self.equal("the service's user owns the files that the service writes, and no others",
                   machine.run("stat -c '%U %n' /run/drivekeep/drives /run/drivekeep/drives/.private /var/lib/drivekeep /run/drivekeep-broker "
                               "/run/drivekeep /etc/drivekeep/drivekeep.conf").stdout.split()[::2], ["drivekeep"] * 4 + ["root"] * 2)

    def attack(self, machine, unit, name, command, user="root"):
        """Runs a command in a copy of the unit, and returns the lines that the command logged. No daemon-reload is necessary, because
        PID 1 has not yet loaded a unit with the name of the copy."""
        copy = machine.run(f"cat /usr/lib/systemd/system/{unit}.service").stdout
        copy = re.sub(r"(?m)^(ExecStart=|ExecReload|ExecStopPost=-touch|Restart|RuntimeDirectory|Requires=drivekeep|Wants=drivekeep|Alias|Type|User|LogLevelMax).*\n", "", copy)
        machine.push(f"/etc/systemd/system/{name}.service", copy.replace("[Service]\n", f"[Service]\nType=oneshot\nUser={user}\nExecStart={command}\n"))
        machine.run(f"systemctl start {name}", check=False)
        return machine.run(f"journalctl --sync; journalctl -b -o cat --no-pager -u {name} -t attack").stdout.splitlines()

    def check_instance(self, machine):
        """Checks the tracer's instance of tracefs. The tracer's unit creates and removes this instance by commands outside its sandbox."""
        for number, (how, before, command, wanted) in enumerate((
                ("the tracer exits", "true", f"ls {TRACE}/tracing_on", "success"),
                ("an earlier tracer left its instance, which is replaced", f"mkdir {TRACE}; echo 0 >{TRACE}/tracing_on",
                 f"grep -qx 1 {TRACE}/tracing_on", "success"),
                ("the tracer is killed", "true", "sh -c 'kill -KILL $$$$'", "signal"),
                ("tracefs is not mounted", "umount /sys/kernel/tracing && systemctl mask --runtime sys-kernel-tracing.mount",
                 f"sh -c '! test -e {TRACE}'", "success"))):
            machine.run(f"{before}; true")
            self.attack(machine, "drivekeep-tracer", f"attack-{number}", command)
            state = machine.run(f"systemctl show -P Result attack-{number}; ls -d {TRACE} 2>/dev/null; echo end").stdout
            self.equal(f"{how}: the tracer's instance does not exist afterwards", state, f"{wanted}\nend\n")

    def compile(self, machine, name, *arguments):
        with tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp") as directory:
            program = pathlib.Path(directory) / name
            subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-Werror", "-o", program, *arguments], check=True, cwd=REPOSITORY)
            machine.push(f"/usr/lib/drivekeep-test/{name}", program.read_bytes(), 0o755)

    def check_settings(self, machine):
        # Only the first verdict counts: QEMU's SCSI disk may report a unit attention to a later visit.
        first = {}
        for record in self.records(machine, SYSLOG_IDENTIFIER="drivekeepd"):
            if "DRIVEKEEP_SETTING" in record:
                first.setdefault((record.get("DRIVEKEEP_SERIAL"), record["DRIVEKEEP_SETTING"]), record["DRIVEKEEP_VERDICT"])
        for serial, wanted in EXPECTED.items():
            self.equal(f"{serial}: the settings have the expected verdicts", {s: first.get((serial, s)) for s in wanted}, wanted)
        self.check_by_others(machine)

    def check_by_others(self, machine):
        """Checks that hdparm, smartctl, nvme, sysfs and the emulated drives show the configured values."""
        node = self.node(machine, "SN-SATA")
        text = machine.run(f"hdparm -B -W -A -M -a {node}").stdout
        for pattern in (r"APM_level\s+= 127", r"write-caching =\s+0", r"look-ahead\s+=\s+1", r"acoustic\s+= 128",
                        r"readahead\s+= 1024"):
            self.match("hdparm shows the configured value", text, pattern)
        self.match("smartctl shows the configured error recovery limits", machine.run(f"smartctl -l scterc {node}", check=False).stdout,
                   r"Read:\s+70[^$]*Write:\s+70")
        self.equal("the SATA drive has the configured standby timer", self.sata["standby_seconds"], 1200)
        self.equal("the USB drive has the configured APM level and standby timer",
                   (self.usb["apm"], self.usb["standby_seconds"]), (127, 600))
        self.match("nvme shows the write cache off", machine.run("nvme get-feature /dev/nvme0 --feature-id=6").stdout,
                   r"value:0+$")
        scsi = machine.run("readlink -f /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SCSI1").stdout.strip()
        virtio = machine.run("readlink -f /dev/disk/by-id/virtio-VIRTIO1").stdout.strip()
        usb = machine.run("readlink -f /dev/disk/by-id/usb-*-0:0").stdout.strip()
        # cache_type is the kernel's view; `device/rescan` updates it from the drive.
        for path, wanted in ((f"{node}/queue/scheduler", r"\[bfq\]"), (f"{node}/queue/read_ahead_kb", "^512$"),
                             (f"{node}/device/timeout", "^60$"), (f"{node}/device/scsi_disk/*/cache_type", "^write through$"),
                             (f"{usb}/device/timeout", "^50$"), (f"{scsi}/device/queue_depth", "^16$"),
                             (f"{scsi}/device/timeout", "^60$"), (f"{virtio}/queue/scheduler", r"\[bfq\]"),
                             (f"{virtio}/queue/read_ahead_kb", "^256$"), ("nvme0n1/queue/scheduler", r"\[bfq\]"),
                             ("nvme0n1/queue/read_ahead_kb", "^256$")):
            path = "/sys/block/" + path.removeprefix("/dev/")
            self.match(f"{path} has the configured value", machine.run(f"cat {path}").stdout, wanted)

    def check_processes(self, machine):
        """Checks the privileges of the manager, the broker and a worker; a slow drive keeps the worker waiting meanwhile."""
        self.continue_broker(machine)
        self.sata.inject("hang", command=0xEC, origin="passthrough", seconds=14)
        applying = machine.start(f"drivekeep apply {self.node(machine, 'SN-SATA')}")
        # Lists the worker's files at once: on a busy machine the drive may answer before the checks below are done.
        worker, *opened = machine.wait_until("w=$(pgrep '^keep-sd' | head -n 1) && readlink /proc/$w/fd/* >/tmp/opened && "
                                             "grep -q '^/dev/sd' /tmp/opened && echo $w && sed 's/:.*//' /tmp/opened").stdout.split()
        self.broker = machine.run(f"ps -o ppid= -p {worker}").stdout.strip()
        for name, pid, allowed in (("the manager", self.manager, 0), ("the broker", self.broker, ALLOWED), ("a worker", worker, ALLOWED)):
            fields = dict(line.split(":\t", 1) for line in machine.run(f"cat /proc/{pid}/status").stdout.splitlines())
            held = [int(fields[f"Cap{kind}"], 16) for kind in ("Bnd", "Prm", "Eff")]
            self.equal(f"{name} has, and can get, {'only SYS_RAWIO and SYS_ADMIN' if allowed else 'no capability'}",
                       [f"{c:x}" for c in held], [f"{allowed:x}"] * 3)
            self.equal(f"{name} has no inheritable or ambient capability",
                       [int(fields[f"Cap{kind}"], 16) for kind in ("Inh", "Amb")], [0, 0])
            self.equal(f"{name} runs with no_new_privs and a system call filter", (fields["NoNewPrivs"], fields["Seccomp"]),
                       ("1", "2"))
            self.match(f"{name}: the nice value of the unit also applies to the autogroup",
                       machine.run(f"cat /proc/{pid}/autogroup").stdout, r" nice 10$")
        self.equal("the broker and the worker run as root, the manager does not",
                   machine.run(f"stat -c %U /proc/{self.manager} /proc/{self.broker} /proc/{worker}").stdout.split(),
                   ["drivekeep", "root", "root"])
        self.check_worker(machine, worker, opened)
        applying.result(120)
        self.find_processes(machine)
        self.equal("state files are readable by every user",
                   machine.run("stat -c %a /run/drivekeep/drives /run/drivekeep/drives/* | sort -u").stdout, "644\n755\n")

    def check_worker(self, machine, worker, opened):
        """Checks a worker's open files and its own system call filter."""
        filters = int(machine.run(f"grep -Po 'Seccomp_filters:\\t\\K.*' /proc/{worker}/status").stdout)
        broker = int(machine.run(f"grep -Po 'Seccomp_filters:\\t\\K.*' /proc/{self.broker}/status").stdout)
        self.equal("a worker has one system call filter more than its broker", filters - broker, 1)
        self.equal("a worker has only its drive, its socket and the standard streams open", set(opened) - {"/dev/null", "socket"},
                   {self.node(machine, "SN-SATA")})

    def check_landlock(self, machine):
        """Runs a program that applies the worker's sandbox to itself. The program runs as root and in no other sandbox."""
        self.compile(machine, "confined", "-Idaemon/core", "-Idaemon/service", "tests/vm/confined.c", SANDBOX, "-lseccomp")
        self.equal("no process logs that Landlock is missing", machine.run(LANDLOCK_SAID).stdout, "0\n")
        node = self.node(machine, "SN-SATA")
        syspath = machine.run(f"readlink -f /sys/class/block/{node[5:]}").stdout.strip()
        other = "/sys/class/block/nvme0n1/queue/read_ahead_kb"
        paths = {node: "r-", "/dev/nvme0n1": "--", "/dev/vda": "--", "/etc/shadow": "--", "/usr/lib/drivekeep-test/confined": "--",
                 f"{syspath}/queue/read_ahead_kb": "rw", other: "r-", "/proc/swaps": "r-"}
        said = machine.run(f"/usr/lib/drivekeep-test/confined {node} {syspath} {' '.join(paths)}").stdout
        found = {path: rights for rights, path in (line.split() for line in said.splitlines())}
        self.equal("a worker's own sandbox permits reading its drive and writing the drive's sysfs files, and no other drive or file",
                   found, paths)
        said = machine.run(f"/usr/lib/drivekeep-test/confined - {syspath} {' '.join(paths)}").stdout
        self.equal("without the sandbox root can read all of these files", {line[0] for line in said.splitlines()}, {"r"})

    def find_processes(self, machine):
        """Finds the manager and the broker right after a visit. SIGSTOP keeps the broker from exiting when idle."""
        self.manager, self.broker = (machine.run(f"systemctl show -P MainPID {unit}").stdout.strip()
                                     for unit in ("drivekeep", "drivekeep-broker"))
        machine.run(f"kill -STOP {self.broker}")

    def continue_broker(self, machine):
        machine.run(f"kill -CONT {self.broker}")

    def inside(self, command, pid=None):
        """Returns a shell command that runs with all capabilities in the mount namespace of the manager, or of `pid`."""
        return f"nsenter -t {pid or self.manager} -m sh -c '{command}'"

    def check_mounts(self, machine):
        # The manager's access to /dev/kmsg is not tested: only the manager's control group restricts it, and nsenter does not enter the group.
        for name, pid, closed in (("the manager", self.manager, [path for path in CLOSED if path != "/dev/kmsg"]),
                                  ("the broker", self.broker, CLOSED)):
            opened = [path for path in closed if machine.run(self.inside(f"exec 3>>{path}", pid), check=False).status == 0]
            self.equal(f"{name} cannot write to system files, kernel parameters or home directories", opened, [])
        open_outside = [path for path in CLOSED if machine.run(f"exec 3>>{path}", check=False).status == 0]
        machine.run("rm -f $(ls " + " ".join(path for path in CLOSED if path.endswith("/new")) + " 2>/dev/null)")
        self.equal("root can write to these files outside the sandbox", sorted(set(CLOSED) - set(open_outside)), [])
        read_ahead = "/sys/block/nvme0n1/queue/read_ahead_kb"
        for path, manager, broker in (("/run/drivekeep/drives/new", 0, 2), ("/var/lib/drivekeep/new~", 0, 2), (read_ahead, 2, 0)):
            self.equal(f"{path}: either the manager or the broker can write to it, not both",
                       [machine.run(self.inside(f"exec 3>>{path}", pid), check=False).status for pid in (self.manager, self.broker)],
                       [manager, broker])
        machine.run("rm /run/drivekeep/drives/new /var/lib/drivekeep/new~")

    def in_cgroup(self, machine, command, unit="drivekeep-broker"):
        return machine.run(f"sh -c 'echo $$ > /sys/fs/cgroup/system.slice/{unit}.service/cgroup.procs && {command}'", check=False).status == 0

    def check_devices(self, machine):
        node = self.node(machine, "SN-SATA")
        for path in (node, "/dev/nvme0n1", "/dev/null"):
            self.claim(f"the broker can read {path}", self.in_cgroup(machine, f"exec 3<{path}"))
        for path in ("/dev/vda", "/dev/nvme0", "/dev/mem", "/dev/input/event0"):
            outside = machine.run(f"exec 3<{path}", check=False).status == 0
            self.equal(f"root can read {path}, the broker cannot", (outside, self.in_cgroup(machine, f"exec 3<{path}")), (True, False))
        for path in (node, "/dev/nvme0n1"):
            self.claim(f"the broker cannot write to {path}", not self.in_cgroup(machine, f"exec 3<>{path}"))
        self.equal("the manager can read kernel messages and cannot write them",
                   [self.in_cgroup(machine, f"exec 3{how}/dev/kmsg", "drivekeep") for how in ("<", ">>")], [True, False])
        self.claim("the service is still active",
                   machine.run("systemctl is-active drivekeep", check=False).stdout == "active\n")

    def check_unmounting(self, machine):
        """Checks that the service's mount namespaces keep no file system mounted and no disk busy after an umount."""
        device = "/dev/disk/by-id/virtio-VIRTIO1"
        machine.run(f"mkfs.ext4 -q {device}")
        for place in ("/home", "/mnt"):
            self.continue_broker(machine)
            machine.run(f"mount {device} {place} && systemctl restart drivekeep")
            self.settle(machine)
            self.find_processes(machine)
            machine.run(f"umount {place}")
            free = machine.run(f"e2fsck -fn {device}", check=False)
            self.no_match(f"a file system mounted on {place} before the service started can be unmounted",
                          free.stdout + free.stderr, "in use|is mounted")
            for pid in (self.manager, self.broker):
                self.equal(f"the service's mount namespaces do not contain the disk unmounted from {place}",
                           machine.run(f"grep -c $(readlink -f {device}) /proc/{pid}/mountinfo", check=False).stdout, "0\n")

    def check_use(self, machine):
        """Checks that a disk counts as in use if it is mounted on /home or in another mount namespace."""
        device = "/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SCSI1"
        self.continue_broker(machine)
        machine.run(f"mkfs.ext4 -q {device} && mount {device} /home")
        machine.push(CONF, 'drives = ( { match = { transport = "scsi"; }; read_only = true; } );\n')
        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        found = self.status(machine)["SCSI1"].get("read_only", {})
        self.equal("read_only is forbidden for a disk that is mounted on /home", found.get("verdict"), "forbidden")
        self.match("the reason names the mount point /home", found.get("reason") or "", r"in use \(/home\)")
        self.equal("the disk mounted on /home stays writable", machine.run(f"blockdev --getro {device}").stdout, "0\n")
        machine.run("umount /home")
        # A mount in another namespace, like a container's, is not visible in the service's namespace.
        machine.run("systemd-run -q --unit=elsewhere -p PrivateMounts=yes -p Type=notify -p NotifyAccess=all "
                    f"sh -c 'mount {device} /mnt && systemd-notify --ready && sleep 10000'")
        machine.run("drivekeep apply", 60, check=False)
        found = self.status(machine)["SCSI1"].get("read_only", {})
        self.equal("read_only is forbidden for a disk that is mounted in another mount namespace", found.get("verdict"), "forbidden")
        self.match("the reason names no mount point, which the service cannot see",
                   found.get("reason") or "", r"in use \(sd[a-z]+ is open exclusively\)")
        self.equal("the disk mounted in another namespace stays writable", machine.run(f"blockdev --getro {device}").stdout, "0\n")
        machine.run("systemctl stop elsewhere")
        machine.push(CONF, FILE)
        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        self.find_processes(machine)

    def check_refused_calls(self, machine):
        """Checks that the service works without the system calls that its filter denies. Here the filter kills a process that makes one."""
        self.continue_broker(machine)
        for unit in ("drivekeep", "drivekeep-broker"):
            machine.push(f"/etc/systemd/system/{unit}.service.d/kill.conf", "[Service]\nSystemCallErrorNumber=kill\n")
        machine.run("systemctl stop drivekeep; rm -rf /run/drivekeep/drives; systemctl daemon-reload")
        self.sata.power_cycle()
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        self.equal("the service applies all settings when each filtered system call would kill it",
                   (machine.run("systemctl show -P NRestarts drivekeep").stdout, self.sata["apm"], self.sata["lookahead"],
                    self.sata["write_cache"], self.sata["standby_seconds"]), ("0\n", 127, True, False, 1200))
        self.no_match("no worker is killed for a filtered system call",
                      machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout, "killed|ended before")

    def check_first_usb_disk(self):
        """Plugs in the first disk since boot that needs the sd driver. Until then the driver's module is not loaded."""
        drive = self.drive("SN-FIRST", **COLD)
        with tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp") as directory, \
             UsbDisk(pathlib.Path(directory) / "usb", drive, plugged=False, sense="fixed") as disk, \
             self.machine(disks=[nvme_disk("NVME1"), virtio_disk("VIRTIO1")], files={CONF: FILE}, append="lsm=yama",
                          setup="systemctl enable drivekeep", extra_args=disk.qemu_args()) as machine:
            self.settle(machine)
            self.equal("with only NVMe and virtio disks the sd module is not loaded",
                       machine.run("grep -c ' sd$' /proc/devices; lsmod | grep -c ^sd_mod", check=False).stdout, "0\n0\n")
            self.equal("without the sd module the NVMe drive is configured",
                       self.status(machine)["NVME1"]["write_cache"]["verdict"], "applied")
            disk.plug()
            machine.wait_until("ls /dev/disk/by-id/usb-*-0:0", 90)
            self.settle(machine)
            self.equal("the first USB disk since boot is configured", (drive["apm"], drive["standby_seconds"]), (127, 600))
            self.match("hdparm shows the USB disk's configured APM level", machine.run("hdparm -B /dev/sda").stdout, r"APM_level\s+= 127")
            self.no_match("Landlock is disabled in this kernel", machine.run("cat /sys/kernel/security/lsm").stdout, "landlock")
            self.equal("the journal reports the missing Landlock once, with any number of workers",
                       machine.run(LANDLOCK_SAID).stdout, "1\n")
            self.equal("the first USB disk has the expected verdicts",
                       {s: v["verdict"] for s, v in self.status(machine, "sda").popitem()[1].items()},
                       EXPECTED["SN-USB"])
