"""A SATA controller for QEMU whose drives are AtaDrive objects of this process.

To QEMU this is an ivshmem server and the other peer on its memory; in the guest the
module in ivata/ makes a libata host of it. The memory is laid out as in ivata/ivata.c:
a header, a mailbox page per port, a data window per port.
"""

import mmap
import os
import queue
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

from .taskfile import Taskfile

MAGIC, VERSION = 0x41544149, 1
MAILBOXES, STRIDE = 0x1000, 0x1000
WINDOWS, WINDOW = 0x100000, 0x80000
MOST_PORTS = 14                  # what fits into 8 MiB; a PCI BAR is a power of two

# The mailbox, in 32-bit words
ANSWER, SSTATUS, LINK_EVENTS, RESETS_DONE = 0, 1, 2, 3
REQUEST, RESETS, LPM_POLICY, FLAGS, BYTES = 16, 17, 18, 19, 20
SCSI_OP, PID = 26, 27
# and in bytes
RESULT, COMMAND, COMM = 16, 84, 112
FIS = 20

DATA_OUT, DATA_IN, EXT = 1, 2, 4
LINK_UP = 0x133                  # a device, 6 Gbit/s, active
PASSTHROUGH = {0x85, 0xa1}       # ATA PASS-THROUGH(16) and (12)

PROTOCOL = 0                     # version of the ivshmem server's
GUEST, DRIVES = 0, 1             # ivshmem peers
PARKED = 6                       # more than the descriptors that unplugging frees


@dataclass
class Port:
    """One port: its place in the memory, the drive plugged in, the thread serving it. Where a port
    takes several commands at a time, each of its slots is one of these."""

    number: int
    memory: mmap.mmap
    drive: object = None
    seen: int = 0                # number of the request seen last
    resets: int = 0
    work: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    lock: threading.Lock = field(default_factory=threading.Lock)
    first: object = None         # of its slots: has what is the port's own

    def __post_init__(self):
        self.base = MAILBOXES + self.number * STRIDE
        self.window = WINDOWS + self.number * WINDOW
        self.words = memoryview(self.memory)[self.base:self.base + STRIDE].cast("I")
        self.first = self.first or self

    def taskfile(self):
        """The command in the mailbox, and the data that came with it."""
        words, base = self.words, self.base
        flags, scsi_op = words[FLAGS], words[SCSI_OP]
        comm = self.memory[base + COMM:base + COMM + 16].split(b"\0")[0]
        tf = Taskfile.from_fis(
            self.memory[base + COMMAND:base + COMMAND + FIS], bool(flags & EXT),
            origin="passthrough" if scsi_op in PASSTHROUGH else "kernel",
            comm=comm.decode(errors="replace"), pid=words[PID], scsi_op=scsi_op)
        data = b""
        if flags & DATA_OUT:
            data = self.memory[self.window:self.window + words[BYTES]]
        return tf, data

    def put(self, result):
        """Put an answer into the mailbox; its number comes last."""
        size = self.words[BYTES]
        if self.words[FLAGS] & DATA_IN and size:
            self.memory[self.window:self.window + size] = \
                result.data[:size].ljust(size, b"\0")
        self.memory[self.base + RESULT:self.base + RESULT + FIS] = result.to_fis()


def listen(path):
    if os.path.exists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(100)
    return listener


def _chardev_add(name, path):
    address = {"type": "unix", "data": {"path": path}}
    backend = {"type": "socket", "data": {"addr": address, "server": False}}
    return "chardev-add", {"id": name, "backend": backend}


class Hba:
    """A controller with `ports` ports, listening at `path` once `start` is called, which
    must be before QEMU starts. Use as a context manager, or call `start` and `close`."""

    magic, port_class = MAGIC, Port

    def __init__(self, path, ports=8, name="hba0", slots=1, **device):
        if not 0 < ports <= MOST_PORTS:
            raise ValueError(f"1 to {MOST_PORTS} ports")
        if not 0 < ports * slots <= (WINDOWS - MAILBOXES) // STRIDE:
            raise ValueError("there are not so many mailboxes")
        self.path, self.name, self.device = str(path), name, device
        self._parking = self.path + ".parking"
        size = 1 << (WINDOWS + ports * slots * WINDOW - 1).bit_length()
        self._memory_fd = os.memfd_create(name)
        os.ftruncate(self._memory_fd, size)
        self._memory = mmap.mmap(self._memory_fd, size)
        self._memory[:28] = struct.pack("7I", self.magic, VERSION, ports, MAILBOXES, WINDOWS,
                                        WINDOW, slots)
        self._to_guest, self._to_drives = os.eventfd(0), os.eventfd(0)
        self._stop = os.eventfd(0)
        self.ports = [self.port_class(i * slots, self._memory) for i in range(ports)]
        self._slots = [port if i == 0 else self.port_class(port.number + i, self._memory, first=port)
                       for port in self.ports for i in range(slots)]
        self.connected = threading.Event()      # QEMU has the memory
        self._threads = []
        self._unplugs = 0

    # For QEMU

    def _chardev(self):
        return f"{self.name}-socket"

    def qemu_args(self):
        """Command line arguments that plug the controller in from the start."""
        properties = "".join(f",{key}={value}" for key, value in self.device.items())
        return ["-chardev", f"socket,id={self._chardev()},path={self.path}",
                "-device", f"ivshmem-doorbell,id={self.name},chardev={self._chardev()},"
                           f"vectors=1{properties}"]

    def qmp_plug(self):
        """QMP commands (name, arguments) that plug it in later."""
        return [_chardev_add(self._chardev(), self.path),
                ("device_add", {"driver": "ivshmem-doorbell", "id": self.name, "vectors": 1,
                                "chardev": self._chardev(), **self.device})]

    def qmp_unplug(self):
        """QMP commands that unplug it; after the first, wait for its DEVICE_DELETED.

        QEMU 7.2 goes on polling the number of the descriptor it got for the guest's bell
        after closing it, and calls into freed memory once another file with that number
        becomes readable. So its number, among all that are now free, goes to a
        connection that never says a word."""
        parked = [_chardev_add(f"{self.name}-parked{self._unplugs}-{i}", self._parking)
                  for i in range(PARKED)]
        self._unplugs += 1
        return [("device_del", {"id": self.name}),
                ("chardev-remove", {"id": self._chardev()}), *parked]

    # For tests

    def plug(self, machine):
        """Plug the controller, with its drives, into a machine that runs."""
        for command, arguments in self.qmp_plug():
            machine.qmp.execute(command, **arguments)

    def unplug(self, machine, timeout=60):
        """Unplug the controller, and wait until the guest has let go of it."""
        for command, arguments in self.qmp_unplug():
            machine.qmp.execute(command, **arguments)
            if command == "device_del":
                machine.wait_event("DEVICE_DELETED", timeout, device=self.name)

    def attach(self, port, drive, power=True):
        """Plug a drive into a port: it is powered on there, unless it kept its power."""
        place = self.ports[port]
        if power:
            drive.power_cycle()
        with place.lock:
            place.drive = drive
        self._link_event(place, LINK_UP)
        return drive

    def detach(self, port):
        """Pull the drive out of a port; returns it. The guest's kernel looks for it for
        another 10 seconds, as it does on every SATA controller."""
        place = self.ports[port]
        with place.lock:
            drive, place.drive = place.drive, None
        if drive is not None:
            drive.log.event("detached")
        self._link_event(place, 0)
        return drive

    def interrupt(self, port, seconds, power=True):
        """A bad contact: link and power (or the link alone) are gone for a moment. Less than about
        10 seconds, and the guest's kernel keeps the drive and tells nobody."""
        drive = self.detach(port)
        time.sleep(seconds)
        return self.attach(port, drive, power)

    def power_cycle(self):
        """Power-cycle all drives, for use at the QMP event SUSPEND."""
        for drive in self.drives:
            drive.power_cycle()

    @property
    def drives(self):
        return [port.drive for port in self.ports if port.drive is not None]

    def lpm_policy(self, port):
        """The link power policy that the guest has set, as libata numbers them."""
        return self.ports[port].words[LPM_POLICY]

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.close()

    def start(self):
        self._listener = listen(self.path)
        self._parking_listener = listen(self._parking)    # nobody ever accepts
        self._run(self._serve_memory)
        self._run(self._answer_doorbell)
        for slot in self._slots:
            self._run(self._serve_slot, slot)
        return self

    def close(self):
        os.eventfd_write(self._stop, 1)
        for slot in self._slots:
            slot.work.put(None)
        for drive in self.drives:
            drive.comreset()
        for thread in self._threads:
            thread.join()
        for listener, path in ((self._listener, self.path),
                               (self._parking_listener, self._parking)):
            listener.close()
            os.unlink(path)
        for fd in (self._memory_fd, self._to_guest, self._to_drives, self._stop):
            os.close(fd)

    # Threads

    def _run(self, function, *args):
        thread = threading.Thread(target=function, args=args, daemon=True,
                                  name=f"{self.name}-{function.__name__}")
        thread.start()
        self._threads.append(thread)

    def _ready(self, *fds):
        """Wait for one of several descriptors; None means that it is time to stop."""
        readable, _, _ = select.select([self._stop, *fds], [], [])
        return None if self._stop in readable else readable

    def _serve_memory(self):
        """Hand the memory and the bells to every QEMU that connects, one at a time."""
        while self._ready(self._listener):
            peer, _ = self._listener.accept()
            with peer:
                for number, fd in ((PROTOCOL, None), (GUEST, None),
                                   (-1, self._memory_fd), (DRIVES, self._to_drives),
                                   (GUEST, self._to_guest)):
                    socket.send_fds(peer, [struct.pack("<q", number)],
                                    [] if fd is None else [fd])
                self.connected.set()
                self._ready(peer)            # readable: it has gone
                self.connected.clear()

    def _answer_doorbell(self):
        """Look through the mailboxes whenever the guest rings. Resets are obeyed here,
        so that they reach a drive which is busy; commands go to the slot's thread."""
        while self._ready(self._to_drives):
            os.eventfd_read(self._to_drives)
            for port in self.ports:
                if port.words[RESETS] != port.words[RESETS_DONE]:
                    self._reset(port)
            for slot in self._slots:
                if slot.words[REQUEST] != slot.seen:
                    slot.seen = slot.words[REQUEST]
                    slot.work.put(slot.seen)

    def _reset(self, port):
        with port.lock:
            port.resets += 1
            drive = port.drive
        if drive is not None:
            drive.comreset()
        port.words[RESETS_DONE] = port.words[RESETS]

    def _serve_slot(self, slot):
        port = slot.first
        while (request := slot.work.get()) is not None:
            with port.lock:
                drive, resets = port.drive, port.resets
                if drive is None or request != slot.words[REQUEST]:
                    continue
                tf, data = slot.taskfile()
            result = drive.execute(tf, data)
            with port.lock:
                if result is None or drive is not port.drive or resets != port.resets:
                    continue                 # nobody waits for this answer any more
                slot.put(result)
                slot.words[ANSWER] = request
            os.eventfd_write(self._to_guest, 1)

    def _link_event(self, port, sstatus):
        port.words[SSTATUS] = sstatus
        port.words[LINK_EVENTS] += 1
        os.eventfd_write(self._to_guest, 1)
