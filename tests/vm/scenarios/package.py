"""The package of Debian, from its first installation to its purge, on a machine that runs and has drives."""
import pathlib
import re

from keeping import CONF, LAY_ASIDE, Keeping, by_id, settings

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]

# tests/run puts these into the image: two versions of the same program, made by packaging/build and tests/vm/lower-version.
BEFORE, NOW = (f"/usr/lib/drivekeep-test/packages/{name}.deb" for name in ("before", "now"))

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 192; lookahead = true; spindown_time = "20min"; } );\n'
COLD = {"apm": 128, "lookahead": False}
WANTED = (192, True, 1200)
TRIED = 100
METRICS = "/var/lib/prometheus/node-exporter"
PATHS = "drivekeep-metrics.path drivekeep-alert.path"

# A machine that has never heard of drivekeep, and whose dpkg installs manual pages, as everybody's does.
STOCK = f"""test -e {BEFORE} && test -e {NOW}
{LAY_ASIDE}
rm -f /etc/dpkg/dpkg.cfg.d/99mmdebstrap
"""

# All but what other programs write: dpkg's database, logs, the journal's catalog, and copies of /etc/passwd.
FILES = ("find / -xdev ! -path '/var/lib/dpkg/*' ! -path '/var/log/*' ! -path '/var/lib/systemd/*' ! -path '/var/cache/*' "
         "! -path '/root/*' ! -path '/tmp/*' ! -name '*-' | sort; ls /run | grep drivekeep")


def find_files(machine):
    return set(machine.run(FILES, check=False).stdout.splitlines())


class Package(Keeping):
    """The Debian package: installed, upgraded, downgraded, removed and purged, with drives there"""
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
        """Neither drive was set, and the one that sleeps got nothing but CHECK POWER MODE, which wakes no drive."""
        self.equal(f"{when}: no setting is sent to a drive", [settings(d, m) for d, m in zip(self.all, marks)], [[], []])
        self.claim_asleep(when, marks, {"CHECK POWER MODE"})

    def claim_asleep(self, when, marks, allowed):
        asleep = self.all[1]
        self.equal(f"{when}: the drive that sleeps is not woken, and gets nothing that is not for drives that sleep",
                   (asleep["mode"], [e for e in asleep.log.since(marks[1]) if e.name not in allowed]), ("standby", []))

    def check_installed(self, machine):
        marks = self.marks()
        shown = machine.run(f"dpkg -i {BEFORE} 2>&1", 120).stdout
        self.no_match("it is installed without a complaint", shown, r"(?i)warning|error|fail")
        self.equal("installed: no drive gets a command, nor does udev have one read",
                   [[e for e in d.log.since(m)] for d, m in zip(self.all, marks)], [[], []])
        self.equal("it is neither enabled nor running", machine.run("systemctl is-enabled drivekeep; systemctl is-active drivekeep",
                                                                    check=False).stdout, "disabled\ninactive\n")
        self.equal("its file is the user's own from then on", machine.run("dpkg-query -W -f '${Conffiles}' drivekeep").stdout.split()[0], CONF)
        self.match("the manual is there", machine.run("find /usr/share/man -name 'drivekeep*'").stdout, r"man8/drivekeepd\.8\.gz")
        machine.push("/root/command", (REPOSITORY / "packaging/debian/tests/command").read_text(), 0o755)
        self.equal("the package's own test passes", machine.run("/root/command").status, 0)
        done = machine.run("drivekeep bench", check=False)
        self.equal("what measures is another package, and its name is said", (done.status, done.stderr),
                   (1, "drivekeep: drivekeep bench needs the package drivekeep-tune, which is not installed\n"))

    def check_first_setting(self, machine):
        marks = self.marks()
        machine.push(CONF, FILE)
        machine.run("systemctl enable --now drivekeep")
        self.settle(machine)
        awake = self.all[0]
        self.equal("enabled: a drive that was there before is kept, without a reboot",
                   (awake["apm"], awake["lookahead"], awake["standby_seconds"]), WANTED)
        # Its timer can be set while it sleeps.
        self.claim_asleep("enabled", marks, {"CHECK POWER MODE", "STANDBY"})
        self.verdicts = self.kept(machine)
        self.equal("what it cannot be sent now is deferred", self.verdicts["SN-ASLEEP"],
                   {"apm": "deferred", "lookahead": "deferred", "spindown_time": "unverifiable"})

    def kept(self, machine):
        return {serial: {name: s["verdict"].replace("applied", "unchanged") for name, s in settings.items()}
                for serial, settings in self.status(machine).items()}

    def version(self, machine):
        return machine.run("busctl get-property org.drivekeep1 /org/drivekeep1 org.drivekeep1.Manager Version").stdout.split('"')[1]

    def check_exchanged(self, machine, package, version, what):
        # The broker is there, too.
        machine.run(f"drivekeep apply {self.node(machine, 'SN-AWAKE')}")
        marks, since = self.marks(), machine.run("date +%s.%N").stdout.strip()
        pid = machine.run("systemctl show -P MainPID drivekeep").stdout
        shown = machine.run(f"dpkg -i {package} < /dev/null 2>&1", 120).stdout
        self.no_match(f"{what}: dpkg asks nothing", shown, r"(?i)error|conffile|\*\*\*")
        self.settle(machine)
        self.equal(f"{what}: the user's file stays", machine.run(f"cat {CONF}").stdout, FILE)
        self.equal(f"{what}: the service is the new one", (self.version(machine), machine.run("systemctl show -P MainPID drivekeep").stdout != pid),
                   (version, True))
        self.claim_untouched(what, marks)
        told = machine.run(f"journalctl -o cat --no-pager _PID=1 --since=@{since}").stdout
        self.equal(f"{what}: the service alone is restarted, once",
                   re.findall(r"^(Stopped|Started|Failed to listen on|Dependency failed for) (drivekeep\.service|drivekeep-broker\.socket)", told, re.M),
                   [("Stopped", "drivekeep.service"), ("Started", "drivekeep.service")])
        self.equal(f"{what}: all is kept as before", self.kept(machine), self.verdicts)
        asked = machine.run(f"drivekeep apply {self.node(machine, 'SN-AWAKE')}", check=False)
        self.equal(f"{what}: the service is served by a broker of its own version",
                   (asked.status, machine.run("readlink /proc/$(systemctl show -P MainPID drivekeep-broker.service)/exe").stdout),
                   (0, "/usr/libexec/drivekeepd\n"))

    def check_half_exchanged(self, machine):
        """The files are the new version's, and the service still the old one's: what users meet when an upgrade stops halfway."""
        awake = self.all[0]
        node = self.node(machine, "SN-AWAKE")
        machine.run(f"dpkg --unpack {NOW}", 120)
        machine.wait_until("! systemctl is-active --quiet drivekeep-broker.service", 120)
        machine.run(f"hdparm -q -B 128 {node}")
        marks = self.marks()
        machine.run(f"drivekeep apply {node}", 120, check=False)
        self.equal("unpacked: the old service has the new version's worker send nothing", (settings(awake, marks[0]), awake["apm"]), ([], 128))
        self.match("and the journal says what to do", machine.run("journalctl -b -o cat --no-pager").stdout,
                   "this worker .* are different builds, .* run 'systemctl restart drivekeep'")
        machine.run("dpkg --configure drivekeep", 120)
        self.settle(machine)
        self.equal("configured: the drive has its setting again", (self.version(machine), awake["apm"]), ("0.1.0", WANTED[0]))

    def check_exchanged_in_visit(self, machine):
        """The service restarts while the drive has a command of a worker's."""
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
        self.equal("exchanged in mid-visit: the new service goes on, and the drive is sent its setting once",
                   (self.version(machine), self.kept(machine)["SN-AWAKE"]["apm"],
                    sum(e.command == 0xEF and e.feature == 0x05 for e in awake.log.since(mark, origin="passthrough"))),
                   ("0.0.9", "unchanged", 1))
        machine.push(CONF, FILE)
        machine.run("systemctl reload drivekeep", 120)
        self.settle(machine)

    def check_removed(self, machine):
        """UNINSTALLING in drivekeepd(8) lists what remains."""
        machine.run(f"mkdir -p {METRICS}; systemctl enable --now {PATHS}; drivekeep try SN-AWAKE lookahead=false && drivekeep try --keep SN-AWAKE && "
                    f"drivekeep try SN-AWAKE apm={TRIED}", 120)
        machine.wait_until(f"test -e {METRICS}/drivekeep.prom", 60)
        self.files.update((str(pathlib.Path(METRICS).parent), METRICS))
        marks = self.marks()
        machine.run("dpkg -r drivekeep", 120)
        self.equal("removed: nothing runs", machine.run("pgrep -a drivekeepd; systemctl is-active drivekeep drivekeep-broker.service drivekeep-broker.socket "
                                                        f"drivekeep-tracer.service drivekeep-tracer.socket {PATHS}; systemctl --failed --no-legend", check=False).stdout,
                   "inactive\n" * 7)
        self.claim_untouched("removed", marks)
        self.equal("removed: the drive keeps its last values", (self.all[0]["apm"], self.all[0]["lookahead"]), (TRIED, False))
        self.equal("removed: the user's file stays", machine.run(f"cat {CONF}").stdout, FILE)
        kept = machine.run(f"ls -d {CONF}.d/*").stdout.split()
        self.match("removed: the file of 'try --keep' remains", machine.run(f"cat {CONF}.d/*").stdout, "lookahead = false;")
        left = sorted(file for file in find_files(machine) - self.files if not file.startswith("/var/lib/drivekeep/drives/"))
        self.equal("removed: beside it only what is known of drives, and what enabled the service", left, sorted([
            "/etc/drivekeep", CONF, f"{CONF}.d", *kept, "/var/lib/drivekeep-alert", "/var/lib/drivekeep", "/var/lib/drivekeep/drives", "/etc/systemd/system/drivekeep-udev.service",
            "/etc/systemd/system/multi-user.target.wants/drivekeep.service", "/etc/systemd/system/drivekeep.service.wants",
            *(f"/etc/systemd/system/drivekeep.service.wants/{path}" for path in PATHS.split())]))

    def check_purged(self, machine):
        machine.run("dpkg -P drivekeep", 120)
        self.equal("purged: no file is left", sorted(find_files(machine) - self.files), [])
        self.match("purged: the journal still has the records", machine.run("journalctl -b -o cat -t drivekeepd -n 1").stdout, "\\S")
        self.match("purged: the user drivekeep remains", machine.run("getent passwd drivekeep").stdout, "^drivekeep:")
