"""NVMe over TCP without a network: the queues use virtio-serial ports of the guest.

In the guest relay.pl listens on the loopback interface and relays each connection to a port. `connect` starts relay.pl and
makes the kernel connect. The protocol is NVMe/TCP without digests; an NvmeController executes the commands.
"""

import pathlib
import socket
import struct
import threading

from .hba import listen
from .nvme import NQN, Command

IC_REQUEST, IC_RESPONSE, COMMAND, RESPONSE, DATA_TO_HOST = 0x00, 0x01, 0x04, 0x05, 0x07
FABRICS, PROPERTY_SET, CONNECT, PROPERTY_GET = 0x7f, 0x00, 0x01, 0x04
LAST = 0x04
PORTS = 4           # two queues, and two more for a controller that reconnects
RELAY = pathlib.Path(__file__).with_name("relay.pl")
START_RELAY = "systemd-run --unit=relay --collect perl /run/relay.pl"


class NvmeTcp:
    """The sockets between QEMU's ports and the controller: their paths are `path` with a number appended. `start` opens them. Call `start`
    before QEMU starts."""

    def __init__(self, path, controller, name="nvme0"):
        self.path, self.controller, self.name = str(path), controller, name
        self._listeners, self._threads, self._peers = [], [], []

    def qemu_args(self):
        arguments = ["-device", f"virtio-serial-pci,id={self.name}-serial,max_ports={PORTS + 1}"]
        for number in range(PORTS):
            arguments += ["-chardev", f"socket,id={self.name}-{number},path={self.path}-{number}",
                          "-device", f"virtserialport,bus={self.name}-serial.0,chardev={self.name}-{number},"
                                     f"name=org.drivekeep.nvme.{number}"]
        return arguments

    def connect(self, machine):
        """Makes the guest connect. The drive's node is /dev/disk/by-id/nvme-MODEL_SERIAL."""
        machine.push("/run/relay.pl", RELAY.read_text())
        machine.wait_until(f"[ $(ls -d /dev/virtio-ports/org.drivekeep.nvme.* | wc -l) = {PORTS} ]", 30)
        machine.run(f"{START_RELAY} && modprobe nvme-tcp")
        machine.wait_until("ss -ltn 2>/dev/null | grep -q :4420 || grep -q ':1144 00000000:0000 0A' /proc/net/tcp", 30)
        machine.run(f"nvme connect -t tcp -a 127.0.0.1 -s 4420 -n {NQN} --hostnqn=nqn.2000-01.org.drivekeep:host "
                    "--nr-io-queues=1 --keep-alive-tmo=0", 120)

    def cut(self, machine):
        """Simulates a failed network until `mend`. The kernel tries to connect again every ten seconds."""
        machine.run("systemctl stop relay")

    def mend(self, machine):
        machine.run(START_RELAY)

    def __enter__(self):
        for number in range(PORTS):
            listener = listen(f"{self.path}-{number}")
            self._listeners.append(listener)
            thread = threading.Thread(target=self._serve, args=(listener,), daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    start = __enter__

    def __exit__(self, *exc):
        for each in self._listeners + self._peers:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass                         # already closed
        for thread in self._threads:
            thread.join(10)
        for listener in self._listeners:
            listener.close()

    def _serve(self, listener):
        """Serves each QEMU that connects to one port, one after another."""
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            self._peers.append(peer)
            with peer:
                try:
                    self._listen_to(peer, peer.makefile("rb"))
                except OSError:
                    pass                     # QEMU was killed
            self._peers.remove(peer)

    def _listen_to(self, peer, stream):
        queue = 0
        while len(header := stream.read(8)) == 8:
            kind, _, header_length, offset, length = struct.unpack("<BBBBI", header)
            body = header + stream.read(length - 8)
            if kind == IC_REQUEST:           # a new connection
                queue = 0
                peer.sendall(struct.pack("<BBBBIHBBI", IC_RESPONSE, 0, 128, 0, 128, 0, 0, 0, 128 << 10).ljust(128, b"\0"))
            elif kind == COMMAND:
                entry, data = body[8:72], body[offset:] if offset else b""
                if entry[0] == FABRICS:
                    if entry[4] == CONNECT:
                        queue = struct.unpack_from("<H", entry, 42)[0]
                    answer = self._fabrics(entry)
                else:
                    answer = self.controller.execute(Command(entry, data, admin=queue == 0))
                if answer is not None:
                    self._answer(peer, entry, queue, *answer)

    def _fabrics(self, entry):
        kind = entry[4]
        [offset] = struct.unpack_from("<I", entry, 44)
        if kind == CONNECT:
            return 0, 1, b""                 # the controller's number
        if kind == PROPERTY_GET:
            return 0, self.controller.property_get(offset), b""
        if kind == PROPERTY_SET:
            self.controller.property_set(offset, struct.unpack_from("<Q", entry, 48)[0])
            return 0, 0, b""
        return 0x0001, 0, b""

    def _answer(self, peer, entry, queue, status, result, data):
        [ident] = struct.unpack_from("<H", entry, 2)
        answer = b""
        if data:
            answer = struct.pack("<BBBBIHHIII", DATA_TO_HOST, LAST, 24, 24, 24 + len(data), ident, 0, 0, len(data), 0) + data
        answer += struct.pack("<BBBBIQHHHH", RESPONSE, 0, 24, 0, 24, result, 0, queue, ident, status << 1)
        peer.sendall(answer)
