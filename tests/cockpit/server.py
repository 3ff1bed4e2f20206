# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves the page as Cockpit does, with its Content-Security-Policy, and runs the commands of the page in a scene."""
from __future__ import annotations

import http.server
import json
import mimetypes
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parent.parent / "cockpit"
# The policy of Cockpit 337 for a package that asks for nothing (get_content_security_policy() in cockpit/packages.py).
POLICY = ("default-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'self'; object-src 'none'; font-src 'self' data:; "
          "img-src 'self' data:; block-all-mixed-content")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def _reply(self, path: pathlib.Path) -> None:
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", mimetypes.guess_type(path.name)[0] or "text/plain")
        self.send_header("Content-Length", str(len(data)))
        if path.suffix == ".html":
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        name = self.path.split("?")[0]
        if name == "/cockpit/@localhost/base1/cockpit.js":
            self._reply(HERE / "cockpit-stub.js")
        elif name.startswith("/cockpit/static/fonts/") and (font := self.server.fonts / pathlib.Path(name).name).exists():
            self._reply(font)
        elif name.endswith("/po.js") and (language := re.search("language=([a-z]+)", self.headers.get("Referer", ""))) \
                and (source := PAGE / f"po/{language[1]}.po").exists():
            with tempfile.TemporaryDirectory() as folder:
                catalog = pathlib.Path(folder) / "po.js"
                subprocess.run([sys.executable, PAGE / "po/make-catalog", source, catalog], check=True)
                self._reply(catalog)
        elif (file := PAGE / name.removeprefix("/cockpit/@localhost/drivekeep/")).is_file() and PAGE in file.resolve().parents:
            self._reply(file)
        else:   # a browser without a favicon, or fonts that are not installed
            self.send_response(204)
            self.end_headers()

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            end = self.server.scene.run(request["words"][1:], request["root"], request["required"], self._write)
            self._write("\0" + json.dumps(end))
        except (BrokenPipeError, ConnectionResetError):     # the page was closed
            pass
        self.close_connection = True

    def _write(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scene, fonts: pathlib.Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.scene, self.fonts = scene, fonts
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stops in the background: shutdown() waits up to half a second for the loop of serve_forever()."""
        threading.Thread(target=self._stop, daemon=True).start()

    def _stop(self) -> None:
        self.shutdown()
        self.server_close()

    def url(self, settings: str = "", path: str = "") -> str:
        return f"http://127.0.0.1:{self.server_port}/cockpit/@localhost/drivekeep/index.html?{settings}#{path}"
