"""An optical drive and a disk in one machine. drivekeep changes the optical drive only if a rule names it, and only by MMC commands."""
import pathlib
import re
import tempfile

from keeping import CONF, OURS, Keeping
from machine import ahci_disk

FOR_ALL = 'drives = ( { match = {}; timeout = "40s"; read_ahead_kb = 256; write_cache = true; apm = 127; } );\n'
FOR_THIS = 'drives = ( { match = "/dev/sr0"; cd_speed = 8; apm = 127; } );\n'
DISK = "/dev/disk/by-id/ata-QEMU_HARDDISK_BESIDE"
TRACING = "/sys/kernel/tracing"
# Tracing starts before the kernel finds the first drive.
TRACE = f"""[Unit]
DefaultDependencies=no
Before=systemd-udev-trigger.service
[Service]
Type=oneshot
ExecStart=modprobe scsi_mod
ExecStart=mount -t tracefs tracefs {TRACING}
ExecStart=sh -c 'echo 1 > {TRACING}/events/scsi/scsi_dispatch_cmd_start/enable'
[Install]
WantedBy=sysinit.target
"""
# A udev rule copies the kernel's default values when the drive is added, before drivekeep knows the drive.
OWN = {"timeout": "device/timeout", "read_ahead": "queue/read_ahead_kb"}
NOTE_OWN = "".join(f'ACTION=="add", KERNEL=="sr0", PROGRAM="/bin/cp /sys%p/{file} /run/own-{name}"\n' for name, file in OWN.items())
PASS_THROUGH = {"85", "a1"}
SPEED = ["b6", "bb"]


class Optical(Keeping):
    """An optical drive gets only its speed, and only if a rule names the drive"""

    def run(self):
        with tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp") as folder:
            discs = [pathlib.Path(folder) / f"disc{number}" for number in range(2)]
            for disc in discs:
                disc.write_bytes(bytes(1 << 20))
            with self.machine(files={CONF: FOR_ALL, "/etc/systemd/system/trace-scsi.service": TRACE,
                                     "/etc/udev/rules.d/10-own.rules": NOTE_OWN},
                              setup="systemctl enable drivekeep trace-scsi", disks=[ahci_disk("BESIDE")],
                              append="trace_buf_size=4096k",
                              extra_args=["-blockdev", f"driver=raw,node-name=disc,read-only=on,file.driver=file,file.filename={discs[0]}",
                                          "-device", "ide-cd,id=optical,bus=ahci0.5,drive=disc"]) as machine:
                machine.wait_until("[ -b /dev/sr0 ]", 120)
                self.settle(machine)
                self.host = re.search(r"/host(\d+)/", machine.run("readlink -f /sys/block/sr0/device").stdout + "/")[1]
                self.check_general_rules(machine)
                self.check_speed(machine)
                self.check_new_disc(machine, discs[1])
                self.check_quick_discs(machine, discs)

    def commands(self, machine, who=rf"{OURS}sr0-\S*"):
        """Returns the operation codes that drivekeep's workers sent to the drive, or that the kernel sent when a worker opened the
        drive."""
        text = machine.run(f"cat {TRACING}/trace").stdout
        return re.findall(rf"^ *{who} .*host_no={self.host} .*raw=(\w\w) ", text, re.M)

    def speeds(self, machine):
        """Returns the commands that set the speed, from all processes, since a kernel thread may send them. Only drivekeep sets a speed."""
        return [command for command in self.commands(machine, r"\S.*?") if command in SPEED]

    def check_general_rules(self, machine):
        self.claim("the trace has the kernel's commands to the optical drive", self.commands(machine, r"\S.*?"))
        self.equal("rules for all drives send no command to the optical drive", self.commands(machine), [])
        for name, file in OWN.items():
            own = machine.run(f"cat /run/own-{name}").stdout
            self.match(f"the kernel's default {file} was recorded", own, r"^\d+$")
            self.equal(f"rules for all drives do not change {file} of the optical drive",
                       machine.run(f"cat /sys/block/sr0/{file}").stdout, own)
        disk = machine.run(f"basename $(readlink -f {DISK})").stdout.strip()
        self.equal("rules for all drives set the timeout of the disk",
                   machine.run(f"cat /sys/block/{disk}/device/timeout").stdout.strip(), "40")

        listed = machine.run("drivekeep list").stdout
        self.match("list shows the optical drive without a size", listed, r"^sr0 +QEMU.DVD-ROM\S* +(?:QM\d+|—|-) +\S+ +sata +(?:—|-)")
        self.equal("status shows no settings of the optical drive", [d["settings"] for d in self.all_status(machine, "sr0")], [[]])
        self.equal("plan has nothing to write to the optical drive", machine.run("drivekeep plan sr0 >/dev/null").status, 0)

    def check_speed(self, machine):
        machine.push(CONF, FOR_THIS)
        machine.run("systemctl reload drivekeep", 180, check=False)
        self.settle(machine)
        self.equal("a rule that names the optical drive sets its speed by the two MMC commands", self.speeds(machine), SPEED)
        verdicts = {s["name"]: s["verdict"] for s in self.all_status(machine, "sr0")[0]["settings"]}
        self.equal("cd_speed without read-back is unverifiable, and a disk's setting is unsupported", verdicts,
                   {"cd_speed": "unverifiable", "apm": "unsupported"})
        machine.run("drivekeep apply sr0", 180, check=False)
        machine.run("systemctl restart drivekeep", 180)
        self.settle(machine)
        self.equal("apply sets the speed again without read-back, and a restart of the service does not", self.speeds(machine), SPEED * 2)

    def check_new_disc(self, machine, disc):
        machine.qmp.execute("eject", id="optical", force=True)
        machine.qmp.execute("blockdev-change-medium", id="optical", filename=str(disc), format="raw")
        machine.wait_until(lambda: self.speeds(machine) == SPEED * 3, 60, 1)
        self.settle(machine)
        self.equal("another disc resets the drive's speed, and drivekeep sets it again", self.speeds(machine), SPEED * 3)
        self.equal("no worker sends ATA pass-through commands to the optical drive", PASS_THROUGH & set(self.commands(machine)), set())

    def check_quick_discs(self, machine, discs):
        """Each new disc makes drivekeep set the speed before the crash guard knows that the drive has survived the previous setting."""
        for number, disc in enumerate(discs, 4):
            machine.qmp.execute("eject", id="optical", force=True)
            machine.run("udevadm settle; sleep 2; udevadm settle", 60)
            machine.qmp.execute("blockdev-change-medium", id="optical", filename=str(disc), format="raw")
            machine.wait_until(lambda wanted=SPEED * number: self.speeds(machine) == wanted, 60, 1)
        self.settle(machine)
        verdicts = {s["name"]: s["verdict"] for s in self.all_status(machine, "sr0")[0]["settings"]}
        self.equal("two new discs within seconds do not stop the setting of the speed", verdicts,
                   {"cd_speed": "unverifiable", "apm": "unsupported"})
        self.no_match("new discs are not logged as a loss of the drive or as a quarantine",
                      machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout,
                      "lost within|lost while|quarantine")
