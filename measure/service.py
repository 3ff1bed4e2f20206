# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls drivekeep.service through a private connection to its socket. Temporary values and read permissions end with the connection,
however this program ends."""
from __future__ import annotations

import itertools
import socket
import typing

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.io.blocking import prep_socket
from jeepney.low_level import Parser

from measure.command import NO_SERVICE, Trouble

VISIT_SECONDS = 3600    # never reached in practice: the service limits how long a visit waits for an fsck
CALL_SECONDS = 25


class Refused(Exception):
    """The service answered with an error; the message is the cause."""

    def __init__(self, name: str, sentence: str):
        super().__init__(sentence)
        self.name = name


class Service:
    def __init__(self, path: str):
        self._socket, self._parser, self._serials = prep_socket(path), Parser(), itertools.count(1)

    def call(self, member: str, signature: str = "", *arguments: typing.Any, seconds: float = CALL_SECONDS) -> tuple:
        """Calls a method and returns the arguments of the reply. Raises Refused, or OSError if there is no reply."""
        manager, serial = DBusAddress("/org/drivekeep1", "org.drivekeep1", "org.drivekeep1.Manager"), next(self._serials)
        self._socket.settimeout(seconds)
        self._socket.sendall(new_method_call(manager, member, signature or None, arguments).serialise(serial=serial))
        answer = None
        while answer is None or answer.header.fields.get(HeaderFields.reply_serial) != serial:
            answer = self._parser.get_next_message()
            if answer is None:
                part = self._socket.recv(4096)
                if not part:
                    raise ConnectionResetError
                self._parser.add_data(part)
        if answer.header.message_type == MessageType.error:
            raise Refused(answer.header.fields[HeaderFields.error_name], answer.body[0] if answer.body else "")
        return answer.body

    def request(self, member: str, signature: str = "", *arguments: typing.Any, seconds: float = CALL_SECONDS) -> tuple:
        """Like call(), but raises Trouble on errors."""
        try:
            return self.call(member, signature, *arguments, seconds=seconds)
        except (OSError, Refused) as error:
            raise explain(error) from None

    def read(self, name: str) -> None:
        """Waits until the visit to this drive has ended. An earlier call must have requested the visit."""
        self.request("Read", "as", [name], seconds=VISIT_SECONDS)

    def request_permission(self, name: str) -> str | None:
        """Requests permission to read the drive; for a minute, the service does not visit the drive. Returns None if permitted, or else the
        cause."""
        try:
            self.call("GetReadPermission", "s", name)
        except socket.timeout:
            return "a visit to the drive takes long"
        except OSError as error:
            return error.strerror or "drivekeep.service did not answer"
        except Refused as refused:
            return str(refused) or refused.name
        return None


def connect(state_dir: str) -> Service | None:
    """Connects to the service. Returns None if the service is not running."""
    try:
        return Service(f"{state_dir}/.private")
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        return None
    except OSError as error:
        raise explain(error) from None


def explain(error: Exception) -> Trouble:
    if isinstance(error, Refused):
        if error.name in ("org.freedesktop.DBus.Error.AccessDenied", "System.Error.EPERM"):
            return Trouble("only root may do this")
        return Trouble(f"drivekeep.service rejected the request: {error}", of_service=True)
    return Trouble("drivekeep.service does not answer; 'systemctl status drivekeep.service' shows more", NO_SERVICE, of_service=True)


def missing() -> Trouble:
    return Trouble("drivekeep.service does not run; 'systemctl start drivekeep.service' starts it", NO_SERVICE, of_service=True)
