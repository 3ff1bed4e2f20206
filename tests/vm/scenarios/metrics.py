"""Metrics: the file that drivekeep-metrics.service writes on each change, and the alerts of Prometheus.

The values must agree with hdparm and sysfs. The alert rules are those of conf/prometheus; the guest runs Prometheus and node_exporter."""
import json
import pathlib
import re
import urllib.parse

import schema
from keeping import CALM, CHANGE_HANDLED, CONF, FLEET_PACKAGES, HELD, PATIENT, TRACING, Keeping
from machine import PERL

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
RULES = (REPOSITORY / "conf/prometheus/drivekeep.rules.yml").read_text()
FILE = """drives = (
  { match = { transport = "sata"; }; apm = 192; lookahead = true; read_ahead_kb = 512; },
  { match = { serial = "SN-SLEEPY"; }; spindown_time = "60min"; spindown_by = "service"; } );
"""
DIRECTORY = "/var/lib/prometheus/node-exporter"
PROM = f"{DIRECTORY}/drivekeep.prom"
CURRENT = CHANGE_HANDLED.format(file=".changed", unit="drivekeep-metrics.service")
DROP_IN = "/etc/systemd/system/drivekeep-metrics.service.d/place.conf"
SCRAPE = f"""global: {{ scrape_interval: 10s, evaluation_interval: 2s }}
rule_files: [ /root/drivekeep.rules.yml ]
scrape_configs: [ {{ job_name: node, static_configs: [ {{ targets: [ "localhost:9100" ] }} ] }} ]
"""
# Sends standard input to Prometheus as soon as it answers, and prints the body of the answer. promtool would need half a second.
ASK = PERL + r"""
require IO::Socket::INET;
my $request = slurp('/dev/stdin');
for (;; pause(0.3)) {
    my $socket = IO::Socket::INET->new('127.0.0.1:9090') or next;
    print $socket $request;
    local $/;
    <$socket> =~ /^HTTP\S+ 200 .*?\r\n\r\n(.*)/s or next;
    print $1;
    last;
}
"""
NO_RESTART = {"/etc/systemd/system/drivekeep.service.d/no-restart.conf": "[Service]\nRestart=no\n"}
SETUP = TRACING + PATIENT.format(units="drivekeep-metrics") + f"""systemctl enable drivekeep.service drivekeep-metrics.path
systemctl mask prometheus.service prometheus-node-exporter.service
mkdir -p {DIRECTORY}
"""
ALERT = "DrivekeepSettingNotKept"


class Metrics(Keeping):
    """The metrics file for node_exporter follows each change of drives and settings; alerts fire and resolve"""
    long = True
    packages = FLEET_PACKAGES

    def run(self):
        self.plain, self.sleepy = self.drive("SN-PLAIN", apm=128), self.drive("SN-SLEEPY", apm=128, size_mb=128)
        files = {CONF: FILE, **NO_RESTART, "/root/drivekeep.rules.yml": RULES, "/root/scrape.yml": SCRAPE}
        with self.drives(self.plain, self.sleepy) as (_, arguments), \
             self.machine(cold=True, files=files, setup=SETUP, extra_args=arguments) as machine:
            self.settle(machine)
            self.nodes = {serial: self.node(machine, serial) for serial in ("SN-PLAIN", "SN-SLEEPY")}
            self.check_values(machine)
            self.check_changes(machine)
            self.check_configuration(machine)
            self.check_alert(machine)
            self.check_wake(machine)
            self.check_sleeping(machine)
            self.check_planted(machine)
            self.check_end(machine)

    def samples(self, machine, path=PROM):
        """Waits until the file has the last change, and returns its samples: {name: [({label: value}, number)]}."""
        machine.wait_until(CURRENT, 60)
        found = {}
        for name, labels, number in re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", machine.run(f"cat {path}").stdout, re.M):
            found.setdefault(name, []).append((dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(number)))
        return found

    def value(self, machine, name, **labels):
        """Returns the value of the sample with these labels, None if there is no sample, or a list of values if there are several."""
        [*found] = [number for had, number in self.samples(machine).get(name, []) if labels.items() <= had.items()]
        return found[0] if len(found) == 1 else found or None

    def verdict_of(self, machine, setting):
        return [labels["verdict"] for labels, _ in self.samples(machine)["drivekeep_setting_verdict"]
                if labels["device"] == self.device and labels["setting"] == setting]

    def check_values(self, machine):
        node = self.nodes["SN-PLAIN"]
        self.device = node.removeprefix("/dev/")
        samples = self.samples(machine)
        self.equal("the metrics file is written at boot",
                   (samples["drivekeep_up"], samples["drivekeep_configuration_errors"]), ([({}, 1)], [({}, 0)]))
        info = [labels for labels, _ in samples["drivekeep_drive_info"] if labels["device"] == self.device]
        told = machine.run(f"hdparm -I {node}; lsblk -dno TRAN {node}").stdout
        self.equal("drivekeep_drive_info agrees with hdparm and lsblk",
                   [(i["serial"] in told, i["model"].replace("_", " ") in told, i["firmware"] in told, i["transport"]) for i in info], [(True, True, True, told.split()[-1])])

        [apm] = re.findall(r"APM_level\s*= (\d+)", machine.run(f"hdparm -B {node}").stdout)
        [lookahead] = re.findall(r"look-ahead\s*= *(\d)", machine.run(f"hdparm -A {node}").stdout)
        read_ahead = machine.run(f"cat /sys/block/{self.device}/queue/read_ahead_kb").stdout
        for setting, actual in ("apm", int(apm)), ("lookahead", int(lookahead)), ("read_ahead_kb", int(read_ahead) * 1024):
            self.equal(f"{setting}: wanted and actual value are numbers in base units",
                       [self.value(machine, f"drivekeep_setting_{what}", device=self.device, setting=setting) for what in ("wanted", "actual", "ok")],
                       [actual, actual, 1])
        self.equal("the verdicts in the file are those of status --json",
                   {(labels["device"], labels["setting"], labels["verdict"]) for labels, _ in samples["drivekeep_setting_verdict"]},
                   {(d["name"], s["name"], s["verdict"]) for d in self.all_status(machine) for s in d["settings"]})
        self.equal("the file counts at least one visit of each drive",
                   {labels["device"] for labels, number in samples["drivekeep_visits_total"] if number >= 1},
                   {labels["device"] for labels, _ in samples["drivekeep_drive_info"]} - {"vda"})

        marks = [drive.log.mark() for drive in (self.plain, self.sleepy)]
        shown = machine.run("drivekeep status --metrics").stdout
        machine.run("systemctl start drivekeep-metrics.service")
        self.equal("writing the metrics sends no command to a drive",
                   [d.log.since(m) for d, m in zip((self.plain, self.sleepy), marks)], [[], []])
        self.equal("the file agrees with the output of status --metrics", machine.run(f"cat {PROM}").stdout, shown)
        checked = machine.run(f"promtool check metrics < {PROM}", check=False)
        self.equal("promtool check metrics accepts the file", (checked.status, checked.stdout + checked.stderr), (0, ""))
        self.equal("the file belongs to root, is readable by all users, and is alone in its directory",
                   machine.run(f"stat -c '%U %a' {PROM}; ls {DIRECTORY}").stdout, "root 644\ndrivekeep.prom\n")

    def check_changes(self, machine):
        """No change is lost, even if changes come quickly or while the file is being written."""
        node = self.nodes["SN-PLAIN"]
        for value in (128, 192) * 10:
            machine.run(f"hdparm -q -B {value} {node}; drivekeep apply {node}")
        self.equal("after 20 quick visits the file counts all of them",
                   self.value(machine, "drivekeep_visits_total", device=self.device, reason="request"), 20)
        self.equal("after 20 quick visits the path unit is still active",
                   machine.run("systemctl show -P ActiveState drivekeep-metrics.path; systemctl --failed --no-legend").stdout, "active\n")
        told = machine.run("journalctl -b -q -o cat _SYSTEMD_UNIT=drivekeep-metrics.service + UNIT=drivekeep-metrics.service").stdout
        self.equal("writing the file logs nothing, as the journal may be on a drive in standby", told, "")

    def check_configuration(self, machine):
        wrong = "/etc/drivekeep/drivekeep.conf.d/wrong.conf"
        for command, errors in ((f"echo 'no_such_option = 1;' > {wrong}", 1), (f"rm {wrong}", 0)):
            machine.run(f"{command}; systemctl reload drivekeep", check=False)
            machine.wait_until(f"grep -qx 'drivekeep_configuration_errors {errors}' {PROM}", 60)
        self.claim("each reload updates the number of configuration errors in the file", True)

    # Prometheus

    def begin_prometheus(self, machine):
        machine.run("systemd-run -q --unit=exporter prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.stat "
                    f"--collector.textfile.directory={DIRECTORY} --web.listen-address=localhost:9100; "
                    "systemd-run -q --unit=monitor prometheus --config.file=/root/scrape.yml --storage.tsdb.path=/run/tsdb --web.listen-address=localhost:9090")
        machine.wait_until(lambda: [number for _, number in self.query(machine, "drivekeep_up")] == [1], 300)

    def query(self, machine, expression):
        """Returns the answer of Prometheus: [({label: text}, number)]."""
        told = machine.run(ASK, 300, data=f"GET /api/v1/query?query={urllib.parse.quote(expression)} HTTP/1.0\r\n\r\n").stdout
        return [(sample["metric"], float(sample["value"][1])) for sample in json.loads(told)["data"]["result"]]

    def alerts(self, machine, state):
        return sorted({labels["alertname"] for labels, _ in self.query(machine, f'ALERTS{{alertstate="{state}"}}')})

    def check_alert(self, machine):
        self.begin_prometheus(machine)
        node, device = self.nodes["SN-PLAIN"], self.device
        self.equal("Prometheus gets the wanted value of apm through node_exporter",
                   self.query(machine, f'drivekeep_setting_wanted{{device="{device}",setting="apm"}}')[0][1], 192)
        self.equal("no alert is firing or pending while all settings are kept",
                   self.alerts(machine, "firing") + self.alerts(machine, "pending"), [])

        machine.run(f"hdparm -q -B 128 {node}")
        self.plain.inject("abort", command=0xEF, feature=0x05, origin="passthrough", times=None)
        machine.run(f"drivekeep apply {node}", check=False)
        self.equal("the drive rejects apm: the file has the verdict refused", self.verdict_of(machine, "apm"), ["refused"])
        machine.wait_until(lambda: ALERT in self.alerts(machine, "pending"), 120)
        # A leap of the clock may interrupt a scrape. Prometheus tolerates gaps of up to five minutes before the alert starts again.
        self.leap(machine, 7200, lambda: self.alerts(machine, "firing"), step=240)
        self.equal("the drive rejects apm: only one alert fires, DrivekeepSettingNotKept",
                   self.alerts(machine, "firing"), [ALERT])
        self.claim("the alert fires after at least fifteen minutes",
                   self.query(machine, f'time() - ALERTS_FOR_STATE{{alertname="{ALERT}"}}')[0][1] >= 900)
        self.plain.faults.clear()
        machine.run(f"drivekeep apply {node}")
        machine.wait_until(lambda: ALERT not in self.alerts(machine, "firing"), 120)
        self.claim("the alert resolves after the drive accepts apm", True)
        machine.run("systemctl stop monitor exporter")

    # Drives in standby

    def check_wake(self, machine):
        node = self.nodes["SN-SLEEPY"]
        asleep = {"device": node.removeprefix("/dev/")}
        # Without lazy initialization the kernel writes nothing to the new file system later.
        machine.run(f"mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 {node}; udevadm settle; sync; drivekeep standby {node}")
        self.equal("the file shows that a drive has entered standby",
                   (self.value(machine, "drivekeep_drive_standby", **asleep), self.sleepy["mode"]), (1, "standby"))
        machine.run("systemd-run -q --unit=reader " + HELD.format(f"dd if={node} bs=4096 count=1 iflag=direct"))
        machine.wait_until(f"grep -q 'drivekeep_wakes_total.*reader.service' {PROM}", 60)
        machine.run("systemctl stop reader")
        self.equal("the file counts the wake of a drive for the unit that caused it",
                   (self.value(machine, "drivekeep_wakes_total", **asleep, unit="reader.service"),
                                                                  self.value(machine, "drivekeep_drive_standby", **asleep)), (1, 0))

    def check_sleeping(self, machine):
        """The service does not write the metrics file while the drive with this file is in standby."""
        node = self.nodes["SN-SLEEPY"]
        place = "/data/drivekeep.prom"
        machine.run(f"mkdir -p /data {pathlib.Path(DROP_IN).parent}; mount -o noatime,{CALM} {node} /data")
        machine.push(DROP_IN, f"[Service]\nEnvironment=DRIVEKEEP_METRICS={place}\nReadWritePaths=-/data\n")
        machine.run("systemctl daemon-reload; systemctl start drivekeep-metrics.service")
        asleep = f'drivekeep_drive_standby{{device="{node.removeprefix("/dev/")}"}}'
        self.match("a drop-in moves the metrics file to another place", machine.run(f"cat {place}").stdout, f"{asleep} 0")
        # The kernel must have written the new file system's data before the log is checked.
        machine.run("sync; echo 3 > /proc/sys/vm/drop_caches; ls /data; sync")
        mark = self.sleepy.log.mark()
        self.equal("the output of drivekeep standby --json agrees with the schema",
                   schema.errors("standby", json.loads(machine.run(f"drivekeep standby --json {node}").stdout)), [])
        machine.wait_until(CURRENT, 60)
        self.leap(machine, 60, step=20)
        self.equal("the drive with the metrics file enters standby: it gets no I/O and stays in standby",
                   ([e for e in self.sleepy.log.since(mark) if e.mode == "standby" and e.name != "CHECK POWER MODE"], self.sleepy["mode"]), ([], "standby"))
        self.equal("skipping the write to a drive in standby logs nothing",
                   machine.run("journalctl -b -q -o cat _SYSTEMD_UNIT=drivekeep-metrics.service").stdout, "")
        told = machine.run(f"drivekeep status --metrics --output {place}").stderr
        self.match("status --metrics --output reports that the file is on a drive in standby",
                   told, f"{place} is not updated: it is on {node.removeprefix('/dev/')}, which is in standby")
        inode = machine.run(f"stat -c %i {place}").stdout
        machine.run("systemd-run -q --unit=second " + HELD.format(f"dd if={node} bs=4096 count=1 skip=50 iflag=direct"))
        # The test reads the file only when the drive is active: an earlier read would make the test the waker.
        machine.wait_until(lambda: self.sleepy["mode"] == "active", 60)
        machine.wait_until(f"grep -q 'drivekeep_wakes_total.*second.service.* 1$' {place}", 60)
        machine.run("systemctl stop second")
        self.claim("when the drive is active again, a new file replaces the old one", machine.run(f"stat -c %i {place}").stdout != inode)
        machine.run(f"rm -r {pathlib.Path(DROP_IN).parent}; umount /data; systemctl daemon-reload; systemctl start drivekeep-metrics.service")

    def check_planted(self, machine):
        """The user of node_exporter replaces the directory of the metrics file by a symbolic link: the service writes no file."""
        listing = "ls -lA --time-style=full-iso /etc/logrotate.d"
        before = machine.run(listing).stdout
        machine.run(f"runuser -u prometheus -- sh -c 'mv {DIRECTORY} {DIRECTORY}.moved && ln -s /etc/logrotate.d {DIRECTORY}'")
        self.equal("the unit fails if a symbolic link replaces the directory",
                   machine.run("systemctl start drivekeep-metrics.service; systemctl show -P Result drivekeep-metrics.service", check=False).stdout, "exit-code\n")
        self.equal("no file changes in the directory that the symbolic link leads to", machine.run(listing).stdout, before)
        self.match("the journal names the symbolic link as the cause",
                   machine.run("journalctl -b -q -o cat _SYSTEMD_UNIT=drivekeep-metrics.service").stdout,
                   f"{PROM} cannot be written: the path has a symbolic link that another user may have made; give the directory that the link leads to\n$")
        machine.run(f"runuser -u prometheus -- sh -c 'rm {DIRECTORY} && mkdir {DIRECTORY}'; systemctl start drivekeep-metrics.service")
        self.equal("the file is written to a directory that belongs to node_exporter's user",
                   machine.run(f"stat -c '%U %a' {DIRECTORY} {PROM}").stdout, "prometheus 755\nroot 644\n")
        self.match("the file in that directory has the metrics of the running service",
                   machine.run(f"cat {PROM}").stdout, "drivekeep_up 1\n")

    def check_end(self, machine):
        machine.run("systemctl stop drivekeep.service")
        machine.wait_until(f"grep -qx 'drivekeep_up 0' {PROM}", 60)
        self.equal("the path unit of the metrics stops with the service",
                   machine.run("systemctl is-active drivekeep-metrics.path", check=False).stdout, "inactive\n")
        machine.run("systemctl start drivekeep.service")
        machine.wait_until(f"grep -qx 'drivekeep_up 1' {PROM}", 60)
        self.claim("drivekeep_up is 0 after the service stops and 1 after it starts", True)
        machine.run("systemctl kill --signal=KILL --kill-whom=main drivekeep.service")
        machine.wait_until(f"grep -qx 'drivekeep_up 0' {PROM}", 60)
        self.claim("drivekeep_up is 0 after the service was killed", True)
        machine.run(f"rm -r {DIRECTORY}; systemctl start drivekeep-metrics.service", check=False)
        self.match("without the directory the journal shows the command that creates it",
                   machine.run("journalctl -b -q -o cat -u drivekeep-metrics.service").stdout, f"the directory {DIRECTORY} does not exist; create it with 'mkdir -p'")
