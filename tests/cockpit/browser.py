# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium, driven by the DevTools protocol through a pipe: messages are JSON, and end with a zero byte."""
from __future__ import annotations

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60   # s; only a page that hangs needs so long

# As root, Chromium gives itself a higher priority than the emulated machines, whose drives are measured meanwhile.
DROP = "setpriv --bounding-set=-sys_nice"
POLITE = f'if {DROP} true 2>/dev/null; then set -- {DROP} "$@"; fi'

# Processes and pages that Chromium keeps for a user: a renderer for the next site, and the previous pages.
UNUSED = "--disable-features=SpareRendererForSitePerProcess,BackForwardCache"

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class BrowserError(Exception):
    pass


class Browser:
    """One page. `problems`: messages of the page's console, exceptions and violations of the Content-Security-Policy."""

    def __init__(self) -> None:
        self.profile = tempfile.mkdtemp(prefix="drivekeep-browser-")
        # Chromium reads commands from descriptor 3, and writes replies and events to descriptor 4.
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f"exec 3<&{theirs_in} 4>&{theirs_out}; {POLITE}; exec \"$@\"", "bash", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
             UNUSED, "--ignore-certificate-errors", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out, self._rest, self._number, self._session = ours_in, ours_out, b"", 0, None
        self.problems: list[str] = []
        self.events: list[dict] = []
        while not (pages := [t for t in self.command("Target.getTargets")["targetInfos"] if t["type"] == "page"]):
            time.sleep(0.05)
        self._session = self.command("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_) -> None:
        self.process.terminate()
        self.process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- the protocol ----

    def _receive(self, until: float) -> dict | None:
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(until - time.monotonic(), 0))[0]:
                return None
            data = os.read(self._in, 1 << 20)
            if not data:
                raise BrowserError("Chromium has ended")
            self._rest += data
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message: dict) -> None:
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description"))) for a in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{values['entry']['text']} {values['entry'].get('url', '')}")
        self.events.append(message)

    def command(self, method: str, **values) -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while reply := self._receive(until):
            if reply.get("id") == self._number:
                if "error" in reply:
                    raise BrowserError(f"{method}: {reply['error']['message']}")
                return reply["result"]
            self._note(reply)
        raise BrowserError(f"{method}: no reply")

    # ---- the page ----

    def open(self, url: str) -> None:
        self.events.clear()
        self.command("Page.navigate", url=url)

    def js(self, expression: str):
        """Returns the value of an expression. A promise is awaited."""
        reply = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise BrowserError(reply["exceptionDetails"].get("exception", {}).get("description", expression))
        return reply["result"].get("value")

    def wait(self, expression: str, seconds: float | None = None) -> None:
        """Waits until the expression is true."""
        until = time.monotonic() + (seconds or PATIENCE)
        while time.monotonic() < until:
            try:
                if self.js(f"!!({expression})"):
                    return
            except BrowserError:    # the page has just been replaced
                pass
            time.sleep(0.05)
        raise BrowserError(f"never true: {expression}\n{self.js('document.body.innerText')[:2000]}\n{self.problems}")

    def wait_text(self, text: str, seconds: float | None = None) -> None:
        self.wait(f"document.body.innerText.includes({json.dumps(text)})", seconds)

    def click(self, selector: str, text: str = "") -> None:
        """Focuses and clicks the first enabled element of the selector with this text, as soon as there is one. An event could replace the
        element between the press and the release of a pointer."""
        self.wait(f"(() => {{ const found = [...document.querySelectorAll({json.dumps(selector)})].find(e => !e.disabled && "
                  f"e.textContent.includes({json.dumps(text)})); found?.focus(); found?.click(); return found; }})()")

    def hover(self, x: float, y: float) -> None:
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def key(self, name: str, shift: bool = False) -> None:
        values = {"key": " " if name == "Space" else name, "code": name, "windowsVirtualKeyCode": KEYS[name], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", "Space": " "}.get(name)
        self.command("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **values, **({"text": text} if text else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **values)

    def type(self, text: str) -> None:
        self.command("Input.insertText", text=text)

    def size(self, width: int, height: int) -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, on: bool = True) -> None:
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if on else "light"}])

    def picture(self, path: pathlib.Path, whole: bool = True) -> None:
        values = {}
        if whole:
            area = self.command("Page.getLayoutMetrics")["cssContentSize"]
            values = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": area["width"], "height": min(area["height"], 8000), "scale": 1}}
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png", **values)["data"]))
