"""The host's end of the guest agent: sends commands and receives results; any number of commands can run at a time.

agent.pl describes the frames.
"""
import concurrent.futures
import dataclasses
import re
import socket
import threading
import time

from patience import PATIENCE


@dataclasses.dataclass(frozen=True)
class Result:
    stdout: str
    stderr: str
    status: int     # as in a shell: 128 plus the signal's number if the command was killed


class Answer(concurrent.futures.Future):
    """A Result that the guest has not yet sent."""

    def result(self, timeout=None):
        return super().result(timeout and timeout * PATIENCE)


class GuestGone(Exception):
    """The guest or its agent was restarted before the command ended."""


class Agent:
    def __init__(self, path):
        self._socket = connect(path)
        self._stream = self._socket.makefile("rb")
        self._changed = threading.Condition()
        self._pending = {}
        self._last_id = 0
        self._closed = False
        self.boot_id = None     # boot ID of the guest that sent "hello" on this connection
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, command, data=b""):
        """Starts a shell command with `data` as its standard input; returns its Answer."""
        future = Answer()
        with self._changed:
            if self._closed:
                raise GuestGone("no connection to the guest agent")
            self._last_id += 1
            self._pending[self._last_id] = future
            text = command.encode()
            self._socket.sendall(b"\nrun %d %d %d\n" % (self._last_id, len(text), len(data)) + text + data)
        return future

    def wait_hello(self, timeout):
        """Waits for the agent's "hello" message; returns true if it arrived."""
        with self._changed:
            return self._changed.wait_for(lambda: self.boot_id or self._closed, timeout) and not self._closed

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass    # QEMU may already have closed its end
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
            pass    # close() has closed the connection, or QEMU has ended
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
    """Connects to a socket of QEMU. Retries while `alive` returns true, because QEMU creates the socket shortly after its start."""
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
