"""Valid, broken and missing configuration files, and the cases in which the service must send no command."""
from keeping import CONF, Keeping, by_id, ours, settings

GENERAL = '{ match = { transport = "sata"; }; apm = 127; lookahead = true; }'
# Restarts the service with another kernel command line. A boot with this command line would take ten times longer.
OTHER_LINE = """mkdir -p /run/systemd/system/drivekeep.service.d; echo "root=/dev/vda nohdparm" > /run/line
printf '[Service]\\nBindReadOnlyPaths=/run/line:/proc/cmdline\\n' > /run/systemd/system/drivekeep.service.d/line.conf
systemctl daemon-reload; systemctl restart drivekeep
"""


class Configuration(Keeping):
    """The service applies the valid parts of broken files, and changes nothing if there is no file, if disabled, or in rescue mode"""

    def run(self):
        cold = {"apm": 128, "lookahead": False}
        self.ata = {name: self.drive(name, **cold) for name in ("SN-A", "SN-B")}
        with self.drives(*self.ata.values()) as (hba, arguments), \
             self.machine(extra_args=arguments, files={CONF: f"drives = ( {GENERAL} );"}) as machine:
            machine.wait_running()
            machine.run("udevadm settle")
            self.check_not_enabled(machine)
            self.check_broken_block(machine)
            self.check_broken_file(machine)
            self.check_no_file(machine)
            self.check_rescue(machine, hba)

    def sent(self, marks):
        return {name: settings(drive, marks[name]) for name, drive in self.ata.items()}

    def marks(self):
        return {name: drive.log.mark() for name, drive in self.ata.items()}

    def check_not_enabled(self, machine):
        self.equal("not enabled: the service is inactive", machine.run("systemctl is-active drivekeep", check=False).stdout,
                   "inactive\n")
        self.equal("not enabled: no drive gets a command", [e.registers() for d in self.ata.values() for e in ours(d)], [])
        self.no_match("not enabled: systemd logs no warning about the unit that the udev rules want",
                      machine.run("journalctl -b --no-pager -p warning -o cat").stdout, "drivekeep")

    def restart(self, machine, text):
        machine.push(CONF, text)
        for drive in self.ata.values():
            drive.power_cycle()
        marks = self.marks()
        machine.run("rm -rf /run/drivekeep; systemctl restart drivekeep")
        self.settle(machine)
        return marks

    def complaints(self, machine):
        return [r["MESSAGE"] for r in self.records(machine, MESSAGE_ID="f9bac741a32d4ac2a814a2946f185f89")]

    def check_broken_block(self, machine):
        machine.run("systemctl enable drivekeep")
        marks = self.restart(machine, f"drives = (\n {GENERAL},\n"
                             f"  {{ match = \"{by_id('SN-A')}\";\n    apm = = 254; }},\n"
                             "  { match = { serial = \"SN-B\"; };\n    spindwon_time = \"20min\"; read_ahead_kb = 256; }\n);\n")
        self.equal("a setting with a syntax error is not written to its drive, not even from a general rule",
                   [r[:5] for r in self.sent(marks)["SN-A"]], ["EF/AA"])
        print(machine.run("journalctl -b -o cat -u drivekeep --no-pager").stdout)
        self.equal("the verdict of a setting with a syntax error is forbidden", self.verdict(machine, "SN-A", "apm"), "forbidden")
        self.equal("the blocks without a syntax error are applied", [r[:5] for r in self.sent(marks)["SN-B"]], ["EF/AA", "EF/05"])
        text = "\n".join(self.complaints(machine))
        self.match("the error message has the line of the syntax error", text, rf"^{CONF}:4:\d+: error: ")
        self.match("the error message about an unknown key has its line and the most similar key",
                   text, rf"^{CONF}:6:5: error: .*spindwon_time.*spindown_time")
        self.equal("the setting after an unknown key is applied",
                   machine.run(f"cat /sys/block/{self.node(machine, 'SN-B').removeprefix('/dev/')}/queue/read_ahead_kb").stdout, "256\n")

    def check_broken_file(self, machine):
        machine.run("mkdir -p /etc/drivekeep/drivekeep.conf.d")
        machine.push("/etc/drivekeep/drivekeep.conf.d/10-broken.conf", "\x7fELF (((( nonsense\n")
        machine.push("/etc/drivekeep/drivekeep.conf.d/20-good.conf",
                     'drives = ( { match = { serial = "SN-B"; }; apm = 100; } );\n')
        marks = self.restart(machine, f"drives = ( {GENERAL} );\n")
        self.equal("the other files are applied despite a broken drop-in", [r for r in self.sent(marks)["SN-B"] if r.startswith("EF/05")],
                   ["EF/05 64 000000"])
        self.match("the error message names the broken drop-in", "\n".join(self.complaints(machine)),
                   r"^/etc/drivekeep/drivekeep.conf.d/10-broken.conf:\d+(:\d+)?: error: ")
        machine.run("rm -r /etc/drivekeep/drivekeep.conf.d")

    def check_no_file(self, machine):
        machine.run("rm -r /etc/drivekeep")
        for drive in self.ata.values():
            drive.power_cycle()
        marks = self.marks()
        machine.run("systemctl stop drivekeep drivekeep-broker.service; rm -rf /run/drivekeep; systemctl start drivekeep")
        self.settle(machine)
        self.equal("no file: no drive gets a command", [e.registers() for n, d in self.ata.items() for e in ours(d, marks[n])], [])
        self.equal("no file: the broker, which starts workers, is not started",
                   machine.run("systemctl is-active drivekeep-broker.service", check=False).stdout, "inactive\n")
        self.match("no file: systemctl status shows the number of drives and 0 settings",
                   machine.run("systemctl show -P StatusText drivekeep").stdout, r"^\d+ drives?, 0 settings kept$")

    def check_rescue(self, machine, hba):
        machine.run("mkdir -p /etc/drivekeep")
        machine.push(CONF, f"drives = ( {GENERAL} );")
        machine.power_off()
        hba.power_cycle()
        marks = self.marks()
        machine.append = "single drivekeep=0"
        machine.power_on()
        machine.wait_boot()
        machine.wait_until("systemctl is-active --quiet rescue.service", 120)
        machine.run("udevadm settle; sleep 5")
        self.equal("single: the service is inactive", machine.run("systemctl is-active drivekeep", check=False).stdout, "inactive\n")
        machine.run("udevadm trigger --action=add --subsystem-match=block; udevadm settle; sleep 3")
        self.equal("single: no drive gets a command after udev's add events", [n for n, d in self.ata.items() if ours(d, marks[n])], [])
        machine.run("systemctl --no-block default")
        machine.wait_until("systemctl is-active --quiet drivekeep", 180)
        self.settle(machine)
        self.check_kernel_line(machine, "drivekeep=0", marks)
        machine.run(OTHER_LINE)
        self.settle(machine)
        self.check_kernel_line(machine, "nohdparm", marks)
        machine.run("echo root=/dev/vda > /run/line; systemctl isolate rescue.target")
        machine.wait_until("systemctl is-active --quiet rescue.service", 120)
        machine.run("udevadm trigger --action=add --subsystem-match=block; udevadm settle; sleep 3")
        self.equal("after a later switch to rescue mode the service is inactive, and udev's add events do not start it",
                   (machine.run("systemctl is-active drivekeep", check=False).stdout,
                    [n for n, d in self.ata.items() if ours(d, marks[n])]), ("inactive\n", []))
        machine.run("systemctl --no-block default")
        machine.wait_until("systemctl is-active --quiet drivekeep", 180)
        self.settle(machine)
        self.claim("the service starts when rescue mode ends, and visits all drives", all(ours(d, marks[n]) for n, d in self.ata.items()))

    def check_kernel_line(self, machine, word, marks):
        machine.run(f"drivekeep apply {by_id('SN-A')}", check=False)
        self.equal(f"kernel command line {word}: the drive gets no command", ours(self.ata["SN-A"], marks["SN-A"]), [])
        self.match(f"kernel command line {word}: status names the option as the cause",
                   machine.run("drivekeep status", check=False).stdout, f"kernel command line has {word}")
        self.match(f"kernel command line {word}: the journal names the option as the cause",
                   machine.run("journalctl -b -o cat --no-pager -t drivekeepd").stdout,
                   f"kernel command line has {word}: no setting is written")
