"""The host's end of the guest agent: commands go in, results come back, any number of them at a time.

agent.pl describes the frames.
"""
import concurrent.futures
import dataclasses
import re
import socket
import threading
import time


@dataclasses.dataclass(frozen=True)
class Result:
    stdout: str
    stderr: str
    status: int     # as a shell says it: 128 and the signal's number for a command that was killed


class GuestGone(Exception):
    """The guest was reset, or its agent was, before the command was done."""


class Agent:
    def __init__(self, path):
        self._socket = connect(path)
        self._stream = self._socket.makefile("rb")
        self._changed = threading.Condition()
        self._pending = {}
        self._last_id = 0
        self._closed = False
        self.boot_id = None     # of the guest that said hello on this connection
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, command, data=b""):
        """A Future of the Result of a shell command that has data as its standard input."""
        future = concurrent.futures.Future()
        with self._changed:
            if self._closed:
                raise GuestGone("no connection to the guest agent")
            self._last_id += 1
            self._pending[self._last_id] = future
            text = command.encode()
            self._socket.sendall(b"\nrun %d %d %d\n" % (self._last_id, len(text), len(data)) + text + data)
        return future

    def wait_hello(self, timeout):
        """True once the agent has said that it is there."""
        with self._changed:
            return self._changed.wait_for(lambda: self.boot_id or self._closed, timeout) and not self._closed

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass    # QEMU may have closed its end before us
        self._socket.close()

    def _read(self):
        try:
            for line in self._stream:
                if hello := re.match(rb"hello (\S+)\n", line):
                    with self._changed:
                        self._drop_pending("the guest or its agent has started anew")
                        self.boot_id = hello[1].decode()
                        self._changed.notify_all()
                elif done := re.match(rb"done (\d+) (\d+) (\d+) (\d+)\n", line):
                    self._finish(*map(int, done.groups()))
        except (OSError, ValueError):
            pass    # the connection was closed under us, which is how it ends
        with self._changed:
            self._closed = True
            self._drop_pending("the connection to the guest agent is closed")
            self._changed.notify_all()

    def _finish(self, number, status, output_length, error_length):
        output, error = self._stream.read(output_length), self._stream.read(error_length)
        with self._changed:
            future = self._pending.pop(number, None)
        if future:
            future.set_result(Result(output.decode(errors="backslashreplace"), error.decode(errors="backslashreplace"), status))

    def _drop_pending(self, reason):
        pending, self._pending = self._pending, {}
        for future in pending.values():
            future.set_exception(GuestGone(reason))


def connect(path, alive=lambda: True, timeout=30):
    """A connection to one of QEMU's sockets, which it makes a moment after it is started, if it lives as long."""
    deadline = time.monotonic() + timeout
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(str(path))
            return connection
        except OSError:
            connection.close()
            if not alive() or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
