"""The page for Cockpit, with the suite's Cockpit and a real browser on the host."""
import re
import time

from cockpit import ADMIN, FRAME, MENU, VISITOR, Cockpit
from cutting import VERIFY
from drives.model import AtaDrive
from keeping import HELD, ours

FILE = """drives = (
  { match = { transport = "sata"; }; apm = 127; read_ahead_kb = 512; },
  { match = { serial = "SN-SLEEPY"; }; spindown_time = "20min"; },
  { match = { serial = "SN-LATE"; }; write_read_verify = "first"; allow_dangerous = true; }
);
"""
SLEEPY, PLAIN, REFUSER, HOSTILE, BARE, LATE = "SN-SLEEPY", "SN-PLAIN", "SN-REFUSER", "SN-HOSTILE", "SN-BARE", "SN-LATE"
# udev replaces brackets in the names of drives, but neither backslashes before an x nor valid UTF-8: udev_replace_chars() of systemd. The
# kernel builds the WWN of a drive without one from its name, brackets included. The command escapes characters that change the direction of writing.
HOSTILE_MODEL = "<img src=x>\u202egpj.evil \\x3cimg"
HOSTILE_PROGRAM = "<img src=x>"
PORT = 5


class Page(Cockpit):
    """The page for Cockpit shows six drives, follows plug, pull and wakes, tries and keeps a value, and sends no command to a drive in standby"""
    core = True

    def run(self):
        self.all = {serial: self.drive(serial) for serial in (SLEEPY, PLAIN, REFUSER)}
        self.all[HOSTILE] = AtaDrive(model=HOSTILE_MODEL, serial=HOSTILE)
        self.all[BARE] = self.drive(BARE, apm=None)
        self.all[REFUSER].inject("abort", command=0xEF, feature=0x05, origin="passthrough", times=None)
        self.late = self.drive(LATE, wrv=False)
        with self.drives(*self.all.values(), None) as (hba, arguments), self.cockpit(FILE, extra_args=arguments) as machine:
            self.nodes = {serial: name for name, serial in re.findall(r"^(\S+) +(\S+)$", machine.run("lsblk -dno NAME,SERIAL").stdout, re.M)}
            machine.run(f"drivekeep standby {self.nodes[SLEEPY]}")
            self.settle(machine)
            mark = self.all[SLEEPY].log.mark()
            self.match("the page is that of its package", machine.run("dpkg -S /usr/share/cockpit/drivekeep/index.html").stdout,
                       "^cockpit-drivekeep:")
            self.log_in(ADMIN)
            self.check_shell()
            self.open_alone()
            self.check_overview()
            self.check_plug(machine, hba)
            self.check_try(machine)
            self.check_reads(machine)
            self.check_hostile_drive()
            self.check_sleeping_drive(mark)
            self.check_wake(machine)
            self.claim_no_problems(ADMIN)
            self.log_in(VISITOR)
            self.open_alone()
            self.check_visitor(machine)
            self.claim_no_problems(VISITOR)

    def row(self, serial):
        return f"document.querySelector('.drives > [data-key={self.nodes[serial]}]')"

    def open_drive(self, serial):
        self.browser.js(f"location.hash = '/drive/{self.nodes[serial]}'")
        self.browser.wait(f"document.querySelector('.bar h2').innerText === '{self.nodes[serial]}' && document.querySelector('[data-key=rules]')")

    def claim_no_problems(self, user):
        self.equal(f"the browser's console has no message of the page for {user}", [p for p in self.browser.problems if "/drivekeep/" in p], [])
        self.browser.problems.clear()

    def check_shell(self):
        self.browser.js(f"{MENU}.click()")
        self.shows("Cockpit's shell shows the page", FRAME, "Programs that woke drives")
        self.picture("shell", whole=False)

    def check_overview(self):
        b = self.browser
        b.wait(f"document.querySelectorAll('.drives > .drive').length >= {len(self.all)} && document.querySelector('[data-key=wakers]')")
        self.shows("the drive that was put into standby is shown in standby", self.row(SLEEPY), "Standby")
        self.shows("a refused setting is shown with its reason", self.row(REFUSER), "the drive rejected")
        self.shows("the settings of another drive are kept", self.row(PLAIN), "2 kept")
        self.shows("a drive's name in HTML, in escapes and from right to left is plain text", self.row(HOSTILE),
                   r"_img_src=x_\xe2\x80\xaegpj.evil_\x3cimg")
        self.equal("a drive's name makes no element", b.js("document.querySelectorAll('img').length"), 0)
        self.becomes("a user of the group sudo may press the buttons", f"!{self.row(REFUSER)}.querySelector('button').disabled")
        self.claim_fits("overview")
        b.js("localStorage.setItem('shell:style', 'dark')")
        self.open_alone()
        self.equal("the page is dark if Cockpit's shell is", b.js("getComputedStyle(document.body).backgroundColor"), "rgb(21, 21, 21)")
        b.js("localStorage.removeItem('shell:style')")
        self.open_alone()

    def wait_rows(self, number):
        self.browser.wait(f"document.querySelectorAll('.drives > .drive').length === {number}")

    def check_plug(self, machine, hba):
        """The drive is pulled while a dangerous setting is sent to the drive, and the setting is therefore quarantined."""
        b, before = self.browser, self.browser.js("document.querySelectorAll('.drives > .drive').length")
        self.late.inject("never", origin="passthrough", times=None, **VERIFY)
        mark = self.late.log.mark()
        started = time.monotonic()
        hba.attach(PORT, self.late)
        self.wait_rows(before + 1)
        self.note(f"the page showed the drive {time.monotonic() - started:.1f} s after it was plugged in")
        self.claim("a drive that is plugged in appears", LATE in b.js("document.body.innerText"))
        self.late.log.wait(mark, 60, fault="never", status=None)
        hba.detach(PORT)
        self.wait_rows(before)
        self.claim("a drive that is pulled disappears", LATE not in b.js("document.body.innerText"))
        self.late.faults.clear()
        hba.attach(PORT, self.late)
        self.wait_rows(before + 1)
        self.shows("the setting during which a drive was pulled is in quarantine", "document.querySelector('.drives')", "in quarantine")
        self.settle(machine)
        self.equal("the drive does not have the setting", self.late["wrv"], None)
        self.picture("quarantined")
        self.browser.click(".problems button", "Release")
        self.browser.click(".asking .warning", "Release")
        b.wait_text("Done: drivekeep release")
        machine.wait_until(lambda: self.late["wrv"] == 1)
        self.claim("the drive has the setting after its release", True)

    def change(self, name, value):
        b = self.browser
        self.browser.click("table.settings tr button", "Change")
        b.wait("document.activeElement.id === 'change-apm'")
        b.js("document.activeElement.select()")
        b.type(value)
        b.key("Enter")
        b.wait_text(f"Done: drivekeep try {name} apm={value}")
        b.wait_text("Tried until the next boot: apm = " + value)
        b.wait("!document.querySelector('form.change')")    # the form closes when the page has read the drive's state again

    def check_try(self, machine):
        b, plain, name = self.browser, self.all[PLAIN], self.nodes[PLAIN]
        self.open_drive(PLAIN)
        self.change(name, "64")
        self.equal("a tried value is in the drive", plain["apm"], 64)
        self.picture("tried")
        self.browser.click("[data-key=settings] button", "Undo")
        b.wait_text(f"Done: drivekeep try --undo {name}")
        self.equal("the old value is in the drive after the trial", plain["apm"], 127)
        self.change(name, "65")
        self.browser.click("[data-key=settings] button", "Keep")
        b.wait_text(f"Done: drivekeep try --keep {name}")
        self.equal("a kept value is in the drive", plain["apm"], 65)
        self.match("a kept value is in a file", machine.run("cat /etc/drivekeep/drivekeep.conf.d/90-*.conf").stdout, "apm = 65;")
        self.shows("the page names the file of the kept value", "document.querySelector('table.settings')", "90-")

    def check_reads(self, machine):
        """The page reads a drive only at the press of a button."""
        b, plain = self.browser, self.all[PLAIN]
        self.settle(machine)
        mark = plain.log.mark()
        b.js("location.hash = '/findings'")
        b.wait("document.querySelector('.bar h2')?.innerText === 'Findings' && !document.querySelector('[data-key=wait]')")
        self.picture("findings")
        self.open_drive(PLAIN)
        self.equal("the view of a drive sends no command to the drive", ours(plain, mark), [])
        self.browser.click("[data-key=other] button", "Read what the drive supports")
        b.wait("document.querySelector('[data-key=other]').innerText.includes('lookahead')")
        self.claim("a button reads the drive", ours(plain, mark, command=0xEC))
        self.browser.click("[data-key=plan] button", "Show the plan")
        self.shows("another button shows the plan", "document.querySelector('[data-key=plan]')", "Read again")
        self.equal("both buttons change no setting", [e for e in ours(plain, mark) if e.sets], [])
        self.claim_fits("drive")

    def check_hostile_drive(self):
        b = self.browser
        self.open_drive(HOSTILE)
        self.shows("a WWN in HTML is plain text", "document.querySelector('[data-key=facts]')", "<img src=x>")
        self.equal("a WWN makes no element", b.js("document.querySelectorAll('img').length"), 0)
        self.picture("hostile")

    def check_sleeping_drive(self, mark):
        b, sleepy = self.browser, self.all[SLEEPY]
        self.open_drive(SLEEPY)
        self.equal("an open page sends no command to a drive in standby", ([str(e) for e in ours(sleepy, mark)], sleepy["mode"]), ([], "standby"))
        self.browser.click("[data-key=plan] button", "Show the plan")
        b.wait("document.querySelector('[data-key=plan]').innerText.includes('Read again')")
        self.equal("a plan leaves a drive in standby", sleepy["mode"], "standby")
        self.picture("asleep")
        b.js("location.hash = '/'")

    def check_wake(self, machine):
        b, band = self.browser, f"{self.row(SLEEPY)}.querySelector('[role=slider]')"
        program = f"/usr/local/bin/{HOSTILE_PROGRAM}"
        held = HELD.format(f'"{program}" if=/dev/{self.nodes[SLEEPY]} bs=4096 count=1 iflag=direct')
        machine.run(f"cp /bin/dd '{program}' && systemd-run --unit=cause {held}")
        started = time.monotonic()
        self.shows("a drive that a program has woken is shown as active", self.row(SLEEPY), "Active")
        b.wait(band)
        self.note(f"the band showed the wake {time.monotonic() - started:.1f} s after the program was started")
        self.match("the band names the program and the unit that woke the drive",
                   b.js(f"{band}.getAttribute('aria-valuetext')"), rf"{HOSTILE_PROGRAM} \(cause\.service\)")
        self.match("the table of wakers has the unit", b.js("document.querySelector('table.wakers').innerText"), r"cause\.service\s+1")
        x, y = b.js(f"(() => {{ const a = {band}.getBoundingClientRect(); return [a.right - 1, a.top + a.height / 2]; }})()")
        b.hover(x, y)
        self.shows("a pointer on the wake shows the program", "document.querySelector('.tip')", HOSTILE_PROGRAM)
        self.equal("a program's name makes no element", b.js("document.querySelectorAll('img').length"), 0)
        self.picture("woken", whole=False)
        b.hover(1, 1)
        machine.run("systemctl stop cause")

    def check_visitor(self, machine):
        b = self.browser
        b.wait_text("Limited access")
        self.shows("a visitor without rights sees the state of the drives", self.row(REFUSER), "the drive rejected")
        self.equal("a visitor without rights can press no button that changes a drive",
                   b.js("document.querySelectorAll('.drives button:not(:disabled)').length"), 0)
        self.claim_fits("visitor")
        machine.run(f"drivekeep standby {self.nodes[SLEEPY]}")
        self.shows("the page of a visitor shows that a drive enters standby", self.row(SLEEPY), "Standby")
        machine.run(f"dd if=/dev/{self.nodes[SLEEPY]} of=/dev/null bs=4096 count=1 iflag=direct")
        self.shows("the page of a visitor shows that a drive becomes active", self.row(SLEEPY), "Active")
        self.claim("the page of a visitor follows the service", "does not show" not in b.js("document.querySelector('.notes').innerText"))
