"""Reloads of the configuration while drives are present. Also checks conflicts, battery power, stops, and a failing system bus."""
import re

from keeping import CONF, Keeping, ours, settings

COLD = {"apm": 128, "lookahead": False}


def file(apm=127, extra="lookahead = true; spindown_time = \"20min\";", b=""):
    return (f'drives = (\n  {{ match = {{ transport = "sata"; }}; apm = {apm}; {extra} }},\n'
            f'  {{ match = {{ serial = "SN-B"; }}; read_ahead_kb = 256; {b} }}\n);\n')


class Reload(Keeping):
    """A reload sends one command per changed value, and none for a broken file; the service survives a failing system bus and stops cleanly"""

    def run(self):
        self.ata = {name: self.drive(name, **COLD) for name in ("SN-A", "SN-B")}
        with self.drives(*self.ata.values()) as (hba, arguments), \
             self.machine(files={CONF: file()}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.check_one_value(machine)
            self.check_said(machine)
            self.check_hangup(machine)
            self.check_property(machine)
            self.check_broken(machine)
            self.check_removed(machine)
            self.check_conflicts(machine)
            self.check_battery(machine)
            self.check_stop(machine)
            self.check_without_bus(machine)

    def marks(self):
        return {name: drive.log.mark() for name, drive in self.ata.items()}

    def reload(self, machine, text, check=True):
        machine.push(CONF, text)
        marks = self.marks()
        result = machine.run("systemctl reload drivekeep", check=check)
        self.settle(machine)
        return result, {name: settings(drive, marks[name]) for name, drive in self.ata.items()}, marks

    def check_one_value(self, machine):
        _, sent, marks = self.reload(machine, file(b="apm = 100;"))
        self.equal("one changed value causes one setting command", sent, {"SN-A": [], "SN-B": ["EF/05 64 000000"]})
        self.equal("a reload sends no command to a drive whose values did not change", ours(self.ata["SN-A"], marks["SN-A"]), [])
        _, sent, marks = self.reload(machine, file(b="apm = 100;") + "// a comment\n")
        self.equal("a reload without changed values sends no command to any drive",
                   [len(ours(d, marks[n])) for n, d in self.ata.items()], [0, 0])

    def check_said(self, machine):
        """The output of reload and status shows the results of a reload and the files in force."""
        # grep removes the warning about wakers.
        status = "drivekeep status {} 2>&1 >/dev/null | grep -v 'wakers are not recorded' || :"
        self.equal("status reports nothing about files that the service has read", machine.run(status.format("")).stdout, "")
        machine.push(CONF, file(b="apm = 60;"))
        self.match("status names a file that changed after the service read it",
                   machine.run(status.format("")).stdout, f"^drivekeep: {CONF} has changed since .* the old content stays in force until 'drivekeep reload'$")
        result = machine.run("drivekeep reload --wait")
        lines = result.stdout.splitlines()
        self.match("reload --wait shows the drive whose setting changed, and the verdict", lines[0], r"^sd[a-z]: apm 60 applied$")
        self.equal("reload --wait shows no other drive, and the summary of status",
                   lines[1:], [machine.run("drivekeep status").stdout.splitlines()[0]])
        self.equal("the drive has the setting when reload --wait ends", self.ata["SN-B"]["apm"], 60)
        shown = machine.run("systemctl status drivekeep.service --no-pager").stdout
        self.equal("systemctl status shows the same summary", re.findall(r"^ *Status: \"(.*)\"$", shown, re.M), lines[1:])
        self.equal("status --failed reports nothing about the files after a reload", machine.run(status.format("--failed")).stdout, "")
        self.match("reload --wait reports that no setting changed",
                   machine.run("drivekeep reload --wait").stdout, rf"^no setting changed; in total: {lines[1]}$")
        self.equal("without --wait and a terminal reload prints nothing", machine.run("drivekeep reload").stdout, "")
        machine.push(CONF, file(b="apm = 300;"))
        said = machine.run(status.format("")).stdout
        self.match("status shows file, line and column of an error in a file that is not in force",
                   said, rf"^{CONF}:3:\d+: error: 300 is out of range")
        self.match("status reports that the configuration with an error is not in force",
                   said, r"^drivekeep: the configuration has 1 error, so the previous configuration stays in force")
        self.equal("status reports no error of the file to users who cannot read the file", machine.run(
                   f"chmod o-r {CONF}; setpriv --reuid=65534 --regid=65534 --clear-groups {status.format('')}; chmod o+r {CONF}").stdout, "")
        machine.push(CONF, file(b="apm = 100;"))
        machine.run("drivekeep reload --wait")
        self.equal("reload --wait waits for the visit", self.ata["SN-B"]["apm"], 100)

    def check_hangup(self, machine):
        """After SIGHUP, the journal has the result of the reload, because a signal gets no answer."""
        process = "systemctl show -P MainPID drivekeep"
        pid = machine.run(process).stdout
        for text, said, sent in ((file(b="apm = 60;"), "The configuration files have been reloaded", ["EF/05 3C 000000"]),
                                 (file(apm=50, b="apm = = 3;"), "The configuration files have errors", []),
                                 (file(b="apm = 100;"), "The configuration files have been reloaded", ["EF/05 64 000000"])):
            machine.push(CONF, text)
            marks = self.marks()
            count = f"journalctl -b -u drivekeep -o cat --no-pager | grep -c '{said}'"
            before = int(machine.run(count, check=False).stdout)
            machine.run("systemctl kill -s HUP drivekeep")
            machine.wait_until(f"test $({count}) -gt {before}", 30)
            self.settle(machine)
            self.equal(f"SIGHUP reloads the files, and the journal has: {said}",
                       {name: settings(drive, marks[name]) for name, drive in self.ata.items()}, {"SN-A": [], "SN-B": sent})
        self.equal("the service's process is the same after SIGHUP", machine.run(process).stdout, pid)

    def check_stop(self, machine):
        """Stopping the service leaves no process behind, even if a drive does not answer."""
        group = "cat /sys/fs/cgroup/system.slice/{}.service/cgroup.procs 2>/dev/null"
        drive = self.ata["SN-B"]
        for when in ("without a visit", "while a drive does not answer"):
            if when != "without a visit":
                machine.run(f"hdparm -B 77 {self.node(machine, 'SN-B')}")
                mark = drive.log.mark()
                drive.inject("hang", command=0xEF, feature=0x05, origin="passthrough", seconds=12)
                machine.start("drivekeep apply")
                drive.log.wait(mark, 60, command=0xEF, status=None)
            machine.run("systemctl stop drivekeep")
            self.claim_stop(machine, when)
            self.equal(f"no process of the stopped service remains ({when})",
                       machine.run(group.format("drivekeep"), check=False).stdout, "")
            # The broker ends at the latest when the kernel's timeout for the command has expired.
            machine.wait_until("test \"$(systemctl show -P ActiveState drivekeep-broker)\" = inactive", 60)
            self.equal(f"no process of the broker remains ({when})", machine.run(group.format("drivekeep-broker"), check=False).stdout, "")
            machine.run("systemctl start drivekeep")
            self.settle(machine)
        self.equal("the drive has its settings after the service was stopped and started", self.ata["SN-B"]["apm"], 100)
        said = machine.run("journalctl -b -o cat --no-pager").stdout
        self.equal("systemd reports no leftover process of drivekeep",
                   [line for line in said.splitlines() if "keep" in line and re.search("left-over|remains running|still around", line)], [])

    def check_property(self, machine):
        """The service keeps only the udev properties that its configuration names."""
        rule = '  { match = { ID_SERIAL_SHORT = "SN-A"; }; apm = 90; }'
        _, sent, _ = self.reload(machine, file(b="apm = 100;").replace("},\n", f"}},\n{rule},\n", 1))
        self.equal("a new rule that matches a udev property finds its drive", sent, {"SN-A": ["EF/05 5A 000000"], "SN-B": []})
        _, sent, _ = self.reload(machine, file(b="apm = 100;"))
        self.equal("after that rule is removed, the drive gets the values of the remaining rules",
                   sent, {"SN-A": ["EF/05 7F 000000"], "SN-B": []})

    def check_broken(self, machine):
        result, sent, _ = self.reload(machine, file(apm=50, b="apm = = 3;"), check=False)
        self.claim("systemctl reload fails with a file that does not parse", result.status != 0)
        self.equal("a file that does not parse changes no drive", sent, {"SN-A": [], "SN-B": []})
        self.match("the journal has the error of the file with its line and column",
                   machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout,
                   rf"^drivekeep: .*{CONF}:3:\d+: error: ")
        again = machine.run("drivekeep reload", check=False)
        self.equal("drivekeep reload prints the error and exits with 1", (again.status, f"{CONF}:3:" in again.stderr), (1, True))
        self.equal("the service stays active with a file that does not parse",
                   machine.run("systemctl is-active drivekeep").stdout, "active\n")

    def check_removed(self, machine):
        _, sent, _ = self.reload(machine, file(extra="lookahead = true;", b="apm = 100;"))
        self.equal("a setting that was removed from the file changes no drive", sent, {"SN-A": [], "SN-B": []})
        said = machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout
        self.equal("the journal names the removed setting once per drive", said.count("spindown_time is no longer managed"), 2)

    def check_conflicts(self, machine):
        """`drivekeep check` reports conflicts; the service does not read the files of other programs."""
        rules, hook = "/etc/udev/rules.d/99-conflict.rules", "/usr/lib/systemd/system-sleep/conflict"
        machine.push(rules, 'KERNEL=="sd[a-z]", RUN+="/sbin/hdparm -B 254 /dev/%k"\n')
        machine.push("/etc/systemd/system/conflict.service", "[Service]\nExecStart=/sbin/hdparm -B 1 /dev/sda\n"
                                                          "[Install]\nWantedBy=multi-user.target\n")
        machine.push(hook, "#!/bin/sh\nhdparm -A0 /dev/sda /dev/sdb\n")
        machine.run(f"chmod +x {hook}")
        self.reload(machine, file(extra="lookahead = true;", b="apm = 100;"))
        said = machine.run("drivekeep check").stdout
        self.match("drivekeep check names the file and line of another program that sets the same setting", said,
                   rf"^{rules}:1:1: warning: this line sets apm to 254 when udev runs it, and {CONF}:(2 wants 127|3 wants 100) for /dev/sd[a-z]: ")
        self.match("drivekeep check names a sleep hook that sets the same setting",
                   said, rf"^{hook}:2:1: warning: this line sets lookahead to off before and after suspend, ")
        self.no_match("drivekeep check ignores a unit that is disabled", said, "conflict.service")
        self.no_match("the service's journal reports no conflict",
                      machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout, f"{rules}|{hook}")
        machine.run(f"rm {rules} {hook} /etc/systemd/system/conflict.service")

    def check_battery(self, machine):
        """The test module `supply` simulates the power supplies."""
        machine.run("modprobe supply online=1 discharging=0")
        _, sent, _ = self.reload(machine, file(extra="lookahead = true;", b="apm = 100; on_battery = { apm = 30; };"))
        self.equal("on mains power the value for battery is not sent", sent, {"SN-A": [], "SN-B": []})
        marks = self.marks()
        machine.run("cd /sys/module/supply/parameters && echo 1 > discharging && echo 0 > online")
        self.ata["SN-B"].log.wait(marks["SN-B"], 30, command=0xEF)
        self.equal("on battery the drive with a value for battery gets that value",
                   settings(self.ata["SN-B"], marks["SN-B"]), ["EF/05 1E 000000"])
        self.equal("on battery other drives get no command", ours(self.ata["SN-A"], marks["SN-A"]), [])
        self.settle(machine)
        marks = self.marks()
        machine.run("cd /sys/module/supply/parameters && echo 1 > online && echo 0 > discharging")
        self.ata["SN-B"].log.wait(marks["SN-B"], 30, command=0xEF)
        self.equal("back on mains power the drive gets its usual value", settings(self.ata["SN-B"], marks["SN-B"]), ["EF/05 64 000000"])
        self.settle(machine)

    def check_without_bus(self, machine):
        # Since systemd 257 logind does not connect again to a restarted bus.
        machine.run("systemctl restart dbus; systemctl restart systemd-logind; sleep 3")
        machine.wait_until("busctl status org.drivekeep1", 30)
        self.claim("the service is on the bus again after a restart of D-Bus", True)
        machine.wait_until("busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager ListInhibitors | "
                           "grep -q drivekeep", 60)
        self.claim("the service has its inhibitor lock of logind again after a restart of D-Bus", True)
        machine.run("systemctl daemon-reexec")
        node = self.node(machine, "SN-A")
        machine.run(f"hdparm -B 77 {node}")
        self.equal("apply works after systemctl daemon-reexec",
                   (machine.run("drivekeep apply", check=False).status, self.ata["SN-A"]["apm"]), (0, 127))
        machine.run("systemctl mask --now dbus.socket dbus.service; systemctl restart drivekeep", 120, check=False)
        machine.wait_until("systemctl is-active --quiet drivekeep", 60)
        machine.run(f"hdparm -B 77 {node}")
        self.equal("without a bus root can still apply settings",
                   (machine.run("drivekeep apply", check=False).status, self.ata["SN-A"]["apm"]), (0, 127))
        self.equal("without a bus root can still reload the files", machine.run("systemctl reload drivekeep", check=False).status, 0)
        # A program listens on the bus socket and never answers.
        machine.start("mkdir -p /run/dbus; rm -f /run/dbus/system_bus_socket; perl -MIO::Socket::UNIX -e "
                      "'$s = IO::Socket::UNIX->new(Local => \"/run/dbus/system_bus_socket\", Listen => 5); sleep 600'")
        machine.wait_until("test -S /run/dbus/system_bus_socket", 10)
        machine.run("systemctl restart drivekeep; sleep 2")
        machine.run("systemctl stop drivekeep")
        self.claim_stop(machine, "even with a bus that does not answer")
