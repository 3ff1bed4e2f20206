"""The administrator is told by mail of what has not come true, by the suite's own mail program and MTA. The machine is as one of an
image: nothing of drivekeep is below /etc. And how others ask it: by ssh, and by journals that were collected."""
import pathlib
import re

from keeping import FLEET_PACKAGES, LOOKED, PATIENT, Keeping

PAGE = pathlib.Path(__file__).resolve().parents[3] / "man/drivekeep-fleet.7"
CONF = "/usr/lib/drivekeep/drivekeep.conf"

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; } );\n'
OWN = "/etc/drivekeep/alert"
# Debian's exim delivers root's mail to the mailbox of another user, since it writes no file as root.
MAILS = "cat /var/mail/* 2>/dev/null"
CURRENT = LOOKED.format(file=".verdicts", unit="drivekeep-alert.service")
# As the manual page says of images.
SETUP = PATIENT.format(units="drivekeep-alert") + """rm -r /etc/drivekeep
cd /usr/lib/systemd/system
mkdir -p multi-user.target.wants drivekeep.service.wants
ln -s ../drivekeep.service multi-user.target.wants
ln -s ../drivekeep-alert.path drivekeep.service.wants
ln -s drivekeep.service drivekeep-udev.service
systemctl mask prometheus.service prometheus-node-exporter.service
"""
SSH = """mkdir -p -m 700 /root/.ssh; cd /root/.ssh; ssh-keygen -q -t ed25519 -N '' -f id_ed25519; cat id_ed25519.pub > authorized_keys
ssh-keyscan -t ed25519 localhost > known_hosts 2>/dev/null"""
APM, LOOKAHEAD = 0x05, 0xAA
BREAK = {APM: "hdparm -q -B 128", LOOKAHEAD: "hdparm -q -A 0"}


class Alert(Keeping):
    """Root gets mail of what is refused, once, and not more than once an hour of a drive; or a program of the administrator's is told"""
    packages = FLEET_PACKAGES

    def run(self):
        self.all = {serial: self.drive(serial, apm=128) for serial in ("SN-FIRST", "SN-OTHER")}
        with self.drives(*self.all.values()) as (_, arguments), \
             self.machine(files={CONF: FILE}, setup=SETUP, extra_args=arguments) as machine:
            self.settle(machine)
            self.names = {serial: self.node(machine, serial).removeprefix("/dev/") for serial in self.all}
            self.check_image(machine)
            self.equal("all is as wanted: no mail", self.mails(machine), [])
            self.check_mail(machine)
            self.check_hour(machine)
            self.check_remote(machine)
            self.check_collected(machine)
            self.check_own(machine)
            self.equal("nothing has failed, nor does what starts it give up",
                       machine.run("systemctl --failed --no-legend; systemctl show -P ActiveState drivekeep-alert.path").stdout, "active\n")
            self.check_stopped(machine)

    def settle(self, machine, timeout=300, after=""):
        """Nor does the unit that tells of them run: PID 1 ends its connection to the bus when the clock leaps meanwhile."""
        super().settle(machine, timeout, after)
        self.wait_current(machine)

    def wait_current(self, machine):
        machine.wait_until(CURRENT, 60)

    def mails(self, machine):
        """Subject and text of each."""
        return [(re.search(r"^Subject: (.*(?:\n .*)*)", mail, re.M)[1].replace("\n", ""), mail) for mail in
                re.split(r"^From .*\n", machine.run(MAILS, check=False).stdout, flags=re.M)[1:]]

    def wait_mails(self, machine, n):
        return machine.wait_until(lambda: (found := self.mails(machine)) and len(found) >= n and found, 60)

    def refuse(self, machine, serial, feature):
        node = self.node(machine, serial)
        machine.run(f"{BREAK[feature]} {node}")
        self.all[serial].inject("abort", command=0xEF, feature=feature, origin="passthrough", times=None)
        machine.run(f"drivekeep apply {node}", check=False)

    def mend(self, machine):
        for drive in self.all.values():
            drive.faults.clear()
        machine.run("drivekeep apply")
        self.wait_current(machine)

    def check_image(self, machine):
        self.equal("an image: no file of drivekeep's is below /etc", machine.run("find /etc -name '*drivekeep*' ! -name 'drivekeep-test*'").stdout, "")
        self.equal("an image: each drive has what the file below /usr/lib says", [(d["apm"], d["lookahead"]) for d in self.all.values()], [(192, True)] * 2)
        machine.run(f"udevadm trigger --action=add {self.node(machine, 'SN-OTHER')}; udevadm settle")
        self.match("an image: udev's rules find the service", machine.run("systemctl show -P Names drivekeep.service").stdout, "drivekeep-udev.service")

    def check_remote(self, machine):
        machine.run(SSH)
        asked = [machine.run(f"drivekeep status {words}", check=False) for words in
                 ("--json", "--json --host root@localhost", f"{self.names['SN-OTHER']}", f"-H localhost {self.names['SN-OTHER']}", "-H localhost sdq")]
        self.equal("--host: another machine's status is what is shown there", (asked[1].stdout, asked[3].stdout), (asked[0].stdout, asked[2].stdout))
        self.equal("and its exit status is that one's", [each.status for each in asked], [0, 0, 0, 0, 1])
        line = self.line_of_manual("for host in ").replace("nas backup", "localhost root@localhost")
        host = machine.run("hostname").stdout.strip()
        self.equal("the manual's line lists the verdicts of several machines", sorted(machine.run(line, check=False).stdout.splitlines()),
                   sorted(f"{host}\t{serial}\t{name}\t{s['verdict']}" for serial, settings in self.status(machine).items() if serial
                          for name, s in settings.items() for _ in range(2)))
        self.equal("a machine that ssh does not reach: its sentence, and status 255",
                   (lambda r: (r.status, bool(r.stderr)))(machine.run("drivekeep status --host nobody.invalid", check=False)), (255, True))

    def line_of_manual(self, begin):
        lines = [each.removeprefix(".Dl ").replace("\\-", "-").replace("\\(aq", "'") for each in PAGE.read_text().splitlines()]
        [line] = [each for each in lines if each.startswith(begin)]
        return line

    def check_collected(self, machine):
        """The manual's line, of journals that were copied from where they were written."""
        line = self.line_of_manual("journalctl -D ")
        machine.run("mkdir /root/remote; journalctl --sync; cp -r $(ls -d /var/log/journal/* /run/log/journal/* 2>/dev/null) /root/remote")
        shown = machine.run(line.replace("/var/log/journal/remote", "/root/remote")).stdout
        self.equal("which drives of all machines have refused APM: the manual's line says it",
                   sorted(set(re.findall(r"(\S+)\t\S+\t(SN-\w+)$", shown, re.M))),
                   sorted((machine.run("hostname").stdout.strip(), serial) for serial in self.all))

    def check_mail(self, machine):
        self.refuse(machine, "SN-FIRST", APM)
        [(subject, text)] = self.wait_mails(machine, 1)
        self.match("a drive refuses a setting: root gets mail of it", subject, f": settings of {self.names['SN-FIRST']} are not in effect$")
        self.match("which says what and why", text, rf"(?s){self.names['SN-FIRST']} .*apm +192 +128 +refused.*apm: .*the drive rejected")
        machine.run("drivekeep apply; systemctl restart drivekeep", check=False)
        self.settle(machine)
        self.equal("once: a restart of the service is no news", len(self.mails(machine)), 1)

    def check_hour(self, machine):
        self.refuse(machine, "SN-FIRST", LOOKAHEAD)
        self.wait_current(machine)
        self.equal("more of the same drive waits", (len(self.mails(machine)), machine.run("systemctl list-units --no-legend --state=waiting 'drivekeep-alert-later-*.timer' | wc -l").stdout),
                   (1, "1\n"))
        self.refuse(machine, "SN-OTHER", APM)
        subjects = [subject for subject, _ in self.wait_mails(machine, 2)]
        self.match("another drive is told of at once", subjects[1], f": settings of {self.names['SN-OTHER']} are")
        self.leap(machine, 3000, step=250)
        self.equal("and that for an hour, however often it is looked at", len(self.mails(machine)), 2)
        self.leap(machine, 1800, lambda: len(self.mails(machine)) > 2, step=300)
        [*_, (subject, text)] = self.wait_mails(machine, 3)
        self.match("then it is told", subject, f": settings of {self.names['SN-FIRST']} are")
        self.match("with what is new", text, "lookahead +on +off +refused")
        self.mend(machine)
        self.equal("what is mended is not told of", len(self.mails(machine)), 3)

    def check_own(self, machine):
        machine.push(OWN, '#!/bin/sh\n{ echo "subject: $1"; cat; } >/run/told\n', 0o755)
        self.leap(machine, 3600, step=300)
        self.refuse(machine, "SN-FIRST", APM)
        machine.wait_until(f"test -s /run/told && {CURRENT}", 60)
        self.match("a program of the administrator's is told in the place of mail", machine.run("cat /run/told").stdout,
                   rf"(?s)^subject: .*: settings of {self.names['SN-FIRST']} are not in effect\n.*apm +192 +128 +refused")
        self.equal("and no mail is sent", len(self.mails(machine)), 3)
        self.mend(machine)

        machine.push(OWN, '#!/bin/sh\ncat >/dev/null\necho >>/run/tried\n[ $(wc -l </run/tried) -gt 2 ]\n', 0o755)
        self.refuse(machine, "SN-OTHER", LOOKAHEAD)
        tried = "test $(wc -l </run/tried) -ge {}"
        machine.wait_until(f"{tried.format(1)} && {CURRENT}", 60)
        self.leap(machine, 3600, lambda: machine.run(tried.format(3), check=False).status == 0, step=300)
        self.wait_current(machine)
        self.leap(machine, 3600, step=300)
        self.equal("where it fails it is tried again, until it does not", machine.run("wc -l </run/tried").stdout, "3\n")
        self.match("and the journal says so", machine.run("journalctl -b -q -o cat -u drivekeep-alert.service").stdout,
                   f"the report was not sent: {OWN} ended with status 1; drivekeep-alert.service tries again in 15 minutes")
        machine.run("systemctl reset-failed drivekeep-alert.service")

    def check_stopped(self, machine):
        active = "systemctl list-units --state=active --plain --no-legend 'drivekeep-alert*' | cut -d ' ' -f 1 | LC_ALL=C sort"
        machine.push(OWN, "#!/bin/sh\nexit 1\n", 0o755)
        self.refuse(machine, "SN-FIRST", LOOKAHEAD)
        self.wait_current(machine)
        waits = r"^(drivekeep-alert-later-\d+\.timer\n)+drivekeep-alert\.path\n$"
        self.match("after a failure the next try waits", machine.run(active).stdout, waits)
        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        self.match("after a restart of the service the next try still waits", machine.run(active).stdout, waits)
        machine.run("systemctl stop drivekeep")
        self.equal("after a stop of the service no unit is active, and no try waits", machine.run(active).stdout, "")
