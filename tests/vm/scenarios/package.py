"""The Debian package, from its first installation to its purge, on a running machine with drives."""
import pathlib
import re

from keeping import CONF, LAY_ASIDE, Keeping, by_id, settings

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]

# tests/run puts two packages into the image: packaging/build makes the package NOW, and tests/vm/lower-version makes BEFORE from it.
BEFORE, NOW = (f"/usr/lib/drivekeep-test/packages/{name}.deb" for name in ("before", "now"))

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; spindown_time = "20min"; } );\n'
COLD = {"apm": 128, "lookahead": False}
WANTED = (192, True, 1200)
TRIED = 100
METRICS = "/var/lib/prometheus/node-exporter"
PATHS = "drivekeep-metrics.path drivekeep-alert.path"

# This setup removes drivekeep from the machine, and makes dpkg install manual pages, which the image excludes.
STOCK = f"""test -e {BEFORE} && test -e {NOW}
{LAY_ASIDE}
rm -f /etc/dpkg/dpkg.cfg.d/99mmdebstrap
"""

# Lists all files except those that other programs write: dpkg's database, logs, the journal's catalog, and copies of /etc/passwd.
FILES = ("find / -xdev ! -path '/var/lib/dpkg/*' ! -path '/var/log/*' ! -path '/var/lib/systemd/*' ! -path '/var/cache/*' "
         "! -path '/root/*' ! -path '/tmp/*' ! -name '*-' | sort; ls /run | grep drivekeep")


def find_files(machine):
    return set(machine.run(FILES, check=False).stdout.splitlines())


class Package(Keeping):
    """The Debian package is installed, upgraded, downgraded, removed and purged on a machine with drives, one of them in standby"""
    long = True
    core = True

    def run(self):
        awake, asleep = self.drive("SN-AWAKE", **COLD), self.drive("SN-ASLEEP", **COLD)
        self.all = (awake, asleep)
        with self.drives(*self.all) as (_, arguments), self.machine(setup=STOCK, extra_args=arguments) as machine:
            machine.wait_running()
            machine.run("udevadm settle")
            self.files = find_files(machine)
            machine.run(f"hdparm -y {by_id('SN-ASLEEP')}")
            self.check_installed(machine)
            self.check_first_setting(machine)
            self.check_exchanged(machine, NOW, "0.1.0", "upgrade")
            self.check_exchanged(machine, BEFORE, "0.0.9", "downgrade")
            self.check_half_exchanged(machine)
            self.check_exchanged_in_visit(machine)
            self.check_removed(machine)
            self.check_purged(machine)

    def marks(self):
        return [drive.log.mark() for drive in self.all]

    def claim_untouched(self, when, marks):
        """Claims that no drive got a setting, and that the drive in standby got only CHECK POWER MODE, which does not spin it up."""
        self.equal(f"{when}: no setting is sent to a drive", [settings(d, m) for d, m in zip(self.all, marks)], [[], []])
        self.claim_asleep(when, marks, {"CHECK POWER MODE"})

    def claim_asleep(self, when, marks, allowed):
        asleep = self.all[1]
        self.equal(f"{when}: the drive in standby stays there and gets only commands that are allowed in standby",
                   (asleep["mode"], [e for e in asleep.log.since(marks[1]) if e.name not in allowed]), ("standby", []))

    def check_installed(self, machine):
        marks = self.marks()
        shown = machine.run(f"dpkg -i {BEFORE} 2>&1", 120).stdout
        self.no_match("dpkg installs the package without a warning or error", shown, r"(?i)warning|error|fail")
        self.equal("installed: no drive gets a command, from drivekeep or from udev",
                   [[e for e in d.log.since(m)] for d, m in zip(self.all, marks)], [[], []])
        self.equal("the installed service is neither enabled nor active",
                   machine.run("systemctl is-enabled drivekeep; systemctl is-active drivekeep",
                                                                    check=False).stdout, "disabled\ninactive\n")
        self.equal("dpkg treats the configuration as a conffile",
                   machine.run("dpkg-query -W -f '${Conffiles}' drivekeep").stdout.split()[0], CONF)
        self.match("the package installs the manual page of drivekeepd",
                   machine.run("find /usr/share/man -name 'drivekeep*'").stdout, r"man8/drivekeepd\.8\.gz")
        machine.push("/root/command", (REPOSITORY / "packaging/debian/tests/command").read_text(), 0o755)
        self.equal("the package's test, debian/tests/command, passes", machine.run("/root/command").status, 0)
        done = machine.run("drivekeep bench", check=False)
        self.equal("bench reports that it needs the package drivekeep-tune", (done.status, done.stderr),
                   (1, "drivekeep: drivekeep bench needs the package drivekeep-tune, which is not installed\n"))

    def check_first_setting(self, machine):
        marks = self.marks()
        machine.push(CONF, FILE)
        machine.run("systemctl enable --now drivekeep")
        self.settle(machine)
        awake = self.all[0]
        self.equal("enabled: a drive that was already present gets its settings without a reboot",
                   (awake["apm"], awake["lookahead"], awake["standby_seconds"]), WANTED)
        # STANDBY sets the timer of a drive without spinning the drive up.
        self.claim_asleep("enabled", marks, {"CHECK POWER MODE", "STANDBY"})
        self.verdicts = self.kept(machine)
        self.equal("settings that would spin up the drive in standby are deferred", self.verdicts["SN-ASLEEP"],
                   {"apm": "deferred", "lookahead": "deferred", "spindown_time": "unverifiable"})

    def kept(self, machine):
        return {serial: {name: s["verdict"].replace("applied", "unchanged") for name, s in settings.items()}
                for serial, settings in self.status(machine).items()}

    def version(self, machine):
        return machine.run("busctl get-property org.drivekeep1 /org/drivekeep1 org.drivekeep1.Manager Version").stdout.split('"')[1]

    def check_exchanged(self, machine, package, version, what):
        # The visit starts the broker, so that the broker runs while dpkg exchanges the package.
        machine.run(f"drivekeep apply {self.node(machine, 'SN-AWAKE')}")
        marks, since = self.marks(), machine.run("date +%s.%N").stdout.strip()
        pid = machine.run("systemctl show -P MainPID drivekeep").stdout
        shown = machine.run(f"dpkg -i {package} < /dev/null 2>&1", 120).stdout
        self.no_match(f"{what}: dpkg shows no question and no error", shown, r"(?i)error|conffile|\*\*\*")
        self.settle(machine)
        self.equal(f"{what}: the user's configuration does not change", machine.run(f"cat {CONF}").stdout, FILE)
        self.equal(f"{what}: the service runs the new version in a new process",
                   (self.version(machine), machine.run("systemctl show -P MainPID drivekeep").stdout != pid),
                   (version, True))
        self.claim_untouched(what, marks)
        told = machine.run(f"journalctl -o cat --no-pager _PID=1 --since=@{since}").stdout
        self.equal(f"{what}: only the service restarts, and only once",
                   re.findall(r"^(Stopped|Started|Failed to listen on|Dependency failed for) (drivekeep\.service|drivekeep-broker\.socket)", told, re.M),
                   [("Stopped", "drivekeep.service"), ("Started", "drivekeep.service")])
        self.equal(f"{what}: every setting has the same verdict as before", self.kept(machine), self.verdicts)
        asked = machine.run(f"drivekeep apply {self.node(machine, 'SN-AWAKE')}", check=False)
        self.equal(f"{what}: the broker runs the same version as the service",
                   (asked.status, machine.run("readlink /proc/$(systemctl show -P MainPID drivekeep-broker.service)/exe").stdout),
                   (0, "/usr/libexec/drivekeepd\n"))

    def check_half_exchanged(self, machine):
        """An upgrade that stops halfway leaves the new version's files and the old version's running service."""
        awake = self.all[0]
        node = self.node(machine, "SN-AWAKE")
        machine.run(f"dpkg --unpack {NOW}", 120)
        machine.wait_until("! systemctl is-active --quiet drivekeep-broker.service", 120)
        machine.run(f"hdparm -q -B 128 {node}")
        marks = self.marks()
        machine.run(f"drivekeep apply {node}", 120, check=False)
        self.equal("unpacked: a worker of the new version sends no setting for the old service",
                   (settings(awake, marks[0]), awake["apm"]), ([], 128))
        self.match("unpacked: the journal asks for a restart of the service", machine.run("journalctl -b -o cat --no-pager").stdout,
                   "this worker .* are different builds, .* run 'systemctl restart drivekeep'")
        machine.run("dpkg --configure drivekeep", 120)
        self.settle(machine)
        self.equal("configured: the drive has its setting again", (self.version(machine), awake["apm"]), ("0.1.0", WANTED[0]))

    def check_exchanged_in_visit(self, machine):
        """dpkg exchanges the package while the drive executes a worker's command: the new service continues, and the drive gets the setting
        once."""
        awake, other = self.all[0], WANTED[0] + 1
        mark = awake.log.mark()
        awake.inject("hang", origin="passthrough", seconds=12, command=0xEF, feature=0x05)
        machine.push(CONF, FILE.replace(str(WANTED[0]), str(other)))
        machine.start("systemctl reload drivekeep")
        awake.log.wait(mark, 60, fault="hang", status=None)
        machine.run(f"dpkg -i {BEFORE} < /dev/null", 120)
        awake.release()
        machine.wait_until(lambda: awake["apm"] == other, 120)
        self.settle(machine)
        machine.run("drivekeep apply", 120, check=False)
        self.equal("exchanged during a visit: the new service continues, and the drive gets the setting once",
                   (self.version(machine), self.kept(machine)["SN-AWAKE"]["apm"],
                    sum(e.command == 0xEF and e.feature == 0x05 for e in awake.log.since(mark, origin="passthrough"))),
                   ("0.0.9", "unchanged", 1))
        machine.push(CONF, FILE)
        machine.run("systemctl reload drivekeep", 120)
        self.settle(machine)

    def check_removed(self, machine):
        """Only the files listed in drivekeepd(8), UNINSTALLING, remain."""
        machine.run(f"mkdir -p {METRICS}; systemctl enable --now {PATHS}; drivekeep try SN-AWAKE lookahead=false && drivekeep try --keep SN-AWAKE && "
                    f"drivekeep try SN-AWAKE apm={TRIED}", 120)
        machine.wait_until(f"test -e {METRICS}/drivekeep.prom", 60)
        self.files.update((str(pathlib.Path(METRICS).parent), METRICS))
        marks = self.marks()
        machine.run("dpkg -r drivekeep", 120)
        self.equal("removed: no process runs, no unit is active, and no unit has failed",
                   machine.run("pgrep -a drivekeepd; systemctl is-active drivekeep drivekeep-broker.service drivekeep-broker.socket "
                                                        f"drivekeep-tracer.service drivekeep-tracer.socket {PATHS}; systemctl --failed --no-legend", check=False).stdout,
                   "inactive\n" * 7)
        self.claim_untouched("removed", marks)
        self.equal("removed: the drive keeps its last values", (self.all[0]["apm"], self.all[0]["lookahead"]), (TRIED, False))
        self.equal("removed: the user's configuration remains", machine.run(f"cat {CONF}").stdout, FILE)
        kept = machine.run(f"ls -d {CONF}.d/*").stdout.split()
        self.match("removed: the file of 'try --keep' remains", machine.run(f"cat {CONF}.d/*").stdout, "lookahead = false;")
        left = sorted(file for file in find_files(machine) - self.files if not file.startswith("/var/lib/drivekeep/drives/"))
        self.equal("removed: the only other files left are the state of drives and the links that enabled the service", left, sorted([
            "/etc/drivekeep", CONF, f"{CONF}.d", *kept, "/var/lib/drivekeep-alert", "/var/lib/drivekeep", "/var/lib/drivekeep/drives", "/etc/systemd/system/drivekeep-udev.service",
            "/etc/systemd/system/multi-user.target.wants/drivekeep.service", "/etc/systemd/system/drivekeep.service.wants",
            *(f"/etc/systemd/system/drivekeep.service.wants/{path}" for path in PATHS.split())]))

    def check_purged(self, machine):
        machine.run("dpkg -P drivekeep", 120)
        self.equal("purged: no file of the package remains", sorted(find_files(machine) - self.files), [])
        self.match("purged: the journal still has the records", machine.run("journalctl -b -o cat -t drivekeepd -n 1").stdout, "\\S")
        self.match("purged: the user drivekeep remains", machine.run("getent passwd drivekeep").stdout, "^drivekeep:")
