"""Drives are plugged, unplugged, plugged again, and replaced by other drives."""
import json
import time

from drives.model import AtaDrive
from image import HDPARM_HOOKS, SET_ASIDE
from keeping import CONF, OURS, Keeping, by_id, ours, settings
from machine import nvme_disk, scsi_disk

FILE = """
drives = (
  { match = { transport = "sata"; }; apm = 127; lookahead = true; spindown_time = "20min"; },
  { match = { transport = "nvme"; }; write_cache = "off"; },
  { match = { transport = "scsi"; }; timeout = "60s"; },
  { match = { transport = "usb"; };  apm = 127; },
  { match = "/dev/disk/by-label/late";  lookahead = "keep"; }
);
"""
COLD = {"apm": 128, "lookahead": False}
MARK = 12345
TIMER = "E3/00 F0 000000"
SLOW = "systemd-fsck@dev-disk-by\\x2dlabel-late.service"


class Hotplug(Keeping):
    """Each plugged drive gets its settings, even if another drive had its device name before; drives that stay plugged get no command"""
    core = True

    def run(self):
        first = [self.drive(f"SN-{i}", **COLD) for i in range(2)]
        late = self.drive("SN-LATE", size_mb=64, **COLD)
        with self.drives(*first, None, None) as (hba, arguments), \
             self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            spare = self.drive("SN-SPARE", **COLD)
            self.settle(machine)
            self.check_plug(machine, hba, first, spare)
            self.check_swap(machine, hba, spare)
            self.check_repeated_events(machine, first)
            self.check_nameless(machine, hba)
            self.check_lost(machine, hba, first)
            self.check_mid_visit(machine, hba)
            self.check_debian_rule(machine, hba, *first)
            self.check_fstab(machine, hba, late)
            self.check_others(machine)

    def wait_for(self, machine, serial, setting, verdict, timeout=60):
        machine.wait_until(f"journalctl -b -o cat DRIVEKEEP_SERIAL={serial} DRIVEKEEP_SETTING={setting} "
                           f"DRIVEKEEP_VERDICT={verdict} | grep -q .", timeout)

    def check_plug(self, machine, hba, first, spare):
        marks = [d.log.mark() for d in first]
        hba.attach(3, spare)
        self.wait_for(machine, "SN-SPARE", "spindown_time", "unverifiable")
        self.equal("a plugged drive gets its settings", (spare["apm"], spare["lookahead"], spare["standby_seconds"]), (127, True, 1200))
        self.equal("the other drives get no command when a drive is plugged", [ours(d, m) for d, m in zip(first, marks)], [[], []])
        self.unplug(machine, hba, 3, "SN-SPARE")
        self.settle(machine)
        self.equal("status does not list an unplugged drive", "SN-SPARE" in self.status(machine), False)
        mark = spare.log.mark()
        hba.attach(3, spare)
        node = by_id("SN-SPARE")
        asked = machine.run(f"until test -e {node}; do sleep 0.02; done; udevadm settle; drivekeep apply {node}", 120, check=False)
        self.equal("the service knows a plugged drive as soon as udev has settled", (asked.status, asked.stderr), (0, ""))
        spare.log.wait(mark, 60, command=0xE3)
        self.equal("a drive that is plugged again gets its APM level and its standby timer again",
                   (spare["apm"], spare["standby_seconds"]), (127, 1200))
        self.equal("the other drives get no command when a drive is plugged again", [ours(d, m) for d, m in zip(first, marks)], [[], []])
        self.equal("drivekeep events lists each attach and removal of the drive",
                   [e["event"] for e in self.events(machine, "SN-SPARE") if e["event"] != "verdict"], ["attached", "gone", "attached"])

    def events(self, machine, serial):
        return json.loads(machine.run(f"drivekeep events --json {serial}").stdout)["events"]

    def check_swap(self, machine, hba, spare):
        self.settle(machine)
        name = self.node(machine, "SN-SPARE")
        self.unplug(machine, hba, 3, "SN-SPARE")
        other = self.drive("SN-OTHER", **COLD)
        hba.attach(3, other)
        self.wait_for(machine, "SN-OTHER", "spindown_time", "unverifiable")
        self.equal("another drive at the same port gets the same device name", self.node(machine, "SN-OTHER"), name)
        self.equal("the other drive with the same device name gets its settings", (other["apm"], other["standby_seconds"]), (127, 1200))
        listed = machine.run("drivekeep list --json").stdout
        self.match("list --json has the kind of identity: serial number or WWN", listed, r'"identity": ?"(serial|wwn)"')
        self.other = other

    def check_repeated_events(self, machine, first):
        self.settle(machine)
        marks = [d.log.mark() for d in first]
        machine.run("udevadm trigger --action=add --subsystem-match=block; udevadm settle; "
                    "udevadm trigger --action=change --subsystem-match=block; udevadm settle")
        self.settle(machine)
        self.equal("add and change events for known drives lead to no command",
                   [[e.registers() for e in ours(d, m)] for d, m in zip(first, marks)], [[], []])
        machine.run("systemctl restart systemd-udevd; udevadm trigger --subsystem-match=block; udevadm settle")
        self.settle(machine)
        self.equal("a restart of udevd leads to no write to known drives", [settings(d, m) for d, m in zip(first, marks)], [[], []])

    def check_nameless(self, machine, hba):
        nobody = AtaDrive(model="", serial="", wwn="0000000000000000", **COLD)
        hba.attach(2, nobody)
        machine.wait_until(lambda: nobody["standby_seconds"] == 1200, 60, 1)
        self.equal("a drive without model, serial number and WWN gets its settings", (nobody["apm"], nobody["lookahead"]), (127, True))
        self.settle(machine)
        found = [each for each in self.all_status(machine) if each["identity"] == "path" and each["settings"]]
        self.equal("a drive without model, serial number and WWN is identified by its path, and status has its verdicts",
                   [{s["name"]: s["verdict"] for s in each["settings"]} for each in found],
                   [{"apm": "applied", "lookahead": "applied", "spindown_time": "unverifiable"}])
        gone = self.are_gone(machine, found[0]["node"])
        hba.detach(2)
        self.hurry(machine, gone)

    def check_lost(self, machine, hba, first):
        """While the service is stopped, events of udev are lost, one drive is plugged, and another drive loses a setting. The service then
        visits all drives."""
        # The small receive buffer overflows soon: by default, newer kernels have space for thousands of events.
        machine.run("echo 65536 > /proc/sys/net/core/rmem_max; systemctl restart drivekeep")
        self.settle(machine)
        drive = self.drive("SN-UNHEARD", **COLD)
        machine.run(f"kill -STOP $(systemctl show -P MainPID drivekeep); hdparm -q -B {COLD['apm']} {by_id('SN-0')}")
        marks = [d.log.mark() for d in first]
        # The kernel counts the messages that each netlink socket has lost.
        machine.run("until awk '$3 == pid && $9 > 0 { lost = 1 } END { exit !lost }' pid=$(systemctl show -P MainPID drivekeep) "
                    "/proc/net/netlink; do udevadm trigger --action=change /dev/sda /dev/sdb; done; udevadm settle -t 800", 900)
        hba.attach(2, drive)
        machine.wait_until(f"test -e {by_id('SN-UNHEARD')}", 60)
        machine.run("udevadm settle; kill -CONT $(systemctl show -P MainPID drivekeep)")
        self.wait_for(machine, "SN-UNHEARD", "spindown_time", "unverifiable")
        self.match("the service logs the loss of events and visits all drives again",
                   machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout,
                   r"^Events from udev were lost; all drives are enumerated and visited again\.$")
        self.equal("the drive whose add event was lost gets its settings", (drive["apm"], drive["lookahead"]), (127, True))
        self.settle(machine)
        self.equal("after lost events the known drives get only settings that differ or cannot be read back",
                   [settings(d, m) for d, m in zip(first, marks)], [["EF/05 7F 000000", TIMER], [TIMER]])
        self.unplug(machine, hba, 2, "SN-UNHEARD")

    def check_mid_visit(self, machine, hba):
        drive = self.drive("SN-GONE", **COLD)
        drive.inject("never", command=0xEF, feature=0xAA, times=None)
        hba.attach(2, drive)
        drive.log.wait(0, 60, command=0xEF, feature=0xAA, status=None)
        started = time.monotonic()
        hba.detach(2)
        self.wait_for(machine, "SN-GONE", "apm", "vanished", 90)
        self.equal("unplugged in mid-visit: the verdict of the unfinished settings is vanished",
                   [self.verdict(machine, "SN-GONE", s) for s in ("lookahead", "apm", "spindown_time")], ["vanished"] * 3)
        self.note(f"the verdict vanished came {time.monotonic() - started:.1f} s after the unplug")
        mark = drive.log.mark()
        drive.faults.clear()
        hba.attach(2, drive)
        drive.log.wait(mark, 90, command=0xE3)
        self.equal("a drive that was unplugged in mid-visit gets its settings when it is plugged again", drive["apm"], 127)
        self.settle(machine)
        self.unplug(machine, hba, 2, "SN-GONE")

    def check_fstab(self, machine, hba, late):
        """A disk in fstab is plugged: drivekeep waits for its file-system check, which takes some seconds."""
        hba.attach(2, late)
        machine.wait_until(f"test -e {by_id('SN-LATE')}", 60)
        machine.run(f"printf 'label: gpt\\n,,\\n' | sfdisk -q {by_id('SN-LATE')} && udevadm settle && "
                    f"mkfs.ext4 -q -L late {by_id('SN-LATE')}-part1 && mkdir -p /srv/late && sync && "
                    "echo 'LABEL=late /srv/late ext4 nofail,x-systemd.device-timeout=5s 0 2' >> /etc/fstab")
        machine.push(f"/etc/systemd/system/{SLOW}.d/slow.conf",
                     "[Service]\nExecStartPre=/bin/sleep 5\n"
                     f"ExecStartPost=/bin/dd if={by_id('SN-LATE')} of=/dev/null bs=512 count=1 skip={MARK} iflag=direct\n")
        # This rule makes systemd check and mount the file system when the disk is plugged.
        machine.push("/etc/udev/rules.d/99-mount.rules",
                     'SUBSYSTEM=="block", ENV{ID_FS_LABEL}=="late", ENV{SYSTEMD_WANTS}+="srv-late.mount"\n')
        machine.run("udevadm control --reload && systemctl daemon-reload")
        self.settle(machine)
        self.unplug(machine, hba, 2, "SN-LATE")
        mark = late.log.mark()
        hba.attach(2, late)
        late.log.wait(mark, 90, command=0xE3)
        entries = late.log.since(mark)
        end = [e.index for e in entries if e.lba == MARK and e.command in (0x20, 0x24, 0x25, 0xC8)]
        sent = [e.index for e in ours(late, mark)]
        self.equal("a rule for a partition's label applies before the first write", late["lookahead"], False)
        self.claim("drivekeep sends no command to a plugged disk before its file-system check has ended",
                   len(end) == 1 and sent and min(sent) > end[0], f"check ended at {end}, ours at {sent}")

    def check_debian_rule(self, machine, hba, awake, asleep):
        """Debian's udev rule runs hdparm on all drives when a drive is plugged. The service reports the changed values as drift, and
        restores them with on_drift = restore."""
        rule = HDPARM_HOOKS[0]
        machine.push("/etc/hdparm.conf", "quiet\n")
        machine.run(f"cp /{SET_ASIDE}/{rule} /{rule} && udevadm control --reload; hdparm -y {by_id('SN-1')}")
        drive, sent, spin_ups = self.drive("SN-MEDDLER", **COLD), {}, asleep["spin_ups"]
        for policy in ("restore", "report"):
            machine.push(CONF, f'on_drift = "{policy}";\n{FILE}')
            machine.run("systemctl reload drivekeep")
            self.settle(machine)
            marks = [d.log.mark() for d in (awake, asleep)]
            hba.attach(2, drive)
            awake.log.wait(marks[0], 180, command=0xEF, feature=0x05, count=254, comm="hdparm")
            awake.log.wait(marks[0], 60, command=0xE5 if policy == "report" else 0xE3)
            self.settle(machine)
            sent[policy] = [{e.registers()[:5] for e in ours(d, m) if e.comm.startswith(OURS)} for d, m in zip((awake, asleep), marks)]
            drift = self.records(machine, DRIVEKEEP_SERIAL="SN-0", DRIVEKEEP_SETTING="apm", DRIVEKEEP_DRIFT_TO="254")[-1:]
            self.equal(f"the journal reports the APM level set by Debian's rule as drift (on_drift = {policy})",
                       [(d["DRIVEKEEP_DRIFT_FROM"], d["DRIVEKEEP_VISIT"]) for d in drift],
                       [("127", "recheck")] if policy == "report" else [("127", "parameters")])
            self.equal("drivekeep events lists the drift",
                       [(e["setting"], e["drift_from"], e["drift_to"]) for e in self.events(machine, "SN-0") if e["event"] == "drift"][-1:],
                       [("apm", "127", "254")])
            self.equal(f"on_drift = {policy}: the APM level and the standby timer are as expected",
                       (awake["apm"], awake["standby_seconds"]), (254 if policy == "report" else 127, 1200))
            self.equal("the drive in standby stays in standby and does not spin up",
                       (asleep["mode"], asleep["spin_ups"]), ("standby", spin_ups))
            self.unplug(machine, hba, 2, "SN-MEDDLER")
        self.equal("on_drift = restore: the APM level and the unreadable standby timer are written", sent["restore"],
                   [{"E5/00", "EC/00", "EF/05", "E3/00"}, {"E5/00", "E2/00"}])
        self.claim("on_drift = report: the drives are only read",
                   sent["report"][0] == {"E5/00", "EC/00"} and sent["report"][1] <= {"E5/00"}, sent)
        machine.run(f"rm /{rule}; udevadm control --reload")

    def check_others(self, machine):
        machine.plug(nvme_disk("HOTNVME"))
        self.wait_for(machine, "HOTNVME", "write_cache", "applied")
        self.match("nvme reads the write cache of a plugged NVMe drive as off",
                   machine.run("nvme get-feature /dev/nvme0 --feature-id=6").stdout, r"value:0+$")
        machine.plug(scsi_disk("HOTSCSI"))
        self.wait_for(machine, "HOTSCSI", "timeout", "applied")
        self.claim("sysfs has the wanted command timeout of a plugged SCSI drive",
                   "60" in machine.run("cat /sys/block/sd*/device/timeout").stdout)
