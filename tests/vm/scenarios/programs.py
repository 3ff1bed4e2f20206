"""Common programs, and not only drivekeep, must see the settings that the drive models have."""
import contextlib
import tempfile

from drives.hba import Hba
from drives.model import AtaDrive
from drives.nvme import NvmeController
from drives.nvmetcp import NvmeTcp
from drives.sas import SasHba
from drives.scsi import ScsiDisk
from scenario import Scenario

SATA = "/dev/disk/by-id/ata-DRIVEKEEP_TESTDISK_"
SAS = "/dev/disk/by-id/wwn-0x5000c500000000a0"


class Programs(Scenario):
    """hdparm, smartctl, sdparm, sg3-utils and lsblk agree with the SATA and SAS drive models"""
    rare = True

    def run(self):
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp"))
            hba = stack.enter_context(Hba(f"{folder}/hba0", ports=2, name="hba0"))
            sas = stack.enter_context(SasHba(f"{folder}/sas0", ports=2, name="sas0"))
            self.drive = hba.attach(0, AtaDrive(serial="ALL", apm=128, erc=(70, 70), feature_control=True, epc=False,
                                                wrv=False, puis=False, dsn=False, free_fall=False, dco=True,
                                                sanitize=True))
            self.disk = sas.attach(0, ScsiDisk(serial="SAS1", wwn="5000c500000000a0", write_cache=True,
                                               timers={"idle_a": 20, "standby_z": None}))
            self.node, self.sas = SATA + "ALL", sas
            with self.machine(extra_args=hba.qemu_args() + sas.qemu_args()) as machine:
                machine.wait_until(f"[ -b {self.node} ] && [ -b {SAS} ]", 120)
                machine.run("udevadm settle")
                self.machine_ = machine
                self.check_hdparm()
                self.check_smartctl()
                self.check_smart_wear()
                self.check_power_conditions()
                self.check_sas_identity()
                self.check_mode_pages()
                self.check_sas_power()
                self.check_sas_wear()
                self.check_sas_events()

    def ask(self, command):
        result = self.machine_.run(command, check=False)
        return result.stdout + result.stderr

    # The SATA drive

    def check_hdparm(self):
        features = self.ask(f"hdparm -I {self.node}")
        for text in ("Advanced Power Management", "Power-Up In Standby", "SCT Error Recovery Control", "SCT Features Control",
                     "Write-Read-Verify", "Software settings preservation", "Device Configuration Overlay",
                     "Extended.*Power|EPC|unknown 119\\[7\\]"):
            self.match(f"hdparm -I lists {text.split('|')[0]}", features, text)
        self.ask(f"hdparm -R1 {self.node}")
        self.equal("hdparm -R1 makes the drive verify all sectors: hdparm puts the mode into a field that the drive ignores",
                   self.drive["wrv"], 0)
        self.ask(f"hdparm -R0 {self.node}")
        self.equal("hdparm -R0 turns write-read-verify off", self.drive["wrv"], None)
        self.ask(f"hdparm --yes-i-know-what-i-am-doing -s1 {self.node}")
        self.equal("hdparm -s1 turns power-up in standby on", self.drive["puis"], True)
        self.match("hdparm -I shows power-up in standby as enabled",
                   self.ask(f"hdparm -I {self.node}"), r"\*\s+Power-Up In Standby feature set")
        self.ask(f"hdparm -s0 {self.node}")
        self.equal("hdparm -s0 turns power-up in standby off", self.drive["puis"], False)
        self.ask(f"hdparm -K1 {self.node}")
        self.equal("hdparm -K1 makes the drive keep its features over a reset", self.drive["keep_features"], True)
        self.ask(f"hdparm --yes-i-know-what-i-am-doing -m8 {self.node}")
        self.equal("hdparm -m8 sets multiple sector I/O to 8", self.drive["multiple"], 8)
        self.match("hdparm reads the device configuration overlay",
                   self.ask(f"hdparm --dco-identify {self.node}"), r"Real max sectors: +131072")
        self.ask(f"hdparm --dco-freeze {self.node}")
        self.no_match("hdparm cannot read a frozen device configuration overlay",
                      self.ask(f"hdparm --dco-identify {self.node}"), "Real max sectors: +131072")
        self.match("hdparm shows the sanitize state as idle", self.ask(f"hdparm --sanitize-status {self.node}"), "(?i)idle")
        self.ask(f"hdparm --sanitize-freeze-lock {self.node}")
        self.match("hdparm shows the sanitize state as frozen after --sanitize-freeze-lock",
                   self.ask(f"hdparm --sanitize-status {self.node}"), "(?i)frozen")
        self.ask(f"hdparm --security-freeze {self.node}")
        self.match("hdparm -I shows security as frozen after --security-freeze", self.ask(f"hdparm -I {self.node}"), r"^\t\s*frozen")

    def check_smartctl(self):
        self.ask(f"smartctl -l scterc,100,110,p {self.node}")
        self.match("smartctl sets and reads the error recovery limits at power-on", self.ask(f"smartctl -l scterc,p {self.node}"),
                   r"Power-on Read: +100 [^\n]*\n +Power-on Write: +110 ")
        self.equal("the limits at power-on do not change the current error recovery limits", self.drive["erc"], (70, 70))
        self.drive.power_cycle()
        self.match("after power loss the limits at power-on are in force", self.ask(f"smartctl -l scterc {self.node}"), r"Read: +100 ")
        self.ask(f"smartctl -l scterc,reset {self.node}")
        self.equal("smartctl resets the current limits and those at power-on",
                   (self.drive["erc"], self.drive["erc_at_power_on"]), ((70, 70), (70, 70)))
        self.ask(f"smartctl -s wcache-sct,off {self.node}")
        self.match("smartctl forces the write cache off",
                   self.ask(f"smartctl -g wcache-sct {self.node}"), "Write Cache Control: Force Disabled")
        self.match("smartctl shows the forced write cache as disabled",
                   self.ask(f"smartctl -g wcache {self.node}"), "Write cache is: +Disabled")
        self.ask(f"smartctl -s wcache-sct,ata {self.node}")
        self.match("smartctl ends the forced state, and the write cache is enabled again",
                   self.ask(f"smartctl -g wcache {self.node}"), "Write cache is: +Enabled")
        self.ask(f"smartctl -s wcreorder,off {self.node}")
        self.match("smartctl turns write cache reordering off", self.ask(f"smartctl -g wcreorder {self.node}"), "(?i)disabled")
        self.ask(f"smartctl -s dsn,on {self.node}")
        self.match("smartctl turns device statistics notification on", self.ask(f"smartctl -g dsn {self.node}"), "DSN feature is: +Enabled")
        directory = self.ask(f"smartctl -l directory {self.node}")
        for address, name in (("04", "Device Statistics"), ("08", "Power Conditions"), ("e0", "SCT")):
            self.match(f"the log directory has {name}", directory, f"(?i)^0x{address}.*{name}")

    def check_smart_wear(self):
        """The drive is put into standby. Each read of its SMART attributes then spins up the drive. The
        spin-up completes a load cycle and a start, and the drive counts both."""
        for _ in range(2):
            before = self.drive["load_cycles"]
            self.ask(f"hdparm -y {self.node}")
            attributes = self.ask(f"smartctl -A {self.node}")
            loads, starts = self.drive["load_cycles"], self.drive["spin_ups"]
            self.equal("hdparm -y unloads the drive's heads", loads, before + 1)
            self.match("smartctl reads the SATA drive's load cycles", attributes, rf"^193 Load_Cycle_Count .* {loads}$")
            self.match("smartctl reads the SATA drive's start count", attributes, rf"^ *4 Start_Stop_Count .* {starts}$")
        self.match("smartctl reads the SATA drive's temperature", attributes, r"^194 Temperature_Celsius .* 35$")

    def sg(self, cdb, data=0):
        """Sends a command and returns its data. The disk is opened read-only, because udev reads from a disk after a
        writer has closed it, and would spin up the disk."""
        receive = f"-r {data} -b" if data else ""
        return self.machine_.run(f"sg_raw -R {receive} {self.node} {cdb} 2>/dev/null | od -An -v -tx1", check=False).stdout

    def check_power_conditions(self):
        """Debian has no package of wdepc, so sg_raw sends the same commands."""
        self.sg("85 06 20 00 4a 00 00 00 04 00 00 00 00 40 ef 00")
        self.equal("enabling EPC turns APM off", (self.drive["epc"], self.drive["apm"]), (True, 255))
        self.match("hdparm shows APM as off while EPC is enabled", self.ask(f"hdparm -B {self.node}"), "= off")
        self.sg("85 06 20 00 4a 00 82 00 b2 00 0a 00 00 40 ef 00")
        self.equal("the Idle_b timer is set to ten minutes and saved", (self.drive["idle_b"], self.drive["idle_b_saved"]), (6000, 6000))
        log = self.sg("85 09 0e 00 00 00 01 00 08 00 00 00 00 40 2f 00", 512).split()
        self.equal("log 08h has the descriptor of Idle_b", " ".join(log[64:80]), "00 fc 00 00 70 17 00 00 70 17 00 00 70 17 00 00")
        self.drive.power_cycle()
        self.equal("EPC and the Idle_b timer survive a power loss", (self.drive["epc"], self.drive["idle_b"]), (True, 6000))
        self.sg("85 06 20 00 4a 00 00 00 01 00 00 00 00 40 ef 00")
        self.match("hdparm -C calls Standby_z standby", self.ask(f"hdparm -C {self.node}"), "standby")
        self.ask(f"hdparm -B 100 {self.node}")
        self.equal("hdparm -B cannot turn APM on while EPC is enabled", self.drive["apm"], 255)
        self.sg("85 06 20 00 4a 00 00 00 05 00 00 00 00 40 ef 00")
        self.equal("the drive's EPC can be disabled", self.drive["epc"], False)

    # The SAS disk

    def check_sas_identity(self):
        self.match("lsblk shows a SAS disk", self.ask("lsblk -dno TRAN,SERIAL"), r"^sas +\S*5000c500000000a0|^sas +SAS1")
        self.match("the SAS disk's sysfs path has an end device", self.ask(f"udevadm info --query=path {SAS}"), "/end_device-")
        self.match("sg_vpd reads the SAS disk's serial number", self.ask(f"sg_vpd -p sn {SAS}"), r"^ *(Unit|Product) serial number: SAS1$")
        # The rotation rate comes from the raw page, because sg_vpd 1.48 prints no line for it.
        self.match("sg_vpd reads the SAS disk's rotation rate",
                   self.ask(f"sg_vpd -p bdc --raw {SAS} | od -An -d --endian=big -j 4 -N 2"), "^ *7200$")
        self.match("smartctl shows the transport protocol SAS", self.ask(f"smartctl -i {SAS}"), r"Transport protocol: +SAS")
        self.match("hdparm does not support the SAS disk", self.ask(f"hdparm -B {SAS}"), "not supported|bad/missing|failed")

    def check_mode_pages(self):
        self.match("sdparm reads WCE: current, changeable, default, saved", self.ask(f"sdparm --get=WCE {SAS}"),
                   r"^WCE +1 +\[cha: y, def: *1, sav: *1\]")
        self.ask(f"sdparm --clear=WCE {SAS}")
        self.match("sdparm clears the current WCE and keeps the saved one",
                   self.ask(f"sdparm --get=WCE {SAS}"), r"^WCE +0 +\[cha: y, def: *1, sav: *1\]")
        self.disk.power_cycle()
        self.ask(f"sdparm --get=WCE {SAS}")
        self.match("a power loss restores the saved WCE", self.ask(f"sdparm --get=WCE {SAS}"), r"^WCE +1 ")
        self.ask(f"sdparm --clear=WCE --save {SAS}")
        self.match("sdparm clears and saves WCE", self.ask(f"sdparm --get=WCE {SAS}"), r"^WCE +0 +\[cha: y, def: *1, sav: *0\]")
        self.ask(f"sdparm --set=RTL=7000 {SAS}")
        self.match("sdparm sets the recovery time limit", self.ask(f"sdparm --get=RTL {SAS}"), r"^RTL +7000 ")
        self.ask(f"sdparm --set=SZCT=900,STANDBY_Z=1 {SAS}")
        self.equal("sdparm sets a standby timer", self.disk["standby_z"], 900)
        modes = self.ask(f"sg_modes -a {SAS}")
        for code in ("Read-Write error recovery", "Caching", "Control", "Power condition"):
            self.match(f"sg_modes lists the mode page {code}", modes, f"(?i){code}")
        path = f"/sys/block/$(basename $(readlink -f {SAS}))/device/scsi_disk/*/cache_type"
        self.ask(f"echo 'write back' | tee {path}")
        self.equal("the kernel's cache_type sets and saves WCE", (self.disk["write_cache"], self.disk.pages[8].saved[0] & 4),
                   (True, 4))

    def check_sas_power(self):
        self.ask(f"sg_start --readonly --pc=3 {SAS}")
        self.equal("sg_start puts the SAS disk into standby", self.disk["mode"], "standby_z")
        self.match("sg_requests reports standby activated by a command",
                   self.ask(f"sg_requests {SAS}"), "(?i)standby condition activated by command")
        self.ask(f"dd if={SAS} of=/dev/null bs=4096 count=1 iflag=direct")
        self.equal("a read makes the SAS disk active", self.disk["mode"], "active")
        self.ask(f"sg_start --readonly --stop {SAS}")
        self.equal("sg_start --stop stops the SAS disk", self.disk["mode"], "stopped")
        self.ask(f"sg_start --start {SAS}")

    def check_sas_wear(self):
        before = self.disk["load_cycles"]
        self.ask(f"sg_start --readonly --pc=3 {SAS}")
        self.ask(f"dd if={SAS} of=/dev/null bs=4096 count=1 iflag=direct")
        loads, starts = self.disk["load_cycles"], self.disk["spin_ups"]
        self.equal("standby unloads the SAS disk's heads", loads, before + 1)
        everything = self.ask(f"smartctl -a {SAS}")
        for text, number in (("Specified cycle count over device lifetime", 50000), ("Accumulated start-stop cycles", starts),
                             ("Specified load-unload count over device lifetime", 600000),
                             ("Accumulated load-unload cycles", loads)):
            self.match(f"smartctl shows: {text}", everything, f"^{text}: +{number}$")
        self.match("smartctl reads the SAS disk's temperature", everything, "^Current Drive Temperature: +29 C$")
        self.match("sg_logs lists the start-stop log page", self.ask(f"sg_logs {SAS}"), "(?i)start-stop")

    def check_sas_events(self):
        machine = self.machine_
        machine.run("udevadm monitor --kernel --property --subsystem-match=scsi > /run/events & echo $! > /run/pid; sleep 2")
        self.disk.change_by_other(8, 2, b"\0")
        self.ask(f"sg_turs {SAS}; dd if={SAS} of=/dev/null bs=4096 count=1 iflag=direct")
        machine.wait_until("grep -q SDEV_UA=MODE_PARAMETERS_CHANGED /run/events", 30)
        self.disk.power_cycle()
        self.ask(f"dd if={SAS} of=/dev/null bs=4096 count=1 iflag=direct")
        machine.wait_until("grep -q SDEV_UA=POWER_ON_RESET_OCCURRED /run/events", 30)
        machine.run("kill $(cat /run/pid)")
        self.claim("the kernel sends uevents for the disk's unit attentions", True)
        self.disk.inject("never", command=0x5a)
        mark = self.disk.log.mark()
        machine.run(f"sg_modes {SAS}; true", timeout=180, check=False)
        self.claim("sg_modes ends although the disk never answers MODE SENSE", self.disk.log.since(mark, command=0x5a))
        self.sas.detach(0)
        machine.wait_until(f"! [ -e {SAS} ]", 60)
        self.sas.attach(0, self.disk)
        machine.wait_until(f"[ -b {SAS} ]", 60)
        self.claim("the SAS disk can be unplugged and plugged in again", True)


class ProgramsNvme(Scenario):
    """nvme-cli and the kernel agree with the NVMe controller model about its features"""
    rare = True

    NODE = "/dev/disk/by-id/nvme-DRIVEKEEP_NVME_NVME0001"

    def run(self):
        with tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp") as folder:
            self.controller = NvmeController()
            with NvmeTcp(f"{folder}/nvme", self.controller) as transport, \
                 self.machine(extra_args=transport.qemu_args()) as machine:
                transport.connect(machine)
                machine.wait_until(f"[ -b {self.NODE} ]", 60)
                self.nvme = machine.run(f"basename $(readlink -f {self.NODE}) | sed s/n1$//").stdout.strip()
                self.check_features(machine)
                self.check_kernel(machine)

    def check_features(self, machine):
        def ask(command):
            result = machine.run(f"nvme {command}", check=False)
            return result.stdout + result.stderr

        node = f"/dev/{self.nvme}"
        self.match("nvme id-ctrl shows the controller's power states", ask(f"id-ctrl {node}"), r"^npss +: 4$")
        for text, number, value, shown in (("power state", 2, "2", "0x0*2$"), ("write cache", 6, "0", "(0x)?0+$"),
                                           ("interrupt coalescing", 8, "0x0203", "0x0*203$"),
                                           ("thermal management", 0x10, "0x01540154", "")):
            answer = ask(f"set-feature {node} -f {number} --value={value}")
            if not shown:
                self.match(f"the controller rejects an invalid value for {text}", answer, "(?i)invalid field")
                continue
            self.match(f"nvme-cli sets and reads {text}", ask(f"get-feature {node} -f {number}"), f"(?i)value:{shown}")
        ask(f"set-feature {node} -f 16 --value=0x0154015e --save")
        machine.run(f"nvme reset {node}", 60)
        machine.wait_until(f"[ $(cat /sys/class/nvme/{self.nvme}/state) = live ]", 60)
        self.match("a saved feature survives a controller reset", ask(f"get-feature {node} -f 16"), r"(?i)value:0x0*154015e$")
        self.match("a feature that was not saved is lost at a controller reset", ask(f"get-feature {node} -f 2"), r"(?i)value:0+$")

    def check_kernel(self, machine):
        path = f"/sys/class/nvme/{self.nvme}"
        self.equal("the kernel has turned APST on", self.controller["apst"], True)
        machine.run(f"echo 0 > {path}/power/pm_qos_latency_tolerance_us")
        self.equal("the kernel turns APST off if no latency is tolerated", self.controller["apst"], False)
        machine.run(f"head -c 524288 /dev/urandom > /run/noise && dd if=/run/noise of={self.NODE} bs=64k oflag=direct", 60)
        self.equal("data written to the namespace is read back",
                   machine.run(f"cmp -n 524288 /run/noise {self.NODE}", check=False).status, 0)
        machine.run(f"mkfs.ext4 -q {self.NODE}", 60)
        self.equal("fsck finds no error in a new file system on the namespace",
                   machine.run(f"fsck.ext4 -fn {self.NODE}", check=False).status, 0)
        self.match("the namespace's sysfs path contains an NVMe device",
                   machine.run(f"udevadm info --query=path {self.NODE}").stdout, "/nvme")
