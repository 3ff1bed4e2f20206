"""Visits do not spin up drives in standby."""
import contextlib
import json
import pathlib
import tempfile

from drives.sas import SasHba
from drives.scsi import ScsiDisk
from keeping import CONF, OURS, PATIENT, Keeping, ours, settings

SAS = "/dev/disk/by-id/wwn-0x5000c500000000a1"
EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "conf/examples"
SCRIPT, UNIT = "/usr/local/sbin/drive-fan", "/etc/systemd/system/drive-fan.service"
FAN, FOLLOWED = "/run/fan", "/run/followed"
# The units of the example and of `drivekeep events`. A file takes the place of the fan's file in sysfs.
HOOKS = {SCRIPT: (EXAMPLES / "drive-fan").read_text(), UNIT: (EXAMPLES / "drive-fan.service").read_text(),
         f"{UNIT}.d/fan.conf": f"[Service]\nEnvironment=FAN={FAN}\n"}
REQUEST_SENSE = "03000000fc00"
NOW = "date -u +%Y-%m-%dT%H:%M:%SZ"

FILE = """drives = (
  { match = { transport = "sas"; };  error_recovery = "7s"; eh_timeout = "20s"; },
  { match = { transport = "sata"; }; apm = 127; spindown_time = "20min"; read_ahead_kb = 512; },
  { match = { transport = "usb"; };  apm = 126; }
);
"""


class Asleep(Keeping):
    """A visit does not spin up a drive in standby and does not resume a runtime-suspended drive"""

    def run(self):
        drive, mute = self.drive("SN-SLEEPY", apm=128), self.drive("SN-MUTE", apm=128)
        sas = ScsiDisk(serial="SN-SAS", wwn="5000c500000000a1")
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dkd-", dir="/tmp")))
            controller = stack.enter_context(SasHba(folder / "sas", ports=1, name="sas0"))
            controller.attach(0, sas)
            _, arguments = stack.enter_context(self.drives(drive, usb=[(mute, {"sense": "none", "pid": 0x0579})]))
            machine = stack.enter_context(self.machine(files={CONF: FILE} | HOOKS,
                                                       setup=PATIENT.format(units="drivekeep drivekeep-tracer drivekeep-broker") +
                                                       f"chmod +x {SCRIPT}; systemctl enable drivekeep",
                                                       extra_args=arguments + controller.qemu_args()))
            machine.wait_until(f"[ -b {SAS} ]", 120)
            self.settle(machine)
            self.check_sas(machine, sas)
            self.check_standby(machine, drive)
            self.check_unclear(machine, mute)
            self.check_allowed(machine, drive)
            self.check_events(machine, drive)
            self.check_kept_active(machine, drive, sas)
            self.check_suspended(machine, drive)

    def check_standby(self, machine, drive):
        node = self.node(machine, "SN-SLEEPY")
        machine.run(f"hdparm -B 200 {node}; echo 128 > /sys/block/{node[5:]}/queue/read_ahead_kb; "
                    f"sed -i s/20min/10min/ {CONF}; hdparm -y {node}")
        spin_ups, mark = drive["spin_ups"], drive.log.mark()
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("a drive in standby gets only CHECK POWER MODE, and STANDBY with the new timer",
                   [e.registers() for e in ours(drive, mark)], ["E5/00 00 000000", "E2/00 78 000000"])
        self.equal("the drive stays in standby and does not spin up", (drive["mode"], drive["spin_ups"]), ("standby", spin_ups))
        self.equal("the APM level of a drive in standby is deferred", self.verdict(machine, "SN-SLEEPY", "apm"), "deferred")
        self.equal("a setting in sysfs is written while the drive is in standby",
                   machine.run(f"cat /sys/block/{node[5:]}/queue/read_ahead_kb").stdout, "512\n")
        mark = drive.log.mark()
        self.leap(machine, 50)
        self.equal("a drive in standby gets no command for 50 s", (ours(drive, mark), drive["mode"]), ([], "standby"))
        machine.run(f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct")
        self.leap(machine, 90, lambda: drive["apm"] == 127)
        self.settle(machine)
        self.equal("after a read has spun up the drive, the deferred settings are written",
                   (drive["apm"], drive["standby_seconds"]), (127, 600))
        self.equal("the journal names the trigger of the visit after the read: wake",
                   self.records(machine, DRIVEKEEP_SERIAL="SN-SLEEPY", DRIVEKEEP_SETTING="apm")[-1]
                   ["DRIVEKEEP_VISIT"], "wake")

    def check_sas(self, machine, sas):
        """A SAS drive reports in its answer to REQUEST SENSE whether it is in standby or stopped."""
        name = machine.run(f"basename $(readlink -f {SAS})").stdout.strip()
        self.equal("an active SAS drive gets its settings at boot", sas["recovery_limit"], 7000)
        for how, mode, seconds in (("--pc=3", "standby_z", 8), ("--stop", "stopped", 9)):
            machine.run(f"sg_start --readonly {how} {SAS}")
            self.equal(f"sg_start {how} puts the SAS drive into the expected power condition", sas["mode"], mode)
            spin_ups, mark = sas["spin_ups"], sas.log.mark()
            machine.run(f"sed -i 's/error_recovery = \"[0-9]*s\"/error_recovery = \"{seconds}s\"/; s/eh_timeout = \"[0-9]*s\"/"
                        f"eh_timeout = \"2{seconds}s\"/' {CONF}; systemctl reload drivekeep")
            self.settle(machine)
            self.equal(f"a SAS drive in {mode} gets only REQUEST SENSE",
                       {e.registers() for e in ours(sas, mark) if e.comm.startswith(OURS)}, {REQUEST_SENSE})
            self.equal("the SAS drive stays in its power condition and does not spin up", (sas["mode"], sas["spin_ups"]), (mode, spin_ups))
            told = {s["name"]: s["verdict"] for s in self.all_status(machine, name)[0]["settings"]}
            self.equal("a setting of the SAS drive is deferred, and a setting in sysfs is written", told,
                       {"error_recovery": "deferred", "eh_timeout": "applied"})
            machine.run(f"sg_start --readonly --start {SAS}; dd if={SAS} of=/dev/null bs=4096 count=1 iflag=direct")
            self.leap(machine, 90, lambda: sas["recovery_limit"] == seconds * 1000)
            self.equal("after a start and a read, the deferred setting is written to the SAS drive", sas["recovery_limit"], seconds * 1000)
        sas.power_cycle()
        self.claim("the SAS drive loses the setting in a power cycle", sas["recovery_limit"] != 9000, sas["recovery_limit"])
        machine.run(f"dd if={SAS} of=/dev/null bs=4096 count=1 iflag=direct")
        machine.wait_until(lambda: sas["recovery_limit"] == 9000)
        self.settle(machine)
        self.equal("the unit attention after the power cycle starts a visit that writes the setting again", self.records(
            machine, DRIVEKEEP_DRIVE=name, DRIVEKEEP_SETTING="error_recovery")[-1]["DRIVEKEEP_VISIT"], "reset")

    def check_unclear(self, machine, mute):
        """A bridge that returns no ATA registers hides whether its drive is in standby."""
        self.equal("no registers, read at boot: the drive gets its settings", mute["apm"], 126)
        node = machine.run("lsblk -dnpo NAME,TRAN | awk '$2 == \"usb\" { print $1 }'").stdout.strip()
        machine.run(f"hdparm -y {node}; sed -i s/126/125/ {CONF}")
        spin_ups, mark = mute["spin_ups"], mute.log.mark()
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        told = self.records(machine, DRIVEKEEP_DRIVE=node[5:], DRIVEKEEP_SETTING="apm")     # the serial number in the journal is the dock's
        self.equal("no registers, no recent I/O: the setting is deferred",
                   ({e.registers()[:5] for e in ours(mute, mark)} - {"E5/00"}, told[-1]["DRIVEKEEP_VERDICT"]), (set(), "deferred"))
        self.equal("no registers, no recent I/O: the drive stays in standby", (mute["mode"], mute["spin_ups"]), ("standby", spin_ups))
        machine.run(f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct")
        self.leap(machine, 90, lambda: mute["apm"] == 125)
        self.claim("no registers, recent I/O: the setting is written", True)

    def check_allowed(self, machine, drive):
        node = self.node(machine, "SN-SLEEPY")
        machine.run(f"hdparm -B 200 {node}; hdparm -y {node}; sed -i 's/apm = 127;/apm = 127; wake = true;/' {CONF}")
        mark = drive.log.mark()
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("wake = true: the APM level is written although the drive is in standby",
                   (drive["apm"], settings(drive, mark)[0][:5]), (127, "EF/05"))
        machine.run(f"sed -i 's/ wake = true;//' {CONF}; systemctl reload drivekeep")
        self.settle(machine)

    def check_kept_active(self, machine, drive, sas):
        """Checks the reads of keep_active."""
        node, interval = self.node(machine, "SN-SLEEPY"), 200
        state = f"stat -c '%i %z' /run/drivekeep/drives/{node[5:]}"
        read = f"for each in {node} {SAS}; do dd if=$each of=/dev/null bs=4096 count=1 iflag=direct; done"
        machine.run(f"{read}; cp {CONF} /root/usual.conf; sed -i 's/spindown_time = \"10min\"/spindown_time = \"off\"; keep_active = \"{interval}s\"/; "
                    f"s/eh_timeout/keep_active = \"{interval}s\"; eh_timeout/' {CONF}; systemctl reload drivekeep")
        self.settle(machine)
        self.equal("the first read follows the reload", self.verdict(machine, "SN-SLEEPY", "keep_active"), "applied")

        mark, sas_mark = drive.log.mark(), sas.log.mark()
        told, saved = len(self.records(machine, DRIVEKEEP_SERIAL="SN-SLEEPY")), machine.run(state).stdout

        def reads():
            return [e.registers() for e in ours(drive, mark, command=0x40)]

        def sas_reads():
            return [e for e in ours(sas, sas_mark) if e.cdb[:1] == b"\x2f"]

        def pass_interval():
            """Lets the interval pass once. The SAS drive is always active, so its read shows that the service has handled the leap."""
            n = len(sas_reads())
            self.leap(machine, interval + 50, step=interval + 50)
            machine.wait_until(lambda: len(sas_reads()) > n, 60)

        for _ in range(10):
            machine.run(read)
            self.leap(machine, 50, step=50)
        self.equal("drives that a program reads every 50 s get no read of the service in 500 s", (reads(), sas_reads()), ([], []))
        for n in range(1, 4):
            pass_interval()
            machine.wait_until(lambda: len(reads()) >= n, 60)
        self.settle(machine)
        self.equal("without other I/O, each interval has one read of each drive", (len(reads()), len(sas_reads())), (3, 3))
        self.claim("the reads have different addresses", len(set(reads())) > 1, reads())
        self.equal("the service sends nothing else than CHECK POWER MODE", {e.registers()[:5] for e in ours(drive, mark)}, {"E5/00", "40/00"})
        self.equal("the reads are neither logged nor do they change the state file, which would start drivekeep-metrics.service",
                   (len(self.records(machine, DRIVEKEEP_SERIAL="SN-SLEEPY")), machine.run(state).stdout), (told, saved))

        for spin_down in ("hdparm -y", "drivekeep standby"):
            machine.run(f"{spin_down} {node}")
            self.settle(machine)
            mark, spin_ups = drive.log.mark(), drive["spin_ups"]
            pass_interval()
            machine.wait_until(lambda: self.verdict(machine, "SN-SLEEPY", "keep_active") == "deferred", 60)
            pass_interval()
            pass_interval()
            self.equal(f"after {spin_down}, the drive gets no read and stays in standby", (reads(), drive["mode"], drive["spin_ups"]),
                       ([], "standby", spin_ups))
            machine.run(read)
            self.leap(machine, 90, lambda: reads())
            self.settle(machine)
            self.equal(f"after {spin_down}, the reads continue when a program has woken the drive",
                       self.verdict(machine, "SN-SLEEPY", "keep_active"), "applied")

        machine.run(f"cp /root/usual.conf {CONF}; systemctl reload drivekeep")
        self.settle(machine)
        mark, sas_mark = drive.log.mark(), sas.log.mark()
        self.leap(machine, 2 * interval, step=interval)
        self.equal("without keep_active the drives get no read", (reads(), sas_reads()), ([], []))

    def followed(self, machine):
        """Returns the events of the drive SN-SLEEPY that the running `drivekeep events` has printed."""
        documents = [json.loads(line) for line in machine.run(f"cat {FOLLOWED}").stdout.splitlines()]
        return [event for document in documents for event in document["events"] if event["serial"] == "SN-SLEEPY"]

    def follows(self, machine, text, fan, *events):
        """Waits until the last events of the drive's power state are `events`, and until the example has set the fan."""
        def powers():
            return [(e["event"], e["process"], e["unit"]) for e in self.followed(machine) if e["event"] in ("standby", "active", "unknown")]
        machine.wait_until(lambda: len(powers()) >= len(events), 60)
        machine.wait_until(f"grep -qx {fan} {FAN}", 60)
        self.equal(text, powers(), list(events))

    def check_events(self, machine, drive):
        """Checks `drivekeep events` and the example that switches a fan."""
        node = self.node(machine, "SN-SLEEPY")
        read = f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct"

        machine.run(f"hdparm -y {node}; drivekeep apply", check=False)
        self.settle(machine)
        self.match("a reader of events that ends after the first event ends the command",
                   machine.run(f"timeout 120 sh -c 'drivekeep events --follow {node} | head -n 1'").stdout, rf"(?m)^\d\d:\d\d {node[5:]}: standby$")
        mark = drive.log.mark()
        machine.run(f"systemd-run -q --unit=follow -p StandardOutput=file:{FOLLOWED} -p StandardError=journal drivekeep events --follow --json; "
                    "systemctl enable --now drive-fan")
        expected = [("standby", None, None)]
        self.follows(machine, "events begin with the drive in standby, and the fan stops", 0, *expected)
        self.equal("neither events nor the fan's unit sends a command to the drive", (drive.log.since(mark), drive["mode"]), ([], "standby"))

        machine.run(read)
        expected.append(("active", None, None))
        self.leap(machine, 1800, lambda: machine.run(f"grep -qx 255 {FAN}", check=False).status == 0, step=60)
        self.follows(machine, "without tracing, the drive that is active again has no waker, and the fan runs", 255, *expected)
        machine.run(f"echo 0 > {FAN}; systemctl stop follow drive-fan")
        self.equal("the fan runs after its unit has stopped", machine.run(f"cat {FAN}").stdout, "255\n")

    def check_suspended(self, machine, drive):
        node = self.node(machine, "SN-SLEEPY")
        power = f"/sys/block/{node[5:]}/device/power"
        before = machine.run(NOW).stdout.strip()
        machine.run(f"hdparm -B 200 {node}; echo 100 > {power}/autosuspend_delay_ms; echo auto > {power}/control")
        if not machine.wait_until(f"grep -q '^suspended' {power}/runtime_status", 30):
            self.note("skipped: this kernel does not suspend the drive")
            return
        self.check_since(machine, node, before)
        mark = drive.log.mark()
        machine.run("drivekeep apply", check=False)
        self.equal("apply sends no command to a runtime-suspended drive", [e.registers() for e in drive.log.since(mark) if e.command], [])
        self.match("the drive is still runtime-suspended after apply", machine.run(f"cat {power}/runtime_status").stdout, r"^suspended$")
        self.equal("the APM level of a runtime-suspended drive is deferred", self.verdict(machine, "SN-SLEEPY", "apm"), "deferred")
        machine.run(f"sed -i 's/read_ahead_kb = 512/read_ahead_kb = 256/' {CONF}; systemctl reload drivekeep")
        self.settle(machine)
        self.equal("a setting in sysfs is written without a command to the suspended drive and without a resume",
                   (machine.run(f"cat /sys/block/{node[5:]}/queue/read_ahead_kb {power}/runtime_status").stdout.split(),
                    [e.registers() for e in drive.log.since(mark) if e.command]), (["256", "suspended"], []))
        self.match("list shows the drive as suspended", machine.run("drivekeep list").stdout, rf"(?m)^{node[5:]} .*SN-SLEEPY.* suspended")
        self.match("list names runtime PM, which another program has turned on, as the cause of the spin-down",
                   machine.run("drivekeep list").stdout, rf"(?m)^{node[5:]} .* 100 ms, by autosuspend_delay")
        # hdparm -C resumes the drive, which then stays resumed for 10 s.
        machine.run(f"echo 10000 > {power}/autosuspend_delay_ms; hdparm -C {node}")
        machine.wait_until(lambda: drive["apm"] == 127, 60)
        self.settle(machine)
        self.match("the deferred setting is written after the next resume, even without a read or write",
                   machine.run(f"hdparm -B {node}").stdout, r"= 127$")
        before = machine.run(NOW).stdout.strip()
        machine.run(f"echo 100 > {power}/autosuspend_delay_ms; hdparm -C {node}")
        machine.wait_until(f"grep -q '^suspended' {power}/runtime_status", 30)
        self.check_since(machine, node, before)
        for may, control, status, verdict in (("", "auto", "suspended", "deferred"), (" wake = true;", "on", "active", "applied")):
            machine.run(f"sed -i 's/apm = 127;.* spindown/apm = 127; runtime_pm = \"on\";{may} spindown/' {CONF}; systemctl reload drivekeep")
            self.settle(machine)
            self.equal(f"the rule runtime_pm = \"on\";{may} gives a suspended drive the expected status and verdict",
                       (machine.run(f"cat {power}/control {power}/runtime_status").stdout.split(), self.verdict(machine, "SN-SLEEPY", "runtime_pm")),
                       ([control, status], verdict))

    def check_since(self, machine, node, before):
        """Checks that list, status and the metrics show when the kernel has suspended the drive: after `before`."""
        def power():
            return [(d["power"], d["power_since"]) for line in ("list", "status")
                    for d in json.loads(machine.run(f"drivekeep {line} --json", check=False).stdout)["drives"] if d["name"] == node[5:]]

        machine.wait_until(lambda: all(since for _, since in power()), 60)
        [(mode, since), status] = power()
        self.equal("list and status show the drive as suspended since the same time", (mode, status), ("suspended", (mode, since)))
        self.claim("the kernel has suspended the drive since that time", before <= since <= machine.run(NOW).stdout.strip(), (before, since))
        metrics = machine.run(f"drivekeep status --metrics | grep 'suspended.*\"{node[5:]}\"'").stdout
        seconds = machine.run(f"date -d {since} +%s").stdout.strip()
        self.match("the metrics show the drive as suspended since that time", metrics,
                   rf"(?s)drivekeep_drive_suspended{{.*}} 1\n.*drivekeep_drive_suspended_timestamp_seconds{{.*}} {seconds}\.")
