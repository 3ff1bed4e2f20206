"""The commands of README's installation sections, run verbatim on a running machine that already has drives."""
import itertools
import json
import pathlib
import re

import schema
from cutting import NOTES
from keeping import CONF, LAY_ASIDE, Keeping, by_id, ours, settings

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
README = REPOSITORY / "README.md"

# A guest has neither network nor compiler. The host has already run these steps, so the guest only unpacks the installed files
# in the step "meson install".
BUILD_STEPS = ("apt-get install ", "meson setup ", "meson install ")

# `meson install` runs this command at the end.
MAKE_USER = "sh /root/make-user /usr/lib/sysusers.d/drivekeep.conf /usr/lib/tmpfiles.d/drivekeep.conf"

# A note of the crash guard from an old version, which ran as root. That version quarantined dangerous and harmless values after a power
# cut. The note has a value of each kind.
OLD_NOTE = "VERSION=1\nKEY={key}\nENTRIES=2\n" + "".join(
    f"ENTRY_{i}_SETTING={setting}\nENTRY_{i}_VALUE={value}\nENTRY_{i}_QUARANTINED=1\nENTRY_{i}_WHY=of old\n"
    for i, (setting, value) in enumerate((("apm", 192), ("write_read_verify", "all"))))

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; spindown_time = "20min"; } );\n'
# `check` warns about /dev/sda, a name that may change. `explain` shows that the second rule overrides the first rule's apm.
OTHER = 'drives = ( { match = { transport = "sata"; }; apm = 127; }, { match = "/dev/sda"; apm = 254; } );\n'
# {schema: command that prints such an output with --json}. The scenarios "wakes", "measuring", "metrics" and "tuning" check the
# schemas that are missing here. No command here may put a drive into standby: the later checks need active drives.
JSON = {
    "list": "list", "status": "status", "plan": "plan", "check": "check --config-root=/root/etc", "show": "show /dev/sda", "show_all": "show",
    "explain": "explain --config-root=/root/etc /dev/sda", "settings": "settings",
}
COLD = {"apm": 128, "lookahead": False}
WWN = "5000c500a1b2c3d4"
WANTED = (192, True, 1200)
PATHS = "drivekeep-metrics.path drivekeep-alert.path"
ACTIVE = "systemctl list-units --state=active --plain --no-legend 'drivekeep*' | cut -d ' ' -f 1 | grep -v ^drivekeep-test | LC_ALL=C sort"


def note_key(wwn):
    """Returns the file name of a drive's note, as guard_key() in daemon/core/guard-rules.c forms it."""
    identity, number = f"wwn-0x{wwn}", 0xcbf29ce484222325
    for byte in identity.encode():
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{identity}-{number:016x}"


class Installed(Keeping):
    """README's steps install drivekeep on a running machine: drives already present get their settings without a reboot"""

    def run(self):
        old, pulled = self.drive("SN-OLD", wwn=WWN, **COLD), self.drive("SN-PULLED", **COLD)
        with self.drives(old, pulled, None) as (hba, arguments), \
             self.machine(setup=LAY_ASIDE, extra_args=arguments) as machine:
            machine.wait_running()
            machine.run("udevadm settle")
            self.equal("before the installation the machine has the drive and no drivekeep",
                       machine.run(f"command -v drivekeep; find / -xdev -name '90-drivekeep.rules'; ls {by_id('SN-OLD')}",
                                   check=False).stdout, by_id("SN-OLD") + "\n")
            self.leave_old_note(machine)
            self.follow_readme(machine)
            self.check_kept(machine, old, pulled)
            self.check_old_note(machine)
            self.check_json(machine)
            self.check_followed(machine, hba, old, pulled)
            self.check_readers(machine, old)
            self.check_stopped(machine, old, pulled)
            self.check_old_socket(machine, old)

    def steps(self):
        """Returns the commands of README's two sections about the installation, without sudo, which a guest does not need. Fenced blocks
        are skipped, because they are examples of files."""
        [sections] = re.findall(r"^## Install it on your machine\n(.*?^## Five minutes .*?)^## ", README.read_text(), re.M | re.S)
        sections = re.sub(r"^```\n.*?^```\n", "", sections, flags=re.M | re.S)
        return [line.strip().removeprefix("sudo ") for line in sections.splitlines() if line.startswith("    ")]

    def follow_readme(self, machine):
        steps = self.steps()
        self.equal("README: the steps build drivekeep, edit the configuration, plan and enable the service",
                   ([s for s in steps if s.startswith(BUILD_STEPS)] == steps[:3],
                    f"sudoedit {CONF}" in steps, "drivekeep plan" in steps, "systemctl enable --now drivekeep.service" in steps),
                   (True, True, True, True))
        for step in steps[:-1]:
            self.note(f"README: {step}")
            if step.startswith("meson install "):
                machine.run("tar -C / -xf /root/installed.tar")
                machine.push("/root/make-user", (REPOSITORY / "units/make-user").read_text())
                machine.run(MAKE_USER)
                self.check_before(machine)
            elif step.startswith("sudoedit "):
                machine.push(step.removeprefix("sudoedit "), FILE)
            elif step == "drivekeep plan":
                self.check_plan(machine)
            elif not step.startswith(BUILD_STEPS):
                machine.run(step)
        self.settle(machine)
        self.note(f"README: {steps[-1]}")
        shown = machine.run(steps[-1], check=False)
        self.equal("README: the last command shows that every drive has its settings", shown.status, 0)
        self.match("README: the last command shows each setting", shown.stdout, r"^sd\w +.*apm +192 +192 +applied")

    def check_before(self, machine):
        planned = machine.run("drivekeep plan", check=False)
        self.equal("with the installed configuration plan reports that no rule matches", (planned.status, planned.stdout, planned.stderr),
                   (0, "", "drivekeep: no rule of the configuration matches these drives, so no setting is managed; "
                    "drivekeep.conf(5) describes rules\n"))
        self.equal("list shows the drives that were present before the installation", [s in machine.run("drivekeep list").stdout
                                                                    for s in ("SN-OLD", "SN-PULLED")], [True, True])
        asked = machine.run("drivekeep status", check=False)
        self.equal("status exits with 3 before the service runs", (asked.status, asked.stdout), (3, ""))

    def check_plan(self, machine):
        planned = machine.run("drivekeep plan", check=False)
        self.equal("plan shows the writes to come before the service is enabled",
                   (planned.status, re.findall(r"^sd\w +(\w+) .* write ", planned.stdout, re.M)),
                   (2, ["lookahead", "apm", "spindown_time"] * 2))

    def check_kept(self, machine, *drives):
        self.equal("each drive present before the installation gets its settings",
                   [(d["apm"], d["lookahead"], d["standby_seconds"]) for d in drives], [WANTED] * len(drives))
        self.match("journalctl -x shows the catalog entry of the service's start",
                   machine.run("journalctl -b -x -u drivekeep --no-pager").stdout, r"^.. Subject: Drive settings are being kept$")

    def leave_old_note(self, machine):
        key = note_key(WWN)
        self.note_file = f"{NOTES}/{key}"
        machine.push(self.note_file, OLD_NOTE.format(key=key))
        self.equal("the note of a version that ran as root belongs to root",
                   machine.run(f"stat -c %U {NOTES} {self.note_file}").stdout, "root\nroot\n")

    def check_old_note(self, machine):
        """Checks that the service has ended the quarantine of the harmless value, which check_kept() has found in effect."""
        self.equal("the older version's note belongs to drivekeep, and only the dangerous value is in quarantine",
                   machine.run(f"stat -c %U {NOTES} {self.note_file}; grep -o 'SETTING=.*' {self.note_file}").stdout,
                   "drivekeep\ndrivekeep\nSETTING=write_read_verify\n")
        machine.run(f"drivekeep release {by_id('SN-OLD')}")
        machine.wait_until(f"! test -e {self.note_file}", 60)
        self.claim("release ends the quarantine of the dangerous value and removes the note", True)

    def check_json(self, machine):
        machine.push("/root/etc/drivekeep/drivekeep.conf", OTHER)
        boot_id = machine.run("tr -d - < /proc/sys/kernel/random/boot_id").stdout.strip()
        for shape, line in (*JSON.items(), ("status", "apply /dev/sda")):
            shown = json.loads(machine.run(f"drivekeep {line} --json", check=False).stdout)
            self.equal(f"drivekeep {line} --json agrees with the schema, and no list is empty",
                       (schema.errors(shape, shown), [key for key, value in shown.items() if value == []]), ([], []))
            self.equal("every JSON output names the host and the boot", (shown["host"], shown["boot_id"]), ("drivekeep-test", boot_id))

    def check_followed(self, machine, hba, old, pulled):
        """The service follows drives whose last uevent came before drivekeep's udev rules were installed."""
        machine.push(CONF, FILE.replace("apm = 192", "apm = 240"))
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("a reload changes a drive that was present before the installation", old["apm"], 240)
        hba.detach(1)
        machine.wait_until(f"! test -e {by_id('SN-PULLED')}", 60)
        self.settle(machine)
        self.equal("status no longer lists a drive that was unplugged", sorted(s for s in self.status(machine) if s), ["SN-OLD"])
        hba.attach(1, pulled)
        machine.wait_until("journalctl -b -o cat DRIVEKEEP_SERIAL=SN-PULLED DRIVEKEEP_VISIT=attach DRIVEKEEP_SETTING=spindown_time | grep -q .", 60)
        self.equal("the drive gets its settings when it is plugged in again",
                   (pulled["apm"], pulled["lookahead"], pulled["standby_seconds"]), (240, True, 1200))

    def check_readers(self, machine, drive):
        """`show` and a visit never send commands to one drive at the same time, whichever comes first."""
        node = self.node(machine, "SN-OLD")
        cases = (("a visit", f"drivekeep apply {node}", {"command": 0xEF, "feature": 0x05}, f"drivekeep show {node}"),
                 ("show", f"drivekeep show {node}", {"command": 0xEC, "origin": "passthrough"}, f"drivekeep apply {node}"))
        for first, command, slow, second in cases:
            machine.run(f"hdparm -q -B 128 {node}")
            mark = drive.log.mark()
            drive.inject("hang", seconds=5, **slow)
            running = machine.start(command)
            drive.log.wait(mark, 60, status=None, **slow)
            shown = machine.run(second, 120)
            running.result(120)
            order = [who for who, _ in itertools.groupby("show" if e.comm == "drivekeep" else "a visit" for e in ours(drive, mark))]
            self.equal(f"{first} comes first: the other process sends its commands after the end of {first}",
                       (order[:1], len(order), shown.status), ([first], 2, 0))

    def check_stopped(self, machine, *drives):
        """A user without rights sees whether the service runs."""
        ask = "setpriv --reuid=65534 --clear-groups drivekeep status"
        self.equal("status exits with 0 for a user without rights", machine.run(ask, check=False).status, 0)
        self.check_metrics_and_mail(machine, ask)
        marks = [drive.log.mark() for drive in drives]
        disable = "systemctl disable --now drivekeep.service"
        self.claim("README states how to stop the service permanently", f"`sudo {disable}`" in README.read_text())
        machine.run(disable)
        asked = machine.run(ask, check=False)
        self.equal("status reports that the service does not run",
                   (asked.status, "drivekeep.service does not run" in asked.stderr), (3, True))
        self.match("status shows the last known settings of a stopped service", asked.stdout, r"^sd\w +.*apm +240 +240 ")
        self.equal("the service is disabled, so no boot starts it",
                   machine.run("systemctl is-enabled drivekeep.service", check=False).stdout, "disabled\n")
        machine.wait_until(f"[ -z \"$({ACTIVE})\" ]", 60)
        self.equal("no unit of drivekeep is active, and /run has no socket of drivekeep",
                   machine.run("find /run -maxdepth 1 -name 'drivekeep*' -type s").stdout, "")
        self.equal("stopping the service changes no setting of the drives",
                   [(settings(d, mark), d["apm"]) for d, mark in zip(drives, marks)], [([], 240)] * 2)
        machine.run("systemctl enable --now drivekeep.service")
        self.settle(machine)
        self.equal("status exits with 0 after the service is enabled again", machine.run(ask, check=False).status, 0)
        self.equal("the units for metrics and mail start with the service", machine.run(f"systemctl is-active {PATHS}", check=False).stdout, "active\n" * 2)
        machine.run("systemctl kill --signal=KILL --kill-whom=main drivekeep; systemctl stop drivekeep")
        self.equal("status exits with 3 after the service was killed", machine.run(ask, check=False).status, 3)
        self.check_stopped_in_visit(machine, drives[0])

    def check_metrics_and_mail(self, machine, ask):
        directory, own = "/var/lib/prometheus/node-exporter", "/etc/drivekeep/alert"
        missing = f"no metrics are written: the directory {directory} does not exist;", "no alerts are sent: the program 'mail' is missing;"
        for what, command, found in (("not enabled", "true", []), ("enabled", f"systemctl enable --now {PATHS}", list(missing)),
                                     ("with their requirements", f"mkdir -p {directory}; ln -s /bin/true {own}", []),
                                     ("after removal of the requirements", f"rm -r {directory} {own}", list(missing))):
            machine.run(command)
            asked, checked = machine.run(ask, check=False), machine.run("drivekeep check", check=False)
            said = [[text for text in missing if text in shown] for shown in (asked.stderr, checked.stdout)]
            self.equal(f"units for metrics and mail {what}: status and check report each missing requirement, and nothing else",
                       (said, asked.status, checked.status), ([found, found], 0, 0))

    def check_stopped_in_visit(self, machine, drive):
        """The service stops during a visit and starts again while the broker still runs. systemd starts no socket unit while the unit's
        service runs, so the broker's socket must stay active."""
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        drive.power_cycle()
        mark = drive.log.mark()
        drive.inject("hang", origin="passthrough", seconds=60, command=0xEF)
        machine.start("drivekeep apply")
        drive.log.wait(mark, 60, fault="hang", status=None)
        machine.run("systemctl stop drivekeep", 60)
        self.equal("the service stopped during a visit: the broker and its socket stay active", machine.run(ACTIVE).stdout,
                   "drivekeep-broker.service\ndrivekeep-broker.socket\n")
        self.equal("the service starts again while the broker still waits for the drive",
                   machine.run("systemctl start drivekeep", check=False).status, 0)
        drive.release()
        self.settle(machine)
        self.equal("the drive gets its settings after the interrupted visit", drive["apm"], 240)
        machine.run("systemctl stop drivekeep")

    def check_old_socket(self, machine, drive):
        """The version before the upgrade ran as root, and its broker's socket belongs to root. This socket stays in use until the next boot."""
        old = "/run/systemd/system/drivekeep-broker.socket.d/old.conf"
        machine.run(f"mkdir -p $(dirname {old}); printf '[Unit]\\nStopWhenUnneeded=no\\n[Socket]\\nSocketUser=root\\n' > {old}; systemctl daemon-reload; "
                    "systemctl stop drivekeep-broker.socket drivekeep-broker.service; systemctl start drivekeep-broker.socket")
        self.equal("the older version's socket belongs to root", machine.run("stat -c %U /run/drivekeep-broker").stdout, "root\n")
        machine.run(f"rm {old}; {MAKE_USER}; systemctl daemon-reload; systemctl start drivekeep")
        self.settle(machine)
        drive.power_cycle()
        self.equal("after an upgrade 'drivekeep apply' succeeds with the old socket",
                   machine.run(f"drivekeep apply {self.node(machine, 'SN-OLD')}", check=False).status, 0)
        self.equal("after an upgrade the drive gets its settings", (drive["apm"], drive["lookahead"]), (240, True))
