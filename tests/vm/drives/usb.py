"""A USB disk for QEMU: a drive behind a bridge, connected by the usbredir protocol.

QEMU's usb-redir device connects to this process as to a remote machine that shares a USB device.
The shared device is a bulk-only mass storage device.
"""

import queue
import socket
import struct
import threading
import time
from collections import deque

from .hba import listen
from .sat import Reset, SatBridge

# Packet types of the usbredir protocol
HELLO, CONNECT, DISCONNECT, RESET, INTERFACES, ENDPOINTS = 0, 1, 2, 3, 4, 5
SET_CONFIGURATION, GET_CONFIGURATION, CONFIGURATION = 6, 7, 8
SET_ALTERNATE, GET_ALTERNATE, ALTERNATE, CANCEL = 9, 10, 11, 21
CONTROL, BULK = 100, 101

# Capabilities: device version in CONNECT, packet sizes in ENDPOINTS, 64-bit packet
# numbers, 32-bit lengths of bulk packets. QEMU supports all of them.
CAPABILITIES = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6
SUCCESS, CANCELLED, STALL = 0, 1, 4
HIGH_SPEED = 2

BULK_IN, BULK_OUT = 0x81, 0x02
PACKET = 512
CRASH_SECONDS = 1

CBW, CSW = struct.Struct("<4sIIBBB16s"), struct.Struct("<4sIIB")
CONTROL_HEADER, BULK_HEADER = struct.Struct("<BBBBHHH"), struct.Struct("<BBHIH")


class UsbDisk:
    """A USB disk, which listens at `path` after `start`. Call `start` before QEMU starts. `bridge`
    has the arguments of SatBridge. The disk is plugged in from the start unless `plugged` is
    False. The machine needs an xHCI controller with the bus `bus`."""

    def __init__(self, path, drive, name="usb0", vid=0x152d, pid=0x0578, plugged=True,
                 bus="xhci0.0", **bridge):
        self.path, self.name, self.bus = str(path), name, bus
        self.vid, self.pid, self.plugged = vid, pid, plugged
        self.drive = drive
        self.bridge = SatBridge(drive, **bridge)
        self.connected = threading.Event()
        self._peer = None
        self._lock = threading.RLock()
        self._work = queue.SimpleQueue()
        self._threads = []
        self._forget()

    # For QEMU

    def qemu_args(self):
        """Returns QEMU's command line arguments for the disk."""
        return ["-chardev", f"socket,id={self.name}-socket,path={self.path}",
                "-device", f"usb-redir,id={self.name},chardev={self.name}-socket,"
                           f"bus={self.bus}"]

    # For tests

    def plug(self):
        """Plugs the disk in, which powers bridge and drive on."""
        with self._lock:
            self.plugged = True
            self.drive.power_cycle()
            self.bridge.power_on()
            self._announce()

    def unplug(self):
        with self._lock:
            self.plugged = False
            self.drive.log.event("unplugged")
            self._reset()
            self._packet(DISCONNECT)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.close()

    def start(self):
        self._listener = listen(self.path)
        for function in (self._serve, self._obey):
            thread = threading.Thread(target=function, daemon=True,
                                      name=f"{self.name}-{function.__name__}")
            thread.start()
            self._threads.append(thread)
        return self

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            if self._peer:
                self._peer.shutdown(socket.SHUT_RDWR)
        self.drive.comreset()
        self._work.put(None)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    # Packets of the usbredir protocol

    def _serve(self):
        """Serves each QEMU that connects, one after another."""
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._peer = peer
                self._forget()
                hello = struct.pack("<64sI", b"drivekeep test disk", CAPABILITIES)
                peer.sendall(struct.pack("<III", HELLO, len(hello), 0) + hello)
            self.connected.set()
            try:
                self._listen_to(peer.makefile("rb"))
            except OSError:
                pass                         # QEMU was killed
            self.connected.clear()
            with self._lock:
                self._peer = None
                self._reset()
            peer.close()

    def _listen_to(self, stream):
        """Reads packets until QEMU exits. Only the hello packet has a short header."""
        header = struct.Struct("<III")
        while len(start := stream.read(header.size)) == header.size:
            kind, length, number = header.unpack(start)
            data = stream.read(length)
            header = struct.Struct("<IIQ")
            with self._lock:
                self._received(kind, number, data)

    def _received(self, kind, number, data):
        if kind == HELLO and self.plugged:
            self._announce()
        elif kind == RESET:
            self._reset()
        elif kind == SET_CONFIGURATION:
            self._configuration = data[0]
            self._packet(CONFIGURATION, number, bytes([SUCCESS, data[0]]))
        elif kind == GET_CONFIGURATION:
            self._packet(CONFIGURATION, number, bytes([SUCCESS, self._configuration]))
        elif kind in (SET_ALTERNATE, GET_ALTERNATE):
            self._packet(ALTERNATE, number, bytes([SUCCESS, data[0], 0]))
        elif kind == CANCEL:
            self._cancel(number)
        elif kind == CONTROL:
            self._control(number, data)
        elif kind == BULK:
            self._bulk(number, data)

    def _packet(self, kind, number=0, data=b""):
        if self._peer is not None:
            try:
                self._peer.sendall(struct.pack("<IIQ", kind, len(data), number) + data)
            except OSError:
                pass                         # QEMU has exited, which the reading thread detects too

    def _announce(self):
        """Announces the endpoints and interfaces of the USB device to QEMU, and then connects the device."""
        types, sizes = bytearray([255] * 32), [0] * 32
        for endpoint, kind, size in ((0x00, 0, 64), (0x80, 0, 64), (BULK_OUT, 2, PACKET),
                                     (BULK_IN, 2, PACKET)):
            index = (endpoint & 0x80) >> 3 | endpoint & 0x0f
            types[index], sizes[index] = kind, size
        self._packet(ENDPOINTS, 0, bytes(types) + bytes(64) + struct.pack("<32H", *sizes))
        self._packet(INTERFACES, 0, struct.pack("<I32s32s32s32s", 1, b"\0", b"\x08", b"\x06",
                                                b"\x50"))
        self._packet(CONNECT, 0, struct.pack("<BBBBHHH", HIGH_SPEED, 0, 0, 0, self.vid,
                                             self.pid, 0x0100))

    # The USB device

    def _descriptor(self, value):
        kind, index = value >> 8, value & 0xff
        if kind == 1:
            return struct.pack("<BBHBBBBHHHBBBB", 18, 1, 0x0200, 0, 0, 0, 64, self.vid,
                               self.pid, 0x0100, 1, 2, 3, 1)
        if kind == 2:
            body = struct.pack("<BBBBBBBBB", 9, 4, 0, 0, 2, 8, 6, 0x50, 0)
            for endpoint in (BULK_IN, BULK_OUT):
                body += struct.pack("<BBBBHB", 7, 5, endpoint, 2, PACKET, 0)
            return struct.pack("<BBHBBBBB", 9, 2, 9 + len(body), 1, 1, 0, 0xc0, 0) + body
        if kind == 3 and index == 0:
            return bytes([4, 3, 0x09, 0x04])
        if kind == 3 and index <= 3:
            bridge = self.bridge
            text = (bridge.vendor, bridge.product, bridge.serial)[index - 1]
            text = text.encode("utf-16-le")
            return bytes([2 + len(text), 3]) + text
        return None

    def _control(self, number, data):
        endpoint, request, kind, _, value, index, length = CONTROL_HEADER.unpack_from(data)
        answer = b""
        if (kind, request) == (0x80, 6):
            answer = self._descriptor(value)
        elif (kind, request) == (0x80, 0):
            answer = bytes(2)
        elif (kind, request) == (0xa1, 0xfe):       # GET MAX LUN
            answer = b"\0"
        elif (kind, request) == (0x21, 0xff):       # bulk-only reset
            self._reset()
        elif (kind, request) != (0x02, 1):          # CLEAR FEATURE (endpoint halt) needs no action
            answer = None
        status = STALL if answer is None else SUCCESS
        answer = (answer or b"")[:length]
        self._packet(CONTROL, number, CONTROL_HEADER.pack(
            endpoint, request, kind, status, value, index, len(answer)) + answer)

    def _forget(self):
        """Clears the transfer state: no command, no data to read, no pending reads."""
        self._configuration = 1
        self._generation = getattr(self, "_generation", 0) + 1
        self._wrapper, self._incoming = None, b""
        self._outgoing, self._readers = deque(), deque()

    def _reset(self):
        """Handles a reset of port or device, which discards the current command."""
        self._forget()
        self.drive.comreset()

    def _crash(self):
        """Disconnects the bridge from the bus and connects it again after a moment. The drive keeps its power."""
        with self._lock:
            self.drive.log.event("bridge reset")
            self._reset()
            self.bridge.power_on()
            self._packet(DISCONNECT)
        time.sleep(CRASH_SECONDS)
        with self._lock:
            if self.plugged:
                self._announce()

    def _cancel(self, number):
        self._readers = deque(each for each in self._readers if each[0] != number)
        self._packet(BULK, number, BULK_HEADER.pack(BULK_IN, CANCELLED, 0, 0, 0))

    # Bulk-only transport

    def _bulk(self, number, data):
        endpoint, _, low, _, high = BULK_HEADER.unpack_from(data)
        length = high << 16 | low
        if endpoint == BULK_IN:
            self._readers.append((number, length))
            self._answer_readers()
            return
        self._packet(BULK, number, BULK_HEADER.pack(endpoint, SUCCESS, low, 0, high))
        payload = data[BULK_HEADER.size:]
        if self._wrapper is None:
            if len(payload) != CBW.size or payload[:4] != b"USBC":
                return
            self._wrapper, self._incoming = CBW.unpack(payload), b""
        else:
            self._incoming += payload
        _, _, length, flags, _, _, _ = self._wrapper
        if flags & 0x80 or len(self._incoming) >= length:
            self._work.put((self._generation, self._wrapper, self._incoming))
            self._wrapper = None

    def _obey(self):
        """Executes one command after another in a separate thread, so that a reset is received
        while a command hangs."""
        while (item := self._work.get()) is not None:
            generation, (_, tag, length, flags, _, cdb_length, cdb), data = item
            inward = flags & 0x80
            try:
                answer = self.bridge.execute(cdb[:max(cdb_length, 16)], data, length if inward else 0)
            except Reset:
                self._crash()
                continue
            with self._lock:
                if answer is None or generation != self._generation:
                    continue
                status, reply = answer
                moved = len(reply) if inward else len(data)
                if inward and length:
                    self._outgoing.append(reply)
                self._outgoing.append(CSW.pack(b"USBS", tag, length - moved, status != 0))
                self._answer_readers()

    def _answer_readers(self):
        """Answers pending reads with available data. Data and status never share a transfer."""
        while self._readers and self._outgoing:
            number, wanted = self._readers.popleft()
            part = self._outgoing.popleft()
            if len(part) > wanted:
                self._outgoing.appendleft(part[wanted:])
                part = part[:wanted]
            self._packet(BULK, number, BULK_HEADER.pack(
                BULK_IN, SUCCESS, len(part) & 0xffff, 0, len(part) >> 16) + part)
