"""A SATA controller for QEMU whose drives are AtaDrive objects of this process.

This process is an ivshmem server for QEMU, and the second peer of the shared memory. In the
guest the module in ivata/ registers a libata host for the controller. The layout of the memory
is that of ivata/ivata.c: a header, a mailbox page per port, a data window per port.
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
MOST_PORTS = 14                  # more ports need more than 8 MiB; the size of a PCI BAR is a power of two

# Offsets in the mailbox, in 32-bit words
ANSWER, SSTATUS, LINK_EVENTS, RESETS_DONE = 0, 1, 2, 3
REQUEST, RESETS, LPM_POLICY, FLAGS, BYTES = 16, 17, 18, 19, 20
SCSI_OP, PID = 26, 27
# Offsets in the mailbox, in bytes
RESULT, COMMAND, COMM = 16, 84, 112
FIS = 20

DATA_OUT, DATA_IN, EXT = 1, 2, 4
LINK_UP = 0x133                  # device present, 6 Gbit/s, active
PASSTHROUGH = {0x85, 0xa1}       # ATA PASS-THROUGH(16) and (12)

PROTOCOL = 0                     # protocol version of the ivshmem server
GUEST, DRIVES = 0, 1             # ivshmem peers
PARKED = 6                       # number of silent connections; more than the descriptors that an unplug frees


@dataclass
class Port:
    """One port: its part of the memory, the plugged drive and the port's thread. A port that takes
    several commands at a time has several slots, and each slot is a Port object."""

    number: int
    memory: mmap.mmap
    drive: object = None
    seen: int = 0                # number of the latest request seen
    resets: int = 0
    work: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)
    lock: threading.Lock = field(default_factory=threading.Lock)
    first: object = None         # the port's first slot, with the state of the port

    def __post_init__(self):
        self.base = MAILBOXES + self.number * STRIDE
        self.window = WINDOWS + self.number * WINDOW
        self.words = memoryview(self.memory)[self.base:self.base + STRIDE].cast("I")
        self.first = self.first or self

    def taskfile(self):
        """Returns the command in the mailbox and the data sent with it."""
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
        """Writes an answer into the mailbox. The caller then writes the request number."""
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
    """A controller with `ports` ports, which listens at `path` after `start`. Call `start` before
    QEMU starts. Use it as a context manager, or call `start` and `close`."""

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
        self.connected = threading.Event()      # set while QEMU has the memory
        self._threads = []
        self._unplugs = 0

    # For QEMU

    def _chardev(self):
        return f"{self.name}-socket"

    def qemu_args(self):
        """Returns QEMU's command line arguments that plug the controller in from the start."""
        properties = "".join(f",{key}={value}" for key, value in self.device.items())
        return ["-chardev", f"socket,id={self._chardev()},path={self.path}",
                "-device", f"ivshmem-doorbell,id={self.name},chardev={self._chardev()},"
                           f"vectors=1{properties}"]

    def qmp_plug(self):
        """Returns QMP commands (name, arguments) that plug the controller in later."""
        return [_chardev_add(self._chardev(), self.path),
                ("device_add", {"driver": "ivshmem-doorbell", "id": self.name, "vectors": 1,
                                "chardev": self._chardev(), **self.device})]

    def qmp_unplug(self):
        """Returns QMP commands that unplug the controller. After the first command, wait for
        DEVICE_DELETED.

        QEMU 7.2 closes the guest's doorbell descriptor, but keeps polling the descriptor's number.
        If another file with this number becomes readable, QEMU calls into freed memory. Therefore
        the last commands open silent connections, which occupy all freed descriptor numbers."""
        parked = [_chardev_add(f"{self.name}-parked{self._unplugs}-{i}", self._parking)
                  for i in range(PARKED)]
        self._unplugs += 1
        return [("device_del", {"id": self.name}),
                ("chardev-remove", {"id": self._chardev()}), *parked]

    # For tests

    def plug(self, machine):
        """Plugs the controller with its drives into a running machine."""
        for command, arguments in self.qmp_plug():
            machine.qmp.execute(command, **arguments)

    def unplug(self, machine, timeout=60):
        """Unplugs the controller and waits until the guest has released it."""
        for command, arguments in self.qmp_unplug():
            machine.qmp.execute(command, **arguments)
            if command == "device_del":
                machine.wait_event("DEVICE_DELETED", timeout, device=self.name)

    def attach(self, port, drive, power=True):
        """Plugs a drive into a port, with a power cycle if `power` is true."""
        place = self.ports[port]
        if power:
            drive.power_cycle()
        with place.lock:
            place.drive = drive
        self._link_event(place, LINK_UP)
        return drive

    def detach(self, port):
        """Unplugs the drive of a port and returns the drive. The guest's kernel searches for
        the drive for another 10 seconds, as on every SATA controller."""
        place = self.ports[port]
        with place.lock:
            drive, place.drive = place.drive, None
        if drive is not None:
            drive.log.event("detached")
        self._link_event(place, 0)
        return drive

    def interrupt(self, port, seconds, power=True):
        """Simulates a bad contact, which interrupts the link and, if `power` is true, the power.
        After less than about 10 seconds, the guest's kernel keeps the drive and sends no event."""
        drive = self.detach(port)
        time.sleep(seconds)
        return self.attach(port, drive, power)

    def power_cycle(self):
        """Power-cycles all drives. Call it at the QMP event SUSPEND, since a suspend cuts the power."""
        for drive in self.drives:
            drive.power_cycle()

    @property
    def drives(self):
        return [port.drive for port in self.ports if port.drive is not None]

    def lpm_policy(self, port):
        """Returns the link power policy set by the guest, in libata's numbering."""
        return self.ports[port].words[LPM_POLICY]

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.close()

    def start(self):
        self._listener = listen(self.path)
        self._parking_listener = listen(self._parking)    # never accepts connections
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
        """Waits for one of several descriptors; returns None when the controller stops."""
        readable, _, _ = select.select([self._stop, *fds], [], [])
        return None if self._stop in readable else readable

    def _serve_memory(self):
        """Sends the memory and the doorbells to each QEMU that connects, one at a time."""
        while self._ready(self._listener):
            peer, _ = self._listener.accept()
            with peer:
                for number, fd in ((PROTOCOL, None), (GUEST, None),
                                   (-1, self._memory_fd), (DRIVES, self._to_drives),
                                   (GUEST, self._to_guest)):
                    socket.send_fds(peer, [struct.pack("<q", number)],
                                    [] if fd is None else [fd])
                self.connected.set()
                self._ready(peer)            # returns when QEMU has exited
                self.connected.clear()

    def _answer_doorbell(self):
        """Checks the mailboxes when the guest rings the doorbell. The doorbell's thread executes
        resets, so that a reset reaches a busy drive. Each slot's thread executes commands."""
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
                    continue                 # the guest no longer waits for this answer
                slot.put(result)
                slot.words[ANSWER] = request
            os.eventfd_write(self._to_guest, 1)

    def _link_event(self, port, sstatus):
        port.words[SSTATUS] = sstatus
        port.words[LINK_EVENTS] += 1
        os.eventfd_write(self._to_guest, 1)
