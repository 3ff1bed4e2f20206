"""tests/play: the interactive virtual machine with drives."""
import contextlib
import io
import os
import re
import threading

from keeping import by_id
from play import ESCAPE, PACKAGE, SIZE, THINGS, Play, talk
from scenario import Scenario


class Playing(Scenario):
    """tests/play offers plug, pull, break, mend, suspend, reboot, cut and a shell; its machine has all drives that help names"""
    packages = Play.packages

    def run(self):
        self.play = Play(self.image)
        self.play.run(interact=self.check)

    def check(self, prompt):
        self.machine, self.prompt, self.nas = prompt.machine, prompt, prompt.drive("NAS-1")
        self.check_help()
        self.check_drives()
        self.check_others()
        self.check_faults()
        self.check_supply()
        self.check_shell()
        self.check_measuring()
        self.check_power()
        self.check_package()

    def say(self, line):
        """Runs a command as if typed at the prompt of tests/play, and returns its output."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.prompt.onecmd(line)
        return out.getvalue()

    def wait_for_values(self, text, *drives):
        self.machine.wait_until(lambda: all(drive["standby_seconds"] == 1200 and drive["lookahead"] for drive in drives), 90)
        self.claim(text, True)

    def check_help(self):
        told = self.say("help")
        names = [name.removeprefix("do_") for name in dir(self.prompt) if name.startswith("do_") and name != "do_EOF"]
        self.equal("help shows a line with a description for each command",
                   [name for name in names if not re.search(rf"^  {name}( \S+)* {{2,}}\S", told, re.M)], [])
        verbs = {verb for things in THINGS.values() for text in things for verb in re.findall(r"\bdrivekeep (\w+)", "\n".join(text))}
        lacking = self.machine.run(f"for verb in {' '.join(sorted(verbs))}; do drivekeep help $verb >/dev/null || echo $verb; done; "
                                   "for drive in sda sdb sr0 nvme0n1; do [ -b /dev/$drive ] || echo $drive; done").stdout
        self.equal("the commands and drives that help suggests exist", lacking, "")

    def check_drives(self):
        self.equal("plug adds a new drive without an error", self.say("plug NEW-1"), "")
        self.wait_for_values("and has its settings", self.prompt.drive("NEW-1"))
        self.match("plug rejects a drive that is plugged in", self.say("plug NEW-1"), "NEW-1 is already plugged in")
        self.say("pull NEW-1")
        self.machine.wait_until(f"! test -e {by_id('NEW-1')}", 60)
        self.claim("pull removes the drive from the machine", True)
        self.match("the error for an unknown drive names it and lists the existing drives",
                   self.say("pull NEW-2"), "no SATA drive 'NEW-2'; there are NAS-1, ")
        self.match("the error for an unknown command names it and refers to help",
                   self.say("plugg NEW-1"), "no command 'plugg'; 'help' lists all commands")
        self.match("drives shows the values that each drive model has", self.say("drives"), r"^  NAS-1 +254 +on ")
        self.match("status shows the settings as drivekeep reports them", self.say("status"), r" spindown_time +20 min ")

    def check_others(self):
        self.match("the machine has an optical drive", self.machine.run("drivekeep list").stdout, r"^sr0 +QEMU")
        for dock, drive in (("DOCK-1", "USB-1"), ("DOCK-2", None)):
            node = f"/dev/disk/by-id/usb-DOCK_SATA_Bridge_{dock}-0:0"
            self.equal(f"plug {dock} adds the USB dock without an error", self.say(f"plug {dock}"), "")
            self.machine.wait_until(f"test -e {node}", 60)
            told = self.machine.run(f"hdparm -i {node}; smartctl -d sat -i {node}", check=False).stdout
            if drive:
                self.match("the first USB dock passes ATA commands to its drive", told, drive)
            else:
                self.no_match("the second USB dock passes no ATA commands", told, "USB-")
            self.match(f"plug rejects {dock}, which is plugged in", self.say(f"plug {dock}"), f"{dock} is already plugged in")
            self.say(f"pull {dock}")
            self.machine.wait_until(f"! test -e {node}", 60)
        self.match("pull rejects a dock that is not plugged in", self.say("pull DOCK-1"), "DOCK-1 is not plugged in")

    def check_supply(self):
        for supply, online in (("battery", "0"), ("mains", "1")):
            self.equal(f"power {supply} prints no error", self.say(f"power {supply}"), "")
            self.equal("the kernel shows the supply as the power command set it",
                       self.machine.run("cat /sys/class/power_supply/*/online").stdout.strip(), online)

    def check_measuring(self):
        """Measures one drive with a short time budget."""
        sizes = self.machine.run(f"lsblk -dnbo SIZE {by_id('NAS-1')} /dev/nvme0n1").stdout.split()
        self.equal("NAS-1 and the NVMe drive have 64 GiB each", sizes, [str(SIZE)] * 2)
        measured = self.machine.run("drivekeep bench NAS-1 --budget=30s", 120, check=False)
        self.claim("drivekeep bench measures one of the drives", measured.status == 0, measured.stdout + measured.stderr)

    def check_package(self):
        """The package is still installed after later boots; the first boot installed it."""
        self.equal("drivekeep is installed as a package", self.machine.run("dpkg-query -W -f '${db:Status-Abbrev}' drivekeep").stdout, "ii ")
        self.match("man shows the manual page of drivekeep", self.machine.run("man -P cat drivekeep", 120).stdout, "^NAME\n +drivekeep")
        self.match("tracefs, which 'drivekeep wakes' needs, is mounted",
                   self.machine.run("findmnt -no FSTYPE /sys/kernel/tracing").stdout, "tracefs")
        for line, done in (("purge drivekeep", "Purg drivekeep"), (f"reinstall {PACKAGE}", "Inst drivekeep")):
            self.match(f"apt-get can {line}", self.machine.run(f"apt-get -qs {line}", 120, check=False).stdout, f"^{done}")

    def check_faults(self):
        off = f"hdparm -A0 {by_id('NAS-1')}"
        self.say("break NAS-1 abort")
        self.machine.run(off, check=False)
        self.equal("break: the drive rejects settings", self.nas["lookahead"], True)
        self.say("mend NAS-1")
        self.machine.run(off)
        self.equal("mend: the drive accepts settings again", self.nas["lookahead"], False)
        self.match("the error for an unknown fault lists the existing faults",
                   self.say("break NAS-1 burn"), "abort, df, ignore, hang, never")

    def check_shell(self):
        ours, theirs = os.openpty()
        thread = threading.Thread(target=talk, args=(self.play.console, theirs))
        thread.start()

        def ask():  # runs several times, because a shell that is still starting discards its input
            os.write(ours, b"echo $((6 * 7)) $(basename $(readlink -f /usr/bin/editor)) $(tty) >/run/played\r")
            return self.machine.run("cat /run/played", check=False).stdout

        self.equal("shell opens a root shell on a terminal, with an editor", self.machine.wait_until(ask, 60, 2), "42 nano /dev/hvc0\n")
        os.write(ours, ESCAPE)
        thread.join(30)
        self.claim("Ctrl-] leaves the shell", not thread.is_alive())
        os.close(ours)
        os.close(theirs)

    def check_power(self):
        cycles, boot = self.nas.power_cycles, self.machine.boot_id
        self.say("suspend")
        self.equal("suspend: the drives lose power, and the same boot continues",
                   (self.nas.power_cycles, self.machine.boot_id), (cycles + 1, boot))
        self.wait_for_values("and have their settings again", self.nas)
        for line in ("reboot", "cut"):
            boot = self.machine.boot_id
            self.say(line)
            self.claim(f"{line}: the machine boots again", self.machine.boot_id != boot)
            self.wait_for_values("and the drives have their settings again", self.nas)
