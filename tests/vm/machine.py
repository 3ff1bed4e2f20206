"""A virtual machine, usually under software emulation: start it, run commands in it, cut its power.

QEMU ends at the end of the `with` block, or when this process or thread ends.
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

# q35 can suspend only once, because its power management registers are lost in S3. There is one processor. A second
# processor makes a scenario an eighth more work, because one processor spins while the host runs only the other processor.
MACHINE = "-machine pc -smp 1 -nodefaults -display none -no-user-config"
# These arguments replace EMULATION on hosts with usable KVM.
KVM = "-accel kvm -cpu host"
# To emulate an old processor takes a fifth less work than to emulate "max". Without RDRAND the guest waits seconds for random numbers.
# Without MONITOR the guest idles by HLT, which costs the host nothing. QEMU 7.2 sometimes loses the flags after CMPXCHG16B (cx16), which the
# kernel's allocator uses: a kernel died of a double fault with a pointer in EFLAGS. tb-size is the space for QEMU's cached translations, in
# MB.
EMULATION = "-accel tcg,thread=multi,tb-size=512 -cpu Nehalem,+rdrand,-monitor,-cx16"
# no_timer_check: without this argument, the kernel checks at boot that timer interrupts come often enough in real time, and panics
# ("IO-APIC + timer doesn't work") on a busy host. The three watchdog options prevent messages about stalls, since each kernel message wakes
# the daemon. tsc=reliable: the TSC is the best clock of an emulated machine, but the kernel would distrust it on a busy host.
# no_console_suspend: a suspended console delays each resume by five seconds. panic=-1: reboot at once after a panic. norandmaps: QEMU would
# translate libraries again for each process, which doubles the work of a command. udev.event_timeout: udev kills a process that handles an
# event for longer than 180 s, which are six seconds when the guest's clocks run thirty times faster (Keeping.warp()). The other arguments
# avoid work that no test needs.
KERNEL_ARGUMENTS = ("root=/dev/vda ro console=ttyS0 quiet 8250.nr_uarts=1 no_timer_check "
                    "nowatchdog rcupdate.rcu_cpu_stall_suppress=1 workqueue.watchdog_thresh=0 "
                    "udev.event_timeout=5400 tsc=reliable no_console_suspend panic=-1 mitigations=off norandmaps rodata=off cryptomgr.notests "
                    "cgroup.memory=nokmem,nosocket initcall_blacklist=jent_mod_init,load_system_certificate_list")

# A command in Perl begins with this line. The agent itself runs such a command, which may call the functions of agent.pl.
PERL = "#!perl\n"
# Unpacks an archive from Machine._archive() and applies its files and its script in the running guest. Without SYSTEMD_OFFLINE, each
# "systemctl enable" would make systemd load all units again.
APPLY = """
mkdir /run/apply && cd /run/apply && busybox cpio -idu 2>/dev/null
[ ! -e overlay ] || cp -dRf overlay/. /
[ ! -e setup ] || SYSTEMD_OFFLINE=1 sh -e setup
udevadm settle
"""
# Makes systemd load all units again, which is half of the work of a start, and start the enabled units.
LOAD_UNITS = "systemctl daemon-reload && systemctl start sysinit.target sockets.target paths.target timers.target multi-user.target"
# The usual setup script. systemd has not loaded drivekeep.service before, so no unit must be loaded again.
ENABLE = "systemctl enable drivekeep"
# System call 74 is fsync().
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
    """Returns KVM or EMULATION. To find out, starts a kernel with KVM for a fraction of a second, and waits for its first message: /dev/kvm
    may exist although the processor does not support KVM."""
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
    """Returns the frequency of the host's TSC. An emulated machine has the same frequency. Returns None on architectures other than x86-64.
    The routine is RDTSC; SHL RDX, 32; OR RAX, RDX; RET."""
    if platform.machine() != "x86_64":
        return None
    with mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC) as code:
        code.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))
        routine = ctypes.c_char.from_buffer(code)
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(routine))

        def clocks():
            """Reads the clock and the TSC at the same time; returns the pair that took the shortest time to read."""
            pairs = [(time.monotonic_ns(), read(), time.monotonic_ns()) for _ in range(20)]
            before, ticks, _ = min(pairs, key=lambda pair: pair[2] - pair[0])
            return before, ticks

        (before, first), _, (after, last) = clocks(), time.sleep(0.1), clocks()
        del routine, read   # before the memory is unmapped, these references to it must be deleted
    return round((last - first) / (after - before) * 1e6)


def clock_arguments(kernel):
    """Returns the kernel argument with the TSC frequency of an emulated machine. On a busy host the kernel measures a wrong frequency: in
    one boot of nine, with two other machines running, the clock ran six to thirty times too fast."""
    return f" tsc_early_khz={host_tsc_khz()}" if host_tsc_khz() and accelerator(kernel) == EMULATION else ""


@dataclasses.dataclass(frozen=True)
class Disk:
    """A drive emulated by QEMU itself; its serial number is also the device's name in QEMU."""
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
    """A SATA drive on an AHCI controller. QEMU cannot hotplug this drive."""
    return Disk(serial, "ide-hd", size, tuple(properties.items()))


def nvme_disk(serial, size=64 << 20, **properties):
    return Disk(serial, "nvme", size, tuple(properties.items()))


def scsi_disk(serial, size=64 << 20, **properties):
    """A SCSI drive on virtio-scsi."""
    return Disk(serial, "scsi-hd", size, tuple({"bus": "scsi0.0", **properties}.items()))


def usb_disk(serial, size=64 << 20, **properties):
    return Disk(serial, "usb-storage", size, tuple({"bus": "xhci0.0", **properties}.items()))


def virtio_disk(serial, size=64 << 20, **properties):
    return Disk(serial, "virtio-blk-pci", size, tuple(properties.items()))


@dataclasses.dataclass(frozen=True)
class Link:
    """A symbolic link, as a value in `files` of Machine."""
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
    """QEMU's QMP socket: runs one command at a time and keeps events until wait_event() takes them."""

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
        """Waits for an event with this name and these values in its data. Returns the first such event that was not taken yet."""
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
            pass    # QEMU has exited
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def device_properties(description):
    """Returns a dict of the properties in the value of QEMU's argument -device."""
    if description.startswith("{"):
        return json.loads(description)
    driver, *properties = description.split(",")
    return {"driver": driver, **dict(each.split("=", 1) for each in properties)}


@dataclasses.dataclass(frozen=True)
class State:
    """The state of a machine that has booted, from Machine.save()."""
    root: pathlib.Path      # the root disk, backed by the image's disk
    memory: pathlib.Path    # QEMU's migration stream


class Machine:
    """`disks` are present from the start. `files` (path to text, (text, mode) or Link) and `setup` (a shell script that runs in the guest's
    root before systemd, for commands like `systemctl enable`) take effect at the first start. `suspends` is needed for suspend(). With `state`, the
    machine is on from the start: its devices are plugged into a machine that has booted, and `files` and `setup` take effect there."""

    def __init__(self, image, *, disks=(), files=None, setup="", append="", extra_args=(), memory=1024, console=None,
                 machine=None, suspends=False, state=None):
        self.image = image
        self._state = state
        # The unpacked kernel boots faster, but QEMU writes it into memory again at each reset. A resume counts as a reset, too.
        self._kernel = image.kernel if suspends else image.vmlinux
        self.append = append            # append, extra_args and disks may change while the power is off
        self.extra_args = list(extra_args)
        self.disks = list(disks)
        self._files = files or {}
        self._setup = setup
        self._memory = memory
        self._machine = machine or f"{MACHINE} {accelerator(image.kernel)}"
        # Below /tmp instead of TMPDIR, because the path of a socket has at most 107 bytes.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="dk-", dir="/tmp"))
        self.console = pathlib.Path(console or self.directory / "console")
        self._process = None
        self.qmp = None
        self.agent = None

    def __enter__(self):
        try:
            # The guest writes to an overlay. The overlay exists as long as the machine, so a cold boot finds the written data.
            below = ["-F", "qcow2", "-b", self._state.root] if self._state else ["-F", "raw", "-b", self.image.disk]
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *below, self.directory / "root.qcow2"], check=True)
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
        command, devices = self._arguments()
        if self._state:
            command += ["-incoming", f"exec:cat {self._state.memory}"]
        else:
            command += [part for device in devices for part in ("-device", device)]
        for name in ("qmp", "agent"):
            (self.directory / name).unlink(missing_ok=True)
        # setpriv makes QEMU end when this process ends, even if it is killed. QEMU gets a separate session, so that Ctrl-C reaches only
        # this process.
        with open(self.directory / "qemu.log", "a") as log:
            self._process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log, start_new_session=True)
        try:
            self.qmp = Qmp(self.directory / "qmp", alive=lambda: self._process.poll() is None)
            self.agent = Agent(self.directory / "agent")
            if self._state:
                self._wait_status("query-status", "paused")
                for device in devices:
                    self.qmp.execute("device_add", **device_properties(device))
                self.qmp.execute("cont")
        except (OSError, QmpError) as error:
            raise MachineDied(f"QEMU did not start: {error}\n{(self.directory / 'qemu.log').read_text()[-2000:]}") from error

    def save(self, state):
        """Saves the state of this machine, and switches the machine off."""
        new = state.memory.with_suffix(".new")
        self.qmp.execute("stop")
        self.qmp.execute("migrate", uri=f"exec:cat > {new}")
        self._wait_status("query-migrate", "completed")
        self.power_cut()
        shutil.move(self.directory / "root.qcow2", state.root)
        new.rename(state.memory)

    def power_off(self, timeout=180):
        """Shuts the guest down. A later power_on() makes a cold boot from the same root file system."""
        self.start("systemctl poweroff")
        try:
            self._process.wait(timeout * PATIENCE)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the guest has not shut down within {timeout * PATIENCE} s") from None
        self._stop()

    def power_cut(self):
        """Cuts the power. Data that the guest has not written is lost."""
        try:
            self.qmp.execute("quit")    # "quit" makes QEMU write its own caches, which SIGKILL would discard
        except QmpError:
            pass    # QEMU exited before it answered
        self._process.wait(60)
        self._stop()

    def reset(self, timeout=180):
        """Presses the reset button and waits for the agent."""
        self.qmp.forget_events()
        self.qmp.execute("system_reset")
        self._after_reset(timeout)
        self._wait_agent(timeout)

    def reboot(self, timeout=300):
        """Makes a warm reboot and waits for the agent of the new boot."""
        self.qmp.forget_events()
        self.start("systemctl reboot")
        self._after_reset(timeout)
        self.wait_boot(timeout)

    def suspend(self, while_asleep=None, timeout=120):
        """Suspends to RAM, calls `while_asleep` (for example to cut a drive's power), resumes, and waits for the end of the resume."""
        if self._kernel == self.image.vmlinux:
            raise RuntimeError("this machine cannot suspend: give it suspends=True")
        self.qmp.forget_events()
        self.start("systemctl suspend")
        # The short timeout detects an emulated machine that hangs during suspend.
        self.wait_event("SUSPEND", min(timeout, 40))
        if while_asleep:
            while_asleep()
        self.qmp.execute("system_wakeup")
        self.wait_event("WAKEUP", timeout)
        self.run("true", 30)
        # logind rejects a second suspend while systemd-suspend.service still runs the hooks of the first.
        self.run("until [ \"$(systemctl show -P ActiveState systemd-suspend.service)\" = inactive ]; do sleep 0.1; done",
                 timeout)

    def apply(self, timeout=180):
        """Applies files and setup to a machine that was started from a state."""
        start = {"": "", ENABLE: "systemctl start drivekeep"}.get(self._setup, LOAD_UNITS)
        if any("/systemd/" in path for path in self._files):
            start = LOAD_UNITS
        self.run(f"date -s @{time.time()}")
        self.run(APPLY + start, timeout, data=self._archive())
        self._state = None      # the next start is a boot

    def wait_boot(self, timeout=180):
        """Waits for the agent, which answers early: file systems other than the root may not be mounted yet.

        Resets a machine whose agent does not answer in time, and waits again. Only the emulation can cause such a hang, since no program
        of drivekeep runs before the agent.
        """
        try:
            self._wait_agent(timeout)
        except TimeoutError as error:
            print(f"  .. the machine did not boot and is reset: {error}", flush=True)
            self.reset()

    def _wait_agent(self, timeout):
        deadline = time.monotonic() + timeout * PATIENCE
        while not self.agent.wait_hello(0.5):
            if self._process.poll() is not None:
                raise MachineDied(f"the machine went off while booting\n{self.console_tail()}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"the guest has not booted within {timeout * PATIENCE} s\n{self.console_tail()}")

    def wait_running(self, timeout=300):
        """Waits until systemd has finished starting units. Returns the system's state ("running", "degraded")."""
        return self.run("systemctl is-system-running --wait", timeout, check=False).stdout.strip()

    def wait_event(self, name, timeout=60, **data):
        return self.qmp.wait_event(name, timeout, **data)

    @property
    def boot_id(self):
        return self.agent.boot_id

    # Commands

    def start(self, command):
        """Starts a shell command in the guest. Returns its Answer."""
        return self.agent.send(command)

    def run(self, command, timeout=60, check=True, data=""):
        """Runs a shell command in the guest, with `data` as its standard input. After the timeout the command keeps running."""
        future = self.agent.send(command, data.encode() if isinstance(data, str) else data)
        try:
            result = future.result(timeout)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"`{command}` has not ended within {timeout * PATIENCE} s") from None
        if check and result.status:
            raise CommandFailed(command, result)
        return result

    def push(self, path, content, mode=0o644):
        """Writes a file in the guest and syncs it to the guest's disk."""
        self.run(PUSH.format(name=str(path), mode=mode), data=content)

    def wait_until(self, condition, timeout=60, interval=0.3):
        """Waits until a shell command succeeds in the guest (returns its Result) or a function returns a true value (returns the value).
        The interval grows to one second, because each command costs the host as much work as one second of waiting."""
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
        """Unplugs a device and waits until the guest has released it."""
        self.qmp.execute("device_del", id=id)
        self.wait_event("DEVICE_DELETED", timeout, device=id)

    def blockdev_add(self, node_name, **options):
        self.qmp.execute("blockdev-add", **{"node-name": node_name, **options})

    def plug(self, disk):
        """Hotplugs a disk. A disk that was unplugged before keeps its data."""
        nodes = self.qmp.execute("query-named-block-nodes", flat=True)
        if disk.node not in [node["node-name"] for node in nodes]:
            self.qmp.execute("blockdev-add", **self._blockdev(disk))
        self.qmp.execute("device_add", **disk.device())

    def unplug(self, disk):
        self.device_del(disk.serial)

    # Failures

    def console_tail(self, lines=40):
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return "\n".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text).splitlines()[-lines:])

    def _after_reset(self, timeout):
        self.wait_event("RESET", timeout)
        # Reconnects, because the old connection may contain part of a frame.
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

    def _wait_status(self, query, status):
        while self.qmp.execute(query)["status"] != status:
            time.sleep(0.02)

    def _arguments(self):
        """Returns QEMU's arguments, and separately the values of -device for the devices that a test adds to the machine."""
        # audit=1 after audit=0 has no effect.
        audit = "" if "audit=1" in self.append else "audit=0"
        arguments = ["qemu-system-x86_64", *self._machine.split(), "-m", str(self._memory),
                     "-kernel", self._kernel, "-initrd", self._initrd(),
                     "-append", f"{KERNEL_ARGUMENTS}{clock_arguments(self.image.kernel)} {audit} {self.append}",
                     "-chardev", f"file,id=console,path={self.console},append=on", "-serial", "chardev:console",
                     "-qmp", f"unix:{self.directory}/qmp,server=on,wait=off",
                     "-drive", f"file={self.directory}/root.qcow2,if=virtio,format=qcow2,cache=unsafe",
                     "-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={self.directory}/agent,server=on,wait=off",
                     "-device", "virtserialport,chardev=agent,name=org.drivekeep.test",
                     "-device", "virtio-scsi-pci,id=scsi0", "-device", "qemu-xhci,id=xhci0"]
        devices, ports = [], iter(range(6))
        for disk in self.disks:
            device = disk.device()
            if disk.driver == "ide-hd":
                port = next(ports)
                if port == 0:
                    devices.append("ahci,id=ahci0")
                device["bus"] = f"ahci0.{port}"
            arguments += ["-blockdev", json.dumps(self._blockdev(disk))]
            devices.append(json.dumps(device))
        pairs = iter(self.extra_args)
        for option, value in zip(pairs, pairs):
            if option == "-device":
                devices.append(value)
            else:
                arguments += [option, value]
        return arguments, devices

    def _initrd(self):
        """Returns the image's initrd. At the first start, appends a second archive with the files and the setup script of this test."""
        if self._state or not self._files and not self._setup:
            return self.image.initrd
        path = self.directory / "initrd"
        path.write_bytes(self.image.initrd.read_bytes() + self._archive())
        return path

    def _archive(self):
        """Returns an initramfs archive with the files and the setup script of this test, which take effect only once."""
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
        self._files, self._setup = {}, ""
        return cpio_archive(entries)
