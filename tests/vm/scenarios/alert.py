"""The administrator is told by mail of what has not come true, by the suite's own mail program and MTA."""
import re

from keeping import CONF, FLEET_PACKAGES, Keeping

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; } );\n'
OWN = "/etc/drivekeep/alert"
# Debian's exim delivers root's mail to the mailbox of another user, since it writes no file as root.
MAILS = "cat /var/mail/* 2>/dev/null"
# What is to be told has been told.
CURRENT = "! test -e /run/drivekeep/drives/.verdicts && systemctl show -P ActiveState drivekeep-alert.service | grep -qE 'inactive|failed'"
SETUP = "systemctl enable drivekeep.service drivekeep-alert.path; systemctl mask prometheus.service prometheus-node-exporter.service\n"
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
            self.wait_current(machine)
            self.equal("all is as wanted: no mail", self.mails(machine), [])
            self.check_mail(machine)
            self.check_hour(machine)
            self.check_own(machine)
            self.equal("nothing has failed, nor does what starts it give up",
                       machine.run("systemctl --failed --no-legend; systemctl show -P ActiveState drivekeep-alert.path").stdout, "active\n")

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

    def check_mail(self, machine):
        self.refuse(machine, "SN-FIRST", APM)
        [(subject, text)] = self.wait_mails(machine, 1)
        self.match("a drive refuses a setting: root gets mail of it", subject, f": settings of {self.names['SN-FIRST']} have not come true$")
        self.match("which says what and why", text, rf"(?s){self.names['SN-FIRST']} .*apm +192 +128 +refused.*apm: .*the drive refused")
        machine.run("drivekeep apply; systemctl restart drivekeep", check=False)
        self.settle(machine)
        self.wait_current(machine)
        self.equal("once: a restart of the service is no news", len(self.mails(machine)), 1)

    def check_hour(self, machine):
        self.refuse(machine, "SN-FIRST", LOOKAHEAD)
        self.wait_current(machine)
        self.equal("more of the same drive waits", (len(self.mails(machine)), machine.run("systemctl is-active drivekeep-alert-later.timer").stdout),
                   (1, "active\n"))
        self.refuse(machine, "SN-OTHER", APM)
        subjects = [subject for subject, _ in self.wait_mails(machine, 2)]
        self.match("another drive is told of at once", subjects[1], f": settings of {self.names['SN-OTHER']} have")
        self.leap(machine, 3540, step=295)
        self.equal("and that for an hour", len(self.mails(machine)), 2)
        self.leap(machine, 240, lambda: len(self.mails(machine)) > 2, step=60)
        [*_, (subject, text)] = self.wait_mails(machine, 3)
        self.match("then it is told", subject, f": settings of {self.names['SN-FIRST']} have")
        self.match("with what is new", text, "lookahead +on +off +refused")
        self.mend(machine)
        self.equal("what is mended is not told of", len(self.mails(machine)), 3)

    def check_own(self, machine):
        machine.push(OWN, '#!/bin/sh\n{ echo "subject: $1"; cat; } >/run/told\n', 0o755)
        self.leap(machine, 3600, step=300)
        self.refuse(machine, "SN-FIRST", APM)
        machine.wait_until(f"test -s /run/told && {CURRENT}", 60)
        self.match("a program of the administrator's is told in the place of mail", machine.run("cat /run/told").stdout,
                   rf"(?s)^subject: .*: settings of {self.names['SN-FIRST']} have not come true\n.*apm +192 +128 +refused")
        self.equal("and no mail is sent", len(self.mails(machine)), 3)
