"""The machine to play in, which people start with tests/play."""
import contextlib
import io
import os
import threading

from keeping import by_id
from play import LEAVE, Play, talk
from scenario import Scenario


class Playing(Scenario):
    """tests/play: plug, pull, break, mend, suspend, reboot, cut; the shell, and the way back from it"""

    def run(self):
        self.play = Play(self.image)
        self.play.run(interact=self.check)

    def check(self, prompt):
        self.machine, self.prompt, self.nas = prompt.machine, prompt, prompt.drive("NAS-1")
        self.check_drives()
        self.check_faults()
        self.check_shell()
        self.check_power()

    def say(self, line):
        """What a command prints."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.prompt.onecmd(line)
        return out.getvalue()

    def wait_kept(self, text, *drives):
        self.machine.wait_until(lambda: all(drive["standby_seconds"] == 1200 and drive["lookahead"] for drive in drives), 90)
        self.claim(text, True)

    def check_drives(self):
        self.equal("plug: nothing is in the way of a new drive", self.say("plug NEW-1"), "")
        self.wait_kept("and has its settings", self.prompt.drive("NEW-1"))
        self.match("a drive that is there cannot be plugged in", self.say("plug NEW-1"), "NEW-1 is plugged in")
        self.say("pull NEW-1")
        self.machine.wait_until(f"! test -e {by_id('NEW-1')}", 60)
        self.claim("pull: it is gone", True)
        self.match("an unknown drive is named, with those that there are", self.say("pull NEW-2"), "no SATA drive 'NEW-2'; there are NAS-1, ")
        self.match("an unknown command, too", self.say("plugg NEW-1"), "no command 'plugg'; 'help' lists them")
        self.match("drives: what they have", self.say("drives"), r"^  NAS-1 +254 +on ")
        self.match("status: what the program says", self.say("status"), r" spindown_time +20 min ")

    def check_faults(self):
        off = f"hdparm -A0 {by_id('NAS-1')}"
        self.say("break NAS-1 abort")
        self.machine.run(off, check=False)
        self.equal("break: the drive takes no setting", self.nas["lookahead"], True)
        self.say("mend NAS-1")
        self.machine.run(off)
        self.equal("mend: it takes it again", self.nas["lookahead"], False)
        self.match("a fault that there is not is answered with those that there are", self.say("break NAS-1 burn"), "abort, df, ignore, hang, never")

    def check_shell(self):
        ours, theirs = os.openpty()
        thread = threading.Thread(target=talk, args=(self.play.console, theirs))
        thread.start()

        def ask():  # again: a shell that only begins drops what was typed before
            os.write(ours, b"echo $((6 * 7)) $EDITOR $(tty) >/run/played\r")
            return self.machine.run("cat /run/played", check=False).stdout

        self.equal("shell: one of root's, on a terminal, with an editor", self.machine.wait_until(ask, 60, 2), "42 busybox vi /dev/hvc0\n")
        os.write(ours, LEAVE)
        thread.join(30)
        self.claim("Ctrl-] leads back", not thread.is_alive())
        os.close(ours)
        os.close(theirs)

    def check_power(self):
        cycles, boot = self.nas.power_cycles, self.machine.boot_id
        self.say("suspend")
        self.equal("suspend: the drives lose their power, the machine goes on", (self.nas.power_cycles, self.machine.boot_id), (cycles + 1, boot))
        self.wait_kept("and have their settings again", self.nas)
        for line in ("reboot", "cut"):
            boot = self.machine.boot_id
            self.say(line)
            self.claim(f"{line}: it is another boot", self.machine.boot_id != boot)
            self.wait_kept("and the drives have their settings again", self.nas)
