#!/usr/bin/env python3
"""An interactive virtual machine with the demonstration's drives: a shell, and commands that change its drives and its power."""
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
from drives.mechanics import Mechanics
from keeping import CONF, FLEET_PACKAGES
from machine import nvme_disk

ESCAPE = b"\x1d"     # Ctrl-], as in telnet
PORTS = 6
# The size of each drive, in bytes. It is enough for bench and tune. The images are sparse.
SIZE = 64 << 30
FAULTS = ("abort", "df", "ignore", "hang", "never")
SUPPLIES = {"mains": (1, 0), "battery": (0, 1)}
PACKAGE = "/srv/drivekeep.deb"
TO_COPY = "/root/drivekeep.conf"
FILES = {
    TO_COPY: FILE,
    "/etc/systemd/system/serial-getty@hvc0.service.d/play.conf":
        "[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin root --noissue hvc0 linux\n",
    "/etc/motd": "This is a test machine. Ctrl-] returns to the commands for its drives and its power.\n"
                 "'drivekeep edit' edits the configuration, 'man drivekeep' is the manual.\n",
}
# The image already contains the files of the packages. dpkg installs the packages over these files, so that apt can remove the packages.
SETUP = f"""rm -f /etc/dpkg/dpkg.cfg.d/99mmdebstrap
ln /usr/lib/drivekeep-test/packages/now.deb {PACKAGE}
dpkg -i --force-confold {PACKAGE} /usr/lib/drivekeep-test/packages/tune.deb
mv {TO_COPY} {CONF}
systemctl enable drivekeep.service serial-getty@hvc0.service
systemctl unmask sys-kernel-tracing.mount
systemctl mask prometheus.service prometheus-node-exporter.service ssh.service exim4.service man-db.timer exim4-base.timer
"""
INTRO = """
'shell' opens a shell in the machine, and Ctrl-] returns here. 'help' lists the commands, and things to try."""
# Commands to type, and the effect of each.
THINGS = {
    "Things to try in the shell:": (
        ("man drivekeep", "the manual; also 'man drivekeep.conf' and 'drivekeep help'"),
        ("drivekeep list; drivekeep show sda", "the drives; the supported settings and present values of one"),
        ("drivekeep status; drivekeep explain sda", "the verdict on each setting, and the rule that sets it"),
        ("drivekeep edit", "change the configuration; try it without a brace, a quote or a semicolon"),
        ("drivekeep check; drivekeep plan", "errors in the configuration; what would be written"),
        ("drivekeep try sda apm=100", "set a value until the next boot; 'try --undo' ends this, 'try --keep sda' keeps the value"),
        ("hdparm -B 100 /dev/sda", "another program changes a setting; see 'drivekeep status --now'"),
        ("drivekeep standby sda; head -c 1M /dev/sda >/dev/null", "spin a drive down and wake it; see 'drivekeep wakes'"),
        ("drivekeep bench sda --budget=1min", "measure a drive; repeat this, then 'drivekeep bench --compare'"),
        ("drivekeep tune sdb read_ahead_kb", "find the best value, in some minutes; also 'tune sda lookahead'"),
        ("drivekeep show nvme0n1; drivekeep show sr0", "an NVMe drive and an optical drive"),
        ("drivekeep import -c 'hdparm -S 120 /dev/sda'", "convert another program's command; files work, too"),
        ("systemctl disable --now drivekeep", "stop the service; then 'apt remove drivekeep', 'apt purge drivekeep'"),
        (f"apt install {PACKAGE}", "install it again"),
    ),
    "Things to try here:": (
        ("plug NEW-1, pull NEW-1", "a new SATA drive"),
        ("plug DOCK-1, plug DOCK-2", "USB docks, for blocks with 'transport = \"usb\"'; DOCK-2 passes no ATA commands"),
        ("break NAS-1 abort, mend NAS-1", "a drive rejects settings, then works again; see 'drivekeep apply sda'"),
        ("suspend, reboot, cut", "the drives lose their values, and get them again"),
        ("power battery, power mains", "with 'on_battery = { apm = 128; };' in a block"),
    ),
}


class Prompt(cmd.Cmd):
    """The prompt. Exceptions of a command are printed, and the prompt continues."""
    prompt = "play> "

    def __init__(self, play, machine, hba):
        super().__init__()
        self.play, self.machine, self.hba = play, machine, hba
        self.supply = None

    def onecmd(self, line):
        try:
            return super().onecmd(line)
        except Exception as error:
            print(f"Error: {error}")
            return False

    def emptyline(self):
        return False

    def default(self, line):
        print(f"There is no command '{line.split()[0]}'; 'help' lists all commands, and 'shell' opens a shell in the machine.")

    def find(self, serial):
        return next((drive for drive in self.play.ata if drive.serial == serial), None)

    def drive(self, serial):
        found = self.find(serial)
        if not found:
            raise ValueError(f"there is no SATA drive '{serial}'; there are {', '.join(drive.serial for drive in self.play.ata)}")
        return found

    def port(self, drive):
        return next((number for number, port in enumerate(self.hba.ports) if port.drive is drive), None)

    def dock(self, serial):
        return next((dock for dock in self.play.docks if dock.bridge.serial == serial), None)

    def start(self):
        with Progress("booting"):
            self.machine.power_on()
            self.machine.wait_boot()
            self.switch_supply()
            self.play.settle(self.machine)

    def switch_supply(self):
        if self.supply:
            online, discharging = SUPPLIES[self.supply]
            self.machine.run("modprobe supply; cd /sys/module/supply/parameters; "
                             f"echo {online} >online; echo {discharging} >discharging")

    def do_help(self, command):
        """help [COMMAND]: show this list, or the help of one command."""
        if command:
            super().do_help(command)
            return
        print("Commands:")
        for name in sorted(self.get_names()):
            if name.startswith("do_") and name != "do_EOF":
                usage, _, text = getattr(self, name).__doc__.partition(": ")
                print(f"  {usage:20} {text}")
        for title, things in THINGS.items():
            print(f"\n{title}")
            width = max(len(what) for what, _ in things)
            for what, shows in things:
                print(f"  {what:{width}}  {shows}")

    def do_shell(self, _):
        """shell: open a shell in the machine. Ctrl-] returns here."""
        size = shutil.get_terminal_size()
        self.machine.run(f"stty -F /dev/hvc0 rows {size.lines} cols {size.columns}")
        talk(self.play.console)

    def do_drives(self, _):
        """drives: show the present values of the drive models, without drivekeep."""
        self.play.show_drives(*(dock.drive for dock in self.play.docks if dock.plugged))

    def do_status(self, words):
        """status: run 'drivekeep status'."""
        self.play.show(self.machine, f"drivekeep status {words}")

    def do_journal(self, _):
        """journal: show the journal of the service since the boot."""
        self.play.show(self.machine, "journalctl -b -u drivekeep -o cat --no-pager")

    def do_plug(self, serial):
        """plug SERIAL: plug in a drive or a dock. A new serial number makes a new SATA drive."""
        if not serial:
            raise ValueError("name a drive")
        dock = self.dock(serial)
        if dock:
            if dock.plugged:
                raise ValueError(f"{serial} is already plugged in")
            dock.plug()
            return
        drive = self.find(serial) or self.play.drive(serial, lookahead=False)
        if self.port(drive) is not None:
            raise ValueError(f"{serial} is already plugged in")
        port = self.port(None)
        if port is None:
            raise ValueError("all ports are in use; 'pull' one first")
        if drive not in self.play.ata:
            self.play.ata.append(drive)
        self.hba.attach(port, drive)

    def do_pull(self, serial):
        """pull SERIAL: pull out a drive or a dock. The kernel removes a SATA drive after ten seconds."""
        dock = self.dock(serial)
        port = None if dock else self.port(self.drive(serial))
        if port is None and not (dock and dock.plugged):
            raise ValueError(f"{serial} is not plugged in")
        if dock:
            dock.unplug()
        else:
            self.hba.detach(port)

    def do_power(self, supply):
        """power battery|mains: run the machine on battery or on mains power. The first use adds a battery."""
        if supply not in SUPPLIES:
            raise ValueError(f"name one of {', '.join(SUPPLIES)}")
        self.supply = supply
        self.switch_supply()

    def do_break(self, words):
        """break SERIAL FAULT: make a SATA drive fail; 'help break' lists the faults."""
        serial, kind = (*words.split(), "", "")[:2]
        if kind not in FAULTS:
            raise ValueError(f"name a drive, and one of {', '.join(FAULTS)}")
        self.drive(serial).inject(kind, command=0xEF, origin="passthrough", times=None, seconds=5)

    def help_break(self):
        print("break SERIAL FAULT: from now on, each SET FEATURES command of a program to this drive")
        for kind in FAULTS:
            print(f"  {kind:8} {KINDS[kind].replace('`seconds`', 'five seconds')}")

    def do_mend(self, serial):
        """mend SERIAL: end the fault of 'break'."""
        self.drive(serial).faults.clear()

    def do_suspend(self, _):
        """suspend: suspend the machine, power-cycle its drives, and resume."""
        with Progress("suspend, resume"):
            self.machine.suspend(while_asleep=self.hba.power_cycle)

    def do_reboot(self, _):
        """reboot: shut the machine down, power-cycle its drives, and boot."""
        with Progress("shutting down"):
            self.machine.power_off()
        self.hba.power_cycle()
        self.start()

    def do_cut(self, _):
        """cut: cut the power of the machine and its drives, and boot."""
        self.machine.power_cut()
        self.hba.power_cycle()
        self.start()

    def do_quit(self, _):
        """quit: switch the machine off, and discard all its data."""
        return True

    do_EOF = do_quit


def talk(console, terminal=0):
    """Connects the terminal (a file descriptor) to the machine's console, until Ctrl-] or the machine goes off."""
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
                    there.sendall(data.partition(ESCAPE)[0])
                    if not data or ESCAPE in data:
                        return
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            print()


class Play(Demo):
    packages = FLEET_PACKAGES

    def drive(self, serial, mechanics=None, **features):
        return super().drive(serial, size_mb=SIZE >> 20, mechanics=mechanics or Mechanics(), **features)

    def new_drives(self):
        """The drives of the demonstration. NAS-2 is slow at reads of less than 512 KiB, and OLD-1 unloads its heads."""
        return [self.drive("NAS-1", lookahead=False), self.drive("NAS-2", lookahead=False, mechanics=Mechanics(enough=512 << 10)),
                self.drive("OLD-1", lookahead=False, acoustic=254, erc=None, apm_timers=((127, 4.5, "idle_b"), (128, 60, "idle_b")),
                           wake_seconds={"idle_b": 1.2})]

    def run(self, interact=Prompt.cmdloop):
        self.ata = self.new_drives()
        docks = [(self.drive("USB-1"), {"serial": "DOCK-1", "plugged": False}),
                 (self.drive("USB-2"), {"serial": "DOCK-2", "plugged": False, "passthrough": ()})]
        directory = pathlib.Path(tempfile.mkdtemp(prefix="dkp-", dir="/tmp"))
        self.console = directory / "console"
        try:
            disc = directory / "disc"
            disc.write_bytes(bytes(1 << 20))
            with self.drives(*self.ata, *[None] * (PORTS - len(self.ata)), usb=docks) as (hba, arguments), \
                 self.machine(cold=True, disks=[nvme_disk("FAST-1", SIZE)], files=FILES, suspends=True, setup=SETUP,
                              extra_args=[*arguments,
                                          "-blockdev", f"driver=raw,node-name=disc,read-only=on,file.driver=file,file.filename={disc}",
                                          "-device", "ahci,id=ahci0", "-device", "ide-cd,bus=ahci0.0,drive=disc,serial=DISC-1",
                                          "-chardev", f"socket,id=play,path={self.console},server=on,wait=off",
                                          "-device", "virtconsole,chardev=play"]) as machine:
                with Progress("drivekeep applies the settings"):
                    self.settle(machine)
                self.show(machine, "drivekeep status")
                print(INTRO)
                interact(Prompt(self, machine, hba))
        finally:
            shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main(Play, "Start an interactive machine with the demonstration's drives."))
