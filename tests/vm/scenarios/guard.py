"""The crash guard: a setting that crashes the machine or the drive is not written a second time."""
import time

from cutting import APM, COLD, NOTES, VERIFY, Cutting
from keeping import CONF, by_id, settings

FILE = """
drives = (
  {{ match = {{ serial = "SN-A"; }}; apm = {apm}; lookahead = true; write_read_verify = "{verify}"; allow_dangerous = true; }},
  {{ match = {{ serial = "SN-B"; }}; apm = 127; spindown_time = "20min"; }},
{blocks}
);
"""
NO_RESTART = {"/etc/systemd/system/drivekeep.service.d/no-restart.conf": "[Service]\nRestart=no\n"}
NEVER = {"kind": "never", "origin": "passthrough", "times": None}
HANGING = {"fault": "hang", "status": None}
IDENTIFY = {"command": 0xEC, "origin": "passthrough"}


class Guard(Cutting):
    """The crash guard quarantines settings after power cuts, kills and lost drives; a release ends the quarantine"""
    long = True

    def run(self):
        self.a, self.b = self.drive("SN-A", **COLD), self.drive("SN-B", **COLD)
        self.apm, self.verify = 127, "all"
        with self.drives(self.a, self.b, *self.victims(8)) as (self.hba, arguments), \
             self.machine(files={CONF: self.text(), **NO_RESTART}, setup="systemctl enable drivekeep",
                          extra_args=arguments) as machine:
            self.settle(machine)
            self.check_notes_go(machine)
            self.check_cuts(machine)
            self.check_alone(machine)
            self.check_release(machine)
            self.check_kill(machine)
            self.check_lost(machine)
            self.check_pulled(machine)
            self.check_storage(machine)

    def text(self):
        return FILE.format(apm=self.apm, verify=self.verify, blocks=self.blocks())

    def notes(self, machine):
        return machine.run(f"cat {NOTES}/* 2>/dev/null", check=False).stdout

    def push(self, machine):
        machine.push(CONF, self.text())
        return machine.start("systemctl reload drivekeep")

    def want(self, machine, apm=None, verify=None, **answer):
        """Gives SN-A other values and begins a reload. Returns when the drive has answered the new value, or while it hangs with HANGING; the
        returned reload may still run."""
        mark = self.a.log.mark()
        self.apm, self.verify = apm or self.apm, verify or self.verify
        reloading = self.push(machine)
        self.a.log.wait(mark, 60, **(APM if apm else VERIFY), **answer)
        return reloading

    def verdicts(self, machine, serial="SN-A"):
        return {s: v["verdict"] for s, v in self.status(machine).get(serial, {}).items()}

    def boot(self, machine):
        machine.power_on()
        machine.wait_boot()

    def check_notes_go(self, machine):
        self.equal("SN-A and SN-B have their settings", (self.a["apm"], self.b["apm"], self.a["wrv"]), (127, 127, 0))
        self.wait_no_notes(machine, "10 s after a visit")
        self.equal("the directory of notes has no content 10 s after a visit", self.notes(machine), "")
        marks = [d.log.mark() for d in (self.a, self.b)]
        before = machine.run(f"stat -c %y {NOTES}").stdout
        machine.run(f"drivekeep apply {by_id('SN-A')}")
        self.equal("a visit that finds all settings in effect does not change the notes", machine.run(f"stat -c %y {NOTES}").stdout, before)
        self.equal("a visit that finds all settings in effect writes no setting", settings(self.a, marks[0]), [])
        self.want(machine, apm=100).result(60)
        self.settle(machine)
        self.equal("no note of a harmless setting is left after the visit", self.notes(machine), "")

    def check_cuts(self, machine):
        """One power cut hits each of eight drives at a different moment of its visit: only dangerous settings are quarantined."""
        asleep, asked, sent, risky, back, ended, before, healthy = self.cut
        self.wanted[healthy] = {"apm": 101, "verify": "first"}
        mark = healthy.log.mark()
        self.push(machine).result(60)
        healthy.log.wait(mark, 60, **VERIFY)
        self.wait_no_notes(machine, "when the drives have worked for ten seconds")

        for drive in self.cut[:-1]:
            self.wanted[drive] = {"apm": 102, "verify": "all" if drive is sent else "first"}
        marks = {drive: drive.log.mark() for drive in self.cut}
        asleep.inject(command=0xE5, **NEVER)
        asked.inject(command=0xEC, **NEVER)
        sent.inject(**APM, **NEVER)
        risky.inject(**VERIFY, **NEVER)
        back.inject(command=0xEC, skip=1, **NEVER)
        ended.inject("hang", seconds=4, origin="passthrough", command=0xE5)
        self.push(machine)
        for drive in (asleep, asked, sent, risky, back):
            drive.log.wait(marks[drive], 60, fault="never", status=None)
        for drive in (before, ended):
            drive.log.wait(marks[drive], 60, number=2, **IDENTIFY)
        self.match("the notes contain the dangerous setting that was sent", self.notes(machine), "SETTING=write_read_verify")
        self.no_match("the notes contain no harmless setting", self.notes(machine), "SETTING=(apm|lookahead|spindown_time)")
        moments = self.power_cut(machine, marks)
        for drive, moment in moments.items():
            self.note(f"{drive.serial}: seconds from the first write, and from the first dangerous write, to the power cut: {moment}")

        # At the next boot the drive `sent` hangs again, but only after all other drives have been visited.
        marks = {drive: drive.log.mark() for drive in self.cut}
        sent.inject("hang", seconds=14, origin="passthrough", command=0xE5)
        sent.inject(**APM, **NEVER)
        mark_b = self.b.log.mark()
        for drive in (self.a, self.b):
            drive.power_cycle()
        self.boot(machine)
        for drive in (*self.cut, self.b):
            if drive is not sent:
                drive.log.wait(marks.get(drive, mark_b), 240, command=0xE3, origin="passthrough")
        machine.wait_until(lambda: self.a["apm"] == self.apm, 60)
        sent.log.wait(marks[sent], 60, fault="never", status=None)
        names = ("before the first command", "while the drive is identified", "while a harmless setting is sent",
                 "while a dangerous setting is sent", "while settings are read back", "just after the visit",
                 "some seconds after the visit", "when the drive has worked for ten seconds")
        for drive, name in zip(self.cut, names):
            guarded = moments[drive][1] is not None
            if drive is not sent:
                self.equal(f"power cut {name}: after the next boot the harmless settings are in effect, and the dangerous one is "
                           f"{'not' if guarded else 'too'}",
                           (self.harmless(drive), self.dangerous(drive)), (True, not guarded))
            self.fault(f"power cut {name}", "the machine", len(self.cut) + 2, "quarantined" if guarded else "applied")
        self.equal("after the power cut SN-A and SN-B have their settings again",
                   (self.a["apm"], self.a["lookahead"], self.b["apm"], self.b["standby_seconds"]),
                   (100, True, 127, 1200))
        self.power_cut(machine, {})

    def check_alone(self, machine):
        """The machine has crashed twice in a row during a visit to the same drive: the drive gets no more settings until it is released."""
        drive = self.cut[2]
        mark = drive.log.mark()
        for each in (self.a, self.b):
            each.power_cycle()
        self.boot(machine)
        self.settle(machine)
        self.equal("two crashes in a row: the drive gets no setting", settings(drive, mark), [])
        self.equal("two crashes in a row: status shows each of the drive's settings as quarantined",
                   set(self.verdicts(machine, drive.serial).values()), {"quarantined"})
        self.fault("power cut in mid-visit, twice in a row", "the machine", len(self.cut) + 2, "quarantined")
        self.match("two crashes in a row: the reason names the crashes and drivekeep release",
                   self.status(machine)[drive.serial]["apm"]["reason"],
                   "went down twice in a row, the second time during a visit to this drive.*drivekeep release")
        records = [r["MESSAGE"] for r in self.records(machine, DRIVEKEEP_SERIAL=drive.serial, PRIORITY=3)]
        self.claim("two crashes in a row: one record of error priority reports that the drive gets no commands",
                   sum("no commands are sent until" in r for r in records) == 1, str(records))
        self.match("two crashes in a row: the catalog explains the record",
                   machine.run("journalctl -b -x --no-pager PRIORITY=3 -t drivekeepd").stdout,
                   f"No commands are sent to .*{drive.serial}")
        self.equal("two crashes in a row: all other drives have their harmless settings",
                   [d.serial for d in self.cut if d is not drive and not self.harmless(d)], [])
        # At the previous boot, some drives may have appeared after the daemon had read its notes. So the test starts the
        # daemon again, with the same notes and with all drives present.
        machine.run(f"systemctl stop drivekeep; sed -i -e '/^VISITING=/d' -e 's/^BOOT_ID=.*/BOOT_ID=before/' "
                    f"-e 's/^DEATHS=2/DEATHS=1\\nVISITING=1/' $(grep -ld skip SERIAL={drive.serial} {NOTES}/*[!~]); systemctl start drivekeep")
        self.settle(machine)
        self.equal("two crashes in a row, drive already attached at the daemon's start: the drive gets no setting",
                   settings(drive, mark), [])
        machine.run(f"drivekeep release {by_id(drive.serial)}")
        machine.wait_until(lambda: self.harmless(drive) and self.dangerous(drive), 60)
        self.claim("after its release the drive gets all settings", True)

    def check_release(self, machine):
        """A dangerous setting, which the power cuts have left in quarantine, is written again only after a release."""
        drive = self.cut[5]
        node = self.node(machine, drive.serial)
        verdicts = self.verdicts(machine, drive.serial)
        self.equal("status shows only the dangerous setting as quarantined",
                   {s for s, v in verdicts.items() if v == "quarantined"}, {"write_read_verify"})
        self.match("list shows one quarantined setting", machine.run("drivekeep list").stdout, f"{drive.serial}.*1 quarantined")
        self.match("the reason of the quarantine names the crash and drivekeep release",
                   self.status(machine)[drive.serial]["write_read_verify"]["reason"],
                   "went down without a shutdown.*drivekeep release")
        self.equal("apply exits 2 and does not write the quarantined setting",
                   (machine.run(f"drivekeep apply {node}", check=False).status, drive["wrv"]), (2, None))
        self.wanted[drive]["verify"] = "all"
        self.push(machine).result(60)
        machine.wait_until(lambda: self.dangerous(drive), 30)
        self.claim("another value of the quarantined setting is written", True)
        self.wanted[drive]["verify"] = "first"
        self.push(machine).result(60)
        self.settle(machine)
        self.equal("the quarantined value is not written again",
                   (drive["wrv"], self.verdicts(machine, drive.serial)["write_read_verify"]), (0, "quarantined"))
        refused = machine.run(f"setpriv --reuid nobody --clear-groups drivekeep release {node} write_read_verify", check=False)
        self.equal("release by another user than root exits 1 and writes nothing", (refused.status, drive["wrv"]), (1, 0))
        self.match("the error message of the denied release names root as the required user", refused.stderr, "only root")
        self.equal("release exits 1 for a setting that is not quarantined",
                   machine.run(f"drivekeep release {node} lookahead", check=False).status, 1)
        machine.run(f"drivekeep release {node} write_read_verify")
        machine.wait_until(lambda: self.dangerous(drive), 30)
        self.settle(machine)
        self.equal("the released setting is applied", self.verdicts(machine, drive.serial)["write_read_verify"], "applied")
        machine.run("; ".join(f"drivekeep release {by_id(d.serial)}" for d in (self.a, *self.cut)), check=False)
        self.settle(machine)
        self.wait_no_notes(machine, "after a release of all drives")

    def check_kill(self, machine):
        """The daemon is killed during a write, and the drive stays attached: no setting is quarantined."""
        self.a.inject("hang", seconds=4, **VERIFY)
        self.want(machine, verify="first", **HANGING)
        machine.run("systemctl kill -s KILL drivekeep; sleep 5; systemctl reset-failed drivekeep; systemctl start drivekeep")
        self.settle(machine)
        self.equal("daemon killed in mid-write, drive still attached: all settings are in effect, none is quarantined",
                   (self.a["wrv"], set(self.verdicts(machine).values()) - {"applied", "unchanged"}), (1, set()))
        self.wait_no_notes(machine, "after the kill and restart of the daemon")

    def check_lost(self, machine):
        """The daemon is killed during the write of a dangerous setting, and the drive is unplugged and plugged again: the setting is
        quarantined."""
        self.a.inject("hang", seconds=4, **VERIFY)
        self.want(machine, verify="all", **HANGING)
        machine.run("systemctl kill -s KILL drivekeep")
        self.unplug(machine, self.hba, 0, "SN-A")
        self.hba.attach(0, self.a)
        machine.wait_until(f"test -e {by_id('SN-A')}", 60)
        machine.run("systemctl reset-failed drivekeep; systemctl start drivekeep")
        self.settle(machine)
        self.equal("daemon killed in mid-write, drive attached again: the dangerous setting is quarantined",
                   self.verdicts(machine)["write_read_verify"], "quarantined")
        self.equal("daemon killed in mid-write, drive attached again: the harmless settings are written",
                   (self.a["apm"], self.a["lookahead"], self.a["wrv"]), (100, True, None))
        machine.run(f"drivekeep release {by_id('SN-A')}")
        machine.wait_until(lambda: self.a["wrv"] == 0, 30)
        self.wait_no_notes(machine, "after the release of the drive that was attached again")

    def pull(self, machine):
        """Unplugs and plugs SN-A. Returns true if a dangerous setting had a note when the drive was unplugged. The drive is first deleted
        through sysfs, because the kernel would otherwise retry the SATA link for so long that the note would be gone."""
        noted = machine.run(f"grep -qs INTENDED {NOTES}/* && echo noted; "
                            f"echo 1 > /sys/block/{self.node(machine, 'SN-A')[5:]}/device/delete", check=False).stdout
        self.hba.detach(0)
        machine.wait_until(f"! test -e {by_id('SN-A')}", 60)
        self.hba.attach(0, self.a)
        machine.wait_until(f"test -e {by_id('SN-A')}", 60)
        machine.wait_until(lambda: self.a["apm"] == self.apm and self.a["lookahead"], 60)
        return bool(noted)

    def check_pulled(self, machine):
        """A drive is unplugged soon after a write, while the daemon keeps running: a dangerous setting is quarantined if the setting has a
        note."""
        for turn in (1, 2, 3):
            noted = self.pull(machine)
            self.settle(machine)
            verdicts = self.verdicts(machine)
            self.equal(f"pulled {turn} times: the harmless settings are in effect again",
                       {verdicts["apm"], verdicts["lookahead"]} - {"applied", "unchanged"}, set())
            self.equal(f"the dangerous setting is quarantined only if it was written less than ten seconds before (noted: {noted})",
                       verdicts["write_read_verify"], "quarantined" if noted else "applied")
            if noted:
                break
        self.equal("the journal announces no delayed visit to the pulled drive",
                   machine.run("journalctl -b -q -o cat --no-pager DRIVEKEEP_WAITING_KIND=connection").stdout, "")
        machine.run(f"drivekeep release {by_id('SN-A')}", check=False)
        self.settle(machine)
        self.wait_no_notes(machine, "after the release of the pulled drive")

    def check_storage(self, machine):
        """If notes cannot be written, harmless settings are still written, and the journal reports the problem once."""
        said = "journalctl -b --no-pager -o cat -t drivekeepd | grep -c 'cannot be written: .*; dangerous'"
        make = (f"truncate -s 8M /run/notes.img && mkfs.ext4 -q /run/notes.img && mount -o loop /run/notes.img {NOTES} && chown drivekeep: {NOTES} && "
                "systemctl restart drivekeep")
        machine.run(make)
        self.settle(machine)
        value = 110
        for case, begin, end in (
                ("full", f"dd if=/dev/zero of={NOTES}/fill bs=4k 2>/dev/null; dd if=/dev/zero of={NOTES}/fill2 bs=1 2>/dev/null; true",
                 f"rm {NOTES}/fill*"),
                ("read-only", f"mount -o remount,ro {NOTES}", f"mount -o remount,rw {NOTES}"),
                ("stuck for ever", f"fsfreeze -f {NOTES}", f"fsfreeze -u {NOTES}")):
            before = int(machine.run(said, check=False).stdout)
            machine.run(begin)
            for value in (value + 1, value + 2):
                self.want(machine, apm=value).result(60)
                machine.wait_until(lambda: self.a["apm"] == value, 30)
            self.settle(machine)
            self.equal(f"storage {case}: the harmless setting is written", self.verdicts(machine)["apm"], "applied")
            self.verify = "first" if self.verify == "all" else "all"
            self.push(machine).result(60)
            self.settle(machine)
            self.equal(f"storage {case}: the dangerous setting is forbidden", self.verdicts(machine)["write_read_verify"], "forbidden")
            self.fault(f"/var {case}", "the crash guard's notes", 2, self.verdicts(machine)["apm"])
            self.equal(f"storage {case}: the journal reports the problem once", int(machine.run(said, check=False).stdout) - before, 1)
            machine.run(end)
            self.want(machine, apm=value + 3).result(60)
            self.settle(machine)
            self.equal(f"storage {case}, then repaired: the dangerous setting is written",
                       self.verdicts(machine)["write_read_verify"], "applied")
            value += 3
            self.wait_no_notes(machine, f"after the storage was {case}")
        machine.run(f"systemctl stop drivekeep; umount -l {NOTES}; systemctl start drivekeep")
        self.settle(machine)
        self.check_unreadable(machine)

    def check_unreadable(self, machine):
        """A damaged note may have named any dangerous setting, so all dangerous settings of the drive are forbidden."""
        self.want(machine, verify="first" if self.verify == "all" else "all").result(60)
        # The pattern excludes notes that are being written.
        note = machine.run(f"grep -ld skip SERIAL=SN-A {NOTES}/*[!~]").stdout.strip()
        machine.run(f"systemctl stop drivekeep; printf 'VERSION=2\\nKEY=wwn' > {note}; mkdir {NOTES}/directory; "
                    f"ln -sf /dev/zero {NOTES}/link; mkfifo {NOTES}/pipe; systemctl start drivekeep")
        self.settle(machine)
        self.apm, self.verify = 120, "first" if self.verify == "all" else "all"
        self.push(machine).result(60)
        self.settle(machine)
        verdicts = self.verdicts(machine)
        self.equal("with an unreadable note, the harmless setting is written and the dangerous one is forbidden",
                   (verdicts["apm"], verdicts["write_read_verify"]), ("applied", "forbidden"))
        self.match("the journal names the unreadable note", machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout,
                   f"{note} cannot be read; dangerous settings")
        self.equal("the unreadable note is not changed", machine.run(f"cat {note}").stdout, "VERSION=2\nKEY=wwn")
        machine.run(f"rm -r {NOTES}/directory {NOTES}/link {NOTES}/pipe; drivekeep release {by_id('SN-A')}")
        self.settle(machine)
        self.equal("after a release of the drive the dangerous setting is applied", self.verdicts(machine)["write_read_verify"], "applied")
        self.wait_no_notes(machine, "after the release of the drive with the unreadable note")
        self.equal("after a release of the drive no note is left", self.notes(machine), "")
