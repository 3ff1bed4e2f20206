"""The crash guard: a setting that takes the machine or the drive down does it once."""
import time

from keeping import CONF, Keeping, by_id, ours, settings

NOTES = "/var/lib/drivekeep"
FILE = """
drives = (
  { match = { serial = "SN-A"; }; apm = %s; lookahead = true; },
  { match = { serial = "SN-B"; }; apm = 127; spindown_time = "20min"; }
);
"""
COLD = {"apm": 128, "lookahead": False}
APM = {"command": 0xEF, "feature": 0x05}
NO_RESTART = {"/etc/systemd/system/drivekeep.service.d/no-restart.conf": "[Service]\nRestart=no\n"}


class Guard(Keeping):
    """Notes before writes; power cuts, shutdowns, kills, lost drives; release; /var read-only, full and stuck; drivekeep=0"""

    def run(self):
        self.a, self.b = self.drive("SN-A", **COLD), self.drive("SN-B", **COLD)
        with self.drives(self.a, self.b) as (self.hba, arguments), \
             self.machine(files={CONF: FILE % 127, **NO_RESTART}, setup="systemctl enable drivekeep",
                          extra_args=arguments) as machine:
            self.settle(machine)
            self.check_notes_go(machine)
            self.check_power_cut(machine)
            self.check_release(machine)
            self.check_clean_shutdown(machine)
            self.check_kill(machine)
            self.check_lost(machine)
            self.check_pulled(machine)
            self.check_storage(machine)
            self.check_kernel_line(machine)

    def notes(self, machine):
        return machine.run(f"cat {NOTES}/* 2>/dev/null", check=False).stdout

    def wait_no_notes(self, machine, what, timeout=40):
        machine.wait_until(f"! grep -qs INTENDED {NOTES}/*", timeout)
        self.claim(f"no intent is left: {what}", True)

    def want(self, machine, value):
        """Another value for SN-A, in force at once; returns when the drive has it."""
        machine.push(CONF, FILE % value)
        mark = self.a.log.mark()
        reloading = machine.start("systemctl reload drivekeep")
        self.a.log.wait(mark, 30, **APM)
        return reloading

    def quarantined(self, machine):
        return {s: v["verdict"] for s, v in self.status(machine).get("SN-A", {}).items()}

    def check_notes_go(self, machine):
        self.equal("two drives are written to", (self.a["apm"], self.b["apm"]), (127, 127))
        self.wait_no_notes(machine, "10 s after a visit")
        self.equal("and nothing at all lies there", self.notes(machine), "")
        marks = [d.log.mark() for d in (self.a, self.b)]
        before = machine.run(f"stat -c %y {NOTES}").stdout
        machine.run(f"drivekeep apply {by_id('SN-A')}")
        self.equal("a visit that finds all as wanted notes nothing", machine.run(f"stat -c %y {NOTES}").stdout, before)
        self.equal("and writes nothing", settings(self.a, marks[0]), [])

    def check_power_cut(self, machine):
        self.want(machine, 100).result(60)
        self.match("the note is there when the drive has the value", self.notes(machine), "INTENDED")
        self.no_match("for the drive concerned alone", self.notes(machine), "SN-B")
        time.sleep(2)
        machine.power_cut()
        for drive in (self.a, self.b):
            drive.power_cycle()
        machine.power_on()
        machine.wait_boot()
        self.settle(machine)
        self.equal("a power cut within 10 s of a write: that value is not written again", self.a["apm"], 128)
        self.equal("everything else is", (self.a["lookahead"], self.b["apm"], self.b["standby_seconds"]), (True, 127, 1200))
        verdicts = self.quarantined(machine)
        self.fault("power cut within 10 s of a write", "the machine", 2, verdicts["apm"])
        self.equal("status shows it", verdicts, {"apm": "quarantined", "lookahead": "applied"})
        self.match("list too", machine.run("drivekeep list").stdout, "SN-A.*1 quarantined")
        reason = self.status(machine)["SN-A"]["apm"]["reason"]
        self.match("and why, and the way out", reason, "went down without a shutdown.*drivekeep release")
        records = self.records(machine, DRIVEKEEP_SERIAL="SN-A", DRIVEKEEP_VERDICT="quarantined")
        self.claim("said at error priority, with an ID of its own",
                   records and {r["PRIORITY"] for r in records} == {"3"} and len({r["MESSAGE_ID"] for r in records}) == 1,
                   str(records))
        self.match("that journalctl explains", machine.run("journalctl -b -x --no-pager PRIORITY=3 -t drivekeepd").stdout,
                   "is not written again to")

    def check_release(self, machine):
        node = self.node(machine, "SN-A")
        self.equal("apply does not write it either",
                   (machine.run(f"drivekeep apply {node}", check=False).status, self.a["apm"]), (2, 128))
        self.want(machine, 101).result(60)
        self.equal("another value in the file is written", self.a["apm"], 101)
        machine.push(CONF, FILE % 100)
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("the old one is not", (self.a["apm"], self.quarantined(machine)["apm"]), (101, "quarantined"))
        refused = machine.run(f"setpriv --reuid nobody --clear-groups drivekeep release {node} apm", check=False)
        self.equal("release is root's", (refused.status, self.a["apm"]), (1, 101))
        self.match("and says so", refused.stderr, "only root")
        self.equal("what is not in quarantine cannot be released",
                   machine.run(f"drivekeep release {node} lookahead", check=False).status, 1)
        machine.run(f"drivekeep release {node} apm")
        machine.wait_until(lambda: self.a["apm"] == 100, 30)
        self.settle(machine)
        self.equal("release has it written", self.quarantined(machine)["apm"], "applied")

    def check_clean_shutdown(self, machine):
        self.want(machine, 102).result(60)
        self.match("a note is there", self.notes(machine), "INTENDED")
        machine.power_off()
        for drive in (self.a, self.b):
            drive.power_cycle()
        machine.power_on()
        machine.wait_boot()
        self.settle(machine)
        self.equal("an orderly shutdown within 10 s of a write is held against nobody",
                   (self.a["apm"], self.quarantined(machine)), (102, {"apm": "applied", "lookahead": "applied"}))

    def check_kill(self, machine):
        """The daemon dies in mid-write, and the drive is there without a break."""
        self.a.inject("hang", seconds=4, **APM)
        self.want(machine, 103)
        machine.run("systemctl kill -s KILL drivekeep; sleep 5; systemctl reset-failed drivekeep; systemctl start drivekeep")
        self.settle(machine)
        self.equal("killed in mid-write, the drive still there: nothing is in quarantine, all is as wanted",
                   (self.a["apm"], set(self.quarantined(machine).values()) - {"applied", "unchanged"}), (103, set()))
        self.wait_no_notes(machine, "of the killed daemon's")

    def check_lost(self, machine):
        """… and with the drive lost, though the machine lives."""
        self.a.inject("hang", seconds=4, **APM)
        self.want(machine, 104)
        machine.run("systemctl kill -s KILL drivekeep")
        self.hba.detach(0)
        machine.wait_until(f"! test -e {by_id('SN-A')}", 60)
        self.hba.attach(0, self.a)
        machine.wait_until(f"test -e {by_id('SN-A')}", 60)
        machine.run("systemctl reset-failed drivekeep; systemctl start drivekeep")
        self.settle(machine)
        self.equal("killed in mid-write, and the drive attached anew: quarantine",
                   (self.a["apm"], self.quarantined(machine)["apm"]), (128, "quarantined"))
        self.equal("the rest is written", self.a["lookahead"], True)
        machine.run(f"drivekeep release {by_id('SN-A')}")
        machine.wait_until(lambda: self.a["apm"] == 104, 30)
        self.wait_no_notes(machine, "of the released")

    def check_pulled(self, machine):
        """The daemon lives, and a drive goes soon after it was written to: once that is a cable, twice it is not."""
        for turn, expected in ((1, "applied"), (2, "quarantined")):
            if turn == 1:
                self.want(machine, 105).result(60)
            # The kernel tries a SATA link for longer than the drive is watched: here it lets go at once.
            machine.run(f"echo 1 > /sys/block/{self.node(machine, 'SN-A')[5:]}/device/delete")
            self.hba.detach(0)
            machine.wait_until(f"! test -e {by_id('SN-A')}", 60)
            mark = self.a.log.mark()
            self.hba.attach(0, self.a)
            machine.wait_until(f"test -e {by_id('SN-A')}", 60)
            # What udev tells of is looked at when it has been quiet for a moment.
            status = machine.run("for i in $(seq 20); do drivekeep status | grep 'steady connection' && break; sleep 0.2; done",
                                 check=False).stdout
            self.match("a drive that was lost so soon is not visited at once", status, "steady connection")
            self.equal("nor sent anything", settings(self.a, mark), [])
            machine.wait_until(lambda: expected in self.quarantined(machine).get("apm", ""), 60)
            self.equal(f"lost {turn} times soon after a write", self.quarantined(machine)["apm"], expected)
        machine.run(f"drivekeep release {by_id('SN-A')}")
        self.settle(machine)
        self.wait_no_notes(machine, "of the pulled")

    def check_storage(self, machine):
        """Where notes cannot be written: settings without danger are, and it is said once."""
        said = "journalctl -b --no-pager -o cat -t drivekeepd | grep -c 'cannot be written, so dangerous'"
        make = (f"truncate -s 8M /run/notes.img && mkfs.ext4 -q /run/notes.img && mount -o loop /run/notes.img {NOTES} && "
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
                self.want(machine, value).result(60)
                machine.wait_until(lambda: self.a["apm"] == value, 30)
            self.settle(machine)
            self.equal(f"{case}: what is harmless is written", self.quarantined(machine)["apm"], "applied")
            self.fault(f"/var {case}", "the crash guard's notes", 2, self.quarantined(machine)["apm"])
            self.equal(f"{case}: said once", int(machine.run(said, check=False).stdout) - before, 1)
            machine.run(end)
            self.want(machine, value + 3).result(60)
            value += 3
            self.wait_no_notes(machine, f"after the storage was {case}")
        machine.run(f"systemctl stop drivekeep; umount -l {NOTES}; systemctl start drivekeep")
        self.settle(machine)
        for text in ("\\0\\0\\0", "VERSION=9", "VERSION=1\\nKEY=../../etc\\nENTRIES=99999999\\n", ""):
            machine.run(f"printf '{text}' > {NOTES}/wwn-evil; mkdir -p {NOTES}/directory; ln -sf /dev/zero {NOTES}/link; "
                        f"mkfifo {NOTES}/pipe; systemctl restart drivekeep; rm -r {NOTES}/*")
            self.settle(machine)
        self.claim("damaged notes are survived", machine.run("systemctl is-active drivekeep").stdout == "active\n")

    def check_kernel_line(self, machine):
        for word in ("drivekeep=0", "nohdparm"):
            machine.power_off()
            for drive in (self.a, self.b):
                drive.power_cycle()
            machine.append = word
            mark = self.a.log.mark()
            machine.power_on()
            machine.wait_boot()
            self.settle(machine)
            machine.run(f"drivekeep apply {by_id('SN-A')}", check=False)
            self.equal(f"{word}: no drive is sent anything", ours(self.a, mark), [])
            self.match(f"{word}: status says why", machine.run("drivekeep status", check=False).stdout,
                       f"command line says {word}")
            self.match(f"{word}: the journal too", machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout,
                       f"command line says {word}: nothing is written")
