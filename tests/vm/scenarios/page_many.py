"""The page for Cockpit with many drives and many wakes."""
import json
import time

from cockpit import ADMIN, Cockpit

NUMBER, WAKES, DAYS = 64, 10000, 7
FILE = 'drives = ( { match = { transport = "scsi"; }; read_ahead_kb = 512; } );\n'
ID_WAKE = "b2d3f4a1c6e84d0f9a7b5c3e1d2f4a68"     # JOURNAL_ID_WAKE
FRAMES = 60
# Scrolls by 100 pixels in each of 60 frames, down and up again.
SCROLL = f"""new Promise(done => {{ let n = 0; const step = () => {{
    scrollBy(0, n < {FRAMES / 2} ? 100 : -100); ++n < {FRAMES} ? requestAnimationFrame(step) : done(n); }}; requestAnimationFrame(step); }})"""
# Times of the first paint, and of the arrival of the last file that was loaded before.
PAINT = """(() => { const paint = performance.getEntriesByName('first-contentful-paint')[0].startTime;
    return [paint, Math.max(...performance.getEntriesByType('resource').map(r => r.responseEnd).filter(at => at < paint))]; })()"""


class PageMany(Cockpit):
    """The page for Cockpit shows 64 drives and 10,000 wakes with less than a second of processor time, and scrolls at 60 frames a second"""

    def run(self):
        with self.cockpit(FILE) as machine:
            machine.run(f"modprobe scsi_debug max_luns={NUMBER} dev_size_mb=8 delay=0 && udevadm settle -t 1000", 1000)
            machine.wait_until(f"grep -lx 512 /sys/block/sd*/queue/read_ahead_kb | wc -l | grep -qx {NUMBER}", 300)
            self.settle(machine)
            self.write_wakes(machine)
            self.log_in(ADMIN)
            self.check_first_view()
            self.check_scrolling()
            self.check_week()
            self.claim_fits("many")

    def write_wakes(self, machine):
        """Adds a journal file with wakes of the last week. Each drive is woken about once an hour, by one of ten units."""
        drives = [d for d in json.loads(machine.run("drivekeep list --json").stdout)["drives"] if d["name"].startswith("sd")]
        boot = machine.run("cat /proc/sys/kernel/random/boot_id").stdout.strip().replace("-", "")
        begin, step = time.time() - DAYS * 86400 + 3600, (DAYS * 86400 - 7200) / WAKES
        records = []
        for i in range(WAKES):
            drive = drives[i * 7 % len(drives)]
            fields = {
                "__REALTIME_TIMESTAMP": round((begin + i * step) * 1e6), "__MONOTONIC_TIMESTAMP": i + 1, "_BOOT_ID": boot,
                "_SYSTEMD_UNIT": "drivekeep.service", "PRIORITY": 6, "SYSLOG_IDENTIFIER": "drivekeepd", "MESSAGE_ID": ID_WAKE,
                "MESSAGE": f"{drive['name']}: woken", "DRIVEKEEP_DRIVE": drive["name"], "DRIVEKEEP_SERIAL": drive["serial"],
                "DRIVEKEEP_MODEL": drive["model"], "DRIVEKEEP_STANDBY_USEC": round(step * len(drives) / 2) * 1000000, "DRIVEKEEP_WAKE_KIND": "read",
                "DRIVEKEEP_WAKE_PROCESS": "rsync", "DRIVEKEEP_WAKE_PID": 1000 + i, "DRIVEKEEP_WAKE_UNIT": f"backup{i % 10}.service",
                "DRIVEKEEP_WAKE_COMMAND_LINE": "rsync --archive --delete /srv /backup", "DRIVEKEEP_WAKE_WHAT": f"read sector {i}",
            }
            records.append("".join(f"{name}={value}\n" for name, value in fields.items()))
        machine.run("folder=$(ls -d /var/log/journal/*/ /run/log/journal/*/ 2>/dev/null | head -1) && "
                    "/lib/systemd/systemd-journal-remote --output=${folder}system@wakes.journal -", 300, data="\n".join(records) + "\n")
        shown = machine.run(f"journalctl -q -o cat MESSAGE_ID={ID_WAKE} _SYSTEMD_UNIT=drivekeep.service | wc -l", 120).stdout
        self.equal("journalctl shows the wakes", shown, f"{WAKES}\n")

    def used(self):
        """Returns the processor time of the page's main thread in seconds. A busy host and a slow server do not add to it."""
        return {each["name"]: each["value"] for each in self.browser.command("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def check_first_view(self):
        b = self.browser
        self.open_alone()
        b.command("Performance.enable", timeDomain="threadTicks")
        before = self.used()
        self.open_alone()
        b.wait(f"document.querySelectorAll('.drives > .drive [role=slider]').length === {NUMBER}")
        b.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        used, (paint, arrived) = self.used() - before, b.js(PAINT)
        self.note(f"first paint {paint:.0f} ms after the request, {paint - arrived:.0f} ms after the last file; all drives and wakes: "
                  f"{used * 1000:.0f} ms of the browser's main thread")
        self.claim("the page with all drives and wakes takes less than a second of the browser's main thread", used < 1, f"{used:.2f} s")
        elements = b.js("document.querySelectorAll('*').length")
        self.claim("the number of elements does not grow with the number of wakes", elements < NUMBER * 40, str(elements))

    def check_scrolling(self):
        before, n = self.used(), self.browser.js(SCROLL)
        used = (self.used() - before) / n
        self.note(f"scrolling: {used * 1000:.1f} ms of the browser's main thread for each frame")
        self.claim("a frame while scrolling takes less than a sixtieth of a second of the browser's main thread", used < 1 / 60,
                   f"{used * 1000:.1f} ms")

    def check_week(self):
        b = self.browser
        before = self.used()
        self.browser.click(".toggle", "7 days")
        b.wait("document.querySelector('.toggle[aria-pressed=true]').innerText.includes('7')")
        self.note(f"seven days: {(self.used() - before) * 1000:.0f} ms of the browser's main thread")
        counts = b.js("[...document.querySelectorAll('table.wakers tbody tr')].map(row => +row.cells[1].innerText)")
        self.equal("the table of wakers counts all wakes", sum(counts), WAKES)
        self.claim("the number of elements does not grow with the number of shown wakes", b.js("document.querySelectorAll('*').length") < NUMBER * 40)
