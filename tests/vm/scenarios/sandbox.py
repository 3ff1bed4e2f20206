"""The unit's sandbox: how much it closes, and that the service does all its work in it."""
import pathlib
import re
import tempfile

from drives.usb import UsbDisk
from keeping import CONF, MODEL, Keeping, by_id
from machine import nvme_disk, scsi_disk, virtio_disk

FILE = f"""
drives = (
  {{ match = "{by_id('SN-SATA')}";
    apm = 127; lookahead = true; spindown_time = "20min"; write_cache = "off"; acoustic_management = 128;
    error_recovery = "7s"; timeout = "60s"; scheduler = "bfq"; read_ahead_kb = 512; }},
  {{ match = {{ transport = "usb"; }};    apm = 127; spindown_time = "10min"; timeout = "50s"; }},
  {{ match = {{ transport = "nvme"; }};   write_cache = "off"; scheduler = "mq-deadline"; read_ahead_kb = 256; }},
  {{ match = {{ transport = "scsi"; }};   queue_depth = 16; timeout = "1min"; }},
  {{ match = {{ transport = "virtio"; }}; scheduler = "mq-deadline"; read_ahead_kb = 256; }}
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
ALLOWED = 1 << 17 | 1 << 21     # CAP_SYS_RAWIO, CAP_SYS_ADMIN
CGROUP = "/sys/fs/cgroup/system.slice/drivekeep.service"
UNIT_COMPLAINTS = "journalctl -b --no-pager -o cat -p notice _PID=1 | grep drivekeep.service: || true"

# Where a write would be harm; each of these is there, or its directory is, and is root's to write outside the sandbox.
CLOSED = """
    /etc/drivekeep/drivekeep.conf /usr/bin/new /boot/new /var/lib/new /var/log/new /run/new /run/udev/new /dev/new /dev/shm/new
    /sys/kernel/mm/ksm/run /sys/power/pm_async /sys/fs/cgroup/cgroup.max.depth /sys/module/block/parameters/events_dfl_poll_msecs
    /sys/devices/system/clocksource/clocksource0/current_clocksource /proc/sys/kernel/hostname /proc/sysrq-trigger
    /home/new /root/new /dev/kmsg
""".split()


class Sandbox(Keeping):
    """The unit's exposure is 1.8 at most, and under it every setting is applied, to a first USB disk as well"""

    def run(self):
        self.sata, self.usb = self.drive("SN-SATA", acoustic=254, erc=(0, 0), **COLD), self.drive("SN-USB", **COLD)
        disks = [nvme_disk("NVME1"), scsi_disk("SCSI1"), virtio_disk("VIRTIO1")]
        with self.drives(self.sata, usb=[(self.usb, {"sense": "fixed"})]) as (hba, arguments), \
             self.machine(disks=disks, files={CONF: FILE}, setup="systemctl enable drivekeep",
                          extra_args=arguments) as machine:
            # A USB disk is found by and by, and boot does not wait for it.
            machine.wait_until("ls /dev/disk/by-id/usb-*-0:0", 90)
            self.settle(machine)
            self.pid = machine.run("systemctl show -P MainPID drivekeep").stdout.strip()
            self.check_exposure(machine)
            self.check_settings(machine)
            self.check_processes(machine)
            self.check_mounts(machine)
            self.check_devices(machine)
            self.check_unmounting(machine)
            self.check_refused_calls(machine)
        self.check_first_usb_disk()

    def check_exposure(self, machine):
        text = machine.run("systemd-analyze security --no-pager drivekeep.service").stdout
        found = re.search(r"exposure level for drivekeep.service: ([\d.]+)", text)
        self.claim("systemd-analyze security: 1.8 or lower", found and float(found[1]) <= 1.8, text)
        self.note(found[0] if found else "no figure")
        self.equal("and not by PrivateNetwork=", machine.run("systemctl show -P PrivateNetwork drivekeep").stdout, "no\n")
        self.equal("PID 1 has no complaint about the unit", machine.run(UNIT_COMPLAINTS).stdout, "")

    def check_settings(self, machine):
        status = self.status(machine)
        for serial, wanted in EXPECTED.items():
            self.equal(f"{serial}: verdicts", {s: status.get(serial, {}).get(s, {}).get("verdict") for s in wanted}, wanted)
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
                             (f"{scsi}/device/timeout", "^60$"), (f"{virtio}/queue/scheduler", r"\[mq-deadline\]"),
                             (f"{virtio}/queue/read_ahead_kb", "^256$"), ("nvme0n1/queue/scheduler", r"\[mq-deadline\]"),
                             ("nvme0n1/queue/read_ahead_kb", "^256$")):
            path = "/sys/block/" + path.removeprefix("/dev/")
            self.match(f"{path}", machine.run(f"cat {path}").stdout, wanted)

    def check_processes(self, machine):
        """The manager's and a worker's rights: one that waits for a slow drive's answer can be looked at."""
        self.sata.inject("hang", command=0xEC, origin="passthrough", seconds=8)
        applying = machine.start(f"drivekeep apply {self.node(machine, 'SN-SATA')}")
        worker = machine.wait_until(f"pgrep -P {self.pid} keep-").stdout.split()[0]
        for name, pid in (("the manager", self.pid), ("a worker", worker)):
            fields = dict(line.split(":\t", 1) for line in machine.run(f"cat /proc/{pid}/status").stdout.splitlines())
            held = [int(fields[f"Cap{kind}"], 16) for kind in ("Bnd", "Prm", "Eff")]
            self.equal(f"{name} may have, and has, SYS_RAWIO and SYS_ADMIN alone", [f"{c:x}" for c in held], [f"{ALLOWED:x}"] * 3)
            self.equal(f"{name} inherits and passes on none", [int(fields[f"Cap{kind}"], 16) for kind in ("Inh", "Amb")], [0, 0])
            self.equal(f"{name}: no new privileges, system calls are filtered", (fields["NoNewPrivs"], fields["Seccomp"]),
                       ("1", "2"))
        applying.result(120)
        self.equal("state files are for everybody",
                   machine.run("stat -c %a /run/drivekeep/drives /run/drivekeep/drives/* | sort -u").stdout, "644\n755\n")

    def inside(self, command):
        """A shell command in the service's file system namespace, with all of root's capabilities."""
        return f"nsenter -t {self.pid} -m sh -c '{command}'"

    def check_mounts(self, machine):
        opened = [path for path in CLOSED if machine.run(self.inside(f"exec 3>>{path}"), check=False).status == 0]
        self.equal("it can write neither to the system, nor the kernel's knobs, nor homes", opened, [])
        open_outside = [path for path in CLOSED if machine.run(f"exec 3>>{path}", check=False).status == 0]
        machine.run("rm -f $(ls " + " ".join(path for path in CLOSED if path.endswith("/new")) + " 2>/dev/null)")
        self.equal("root outside can", sorted(set(CLOSED) - set(open_outside)), [])
        for path in ("/run/drivekeep/new", "/tmp/new", "/sys/block/nvme0n1/queue/read_ahead_kb"):
            self.equal(f"it can write to {path}", machine.run(self.inside(f"exec 3>>{path}"), check=False).status, 0)
        self.equal("its /tmp is its own", machine.run("ls /tmp/new", check=False).status, 2)
        machine.run("rm /run/drivekeep/new")

    def in_cgroup(self, machine, command):
        return machine.run(f"sh -c 'echo $$ > {CGROUP}/cgroup.procs && {command}'", check=False).status == 0

    def check_devices(self, machine):
        node = self.node(machine, "SN-SATA")
        for path in (node, "/dev/nvme0n1", "/dev/null"):
            self.claim(f"it can read {path}", self.in_cgroup(machine, f"exec 3<{path}"))
        for path in ("/dev/vda", "/dev/nvme0", "/dev/mem", "/dev/input/event0"):
            outside = machine.run(f"exec 3<{path}", check=False).status == 0
            self.equal(f"root can read {path}, and it cannot", (outside, self.in_cgroup(machine, f"exec 3<{path}")), (True, False))
        for path in (node, "/dev/nvme0n1"):
            self.claim(f"it cannot write to {path}", not self.in_cgroup(machine, f"exec 3<>{path}"))
        self.claim("the service itself did not suffer",
                   machine.run("systemctl is-active drivekeep", check=False).stdout == "active\n")

    def check_unmounting(self, machine):
        """A namespace that held a file system would keep its disk busy for as long as the service runs."""
        device = "/dev/disk/by-id/virtio-VIRTIO1"
        machine.run(f"mkfs.ext4 -q {device}")
        for place in ("/home", "/mnt"):
            machine.run(f"mount {device} {place} && systemctl restart drivekeep")
            self.settle(machine)
            self.pid = machine.run("systemctl show -P MainPID drivekeep").stdout.strip()
            machine.run(f"umount {place}")
            free = machine.run(f"e2fsck -fn {device}", check=False)
            self.no_match(f"what was mounted on {place} when the service started can be unmounted",
                          free.stdout + free.stderr, "in use|is mounted")
            self.equal(f"and is nowhere in its namespace: {place}",
                       machine.run(f"grep -c $(readlink -f {device}) /proc/{self.pid}/mountinfo", check=False).stdout, "0\n")

    def check_refused_calls(self, machine):
        """Refused system calls end with EPERM; were any of them needed, this would be its end."""
        machine.push("/etc/systemd/system/drivekeep.service.d/kill.conf", "[Service]\nSystemCallErrorNumber=kill\n")
        machine.run("systemctl stop drivekeep; rm -rf /run/drivekeep/drives; systemctl daemon-reload")
        self.sata.power_cycle()
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        self.equal("the same when each system call that the filter refuses kills",
                   (machine.run("systemctl show -P NRestarts drivekeep").stdout, self.sata["apm"], self.sata["lookahead"],
                    self.sata["write_cache"], self.sata["standby_seconds"]), ("0\n", 127, True, False, 1200))
        self.no_match("and no worker was killed", machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout, "killed")

    def check_first_usb_disk(self):
        """A machine that has never seen a disk of the sd driver, whose module is not even loaded."""
        drive = self.drive("SN-FIRST", **COLD)
        with tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp") as directory, \
             UsbDisk(pathlib.Path(directory) / "usb", drive, plugged=False, sense="fixed") as disk, \
             self.machine(disks=[nvme_disk("NVME1"), virtio_disk("VIRTIO1")], files={CONF: FILE},
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
            self.equal("and its verdicts say so", {s: v["verdict"] for s, v in self.status(machine, "sda").popitem()[1].items()},
                       EXPECTED["SN-USB"])
