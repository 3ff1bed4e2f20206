"""README's steps, as they stand there, on a machine that runs and whose drives are there before drivekeep is."""
import itertools
import json
import pathlib
import re

import schema
from cutting import NOTES
from keeping import CONF, LAY_ASIDE, Keeping, by_id, ours, settings

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
README = REPOSITORY / "README.md"

# No network and no compiler in a guest: what these would make was made outside (`meson install`), and is unpacked where the
# last of them stands.
BUILD_STEPS = ("apt-get install ", "meson setup ", "meson install ")

# What `meson install` runs at its end.
MAKE_USER = "sh /root/make-user /usr/lib/sysusers.d/drivekeep.conf /usr/lib/tmpfiles.d/drivekeep.conf"

# Of versions that ran as root: a harmless value in quarantine, as an ordinary power cut brought about there, and a dangerous one.
OLD_NOTE = "VERSION=1\nKEY={key}\nENTRIES=2\n" + "".join(
    f"ENTRY_{i}_SETTING={setting}\nENTRY_{i}_VALUE={value}\nENTRY_{i}_QUARANTINED=1\nENTRY_{i}_WHY=of old\n"
    for i, (setting, value) in enumerate((("apm", 192), ("write_read_verify", "all"))))

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; spindown_time = "20min"; } );\n'
# A name that may change, for `check` to warn of, and a value that another takes the place of, for `explain`.
OTHER = 'drives = ( { match = { transport = "sata"; }; apm = 127; }, { match = "/dev/sda"; apm = 254; } );\n'
# What prints JSON, by its shape. The rest has something to print in the scenarios "wakes", "measuring" and "tuning"; and what follows
# needs drives that are awake.
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
    """The file's name: see guard_key() in daemon/core/guard-rules.c."""
    identity, number = f"wwn-0x{wwn}", 0xcbf29ce484222325
    for byte in identity.encode():
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{identity}-{number:016x}"


class Installed(Keeping):
    """Installed by README's steps on a running machine: drives that were there before are kept, without a reboot"""

    def run(self):
        old, pulled = self.drive("SN-OLD", wwn=WWN, **COLD), self.drive("SN-PULLED", **COLD)
        with self.drives(old, pulled, None) as (hba, arguments), \
             self.machine(setup=LAY_ASIDE, extra_args=arguments) as machine:
            machine.wait_running()
            machine.run("udevadm settle")
            self.equal("the machine runs, without drivekeep and with drives",
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
        """The commands of README's two sections, without the sudo that a guest has no use for. The example of a file stands
        in a fence."""
        [sections] = re.findall(r"^## Install it on your machine\n(.*?^## Five minutes .*?)^## ", README.read_text(), re.M | re.S)
        sections = re.sub(r"^```\n.*?^```\n", "", sections, flags=re.M | re.S)
        return [line.strip().removeprefix("sudo ") for line in sections.splitlines() if line.startswith("    ")]

    def follow_readme(self, machine):
        steps = self.steps()
        self.equal("README: it is built, a file is written, the service is enabled",
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
        self.equal("README: at the end all is as the file says", shown.status, 0)
        self.match("and the settings are shown", shown.stdout, r"^sd\w +.*apm +192 +192 +applied")

    def check_before(self, machine):
        planned = machine.run("drivekeep plan", check=False)
        self.equal("with the installed file nothing is planned, and that is said", (planned.status, planned.stdout, planned.stderr),
                   (0, "", "drivekeep: no rule of the configuration matches these drives, so no setting is managed; "
                    "drivekeep.conf(5) describes rules\n"))
        self.equal("list shows the drives that were there before", [s in machine.run("drivekeep list").stdout
                                                                    for s in ("SN-OLD", "SN-PULLED")], [True, True])
        asked = machine.run("drivekeep status", check=False)
        self.equal("status says that the service does not run", (asked.status, asked.stdout), (3, ""))

    def check_plan(self, machine):
        planned = machine.run("drivekeep plan", check=False)
        self.equal("plan shows what would be written, before anything is enabled",
                   (planned.status, re.findall(r"^sd\w +(\w+) .* write ", planned.stdout, re.M)),
                   (2, ["lookahead", "apm", "spindown_time"] * 2))

    def check_kept(self, machine, *drives):
        self.equal("each drive that was there before is configured",
                   [(d["apm"], d["lookahead"], d["standby_seconds"]) for d in drives], [WANTED] * len(drives))
        self.match("the journal can explain", machine.run("journalctl -b -x -u drivekeep --no-pager").stdout, r"^.. Subject: Drive settings are being kept$")

    def leave_old_note(self, machine):
        key = note_key(WWN)
        self.note_file = f"{NOTES}/{key}"
        machine.push(self.note_file, OLD_NOTE.format(key=key))
        self.equal("a version that ran as root has left a note", machine.run(f"stat -c %U {NOTES} {self.note_file}").stdout, "root\nroot\n")

    def check_old_note(self, machine):
        """What is harmless is forgiven: check_kept() has seen it written."""
        self.equal("the older version's note is the service's now, and what is dangerous stays in quarantine",
                   machine.run(f"stat -c %U {NOTES} {self.note_file}; grep -o 'SETTING=.*' {self.note_file}").stdout,
                   "drivekeep\ndrivekeep\nSETTING=write_read_verify\n")
        machine.run(f"drivekeep release {by_id('SN-OLD')}")
        machine.wait_until(f"! test -e {self.note_file}", 60)
        self.claim("until it is released", True)

    def check_json(self, machine):
        machine.push("/root/etc/drivekeep/drivekeep.conf", OTHER)
        boot_id = machine.run("tr -d - < /proc/sys/kernel/random/boot_id").stdout.strip()
        for shape, line in (*JSON.items(), ("status", "apply /dev/sda")):
            shown = json.loads(machine.run(f"drivekeep {line} --json", check=False).stdout)
            self.equal(f"drivekeep {line} --json is as the schema says, with things in its lists",
                       (schema.errors(shape, shown), [key for key, value in shown.items() if value == []]), ([], []))
            self.equal("it says of which host and boot it is", (shown["host"], shown["boot_id"]), ("drivekeep-test", boot_id))

    def check_followed(self, machine, hba, old, pulled):
        """They have no event behind them that the rules took part in."""
        machine.push(CONF, FILE.replace("apm = 192", "apm = 240"))
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("a reload reaches them", old["apm"], 240)
        hba.detach(1)
        machine.wait_until(f"! test -e {by_id('SN-PULLED')}", 60)
        self.settle(machine)
        self.equal("one that is pulled is forgotten", sorted(s for s in self.status(machine) if s), ["SN-OLD"])
        hba.attach(1, pulled)
        machine.wait_until("journalctl -b -o cat DRIVEKEEP_SERIAL=SN-PULLED DRIVEKEEP_VISIT=attach DRIVEKEEP_SETTING=spindown_time | grep -q .", 60)
        self.equal("and configured when it is back", (pulled["apm"], pulled["lookahead"], pulled["standby_seconds"]), (240, True, 1200))

    def check_readers(self, machine, drive):
        """What `show` asks a drive, and a visit to the same: never both at once, whoever comes first."""
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
            self.equal(f"{first} is at the drive: the other waits for its end", (order[:1], len(order), shown.status), ([first], 2, 0))

    def check_stopped(self, machine, *drives):
        """Whether the service runs, its user sees without a bus and without rights."""
        ask = "setpriv --reuid=65534 --clear-groups drivekeep status"
        self.equal("anybody is told that all is well", machine.run(ask, check=False).status, 0)
        self.check_outlets(machine, ask)
        marks = [drive.log.mark() for drive in drives]
        disable = "systemctl disable --now drivekeep.service"
        self.claim("README: how the service is stopped for good", f"`sudo {disable}`" in README.read_text())
        machine.run(disable)
        asked = machine.run(ask, check=False)
        self.equal("stopped: status says so", (asked.status, "drivekeep.service does not run" in asked.stderr), (3, True))
        self.match("and shows what was known", asked.stdout, r"^sd\w +.*apm +240 +240 ")
        self.equal("no boot starts it", machine.run("systemctl is-enabled drivekeep.service", check=False).stdout, "disabled\n")
        machine.wait_until(f"[ -z \"$({ACTIVE})\" ]", 60)
        self.equal("no unit of drivekeep is active, and no socket remains", machine.run("find /run -maxdepth 1 -name 'drivekeep*' -type s").stdout, "")
        self.equal("the drives keep what they have", [(settings(d, mark), d["apm"]) for d, mark in zip(drives, marks)], [([], 240)] * 2)
        machine.run("systemctl enable --now drivekeep.service")
        self.settle(machine)
        self.equal("started: it is as before", machine.run(ask, check=False).status, 0)
        self.equal("the units for metrics and mail start with the service", machine.run(f"systemctl is-active {PATHS}", check=False).stdout, "active\n" * 2)
        machine.run("systemctl kill --signal=KILL --kill-whom=main drivekeep; systemctl stop drivekeep")
        self.equal("killed: status says so, too", machine.run(ask, check=False).status, 3)
        self.check_stopped_in_visit(machine, drives[0])

    def check_outlets(self, machine, ask):
        directory, own = "/var/lib/prometheus/node-exporter", "/etc/drivekeep/alert"
        missing = f"no metrics are written: the directory {directory} does not exist;", "no alerts are sent: the program 'mail' is missing;"
        for what, command, found in (("not enabled", "true", []), ("enabled", f"systemctl enable --now {PATHS}", list(missing)),
                                     ("made", f"mkdir -p {directory}; ln -s /bin/true {own}", []), ("gone", f"rm -r {directory} {own}", list(missing))):
            machine.run(command)
            asked, checked = machine.run(ask, check=False), machine.run("drivekeep check", check=False)
            said = [[text for text in missing if text in shown] for shown in (asked.stderr, checked.stdout)]
            self.equal(f"what metrics and mail need is {what}: status and check say what is missing", (said, asked.status, checked.status), ([found, found], 0, 0))

    def check_stopped_in_visit(self, machine, drive):
        """systemd opens no socket whose service runs."""
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        drive.power_cycle()
        mark = drive.log.mark()
        drive.inject("hang", origin="passthrough", seconds=60, command=0xEF)
        machine.start("drivekeep apply")
        drive.log.wait(mark, 60, fault="hang", status=None)
        machine.run("systemctl stop drivekeep", 60)
        self.equal("stopped during a visit: the broker and its socket stay active", machine.run(ACTIVE).stdout,
                   "drivekeep-broker.service\ndrivekeep-broker.socket\n")
        self.equal("the service can be started again", machine.run("systemctl start drivekeep", check=False).status, 0)
        drive.release()
        self.settle(machine)
        self.equal("and the drive gets its settings", drive["apm"], 240)
        machine.run("systemctl stop drivekeep")

    def check_old_socket(self, machine, drive):
        """Of a version that ran as root, which the upgrade finds in use: nothing makes it anew before the next boot."""
        old = "/run/systemd/system/drivekeep-broker.socket.d/old.conf"
        machine.run(f"mkdir -p $(dirname {old}); printf '[Unit]\\nStopWhenUnneeded=no\\n[Socket]\\nSocketUser=root\\n' > {old}; systemctl daemon-reload; "
                    "systemctl stop drivekeep-broker.socket drivekeep-broker.service; systemctl start drivekeep-broker.socket")
        self.equal("the older version's socket is root's", machine.run("stat -c %U /run/drivekeep-broker").stdout, "root\n")
        machine.run(f"rm {old}; {MAKE_USER}; systemctl daemon-reload; systemctl start drivekeep")
        self.settle(machine)
        drive.power_cycle()
        self.equal("after an upgrade drives are visited", machine.run(f"drivekeep apply {self.node(machine, 'SN-OLD')}", check=False).status, 0)
        self.equal("and have their settings", (drive["apm"], drive["lookahead"]), (240, True))
