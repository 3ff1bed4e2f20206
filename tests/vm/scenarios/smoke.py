"""The test harness itself: if this scenario fails, the results of all other scenarios are meaningless."""
import time

from machine import ahci_disk, host_tsc_khz, nvme_disk, scsi_disk, usb_disk, virtio_disk
from scenario import Scenario

SYSTEMD = {"bookworm": "252", "trixie": "257"}     # in later suites any version is accepted
BY_ID = "/dev/disk/by-id"


class Smoke(Scenario):
    """A guest boots, runs commands, shows QEMU's drives, suspends, reboots, and boots into rescue mode"""

    def run(self):
        begun = time.monotonic()
        disks = [ahci_disk("AHCI1"), nvme_disk("NVME1"), scsi_disk("SCSI1"), usb_disk("USB1"), virtio_disk("VIRTIO1")]
        files = {"/etc/drivekeep-test/early": "pushed before the boot\n"}
        with self.machine(cold=True, disks=disks, files=files, suspends=True, setup="echo set up > /etc/drivekeep-test/setup") as machine:
            self.check_boot(machine)
            self.check_clock(machine, begun)
            self.check_drives(machine)
            self.check_hotplug(machine)
            self.check_suspend(machine)
            self.check_reboot(machine)

    def check_boot(self, machine):
        self.claim("the guest's agent runs a command", machine.run("true").status == 0)
        self.equal("the system is running without failed units", machine.wait_running(), "running")
        self.match(f"systemd has the version of {self.image.suite}", machine.run("systemctl --version").stdout,
                   rf"^systemd {SYSTEMD.get(self.image.suite, '[0-9]+')} ")
        self.equal("the running kernel is the one of the image", machine.run("uname -r").stdout.strip(), self.image.version)
        self.equal("configured files and the effect of the setup script are present at the first boot",
                   machine.run("cat /etc/drivekeep-test/*").stdout,
                   "pushed before the boot\nset up\n")
        self.equal("the root file system was checked at boot", machine.run("systemctl is-active systemd-fsck-root").stdout, "active\n")
        slow = machine.start("until [ -e /run/go ]; do sleep 0.1; done; echo slow")
        self.claim("a command does not wait for a slow one", machine.run("echo quick").stdout == "quick\n" and not slow.done())
        machine.run("touch /run/go")
        self.equal("a slow command returns its output", slow.result(60).stdout, "slow\n")
        self.equal("the exit status of a command is returned", machine.run("echo no >&2; exit 3", check=False).status, 3)

    def check_clock(self, machine, begun):
        self.claim("the guest's clock is not ahead of the host's", float(machine.run("cut -d ' ' -f 1 /proc/uptime").stdout) <= time.monotonic() - begun)
        if khz := host_tsc_khz():
            self.match("the guest's TSC frequency is the host's",
                       machine.run("journalctl -b -k -o cat").stdout, rf"^tsc: Detected {khz // 1000}\.")

    def check_drives(self, machine):
        # The kernel probes drives asynchronously: they may appear after the system is up.
        for serial in ("AHCI1", "NVME1", "SCSI1", "USB1", "VIRTIO1"):
            self.claim(f"drive {serial} appears", machine.wait_until(f"ls {BY_ID} | grep {serial}", 120))
        ahci = f"{BY_ID}/ata-QEMU_HARDDISK_AHCI1"
        machine.run(f"hdparm -W0 {ahci}")
        self.match("hdparm changes the AHCI drive's write cache", machine.run(f"hdparm -W {ahci}").stdout, r"write-caching = +0")
        self.match("smartctl identifies the AHCI drive", machine.run(f"smartctl -i {ahci}").stdout, r"^Serial Number: +AHCI1")
        machine.run("nvme set-feature /dev/nvme0 --feature-id=6 --value=0")
        self.match("nvme changes the NVMe drive's write cache",
                   machine.run("nvme get-feature /dev/nvme0 --feature-id=6").stdout, r"value:0+$")
        self.match("sdparm reads the SCSI drive's mode pages",
                   machine.run(f"sdparm --get=WCE {BY_ID}/scsi-0QEMU_QEMU_HARDDISK_SCSI1", check=False).stdout, r"^WCE +1")
        self.match("lsblk shows the transport of the USB drive", machine.run("lsblk -dno TRAN,SERIAL").stdout, r"^usb +USB1")

    def check_hotplug(self, machine):
        for disk in (nvme_disk("NVME2"), scsi_disk("SCSI2"), usb_disk("USB2")):
            machine.plug(disk)
            machine.wait_until(f"ls {BY_ID} | grep -q {disk.serial}", 90)
            machine.unplug(disk)
            gone = machine.wait_until(f"! ls {BY_ID} | grep -q {disk.serial}", 90)
            self.claim(f"{disk.serial} can be plugged and unplugged", gone)

    def check_suspend(self, machine):
        asleep = []
        for _ in range(2):
            machine.suspend(while_asleep=lambda: asleep.append(machine.qmp.execute("query-status")["status"]))
        self.equal("the guest suspends to memory and resumes, twice", asleep, ["suspended", "suspended"])
        self.match("the kernel log shows the resume from S3",
                   machine.run("journalctl -b -k").stdout, r"ACPI: PM: Waking up from system sleep state S3")

    def check_reboot(self, machine):
        machine.push("/etc/drivekeep-test/pushed", "kept\n", 0o600)
        machine.run("ln -sf /lib/systemd/system/rescue.target /etc/systemd/system/default.target")
        before = machine.boot_id
        machine.reboot()
        self.claim("a warm reboot gets a new boot ID", machine.boot_id != before)
        self.equal("a pushed file persists over a reboot", machine.run("cat /etc/drivekeep-test/pushed").stdout, "kept\n")
        machine.wait_until("systemctl is-active rescue.target", 90)
        self.equal("the agent answers in rescue mode", machine.run("echo rescued").stdout, "rescued\n")
        self.equal("multi-user.target is not active in rescue mode",
                   machine.run("systemctl is-active multi-user.target", check=False).stdout, "inactive\n")
