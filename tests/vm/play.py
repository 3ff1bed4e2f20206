#!/usr/bin/env python3
"""The demonstration's machine to play in: a shell in the machine, and commands for what happens to its drives and its power."""
import cmd
import os
import pathlib
import select
import shutil
import socket
import sys
import tempfile
import termios
import tty

from demo import FILE, Demo, Progress, main
from drives.fault import KINDS
from keeping import CONF
from machine import nvme_disk

LEAVE = b"\x1d"     # Ctrl-], as in telnet
PORTS = 6
FAULTS = ("abort", "df", "ignore", "hang", "never")
FILES = {
    CONF: FILE,
    "/etc/systemd/system/serial-getty@hvc0.service.d/play.conf":
        "[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin root --noissue hvc0 linux\n",
    "/etc/motd": "This machine is for playing. Ctrl-] leads back to the commands for its drives and its power.\n"
                 "'drivekeep edit' edits the configuration.\n",
    "/etc/profile.d/play.sh": "export EDITOR='busybox vi' PAGER='busybox less'\n",
}
INTRO = """
A shell in the machine is 'shell', and Ctrl-] leads back here. 'help' lists the other commands."""


class Prompt(cmd.Cmd):
    """The commands. An exception of one is told, and the next command goes on."""
    prompt = "play> "
    doc_header = "Commands ('help NAME' tells more):"

    def __init__(self, play, machine, hba):
        super().__init__()
        self.play, self.machine, self.hba = play, machine, hba

    def onecmd(self, line):
        try:
            return super().onecmd(line)
        except Exception as error:
            print(f"That did not work: {error}")
            return False

    def emptyline(self):
        return False

    def default(self, line):
        print(f"There is no command '{line.split()[0]}'; 'help' lists them, and 'shell' leads into the machine.")

    def find(self, serial):
        return next((drive for drive in self.play.ata if drive.serial == serial), None)

    def drive(self, serial):
        found = self.find(serial)
        if not found:
            raise ValueError(f"there is no SATA drive '{serial}'; there are {', '.join(drive.serial for drive in self.play.ata)}")
        return found

    def port(self, drive):
        return next((number for number, port in enumerate(self.hba.ports) if port.drive is drive), None)

    def start(self):
        with Progress("booting"):
            self.machine.power_on()
            self.machine.wait_boot()
            self.play.settle(self.machine)

    def do_shell(self, _):
        """shell: a shell in the machine. Ctrl-] leads back."""
        talk(self.play.console)

    def do_drives(self, _):
        """drives: what the drives have now, in their own words. The program is not asked."""
        self.play.show_drives()

    def do_status(self, words):
        """status: what 'drivekeep status' says."""
        self.play.show(self.machine, f"drivekeep status {words}")

    def do_journal(self, _):
        """journal: what the service has told the journal since the machine was started."""
        self.play.show(self.machine, "journalctl -b -u drivekeep -o cat --no-pager")

    def do_plug(self, serial):
        """plug SERIAL: plug a drive in. One with a serial number that no drive has yet is new."""
        if not serial:
            raise ValueError("say which drive")
        drive = self.find(serial) or self.play.drive(serial, lookahead=False)
        if self.port(drive) is not None:
            raise ValueError(f"{serial} is plugged in")
        port = self.port(None)
        if port is None:
            raise ValueError("all ports are in use; 'pull' one first")
        if drive not in self.play.ata:
            self.play.ata.append(drive)
        self.hba.attach(port, drive)

    def do_pull(self, serial):
        """pull SERIAL: pull a drive out. The kernel looks for it for ten seconds before it gives it up."""
        port = self.port(self.drive(serial))
        if port is None:
            raise ValueError(f"{serial} is not plugged in")
        self.hba.detach(port)

    def do_break(self, words):
        serial, kind = (*words.split(), "", "")[:2]
        if kind not in FAULTS:
            raise ValueError(f"say which drive, and one of {', '.join(FAULTS)}")
        self.drive(serial).inject(kind, command=0xEF, origin="passthrough", times=None, seconds=5)

    def help_break(self):
        print("break SERIAL FAULT: from now on each SET FEATURES that a program sends to this drive")
        for kind in FAULTS:
            print(f"  {kind:8} {KINDS[kind].replace('`seconds`', 'five seconds')}")

    def do_mend(self, serial):
        """mend SERIAL: end what 'break' has begun."""
        self.drive(serial).faults.clear()

    def do_suspend(self, _):
        """suspend: suspend the machine, take the power from its drives, and wake it up."""
        with Progress("suspend, resume"):
            self.machine.suspend(while_asleep=self.hba.power_cycle)

    def do_reboot(self, _):
        """reboot: shut the machine down, take the power from its drives, and start it."""
        with Progress("shutting down"):
            self.machine.power_off()
        self.hba.power_cycle()
        self.start()

    def do_cut(self, _):
        """cut: cut the power of machine and drives, and start it again."""
        self.machine.power_cut()
        self.hba.power_cycle()
        self.start()

    def do_quit(self, _):
        """quit: switch the machine off. Nothing of it is kept."""
        return True

    do_EOF = do_quit


def talk(console, terminal=0):
    """Connect the terminal (a file descriptor) with the machine's, until Ctrl-] or the machine goes off."""
    with socket.socket(socket.AF_UNIX) as there:
        there.connect(str(console))
        before = termios.tcgetattr(terminal)
        tty.setraw(terminal)
        try:
            there.sendall(b"\r")    # for a new prompt
            while True:
                ready, _, _ = select.select([terminal, there], [], [])
                if there in ready:
                    data = there.recv(65536)
                    if not data:
                        return
                    os.write(terminal, data)
                if terminal in ready:
                    data = os.read(terminal, 65536)
                    there.sendall(data.partition(LEAVE)[0])
                    if not data or LEAVE in data:
                        return
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            print()


class Play(Demo):
    def run(self, interact=Prompt.cmdloop):
        self.ata = self.new_drives()
        directory = pathlib.Path(tempfile.mkdtemp(prefix="dkp-", dir="/tmp"))
        self.console = directory / "console"
        try:
            with self.drives(*self.ata, *[None] * (PORTS - len(self.ata))) as (hba, arguments), \
                 self.machine(disks=[nvme_disk("FAST-1")], files=FILES, suspends=True,
                              setup="systemctl enable drivekeep.service serial-getty@hvc0.service; systemctl unmask sys-kernel-tracing.mount",
                              extra_args=[*arguments, "-chardev", f"socket,id=play,path={self.console},server=on,wait=off",
                                          "-device", "virtconsole,chardev=play"]) as machine:
                with Progress("drivekeep is at work"):
                    self.settle(machine)
                self.show(machine, "drivekeep status")
                print(INTRO)
                interact(Prompt(self, machine, hba))
        finally:
            shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main(Play, "Start the demonstration's machine to play in."))
