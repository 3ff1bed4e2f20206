"""A machine with drive models, and its instruments: the drives' command logs and the guest's resource accounting."""
import contextlib
import dataclasses
import pathlib
import shutil
import tempfile
import time

import contenders
from drives.hba import MOST_PORTS, Hba
from drives.model import AtaDrive
from keeping import MODEL, by_id
from machine import EMULATION, MACHINE, Machine

HERE = pathlib.Path(__file__).resolve().parent
QUIET = 3.0         # all programs count as finished after this many seconds without a command
SETTING_MODES = 0x03    # SET FEATURES - transfer mode, sent only by the kernel

# udevd kills a rule's program after three minutes. Debian's scripts take longer for 24 drives under emulation, but not on a real
# machine, so the timeout is raised.
KERNEL = "udev.event_timeout=3600"

# The guest's clock advances one nanosecond per instruction, and follows the host's clock only while the guest is idle. So the guest's
# CPU times are counts of instructions, independent of the host's load.
COUNTING = f"{MACHINE} {EMULATION.replace('thread=multi', 'thread=single')} -icount shift=0,sleep=on"


def log(text):
    print(f"  .. {text}", flush=True)


def new_drive(serial):
    return AtaDrive(model=MODEL, serial=serial, size_mb=8, **contenders.POWER_ON)


@dataclasses.dataclass
class Drives:
    """The drives of a machine. `hot` is plugged in later, and has a controller of its own."""
    present: list
    hot: object = None
    hot_hba: object = None

    def power_cycle(self):
        for drive in self.present:
            drive.power_cycle()

    def marks(self, drives=None):
        return {drive: drive.log.mark() for drive in (drives if drives is not None else self.present)}


@contextlib.contextmanager
def machine(image, number, floor, memory=1024, append="", start=""):
    """Boots a machine with `number` drives and no active contender. Yields (machine, Drives)."""
    serials = [f"SN-{i:03}" for i in range(number)]
    directory = pathlib.Path(tempfile.mkdtemp(prefix="dkb-", dir="/tmp"))
    files = contenders.files(serials, (HERE / "snapshot.pl").read_text(), floor.read_bytes())
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        drives, arguments = Drives([new_drive(serial) for serial in serials]), []
        for first in range(0, number, MOST_PORTS):
            some = drives.present[first:first + MOST_PORTS]
            hba = stack.enter_context(Hba(directory / f"hba{first}", ports=len(some), name=f"hba{first}"))
            for port, drive in enumerate(some):
                hba.attach(port, drive)
            arguments += hba.qemu_args()
        drives.hot = new_drive(contenders.HOT)
        drives.hot_hba = stack.enter_context(Hba(directory / "hot", ports=1, name="hot"))
        drives.hot_hba.attach(0, drives.hot)
        guest = stack.enter_context(Machine(image, files=files, setup=contenders.setup() + start, extra_args=arguments,
                                            append=f"{KERNEL} {append}", memory=memory, machine=COUNTING, suspends=True))
        guest.wait_boot(1800)
        guest.wait_running(1800)
        guest.run("udevadm settle -t 1800", 1800)
        wait_quiet(drives.present)
        wait_systemd(guest)
        yield guest, drives


# ---- Drives' logs ----

def wait_quiet(drives, seconds=QUIET):
    """Waits until no drive has got a command for some seconds."""
    while True:
        newest = max((drive.log.last() or 0 for drive in drives), default=0)
        rest = newest + seconds - time.monotonic()
        if rest <= 0:
            return
        time.sleep(min(rest, 0.5))


def userland(drive, mark):
    """Returns the pass-through commands of programs, without those of udev's ata_id."""
    return [e for e in drive.log.since(mark, origin="passthrough") if e.comm != "ata_id"]


def count(marks):
    """Counts the commands to all drives: commands by which programs set or read, commands of udev, and commands of the kernel."""
    found = {"set": 0, "read": 0, "udev": 0, "kernel": 0}
    for drive, mark in marks.items():
        for e in drive.log.since(mark):
            if e.command is None:
                continue
            if e.origin == "kernel":
                found["kernel"] += 1
            elif e.comm == "ata_id":
                found["udev"] += 1
            else:
                found["set" if e.sets else "read"] += 1
    return found


def last_setting(marks):
    """Returns the time of the answer to the last setting command of a program; None without such a command."""
    times = [e.time + (e.seconds or 0) for drive, mark in marks.items() for e in userland(drive, mark) if e.sets]
    return max(times, default=None)


def as_wanted(drive, settings):
    state = drive.state()
    return all(state[name] == contenders.WANTED[name] for name in settings)


# ---- Guest's resource accounting ----

def wait_systemd(guest):
    """Waits until PID 1 has handled all udev events. With hundreds of drives PID 1 is busy long after udev has finished."""
    before, now = None, snapshot(guest)["group.pid1"]
    while now != before:
        time.sleep(QUIET)
        before, now = now, snapshot(guest)["group.pid1"]


def snapshot(guest, *processes):
    text = guest.run(f"{contenders.BENCH}/snapshot {' '.join(processes)}", 600).stdout
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def difference(before, after):
    return {name: after[name] - before.get(name, 0) for name in after}


def third_word(guest, serials, settings):
    """Returns the serials of the drives with all wanted settings according to sg_sat_identify, which no contender uses.

    The standby timer cannot be read from a drive; as_wanted() checks it in the drive model.
    """
    script = " ".join(f"echo {s} $(sg_sat_identify --raw {by_id(s)} | od -An -v -tx2);" for s in serials)
    told = [line.split() for line in guest.run(script, 1200, check=False).stdout.splitlines()]
    return {serial for serial, *words in told if identify_as_wanted([int(word, 16) for word in words], settings)}


def identify_as_wanted(words, settings):
    if len(words) != 256:
        return False
    told = {"apm": bool(words[86] & 1 << 3) and words[91] & 0xff == contenders.APM,
            "write_cache": not words[85] & 1 << 5, "lookahead": bool(words[85] & 1 << 6)}
    return all(told[name] for name in settings if name in told)


@dataclasses.dataclass
class Figure:
    """The costs of one run of one contender, from its start until it has finished with the drives."""
    drives: int
    right: int              # drives with all settings that the contender supports, according to sg_sat_identify and the drive model
    commands: dict
    seconds: float          # from the start to the answer to the last setting command; None if no such command was sent
    processes: int
    cpu: dict               # CPU time in µs: "all" processes involved, "pid1", each service by its name, the whole "machine"
    since: float            # time of the start, by the host's clock
    others: dict = None     # for hotplug: commands to the drives that were plugged in before
    others_seconds: float = None    # with a slow drive: seconds until all drives but the slow one had their last setting

    @property
    def counts(self):
        return self.right == self.drives


def measure(guest, drives, contender, act):
    """Calls `act`, waits until the contender has finished with the drives, and returns the costs."""
    before = snapshot(guest)
    marks = {drive: drive.log.mark() for drive in drives}
    started = time.monotonic()
    since = act() or started
    wait_wanted(marks, contender, started)
    rest(guest, marks)
    after = snapshot(guest)
    commands, last = count(marks), last_setting(marks)
    told = third_word(guest, [drive.serial for drive in marks], contender.settings)
    right = sum(drive.serial in told and as_wanted(drive, contender.settings) for drive in marks)
    spent = difference(before, after)
    return Figure(len(marks), right, commands, last - since if last else None, spent["processes"],
                  {name.removeprefix("group."): value for name, value in spent.items()
                   if name.startswith("group.") or name == "machine"}, since)


def wait_wanted(drives, contender, started):
    """Waits until the contender has made all settings that it supports, or is given up."""
    while not all(as_wanted(drive, contender.settings) for drive in drives) and not hopeless(drives, started):
        time.sleep(0.2)


def hopeless(marks, started):
    """Returns true if the contender has sent no command for a long time or takes too long."""
    now = time.monotonic()
    newest = max([drive.log.last() or 0 for drive in marks] + [started])
    return now - newest > contenders.SILENCE or now - started > contenders.TIMEOUT


def rest(guest, marks):
    """Waits until udev is idle and the drives have got no command for some seconds."""
    while True:
        wait_quiet(marks)
        guest.run("udevadm settle -t 3600", 3700)
        if time.monotonic() - max([drive.log.last() or 0 for drive in marks]) >= QUIET:
            return


@contextlib.contextmanager
def at_work(guest, drives, contender):
    """Lets the contender configure all drives and keeps it active for later events."""
    guest.run(contender.on())
    drives.power_cycle()
    try:
        # A contender without a service runs when an event matches its rule.
        if contender.unit:
            started = time.monotonic()
            guest.run(f"systemctl start {contender.unit}", contenders.TIMEOUT, check=False)
            wait_wanted(drives.present, contender, started)
        rest(guest, drives.present)
        yield
    finally:
        guest.run(contender.off(), 600, check=False)
        rest(guest, drives.present)


def tell(case, contender, turn, figure, more=""):
    commands = figure.commands
    log(f"{case}, {contender.name}, run {turn + 1}: {figure.right} of {figure.drives} right, {commands['set']} set, "
        f"{commands['read']} read, {figure.processes} processes, {figure.cpu['all'] / 1e6:.2f} s CPU, "
        f"{figure.seconds or 0:.1f} s{more}")
