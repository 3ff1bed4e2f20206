"""hdparm, smartctl and the kernel check the drive models, which lose settings like real drives. All other scenarios depend on these
models."""
import contextlib
import tempfile
import time

from drives.hba import Hba
from drives.model import AtaDrive
from drives.usb import UsbDisk
from scenario import Scenario

SATA = "/dev/disk/by-id/ata-DRIVEKEEP_TESTDISK_"
DOCK = "/dev/disk/by-id/usb-DOCK_SATA_Bridge_"

APM = {"command": 0xef, "feature": 0x05}


def hdparm(machine, options, node):
    return machine.run(f"hdparm {options} {node}", check=False).stdout


def apm(machine, node):
    """Returns the APM level that hdparm reads. The first of two reads clears a possible unit attention."""
    machine.run(f"hdparm -B {node}", check=False)
    return hdparm(machine, "-B", node).rpartition("=")[2].strip()


class Drives(Scenario):
    """The SATA drive model behaves like a drive: it keeps and loses settings, and has hotplug, ATA Sleep mode and faults"""
    rare = True

    def run(self):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp"))
            self.hba = stack.enter_context(Hba(f"{folder}/hba0", ports=4, name="hba0"))
            self.late = stack.enter_context(Hba(f"{folder}/hba1", ports=8, name="hba1"))
            self.drive = self.hba.attach(0, AtaDrive(serial="FULL", wwn="5000c500a1b2c3d4", acoustic=254, erc=(70, 70),
                                                     path=f"{folder}/full"))
            self.plain = self.hba.attach(1, AtaDrive(serial="PLAIN", apm=None, erc=None))
            self.quantised = self.hba.attach(2, AtaDrive(serial="QUANTISED", apm=254, apm_quantum=[1, 64, 128, 254]))
            for port in range(8):
                self.late.attach(port, AtaDrive(serial=f"LATE{port}"))
            self.node = SATA + "FULL"
            with self.machine(extra_args=self.hba.qemu_args(), suspends=True) as machine:
                machine.wait_until(" && ".join(f"[ -b {SATA}{name} ]" for name in ("FULL", "PLAIN", "QUANTISED")), 90)
                machine.run("udevadm settle")
                self.check_identity(machine)
                self.check_settings(machine)
                self.check_unsupported(machine)
                self.check_log(machine)
                self.check_medium(machine)
                self.check_power_loss(machine)
                self.check_faults(machine)
                self.check_hotplug(machine)
                self.check_reboot(machine)

    def check_identity(self, machine):
        self.match("lsblk shows the drive as a SATA disk", machine.run(f"lsblk -dno TRAN,SERIAL {self.node}").stdout,
                   r"^sata +FULL")
        self.claim("udev creates a link with the drive's WWN", machine.run("[ -b /dev/disk/by-id/wwn-0x5000c500a1b2c3d4 ]",
                                                           check=False).status == 0)
        properties = machine.run(f"udevadm info --query=property {self.node}").stdout
        for line in ("ID_BUS=ata", "ID_ATA_SATA=1", "ID_ATA_FEATURE_SET_APM_CURRENT_VALUE=128", "ID_ATA_WRITE_CACHE=1"):
            self.match(f"udev sets the property {line}", properties, f"^{line}$")
        self.match("hdparm reports the IDENTIFY checksum as correct", hdparm(machine, "-I", self.node), r"^Checksum: correct$")

    def check_settings(self, machine):
        for text, options, query, pattern in (
                ("APM", "-B 100", "-B", r"APM_level\s+= 100$"),
                ("APM, disabled", "-B 255", "-B", r"APM_level\s+= off$"),
                ("acoustic management", "-M 128", "-M", r"acoustic\s+= 128 "),
                ("the write cache", "-W 0", "-W", r"write-caching =\s+0 "),
                ("look-ahead", "-A 0", "-A", r"look-ahead\s+=\s+0 "),
                ("standby", "-y", "-C", r"standby$"),
                ("the idle state after a new standby timer", "-S 12", "-C", r"idle$")):
            hdparm(machine, options, self.node)
            self.match(f"hdparm sets and reads {text}", hdparm(machine, query, self.node), pattern)
        self.equal("the drive has the standby timer value 12", self.drive["standby_timer"], 12)
        self.match("the kernel notices that the write cache is off",
                   machine.run(f"cat /sys/block/$(basename $(readlink {self.node}))/device/scsi_disk/*/cache_type").stdout,
                   "^write through$")
        hdparm(machine, "-Y", self.node)
        self.match("a link reset wakes a drive from ATA Sleep mode", hdparm(machine, "-I", self.node), r"Serial Number: +FULL")

        machine.run(f"smartctl -l scterc,80,90 {self.node}")
        self.match("smartctl sets and reads error recovery control", machine.run(f"smartctl -l scterc {self.node}").stdout,
                   r"Read: +80 [^\n]*\n +Write: +90 ")
        refused = machine.run(f"smartctl -l scterc,20,90 {self.node}", check=False)
        self.claim("the drive refuses an error recovery limit below its minimum", refused.status != 0 and self.drive["erc"][0] == 80)
        machine.run(f"smartctl -s apm,33 -s standby,24 -s wcache,on -s lookahead,on {self.node}")
        self.match("smartctl sets and reads APM", machine.run(f"smartctl -g apm {self.node}").stdout, r"^APM level is: +33 ")
        state = self.drive.state()
        self.equal("smartctl sets the standby timer, the write cache and look-ahead",
                   [state[name] for name in ("standby_timer", "write_cache", "lookahead")], [24, True, True])
        self.match("smartctl reports the drive's health as passed", machine.run(f"smartctl -H -A {self.node}").stdout, "PASSED")

        for asked, taken in ((100, 128), (70, 64)):
            hdparm(machine, f"-B {asked}", SATA + "QUANTISED")
            self.equal(f"a drive with few APM levels uses level {taken} for {asked}", apm(machine, SATA + "QUANTISED"), str(taken))

    def check_unsupported(self, machine):
        self.equal("hdparm reports APM as not supported", apm(machine, SATA + "PLAIN"), "not supported")
        self.match("smartctl reports SCT error recovery control as not supported",
                   machine.run(f"smartctl -l scterc {SATA}PLAIN", check=False).stdout, "not supported")

    def check_log(self, machine):
        mark = self.drive.log.mark()
        hdparm(machine, "-W 0", self.node)
        hdparm(machine, "-W 1", self.node)
        sent = self.drive.log.since(mark, command=0xef, origin="passthrough")
        self.equal("the drive's log has the commands of hdparm", [(entry.feature, entry.comm) for entry in sent],
                   [(0x82, "hdparm"), (0x02, "hdparm")])
        self.claim("the drive's log has the kernel's IDENTIFY after the commands of hdparm",
                   self.drive.log.since(mark, command=0xec, origin="kernel"))

    def check_medium(self, machine):
        machine.run(f"mkfs.ext4 -q {self.node} && mount {self.node} /mnt && cp -r /etc/systemd /mnt && umount /mnt", 120)
        self.equal("fsck finds no error in a file system on the drive", machine.run(f"fsck.ext4 -fn {self.node}", check=False).status, 0)

    def check_power_loss(self, machine):
        hdparm(machine, "-B 99", self.node)
        self.drive.power_cycle()
        self.equal("the drive loses its APM level without power", apm(machine, self.node), "128")
        for _ in range(2):
            hdparm(machine, "-B 99", self.node)
            mark = self.drive.log.mark()
            machine.suspend(while_asleep=self.hba.power_cycle)
            self.equal("the drive loses its APM level in suspend to memory", apm(machine, self.node), "128")
        kernel = [entry.command for entry in self.drive.log.since(mark, origin="kernel")]
        # Newer kernels send CHECK POWER MODE first, and send READ VERIFY at resume only if the drive is not active.
        asks = 0xe5 in kernel[:2]
        self.equal("the kernel puts the drive into standby and identifies the drive again", kernel[:6],
                   [0xe7, *([0xe5, 0xe0] if asks else [0xe0, 0x40]), 0xec, 0xef, 0xec])

    def check_faults(self, machine):
        for kind in ("abort", "df", "ignore"):
            fault = self.drive.inject(kind, **APM)
            hdparm(machine, "-B 1", self.node)
            self.equal(f"{kind}: the APM level does not change", (apm(machine, self.node), fault.struck), ("128", 1))
        self.drive.inject("hang", seconds=5, **APM)
        hanging = machine.start(f"hdparm -B 1 {self.node}")
        hdparm(machine, "-I", SATA + "QUANTISED")
        self.claim("hang: another drive answers while the first drive hangs", not hanging.done())
        hanging.result(60)
        self.equal("hang: the drive executes the command in the end", apm(machine, self.node), "1")
        self.drive.inject("never", **APM)
        mark = self.drive.log.mark()
        hdparm(machine, "-B 2", self.node)
        self.claim("never: the kernel resets the link", self.drive.log.since(mark, text="comreset"))
        self.equal("never: the link reset preserves the APM level", apm(machine, self.node), "1")
        self.drive.inject("corrupt", command=0xec, origin="passthrough")
        self.no_match("corrupt: hdparm does not report the IDENTIFY checksum as correct",
                      hdparm(machine, "-I", self.node), r"Checksum: correct")

    def check_hotplug(self, machine):
        self.hba.detach(0)
        started = time.monotonic()
        machine.wait_until(f"! [ -e {self.node} ]", 60)
        self.note(f"the kernel removed a pulled drive after {time.monotonic() - started:.1f} s")
        self.hba.attach(0, self.drive)
        machine.wait_until(f"[ -b {self.node} ]")
        # Until udev has removed the old link, the old link can point to the new node.
        machine.run("udevadm settle", 60)
        self.equal("a pulled drive has lost its settings when it is attached again", apm(machine, self.node), "128")
        for _ in range(2):
            self.late.plug(machine)
            machine.wait_until(" && ".join(f"[ -b {SATA}LATE{port} ]" for port in range(8)), 90)
            self.late.unplug(machine)
            machine.wait_until("! ls /dev/disk/by-id | grep -q LATE")
        self.claim("a controller with eight drives can be plugged and unplugged", True)

    def check_reboot(self, machine):
        hdparm(machine, "-B 88", self.node)
        machine.reboot()
        machine.wait_until(f"[ -b {self.node} ]", 90)
        self.equal("the drive keeps its APM level in a warm reboot", apm(machine, self.node), "88")


class DrivesUsb(Scenario):
    """The drive model works behind correct and faulty USB bridges"""
    rare = True

    def run(self):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp"))
            self.docks = {}
            for serial, quirks in (("GOOD", {}), ("FIXED", {"sense": "fixed"}), ("SILENT", {"sense": "none"}),
                                   ("CACHING", {"cache_identify": True})):
                dock = UsbDisk(f"{folder}/{serial}", AtaDrive(serial=serial, erc=(70, 70)), name=serial.lower(),
                               serial=serial, **quirks)
                self.docks[serial] = stack.enter_context(dock)
            arguments = [word for dock in self.docks.values() for word in dock.qemu_args()]
            with self.machine(extra_args=arguments, suspends=True) as machine:
                machine.wait_until(" && ".join(f"[ -b {DOCK}{serial}-0:0 ]" for serial in self.docks), 120)
                machine.run("udevadm settle")
                self.check_bridges(machine)
                self.check_faults(machine)
                self.check_power_loss(machine)
                self.check_plug(machine)

    @staticmethod
    def node(serial):
        return f"{DOCK}{serial}-0:0"

    def check_bridges(self, machine):
        self.match("lsblk shows the drive as a USB disk", machine.run("lsblk -dno TRAN,SERIAL").stdout, r"^usb +GOOD")
        for serial, expected in (("GOOD", "100"), ("FIXED", "100"), ("SILENT", "100"), ("CACHING", "128")):
            node = self.node(serial)
            apm(machine, node)
            hdparm(machine, "-B 100", node)
            self.equal(f"{serial}: the drive has APM level 100", self.docks[serial].drive["apm"], 100)
            self.equal(f"{serial}: hdparm reads the expected APM level", apm(machine, node), expected)
        for serial, registers in (("GOOD", True), ("FIXED", True), ("SILENT", False)):
            machine.run(f"smartctl -d sat -l scterc,80,90 {self.node(serial)}", check=False)
            shown = machine.run(f"smartctl -d sat -l scterc {self.node(serial)}", check=False).stdout
            claim = self.match if registers else self.no_match
            claim(f"{serial}: the registers {'come' if registers else 'do not come'} back to smartctl", shown, r"Read: +80 ")
        udev = machine.run(f"udevadm info --query=property {self.node('GOOD')}").stdout
        self.match("GOOD: udev reads the drive's serial number through the bridge", udev, "^ID_SERIAL_SHORT=GOOD$")
        self.match("GOOD: udev reads the APM level through the bridge", udev, "^ID_ATA_FEATURE_SET_APM_CURRENT_VALUE=128$")

    def check_faults(self, machine):
        node, drive = self.node("GOOD"), self.docks["GOOD"].drive
        for kind in ("abort", "sense", "ignore"):
            drive.inject(kind, **APM)
            hdparm(machine, "-B 1", node)
            self.equal(f"{kind}: the APM level does not change", apm(machine, node), "100")
        drive.inject("hang", seconds=3, **APM)
        hdparm(machine, "-B 1", node)
        self.equal("hang: the drive executes the command in the end", apm(machine, node), "1")
        drive.inject("never", **APM)
        mark = drive.log.mark()
        hdparm(machine, "-B 2", node)
        self.claim("never: the kernel resets the port", drive.log.since(mark, text="comreset"))
        self.equal("never: the port reset preserves the APM level", apm(machine, node), "1")

    def check_power_loss(self, machine):
        dock = self.docks["GOOD"]
        for _ in range(2):
            hdparm(machine, "-B 99", self.node("GOOD"))
            attended = dock.bridge.attended
            machine.suspend(while_asleep=dock.drive.power_cycle)
            # If the kernel and udev have sent no command since the power loss, this command is the first.
            hdparm(machine, "-B", self.node("GOOD"))
            self.equal("the first command after a power loss gets a unit attention", dock.bridge.attended - attended, 1)
            self.equal("the drive loses its APM level in suspend to memory", apm(machine, self.node("GOOD")), "128")

    def check_plug(self, machine):
        node, dock = self.node("GOOD"), self.docks["GOOD"]
        hdparm(machine, "-B 99", node)
        dock.unplug()
        machine.wait_until(f"! [ -e {node} ]")
        dock.plug()
        machine.wait_until(f"[ -b {node} ]")
        machine.run("udevadm settle", 60)
        self.equal("an unplugged drive has lost its settings when it is plugged again", apm(machine, node), "128")


class DrivesUsbStrange(Scenario):
    """One USB bridge supports only ATA PASS-THROUGH(12), one supports no ATA PASS-THROUGH, and one resets at an unknown command"""
    rare = True

    def run(self):
        # Every bridge here survives ATA PASS-THROUGH(12), which udev sends to every USB disk.
        quirks = {"TWELVE": {"passthrough": (12,)}, "NONE": {"passthrough": (), "refusal": (0x24, 0)},
                  "CRASHING": {"passthrough": (12,), "unknown": "reset", "ata_information": True}}
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp"))
            docks = {serial: stack.enter_context(UsbDisk(f"{folder}/{serial}", AtaDrive(serial=serial), name=serial.lower(),
                                                         serial=serial, **options)) for serial, options in quirks.items()}
            nodes = {serial: f"{DOCK}{serial}-0:0" for serial in docks}
            arguments = [word for dock in docks.values() for word in dock.qemu_args()]
            with self.machine(extra_args=arguments) as machine:
                machine.wait_until(" && ".join(f"[ -b {node} ]" for node in nodes.values()), 120)
                machine.run("udevadm settle")
                for serial, options, level in (("TWELVE", "-B 100", 128), ("TWELVE", "--prefer-ata12 -B 100", 100),
                                               ("NONE", "-B 100", 128), ("NONE", "--prefer-ata12 -B 100", 128),
                                               ("CRASHING", "--prefer-ata12 -B 100", 100)):
                    hdparm(machine, options, nodes[serial])
                    self.equal(f"{serial}: after hdparm {options} the drive has APM level {level}", docks[serial].drive["apm"], level)
                self.match("CRASHING: sg_vpd reads VPD page 89h (ATA Information)",
                           machine.run(f"sg_vpd -p ai {nodes['CRASHING']}", check=False).stdout,
                           r"CRASHING")
                node, drive = nodes["CRASHING"], docks["CRASHING"].drive
                mark, before = drive.log.mark(), machine.run(f"readlink {node}").stdout
                hdparm(machine, "-B 50", node)
                self.claim("CRASHING: the bridge resets at ATA PASS-THROUGH(16)", drive.log.since(mark, text="bridge reset"))
                machine.wait_until(f"[ -b {node} ] && udevadm settle && hdparm --prefer-ata12 -I {node} | grep -q CRASHING", 60)
                self.claim(f"CRASHING: the drive appears again after the reset; the previous link was {before.strip()}", True)
                self.equal("CRASHING: the drive has the old APM level: it got no command and kept its power", drive["apm"], 100)
