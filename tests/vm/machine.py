"""A virtual machine under software emulation: start it, ask it things, take its power away.

QEMU dies with the `with` block, and with this process or thread if that is killed first.
"""
import collections
import concurrent.futures
import ctypes
import dataclasses
import functools
import json
import mmap
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import tempfile
import threading
import time

from agent import Agent, connect
from image import cpio_archive
from patience import PATIENCE

# q35 suspends only once (its power management registers are lost over S3).  One processor: with two, which spin while the host runs
# neither or one of them, a scenario was an eighth more work.
MACHINE = "-machine pc -smp 1 -nodefaults -display none -no-user-config"
# The processors of a host that can lend them.
KVM = "-accel kvm -cpu host"
# An old processor's instructions are the quickest to emulate, a fifth less work than those of "max"; without RDRAND the guest waits
# seconds for its random numbers, and without MONITOR it idles by HLT, which costs the host nothing.  After CMPXCHG16B (cx16), which the kernel's allocator uses, QEMU 7.2 now and then loses the flags: a
# kernel died of a double fault with a pointer in EFLAGS.
# What QEMU has translated once is kept, for which tb-size is the room in MB.
EMULATION = "-accel tcg,thread=multi,tb-size=512 -cpu Nehalem,+rdrand,-monitor,-cx16"
# Without no_timer_check the kernel counts, at boot, whether the timer interrupts often enough in real time, and panics ("IO-APIC +
# timer doesn't work") where the host is busy. The next three keep it from complaining that it was kept from running: each of its messages
# wakes the daemon. No other clock of an emulated machine is better than its TSC, and a busy host makes the kernel doubt that. A
# console that is suspended has the guest wait for five seconds at each resume. A kernel that panics starts anew at once, rather than
# to be waited for. Without norandmaps each process has its libraries at other addresses, for which QEMU translates them again: a
# command is then twice as much work. The rest is work that no test needs.
KERNEL_ARGUMENTS = ("root=/dev/vda ro console=ttyS0 quiet 8250.nr_uarts=1 no_timer_check "
                    "nowatchdog rcupdate.rcu_cpu_stall_suppress=1 workqueue.watchdog_thresh=0 "
                    "tsc=reliable no_console_suspend panic=-1 mitigations=off norandmaps rodata=off cryptomgr.notests "
                    "cgroup.memory=nokmem,nosocket initcall_blacklist=jent_mod_init,load_system_certificate_list")

# The first line of a command in Perl, which the agent runs itself: what it has for that is in agent.pl.
PERL = "#!perl\n"
# 74 is fsync().
PUSH = PERL + """
my $name = {name!r};
mkdir $` while $name =~ m{{(?<=.)/}}g;
put($name, slurp('/dev/stdin'));
chmod 0{mode:o}, $name or die "$name: $!";
open my $file, '<', $name;
syscall(74, fileno $file) == 0 or die "$name: $!";
"""


@functools.cache
def accelerator(kernel):
    """KVM where a kernel says its first word with it, which takes a fraction of a second. A host may have /dev/kvm and no such processor."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return EMULATION
    command = ["qemu-system-x86_64", *MACHINE.split(), *KVM.split(), "-no-reboot", "-m", "256", "-kernel", kernel,
               "-append", "earlyprintk=ttyS0 console=ttyS0 panic=-1", "-serial", "stdio"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        given_up = threading.Timer(5, process.kill)
        given_up.start()
        works = any(b"Linux version" in line for line in process.stdout)
        given_up.cancel()
        process.kill()
    return KVM if works else EMULATION


@functools.cache
def host_tsc_khz():
    """The frequency of the host's time stamp counter, which is also that of an emulated machine; nothing if the host is of another kind.
    The routine is RDTSC; SHL RDX, 32; OR RAX, RDX; RET."""
    if platform.machine() != "x86_64":
        return None
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as code:
        code.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))
        routine = ctypes.c_char.from_buffer(code)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(routine))

        def clocks():
            """Both at the same time: of some pairs the one whose reading took the least."""
            pairs = [(time.monotonic_ns(), read(), time.monotonic_ns()) for _ in range(20)]
            before, ticks, _ = min(pairs, key=lambda pair: pair[2] - pair[0])
            return before, ticks

        (before, first), _, (after, last) = clocks(), time.sleep(0.1), clocks()
        del routine, read   # or the memory cannot be given back
    return round((last - first) / (after - before) * 1e6)


def clock_arguments(kernel):
    """The kernel's own measurement of an emulated counter at boot is wrong where the host is busy: in one boot of nine beside two others the
    clock ran six to thirty times too fast."""
    return f" tsc_early_khz={host_tsc_khz()}" if host_tsc_khz() and accelerator(kernel) == EMULATION else ""


@dataclasses.dataclass(frozen=True)
class Disk:
    """One of QEMU's own drives; its serial number is also the device's name in QEMU."""
    serial: str
    driver: str
    size: int
    properties: tuple = ()

    @property
    def node(self):
        return f"{self.serial}-file"

    def device(self):
        return {"driver": self.driver, "id": self.serial, "drive": self.node, "serial": self.serial, **dict(self.properties)}


def ahci_disk(serial, size=64 << 20, **properties):
    """SATA on AHCI; cannot be hotplugged."""
    return Disk(serial, "ide-hd", size, tuple(properties.items()))


def nvme_disk(serial, size=64 << 20, **properties):
    return Disk(serial, "nvme", size, tuple(properties.items()))


def scsi_disk(serial, size=64 << 20, **properties):
    """On virtio-scsi."""
    return Disk(serial, "scsi-hd", size, tuple({"bus": "scsi0.0", **properties}.items()))


def usb_disk(serial, size=64 << 20, **properties):
    return Disk(serial, "usb-storage", size, tuple({"bus": "xhci0.0", **properties}.items()))


def virtio_disk(serial, size=64 << 20, **properties):
    return Disk(serial, "virtio-blk-pci", size, tuple(properties.items()))


@dataclasses.dataclass(frozen=True)
class Link:
    """A symbolic link, as a value in Machine's files."""
    target: str


class CommandFailed(Exception):
    def __init__(self, command, result):
        super().__init__(f"`{command}` exited with {result.status}\n{result.stdout}{result.stderr}".rstrip())
        self.result = result


class MachineDied(Exception):
    pass


class QmpError(Exception):
    pass


class Qmp:
    """QEMU's control socket: one command at a time, and events kept until someone waits for them."""

    def __init__(self, path, alive):
        self._socket = connect(path, alive)
        self._changed = threading.Condition()
        self._replies = collections.deque()
        self._events = []
        self._closed = False
        threading.Thread(target=self._read, daemon=True).start()
        self.execute("qmp_capabilities")

    def execute(self, command, **arguments):
        with self._changed:
            self._replies.clear()
            self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
            self._changed.wait_for(lambda: self._replies or self._closed, timeout=60)
            if not self._replies:
                raise QmpError(f"{command}: QEMU does not answer")
            reply = self._replies.popleft()
        if "error" in reply:
            raise QmpError(f"{command}: {reply['error']['desc']}")
        return reply["return"]

    def wait_event(self, name, timeout, **data):
        """The first event of this name, with these values in its data, that nobody has waited for yet."""
        def found():
            for event in self._events:
                if event["event"] == name and data.items() <= event.get("data", {}).items():
                    return event
            return None

        with self._changed:
            self._changed.wait_for(lambda: found() or self._closed, timeout * PATIENCE)
            event = found()
            if not event:
                raise TimeoutError(f"no {name} event from QEMU within {timeout * PATIENCE} s")
            self._events.remove(event)
            return event

    def forget_events(self):
        with self._changed:
            self._events.clear()

    def close(self):
        self._socket.close()

    def _read(self):
        try:
            for line in self._socket.makefile("rb"):
                message = json.loads(line)
                with self._changed:
                    if "event" in message:
                        self._events.append(message)
                    elif "QMP" not in message:
                        self._replies.append(message)
                    self._changed.notify_all()
        except (OSError, ValueError):
            pass    # QEMU is gone
        with self._changed:
            self._closed = True
            self._changed.notify_all()


class Machine:
    """disks are there from the start.  files (path to text, (text, mode) or Link) and setup (a shell script that runs in
    the guest's root before systemd does, for things like `systemctl enable`) take effect at the first start. One that is to suspend
    has to say so."""

    def __init__(self, image, *, disks=(), files=None, setup="", append="", extra_args=(), memory=1024, console=None,
                 machine=None, suspends=False):
        self.image = image
        # The unpacked kernel starts sooner, but QEMU writes it into the memory again at each reset, and waking up is one.
        self._kernel = image.kernel if suspends else image.vmlinux
        self.append = append            # like the next two, to be changed while the power is off
        self.extra_args = list(extra_args)
        self.disks = list(disks)
        self._files = files or {}
        self._setup = setup
        self._memory = memory
        self._machine = machine or f"{MACHINE} {accelerator(image.kernel)}"
        # A socket's path has room for 107 bytes, so it is not left to TMPDIR.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="dk-", dir="/tmp"))
        self.console = pathlib.Path(console or self.directory / "console")
        self._process = None
        self.qmp = None
        self.agent = None

    def __enter__(self):
        try:
            # Every write goes to an overlay, which lives as long as the machine: a cold boot finds it as it was left.
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", self.image.disk,
                            self.directory / "root.qcow2"], check=True)
            self.power_on()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._stop(kill=True)
        shutil.rmtree(self.directory, ignore_errors=True)

    # Power

    def power_on(self):
        if self._process:
            raise RuntimeError("the machine is on already")
        for name in ("qmp", "agent"):
            (self.directory / name).unlink(missing_ok=True)
        # setpriv: QEMU must not outlive us, however we die.  A session of its own: Ctrl-C is ours to handle.
        with open(self.directory / "qemu.log", "a") as log:
            self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self._command()], stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log, start_new_session=True)
        try:
            self.qmp = Qmp(self.directory / "qmp", alive=lambda: self._process.poll() is None)
            self.agent = Agent(self.directory / "agent")
        except (OSError, QmpError) as error:
            raise MachineDied(f"QEMU did not start: {(self.directory / 'qemu.log').read_text()[-2000:]}") from error

    def power_off(self, timeout=180):
        """An orderly shutdown; power_on() then makes a cold boot on the same root."""
        self.start("systemctl poweroff")
        try:
            self._process.wait(timeout * PATIENCE)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the guest has not shut down within {timeout * PATIENCE} s") from None
        self._stop()

    def power_cut(self):
        """What the guest has not written yet is lost."""
        try:
            self.qmp.execute("quit")    # rather than a signal: QEMU's own caches are not the guest's
        except QmpError:
            pass    # gone before it could answer
        self._process.wait(60)
        self._stop()

    def reset(self, timeout=180):
        """The reset button, and wait for the agent."""
        self.qmp.forget_events()
        self.qmp.execute("system_reset")
        self._after_reset(timeout)
        self._wait_agent(timeout)

    def reboot(self, timeout=300):
        """A warm reboot, and wait for the agent of the new boot."""
        self.qmp.forget_events()
        self.start("systemctl reboot")
        self._after_reset(timeout)
        self.wait_boot(timeout)

    def suspend(self, while_asleep=None, timeout=120):
        """Suspend to memory, do something meanwhile (take a drive's power away), wake up, wait until resuming is over."""
        if self._kernel == self.image.vmlinux:
            raise RuntimeError("this machine cannot suspend: give it suspends=True")
        self.qmp.forget_events()
        self.start("systemctl suspend")
        # An emulated machine may get stuck before that, or behind it: then nobody waits for what follows.
        self.wait_event("SUSPEND", min(timeout, 40))
        if while_asleep:
            while_asleep()
        self.qmp.execute("system_wakeup")
        self.wait_event("WAKEUP", timeout)
        self.run("true", 30)
        # logind takes no second suspend while the service of the first is still at its hooks.
        self.run("until [ \"$(systemctl show -P ActiveState systemd-suspend.service)\" = inactive ]; do sleep 0.1; done",
                 timeout)

    def wait_boot(self, timeout=180):
        """Until the agent answers, which is early: file systems other than the root may not be mounted yet.

        Nothing of ours runs before that: an emulated machine that gets stuck before that has its reset button pressed.
        """
        try:
            self._wait_agent(timeout)
        except TimeoutError as error:
            print(f"  .. the machine got stuck, and is reset: {error}", flush=True)
            self.reset()

    def _wait_agent(self, timeout):
        deadline = time.monotonic() + timeout
        while not self.agent.wait_hello(0.5):
            if self._process.poll() is not None:
                raise MachineDied(f"the machine went off while booting\n{self.console_tail()}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"the guest has not booted within {timeout} s\n{self.console_tail()}")

    def wait_running(self, timeout=300):
        """Until systemd has nothing left to start; its word for the state it is in ("running", "degraded")."""
        return self.run("systemctl is-system-running --wait", timeout, check=False).stdout.strip()

    def wait_event(self, name, timeout=60, **data):
        return self.qmp.wait_event(name, timeout, **data)

    @property
    def boot_id(self):
        return self.agent.boot_id

    # Commands

    def start(self, command):
        """Start a shell command in the guest; the Future's result is its Result."""
        return self.agent.send(command)

    def run(self, command, timeout=60, check=True, data=""):
        """Run a shell command in the guest, with data as its standard input.  After the timeout it is left to itself."""
        future = self.agent.send(command, data.encode() if isinstance(data, str) else data)
        try:
            result = future.result(timeout * PATIENCE)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"`{command}` has not ended within {timeout * PATIENCE} s") from None
        if check and result.status:
            raise CommandFailed(command, result)
        return result

    def push(self, path, content, mode=0o644):
        """Write a file in the guest, and on its disk."""
        self.run(PUSH.format(name=str(path), mode=mode), data=content)

    def wait_until(self, condition, timeout=60, interval=0.3):
        """Until a shell command succeeds in the guest (gives its Result) or a function returns something true (gives that). Asks ever
        more rarely, down to once a second: each command is as much work for the host as a second of what it waits for."""
        deadline = time.monotonic() + timeout * PATIENCE
        while True:
            if callable(condition):
                value = last = condition()
            else:
                last = self.run(condition, timeout, check=False)
                value = last if last.status == 0 else None
            if value:
                return value
            if time.monotonic() > deadline:
                raise TimeoutError(f"not within {timeout * PATIENCE} s: {condition}; last: {last}")
            time.sleep(interval)
            interval = max(interval, min(interval * 1.5, 1))

    # Devices

    def device_add(self, driver, id, **properties):
        self.qmp.execute("device_add", driver=driver, id=id, **properties)

    def device_del(self, id, timeout=60):
        """Unplug, and wait until the guest has let go."""
        self.qmp.execute("device_del", id=id)
        self.wait_event("DEVICE_DELETED", timeout, device=id)

    def blockdev_add(self, node_name, **options):
        self.qmp.execute("blockdev-add", **{"node-name": node_name, **options})

    def plug(self, disk):
        """Hotplug; a disk that was unplugged before comes back with what is stored on it."""
        nodes = self.qmp.execute("query-named-block-nodes", flat=True)
        if disk.node not in [node["node-name"] for node in nodes]:
            self.qmp.execute("blockdev-add", **self._blockdev(disk))
        self.qmp.execute("device_add", **disk.device())

    def unplug(self, disk):
        self.device_del(disk.serial)

    # When things go wrong

    def console_tail(self, lines=40):
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return "\n".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text).splitlines()[-lines:])

    def _after_reset(self, timeout):
        self.wait_event("RESET", timeout)
        # A new connection: there may be half a frame on the way in the old one.
        self.agent.close()
        self.agent = Agent(self.directory / "agent")

    def _stop(self, kill=False):
        for connection in (self.qmp, self.agent):
            if connection:
                connection.close()
        if self._process and kill:
            self._process.kill()
            self._process.wait()
        self.qmp = self.agent = self._process = None

    def _blockdev(self, disk):
        path = self.directory / f"{disk.serial}.raw"
        if not path.exists():
            path.touch()
            os.truncate(path, disk.size)
        return {"driver": "raw", "node-name": disk.node, "cache": {"no-flush": True},
                "file": {"driver": "file", "filename": str(path)}}

    def _command(self):
        # An audit=1 behind audit=0 would come too late.
        audit = "" if "audit=1" in self.append else "audit=0"
        command = ["qemu-system-x86_64", *self._machine.split(), "-m", str(self._memory),
                   "-kernel", self._kernel, "-initrd", self._initrd(),
                   "-append", f"{KERNEL_ARGUMENTS}{clock_arguments(self.image.kernel)} {audit} {self.append}",
                   "-chardev", f"file,id=console,path={self.console},append=on", "-serial", "chardev:console",
                   "-qmp", f"unix:{self.directory}/qmp,server=on,wait=off",
                   "-drive", f"file={self.directory}/root.qcow2,if=virtio,format=qcow2,cache=unsafe",
                   "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={self.directory}/agent,server=on,wait=off",
                   "-device", "virtserialport,chardev=agent,name=org.drivekeep.test",
                   "-device", "virtio-scsi-pci,id=scsi0", "-device", "qemu-xhci,id=xhci0"]
        ports = iter(range(6))
        for disk in self.disks:
            device = disk.device()
            if disk.driver == "ide-hd":
                port = next(ports)
                if port == 0:
                    command += ["-device", "ahci,id=ahci0"]
                device["bus"] = f"ahci0.{port}"
            command += ["-blockdev", json.dumps(self._blockdev(disk)), "-device", json.dumps(device)]
        return command + self.extra_args

    def _initrd(self):
        """The image's, and at the first start one more archive behind it, with the files and the setup script of this test."""
        if not self._files and not self._setup:
            return self.image.initrd
        entries = []
        for path, content in self._files.items():
            name = "overlay" + re.sub(r"^/(bin|sbin|lib)/", r"/usr/\1/", path)
            if isinstance(content, Link):
                entries.append((name, stat.S_IFLNK | 0o777, content.target.encode()))
            else:
                text, mode = content if isinstance(content, tuple) else (content, 0o644)
                entries.append((name, stat.S_IFREG | mode, text.encode() if isinstance(text, str) else text))
        if self._setup:
            entries.append(("setup", stat.S_IFREG | 0o644, self._setup.encode()))
        path = self.directory / "initrd"
        path.write_bytes(self.image.initrd.read_bytes() + cpio_archive(entries))
        self._files, self._setup = {}, ""
        return path
