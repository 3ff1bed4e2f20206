"""`drivekeep tune` picks the right values and restores each drive's own values in every case."""
import itertools
import json
import tempfile

import schema
from drives.mechanics import Mechanics
from drives.model import READ, WRITE
from drives.nvme import NvmeController
from drives.nvmetcp import NvmeTcp
from drives.sas import SasHba
from drives.scsi import ScsiDisk
from keeping import CONF, by_id
from sampling import BUDGET, CTRL_C, HOLD, Sampling

TUNED = "/etc/drivekeep/drivekeep.conf.d/60-tuned.conf"
SAS = "/dev/disk/by-id/wwn-0x5000c50012345678"
READ_AHEAD = "/sys/block/$(basename $(readlink {link}))/queue/read_ahead_kb"
KIB = 1024
# Number of measurements of each value. tune compares the speed and the cost of seven values. It needs nine measurements of each value
# to show a difference.
ROUNDS = 10
FIRST = "nice -n -20"   # precedes a command that precedes the other processes of the machine
NEAR = {"256 KiB": "256", "512 KiB": "512", "1 MiB": "1024"}    # within one step of the read-ahead that the emulated drive needs


class Tuning(Sampling):
    """`drivekeep tune` finds the best read-ahead and look-ahead with reads alone and restores the drives' values"""
    long = True
    # A host that delays the machine uses up the budgets of apm and apst_latency, and delays some samples much more than others.
    real_time = True

    def run(self):
        # All emulated drives are so slow that the host's time for a command is small in comparison.
        knee = self.drive("SN-KNEE", size_mb=65536, mechanics=Mechanics(rpm=600, enough=512 * KIB))
        off = self.drive("SN-OFF", size_mb=65536, lookahead=False, mechanics=Mechanics(rates=(5e6, 2.5e6), rpm=600))
        same = self.drive("SN-SAME", size_mb=65536, mechanics=Mechanics(rates=(10e6, 10e6), rpm=60000, seek=(1e-3, 1e-3)))
        # Low APM levels unload the heads; loading them takes 1.2 s.
        rests = self.drive("SN-RESTS", size_mb=65536, mechanics=Mechanics(rpm=300, seek=(1e-2, 1e-2)), apm=254,
                           apm_timers=((127, 4.5, "idle_b"), (128, 60, "idle_b")), wake_seconds={"idle_b": 1.2})
        # The kernel permits the third power state with a latency tolerance of 100 ms, but not with 25 ms.
        controller = NvmeController(serial="NV-RESTS", size_mb=8192, uses_apst=True, wake_seconds=1.2,
                                    power_states=((8000, True, 0, 0), (4000, True, 0, 0), (50, False, 5000, 85000)))
        with self.drives(off, knee, same, rests) as (hba, arguments), tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp") as folder, \
                NvmeTcp(f"{folder}/nvme", controller) as transport, \
                self.machine(files={CONF: "drives = ();\n", **self.files}, setup="systemctl enable drivekeep",
                             extra_args=arguments + transport.qemu_args()) as machine:
            # The controller enters its low-power state after 4.5 s, the time after which SN-RESTS unloads its heads.
            machine.run("modprobe nvme_core && echo 4500 > /sys/module/nvme_core/parameters/apst_secondary_timeout_ms")
            transport.connect(machine)
            machine.wait_until("grep -qsx 'SERIAL=NV-RESTS' /run/drivekeep/drives/*", 120)
            self.settle(machine)
            # The test begins with a read-ahead of 128 KiB on every kernel. The default of Linux 7.2 is 1 MiB.
            machine.run(f"echo 128 > {READ_AHEAD.format(link=by_id('SN-KNEE'))}")
            controller.seconds = 0.1
            mark, knee_mark = rests.log.mark(), knee.log.mark()
            # The measurements mostly wait, so all of them can run at the same time.
            told = {name: machine.start(self.sampled(samples, f"drivekeep tune {line}", last)) for name, samples, last, line in (
                ("knee", 7 * 2 * ROUNDS, HOLD, f"--json SN-KNEE read_ahead_kb --write --svg=/root/tuned.svg {BUDGET}"),
                ("switch", 2 * 2 * 8, CTRL_C, f"SN-OFF lookahead {BUDGET}"))}
            # These budgets suffice to measure each value twice after idle times of 1, 2 and 5 s, because the commands precede the other
            # processes of the machine.
            told["curves"] = machine.start(self.sampled(5 * 2 * 4, f"{FIRST} drivekeep tune --json SN-RESTS apm --budget=240s"))
            # tune sets the third power state once, and then leaves out this state. The other two states are measured twice. The budget suffices
            # for one idle time.
            states = machine.start(f"""({self.sampled(4 * 2 * 4, f'{FIRST} drivekeep tune --json NV-RESTS apst_latency --budget=190s')}); echo ,
                                       {self.sampled(2 * 2 * 2, f'{FIRST} drivekeep tune --json NV-RESTS power_state --budget=47s')}""")
            self.check_others(machine, same)
            self.check_beside(machine)
            self.check_switch(machine, off, told["switch"].result(1200).stdout)
            curves = json.loads(told["curves"].result(1200).stdout)
            self.check_curves(machine, rests, mark, curves)
            self.check_states(machine, controller, *json.loads(f"[{states.result(1200).stdout}]"))
            self.spend(machine)
            kneed = json.loads(told["knee"].result(1200).stdout)
            self.check_stored(machine, curves, kneed)
            self.check_knee(machine, knee, knee_mark, kneed)
            self.check_refusals(machine, same)
            self.kills(machine, off).check(6)
            self.check_unplugged(machine, hba, off)
            self.check_cut(machine, hba, off)

    def tune(self, machine, samples, line):
        """Returns the JSON output of `drivekeep tune` after the given number of samples."""
        return json.loads(machine.run(self.sampled(samples, f"drivekeep tune --json {line} {BUDGET}"), 600).stdout)

    def kills(self, machine, off):
        # Look-ahead comes first, because the test reads it from the drive model. Reading the read-ahead takes a command in the guest.
        return Kills(self, machine, ("SN-OFF", "lookahead", lambda: off["lookahead"]),
                     ("SN-SAME", "read_ahead_kb", lambda: self.read_ahead(machine, "SN-SAME")))

    def read_ahead(self, machine, serial):
        return machine.run(f"cat {READ_AHEAD.format(link=by_id(serial))}").stdout.strip()

    def check_knee(self, machine, drive, mark, told):
        setting, = told["settings"]
        self.claim("tune picks the smallest read-ahead that suffices", setting["picked"] in NEAR and setting["reason"] == "better",
                   json.dumps(setting))
        cost = {value["value"]: value["cost"]["median"] for value in setting["values"]}
        self.claim("tune shows the cost of a larger read-ahead for random reads", cost["8 MiB"] > 2 * cost["128 KiB"], str(cost))
        self.claim("measuring read_ahead_kb sends only reads", {e.command for e in drive.log.since(mark, origin="kernel")} <= READ)
        self.match("the rule for the configuration cites the measurement", "\n".join(told["block"]),
                   r"// measured 2\d\d\d-\d\d-\d\d, firmware .*: sequential, with read-ahead, .* MB/s .*, 128 KiB .* samples\n *read_ahead_kb = ")
        self.equal("the JSON for read_ahead_kb matches the schema", schema.errors("tune", told), [])
        self.match("the SVG shows the measured values and the best one",
                   machine.run("cat /root/tuned.svg").stdout, r"(?s)<svg .*512 KiB.*>best<.*</svg>")

        self.settle(machine)    # the service visits the drive soon after tune has written the file
        self.equal("with --write the kernel has the picked value", self.read_ahead(machine, "SN-KNEE"), NEAR.get(setting["picked"]))
        self.match("status names the file with the picked value",
                   machine.run("drivekeep status SN-KNEE").stdout, r"read_ahead_kb .*60-tuned\.conf")
        self.no_match("check does not warn about the measured value",
                      machine.run("drivekeep check", check=False).stdout, "was measured with")
        machine.run(f"sed -i 's/firmware [^:]*:/firmware OLD1:/' {TUNED}")
        self.match("check warns that the value was measured with another firmware", machine.run("drivekeep check", check=False).stdout,
                   r"60-tuned\.conf:\d+:\d+: warning: read_ahead_kb was measured with firmware OLD1, but sd. has firmware ")
        machine.run(f"rm {TUNED} && drivekeep reload")

    def check_stored(self, machine, *printed):
        """Checks the list of stored results. The measurements of apm and lookahead were interrupted after enough samples."""
        anybody = "setpriv --reuid nobody --clear-groups drivekeep tune"
        listed = json.loads(machine.run(f"{anybody} --json").stdout)
        results = {(m["serial"], m["result"]["setting"]): m["result"] for m in listed["measurements"]}
        self.equal("a user without rights can list the stored results, which are those that tune printed",
                   [results.get((document["serial"], setting["setting"])) for document in printed for setting in document["settings"]],
                   [setting for document in printed for setting in document["settings"]])
        self.equal("the list of stored results matches the schema", schema.errors("tune_list", listed), [])
        self.match("the list has the best value of a measurement that printed a table",
                   machine.run(anybody).stdout, r"(?m)^sd. .* SN-OFF +lookahead +off +on +\S")
        self.equal("tune stores nothing for a setting that it refused to measure", results.get(("SN-SAME", "lookahead")), None)

    def check_switch(self, machine, drive, shown):
        self.match("tune finds look-ahead best for a drive that is slow without look-ahead", shown,
                   r"(?s)^ *on +best +[\d.]+ MB/s .*^ *off +now +[\d.]+ MB/s |^ *off +now +[\d.]+ MB/s .*^ *on +best +[\d.]+ MB/s ")
        self.match("tune shows how much faster look-ahead is",
                   shown, r"lookahead: on is better than off: sequential 64 KiB, one at a time, \d+ % faster")
        self.match("tune prints the assignment for look-ahead", shown, r"lookahead = true;")
        self.match("hdparm shows look-ahead off again", machine.run(f"hdparm -A {self.node(machine, 'SN-OFF')}").stdout, r"\(off\)")
        self.equal("the drive gets the commands for look-ahead on and off",
                   {e.feature for e in drive.log.since(0, origin="passthrough") if e.sets}, {0xAA, 0x55})

    def check_curves(self, machine, drive, mark, told):
        setting, = told["settings"]
        by_level = {value["value"]: value for value in setting["values"]}
        slow = {level: value["slow_after"] for level, value in by_level.items()}
        # A difference of one step is accepted: a read starts a little after the intended idle time, because fio has to start first.
        self.claim("tune finds the idle time before heads are unloaded for each APM level",
                   slow["64"] in (2, 5) and slow["127"] in (2, 5) and slow["128"] is slow["192"] is slow["254"] is None, str(slow))
        self.claim("tune measures the delay of a read with unloaded heads",
                   all(1.2 <= by_level[level]["idle"][-1]["median"] < 1.8 for level in ("64", "127")),
                   json.dumps(setting))
        heads = {level: (sum(s > 0.9 for time in value["idle"] for s in time["samples"]), value["load_cycles"], value["waits"])
                 for level, value in by_level.items()}
        self.claim("tune shows a load cycle for each read with unloaded heads", all(slow <= counted <= waits for slow, counted, waits in
                   heads.values()) and heads["254"][1] == 0 and heads["127"][1] > 0, str(heads))
        self.claim("measuring apm sends only reads", {e.command for e in drive.log.since(mark, origin="kernel")} <= READ)
        self.equal("the JSON for apm matches the schema", schema.errors("tune", told), [])
        self.match("hdparm shows the drive's own APM level again",
                   machine.run(f"hdparm -B {self.node(machine, 'SN-RESTS')}").stdout, r"= 254")

    def check_states(self, machine, controller, latency, power_state):
        setting, = latency["settings"]
        slow = {value["value"]: value["slow_after"] for value in setting["values"]}
        self.claim("NVMe: tune finds the APST latencies that make an idle controller slow",
                   slow["100 ms"] in (2, 5) and slow["off"] is slow["5 ms"] is slow["25 ms"] is None, json.dumps(setting))
        setting, = power_state["settings"]
        self.equal("NVMe: tune measures operational power states", [value["value"] for value in setting["values"]], ["0", "1"])
        self.match("NVMe: tune leaves out a non-operational power state, which a read ends",
                   setting["left_out"], r"2: unverifiable, accepted; state 2 is non-operational, so the next I/O ends it")
        self.equal("NVMe: the controller has its own power state again", controller["power_state"], 0)
        controller.celsius = 85
        self.match("NVMe: tune does not measure a controller that is too warm",
                   machine.run("drivekeep tune NV-RESTS power_state", check=False).stderr,
                   r"nvme\S+ is not measured: nvme\S+ has 85 C, above its warning limit of 80 C$")
        controller.celsius, controller.testing = 35, 1
        self.match("NVMe: tune does not measure a controller that runs a self-test",
                   machine.run("drivekeep tune NV-RESTS power_state", check=False).stderr,
                   r"nvme\S+ is not measured: nvme\S+ runs a self-test$")
        controller.testing = 0

    def check_others(self, machine, drive):
        node = self.node(machine, "SN-SAME")
        machine.run(f"systemd-run -q --unit=other sh -c 'while dd if={node} of=/dev/null bs=1M skip=40000 count=1000 iflag=direct; do :; done'")
        done = machine.run(f"drivekeep tune SN-SAME lookahead {BUDGET}", 300, check=False)
        machine.run("systemctl stop other")
        self.match("tune refuses a drive with much I/O by other programs",
                   done.stderr, r"lookahead of sd. is not measured: other programs use sd. most of the time; --force")
        self.equal("the refused drive keeps its own look-ahead", drive["lookahead"], True)

    def check_beside(self, machine):
        """Checks settings that the kernel resets when another setting changes."""
        queue = f"/sys/block/{self.node(machine, 'SN-SAME')[5:]}/queue"
        machine.run(f"echo 32 > {queue}/nr_requests; echo 5000 > {queue}/wbt_lat_usec; echo 512 > {queue}/read_ahead_kb")
        shown = f"cd {queue} && grep -H . scheduler nr_requests wbt_lat_usec read_ahead_kb max_sectors_kb ../device/queue_depth"
        before = machine.run(shown).stdout
        done = machine.run("drivekeep tune SN-SAME scheduler queue_depth max_sectors_kb --budget=20s --json", 300, check=False)
        self.equal("tune measures scheduler, queue_depth and max_sectors_kb",
                   [s["setting"] for s in json.loads(done.stdout)["settings"] if s["values"]], ["scheduler", "queue_depth", "max_sectors_kb"])
        self.equal("tune also restores the settings that the kernel had reset", machine.run(shown).stdout, before)
        self.equal("tune succeeds without an error message", (done.status, done.stderr), (0, ""))
        machine.run(f"echo 128 > {queue}/read_ahead_kb")

    def check_refusals(self, machine, drive):
        self.match("tune refuses a setting without a best value", machine.run("drivekeep tune SN-SAME timeout", check=False).stderr,
                   r"nothing can be measured for timeout")
        node = self.node(machine, "SN-SAME")
        machine.run(f"hdparm -y {node}")
        done = machine.run("drivekeep tune SN-SAME", check=False)
        self.match("tune refuses a drive in standby", done.stderr, r"sd. is not measured: sd. is in a low-power state")
        self.equal("the refused drive stays in standby", drive["mode"], "standby")
        machine.run(f"dd if={node} of=/dev/null count=1 iflag=direct; smartctl -t long {node}", check=False)
        self.match("tune refuses a drive that runs a self-test",
                   machine.run("drivekeep tune SN-SAME", check=False).stderr, r"sd. is not measured: sd. runs a self-test")
        machine.run(f"smartctl -X {node}", check=False)
        machine.run("systemctl stop drivekeep")
        self.match("tune refuses to run without the service", machine.run("drivekeep tune SN-SAME", check=False).stderr,
                   r"drivekeep\.service does not run")
        machine.run("systemctl start drivekeep")
        self.settle(machine)

    def begin_lookahead(self, machine, drive):
        """Starts to measure look-ahead, and returns when look-ahead is on."""
        machine.run("systemctl reset-failed; systemd-run -q --unit=measuring -p StandardError=file:/root/said drivekeep tune SN-OFF lookahead "
                    "--budget=1h")
        machine.wait_until(lambda: drive["lookahead"], 120)

    def check_unplugged(self, machine, hba, drive):
        self.begin_lookahead(machine, drive)
        self.unplug(machine, hba, 0, drive.serial)
        machine.wait_until("! systemctl is-active -q measuring", 120)
        self.match("tune reports the value that it could not restore on an unplugged drive", machine.run("cat /root/said").stdout,
                   r"sd. was removed before its lookahead was restored to off\n")
        self.match("tune fails with exit status 1 after the drive was unplugged",
                   machine.run("systemctl show -P ExecMainStatus measuring").stdout, r"^1$")
        hba.attach(0, drive)
        machine.wait_until(f"test -e {by_id(drive.serial)}", 60)
        self.settle(machine)
        self.equal("the drive has its own look-ahead when it is plugged in again", drive["lookahead"], False)

    def check_cut(self, machine, hba, drive):
        self.begin_lookahead(machine, drive)
        machine.power_cut()
        hba.power_cycle()
        machine.power_on()
        machine.wait_boot()
        self.settle(machine)
        self.equal("after a power cut the drive has its own value", drive["lookahead"], False)
        self.no_match("after the power cut no temporary value is pending", machine.run("ls -A /run/drivekeep/drives").stdout, "temporary")


class Kills:
    """Kills the command, the service, the broker or its workers at different times."""
    BLOWS = {
        "command": "systemctl kill -s KILL measuring",
        "service": "systemctl kill -s KILL drivekeep",
        "workers": "pkill -KILL '^keep-'; systemctl kill -s KILL measuring",
        "broker": "systemctl kill -s KILL drivekeep-broker; systemctl kill -s INT measuring",
        "user": "systemctl kill -s INT measuring",
        "everything": "systemctl kill -s KILL measuring drivekeep drivekeep-broker",
    }

    def __init__(self, scenario, machine, *settings):
        """`settings` are measured at the same time. Each is a tuple: serial number, name of the setting, and a function that returns the drive's value."""
        self.scenario, self.machine = scenario, machine
        self.nodes = [scenario.node(machine, serial) for serial, _, _ in settings]
        self.names, self.present = [name for _, name, _ in settings], [present for _, _, present in settings]
        self.before = self.read()

    def read(self):
        return [present() for present in self.present]

    def check(self, n):
        """Runs `n` cases. The cases use the kinds of kill in BLOWS in turn. The kill comes 0 to 1.6 seconds after tune has changed the values of
        all settings."""
        machine, kept = self.machine, {blow: 0 for blow in self.BLOWS}
        units = [f"measuring-{name}" for name in self.names]
        begin = "; ".join(f"systemd-run -q --unit={unit} drivekeep tune {node} {name} {BUDGET}"
                          for unit, node, name in zip(units, self.nodes, self.names))
        for case, (name, blow) in zip(range(n), itertools.cycle(self.BLOWS.items())):
            machine.run(f"systemctl reset-failed; {begin}")
            machine.wait_until(lambda: all(present() != before for present, before in zip(self.present, self.before)), 120)
            machine.run(f"sleep {case % 17 / 10}; {blow.replace('measuring', ' '.join(units))}", check=False)
            machine.wait_until(f"! systemctl is-active -q {' '.join(units)}", 120)
            self.scenario.settle(machine)
            now = self.read()
            if now != self.before:
                self.scenario.claim(f"case {case}, {name} killed: {' and '.join(self.names)} are restored", False,
                                    f"{now}\n{machine.run('journalctl -b -n 60').stdout}")
                break
            kept[name] += 1
        for name in self.names:
            self.scenario.equal(f"after {n} kills the drive has its own {name} again", sum(kept.values()), n)


class TuningFile(Tuning):
    """`drivekeep tune --file` finds the best values for writes, and `drivekeep tune` finds the best queue depth"""

    def run(self):
        # A read takes as long as a write, so that a small number of samples suffices to show the effect of the write cache.
        cached = self.drive("SN-CACHED", size_mb=65536, write_cache=False, mechanics=Mechanics(rpm=30000, seek=(25e-3, 25e-3), sorted=0.05))
        # The disk executes four commands at a time. A read behind a full queue of 32 writes waits as long as eight commands take.
        deep = ScsiDisk(size_mb=65536, lanes=4, seconds=0.01)
        with self.drives(cached) as (_, arguments), tempfile.TemporaryDirectory(prefix="dk-", dir="/tmp") as folder, \
                SasHba(f"{folder}/sas", ports=1, name="sas0", slots=32) as controller:
            controller.attach(0, deep)
            with self.machine(files={CONF: "drives = ();\n", **self.files}, setup="systemctl enable drivekeep",
                              extra_args=arguments + controller.qemu_args()) as machine:
                machine.wait_until(f"[ -b {SAS} ]", 120)
                self.settle(machine)
                for name, node in ("cached", self.node(machine, "SN-CACHED")), ("deep", SAS):
                    machine.run(f"mkfs.ext4 -q -N 1000 -J size=8 -E lazy_itable_init=0,lazy_journal_init=0 {node} && "
                                f"mkdir -p /mnt/{name} && mount {node} /mnt/{name} && sync", 240)
                depth = f"/sys/block/$(basename $(readlink {SAS}))/device/queue_depth"
                machine.run(f"echo 1 > {depth}")
                told = machine.run(self.sampled(6 * ROUNDS, f"drivekeep tune --json {SAS} queue_depth {BUDGET}"), 1200).stdout
                self.check_depth(machine, depth, json.loads(told))
                self.check_cache(machine, cached)
                self.check_throttle(machine)

    def check_depth(self, machine, depth, told):
        setting, = told["settings"]
        # With a depth of eight the next four commands are always queued when the disk finishes four.
        self.claim("tune finds the smallest best queue depth, within one step", setting["picked"] in ("4", "8", "16"),
                   json.dumps(setting))
        rates = [value["goal"]["median"] for value in setting["values"]]
        self.claim("reads are faster with each larger queue depth up to four", rates[0] < rates[1] < rates[2], str(rates))
        self.equal("the drive has its own queue depth again", machine.run(f"cat {depth}").stdout, "1\n")

    def check_throttle(self, machine):
        late = f"/sys/block/$(basename $(readlink {SAS}))/queue/wbt_lat_usec"
        machine.run(f"echo 0 > {late}")
        used = machine.run("df --output=used /mnt/deep").stdout
        setting, = self.tune(machine, 4 * 8, f"{SAS} wbt_lat_usec --file=/mnt/deep")["settings"]
        self.claim("tune finds that a read waits less if the kernel throttles writes", setting["reason"] == "better", json.dumps(setting))
        self.equal("tune removes its file after measuring wbt_lat_usec", machine.run("sync; df --output=used /mnt/deep").stdout, used)
        self.equal("the kernel has its own wbt_lat_usec again", machine.run(f"cat {late}").stdout, "0\n")

    def check_cache(self, machine, drive):
        self.match("tune requires a directory to measure write_cache with writes",
                   machine.run("drivekeep tune SN-CACHED write_cache", check=False).stderr,
                   "write_cache is measured by writes to a file: add --file=DIR, a directory on the drive")
        mark, used = drive.log.mark(), machine.run("df --output=used /mnt/cached").stdout
        machine.run("systemd-run -q --unit=ended -p StandardOutput=file:/root/ended drivekeep tune SN-CACHED write_cache --file=/mnt/cached")
        machine.wait_until(lambda: any(e.command in WRITE for e in drive.log.since(mark, origin="kernel")), 60)
        machine.run("systemctl kill -s INT ended")
        machine.wait_until("! systemctl is-active -q ended", 60)
        self.equal("interrupted while it creates its file, tune exits normally and removes the file",
                   (machine.run("tail -n 1 /root/ended; systemctl is-failed ended; sync; df --output=used /mnt/cached", check=False).stdout),
                   f"No setting changes.\ninactive\n{used}")
        shown = machine.run(self.sampled(2 * 2 * 8, f"drivekeep tune SN-CACHED write_cache --file=/mnt/cached {BUDGET}"), 300).stdout
        self.match("tune finds that the write cache makes writes faster", shown,
                   r"write_cache: on is better than off: 70 % reads, 30 % writes, 8 at once, \d+ % more")
        self.match("tune warns that the write cache risks data at a power failure", shown,
                   "write_cache: cached data that no file system has flushed is lost")
        self.match("hdparm shows the write cache off again", machine.run(f"hdparm -W {self.node(machine, 'SN-CACHED')}").stdout, r"\(off\)")
        self.equal("the drive gets the commands for write cache on and off",
                   {e.feature for e in drive.log.since(0, origin="passthrough") if e.sets}, {0x02, 0x82})


class TuningKilled(Tuning):
    """An array of three drives is tuned; after 100 kills of `drivekeep tune` and its services, two other drives keep their own values"""
    rare = True

    def run(self):
        disks = [self.drive(f"SN-{n}", size_mb=65536, mechanics=Mechanics(enough=512 * KIB)) for n in range(3)]
        off = self.drive("SN-OFF", size_mb=65536, lookahead=False)
        with self.drives(self.drive("SN-SAME", size_mb=65536), off, *disks) as (_, arguments), \
                self.machine(files={CONF: "drives = ();\n", **self.files}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.check_array(machine, disks)
            self.kills(machine, off).check(100)

    def check_array(self, machine, disks):
        """Tunes an array with chunks of 512 KiB, whose disks read in parallel only with at least one stripe of read-ahead."""
        nodes = " ".join(self.node(machine, disk.serial) for disk in disks)
        machine.run(f"mdadm --create /dev/md/three --run --level=0 --chunk=512 --raid-devices=3 {nodes} && udevadm settle")
        name = machine.run("basename $(readlink -f /dev/md/three)").stdout.strip()
        machine.run(f"echo 128 > /sys/block/{name}/queue/read_ahead_kb")
        setting, = self.tune(machine, 11 * 2 * (ROUNDS + 2), "/dev/md/three read_ahead_kb")["settings"]
        values = [value["value"] for value in setting["values"]]
        self.claim("tune measures multiples of a stripe", "1536 KiB" in values, str(values))
        self.claim("tune picks a read-ahead of at least 1 MiB for the array", setting["reason"] == "better" and
                   values.index(setting["picked"]) >= values.index("1 MiB"), json.dumps(setting))
        self.equal("the array has its own read-ahead again",
                   machine.run(f"cat /sys/block/{name}/queue/read_ahead_kb").stdout.strip(), "128")
        machine.run("mdadm --stop /dev/md/three")
