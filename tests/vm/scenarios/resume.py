"""After a suspend, the service restores the settings that drives have lost, and sends the settings that cannot be read back."""
from keeping import CONF, Keeping, by_id, ours, settings

FILE = """
drives = ( { match = { transport = "sata"; }; apm = 127; lookahead = true; spindown_time = "20min"; read_ahead_kb = 512; },
           { match = { transport = "usb"; };  apm = 127; spindown_time = "20min"; } );
"""
COLD = {"apm": 128, "lookahead": False}
ALL = ["EF/AA", "EF/05", "E3/00"]
# A user without rights sends PrepareForSleep to each of the service's connections to the bus.
PRETEND = """for name in $(busctl list --no-legend | awk -v pid=$(systemctl show -P MainPID drivekeep) '$2 == pid { print $1 }'); do
        setpriv --reuid=nobody --clear-groups dbus-send --system --type=signal --dest=$name \\
                /org/freedesktop/login1 org.freedesktop.login1.Manager.PrepareForSleep boolean:true || exit
done"""


class Resume(Keeping):
    """After a suspend, drives get back what they have lost: with and without logind, several times, in mid-visit, with a swapped drive"""
    core = True

    def run(self):
        self.ata = {name: self.drive(name, **COLD) for name in ("SN-LOSES", "SN-KEEPS")}
        self.usb = self.drive("SN-USB", apm=128)
        with self.drives(*self.ata.values(), None, usb=[(self.usb, {})]) as (hba, arguments), \
             self.machine(suspends=True, files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.hba = hba
            self.settle(machine)
            self.check_logind(machine)
            self.check_forged_signal(machine)
            self.check_unseen(machine)
            self.check_without_logind(machine)
            self.check_lost_logind(machine)
            self.check_in_flight(machine)
            self.check_failed(machine)
            self.check_swapped(machine)
            self.check_repeated_resets(machine)
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
        machine.wait_until("busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager ListInhibitors | "
                           """grep -q '"sleep" "drivekeep".*"delay"'""", 60)
        self.claim("the service holds a delay lock for sleep from logind", True)
        for number in (1, 2, 3):
            marks, usb = self.marks(), self.usb.log.mark()
            machine.suspend(while_asleep=self.lose)
            sent = self.after(machine, marks)
            self.check_usb(machine, number, usb)
            self.equal(f"suspend {number}: the drive that lost its settings gets them again", sent["SN-LOSES"], ALL)
            self.equal(f"suspend {number}: the drive that kept its settings gets only the one that cannot be read",
                       sent["SN-KEEPS"], ["E3/00"])
        self.equal("hdparm reads the restored value of apm", "127" in machine.run(f"hdparm -B {by_id('SN-LOSES')}").stdout, True)
        commands = len(ours(self.ata["SN-LOSES"], marks["SN-LOSES"]))
        self.claim("at most two commands besides the settings and two reads are sent", commands <= len(ALL) + 2 + 2, commands)
        self.equal("the daemon logs no error over three suspends",
                   machine.run("journalctl -b -q -o cat --no-pager -p err -t drivekeepd").stdout, "")

    def check_forged_signal(self, machine):
        mark = self.ata["SN-LOSES"].log.mark()
        machine.run(PRETEND)
        applied = machine.run(f"timeout 30 drivekeep apply {by_id('SN-LOSES')}", 60, check=False).status
        self.equal("a PrepareForSleep signal from an ordinary user is ignored: drives are visited",
                   (applied, [r[:5] for r in settings(self.ata["SN-LOSES"], mark)]), (0, ["E3/00"]))

    def check_usb(self, machine, number, mark):
        """The USB drive reports its reset by a unit attention at the first command of the visit after the suspend."""
        self.usb.log.wait(mark, 60, command=0xE3)
        # The uevent for the reset comes a moment after the visit.
        machine.run("udevadm settle; sleep 2")
        self.settle(machine)
        self.equal(f"suspend {number}: a USB drive is visited once", [r for r in settings(self.usb, mark) if r[:2] == "E3"],
                   ["E3/00 F0 000000"])

    def check_repeated_resets(self, machine):
        """The drive in the USB dock loses power after several suspends. The service does not count the suspends as resets,
        and visits the drive at once."""
        mark = self.usb.log.mark()
        self.usb.power_cycle()
        machine.run("dd if=$(lsblk -dnpo NAME,TRAN | awk '$2 == \"usb\" { print $1 }') of=/dev/null bs=4096 count=1 iflag=direct",
                    check=False)
        self.usb.log.wait(mark, 60, command=0xE3)
        self.settle(machine)
        self.equal("a reset after several suspends causes a visit immediately", (self.usb["apm"], self.usb["standby_seconds"]), (127, 1200))
        said = machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout
        self.no_match("several suspends are not logged as repeated resets", said, "visits are limited")

    def check_unseen(self, machine):
        """The drive loses power without an event. The service notices the loss only at the next apply, restart or reload."""
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
            self.equal(f"settings lost without an event, then {way}: the drive gets all of them again, also the one without read-back",
                       sent["SN-LOSES"], ALL)
            self.equal("hdparm and the drive model show the restored settings",
                       (machine.run(f"hdparm -BA {node} | grep -oE '(127|on)\\b'").stdout,
                       drive["standby_seconds"]), ("on\n127\n", 1200))
            self.equal("a drive that lost nothing gets only the setting without read-back, and only from apply", sent["SN-KEEPS"],
                       ["E3/00"] if way == "apply" else [])

    def check_without_logind(self, machine):
        marks = self.marks()
        machine.qmp.forget_events()
        machine.start("echo mem > /sys/power/state")
        machine.wait_event("SUSPEND", 60)
        self.lose()
        machine.qmp.execute("system_wakeup")
        sent = self.after(machine, marks)
        self.equal("suspend without logind: the drive that lost its settings gets them again", sent["SN-LOSES"], ALL)
        machine.run("sleep 2; udevadm trigger --action=change --subsystem-match=block; udevadm settle")
        self.settle(machine)
        self.equal("suspend without logind: the service visits the drive once",
                   [r[:5] for r in settings(self.ata["SN-KEEPS"], marks["SN-KEEPS"])], ["E3/00"])
        found = self.records(machine, DRIVEKEEP_SERIAL="SN-LOSES", DRIVEKEEP_SETTING="apm")
        self.equal("suspend without logind: the journal has resume as the reason of the visit", found[-1]["DRIVEKEEP_VISIT"], "resume")

    def check_lost_logind(self, machine):
        """A restarted logind has lost the service's delay lock: the service takes a new lock."""
        machine.run("systemctl kill --signal=KILL systemd-logind; sleep 1; systemctl start systemd-logind; sleep 1")
        machine.wait_until("busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "
                           "ListInhibitors | grep -q drivekeep", 30)
        machine.run(f"hdparm -B 200 {by_id('SN-LOSES')}")
        machine.run("timeout 20 drivekeep apply", check=False)
        self.equal("after a restart of logind the service takes a new lock, and visits continue", self.ata["SN-LOSES"]["apm"], 127)

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
        self.equal("a suspend during a visit: the drive has all settings afterwards",
                   (drive["apm"], drive["lookahead"], drive["standby_seconds"]),
                   (127, True, 1200))

    def check_failed(self, machine):
        """A suspend fails because another device refuses it. A drive that has lost its settings meanwhile gets them again."""
        machine.run("modprobe stubborn")
        marks = self.marks()
        self.lose()
        machine.run("systemctl suspend", check=False)
        sent = self.after(machine, marks)
        self.claim("the suspend failed in its late phase", machine.run("cat /sys/power/suspend_stats/failed_suspend_late").stdout != "0\n")
        self.equal("after a failed suspend the drive that lost its settings gets them again", sent["SN-LOSES"], ALL)
        machine.run("rmmod stubborn")

    def check_swapped(self, machine):
        other = self.drive("SN-NEW", **COLD)

        def swap():
            self.hba.detach(2)
            self.hba.attach(2, other)

        machine.suspend(while_asleep=swap)
        machine.wait_until(lambda: other["standby_seconds"] == 1200, 90)
        self.equal("a drive that was swapped in during suspend gets its settings", (other["apm"], other["lookahead"]), (127, True))
        self.settle(machine)

    def check_clock(self, machine):
        marks = self.marks()
        machine.run("date -s '+1 year' && sleep 3 && date -s '-1 year'")
        self.settle(machine)
        self.equal("a step of the clock by a year causes no visit", [ours(d, marks[n]) for n, d in self.ata.items()], [[], []])
