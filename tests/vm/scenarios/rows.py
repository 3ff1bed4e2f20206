"""drivekeep writes every setting that a test device supports, and common programs read the value.

A new row needs a line in ROWS, or in ELSEWHERE if no test device supports it.
"""
import contextlib
import json
import pathlib
import shutil
import tempfile

from drives.nvme import NvmeController
from drives.nvmetcp import NvmeTcp
from drives.sas import SasHba
from drives.scsi import ScsiDisk
from keeping import CONF, by_id
from machine import ahci_disk, nvme_disk, scsi_disk
from reporting import Reporting
from rowtable import Device, Row, RowTable

SAS = "/dev/disk/by-id/wwn-0x5000c500000000a0"
DOCK = "/dev/disk/by-id/usb-DOCK_SATA_Bridge_DOCK0001-0:0"
MD = "/dev/md0"
DM = "/dev/mapper/striped"
NVME = "/dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_ROWSNVME"
FABRIC = "/dev/disk/by-id/nvme-DRIVEKEEP_NVME_NVME0001"
AHCI = "/dev/disk/by-id/ata-QEMU_HARDDISK_ROWSAHCI"

def scsi(serial):
    return f"/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_{serial}"


# The backends that write the settings of a kind of device.
ATA, SCSI, NVM, QUEUE = ("ata", "scsi", "block"), ("scsi-mode", "scsi", "block"), ("nvme", "block"), ("block",)
DANGER = "allow_dangerous = true;"
LINK_POWER = "{sys}/device/../../scsi_host/host*/link_power_management_policy"
CACHE_TYPE = "cat {sys}/device/scsi_disk/*/cache_type"
EPC_ENABLED = r"\b7 +1 +Extended Power Conditions feature set enabled"
# Reads a feature from the controller's own node.
FABRIC_FEATURE = "nvme get-feature /dev/$(echo {name} | sed 's/n[0-9]*$//') -f "
SCT_NOW = "smartctl -l scterc {node}"

ROWS = (
    # ATA settings that hdparm has, too
    Row("sata", "apm", "100", "hdparm -B {node}", r"APM_level\s+= 100$"),
    Row("sata", "lookahead", "false", "hdparm -A {node}", r"look-ahead\s+=\s+0 "),
    Row("sata", "write_cache", "false", "hdparm -W {node}", r"write-caching =\s+0 "),
    Row("sata", "write_cache", "true", CACHE_TYPE, r"^write back$"),
    Row("sata", "acoustic_management", "200", "hdparm -M {node}", r"acoustic\s+= 200 "),
    Row("sata", "spindown_time", '"10min"', "model standby_seconds", r"^600$", group="spindown"),
    Row("sata", "force_spindown_time", '"20min"', "model standby_seconds", r"^1200$", group="spindown"),
    Row("sata", "write_read_verify", "true", "hdparm -I {node}", r"\*\s+Write-Read-Verify feature set", DANGER),
    Row("sata", "keep_features_over_reset", "true", "model keep_features", r"^True$"),
    Row("sata", "mult_sect_io", "8", "hdparm -I {node}", r"Max = 16\s+Current = 8", DANGER),
    Row("sata", "security_freeze", "true", "hdparm -I {node}", r"^\t\s+frozen"),
    Row("sata", "read_only", "true", "blockdev --getro {node}", r"^1$"),
    Row("scsi", "read_only", "true", "blockdev --getro {node}-part1", r"^1$"),
    Row("sata", "read_ahead_sect", "512", "blockdev --getra {node}", r"^512$"),
    Row("sata", "poweron_standby", "true", "hdparm -I {node}", r"\*\s+Power-Up In Standby feature set", DANGER, permanent=True),
    # ATA settings that hdparm does not have
    Row("sata", "error_recovery", '"8s"', SCT_NOW, r"Read: +80 [^\n]*\n +Write: +80 ", group="erc"),
    Row("sata", "error_recovery_read", '"9s"', SCT_NOW, r"Read: +90 ", group="erc"),
    Row("sata", "error_recovery_write", '"10s"', SCT_NOW, r"Write: +100 ", group="erc"),
    Row("sata", "error_recovery", '"11s"', "model erc_at_power_on", r"^\(110, 110\)$", permanent=True),
    Row("plain", "error_recovery_fallback_timeout", '"180s"', "cat {sys}/device/timeout", r"^180$", 'error_recovery = "7s";'),
    Row("epc", "error_recovery_fallback_timeout", '"170s"', "cat {sys}/device/timeout", r"^170$", 'error_recovery = "7s";'),
    Row("sata", "software_settings_preservation", "true", "hdparm -I {node}", r"\*\s+Software settings preservation"),
    Row("sata", "free_fall_control", "true", "hdparm -I {node}", r"\*\s+Free-fall Control feature set"),
    Row("sata", "device_statistics_notification", "true", "smartctl -g dsn {node}", r"DSN feature is: +Enabled"),
    Row("sata", "dco_freeze", "true", "model dco_frozen", r"^True$"),
    Row("sata", "sanitize_freeze", "true", "hdparm --sanitize-status {node}", r"(?i)frozen"),
    Row("epc", "write_cache_forced", '"off"', "smartctl -g wcache-sct {node}", r"Force Disabled", DANGER),
    Row("sata", "write_cache_reordering", "false", "smartctl -g wcreorder {node}", r"(?i)disabled", DANGER),
    # The drive "epc" gets EPC enabled. The drive "power" has EPC enabled already, and gets timers.
    Row("epc", "epc", "true", "smartctl --identify {node}", EPC_ENABLED, permanent=True),
    Row("power", "idle_a", '"5s"', "model idle_a", r"^50$"),
    Row("power", "idle_b", '"12min"', "model idle_b", r"^7200$"),
    Row("power", "idle_c", '"15min"', "model idle_c", r"^9000$"),
    Row("power", "standby_y", '"20min"', "model standby_y", r"^12000$"),
    Row("power", "standby_z", '"150h"', "model standby_z", r"^5400000$"),
    Row("power", "idle_a", '"off"', "model idle_a", r"^None$"),
    Row("power", "idle_c", '"25min"', "model idle_c_saved", r"^15000$", permanent=True),
    # behind a USB bridge
    Row("usb", "apm", "100", "hdparm -B {node}", r"APM_level\s+= 100$"),
    Row("usb", "error_recovery", '"8s"', "smartctl -d sat -l scterc {node}", r"Read: +80 [^\n]*\n +Write: +80 "),
    Row("usb", "lookahead", "false", "hdparm -A {node}", r"look-ahead\s+=\s+0 "),
    # SCSI mode pages
    Row("sas", "write_cache", "false", "sdparm --get=WCE {node}", r"^WCE +0 "),
    Row("sas", "error_recovery", '"7s"', "sdparm --get=RTL {node}", r"^RTL +7000 "),
    Row("sas", "idle_a", '"5s"', "sdparm --get=IACT,IDLE_A {node}", r"^IACT +50 [^\n]*\nIDLE_A +1 "),
    Row("sas", "idle_b", '"10min"', "sdparm --get=IBCT,IDLE_B {node}", r"^IBCT +6000 [^\n]*\nIDLE_B +1 "),
    Row("sas", "idle_c", '"15min"', "sdparm --get=ICCT,IDLE_C {node}", r"^ICCT +9000 [^\n]*\nIDLE_C +1 "),
    Row("sas", "standby_y", '"20min"', "sdparm --get=SYCT,STANDBY_Y {node}", r"^SYCT +12000 [^\n]*\nSTANDBY_Y +1 "),
    Row("sas", "standby_z", '"30min"', "sdparm --get=SZCT,STANDBY_Z {node}", r"^SZCT +18000 [^\n]*\nSTANDBY_Z +1 "),
    Row("sas", "read_cache", "false", "sdparm --get=RCD {node}", r"^RCD +1 "),
    Row("sas", "lookahead", "false", "sdparm --get=DRA {node}", r"^DRA +1 "),
    Row("sas", "auto_reallocate_write", "false", "sdparm --get=AWRE {node}", r"^AWRE +0 "),
    Row("sas", "auto_reallocate_read", "false", "sdparm --get=ARRE {node}", r"^ARRE +0 "),
    Row("scsi", "write_cache", "false", "sdparm --get=WCE {node}", r"^WCE +0 ", group="cache"),
    # values that the SAS disk saves
    Row("sas", "write_cache", "false", "sdparm --get=WCE {node}", r"^WCE +0 .*sav: *0\]", permanent=True),
    Row("sas", "error_recovery", '"6s"', "sdparm --get=RTL {node}", r"^RTL +6000 .*sav: *6000\]", permanent=True),
    Row("sas", "idle_b", '"13min"', "sdparm --get=IBCT,IDLE_B {node}", r"^IBCT +7800 .*sav: *7800\]\nIDLE_B +1 .*sav: *1\]",
        permanent=True),
    # SCSI and the block layer, by sysfs
    Row("sas", "timeout", '"77s"', "cat {sys}/device/timeout", r"^77$"),
    Row("sas", "eh_timeout", '"22s"', "cat {sys}/device/eh_timeout", r"^22$"),
    Row("scsi", "queue_depth", "5", "cat {sys}/device/queue_depth", r"^5$"),
    Row("sas", "max_retries", "3", "cat {sys}/device/scsi_disk/*/max_retries", r"^3$"),
    Row("sas", "allow_restart", "true", "cat {sys}/device/scsi_disk/*/allow_restart", r"^1$"),
    Row("scsi", "cache_type", '"write back"', CACHE_TYPE, r"^write back$", DANGER, group="cache"),
    Row("sas", "manage_system_start_stop", "true", "cat {sys}/device/scsi_disk/*/manage_system_start_stop", r"^1$"),
    Row("sas", "manage_runtime_start_stop", "true", "cat {sys}/device/scsi_disk/*/manage_runtime_start_stop", r"^1$"),
    Row("sas", "manage_shutdown", "true", "cat {sys}/device/scsi_disk/*/manage_shutdown", r"^1$"),
    Row("scsi", "runtime_pm", '"auto"', "cat {sys}/device/power/control", r"^auto$"),
    Row("scsi", "autosuspend_delay", '"900s"', "cat {sys}/device/power/autosuspend_delay_ms", r"^900000$"),
    Row("sata", "link_power_management", '"med_power_with_dipm"', "cat " + LINK_POWER, r"^med_power_with_dipm$"),
    Row("scsi", "provisioning_mode", '"writesame_16"', "cat {sys}/device/scsi_disk/*/provisioning_mode", r"^writesame_16$"),
    Row("sata", "scheduler", '"none"', "cat {sys}/queue/scheduler", r"\[none\]"),
    *(Row("member", key, value, "cat {sys}/queue/iosched/" + key, expected, 'scheduler = "mq-deadline";') for key, value, expected in (
        ("read_expire", '"250ms"', r"^252$"), ("write_expire", '"4s"', r"^4000$"), ("prio_aging_expire", '"8s"', r"^8000$"),
        ("fifo_batch", "8", r"^8$"), ("writes_starved", "3", r"^3$"), ("front_merges", "false", r"^0$"))),
    *(Row("ahci", key, value, "cat {sys}/queue/iosched/" + key, expected, 'scheduler = "bfq";') for key, value, expected in (
        ("low_latency", "false", r"^0$"), ("strict_guarantees", "true", r"^1$"), ("slice_idle", '"4ms"', r"^4$"),
        ("timeout_sync", '"100ms"', r"^100$"), ("max_budget", '"4MiB"', r"^8192$"), ("fifo_expire_sync", '"200ms"', r"^200$"),
        ("fifo_expire_async", '"300ms"', r"^300$"), ("back_seek_max", '"8MiB"', r"^8192$"), ("back_seek_penalty", "3", r"^3$"))),
    *(Row("plain", key, value, "cat {sys}/queue/iosched/" + key, f"^{value}$", 'scheduler = "kyber";')
      for key, value in (("read_lat_nsec", "1000000"), ("write_lat_nsec", "5000000"))),
    Row("scsi", "nr_requests", "32", "cat {sys}/queue/nr_requests", r"^32$"),
    Row("sas", "read_ahead_kb", "512", "blockdev --getra {node}", r"^1024$"),
    Row("sas", "max_sectors_kb", "128", "cat {sys}/queue/max_sectors_kb", r"^128$"),
    Row("sas", "wbt_lat_usec", "12345", "cat {sys}/queue/wbt_lat_usec", r"^12345$"),
    Row("sas", "rotational", "false", "lsblk -dno ROTA {node}", r"^ *0$"),
    Row("sas", "add_random", "false", "lsblk -dno RAND {node}", r"^ *0$"),
    Row("sas", "rq_affinity", "2", "cat {sys}/queue/rq_affinity", r"^2$"),
    Row("sas", "nomerges", "2", "cat {sys}/queue/nomerges", r"^2$"),
    Row("sas", "iostats", "false", "cat {sys}/queue/iostats", r"^0$"),
    Row("scsi", "io_timeout", '"44s"', "cat {sys}/queue/io_timeout", r"^44000$"),
    Row("scsi", "max_ratio", "7", "cat {sys}/bdi/max_ratio", r"^7$"),
    Row("scsi", "discard_max_bytes", "0", "lsblk -dno DISC-MAX {node}", r"^ *0B$"),
    Row("usb", "queue_write_cache", '"write through"', "cat {sys}/queue/write_cache", r"^write through$",
        DANGER + " write_cache = false;", group="cache"),
    Row("usb", "write_cache", "true", CACHE_TYPE, r"^write back$", group="cache"),
    Row("usb", "timeout", '"66s"', "cat {sys}/device/timeout", r"^66$"),
    Row("usb", "max_retries", "2", "cat {sys}/device/scsi_disk/*/max_retries", r"^2$"),
    Row("usb", "max_sectors_kb", "64", "cat {sys}/queue/max_sectors_kb", r"^64$"),
    Row("usb", "read_ahead_kb", "256", "blockdev --getra {node}", r"^512$"),
    Row("usb", "scheduler", '"none"', "cat {sys}/queue/scheduler", r"\[none\]"),
    Row("sata", "max_sectors_kb", "256", "cat {sys}/queue/max_sectors_kb", r"^256$"),
    Row("sata", "wbt_lat_usec", '"off"', "cat {sys}/queue/wbt_lat_usec", r"^0$"),
    Row("sata", "nomerges", "1", "cat {sys}/queue/nomerges", r"^1$"),
    # QEMU's model of an AHCI controller
    Row("ahci", "write_cache", "false", "hdparm -W {node}", r"write-caching =\s+0 "),
    Row("ahci", "queue_depth", "7", "cat {sys}/device/queue_depth", r"^7$"),
    Row("ahci", "timeout", '"88s"', "cat {sys}/device/timeout", r"^88$"),
    # MD arrays, DM volumes, and a drive that is a member of an array with redundancy
    Row("md", "read_ahead_kb", '"4 stripes"', "blockdev --getra {node}", r"^1024$"),
    Row("md", "stripe_cache_size", "1024", "cat {sys}/md/stripe_cache_size", r"^1024$"),
    Row("md", "group_thread_cnt", "2", "cat {sys}/md/group_thread_cnt", r"^2$"),
    Row("md", "sync_speed_min", "5000", "cat {sys}/md/sync_speed_min", r"^5000 \(local\)$"),
    Row("md", "sync_speed_max", '"50MiB"', "cat {sys}/md/sync_speed_max", r"^51200 \(local\)$"),
    Row("md", "sync_speed_max", '"system"', "cat {sys}/md/sync_speed_max", r"\(system\)$"),
    Row("dm", "read_ahead_kb", '"3 stripes"', "cat {sys}/queue/read_ahead_kb", r"^384$"),
    Row("dm", "iostats", "true", "cat {sys}/queue/iostats", r"^1$"),
    Row("member", "timeout", '"55s"', "cat {sys}/device/timeout", r"^55$", "only_in_raid = true;"),
    # Features that QEMU's NVMe controller can change ("nvme"), and features of the controller model over TCP ("fabric")
    Row("nvme", "write_cache", "false", "nvme get-feature {node} -f 6", r"(?i)value:0+$"),
    Row("nvme", "error_recovery", '"3s"', "nvme get-feature {node} -n 1 -f 5", r"(?i)value:0x0*1e$"),
    Row("nvme", "temperature_threshold", "80", "nvme get-feature {node} -f 4", r"(?i)value:0x0*161$"),
    Row("fabric", "write_cache", "false", FABRIC_FEATURE + "6", r"(?i)value:(0x)?0+$"),
    Row("fabric", "error_recovery", '"3s"', "nvme get-feature {node} -n 1 -f 5", r"(?i)value:0x0*1e$"),
    Row("fabric", "power_state", "2", FABRIC_FEATURE + "2", r"(?i)value:0x0*2$"),
    Row("fabric", "thermal_light", "60", FABRIC_FEATURE + "16", r"(?i)value:0x0*14d[0-9a-f]{4}$"),
    Row("fabric", "thermal_heavy", "70", FABRIC_FEATURE + "16", r"(?i)value:0x[0-9a-f]*0157$"),
    Row("fabric", "interrupt_coalescing_threshold", "4", FABRIC_FEATURE + "8", r"(?i)value:0x[0-9a-f]*03$"),
    Row("fabric", "interrupt_coalescing_time", '"200us"', FABRIC_FEATURE + "8",
        r"(?i)value:0x[0-9a-f]*02[0-9a-f]{2}$"),
    Row("fabric", "non_operational_permissive_mode", "true", FABRIC_FEATURE + "17", r"(?i)value:(0x)?0*1$"),
    Row("fabric", "temperature_threshold", "75", FABRIC_FEATURE + "4", r"(?i)value:0x0*15c$"),
    Row("fabric", "apst_latency", "0", "model apst", r"^False$"),
    Row("nvme", "scheduler", '"deadline"', "cat {sys}/queue/scheduler", r"\[mq-deadline\]"),
)

# These rows need Linux 6.2 or newer. The kernel turns max_bytes into a share of the memory, which was 100 % before.
LIMITS = (
    Row("scsi", "strict_limit", "true", "cat {sys}/bdi/strict_limit", r"^1$"),
    Row("sas", "max_bytes", '"16MiB"', "cat {sys}/bdi/max_ratio", r"^\d\d?$"),
)

# These rows are written while the machine runs on battery.
ON_BATTERY = (
    Row("usb", "apm_battery", "90", "hdparm -B {node}", r"APM_level\s+= 90$"),
)

# These rows leave the drive in standby.
AT_LAST = (
    Row("sas", "standby", "true", "model mode", r"^'standby_z'$"),
)

ELSEWHERE = {
    "standby (ata)": "an action at attach, not a state: see the scenario actions",
    "spindown_time (scsi-mode)": "the drive has no such timer",
    "keep_active (ata)": "reads of the drive, not a state: see the scenario asleep",
    "keep_active (scsi-mode)": "reads of the drive, not a state: see the scenario asleep",
    "sleep": "an action at attach, not a state: see the scenario actions",
    "cd_speed": "no command reads the speed: the scenario optical checks the commands",
    "ncq_prio_enable": "no drive here has priorities for NCQ",
    "cdl_enable": "no drive here has command duration limits",
    "manage_start_stop": "the guest's kernel has newer files in place of this one",
    "hmb": "QEMU's controller requests no buffer, and a controller over TCP cannot have one",
}


class Rows(Reporting, RowTable):
    """drivekeep sets each row that a test device supports, another program reads it back, and a table shows the results"""

    def run(self):
        sata = self.drive("ROWS-SATA", apm=128, acoustic=254, erc=(70, 70), feature_control=True, ssp=False, wrv=False,
                          puis=False, dsn=False, free_fall=False, dco=True, sanitize=True)
        # The EPC drive rejects error recovery limits below 20 s.
        epc = self.drive("ROWS-EPC", epc=False, apm=None, erc=(0, 0), erc_minimum=200, feature_control=True)
        power = self.drive("ROWS-POWER", epc=True, apm=None)
        plain = self.drive("ROWS-PLAIN", erc=None, apm=None)
        usb = self.drive("ROWS-USB", apm=128, erc=(70, 70))
        sas = ScsiDisk(serial="ROWSSAS", wwn="5000c500000000a0", write_cache=True)
        fabric = NvmeController()
        self.devices = {"sata": Device(by_id("ROWS-SATA"), sata, ATA), "epc": Device(by_id("ROWS-EPC"), epc, ATA),
                        "plain": Device(by_id("ROWS-PLAIN"), plain, ATA), "power": Device(by_id("ROWS-POWER"), power, ATA),
                        "usb": Device(DOCK, usb, ATA), "sas": Device(SAS, sas, SCSI), "nvme": Device(NVME, None, NVM),
                        "scsi": Device(scsi("ROWSSCSI"), None, SCSI), "ahci": Device(AHCI, None, ATA),
                        "member": Device(scsi("RAID1"), None, SCSI), "md": Device(MD, None, QUEUE), "dm": Device(DM, None, QUEUE),
                        "fabric": Device(FABRIC, fabric, NVM)}
        self.outcomes = {}
        disks = [nvme_disk("ROWSNVME"), scsi_disk("ROWSSCSI", rotation_rate=7200), ahci_disk("ROWSAHCI"),
                 scsi_disk("THICK", discard_granularity=0),      # READ CAPACITY(16) has LBPME = 0
                 *(scsi_disk(f"RAID{number}") for number in range(3))]
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dkd-", dir="/tmp"))
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            controller = stack.enter_context(SasHba(folder / "sas", ports=1, name="sas0"))
            controller.attach(0, sas)
            _, arguments = stack.enter_context(self.drives(sata, epc, power, plain, usb=[(usb, {})]))
            transport = stack.enter_context(NvmeTcp(folder / "nvme", fabric))
            arguments += controller.qemu_args() + transport.qemu_args()
            machine = stack.enter_context(self.machine(files={CONF: "drives = ();\n"}, setup="systemctl enable drivekeep",
                                                       disks=disks, extra_args=arguments))
            transport.connect(machine)
            members = " ".join(scsi(f"RAID{number}") for number in range(3))
            for link in (*members.split(), NVME):
                machine.wait_until(f"[ -b {link} ]", 120)
            machine.run(f"modprobe raid456; mdadm --create {MD} --name=rows --run --assume-clean --metadata=1.2 --level=5 --chunk=64 "
                        f"--raid-devices=3 {members}", 120)
            machine.run(f"echo '0 65536 striped 2 128 {NVME} 0 {NVME} 65536' | dmsetup create striped", 120)
            for device in self.devices.values():
                machine.wait_until(f"[ -b {device.link} ]", 120)
            # iostats and scheduler may have the wanted values by default, so the test changes both values first. Some kernels count a
            # volume's I/O by default. With one processor an NVMe controller has one queue and gets mq-deadline by default.
            for link, attribute, value in ((DM, "iostats", "0"), (NVME, "scheduler", "none")):
                machine.run(f"echo {value} > /sys/block/$(basename $(readlink -f {link}))/queue/{attribute}")
            machine.run(f"echo ,8M | sfdisk --quiet {scsi('ROWSSCSI')}")
            self.settle(machine)
            for name in ("sata", "epc", "usb", "sas", "nvme", "scsi", "ahci", "fabric"):
                self.check_report(machine, name, self.devices[name])
            self.check_tries(machine, self.devices)
            self.check_report_in_standby(machine, self.devices["plain"].link, plain)
            limits = machine.run("ls /sys/class/bdi/*/strict_limit", check=False).status == 0
            self.run_rows(machine, ROWS + (LIMITS if limits else ()))
            machine.run("modprobe supply online=0 discharging=1")
            self.run_rows(machine, ON_BATTERY)
            self.check_only_in_raid(machine)
            self.check_flushes(machine)
            self.check_link_power(machine)
            self.check_discards(machine)
            self.check_scheduler(machine)
            self.check_range(machine)
            self.check_not_live(machine, transport, fabric)
            self.check_other_number(machine, members)
            self.run_rows(machine, AT_LAST)
            elsewhere = ELSEWHERE | {row.key: "the guest's kernel is older than Linux 6.2" for row in LIMITS if not limits}
            self.print_table(elsewhere, self.check_complete(machine, elsewhere))

    def reload(self, machine, link, settings):
        """Loads a configuration with one block. Returns {setting: (verdict, reason)} of the drive."""
        machine.push(CONF, f'drives = ( {{ match = "{link}"; {settings} }} );\n')
        machine.run("systemctl reload drivekeep", 180)
        self.settle(machine)
        name = machine.run(f"basename $(readlink -f {link})").stdout.strip()
        return {each["name"]: (each["verdict"], each["reason"]) for each in self.all_status(machine, name)[0]["settings"]}

    def check_link_power(self, machine):
        """QEMU's controller has no power-saving link states. Older kernels accept a policy for its links, without any effect."""
        policy = LINK_POWER.format(sys=f"/sys/block/$(basename $(readlink -f {AHCI}))")
        caps = int(machine.run(f"cat $(dirname {policy})/ahci_host_caps").stdout, 16)
        self.equal("the AHCI controller reports neither partial (PSC) nor slumber (SSC)", caps & (1 << 13 | 1 << 14), 0)
        before = machine.run(f"cat {policy}").stdout
        verdict, reason = self.reload(machine, AHCI, 'link_power_management = "medium_power";')["link_power_management"]
        self.equal("the verdict is unsupported for a link without power-saving states", verdict, "unsupported")
        self.match("the reason names the controller's missing states", reason, "PSC and SSC are 0")
        self.equal("drivekeep does not write the policy of such a link", machine.run(f"cat {policy}").stdout, before)

    def check_discards(self, machine):
        """A disk accepts UNMAP, but does not report thin provisioning, like many USB bridges. drivekeep turns TRIM on only with
        allow_dangerous."""
        disk = scsi("THICK")
        sys = f"/sys/block/$(basename $(readlink -f {disk}))"
        mode = f"cat {sys}/device/scsi_disk/*/provisioning_mode"
        wanted = 'provisioning_mode = "unmap"; discard_max_bytes = "8MiB";'
        self.match("sg_readcap reports LBPME = 0", machine.run(f"sg_readcap --16 {disk}").stdout, r"lbpme=0")
        self.match("sg_vpd reports LBPU = 1", machine.run(f"sg_vpd --page=lbpv {disk}").stdout, r"LBPU(=|\): )1")
        machine.run(f"mkfs.ext4 -q -E nodiscard {disk} && mount {disk} /mnt", 120)
        self.claim("fstrim fails before drivekeep turns TRIM on", machine.run("fstrim /mnt", check=False).status != 0)

        found = self.reload(machine, disk, wanted)
        self.equal("unmap is forbidden for a disk without thin provisioning", found["provisioning_mode"][0], "forbidden")
        self.match("the reason names the missing bit", found["provisioning_mode"][1], r"\(LBPME = 0\); allow_dangerous = true")
        self.equal("without discards, discard_max_bytes is unsupported", found["discard_max_bytes"][0], "unsupported")
        self.equal("drivekeep does not write provisioning_mode without allow_dangerous", machine.run(mode).stdout.strip(), "full")

        found = self.reload(machine, disk, DANGER + wanted)
        self.equal("with allow_dangerous, one visit sets provisioning_mode and then discard_max_bytes",
                   [found[name][0] for name in ("provisioning_mode", "discard_max_bytes")], ["applied", "applied"])
        self.equal("the kernel discards by UNMAP, up to 8 MiB at once",
                   machine.run(f"{mode}; cat {sys}/queue/discard_max_bytes").stdout.split(), ["unmap", str(8 << 20)])
        counter = f"awk '{{ print $12 }}' {sys}/stat"
        before = int(machine.run(counter).stdout)
        self.match("fstrim trims the file system", machine.run("fstrim -v /mnt").stdout, r"\([1-9]\d+ bytes\) trimmed")
        self.claim("the kernel has discarded blocks", int(machine.run(counter).stdout) > before)
        self.equal("the kernel still discards by UNMAP after fstrim", machine.run(mode).stdout.strip(), "unmap")
        # Since Linux 6.10, a revalidation resets provisioning_mode of a disk without thin provisioning.
        machine.run(f"umount /mnt; echo 1 > {sys}/device/rescan; udevadm trigger --action=change {disk}")
        machine.wait_until(f"{mode} | grep -qx unmap && grep -qx {8 << 20} {sys}/queue/discard_max_bytes", 60)
        self.claim("drivekeep keeps both settings over a revalidation", True)

    def check_not_live(self, machine, transport, fabric):
        """An NVMe controller that the kernel temporarily cannot reach gets its setting when the kernel reaches it again."""
        name = machine.run(f"basename $(readlink -f {FABRIC})").stdout.strip()
        transport.cut(machine)
        machine.wait_until(f"cat /sys/block/{name}/device/state /sys/block/{name}/device/nvme*/state | grep -q connecting", 60)
        machine.push(CONF, f'drives = ( {{ match = "{FABRIC}"; power_state = 1; }} );\n')
        machine.run("systemctl reload drivekeep", 60)
        self.settle(machine)
        [told] = self.all_status(machine, name)[0]["settings"]
        self.equal("the setting of a controller that is not live is deferred", told["verdict"], "deferred")
        self.match("the reason for the deferral names the controller's state",
                   told["reason"], r"accepts no commands now \(state (connecting|resetting)\)")
        transport.mend(machine)
        machine.wait_until(lambda: fabric["power_state"] == 1, 120)
        self.settle(machine)
        [told] = self.all_status(machine, name)[0]["settings"]
        self.claim("the deferred setting is applied when the controller is live again",
                   told["verdict"] in ("applied", "unchanged"), str(told))

    def check_scheduler(self, machine):
        """Another program changes the scheduler, and the kernel resets the scheduler's settings. The next visit restores all values."""
        queue = f"/sys/block/$(basename $(readlink -f {scsi('ROWSSCSI')}))/queue"
        read = f"cd {queue} && cat scheduler iosched/low_latency iosched/fifo_batch 2>&1"
        machine.push(CONF, f'drives = ( {{ match = "{scsi("ROWSSCSI")}"; scheduler = "bfq"; low_latency = false; fifo_batch = 8; }} );\n')
        machine.run("systemctl reload drivekeep", 60)
        self.settle(machine)
        name = machine.run(f"basename $(readlink -f {scsi('ROWSSCSI')})").stdout.strip()
        wanted, reset = r"\[bfq\][^\n]*\n0\n", r"\[bfq\][^\n]*\n1\n"
        self.match("the scheduler is bfq, and its setting has the wanted value", machine.run(read, check=False).stdout, wanted)
        told = {setting["name"]: setting for setting in self.all_status(machine, name)[0]["settings"]}
        self.equal("the setting of mq-deadline is unsupported", told["fifo_batch"]["verdict"], "unsupported")
        self.match("the reason names both schedulers", told["fifo_batch"]["reason"], "mq-deadline, and bfq is in force")
        machine.run(f"echo mq-deadline > {queue}/scheduler")
        self.match("the other scheduler is in force", machine.run(read, check=False).stdout, r"\[mq-deadline\]")
        machine.run("drivekeep apply", 180, check=False)
        self.match("the scheduler and its setting have the wanted values again", machine.run(read, check=False).stdout, wanted)
        machine.run(f"echo none > {queue}/scheduler; echo bfq > {queue}/scheduler")
        self.match("the kernel resets the setting of a scheduler that is selected again", machine.run(read, check=False).stdout, reset)
        machine.run("drivekeep apply", 180, check=False)
        self.match("the setting has the wanted value again", machine.run(read, check=False).stdout, wanted)

    def check_range(self, machine):
        """The drive sets its lowest time instead of a time below its range, and drivekeep reports the range."""
        power = self.devices["power"]
        machine.push(CONF, f'drives = ( {{ match = "{power.link}"; idle_b = "1s"; }} );\n')
        machine.run("systemctl reload drivekeep", 60)
        self.settle(machine)
        name = machine.run(f"basename $(readlink -f {power.link})").stdout.strip()
        told = next(each for each in self.all_status(machine, name)[0]["settings"] if each["name"] == "idle_b")
        self.equal("the drive has its lowest time", power.model["idle_b"], 50)
        self.equal("the verdict on a time outside the range is adjusted", told["verdict"], "adjusted")
        self.match("the reason names the range", told["reason"], "the drive's range is 5 s to 1092 h 15 min")
        shown = json.loads(machine.run(f"drivekeep show --json --setting=idle_b {name}").stdout)["drives"][0]["settings"][0]
        self.equal("show prints the range", (shown["range"], shown["changeable"], shown["value"]), ("5 s to 1092 h 15 min", True, "5 s"))

    def check_other_number(self, machine, members):
        """An array that is assembled under another number gets the settings of rules by its name, its UUID and a property."""
        link = machine.run("ls /dev/disk/by-id/md-uuid-*").stdout.strip()
        machine.run(f"mdadm --stop {MD}", 120)
        machine.push(CONF, 'drives = ( { match = { node = "/dev/md/rows"; transport = "virtual"; }; group_thread_cnt = 3; },\n'
                           f'{{ match = "{link}"; sync_speed_min = 7000; }},\n'
                           '{ match = { MD_NAME = "*rows"; }; sync_speed_max = "90MiB"; } );\n')
        machine.run("systemctl reload drivekeep", 60)
        machine.run(f"mdadm --assemble /dev/md/rows {members}", 120)
        machine.wait_until(f"[ -b /dev/md/rows ] && [ -b {link} ]", 120)
        self.settle(machine)
        name = machine.run("basename $(readlink -f /dev/md/rows)").stdout.strip()
        self.claim("the array has another number", name != MD.removeprefix("/dev/"), name)
        self.equal("an array under another number has its settings",
                   machine.run(f"cd /sys/block/{name}/md && cat group_thread_cnt sync_speed_min sync_speed_max").stdout.split("\n")[:3],
                   ["3", "7000 (local)", "92160 (local)"])

    def check_flushes(self, machine):
        """Another program has told the kernel not to flush a drive's write cache, which is on. If the configuration wants the cache on, a
        visit makes the kernel flush the cache again."""
        machine.push(CONF, "drives = ();\n")
        machine.run("systemctl reload drivekeep", 180)
        self.settle(machine)
        ways = {"sata": "hdparm -W 1", "usb": "hdparm -W 1", "sas": "sdparm --set=WCE"}
        belief = {name: f"/sys/block/$(basename $(readlink -f {self.devices[name].link}))/device/scsi_disk/*/cache_type"
                  for name in ways}

        def states():
            return {name: (self.devices[name].model["write_cache"], machine.run(f"cat {belief[name]}").stdout.strip())
                    for name in ways}

        for name, program in ways.items():
            machine.run(f"{program} {self.devices[name].link}", check=False)
            machine.run(f"for f in {belief[name]}; do echo temporary write through >$f; done")
        self.equal("the caches are on, and the kernel does not flush them", states(),
                   {name: (True, "write through") for name in ways})
        blocks = ", ".join(f'{{ match = "{self.devices[name].link}"; write_cache = true; }}' for name in ways)
        machine.push(CONF, f"drives = ( {blocks} );\n")
        machine.run("systemctl reload drivekeep", 180)
        self.settle(machine)
        after, verdicts = states(), self.verdicts(machine)
        self.equal("after a visit the kernel flushes each cache that is on",
                   [name for name in ways if after[name][0] and not after[name][1].startswith("write back")], [])
        self.equal("the verdict is applied where the cache is on, and forbidden where it is off",
                   {name: verdicts.get((name, "write_cache")) for name in ways},
                   {name: "applied" if after[name][0] else "forbidden" for name in ways})

    def check_only_in_raid(self, machine):
        machine.push(CONF, f'drives = ( {{ match = "{scsi("*")}"; only_in_raid = true; eh_timeout = "23s"; }} );\n')
        machine.run("systemctl reload drivekeep", 180)
        self.settle(machine)
        found = {serial: machine.run(f"cat /sys/block/$(basename $(readlink -f {scsi(serial)}))/device/eh_timeout").stdout.strip()
                 for serial in ("ROWSSCSI", "RAID0", "RAID1", "RAID2")}
        self.equal("only_in_raid sets the members of an array, and not the disk outside it", found,
                   {"ROWSSCSI": "10", "RAID0": "23", "RAID1": "23", "RAID2": "23"})
