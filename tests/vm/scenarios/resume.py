"""What sleep takes is given back, and only that."""
from keeping import CONF, Keeping, by_id, ours, settings

FILE = """
drives = ( { match = { transport = "sata"; }; apm = 127; lookahead = true; spindown_time = "20min"; read_ahead_kb = 512; },
           { match = { transport = "usb"; };  apm = 127; spindown_time = "20min"; } );
"""
COLD = {"apm": 128, "lookahead": False}
ALL = ["EF/AA", "EF/05", "E3/00"]
# To all connections that the service has to the bus, by a user without rights.
PRETEND = """for name in $(busctl list --no-legend | awk -v pid=$(systemctl show -P MainPID drivekeep) '$2 == pid { print $1 }'); do
        setpriv --reuid=nobody --clear-groups dbus-send --system --type=signal --dest=$name \\
                /org/freedesktop/login1 org.freedesktop.login1.Manager.PrepareForSleep boolean:true || exit
done"""


class Resume(Keeping):
    """Suspend through logind and behind its back, three times, with a swapped drive and a visit in flight"""
    core = True

    def run(self):
        self.ata = {name: self.drive(name, **COLD) for name in ("SN-LOSES", "SN-KEEPS")}
        self.usb = self.drive("SN-USB", apm=128)
        with self.drives(*self.ata.values(), None, usb=[(self.usb, {})]) as (hba, arguments), \
             self.machine(suspends=True, files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.hba = hba
            self.settle(machine)
            self.check_logind(machine)
            self.check_pretended(machine)
            self.check_unseen(machine)
            self.check_behind_its_back(machine)
            self.check_lost_logind(machine)
            self.check_in_flight(machine)
            self.check_failed(machine)
            self.check_swapped(machine)
            self.check_storm(machine)
            self.check_clock(machine)

    def lose(self):
        self.ata["SN-LOSES"].power_cycle()

    def marks(self):
        return {name: drive.log.mark() for name, drive in self.ata.items()}

    def after(self, machine, marks):
        self.ata["SN-LOSES"].log.wait(marks["SN-LOSES"], 60, command=0xE3)
        self.ata["SN-KEEPS"].log.wait(marks["SN-KEEPS"], 60, command=0xE3)
        self.settle(machine)
        return {name: [r[:5] for r in settings(drive, marks[name])] for name, drive in self.ata.items()}

    def check_logind(self, machine):
        self.match("logind is asked to wait for us", machine.run("busctl call org.freedesktop.login1 /org/freedesktop/login1 "
                   "org.freedesktop.login1.Manager ListInhibitors").stdout, r'"sleep" "drivekeep".*"delay"')
        for number in (1, 2, 3):
            marks, usb = self.marks(), self.usb.log.mark()
            machine.suspend(while_asleep=self.lose)
            sent = self.after(machine, marks)
            self.check_usb(machine, number, usb)
            self.equal(f"suspend {number}: what was lost is written again", sent["SN-LOSES"], ALL)
            self.equal(f"suspend {number}: what was kept is left alone, and what cannot be read is sent again",
                       sent["SN-KEEPS"], ["E3/00"])
        self.equal("as hdparm reads it", "127" in machine.run(f"hdparm -B {by_id('SN-LOSES')}").stdout, True)
        commands = len(ours(self.ata["SN-LOSES"], marks["SN-LOSES"]))
        self.claim("at most two commands more than the settings and two readings", commands <= len(ALL) + 2 + 2, commands)
        self.equal("and nothing is complained of", machine.run("journalctl -b -q -o cat --no-pager -p err -t drivekeepd").stdout, "")

    def check_pretended(self, machine):
        mark = self.ata["SN-LOSES"].log.mark()
        machine.run(PRETEND)
        applied = machine.run(f"timeout 30 drivekeep apply {by_id('SN-LOSES')}", 60, check=False).status
        self.equal("a user who says that the machine is about to sleep is not believed: drives are visited",
                   (applied, [r[:5] for r in settings(self.ata["SN-LOSES"], mark)]), (0, ["E3/00"]))

    def check_usb(self, machine, number, mark):
        """It says of itself that it was reset, at the first command of the visit that is for the sleep."""
        self.usb.log.wait(mark, 60, command=0xE3)
        # What udev tells of that comes a moment later.
        machine.run("udevadm settle; sleep 2")
        self.settle(machine)
        self.equal(f"suspend {number}: a USB drive is visited once", [r for r in settings(self.usb, mark) if r[:2] == "E3"],
                   ["E3/00 F0 000000"])

    def check_storm(self, machine):
        """After all these sleeps a drive in its dock loses power."""
        mark = self.usb.log.mark()
        self.usb.power_cycle()
        machine.run("dd if=$(lsblk -dnpo NAME,TRAN | awk '$2 == \"usb\" { print $1 }') of=/dev/null bs=4096 count=1 iflag=direct",
                    check=False)
        self.usb.log.wait(mark, 60, command=0xE3)
        self.settle(machine)
        self.equal("however often the machine slept, a reset is answered at once", (self.usb["apm"], self.usb["standby_seconds"]), (127, 1200))
        said = machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout
        self.no_match("and no record reports repeated resets", said, "visits are limited")

    def check_unseen(self, machine):
        """The drive's power goes and comes, and nobody is told."""
        drive, node = self.ata["SN-LOSES"], by_id("SN-LOSES")
        machine.push("/etc/other.conf", FILE.replace("512", "256"))
        ways = {"apply": "drivekeep apply", "restart": "systemctl restart drivekeep",
                "reload": f"cp /etc/other.conf {CONF} && systemctl reload drivekeep"}
        for way, command in ways.items():
            marks = self.marks()
            self.lose()
            machine.run(command)
            self.settle(machine)
            sent = {name: [r[:5] for r in settings(each, marks[name])] for name, each in self.ata.items()}
            self.equal(f"lost unseen, then {way}: what can be read shows it, and what cannot is sent again too", sent["SN-LOSES"], ALL)
            self.equal("as hdparm reads it, and the drive's own word", (machine.run(f"hdparm -BA {node} | grep -oE '(127|on)\\b'").stdout,
                       drive["standby_seconds"]), ("on\n127\n", 1200))
            self.equal("one that lost nothing is sent what cannot be read if somebody asks", sent["SN-KEEPS"],
                       ["E3/00"] if way == "apply" else [])

    def check_behind_its_back(self, machine):
        marks = self.marks()
        machine.qmp.forget_events()
        machine.start("echo mem > /sys/power/state")
        machine.wait_event("SUSPEND", 60)
        self.lose()
        machine.qmp.execute("system_wakeup")
        sent = self.after(machine, marks)
        self.equal("sleep that logind knows nothing of: written again too", sent["SN-LOSES"], ALL)
        machine.run("sleep 2; udevadm trigger --action=change --subsystem-match=block; udevadm settle")
        self.settle(machine)
        self.equal("and noticed once", [r[:5] for r in settings(self.ata["SN-KEEPS"], marks["SN-KEEPS"])], ["E3/00"])
        found = self.records(machine, DRIVEKEEP_SERIAL="SN-LOSES", DRIVEKEEP_SETTING="apm")
        self.equal("and the journal says why", found[-1]["DRIVEKEEP_VISIT"], "resume")

    def check_lost_logind(self, machine):
        """A new logind knows nothing of our wish that it waits."""
        machine.run("systemctl kill --signal=KILL systemd-logind; sleep 1; systemctl start systemd-logind; sleep 1")
        machine.wait_until("busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "
                           "ListInhibitors | grep -q drivekeep", 30)
        machine.run(f"hdparm -B 200 {by_id('SN-LOSES')}")
        machine.run("timeout 20 drivekeep apply", check=False)
        self.equal("after logind was restarted it is asked to wait again, and visits go on", self.ata["SN-LOSES"]["apm"], 127)

    def check_in_flight(self, machine):
        drive = self.ata["SN-LOSES"]
        machine.run(f"hdparm -B 200 -A 0 {by_id('SN-LOSES')}")
        drive.inject("hang", command=0xEF, feature=0xAA, seconds=2)
        marks = self.marks()
        machine.start("drivekeep apply")
        drive.log.wait(marks["SN-LOSES"], 60, command=0xEF, feature=0xAA, status=None)
        machine.suspend(while_asleep=self.lose)
        self.after(machine, marks)
        machine.wait_until(lambda: drive["apm"] == 127, 60)
        self.equal("with a visit in flight: it all is there afterwards", (drive["apm"], drive["lookahead"], drive["standby_seconds"]),
                   (127, True, 1200))

    def check_failed(self, machine):
        """The drives are asleep already, and another device does not want to."""
        machine.run("modprobe stubborn")
        marks = self.marks()
        self.lose()
        machine.run("systemctl suspend", check=False)
        sent = self.after(machine, marks)
        self.claim("a sleep that came to nothing", machine.run("cat /sys/power/suspend_stats/failed_suspend_late").stdout != "0\n")
        self.equal("after it drives are looked at, too, and what was lost is written again", sent["SN-LOSES"], ALL)
        machine.run("rmmod stubborn")

    def check_swapped(self, machine):
        other = self.drive("SN-NEW", **COLD)

        def swap():
            self.hba.detach(2)
            self.hba.attach(2, other)

        machine.suspend(while_asleep=swap)
        machine.wait_until(lambda: other["standby_seconds"] == 1200, 90)
        self.equal("a drive that was swapped in while asleep gets its settings", (other["apm"], other["lookahead"]), (127, True))
        self.settle(machine)

    def check_clock(self, machine):
        marks = self.marks()
        machine.run("date -s '+1 year' && sleep 3 && date -s '-1 year' && sleep 2")
        self.equal("a clock that is stepped by a year causes no visit", [ours(d, marks[n]) for n, d in self.ata.items()], [[], []])
