# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of calls to the service, which a test socket replaces: messages, replies and errors. Also tests runs of the drivekeep command."""
import contextlib
import io
import os
import signal
import socket
import stat
import threading

from fake import Fake
from measure import command, service
from measure.command import Trouble
from measure.service import Refused


class Bus(Fake):
    """Replies to each call with the result of `answer`: a signature and a body, or an error's name and text. If the result is
    None, closes the connection."""

    def setUp(self):
        super().setUp()
        self.heard = []
        self.answer = lambda member, body: ("", ())
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(".private")
        self.listener.listen()
        self.addCleanup(self.listener.close)
        threading.Thread(target=self.run_server, daemon=True).start()

    def run_server(self):
        with contextlib.suppress(OSError):      # the client closes the connection when the test ends
            self.serve()

    def serve(self):
        from jeepney import HeaderFields, new_error, new_method_return
        from jeepney.low_level import Parser
        connection = self.listener.accept()[0]
        text = b""
        while b"BEGIN\r\n" not in text:
            part = connection.recv(4096)
            if b"AUTH" in part:
                connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
            text += part
        parser = Parser()
        parser.add_data(text.partition(b"BEGIN\r\n")[2])
        while True:
            message = parser.get_next_message()
            if message is None:
                part = connection.recv(4096)
                if not part:
                    break
                parser.add_data(part)
                continue
            member = message.header.fields[HeaderFields.member]
            self.heard.append((member, message.body))
            reply = self.answer(member, message.body)
            if reply is None:
                break
            signature, body = reply
            if "." in signature:
                reply = new_error(message, signature, "s", (body,))
            else:
                reply = new_method_return(message, signature or None, body)
            connection.sendall(reply.serialise(serial=len(self.heard)))
        connection.close()

    def test_calls(self):
        s = service.connect(".")
        self.answer = lambda member, body: ("as", (body[0],)) if member == "Read" else ("", ())
        self.assertEqual(s.call("Read", "as", ["sda"]), (["sda"],))
        self.assertEqual(s.call("SetTemporary", "ssss", "sda", "apm", "64", "254"), ())
        self.assertIsNone(s.request_permission("sda"))
        s.read("sda")
        s.request("Reload")
        self.assertEqual(self.heard, [("Read", (["sda"],)), ("SetTemporary", ("sda", "apm", "64", "254")), ("GetReadPermission", ("sda",)), ("Read", (["sda"],)), ("Reload", ())])

    def test_refused(self):
        s = service.connect(".")
        for name, text, status, sentence in (
                ("org.freedesktop.DBus.Error.InvalidArgs", "apm does not accept this value.", 1,
                 "drivekeep.service rejected the request: apm does not accept this value."),
                ("org.freedesktop.DBus.Error.AccessDenied", "no", 1, "only root may do this")):
            with self.subTest(name):
                self.answer = lambda *_, reply=(name, text): reply
                with self.assertRaises(Refused):
                    s.call("SetTemporary", "s", "sda")
                with self.assertRaises(Trouble) as caught:
                    s.request("SetTemporary", "s", "sda")
                self.assertEqual((caught.exception.status, caught.exception.sentence), (status, sentence))
        self.answer = lambda *_: ("org.drivekeep1.Error.NotNow", "it waits for a check")
        self.assertEqual(s.request_permission("sda"), "it waits for a check")

    def test_gone(self):
        s = service.connect(".")
        self.answer = lambda *_: None
        for _ in range(2):
            with self.assertRaises(Trouble) as caught:
                s.request("EndTemporary", "s", "sda")
            self.assertEqual((caught.exception.status, caught.exception.of_service), (3, True))
            self.assertIn("drivekeep.service does not answer", caught.exception.sentence)
        self.assertTrue(s.request_permission("sda"))

    def test_late(self):
        s, done = service.connect("."), threading.Event()
        self.addCleanup(done.set)
        self.answer = lambda *_: done.wait() and ("", ())
        self.patch(service, "CALL_SECONDS", 0.05)
        with self.assertRaises(OSError):
            s.call("Reload", seconds=0.05)
        self.patch(s, "call", lambda *_, **__: (_ for _ in ()).throw(socket.timeout()))
        self.assertEqual(s.request_permission("sda"), "a visit to the drive takes long")

    def test_missing(self):
        """connect() returns None if the directory is missing or is a file, or if no process listens on the socket."""
        self.assertIsNone(service.connect("none"))
        os.mkdir("left")
        left = socket.socket(socket.AF_UNIX)
        left.bind("left/.private")
        left.close()
        self.assertIsNone(service.connect("left"))
        self.put("file", "")
        self.assertIsNone(service.connect("file"))
        self.assertEqual(service.missing().status, 3)


class Command(Fake):
    def setUp(self):
        super().setUp()
        self.patch(command, "COMMAND", str(self.here / "drivekeep"))

    def make(self, script):
        self.put("drivekeep", f"#!/bin/sh\n{script}")
        os.chmod("drivekeep", stat.S_IRWXU)

    def test_read(self):
        """Exit status 2 with JSON is no error; without JSON, the command's message is passed on."""
        err = io.StringIO()
        self.make('echo noted >&2; echo "{ \\"words\\": \\"$*\\" }"; exit 2')
        with contextlib.redirect_stderr(err):
            self.assertEqual(command.read("show", "sda"), {"words": "show --json sda"})
        self.assertEqual(err.getvalue(), "")
        self.make("echo why >&2; exit 1")
        with contextlib.redirect_stderr(err), self.assertRaises(Trouble):
            command.read("show")
        self.assertEqual(err.getvalue(), "why\n")
        for script, status in (("exit 75", 75), ("echo no; exit 1", 1), ("exit 0", 1), ("kill -KILL $$", 1)):
            with self.subTest(script):
                self.make(script)
                with self.assertRaises(Trouble) as caught:
                    command.read("show")
                self.assertEqual((caught.exception.status, caught.exception.sentence), (status, ""))

    def test_signals(self):
        """Signals that end the program do not interrupt the command."""
        self.make("kill -INT $$; kill -TERM $$; kill -HUP $$; echo {}")
        self.assertEqual(command.read("show"), {})
        self.assertFalse(signal.pthread_sigmask(signal.SIG_BLOCK, []) & set(command.SIGNALS))

    def test_document(self):
        document = command.document()
        self.assertEqual((document["version"], document["host"], len(document["boot_id"])), (2, os.uname().nodename, 32))
