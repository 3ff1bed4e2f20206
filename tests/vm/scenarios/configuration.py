"""Files in all conditions, and all the ways in which nothing may happen."""
from keeping import CONF, Keeping, by_id, ours, settings

GENERAL = '{ match = { transport = "sata"; }; apm = 127; lookahead = true; }'


class Configuration(Keeping):
    """Not enabled, rescue mode, no file, broken blocks and files: what is sound is applied, the rest is left alone"""

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
        self.equal("not enabled: the service is not running", machine.run("systemctl is-active drivekeep", check=False).stdout,
                   "inactive\n")
        self.equal("not enabled: no command to any drive", [e.registers() for d in self.ata.values() for e in ours(d)], [])
        self.no_match("not enabled: systemd does not complain about the rules' wish",
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
        self.equal("a broken block: its drive gets nothing for the setting it names, not even from a general rule",
                   [r[:5] for r in self.sent(marks)["SN-A"]], ["EF/AA"])
        print(machine.run("journalctl -b -o cat -u drivekeep --no-pager").stdout)
        self.equal("and says so", self.verdict(machine, "SN-A", "apm"), "forbidden")
        self.equal("other blocks are applied", [r[:5] for r in self.sent(marks)["SN-B"]], ["EF/AA", "EF/05"])
        text = "\n".join(self.complaints(machine))
        self.match("the error is at its place", text, rf"^{CONF}:4:\d+: error: ")
        self.match("an unknown key: its place and the nearest name", text, rf"^{CONF}:6:5: error: .*spindwon_time.*spindown_time")
        self.equal("what follows in that block is applied",
                   machine.run(f"cat /sys/block/{self.node(machine, 'SN-B').removeprefix('/dev/')}/queue/read_ahead_kb").stdout, "256\n")

    def check_broken_file(self, machine):
        machine.run("mkdir -p /etc/drivekeep/drivekeep.conf.d")
        machine.push("/etc/drivekeep/drivekeep.conf.d/10-broken.conf", "\x7fELF (((( nonsense\n")
        machine.push("/etc/drivekeep/drivekeep.conf.d/20-good.conf",
                     'drives = ( { match = { serial = "SN-B"; }; apm = 100; } );\n')
        marks = self.restart(machine, f"drives = ( {GENERAL} );\n")
        self.equal("a broken drop-in: the other files are applied", [r for r in self.sent(marks)["SN-B"] if r.startswith("EF/05")],
                   ["EF/05 64 000000"])
        self.match("and the broken one is named", "\n".join(self.complaints(machine)),
                   r"^/etc/drivekeep/drivekeep.conf.d/10-broken.conf:\d+(:\d+)?: error: ")
        machine.run("rm -r /etc/drivekeep/drivekeep.conf.d")

    def check_no_file(self, machine):
        machine.run("rm -r /etc/drivekeep")
        for drive in self.ata.values():
            drive.power_cycle()
        marks = self.marks()
        machine.run("systemctl stop drivekeep drivekeep-broker.service; rm -rf /run/drivekeep; systemctl start drivekeep")
        self.settle(machine)
        self.equal("no file: no command to any drive", [e.registers() for n, d in self.ata.items() for e in ours(d, marks[n])], [])
        self.equal("and the process that could send one is not started",
                   machine.run("systemctl is-active drivekeep-broker.service", check=False).stdout, "inactive\n")
        self.match("status counts them", machine.run("systemctl show -P StatusText drivekeep").stdout, r"^\d+ drives?, 0 settings kept$")

    def check_rescue(self, machine, hba):
        machine.run("mkdir -p /etc/drivekeep")
        machine.push(CONF, f"drives = ( {GENERAL} );")
        for append in ("systemd.unit=rescue.target", "single"):
            machine.power_off()
            hba.power_cycle()
            marks = self.marks()
            machine.append = append
            machine.power_on()
            machine.wait_boot()
            machine.wait_until("systemctl is-active --quiet rescue.service", 120)
            machine.run("udevadm settle; sleep 5")
            self.equal(f"{append}: the service does not run", machine.run("systemctl is-active drivekeep", check=False).stdout,
                       "inactive\n")
            machine.run("udevadm trigger --action=add --subsystem-match=block; udevadm settle; sleep 3")
            self.equal(f"{append}: nor does a plugged drive start it", [n for n, d in self.ata.items() if ours(d, marks[n])], [])

        machine.run("systemctl --no-block default")
        machine.wait_until("systemctl is-active --quiet drivekeep", 180)
        self.settle(machine)
        self.claim("it starts when rescue mode is left", all(ours(d, marks[n]) for n, d in self.ata.items()))
        machine.run("systemctl isolate rescue.target")
        machine.wait_until("systemctl is-active --quiet rescue.service", 120)
        marks = self.marks()
        machine.run("udevadm trigger --action=add --subsystem-match=block; udevadm settle; sleep 3")
        self.equal("who goes there later: it has ended, and a plugged drive does not start it",
                   (machine.run("systemctl is-active drivekeep", check=False).stdout,
                    [n for n, d in self.ata.items() if ours(d, marks[n])]), ("inactive\n", []))
