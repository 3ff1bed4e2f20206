"""The administrator gets mail about settings that are not in effect, through the mail program and the MTA of the distribution. The
machine is like one made from an image: /etc contains no file of drivekeep. The scenario also checks status over ssh, and queries of
collected journals."""
import pathlib
import re

from keeping import CHANGE_HANDLED, FLEET_PACKAGES, PATIENT, Keeping

PAGE = pathlib.Path(__file__).resolve().parents[3] / "man/drivekeep-fleet.7"
CONF = "/usr/lib/drivekeep/drivekeep.conf"

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; } );\n'
OWN = "/etc/drivekeep/alert"
# The mailbox with root's mail has the name of another user, because Debian's exim never writes a file as root.
MAILS = "cat /var/mail/* 2>/dev/null"
CURRENT = CHANGE_HANDLED.format(file=".verdicts", unit="drivekeep-alert.service")
# The manual page gives these steps for a machine made from an image.
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
    """Root gets one mail about each refused setting, and at most one mail an hour about a drive; an administrator's program can replace mail"""
    packages = FLEET_PACKAGES

    def run(self):
        self.all = {serial: self.drive(serial, apm=128) for serial in ("SN-FIRST", "SN-OTHER")}
        with self.drives(*self.all.values()) as (_, arguments), \
             self.machine(cold=True, files={CONF: FILE}, setup=SETUP, extra_args=arguments) as machine:
            self.settle(machine)
            self.names = {serial: self.node(machine, serial).removeprefix("/dev/") for serial in self.all}
            self.check_image(machine)
            self.equal("no mail is sent while every setting is in effect", self.mails(machine), [])
            self.check_mail(machine)
            self.check_hour(machine)
            self.check_remote(machine)
            self.check_collected(machine)
            self.check_own(machine)
            self.equal("no unit has failed, and drivekeep-alert.path is still active",
                       machine.run("systemctl --failed --no-legend; systemctl show -P ActiveState drivekeep-alert.path").stdout, "active\n")
            self.check_stopped(machine)

    def settle(self, machine, timeout=300, after=""):
        """Also waits until drivekeep-alert.service has ended: PID 1 closes its own bus connection if the clock leaps while this unit
        runs."""
        super().settle(machine, timeout, after)
        self.wait_current(machine)

    def wait_current(self, machine):
        machine.wait_until(CURRENT, 60)

    def mails(self, machine):
        """Returns a (subject, text of the mail) pair for each mail."""
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
        self.equal("image: /etc contains no file of drivekeep",
                   machine.run("find /etc -name '*drivekeep*' ! -name 'drivekeep-test*'").stdout, "")
        self.equal("image: each drive has the settings of the file below /usr/lib",
                   [(d["apm"], d["lookahead"]) for d in self.all.values()], [(192, True)] * 2)
        machine.run(f"udevadm trigger --action=add {self.node(machine, 'SN-OTHER')}; udevadm settle")
        self.match("image: drivekeep.service has the name drivekeep-udev.service, which the udev rules start",
                   machine.run("systemctl show -P Names drivekeep.service").stdout, "drivekeep-udev.service")

    def check_remote(self, machine):
        machine.run(SSH)
        asked = [machine.run(f"drivekeep status {words}", check=False) for words in
                 ("--json", "--json --host root@localhost", f"{self.names['SN-OTHER']}", f"-H localhost {self.names['SN-OTHER']}", "-H localhost sdq")]
        self.equal("status --host shows the same as status on that host",
                   (asked[1].stdout, asked[3].stdout), (asked[0].stdout, asked[2].stdout))
        self.equal("status exits 0 for known drives and 1 for an unknown drive, with and without --host",
                   [each.status for each in asked], [0, 0, 0, 0, 1])
        line = self.line_of_manual("for host in ").replace("nas backup", "localhost root@localhost")
        host = machine.run("hostname").stdout.strip()
        self.equal("the manual's command lists the verdicts of several hosts", sorted(machine.run(line, check=False).stdout.splitlines()),
                   sorted(f"{host}\t{serial}\t{name}\t{s['verdict']}" for serial, settings in self.status(machine).items() if serial
                          for name, s in settings.items() for _ in range(2)))
        self.equal("for a host that ssh does not reach, status prints an error and exits 255",
                   (lambda r: (r.status, bool(r.stderr)))(machine.run("drivekeep status --host nobody.invalid", check=False)), (255, True))

    def line_of_manual(self, begin):
        lines = [each.removeprefix(".Dl ").replace("\\-", "-").replace("\\(aq", "'") for each in PAGE.read_text().splitlines()]
        [line] = [each for each in lines if each.startswith(begin)]
        return line

    def check_collected(self, machine):
        """Runs the manual's command for collected journals on a copy of the guest's journal."""
        line = self.line_of_manual("journalctl -D ")
        machine.run("mkdir /root/remote; journalctl --sync; cp -r $(ls -d /var/log/journal/* /run/log/journal/* 2>/dev/null) /root/remote")
        shown = machine.run(line.replace("/var/log/journal/remote", "/root/remote")).stdout
        self.equal("the manual's command lists the drives of all hosts that refused APM",
                   sorted(set(re.findall(r"(\S+)\t\S+\t(SN-\w+)$", shown, re.M))),
                   sorted((machine.run("hostname").stdout.strip(), serial) for serial in self.all))

    def check_mail(self, machine):
        self.refuse(machine, "SN-FIRST", APM)
        [(subject, text)] = self.wait_mails(machine, 1)
        self.match("root gets a mail about a refused setting", subject, f": settings of {self.names['SN-FIRST']} are not in effect$")
        self.match("the mail names the drive, the setting and the cause",
                   text, rf"(?s){self.names['SN-FIRST']} .*apm +192 +128 +refused.*apm: .*the drive rejected")
        machine.run("drivekeep apply; systemctl restart drivekeep", check=False)
        self.settle(machine)
        self.equal("apply and a restart of the service cause no second mail", len(self.mails(machine)), 1)

    def check_hour(self, machine):
        self.refuse(machine, "SN-FIRST", LOOKAHEAD)
        self.wait_current(machine)
        self.equal("the mail about a second refusal by the same drive waits for a timer",
                   (len(self.mails(machine)),
                    machine.run("systemctl list-units --no-legend --state=waiting 'drivekeep-alert-later-*.timer' | wc -l").stdout),
                   (1, "1\n"))
        self.refuse(machine, "SN-OTHER", APM)
        subjects = [subject for subject, _ in self.wait_mails(machine, 2)]
        self.match("a refusal by another drive is mailed at once", subjects[1], f": settings of {self.names['SN-OTHER']} are")
        self.leap(machine, 3000, step=250)
        self.equal("the second refusal by the same drive is not mailed within 50 minutes", len(self.mails(machine)), 2)
        self.leap(machine, 1800, lambda: len(self.mails(machine)) > 2, step=300)
        [*_, (subject, text)] = self.wait_mails(machine, 3)
        self.match("the second refusal by the same drive is mailed after an hour", subject, f": settings of {self.names['SN-FIRST']} are")
        self.match("the mail after an hour names the second refused setting", text, "lookahead +on +off +refused")
        self.mend(machine)
        self.equal("no mail is sent about settings that are in effect again", len(self.mails(machine)), 3)

    def check_own(self, machine):
        machine.push(OWN, '#!/bin/sh\n{ echo "subject: $1"; cat; } >/run/told\n', 0o755)
        self.leap(machine, 3600, step=300)
        self.refuse(machine, "SN-FIRST", APM)
        machine.wait_until(f"test -s /run/told && {CURRENT}", 60)
        self.match("a program of the administrator gets the report", machine.run("cat /run/told").stdout,
                   rf"(?s)^subject: .*: settings of {self.names['SN-FIRST']} are not in effect\n.*apm +192 +128 +refused")
        self.equal("no mail is sent when the administrator's program gets the report", len(self.mails(machine)), 3)
        self.mend(machine)

        machine.push(OWN, '#!/bin/sh\ncat >/dev/null\necho >>/run/tried\n[ $(wc -l </run/tried) -gt 2 ]\n', 0o755)
        self.refuse(machine, "SN-OTHER", LOOKAHEAD)
        tried = "test $(wc -l </run/tried) -ge {}"
        machine.wait_until(f"{tried.format(1)} && {CURRENT}", 60)
        self.leap(machine, 3600, lambda: machine.run(tried.format(3), check=False).status == 0, step=300)
        self.wait_current(machine)
        self.leap(machine, 3600, step=300)
        self.equal("a failing program is run again until it succeeds", machine.run("wc -l </run/tried").stdout, "3\n")
        self.match("the journal has the program's exit status and the time of the next attempt",
                   machine.run("journalctl -b -q -o cat -u drivekeep-alert.service").stdout,
                   f"the report was not sent: {OWN} ended with status 1; drivekeep-alert.service tries again in 15 minutes")
        machine.run("systemctl reset-failed drivekeep-alert.service")

    def check_stopped(self, machine):
        active = "systemctl list-units --state=active --plain --no-legend 'drivekeep-alert*' | cut -d ' ' -f 1 | LC_ALL=C sort"
        machine.push(OWN, "#!/bin/sh\nexit 1\n", 0o755)
        self.refuse(machine, "SN-FIRST", LOOKAHEAD)
        self.wait_current(machine)
        waits = r"^(drivekeep-alert-later-\d+\.timer\n)+drivekeep-alert\.path\n$"
        self.match("after a failure of the program, a timer for the next attempt is active", machine.run(active).stdout, waits)
        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        self.match("after a restart of the service, the timer for the next attempt is still active", machine.run(active).stdout, waits)
        machine.run("systemctl stop drivekeep")
        self.equal("after a stop of the service, no unit or timer of drivekeep-alert is active", machine.run(active).stdout, "")
