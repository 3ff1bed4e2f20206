"""Base class of the scenarios about the page for Cockpit: a machine with the suite's Cockpit, and a real browser on the host."""
import contextlib
import os
import pathlib
import socket
import sys

from keeping import CONF, TRACING, Keeping
from patience import PATIENCE

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cockpit"))

ARCHIVE = "/usr/lib/drivekeep-test/packages"
PAGE = "/cockpit/@localhost/drivekeep/index.html"
HEIGHT = 900    # pixels
ADMIN, VISITOR = "admin", "visitor"
# The package of the page depends on that of drivekeep, which the image has only unpacked. Without TLS, the emulated machine need not make a
# key. Members of the group sudo may use sudo with their password, as Debian's /etc/sudoers permits.
SETUP = TRACING + f"""dpkg -i --force-confold {ARCHIVE}/now.deb {ARCHIVE}/cockpit.deb < /dev/null
mkdir -p /etc/systemd/network /etc/cockpit
printf '[Match]\\nName=e*\\n[Network]\\nDHCP=ipv4\\n' > /etc/systemd/network/test.network
printf '[WebService]\\nAllowUnencrypted=true\\n' > /etc/cockpit/cockpit.conf
useradd -m -s /bin/sh -G sudo {ADMIN}
useradd -m -s /bin/sh {VISITOR}
printf '{ADMIN}:secret\\n{VISITOR}:secret\\n' | chpasswd
systemctl enable systemd-networkd cockpit.socket drivekeep
"""
MENU = "document.querySelector('nav a[href*=\"drivekeep\"]')"
FRAME = "document.querySelector('iframe[name*=\"/drivekeep\"]')?.contentDocument?.body"


class Cockpit(Keeping):
    """Base class, not itself a scenario."""
    packages = ("cockpit-ws", "cockpit-bridge", "cockpit-system", "sudo", "systemd-journal-remote")
    rare = True

    @contextlib.contextmanager
    def cockpit(self, text, extra_args=()):
        """Runs a machine with Cockpit and the configuration `text`, and a browser."""
        import browser      # pylint: disable=import-outside-toplevel # only these scenarios need Chromium

        browser.PATIENCE = 60 * PATIENCE
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        network = ["-netdev", f"user,id=net0,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:9090", "-device", "virtio-net-pci,netdev=net0"]
        with self.machine(cold=True, files={CONF: text}, setup=SETUP, extra_args=[*extra_args, *network]) as machine, \
             browser.Browser() as self.browser:
            self.browser.size(1280, HEIGHT)
            self.settle(machine)
            machine.wait_until("systemctl is-active -q cockpit.socket && ls /run/systemd/netif/leases/*", 120)
            yield machine

    def log_in(self, user):
        """Logs in by the form. The administrator turns administrative access on, as the form does for a user who has done so before."""
        b = self.browser
        b.command("Network.clearBrowserCookies")
        b.open(self.url)
        for field, text in (("user", user), ("password", "secret")):
            b.wait(f"document.querySelector('#login-{field}-input')?.offsetParent")
            b.js(f"document.querySelector('#login-{field}-input').focus()")
            b.type(text)
        b.js(f"localStorage.setItem('superuser:{user}', '{'any' if user == ADMIN else 'none'}')")
        b.click("#login-button")
        b.wait(MENU)
        self.claim(f"Cockpit's menu has the page after the login of {user}", "Drive settings" in b.js(f"{MENU}.innerText"))

    def open_alone(self):
        """Opens or reloads the page without the frame of Cockpit's shell, which the emulated machine serves slowly."""
        self.browser.js("document.body.replaceChildren()")
        self.browser.open(self.url + PAGE)
        self.browser.wait("document.querySelector('.drives')")

    def picture(self, name, width=1280, whole=True):
        if folder := os.environ.get("DRIVEKEEP_PICTURES"):
            if whole:
                self.browser.size(width, max(HEIGHT, min(self.browser.js("document.documentElement.scrollHeight"), 5000)))
            self.browser.picture(pathlib.Path(folder) / f"vm-{self.image.suite}-{name}.png", whole=False)
            self.browser.size(width, HEIGHT)

    def becomes(self, text, expression):
        """Claims that an expression becomes true sooner or later."""
        try:
            self.browser.wait(expression)
            holds = True
        except Exception:   # pylint: disable=broad-exception-caught # the claim shows the page
            holds = False
        return self.claim(text, holds, self.browser.js("document.body.innerText"))

    def shows(self, text, element, part):
        """Claims that an element, given as an expression, shows a text sooner or later."""
        return self.becomes(text, f"{element}?.innerText.includes({part!r})")

    def claim_fits(self, what):
        """Claims that the page needs no scrolling to the side, and takes pictures, in light and in dark colours."""
        b = self.browser
        for width in (1280, 375):
            b.size(width, HEIGHT)
            self.equal(f"{what}: the page fits in {width} pixels",
                       b.js("document.documentElement.scrollWidth > document.documentElement.clientWidth"), False)
            for dark in (True, False):
                b.dark(dark)
                self.picture(f"{what.replace(' ', '-')}-{width}{'-dark' if dark else ''}", width)
        b.size(1280, HEIGHT)
