#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of cockpit/ in a headless Chromium, without Cockpit and without drives: tests/cockpit/test_page.py [NAME…]. Prints TAP.

DRIVEKEEP_PICTURES=DIR writes a picture of each view, and the pictures of cockpit/screenshots. DRIVEKEEP_AXE=FILE is the path of axe-core's
axe.min.js; without the file, the accessibility rules are not checked."""
from __future__ import annotations

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import browser
import scenes
import server

PICTURES = os.environ.get("DRIVEKEEP_PICTURES")
AXE = os.environ.get("DRIVEKEEP_AXE")
FONTS = pathlib.Path(os.environ.get("DRIVEKEEP_FONTS", "/usr/share/cockpit/static/fonts"))
# Commands that send a command to a drive, or let the service do so.
REACH_DRIVES = ("show", "plan", "apply", "try", "release", "standby", "bench ", "tune ")
ROWS = "document.querySelectorAll('.drives > .drive').length"


def setUpModule() -> None:
    Page.browser = unittest.enterModuleContext(browser.Browser())


class Page(unittest.TestCase):
    browser: browser.Browser    # of all tests

    def setUp(self) -> None:
        self.redraws = 70
        self.browser.problems.clear()
        self.browser.size(1280, 800)
        self.browser.dark(False)

    def tearDown(self) -> None:
        # Fonts are those of Cockpit, if it is installed.
        self.assertEqual([p for p in self.browser.problems if "downloaded font" not in p], [], "messages in the browser's console")

    def open(self, scene: scenes.Scene, settings: str = "", path: str = "", text: str = "Programs that woke drives") -> scenes.Scene:
        self.server = server.Server(scene, FONTS)
        self.addCleanup(self.server.stop)
        self.addCleanup(self.browser.open, "about:blank")
        self.browser.open(self.server.url(settings, path))
        self.browser.wait_text(text)
        return scene

    def picture(self, name: str) -> None:
        if PICTURES:
            width = self.browser.js("document.documentElement.clientWidth")
            self.browser.size(width, self.browser.js("document.documentElement.scrollHeight"))
            self.browser.picture(pathlib.Path(PICTURES) / f"{name}.png", whole=False)

    def check_accessibility(self) -> None:
        if AXE:
            self.browser.js(pathlib.Path(AXE).read_text() + "; true")
            found = self.browser.js("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                                    "`${v.impact} ${v.id}: ${v.nodes.map(n => n.html.slice(0, 150)).join(' | ')}`))")
            self.assertEqual([v for v in found if v.split()[0] in ("serious", "critical")], [])

    def check_fits(self) -> None:
        self.assertLessEqual(self.browser.js("document.documentElement.scrollWidth"), self.browser.js("document.documentElement.clientWidth"))

    def until(self, condition) -> None:
        """Waits until a condition of the scene holds. The browser's replies arrive meanwhile."""
        for _ in range(browser.PATIENCE * 20):
            if condition():
                return
            self.browser.js("new Promise(r => setTimeout(r, 50))")
        self.fail("the page never did what the test waits for")

    def wait_loaded(self, scene: scenes.Scene) -> None:
        """Waits until the page has run the commands of its start, and shows their results."""
        self.until(lambda: {"list", "status", "wakes", "wakes --summary", "check"} <= set(scene.commands))
        self.browser.wait("document.querySelector('table.wakers, [data-key=wakers]')")

    def redraw(self, scene: scenes.Scene, name: str) -> None:
        """Changes what the page shows of a drive, and waits until it is shown."""
        self.redraws += 1
        scene.drive(name).listed.update(spindown=f"{self.redraws} days")
        scene.change()
        self.browser.wait_text(f"{self.redraws} days")

    def text(self, selector: str) -> str:
        return self.browser.js(f"document.querySelector({json.dumps(selector)})?.innerText")


class Files(unittest.TestCase):
    def test_all_files_are_installed(self):
        listed = set(re.findall(r"'([\w.]+\.(?:js|html|css|json))'", (server.PAGE / "meson.build").read_text()))
        self.assertEqual(listed, {file.name for file in server.PAGE.iterdir() if file.suffix in (".js", ".html", ".css", ".json")})

    def test_only_one_file_runs_programs(self):
        for file in server.PAGE.glob("*.js"):
            text = file.read_text()
            self.assertEqual([word for word in ("spawn", "script(", "dbus", "http(", "channel(") if f"cockpit.{word}" in text],
                             ["spawn", "channel("] if file.name == "drivekeep.js" else [], file.name)
            self.assertNotRegex(text, r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b", file.name)


class Timeline(Page):
    def test_the_states_are_those_of_show_plot(self):
        """measure/week.py has the same rules: compares the states of each second for random records."""
        sys.path.insert(0, str(HERE.parents[1]))
        from measure import week    # pylint: disable=import-outside-toplevel # only this test needs it

        self.open(scenes.usual())
        chance, now = random.Random(7), int(scenes.time.time())
        for _ in range(40):
            at, wakes, boots = now - week.KEPT, [], ["before", scenes.BOOT]
            for _ in range(chance.randrange(0, 12)):
                at += chance.choice((30, 600, 9000, 90000))
                if at < now:
                    wakes.append({"time": scenes.stamp(at), "boot_id": boots[chance.random() < 0.7], "standby_seconds": chance.choice((None, 0, 500, 20000))})
            wakes.sort(key=lambda w: w["boot_id"] == scenes.BOOT)
            since = chance.choice((None, now - chance.randrange(1, 100000), at + 40 if at + 40 < now else now - 50))
            drive = {"power": chance.choice(("standby", "active/idle", "active/idle", "suspended")), "power_since": scenes.stamp(since),
                     "power_until": scenes.stamp(max(since, now - 20)) if since else None}
            wakes.sort(key=lambda w: w["time"])
            expected = week.find_states(wakes, drive, scenes.BOOT, now)
            parts = self.browser.js(f"""import('./timeline.js').then(m => m.make_timeline({json.dumps(wakes)}.map(w => ({{ ...w, at: Date.parse(w.time) }})),
                {{ ...{json.dumps(drive)}, power_as_of: {json.dumps(drive['power_until'])} }}, '{scenes.BOOT}', {now * 1000}))""")
            states = bytearray(week.KEPT)
            for part in parts:
                begin, end = (min(max(int(part[key] / 1000) - now + week.KEPT, 0), week.KEPT) for key in ("from", "to"))
                states[begin:end] = bytes([week.STANDBY if part["standby"] else week.ACTIVE]) * (end - begin)
            self.assertEqual(bytes(states) == expected, True, (wakes, drive, parts))


class Overview(Page):
    def test_scenes_are_valid(self):
        for scene in (scenes.usual(), scenes.many(3, 20)):
            self.assertEqual(scenes.validate(scene), [])

    def test_all_drives_are_shown(self):
        self.open(scenes.usual())
        self.browser.wait(f"{ROWS} === 6 && document.querySelector('table.wakers')")
        self.assertIn("3 settings are not kept · 1 setting waits", self.text(".bar"))
        self.assertIn("128 was accepted, but the value is still 254", self.text("[data-key=sdb] .problems"))
        self.assertIn("bay 0:0:24:0/Slot 04", self.text("[data-key=sda]"))
        self.assertIn("35 °C at", self.text("[data-key=sda]"))
        self.assertIn("pci-0000:00:14.0-usb", self.text("[data-key=sdc]"))
        self.assertNotIn("°C", self.text("[data-key=sdc]"))
        self.assertNotIn("no APM", self.text(".drives"))    # unsupported, and the rule does not name the drive
        self.assertIn("smbd.service", self.text("table.wakers"))
        self.assertIn("add '-n standby' to the line of the drive", self.text("table.wakers"))
        self.check_accessibility()
        self.check_fits()
        self.picture("overview")

    def test_an_open_page_sends_no_command_to_a_drive(self):
        scene = self.open(scenes.usual())
        for path in ("/drive/sda", "/findings", "/measured", "/"):
            self.browser.js(f"location.hash = '{path}'")
            self.browser.wait({"/drive/sda": "document.querySelector('[data-key=cost]')", "/findings": "document.querySelector('.findings')",
                               "/measured": "document.body.innerText.includes('All measurements')", "/": "document.querySelector('.drives')"}[path])
        self.browser.wait_text("Programs that woke drives")
        # With the kernel name of a drive, --compare would read the drive to find its key.
        self.assertEqual([c for c in scene.commands if c.startswith(REACH_DRIVES)], ["bench --compare 5YD1XYZ0"])

    def test_nothing_is_read_without_an_event(self):
        scene = self.open(scenes.usual())
        self.wait_loaded(scene)
        before = len(scene.commands)
        self.browser.js("new Promise(r => setTimeout(r, 2000))")
        self.assertEqual(scene.commands[before:], [])

    def test_an_event_updates_the_row(self):
        scene = self.open(scenes.usual())
        self.browser.wait("document.querySelector('table.wakers')")
        self.browser.js("document.querySelector('[data-key=nvme0n1]').marked = true")
        sda = scene.drive("sda")
        before = self.browser.js("+document.querySelector('[data-key=sda] .band').getAttribute('aria-valuemax')")
        sda.listed.update(power="active/idle", power_since=scenes.stamp(scenes.time.time()), power_as_of=scenes.stamp(scenes.time.time()))
        scene.emit("active", "sda", serial="5YD1XYZ0", process="rsync", unit="backup.service", what="read sector 8", standby_seconds=7900)
        self.browser.wait("document.querySelector('[data-key=sda] .power').innerText.includes('Active')")
        self.assertEqual(self.browser.js("+document.querySelector('[data-key=sda] .band').getAttribute('aria-valuemax')"), before + 1)
        self.assertIn("rsync (backup.service)", self.browser.js("document.querySelector('[data-key=sda] .band').getAttribute('aria-valuetext')"))
        self.assertIn("backup.service", self.text("table.wakers"))
        self.assertTrue(self.browser.js("document.querySelector('[data-key=nvme0n1]').marked"), "another row was drawn again")
        self.assertEqual(sum(c == "wakes" for c in scene.commands), 1, "the journal is read once")

    def test_a_wake_without_a_record_changes_only_the_state(self):
        scene = self.open(scenes.usual())
        self.browser.wait("document.querySelector('table.wakers')")
        before = self.browser.js("document.querySelector('[data-key=sda] .band').getAttribute('aria-valuemax')")
        scene.drive("sda").listed.update(power="active/idle")
        scene.emit("active", "sda", serial="5YD1XYZ0", kind=None)
        self.browser.wait("document.querySelector('[data-key=sda] .power').innerText.includes('Active')")
        self.assertEqual(self.browser.js("document.querySelector('[data-key=sda] .band').getAttribute('aria-valuemax')"), before)

    def test_a_wake_during_the_read_of_the_journal(self):
        """At the start, and when the user reads again: the wake is shown once."""
        scene = scenes.usual()
        reply, reads, goes_on = scene._reply, [], threading.Semaphore(0)

        def slow(words, root):
            document = reply(words, root)
            if words[0] == "wakes":
                reads.append(words)
                if words == ["wakes"]:      # after the summary, or before
                    goes_on.acquire()
            return document

        scene._reply = slow
        self.open(scene, text="Reading the journal")
        for n, unit in ((1, "early.service"), (2, "again.service")):
            if n == 2:
                scene.service = False
                scene.change()
                self.browser.click("button", "Read again")
                scene.service = True
            self.until(lambda: len(reads) >= 2 * n and scene.followers)    # pylint: disable=cell-var-from-loop # called at once
            scene.emit("active", "sda", serial="5YD1XYZ0", unit=unit)
            self.redraw(scene, "sda")
            goes_on.release()
            self.browser.wait(f"document.querySelector('table.wakers')?.innerText.includes('{unit}')")
            self.redraw(scene, "sdb")
            self.assertIn(f"{unit}\t1\t", re.sub(r"\s*\t\s*", "\t", self.text("table.wakers")))

    def test_the_clock_is_that_of_the_machine(self):
        scene = scenes.usual()
        scene.clock = 7200
        self.open(scene)
        self.browser.wait("document.querySelector('table.wakers')")
        scene.emit("active", "sda", serial="5YD1XYZ0", unit="late.service")
        self.browser.wait("document.querySelector('table.wakers').innerText.includes('late.service')")

    def test_a_drive_that_enters_standby_causes_no_read_of_the_journal(self):
        scene = self.open(scenes.usual(), path="/drive/sdb", text="Cost and benefit")
        self.wait_loaded(scene)
        before = len(scene.commands)
        scene.drive("sdb").listed.update(power="standby", power_since=scenes.stamp(scene.now()))
        scene.emit("standby", "sdb")
        self.browser.wait("document.querySelector('[data-key=facts]').innerText.includes('Standby')")
        self.browser.js("new Promise(r => setTimeout(r, 500))")
        self.assertEqual(set(scene.commands[before:]), {"list", "status"})

    def test_an_event_keeps_the_focus_and_the_tooltip(self):
        scene = self.open(scenes.usual())
        self.browser.wait("document.querySelector('[data-key=sda] .band[role=slider]')")
        self.browser.js("document.querySelector('[data-key=sda] .band').focus()")
        for _ in range(3):
            self.browser.key("ArrowLeft")
        before = self.browser.js("[document.activeElement.dataset.focus, document.activeElement.getAttribute('aria-valuetext')]")
        scene.drive("sda").listed.update(spindown="21 min")     # the row is drawn again
        scene.emit("verdict", "sda", setting="apm", verdict="applied")
        self.browser.wait("document.body.innerText.includes('21 min')")
        self.assertEqual(self.browser.js("[document.activeElement.dataset.focus, document.activeElement.getAttribute('aria-valuetext')]"), before)
        self.assertTrue(self.browser.js("!document.querySelector('.tip').hidden"))

    def test_an_error_of_the_page_does_not_stop_it(self):
        scene = self.open(scenes.usual())
        self.browser.wait("document.querySelector('table.wakers')")
        drive = scene.drive("sda")
        usual, drive.status = drive.status, lambda: {"name": "sda"}
        scene.change()
        self.browser.wait_text("This page has an error")
        drive.status = usual
        drive.listed.update(power="active/idle")
        scene.change()
        self.browser.wait("document.querySelector('[data-key=sda] .power').innerText.includes('Active')")
        self.assertNotIn("This page has an error", self.text(".notes"))
        self.browser.problems.clear()

    def test_messages_of_commands_are_shown(self):
        scene = scenes.usual()
        document, _, _ = scene._reply(["wakes"], True)
        scene.replies["wakes"] = ({**document, "wakes": []}, "drivekeep: wakers are not recorded: the kernel has no tracefs", 0)
        scene.replies["status"] = ("", "drivekeep: '/run/drivekeep/drives/sda' cannot be read: Input/output error", 1)
        self.open(scene)
        self.browser.wait_text("wakers are not recorded: the kernel has no tracefs")
        self.browser.wait_text("'/run/drivekeep/drives/sda' cannot be read: Input/output error")

    def test_a_hidden_page_reads_nothing(self):
        scene = self.open(scenes.usual())
        self.wait_loaded(scene)
        self.browser.js("cockpit.hidden = true; cockpit.dispatchEvent(new Event('visibilitychange'))")
        before = len(scene.commands)
        scene.drive("sda").listed.update(power="active/idle")
        scene.emit("active", "sda", serial="5YD1XYZ0")
        self.browser.js("new Promise(r => setTimeout(r, 1000))")
        self.assertEqual(scene.commands[before:], [])
        self.browser.js("cockpit.hidden = false; cockpit.dispatchEvent(new Event('visibilitychange'))")
        self.browser.wait("document.querySelector('[data-key=sda] .power').innerText.includes('Active')")

    def test_a_drive_comes_and_goes(self):
        scene = self.open(scenes.usual())
        scene.drives.append(scenes.Drive("sde", "New drive", "N1", 5e11, "usb"))
        scene.emit("attached", "sde", serial="N1")
        self.browser.wait(f"{ROWS} === 7")
        scene.drives.pop()
        scene.emit("gone", "sde", serial="N1")
        self.browser.wait(f"{ROWS} === 6")

    def test_many_events_cause_few_reads(self):
        scene = self.open(scenes.usual())
        self.browser.wait("document.querySelector('table.wakers')")
        before = scene.commands.count("list")
        for i in range(200):
            scene.emit("verdict", "sda", setting="apm", verdict="applied", wanted=str(i))
        scene.drive("sda").listed.update(power="active/idle")
        scene.emit("active", "sda", serial="5YD1XYZ0")
        self.browser.wait("document.querySelector('[data-key=sda] .power').innerText.includes('Active')")
        self.assertLess(scene.commands.count("list") - before, 100)

    def test_strings_of_drives_are_text(self):
        scene = self.open(scenes.usual())
        self.assertIn("<img src=x onerror=", self.text("[data-key=sdc]"))
        self.assertIn("\\u{202e}gpj.evil", self.text("[data-key=sdc]"))
        for path in ("/drive/sdc", "/drive/sdd", "/drive/%3Cimg%20src=x%3E", "/"):
            self.browser.js(f"location.hash = '{path}'")
            self.browser.wait_text({"/": "Programs that woke drives"}.get(path, "Drives ›" if "img" not in path else "is not attached"))
            self.assertEqual(self.browser.js("document.querySelectorAll('img, script:not([src])').length"), 0)
        self.assertEqual(self.browser.js("document.title"), "Drive settings")
        self.assertEqual([c for c in scene.commands if "img" in c], [])

    def test_widths_and_themes(self):
        for width in (1280, 375):
            for settings, dark in (("", False), ("", True), ("rtl&language=he", False)):
                for path, text in (("", None), ("/drive/sda", "Cost and benefit"), ("/findings", "Warnings"), ("/measured", "no difference")):
                    with self.subTest(width=width, settings=settings, dark=dark, path=path):
                        self.browser.size(width, 800)
                        self.browser.dark(dark)
                        if path:
                            self.browser.js(f"location.hash = '{path}'")
                            self.browser.wait_text(text)    # no other view has this text
                        else:
                            self.open(scenes.usual(), settings)
                        self.check_fits()
                        self.check_accessibility()
                        self.picture(f"{width}{'-dark' if dark else ''}{'-rtl' if settings else ''}{path.replace('/', '-') or '-overview'}")

    def test_a_translation_is_complete(self):
        self.open(scenes.usual(), "language=de", text="Programme, die Laufwerke weckten")
        self.assertIn("6 Laufwerke · 3 Einstellungen werden nicht gehalten · 1 Einstellung wartet", self.text(".bar"))
        self.assertEqual(self.browser.js("document.documentElement.lang"), "de")
        found = subprocess.run(["xgettext", "--language=JavaScript", "--from-code=UTF-8", "--keyword=_", "--keyword=ngettext:1,2", "--no-wrap",
                                "-o-", *sorted(server.PAGE.glob("*.js"))], capture_output=True, text=True, check=True).stdout
        texts = {line for line in found.splitlines() if line.startswith("msgid ")}
        for file in server.PAGE.glob("po/*.po"):
            lines = set(subprocess.run(["msgattrib", "--no-wrap", "--translated", "--no-fuzzy", file], capture_output=True, text=True, check=True).stdout.splitlines())
            self.assertEqual(texts - lines - {'msgid ""'}, set(), f"texts that {file.name} does not translate")
            self.assertEqual({line for line in lines if line.startswith("msgid ")} - texts - {'msgid ""'}, set(), f"texts in {file.name} that the page has no more")

    def test_theme_of_the_shell(self):
        self.open(scenes.usual())
        dark = "document.documentElement.classList.contains('dark')"
        self.assertFalse(self.browser.js(dark))
        self.browser.js("window.dispatchEvent(new CustomEvent('cockpit-style', { detail: { style: 'dark' } }))")
        self.assertTrue(self.browser.js(dark))
        self.browser.js("localStorage.setItem('shell:style', 'light')")
        self.browser.dark()
        self.browser.js("window.dispatchEvent(new StorageEvent('storage', { key: 'shell:style' }))")
        self.assertFalse(self.browser.js(dark))
        self.browser.js("localStorage.clear()")

    def test_keyboard_walks_through_the_wakes(self):
        self.open(scenes.usual())
        self.browser.wait("document.querySelector('[data-key=sda] .band[role=slider]')")
        for _ in range(30):
            self.browser.key("Tab")
            if self.browser.js("document.activeElement.dataset.focus || ''").startswith("band-sda"):
                break
        now = "document.activeElement.getAttribute('aria-valuenow')"
        last = int(self.browser.js(now))
        self.assertIn("/srv/<b>film</b>.mkv", self.text(".tip"))
        self.browser.key("ArrowLeft")
        self.assertEqual(int(self.browser.js(now)), last - 1)
        self.assertIn("in standby", self.text(".tip"))
        self.browser.key("Home")
        self.assertEqual(int(self.browser.js(now)), 1)
        self.browser.key("ArrowLeft")
        self.assertEqual(int(self.browser.js(now)), 1)
        self.browser.key("Escape")
        self.assertTrue(self.browser.js("document.querySelector('.tip').hidden"))

    def test_pointer_shows_wakes_and_states(self):
        scene = self.open(scenes.usual())
        self.browser.wait("document.querySelector('[data-key=sda] .band[role=slider]')")
        area = self.browser.js("(() => { const a = document.querySelector('[data-key=sda] .band').getBoundingClientRect(); return [a.left, a.top, a.width, a.height]; })()")
        self.browser.hover(area[0] + area[2] - 3, area[1] + area[3] / 2)
        self.assertIn("Standby", self.text(".tip"))
        self.browser.js("location.hash = '/findings'")      # the pointer stays where the band was
        self.browser.wait("document.querySelector('.tip').hidden")
        self.assertEqual(scene.commands.count("wakes"), 1)

    def test_a_drive_has_another_name(self):
        scene = scenes.usual()
        for wake in scene.wakes:
            if wake["drive"] == "sda":
                wake["drive"] = "sdz"
        self.open(scene)
        self.browser.wait("document.querySelector('table.wakers')")
        self.assertNotIn("sdz", self.text("table.wakers"))

    def test_equal_serial_numbers(self):
        scene = scenes.usual()
        for name in ("sdb", "sdd"):
            scene.drive(name).listed.update(serial="5YD1XYZ0")
        self.open(scene)
        self.browser.wait("document.querySelector('[data-key=sda] .band[role=slider]')")
        self.assertFalse(self.browser.js("!!document.querySelector('[data-key=sdd] .band[role=slider]')"))

    def test_a_time_of_today_has_no_date(self):
        self.open(scenes.usual())
        times = self.browser.js("import('./text.js').then(m => [0, 48].map(hours => m.format_moment(Date.now() - hours * 3600e3)))")
        self.assertEqual([bool(re.match(r"\d+:\d\d:\d\d", time)) for time in times], [True, False], times)

    def test_without_rights(self):
        scene = self.open(scenes.usual(), "admin=no", text="Limited access")
        self.browser.wait_text("Not known: ")
        self.assertIn("the journal cannot be read", self.browser.js("document.body.innerText"))
        self.assertEqual(self.browser.js("document.querySelectorAll('.problems button:not(:disabled)').length"), 0)
        self.assertNotIn("does not show", self.text(".notes"))
        self.assertIn("wakes are not known", self.browser.js("document.querySelector('[data-key=sda] .band').getAttribute('aria-label')"))
        self.assertEqual(self.browser.js("cockpit.watched"), "/run/drivekeep/drives")
        for power, text in (("active/idle", "Active"), ("standby", "Standby")):
            scene.drive("sda").listed.update(power=power)
            scene.change()
            self.browser.wait(f"document.querySelector('[data-key=sda] .power').innerText.includes('{text}')")
        self.assertIn("administrative access", self.browser.js("document.querySelector('.problems button').title"))
        self.assertIn("Standby", self.text("[data-key=sda]"))
        self.browser.js("location.hash = '/drive/sdb'")
        self.browser.wait_text("Settings that rules set")
        self.assertEqual(self.browser.js("document.querySelectorAll('.settings button:not(:disabled)').length"), 0)
        self.assertEqual([c for c in scene.commands if c.startswith(REACH_DRIVES)], [])
        self.check_accessibility()
        self.picture("limited")

    def test_service_does_not_run(self):
        scene = scenes.usual()
        scene.service = False
        self.open(scene, text="The service does not run")
        self.browser.wait(f"{ROWS} === 6")
        scene.service = True
        self.browser.click("button", "Read again")
        self.browser.wait("!document.body.innerText.includes('The service does not run')")
        self.assertNotIn("does not show", self.text(".notes"))

    def test_the_service_starts_for_the_first_time(self):
        scene = scenes.usual()
        scene.service = False
        self.open(scene, text="The service does not run")
        self.browser.wait("document.querySelector('table.wakers')")
        scene.service = True
        scene.change()
        self.browser.wait("!document.body.innerText.includes('The service does not run')")
        self.until(lambda: scene.followers)
        scene.emit("active", "sda", serial="5YD1XYZ0", unit="first.service")
        self.browser.wait("document.querySelector('table.wakers').innerText.includes('first.service')")

    def test_command_is_missing(self):
        scene = scenes.usual()
        scene.run = lambda words, root, required, write: {"status": None, "problem": "not-found", "message": "not found"}
        self.open(scene, text="The command drivekeep is not installed")

    def test_many_drives(self):
        self.browser.command("Performance.enable")
        self.open(scenes.many())
        self.browser.wait(f"{ROWS} === 64 && document.querySelector('table.wakers')")
        self.assertLess(self.browser.js("document.querySelectorAll('*').length"), 64 * 40)
        paint = self.browser.js("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)")
        metrics = {m["name"]: m["value"] for m in self.browser.command("Performance.getMetrics")["metrics"]}
        self.browser.click(".toggle", "7 days")
        slowest = self.browser.js("""new Promise(done => { let last = performance.now(), slowest = 0, n = 0; const step = now => {
            slowest = Math.max(slowest, now - last); last = now; scrollBy(0, 100); ++n < 60 ? requestAnimationFrame(step) : done(Math.round(slowest)); };
            requestAnimationFrame(step); })""")
        print(f"# 64 drives, 10,000 wakes: first paint {paint} ms, script {metrics['ScriptDuration'] * 1000:.0f} ms, layout "
              f"{metrics['LayoutDuration'] * 1000:.0f} ms, slowest frame while scrolling {slowest} ms")


class OneDrive(Page):
    def test_try_keep_and_undo(self):
        scene = self.open(scenes.usual(), path="/drive/sda", text="Settings that rules set")
        self.browser.click("table.settings button", "Change")
        self.browser.wait("document.activeElement.id === 'change-apm'")
        scene.emit("verdict", "sda", setting="apm", verdict="unchanged")    # the open form survives an event
        self.browser.js("document.activeElement.select()")
        self.browser.type("64")
        self.redraw(scene, "sda")
        self.assertEqual(self.browser.js("[document.activeElement.id, document.activeElement.value]"), ["change-apm", "64"])
        self.check_accessibility()
        self.picture("change")
        scene.replies["try sda apm=64"] = ("1 drive, 1 setting kept", "", 0)
        scene.drive("sda").settings[0].update(wanted="64", actual="64", verdict="applied", rule="drivekeep try", temporary="try")
        self.browser.key("Enter")
        self.browser.wait_text("Done: drivekeep try sda apm=64")
        self.assertIn("try sda apm=64", scene.commands)
        self.browser.wait_text("Tried until the next boot: apm = 64")
        self.assertEqual(self.browser.js("[...document.querySelectorAll('button')].filter(b => b.innerText === 'Keep').length"), 1)
        scene.replies["try --keep sda"] = ("", "drivekeep: sda: change apm in /etc/drivekeep/drivekeep.conf.d/zzz.conf:1", 1)
        self.browser.click("button", "Keep")
        self.browser.wait_text("change apm in /etc/drivekeep/drivekeep.conf.d/zzz.conf:1")
        scene.replies["try --undo sda"] = ("", "drivekeep: sda: the service restores the value as soon as possible", 75)
        self.browser.click("button", "Undo")
        self.browser.wait_text("Deferred: the service makes the change")

    def test_a_try_that_waits_closes_the_form(self):
        scene = self.open(scenes.usual(), path="/drive/sda", text="Settings that rules set")
        scene.replies["try sda apm=64"] = ("1 drive, 1 setting waits", "drivekeep: sda: the drive is in standby", 75)
        self.browser.click("table.settings button", "Change")
        self.browser.wait("document.activeElement.id === 'change-apm'")
        self.browser.js("document.activeElement.select()")
        self.browser.type("64")
        self.browser.key("Enter")
        self.browser.wait_text("Deferred: the service makes the change")
        self.browser.wait("!document.querySelector('form')")
        self.assertEqual(self.browser.js("document.activeElement.dataset.focus"), "change-apm")

    def test_a_running_button_does_not_run_again(self):
        scene = scenes.usual()
        run, goes_on = scene.run, threading.Event()

        def slow(words, *more):
            if words[0] == "apply":
                scene.commands.append("apply")
                goes_on.wait(60)
                return {"status": 0, "problem": None, "message": ""}
            return run(words, *more)

        scene.run = slow
        self.open(scene)
        self.browser.click("[data-key=sdb] button", "Apply again")
        self.browser.wait("document.querySelector('[data-key=sdb] button[aria-busy]')")
        scene.drive("sdb").listed.update(power="standby")   # the row is drawn again
        scene.change()
        self.browser.wait("document.querySelector('[data-key=sdb] .power').innerText.includes('Standby')")
        self.browser.click("[data-key=sdb] button", "Apply again")
        goes_on.set()
        self.browser.wait_text("Done: drivekeep apply sdb")
        self.browser.wait("!document.querySelector('[aria-busy]')")
        self.assertEqual(scene.commands.count("apply"), 1)

    def test_another_drive_gets_the_name(self):
        scene = self.open(scenes.usual(), path="/drive/sda", text="Settings that rules set")
        self.browser.click("button", "Show the plan")
        self.browser.wait_text("would be written")
        self.browser.click("table.settings button", "Change")
        self.browser.wait("document.querySelector('form')")
        scene.drive("sda").listed.update(serial="OTHER", wwn=None)
        scene.change()
        self.browser.wait("document.querySelector('[data-key=facts]').innerText.includes('OTHER')")
        self.assertEqual(self.browser.js("[!!document.querySelector('form'), document.body.innerText.includes('would be written')]"), [False, False])

    def test_open_rules_stay_open(self):
        scene = self.open(scenes.usual(), path="/drive/sda", text="Cost and benefit")
        self.browser.click("summary", "Rules")
        self.browser.wait("document.querySelector('details').open")
        scene.emit("active", "sda", serial="5YD1XYZ0")
        self.redraw(scene, "sda")
        self.assertEqual(self.browser.js("[document.querySelector('details').open, document.activeElement.dataset.focus]"), [True, "rules"])

    def test_words_are_chosen(self):
        self.open(scenes.usual(), path="/drive/sda", text="Settings that rules set")
        chosen = "(e => [e.tagName, [...e.options].map(o => o.text), e.value])(document.activeElement)"
        self.browser.click("[data-focus=change-lookahead]", "Change")
        self.browser.wait("document.activeElement.id === 'change-lookahead'")
        self.assertEqual(self.browser.js(chosen), ["SELECT", ["on", "off"], "on"])
        self.check_accessibility()
        self.browser.click("button", "Read what the drive supports")
        self.browser.click("[data-focus=change-link_power_management]", "Change")
        self.browser.wait("document.activeElement.id === 'change-link_power_management'")
        # The present value is not known: no value is chosen yet.
        self.assertEqual(self.browser.js(chosen), ["SELECT", ["", "max_performance", "medium_power", "med_power_with_dipm", "min_power_with_partial",
                                                              "min_power"], ""])

    def test_dangerous_settings_cannot_be_changed(self):
        self.open(scenes.usual(), path="/drive/sdd", text="Settings that rules set")
        self.browser.wait_text("some drives corrupt data")
        self.assertEqual(self.browser.js("[...document.querySelectorAll('.settings tr')].find(r => r.innerText.includes('mult_sect_io')).querySelectorAll('button').length"), 0)

    def test_release_asks_first(self):
        scene = self.open(scenes.usual(), path="/drive/sdd", text="Settings that rules set")
        scene.replies["release sdd mult_sect_io"] = ("", "", 0)
        self.browser.click("button", "Release")
        self.browser.wait_text("may have crashed the drive or the machine")
        scene.emit("verdict", "sda", setting="apm", verdict="unchanged")    # the question survives an event
        self.redraw(scene, "sdd")
        self.assertNotIn("release sdd mult_sect_io", scene.commands)
        self.browser.click(".asking .warning", "Release")
        self.browser.wait_text("Done: drivekeep release sdd mult_sect_io")
        self.assertEqual(self.browser.js("document.activeElement.dataset.focus"), "help-sdd-mult_sect_io")
        self.browser.click("button", "Release")
        self.browser.wait("document.querySelector('.asking')")
        self.browser.js("location.hash = '/'")      # another view forgets the question
        self.browser.wait_text("Programs that woke drives")
        self.assertFalse(self.browser.js("!!document.querySelector('.asking')"))

    def test_reads_of_the_drive_need_a_click(self):
        scene = self.open(scenes.usual(), path="/drive/sda", text="Cost and benefit")
        self.assertIn("reaches the rated 600,000 in 4.2 years", self.text("[data-key=cost]"))
        self.assertIn("reaches the rated 50,000 in 46 years", self.text("[data-key=cost]"))
        self.assertIn("Bay\n0:0:24:0/Slot 04\nPort\npci-0000:03:00.0-sas-phy3-lun-0\nTemperature\n35 °C", self.text("[data-key=facts]"))
        self.browser.click("button", "Read what the drive supports")
        self.browser.wait_text("Not supported: acoustic_management")
        self.assertEqual(self.browser.js("""[...document.querySelectorAll('.settings th[scope=row] > div')].map(cell => cell.firstChild).filter(name => {
            const range = new Range(); range.selectNode(name); return range.getClientRects().length > 1; }).map(name => name.data)"""), [], "names in two lines")
        self.browser.click("button", "Show the plan")
        self.browser.wait_text("would be written")
        self.assertEqual(self.browser.js("document.querySelectorAll('.alert').length"), 0)
        self.assertEqual([c for c in scene.commands if c.startswith(REACH_DRIVES)], ["show sda", "plan sda"])
        self.check_accessibility()
        self.picture("drive")


class Measured(Page):
    CARD = "[...document.querySelectorAll('section.card')].find(c => c.innerText.startsWith('{}'))"

    def test_figures_over_time(self):
        """The chart of a figure has a point for each measurement, with its interval; another figure can be chosen."""
        scene = self.open(scenes.usual(), path="/measured", text="no difference")
        card = self.CARD.format("sda")
        label = f"{card}.querySelector('.chart').getAttribute('aria-label')"
        self.assertRegex(self.browser.js(label), r"^Sequential read, start of the drive of sda, 5 measurements; first: 152 MB/s \(149 to 158.1 MB/s\), .*; "
                                                 r"last: 151 MB/s \(148 to 157 MB/s\), ")
        places = self.browser.js(f"[...{card}.querySelector('.chart').querySelectorAll('.plot .point')].map(p => [parseFloat(p.getAttribute('x')), "
                                 "+p.getAttribute('y'), !!p.querySelector('.range')])")
        xs = [x for x, _, _ in places]
        self.assertEqual((len(places), xs), (5, sorted(xs)))
        self.assertLess(xs[3] - xs[2], 1)       # 2 hours in 7 months
        self.assertTrue(all(has_range for _, _, has_range in places))
        self.assertLess(places[0][1], places[1][1])     # 152 MB/s is above 149 MB/s
        lines = self.browser.js(f"[...{card}.querySelector('.chart').querySelectorAll('.joins')].map(l => ['x1', 'y1', 'x2', 'y2'].map("
                                "a => parseFloat(l.getAttribute(a))))")
        self.assertEqual(lines, [[*before[:2], *after[:2]] for before, after in zip(places, places[1:])])
        # The axis does not begin at 0, because all numbers are close together.
        self.assertNotIn("0", self.browser.js(f"[...{card}.querySelector('.chart').querySelectorAll('.scale text')].map(t => t.textContent)"))
        # The interval reaches from 149 to 158.1 MB/s: twice as far above the median as below.
        high, _, low, _ = (float(n) for n in re.findall(r"(?<=[V ])-?[\d.]+", self.browser.js(f"{card}.querySelector('.range').getAttribute('d')")))
        self.assertLess(high, 0)
        self.assertAlmostEqual(high / low, -2, places=1)
        self.browser.js(f"{{ const s = {card}.querySelector('select'); s.focus(); s.value = 'buffered'; s.dispatchEvent(new Event('change')); }}")
        self.assertRegex(self.browser.js(label), r"^Buffered read of sda, 5 measurements; .* last: 121 MB/s ")
        self.assertEqual(self.browser.js("document.activeElement.dataset.focus"), "figure-5YD1XYZ0")
        # The table has the same numbers, and stays open when the page is drawn again.
        self.browser.js(f"{card}.querySelector('summary').click()")
        self.browser.wait(f"{card}.querySelector('details').open")
        before = scene.commands.count("list")
        scene.emit("verdict", "sda", setting="apm", verdict="unchanged")
        self.until(lambda: scene.commands.count("list") > before)
        self.browser.js("new Promise(r => setTimeout(r, 300))")
        self.assertRegex(self.browser.js(f"{card}.querySelector('details').innerText"), r"[AP]M\s+121 MB/s\s+118.4 to 125.6 MB/s\s+9$")
        # Few samples have no interval; a figure without samples cannot be chosen.
        card = self.CARD.format("sdc")
        self.assertEqual(self.browser.js(f"[...{card}.querySelectorAll('option')].map(o => o.value)"), ["sequential_start", "random_rate"])
        self.assertEqual(self.browser.js(f"{card}.querySelectorAll('.chart')[0].querySelectorAll('.range').length"), 0)

    def test_values_of_a_setting(self):
        """The chart of a setting has the tried values in order, and marks the value before the measurement and the best one."""
        self.open(scenes.usual(), path="/measured", text="no difference")
        part = "[...document.querySelectorAll('.tuned')].find(p => p.innerText.includes('read_ahead_kb'))"
        self.assertEqual(self.browser.js(f"[...{part}.querySelectorAll('.plot text')].map(t => t.textContent)"),
                         ["before", "best", "128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB"])
        self.assertEqual(self.browser.js(f"[...{part}.querySelectorAll('.point')].map(p => [...p.classList].pop())"),
                         ["before", "series-0", "best", *["series-0"] * 4])
        self.assertEqual(self.browser.js(f"{part}.querySelectorAll('.point .range').length"), 7)
        shapes = self.browser.js(f"[...{part}.querySelectorAll('.point .marker')].map(m => m.getAttribute('d'))")
        self.assertEqual((len(set(shapes)), shapes.count(shapes[2])), (2, 1), "the best value has a shape of its own")
        self.assertIn("0", self.browser.js(f"[...{part}.querySelectorAll('.scale text')].map(t => t.textContent)"))
        self.assertEqual(self.browser.js(f"{part}.querySelector('.chart > div').textContent"), "MB/s")
        self.assertEqual(self.browser.js(f"{part}.querySelector('.chart').getAttribute('aria-label')"),
                         "read_ahead_kb of sda, Buffered read for 7 values: 512 KiB is better than 128 KiB, the value before the measurement.")
        self.browser.js(f"{part}.querySelector('summary').focus()")
        self.browser.key("Enter")
        self.browser.wait(f"{part}.querySelector('details').open")
        self.assertRegex(self.browser.js(f"{part}.querySelector('details').innerText"),
                         r"512 KiB best\s+119 MB/s\s+116.6 to 123.8 MB/s\s+6 ms\s+10\n")
        # A point shows its numbers.
        area = self.browser.js(f"(() => {{ const a = {part}.querySelector('.point.best .marker'); a.scrollIntoView({{ block: 'center' }}); "
                               "const r = a.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()")
        self.browser.js("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")     # scrolling hides the tip
        self.browser.hover(*area)
        self.assertEqual(self.text(".tip"), "512 KiB (best)\n119 MB/s (116.6 to 123.8 MB/s)")
        # A setting that saves power has a line for each value.
        part = "[...document.querySelectorAll('.tuned')].find(p => p.innerText.startsWith('apm'))"
        self.assertEqual(self.browser.js(f"[0, 1, 2, 3].map(i => {part}.querySelectorAll(`.joins.series-${{i}}`).length)"), [3] * 4)
        self.assertEqual(self.browser.js(f"{part}.querySelector('.legend').innerText.split(/\\s+/).join(' ')"), "64 127 128 254 (before)")
        self.assertIn("No value is best", self.browser.js(f"{part}.innerText"))

    def test_all_tables_are_accessible(self):
        for width in (1280, 375):
            self.browser.size(width, 800)
            self.open(scenes.usual(), path="/measured", text="no difference")
            self.browser.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            self.check_accessibility()
            self.check_fits()
            self.assertEqual(self.browser.js("document.querySelectorAll('img, script:not([src])').length"), 0)
            self.assertIn("<img src=x onerror=", self.browser.js("document.body.innerText"))
            self.picture(f"{width}-measured-tables")

    def test_measurements_that_cannot_be_compared_hide_no_others(self):
        scene = scenes.usual()
        listed = scene.replies["bench"][0]["measurements"]
        listed.insert(0, {**listed[0], "name": "old-1", "key": "--results=/tmp"})
        listed.insert(0, {**listed[0], "name": "old-2", "key": "--results=/tmp"})
        scene.replies["bench --compare --results=/tmp"] = ("", "drivekeep: old-2 was measured by another version", 1)
        self.open(scene, path="/measured", text="no difference")
        self.assertIn("old-2 was measured by another version", self.text(".alert"))

    def test_nothing_is_measured(self):
        scene = scenes.usual()
        del scene.replies["bench"], scene.replies["tune"]
        self.open(scene, path="/measured", text="Nothing has been measured.")
        for part in ("drivekeep bench sda", "drivekeep tune sda", "drivekeep-tune"):
            self.assertIn(part, self.text("[data-key=how]"))
        self.check_accessibility()
        self.picture("nothing-measured")
        # After a measurement, the page can be read again.
        scene.replies = scenes.usual().replies
        self.browser.click("button", "Read again")
        self.browser.wait_text("no difference")

    def test_the_package_is_missing(self):
        scene = scenes.usual()
        scene.replies["bench"] = ("", "drivekeep: drivekeep bench needs the package drivekeep-tune, which is not installed", 1)
        self.open(scene, path="/measured", text="Not all measurements can be shown.")
        self.assertIn("needs the package drivekeep-tune, which is not installed", self.text(".alert"))
        self.assertIn("drivekeep bench sda", self.text("[data-key=how]"))

    def test_without_rights(self):
        self.open(scenes.usual(), "admin=no", "/measured", "no difference")


class Screenshots(Page):
    def test_pictures_of_cockpit_screenshots(self):
        b = self.browser
        b.command("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")
        self.addCleanup(b.command, "Emulation.setTimezoneOverride", timezoneId="")
        for name, path, height in (("overview", "", 860), ("drive", "/drive/sda", 1010)):
            b.size(1200, height)
            self.open(scenes.home(), "language=en-GB", path, "Programs that woke")
            b.wait("document.querySelector('table.wakers')")
            if name == "overview":      # with the tooltip of a wake
                b.js("document.querySelector('[data-key=sda] .band').focus()")
                for _ in range(4):
                    b.key("ArrowLeft")
                self.assertIn("in standby", self.text(".tip"))
            if PICTURES:
                b.picture(pathlib.Path(PICTURES) / f"screenshots-{name}.png", whole=False)


class Tap(unittest.TextTestResult):
    """Prints TAP instead of unittest's own lines."""

    def __init__(self, *_) -> None:
        super().__init__(unittest.runner._WritelnDecorator(open(os.devnull, "w")), False, 0)
        self.failed: set[str] = set()

    def addSubTest(self, test, subtest, error) -> None:
        if error:
            self._show(test, error, f"{test}: {subtest._subDescription()}")
            self.failed.add(test.id())

    def addError(self, test, error) -> None:
        self.addFailure(test, error)

    def addFailure(self, test, error) -> None:
        self._show(test, error, str(test))
        self.failed.add(test.id())

    def _show(self, test, error, what: str) -> None:
        for line in [what, *self._exc_info_to_string(error, test).splitlines()]:
            print(f"# {line}")

    def stopTest(self, test) -> None:
        bad = test.id() in self.failed
        print(f"{'not ok' if bad else 'ok'} {self.testsRun} - {type(test).__name__}: {test._testMethodName[5:].replace('_', ' ')}", flush=True)


if __name__ == "__main__":
    os.nice(10)     # runs beside emulated machines
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in sys.argv[1:]] or None
    tap = Tap()
    loader.loadTestsFromModule(sys.modules["__main__"]).run(tap)
    print(f"1..{tap.testsRun}")
    sys.exit(bool(tap.failed) or not tap.testsRun)
