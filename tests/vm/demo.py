#!/usr/bin/env python3
"""A demonstration of drivekeep: a configuration file, the values of the drives after a boot, and the same values after a power cycle."""
import argparse
import pathlib
import sys
import threading
import time

import image
from keeping import CONF, Keeping, by_id
from machine import nvme_disk

# Checked by tests/unit/test-examples.c.
FILE = (pathlib.Path(__file__).parent / "demo.conf").read_text()


class Progress:
    """Prints a line with the duration of a step in seconds."""

    def __init__(self, text):
        self.text = text
        self._done = threading.Event()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._count, daemon=True)

    def _show(self, end):
        print(f"\r  … {self.text} ({time.monotonic() - self._started:.0f} s)", end=end, flush=True)

    def _count(self):
        while sys.stdout.isatty() and not self._done.wait(1):
            self._show("")

    def __enter__(self):
        self._show("")
        self._thread.start()

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()
        self._show("\n")


class Demo(Keeping):
    def title(self, text):
        print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)

    def show(self, machine, command):
        print(f"  # {command}", flush=True)
        result = machine.run(command, check=False)
        for line in (result.stdout + result.stderr).splitlines():
            print(f"  {line}", flush=True)

    def show_drives(self, *others):
        print(f"  {'drive':8} {'APM':>5} {'look-ahead':>11} {'write cache':>12} {'acoustic':>9} {'timer (s)':>10} {'power':>8}")
        for drive in (*self.ata, *others):
            s = drive.state()
            print(f"  {drive.serial:8} {s['apm']:>5} {'on' if s['lookahead'] else 'off':>11} "
                  f"{'on' if s['write_cache'] else 'off':>12} {s.get('acoustic', '-'):>9} {s['standby_seconds'] or 'off':>10} "
                  f"{s['mode']:>8}", flush=True)

    def new_drives(self):
        return [self.drive("NAS-1", lookahead=False), self.drive("NAS-2", lookahead=False),
                self.drive("OLD-1", lookahead=False, acoustic=254, erc=None)]

    def run(self):
        self.ata = self.new_drives()
        self.title("The configuration file")
        print("".join(f"  {line}\n" for line in FILE.splitlines()), end="")
        self.title("New drives: the power-on values of the drive models")
        self.show_drives()

        with self.drives(*self.ata, None) as (hba, arguments), \
             self.machine(cold=True, disks=[nvme_disk("FAST-1")], files={CONF: FILE}, extra_args=arguments, suspends=True,
                          setup="systemctl enable drivekeep.service") as machine:
            self.title("A virtual machine with these drives has booted; drivekeep.service is enabled")
            with Progress("drivekeep applies the settings"):
                self.settle(machine)
            self.show(machine, "systemctl status drivekeep.service --no-pager -n 0")
            self.title("The verdict on each setting")
            self.show(machine, "drivekeep status")
            self.title("The journal of the service")
            self.show(machine, "journalctl -b -u drivekeep -o cat --no-pager")
            self.title("The values as other programs read them")
            self.show(machine, f"hdparm -B -A -W {by_id('NAS-1')}")
            self.show(machine, f"smartctl -l scterc {by_id('NAS-1')} | tail -n +4")
            self.show(machine, "nvme get-feature /dev/nvme0 --feature-id=6")
            self.title("A drive is plugged in")
            new = self.drive("NEW-1", lookahead=False)
            self.ata.append(new)
            hba.attach(len(self.ata) - 1, new)
            with Progress("udev, then drivekeep"):
                machine.wait_until(lambda: new["standby_seconds"] == 1200, 90)
            self.show(machine, "journalctl -b -u drivekeep -o cat --no-pager DRIVEKEEP_SERIAL=NEW-1")
            self.title("During suspend the drives lose power")
            with Progress("suspend, resume"):
                machine.suspend(while_asleep=lambda: (hba.power_cycle(), self.show_drives()))
                machine.wait_until(lambda: all(d["standby_seconds"] == 1200 for d in self.ata), 90)
            self.settle(machine)
            self.title("After resume the drives have all values again")
            self.show_drives()

            self.title("After a power cycle the drives have lost all values")
            with Progress("shutting down"):
                machine.power_off()
            hba.power_cycle()
            self.show_drives()
            self.title("After the boot the drives have all values again")
            with Progress("booting"):
                machine.power_on()
                machine.wait_boot()
                self.settle(machine)
            self.show_drives()
            self.show(machine, "drivekeep status")
            kept = [(d["apm"], d["lookahead"], d["standby_seconds"]) for d in self.ata]
            self.equal("all values are set after the boot", kept, [(254, True, 1200), (254, True, 1200), (128, True, 1200), (254, True, 1200)])


def main(scenario, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--machines", metavar="DIR", type=pathlib.Path, required=True,
                        help="directory of the machine's parts from build_machine in tests/setup.sh")
    parser.add_argument("--suite", choices=image.SUITES, default=image.USUAL_SUITE,
                        help=f"suite of Debian in the machine (default: {image.USUAL_SUITE})")
    options = parser.parse_args()
    try:
        running = scenario(image.build_machine(options.machines, options.suite, log=lambda text: print(text, flush=True),
                                               packages=scenario.packages))
        running.execute()
    except KeyboardInterrupt:
        return 130
    return 1 if running.failed else 0


if __name__ == "__main__":
    sys.exit(main(Demo, "Demonstrate drivekeep in a virtual machine."))
