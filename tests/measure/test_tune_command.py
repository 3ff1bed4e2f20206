# SPDX-License-Identifier: LGPL-2.1-or-later
"""`drivekeep tune` as a whole, with a simulated service: refusals, picks, output, written configuration, and the restoration of the old
value in all cases."""
import itertools
import json
import os
import pathlib
import re

from fake import GIB, FakeService, Program, drive, row, without_day
from measure import bench, block, command, fio, plot, subject, sysfs
from measure.service import Refused

TUNED = "etc/drivekeep/drivekeep.conf.d/60-tuned.conf"
BEGIN = "// Written by drivekeep tune --write, which updates this file after later measurements.\n\ndrives = (\n"
HEAD = '    { match = { model = "DISK"; serial = "S1"; };\n'
END = "    },\n"
SCHEDULER = ("      // measured 0000-00-00, firmware F1, schedulers bfq mq-deadline none: random 4 KiB, 256 at once, bfq 200 /s (199.2 to 200.8 /s), "
             'mq-deadline 150 /s (149.4 to 150.6 /s); 24 samples\n      scheduler = "bfq";\n')
SECTORS = ("      // measured 0000-00-00, firmware F1: sequential, start (outer zone), 128 KiB 3.00 MB/s (2.988 to 3.012 MB/s), 256 KiB 2.00 MB/s "
           '(1.992 to 2.008 MB/s); 12 samples\n      max_sectors_kb = "128 KiB";\n')
SETS_BACK = "drivekeep.service restores the old value %s as soon as possible"

# The settings in the command's JSON, each with the members that differ from the defaults.
SETTINGS = {"scheduler": {}, "max_sectors_kb": {}, "wbt_lat_usec": {}, "nr_requests": {}, "apm": {}, "timeout": {},
            "spindown_time": {"readable": False}, "standby": {"once": True, "readable": False}, "epc": {"volatile": False},
            "max_sectors": {"transport": "none"}, "harm": {"danger": "it burns"}, "elevator": {"alias_of": "scheduler"}}

REFUSED = (*(([option], {}, 1, "no drive given; usage: 'drivekeep tune DRIVE [SETTING...]'")
             for option in ("--budget=1min", "--file=here", "--force", "--write", "--svg=x.svg", "--plot=x.png")),
           (["sdx"], {}, 1, "'sdx' is no drive that drivekeep knows"),
           (["sr0"], {}, 1, "sr0 is not measured: it is an optical drive"),
           (["sda", "schedulr"], {}, 1, "there is no setting 'schedulr'"),
           (["sda", "timeout"], {}, 1, "nothing can be measured for timeout: no value makes reads faster or slower"),
           (["sda", "spindown_time"], {}, 1, "spindown_time: it cannot be read"),
           (["sda", "standby"], {}, 1, "standby: it is a one-time command"),
           (["sda", "epc"], {}, 1, "epc: the drive saves it over power cycles"),
           (["sda", "max_sectors"], {}, 1, "max_sectors: drivekeep never sets it"),
           (["sda", "harm"], {}, 1, "harm: it is dangerous"),
           (["sda", "scheduler", "timeout"], {}, 1, "nothing can be measured for timeout"),
           (["sda", "wbt_lat_usec"], {}, 1, "wbt_lat_usec is measured by writes to a file: add --file=DIR, a directory on the drive"),
           (["sda", "scheduler", "--file=here"], {}, 1, "--file cannot be used: none of the given settings is measured by writes"),
           (["sda", "--budget=9s"], {}, 1, "'9s' is not a valid time"),
           (["sda", "--budget=13h"], {}, 1, "write --budget=10min, or another time"),
           (["sda"], {"user": 1000}, 1, "only root may measure drives"),
           (["sda"], {"fio": False}, 1, "drivekeep tune needs fio"),
           (["sda", "--plot=x.gif"], {}, 1, "'x.gif' is not a picture file: --plot needs a name that ends with .svg, .png or .pdf"),
           (["sda", "--plot=x.svg"], {"matplotlib": False}, 1, "pictures need matplotlib: install the package 'python3-matplotlib'"),
           (["sda", "--svg=x.svg"], {"matplotlib": False}, 1, "pictures need matplotlib: install the package 'python3-matplotlib'"),
           (["sda", "scheduler"], {"service": False}, 3, "drivekeep.service does not run"))

OTHER_1 = ('    { match = { wwn = "0x5000"; };\n      // measured 0000-00-00, firmware A: what was\n      read_ahead_kb = "1 MiB"; // said\n      apm   = 254;\n'
           "    },\n")
OTHER_2 = '    { match = "/dev/disk/by-id/x";\n    },\n'

# A file, its text, and the expected message.
NOT_WRITTEN = ((TUNED, "// mine\ndrives = (\n);\n", TUNED + " is not a file of 'drivekeep tune', so --write does not change this file"),
               (TUNED, "// Written by drivekeep tune --write.\ndrives = (\n  { match = \"/dev/sdx\"; apm = 1; }\n);\n",
                TUNED + " was changed by hand, so --write does not change this file"),
               (TUNED, f"{BEGIN}    // mine\n{HEAD}{SCHEDULER}{END});\n", TUNED + " was changed by hand"),
               (TUNED, f"{BEGIN}{HEAD}{SCHEDULER}{END});\non_drift = \"restore\";\n", TUNED + " was changed by hand"),
               (TUNED, f"{BEGIN}{HEAD}{SCHEDULER}{END}{HEAD}{SCHEDULER}{END});\n", TUNED + " was changed by hand"),
               ("etc/drivekeep/drivekeep.conf.d/90-x.conf", "drives = ( { match = {}; scheduler = \"none\"; } );\n",
                "/90-x.conf:1, which overrides "),
               ("etc/drivekeep/drivekeep.conf", "drives = (", "drivekeep.conf:1:1: error: "))


class Keeper(FakeService):
    """A service that simulates the drive's settings."""

    def __init__(self, has):
        super().__init__()
        self.has, self.temporary, self.is_ended = has, {}, False
        self.refusal = None         # error of SetTemporary
        self.rejected = None        # value that the drive rejects
        self.vanishes_at = None     # the drive is unplugged when the service sets this value
        self.rejects_old = False    # the drive rejects its old value when the service restores it
        self.files_want = None      # members of the service's record if the configuration sets the setting; None: it does not
        self.dies_at = None         # number of the SetTemporary call at which the service ends
        self.dies_after = False     # the service ends after the first visit
        self.dead = False
        self.record = {}
        self.pull = lambda: None

    def call(self, member, signature="", *arguments, **options):
        if self.dead:
            raise ConnectionResetError
        if member not in ("GetReadPermission", "Settle"):
            self.calls.append(f"SetTemporary:{arguments[1]}={arguments[2]}({arguments[3]})" if member == "SetTemporary" else member)
        return super().call(member, signature, *arguments, **options)

    def do_settemporary(self, _drive, setting, value, before):
        if self.dies_at == sum(call.startswith("SetTemporary") for call in self.calls):
            self.dead = True
            raise ConnectionResetError
        if self.refusal:
            raise Refused("org.freedesktop.DBus.Error.InvalidArgs", self.refusal)
        self.temporary[setting], self.is_ended = (value, before), False

    def do_endtemporary(self, _drive):
        self.is_ended = True

    def visit(self, setting, value, before):
        wanted = (self.files_want["actual"] if self.files_want else before) if self.is_ended else value
        gone, refused = wanted is not None and wanted == self.vanishes_at, (wanted is not None and wanted == self.rejected) or (self.is_ended and self.rejects_old)
        record = {"name": setting, "wanted": wanted, "actual": before if gone or refused else wanted, "rule": "drivekeep tune",
                "verdict": "vanished" if gone else "refused" if refused else "applied", "reason": "the kernel says no" if refused else None}
        if gone:
            self.pull()
        elif not refused:
            self.has[setting] = wanted
        if not self.is_ended:
            self.record[setting] = record
        elif self.files_want:
            self.record[setting] = {**record, **self.files_want}
        else:
            self.record.pop(setting, None)

    def do_read(self, _names):
        for setting, (value, before) in self.temporary.items():
            self.visit(setting, value, before)
        self.dead = self.dies_after
        if self.dead:
            raise ConnectionResetError


class Tune(Program):
    def setUp(self):
        super().setUp()
        self.has = {"scheduler": "mq-deadline", "max_sectors_kb": "256 KiB"}
        self.inexact = set()
        self.service = Keeper(self.has)
        self.service.pull = lambda: self.put("class/sda/diskseq", "6")
        self.put("class/sda/queue/scheduler", "none [mq-deadline] bfq")
        self.put("class/sda/queue/max_hw_sectors_kb", "256")
        os.makedirs("etc/drivekeep")
        self.drives = {"sda": drive("sda", node="/dev/none", model="DISK", serial="S1", firmware="F1", size=64 * GIB,
                                    match='{ model = "DISK"; serial = "S1"; }'),
                       "sr0": drive("sr0", settings=[row("speed", "optical", None)])}
        self.patch(sysfs, "disks_below", lambda name: [name])
        self.patch(sysfs, "above", lambda name: [])
        self.patch(block, "DRAFT_DIR", str(self.here))
        self.patch(subject, "make_scratch_file", self.make_file)
        self.patch(subject.Subject, "_find_fault", lambda *_: None)
        seconds = itertools.count(1764190865)   # each stored file has another time
        self.patch(subject.time, "time", lambda: next(seconds))
        # bfq is the fastest scheduler. All other values of max_sectors_kb are faster than the present 256 KiB.
        self.behave = self.speeds

    def make_file(self, directory, _fd):
        self.assertEqual(directory, "here")
        return os.open("file", os.O_RDWR | os.O_CREAT)

    def speeds(self, _n):
        return {"iops": {"bfq": 200, "none": 100}.get(self.has["scheduler"], 150), "bw": 2e6 if self.has["max_sectors_kb"] == "256 KiB" else 3e6}

    # ---- the command ----

    def print_show(self, names, words):
        found = super().print_show(names, words)["drives"]
        rows = [row(name, "block", value, exact=None if value is None else name not in self.inexact) for name, value in self.has.items()]
        return {"drives": [{**each, "settings": each["settings"] or rows} for each in found]}

    def print_settings(self, names, _):
        for name in names:
            if name not in SETTINGS:
                command.warn(f"there is no setting '{name}'; did you mean 'scheduler'?")
                raise command.Trouble
        usual = {"transport": "block", "alias_of": None, "once": False, "readable": True, "volatile": True, "danger": None}
        return {"settings": [{"name": name, **usual, **SETTINGS[name]} for name in names]}

    def print_status(self, _, __):
        return {"drives": [{"name": "sda", "settings": list(self.service.record.values())}]}

    def files(self, words):
        """Returns the configuration files below all roots, sorted by name. A file masks files of the same name below later roots."""
        found = {}
        for word in words:
            if word.startswith("--config-root="):
                for path in pathlib.Path(word.partition("=")[2]).glob("drivekeep/**/*.conf"):
                    found.setdefault(path.name, path)
        return [found[name] for name in sorted(found)]

    def print_check(self, _, words):
        return {"complaints": [{"file": str(path), "line": 1, "column": 1, "level": "error", "sentence": "it does not end"}
                               for path in self.files(words) if ");" not in path.read_text()]}

    def print_explain(self, _, words):
        rules = {}
        for path in self.files(words):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                for name in re.findall(r"(\w+) = \"", line if "//" not in line else ""):
                    rules[name] = f"{path}:{number}"
        return {"settings": [{"name": name, "rule": rule} for name, rule in rules.items()]}

    def tune(self, expected, *words):
        self.service.calls, self.service.temporary = [], {}
        status = self.run_program("tune", "--config-root=etc", "--results=lib/tune", *words)
        self.assertEqual(status, expected, self.out + self.err)

    def assert_back(self):
        """Asserts that the drive has its old values and no temporary value."""
        self.assertEqual(self.service.calls[-2:], ["EndTemporary", "Read"])
        self.assertEqual((self.has["scheduler"], self.has["max_sectors_kb"]), ("mq-deadline", "256 KiB"))

    def assert_file(self, path, text):
        self.assertEqual(without_day(pathlib.Path(path).read_text()), text)

    # ---- measuring ----

    def test_pick(self):
        self.tune(0, "sda", "scheduler")
        self.assertEqual(self.err, "")
        for part in ("mq-deadline now", "bfq best", "scheduler: bfq is better than mq-deadline: random 4 KiB, 256 at once, 33 % more ("):
            self.assertIn(part, self.out)
        self.assertNotIn("in addition", self.out)
        self.assertIn(f"or add this to the configuration:\n\ndrives = (\n{HEAD}{SCHEDULER}{END});\n", without_day(self.out))
        self.assert_back()
        self.assertFalse(os.path.exists(TUNED))
        # A value that is measured twice in a row is set once.
        hold = [f"SetTemporary:scheduler={value}(mq-deadline)" for value in ("mq-deadline", "none", "bfq", "none", "mq-deadline", "none")]
        self.assertEqual(self.service.calls[:12], [call for each in hold for call in (each, "Read")])

    def test_alias(self):
        self.tune(0, "sda", "elevator")
        self.assertIn("scheduler: bfq is better than mq-deadline", self.out)

    def test_json(self):
        self.tune(0, "S1", "scheduler", "--json")
        document = json.loads(self.out)
        setting, = document["settings"]
        self.assertEqual([document["drive"], *(setting[key] for key in ("present", "picked", "reason", "caution", "goal", "cost"))],
                         ["sda", "mq-deadline", "bfq", "better", None, "deep_rate", "deep_latency_p99"])
        self.assertEqual({value["value"]: value["goal"]["median"] for value in setting["values"]}, {"mq-deadline": 150, "none": 100, "bfq": 200})
        self.assertEqual((document["block"][0], document["block"][-3]), ("drives = (", '      scheduler = "bfq";'))
        self.assert_back()

    def test_all(self):
        """Without names, all settings of the drive are measured."""
        self.has["read_ahead_kb"] = None
        self.tune(0, "sda")
        for part in ("read_ahead_kb: not measured: the drive does not have this setting, or the value cannot be read\n",
                     "queue_depth: not measured: it is not a setting of this kind of drive\n", "nr_requests: not measured: ",
                     "scheduler: bfq is better than mq-deadline",
                     "max_sectors_kb: 128 KiB is better than 256 KiB: sequential, start (outer zone), 50 % faster ("):
            self.assertIn(part, self.out)
        self.assertIn(f"drives = (\n{HEAD}{SCHEDULER}{SECTORS}{END});\n", without_day(self.out))
        self.assert_back()

    def test_shares(self):
        """Each setting gets time in proportion to the number of its values and the duration of its samples."""
        self.behave = lambda n: {"iops": 100 + 37 * n % 90, "bw": (100 + 37 * n % 90) * 10000}
        self.tune(0, "sda", "scheduler", "max_sectors_kb", "--budget=60s")
        deep, start = len(self.runs(" --name=deep ")), len(self.runs(" --name=start "))
        self.assertTrue(2 * start <= deep <= 4 * start, (deep, start))

    def test_file(self):
        """Settings that are measured by writes to a file are included if --file is given."""
        self.has["wbt_lat_usec"] = "off"
        self.behave = lambda n: {"ns": 500000 if self.has["wbt_lat_usec"] == "2 ms" else 1000000}
        self.tune(0, "sda", "wbt_lat_usec", "--file=here")
        self.assertEqual(self.err, "")
        for part in ("wbt_lat_usec: 2 ms is better than off: random 4 KiB during writes, median latency, 50 % shorter (", 'wbt_lat_usec = "2 ms";',
                     "\nwbt_lat_usec: this setting makes the kernel throttle writes; the slowdown of writes is not measured\n"):
            self.assertIn(part, self.out)
        self.assert_back()
        self.tune(0, "sda", "wbt_lat_usec", "--file=here", "--json")
        self.assertTrue(json.loads(self.out)["settings"][0]["caution"].startswith("this setting makes the kernel throttle writes"))
        self.tune(0, "sda", "wbt_lat_usec", "scheduler", "--file=here")
        self.assertIn("wbt_lat_usec: 2 ms is better than off", self.out)
        self.assertIn("scheduler: not changed", self.out)
        self.tune(0, "sda", "--file=here")
        self.assertIn("wbt_lat_usec: 2 ms is better than off", self.out)
        self.assertIn("write_cache: not measured: it is not a setting of this kind of drive\n", self.out)
        self.tune(0, "sda")
        self.assertNotIn("wbt_lat_usec", self.out)

    def test_cheaper(self):
        """If a value is picked for its lower cost, the comment in the configuration states the costs."""
        self.behave = lambda n: {"p99": 1000, "iops": 100.1} if self.has["scheduler"] == "none" else {"p99": 9000, "iops": 100}
        self.tune(0, "sda", "scheduler")
        self.assertIn("scheduler: none is as good as mq-deadline, and costs less: 256 at once, 99 % latency", self.out)
        self.assertIn("schedulers bfq mq-deadline none: random 4 KiB, 256 at once, none 100 /s (99.7 to 100.5 /s), mq-deadline 100 /s (99.6 to 100.4 /s); "
                      "256 at once, 99 % latency, none 1.00 us (", self.out)
        self.assertIn(' samples\n      scheduler = "none";\n', self.out)

    def test_present(self):
        self.behave = lambda n: {"iops": 100}
        self.tune(0, "sda", "scheduler", "--write")
        self.assertIn(" samples show no better value", self.out)
        self.assertIn("No setting changes.\n", self.out)
        self.assertIn("nothing is written: no value is better than the current one", self.err)
        self.assertFalse(os.path.exists(TUNED))
        self.assert_back()

    def test_beside(self):
        """If a change of scheduler resets another setting, the value of that setting is set as a temporary value, too. A value that cannot be
        restored is not set."""
        self.has["nr_requests"] = "64"
        self.tune(0, "sda", "scheduler")
        self.assertEqual(self.service.calls[:3], ["SetTemporary:nr_requests=64(64)", "SetTemporary:scheduler=mq-deadline(mq-deadline)", "Read"])
        self.has["nr_requests"] = "2"
        self.inexact = {"nr_requests"}
        self.tune(0, "sda", "scheduler")
        self.assertFalse([call for call in self.service.calls if "nr_requests" in call])
        self.tune(0, "sda", "nr_requests")
        self.assertIn("nr_requests: not measured: the current value '2' could not be restored\n", self.out)

    def test_one_value(self):
        """A setting without other values is not measured."""
        self.put("class/sda/queue/max_hw_sectors_kb", "64")
        self.has["max_sectors_kb"] = "64 KiB"
        self.tune(0, "sda", "max_sectors_kb")
        self.assertEqual(self.out, "max_sectors_kb: not measured: no other value is available\n\nNo setting changes.\n")
        self.assertEqual(self.service.calls, [])

    def test_left_out(self):
        self.service.rejected = "bfq"
        self.tune(0, "sda", "scheduler")
        self.assertIn("unavailable values: bfq: refused, the kernel says no", self.out)
        self.assertIn("samples show no better value", self.out)
        self.assertNotIn("bfq best", self.out)
        self.assert_back()

    def test_left_out_all(self):
        self.service.rejected = "128 KiB"
        self.tune(0, "sda", "max_sectors_kb")
        self.assertIn("max_sectors_kb: not changed (256 KiB): no other value is available", self.out)
        self.assertIn("unavailable values: 128 KiB: refused, the kernel says no", self.out)
        self.assert_back()

    def test_present_refused(self):
        self.service.rejected = "mq-deadline"
        self.tune(1, "sda", "scheduler")
        self.assertIn("scheduler of sda is not measured: mq-deadline: refused, the kernel says no", self.err)
        self.assertEqual(self.out, "")
        self.assert_back()

    # ---- refusals ----

    def test_refused(self):
        for words, changes, status, text in REFUSED:
            with self.subTest(text):
                self.patch(os, "geteuid", lambda changes=changes: changes.get("user", 0))
                self.patch(fio, "is_installed", lambda changes=changes: changes.get("fio", True))
                self.patch(plot.importlib.util, "find_spec", lambda _, changes=changes: changes.get("matplotlib", True) or None)
                keeper = self.service
                if "service" in changes:
                    self.patch(subject.service, "connect", lambda _: None)
                self.tune(status, *words)
                self.assertIn(text, self.err)
                self.assertEqual((self.out, keeper.calls, self.log), ("", [], []))

    # ---- interruptions ----

    def test_hold_refused(self):
        self.service.refusal = "another one measures it"
        self.tune(1, "sda", "scheduler")
        self.assertIn("drivekeep.service rejected the request: another one measures it\n", self.err)
        self.assertEqual(self.out, "")

    def test_service_gone(self):
        self.service.dies_at = 4
        self.tune(3, "sda", "scheduler")
        self.assertEqual(self.err.count("drivekeep.service does not answer"), 1)
        # The message says that the service will restore the value.
        self.assertIn(f"scheduler of sda is bfq; {SETS_BACK % 'mq-deadline'}", self.err)
        # The samples taken before the service ended are shown.
        self.assertIn("scheduler: not changed (mq-deadline): too few samples", self.out)

    def test_service_gone_early(self):
        """A value is restored although the service ended before it replied."""
        self.service.dies_after = True
        self.tune(3, "sda", "max_sectors_kb")
        self.assertIn(f"max_sectors_kb of sda is 128 KiB; {SETS_BACK % '256 KiB'}", self.err)
        self.assertEqual(self.out, "")

    def test_stopped(self):
        """After an interrupt, the result has the samples taken before it."""
        self.behave = lambda n: {**self.speeds(n), "stop": n == 6}
        self.tune(0, "sda", "scheduler", "max_sectors_kb")
        self.assertIn("scheduler: not changed (mq-deadline): too few samples", self.out)
        self.assertIn("max_sectors_kb: not measured: the measurement ended before", self.out)
        self.assertIn("No setting changes.\n", self.out)
        self.assert_back()

    def test_stopped_unwritten(self):
        self.behave = lambda n: {**self.speeds(n), "stop": n == 30}
        self.tune(1, "sda", "scheduler", "max_sectors_kb", "--write")
        self.assertIn("nothing is written: the measurement was interrupted", self.err)
        self.assertFalse(os.path.exists(TUNED))

    def test_gate(self):
        n = iter(range(99))
        self.service.gate = lambda name: "it is visited" if next(n) > 5 else None
        self.tune(1, "sda", "scheduler")
        self.assertIn("sda can no longer be measured: it is visited", self.err)
        self.assert_back()

    def test_files_want(self):
        """The value from the configuration is restored, not a value set by hand."""
        for wanted, verdict in (("64 KiB", "applied"), ("default", "applied"), ("65 KiB", "adjusted")):
            with self.subTest(wanted):
                self.has["max_sectors_kb"] = "256 KiB"
                self.service.files_want = {"wanted": wanted, "actual": "64 KiB", "verdict": verdict, "rule": "a.conf:1"}
                self.tune(0, "sda", "max_sectors_kb")
                self.assertEqual(self.err, "")
                self.assertIn("max_sectors_kb: 128 KiB is better than 256 KiB", self.out)

    def test_files_deferred(self):
        self.service.files_want = {"actual": "64 KiB", "verdict": "deferred", "rule": "a.conf:1"}
        self.tune(2, "sda", "max_sectors_kb")
        self.assertIn(f"max_sectors_kb of sda is 64 KiB; {SETS_BACK % '256 KiB'}", self.err)

    def test_unreadable(self):
        self.service.files_want = {"actual": None, "rule": "a.conf:1"}
        self.tune(2, "sda", "max_sectors_kb")
        self.assertIn("max_sectors_kb of sda cannot be read now (", self.err)
        self.assertIn(f"); {SETS_BACK % '256 KiB'}", self.err)

    def test_unasked(self):
        """If the drive cannot be read at the end, a message states the old value, which the service restores later."""
        self.patch(subject.Subject, "read_settings", self.fail_to_read)
        self.tune(2, "sda", "max_sectors_kb")
        self.assertIn(f"max_sectors_kb of sda cannot be read now (the drive does not answer); {SETS_BACK % '256 KiB'}", self.err)
        self.assertIn("max_sectors_kb: 128 KiB is better than 256 KiB", self.out)

    @staticmethod
    def fail_to_read(*_):
        raise command.Trouble(status=75)

    def test_curve(self):
        """A setting that saves power is not changed; a value that the drive does not keep is left out."""
        self.has["apm"] = "254"
        self.behave = lambda n: {}
        self.patch(bench, "wait", lambda _, seconds: setattr(self, "now", self.now + seconds) or False)
        keeper, visit = self.service, self.service.visit

        def lose(setting, value, before):
            visit(setting, value, before)
            if value == "127" and not keeper.is_ended:
                self.has["apm"] = "128"
        keeper.visit = lose
        self.drives["sda"]["wear"]["load_cycles"] = 7
        self.tune(0, "sda", "apm", "--budget=1h")
        self.assertEqual(self.err, "")
        self.assertIn(" is not changed (254)", self.out)
        self.assertIn("unavailable values: 127: the drive does not keep this value\n", self.out)
        self.assertIn("0 in ", self.out)
        self.assertEqual((self.has["apm"], self.service.calls[-2:]), ("254", ["EndTemporary", "Read"]))
        # A value that cannot be read during the measurement counts as kept.
        self.patch(subject.Subject, "read_settings", self.fail_to_read)
        self.tune(2, "sda", "apm", "--budget=1h")
        self.assertNotIn("cannot be had", self.out)

    def test_gone(self):
        """A new drive with the same name is neither measured nor set."""
        self.put("class/sda/diskseq", "5")
        self.behave = lambda n: (n >= 7 and self.put("class/sda/diskseq", "6")) or self.speeds(n)
        self.tune(1, "sda", "max_sectors_kb", "scheduler", "--write")
        self.assertIn("sda can no longer be measured: it was removed\n", self.err)
        self.assertIn("sda was removed before its max_sectors_kb was restored to 256 KiB\n", self.err)
        self.assertNotIn("sets it back", self.err)
        self.assertFalse([call for call in self.service.calls if call == "EndTemporary" or "scheduler" in call])
        self.assertEqual(len(self.runs(" --name=start ")) - 1, 6)

    def test_gone_with_it(self):
        """If the drive disappears during the visit that sets a value, a message names the value that was not restored."""
        self.put("class/sda/diskseq", "5")
        self.put("class/sda/queue/scheduler", "none [mq-deadline]")
        self.service.vanishes_at = "none"
        self.tune(1, "sda", "scheduler")
        self.assertIn("sda was removed before its scheduler was restored to mq-deadline\n", self.err)

    def test_not_again(self):
        """If the old value cannot be restored, no configuration is written."""
        self.service.rejects_old = True
        self.tune(2, "sda", "max_sectors_kb", "--write")
        self.assertIn(f"max_sectors_kb of sda is 128 KiB; {SETS_BACK % '256 KiB'}", self.err)
        self.assertIn("max_sectors_kb: 128 KiB is better than 256 KiB", self.out)
        self.assertFalse(os.path.exists(TUNED))

    def test_others(self):
        self.behave = lambda n: {**self.speeds(n), "extra": 4096}
        self.tune(1, "sda", "scheduler")
        self.assertIn("scheduler of sda is not measured: other programs use sda most of the time; --force measures anyway", self.err)
        self.assert_back()
        self.tune(0, "sda", "scheduler", "--force", "--budget=20s")
        self.assertIn("scheduler: not changed (mq-deadline): too few samples", self.out)
        self.assertIn("samples left out: ", self.out)
        self.assert_back()

    # ---- stored results ----

    def listed(self):
        self.tune(0, "--json")
        document = json.loads(self.out)
        self.assertEqual((list(document), self.err), (["version", "host", "boot_id", "measurements"], ""))
        return document["measurements"]

    def test_stored(self):
        """The stored result of each setting is the printed one. The list needs no root."""
        self.tune(0, "sda", "scheduler", "max_sectors_kb", "--json")
        printed = {setting["setting"]: setting for setting in json.loads(self.out)["settings"]}
        self.assertEqual(printed["max_sectors_kb"]["values"][0]["goal"]["unit"], "B/s")
        self.assertEqual(len(os.listdir("lib/tune")), 2)
        self.assertEqual({os.stat(f"lib/tune/{name}").st_mode & 0o777 for name in os.listdir("lib/tune")}, {0o644})
        self.patch(os, "geteuid", lambda: os.getuid() + 1000)
        listed = self.listed()
        self.assertEqual({m["result"]["setting"]: m["result"] for m in listed}, printed)
        self.assertEqual([listed[0][key] for key in ("host", "drive", "key", "model", "serial")], [os.uname().nodename, "sda", "sda", "DISK", "S1"])
        # A stored file has the shape of the list.
        for name in os.listdir("lib/tune"):
            document = json.loads(pathlib.Path("lib/tune", name).read_text())
            self.assertEqual((list(document), len(document["measurements"])), (["version", "host", "boot_id", "measurements"], 1))
            self.assertIn(document["measurements"][0], listed)
        self.tune(0)
        self.assertRegex(self.out, r"^DRIVE MODEL SERIAL SETTING +VALUE +BEST +WHEN\n"
                                   r"sda +DISK +S1 +max_sectors_kb 256 KiB +128 KiB [\w: ]+\nsda +DISK +S1 +scheduler +mq-deadline bfq +[\w: ]+\n$")

    def test_stored_last(self):
        """The list has the last result of each drive and setting; no file is removed."""
        self.tune(0)
        self.assertEqual((self.out, self.err), ("", "drivekeep: lib/tune has no measurement; 'drivekeep tune DRIVE' measures a drive\n"))
        self.tune(0, "sda", "scheduler")
        self.behave = lambda n: {"iops": 100}
        self.tune(0, "sda", "scheduler")
        self.drives["sda"]["key"] = "another drive"
        self.tune(0, "sda", "scheduler")
        self.assertEqual(len(os.listdir("lib/tune")), 3)
        listed = self.listed()
        self.assertEqual([(m["key"], m["result"]["reason"]) for m in listed], [("another drive", "present"), ("sda", "present")])
        self.assertGreater(listed[1]["when"], "2025-11-26T21:01:05Z")

    def test_stored_early_end(self):
        """A measurement that ended early is stored if its samples suffice. A later measurement with too few samples does not replace it."""
        self.behave = lambda n: {**self.speeds(n), "stop": n == 30}
        self.tune(0, "sda", "scheduler")
        reason = self.listed()[0]["result"]["reason"]
        self.assertEqual(reason, "better")
        self.log.clear()
        self.behave = lambda n: {**self.speeds(n), "stop": n == 6}
        self.tune(0, "sda", "scheduler")
        self.assertIn("too few samples", self.out)
        self.assertEqual(len(os.listdir("lib/tune")), 1)

    def test_stored_despite_failure(self):
        self.service.rejects_old = True
        self.tune(2, "sda", "max_sectors_kb")
        self.assertEqual(self.listed()[0]["result"]["picked"], "128 KiB")

    def test_stored_curve(self):
        self.has["apm"] = "254"
        self.behave = lambda n: {}
        self.patch(bench, "wait", lambda _, seconds: setattr(self, "now", self.now + seconds) or False)
        self.tune(0, "sda", "apm", "--budget=1h", "--json")
        printed, = json.loads(self.out)["settings"]
        self.assertEqual(self.listed()[0]["result"], printed)
        self.assertEqual((printed["reason"], printed["values"][0]["idle"][0]["seconds"]), ("curve", 1))
        self.tune(0)
        self.assertRegex(self.out, r" apm +254 +- ")
        # An early end stores the curves only if each of the five values has a first read. Each value takes nine runs of fio in a round.
        for last, stored in ((20, 1), (60, 2)):
            self.log.clear()
            self.behave = lambda n, last=last: {"stop": n == last}
            self.tune(0, "sda", "apm", "--budget=1h")
            self.assertEqual((len(self.log), len(os.listdir("lib/tune"))), (last, stored))
            os.read(self.read_end, 1)

    def test_not_stored(self):
        """A result that cannot be stored is shown, the configuration is written, and the exit status is 1."""
        self.put("lib", "no directory")
        self.tune(1, "sda", "scheduler", "--write")
        self.assertIn("the measurement cannot be saved in lib/tune: Not a directory", self.err)
        self.assertIn("bfq is better than mq-deadline", self.out)
        self.assertTrue(os.path.exists(TUNED))
        self.tune(1, "--json")
        self.assertIn("lib/tune cannot be read: Not a directory", self.err)

    def test_stored_damaged(self):
        """Files that are not a measurement, and parts that are unknown, are not listed."""
        self.tune(0, "sda", "scheduler")
        file, = pathlib.Path("lib/tune").iterdir()
        good = json.loads(file.read_text())
        kept = self.listed()
        result = good["measurements"][0]["result"]
        good["measurements"][0]["when"] = "2098-01-01T00:00:00Z"    # would be the last one
        strange = (("[" * 100000), "7", "{}", '{"measurements": []}', '{"measurements": [7, 8]}')
        for i, text in enumerate(strange):
            self.put(f"lib/tune/bad-{i}.json", text)
        for i, (part, key, value) in enumerate((
                (good, "version", 1), (result, "picked", None), (result, "others", "0"), (result, "values", {}), (result["values"][0], "value", 5), (result, "setting", ["x"]),
                (result["values"][0]["goal"], "median", float("inf")), (result["values"][0]["goal"]["samples"], 0, float("nan")),
                (result["values"][0]["goal"]["samples"], 0, True), (good["measurements"][0], "when", "today"), (good["measurements"][0], "key", None))):
            before, part[key] = part[key], value
            self.put(f"lib/tune/wrong-{i}.json", json.dumps(good))
            part[key] = before
        for key in "picked", "cost":
            value = result.pop(key)
            self.put(f"lib/tune/without-{key}.json", json.dumps(good))
            result[key] = value
        self.assertEqual(self.listed(), kept)
        result["new"], good["measurements"][0]["when"] = 1, "2099-1-2T3:4:5Z"
        self.put("lib/tune/new.json", json.dumps(good))
        listed, = self.listed()
        self.assertEqual((listed["when"], "new" in listed["result"]), ("2099-01-02T03:04:05Z", False))

    # ---- written configuration ----

    def test_write(self):
        self.tune(0, "sda", "scheduler", "--write")
        self.assertEqual(self.err, "")
        self.assertTrue(self.out.endswith(f"Written to etc/{block.NAME}.\n"), self.out)
        self.assert_file(TUNED, f"{BEGIN}{HEAD}{SCHEDULER}{END});\n")
        self.assertEqual(self.service.calls[-3:], ["EndTemporary", "Read", "Reload"])
        # Lines about other settings are kept with their comments; a setting that is measured again appears once.
        self.tune(0, "sda", "max_sectors_kb", "--write", "--json")
        self.assertNotIn("Written", self.out)
        self.assert_file(TUNED, f"{BEGIN}{HEAD}{SCHEDULER}{SECTORS}{END});\n")
        self.tune(0, "sda", "scheduler", "--write")
        self.assert_file(TUNED, f"{BEGIN}{HEAD}{SECTORS}{SCHEDULER}{END});\n")
        self.assertEqual(os.stat(TUNED).st_mode & 0o777, 0o644)
        self.assertEqual(os.listdir(os.path.dirname(TUNED)), ["60-tuned.conf"])

    def test_others_kept(self):
        self.put(TUNED, f"{BEGIN}{OTHER_1}{HEAD}      wake = true;\n{SCHEDULER}{END}{OTHER_2});")
        self.tune(0, "sda", "max_sectors_kb", "--write")
        self.assert_file(TUNED, f"{BEGIN}{OTHER_1}{OTHER_2}{HEAD}      wake = true;\n{SCHEDULER}{SECTORS}{END});\n")

    def test_confirmed(self):
        """If the value in the file is still the best, its comment is replaced."""
        sectors = '      // measured 0000-00-00, firmware F0: what was\n      max_sectors_kb = "128 KiB";\n'
        self.put(TUNED, f"{BEGIN}{HEAD}{sectors}      // measured 2025-01-01, firmware F0, schedulers none: what was\n"
                 f'      scheduler = "mq-deadline";\n{END});')
        self.behave, self.step_seconds = lambda n: {"iops": 100}, 0.3
        for words in ("max_sectors_kb",), ("scheduler", "--budget=10s"):
            self.tune(0, "sda", "--write", *words)
            self.assertIn("nothing is written: no value is better than the current one", self.err)
        self.step_seconds = 0.1
        self.tune(0, "sda", "scheduler", "--write")
        self.assertEqual(self.err, "")
        self.assert_file(TUNED, f"{BEGIN}{HEAD}{sectors}      // measured 0000-00-00, firmware F1, schedulers bfq mq-deadline none: random 4 KiB, 256 at "
                         f'once, mq-deadline 100 /s (99.6 to 100.4 /s); 24 samples\n      scheduler = "mq-deadline";\n{END});\n')

    def test_not_written(self):
        for path, text, why in NOT_WRITTEN:
            with self.subTest(why):
                self.put(path, text.rstrip("\n"))
                self.tune(1, "sda", "scheduler", "--write")
                self.assertIn(why, self.err)
                self.assertEqual(pathlib.Path(path).read_text(), text.rstrip("\n") + "\n")
                # An error that is known before the measurement prevents the measurement.
                if path == TUNED:
                    self.assertEqual((self.out, self.service.calls), ("", []))
                else:
                    self.assertIn("scheduler: bfq is better than mq-deadline", self.out)
                    self.assertFalse(os.path.exists(TUNED))
                    self.assert_back()
                os.unlink(path)

    def test_unsafe(self):
        """Files in directories that others can write to are neither read nor written."""
        os.makedirs(os.path.dirname(TUNED))
        os.chmod(os.path.dirname(TUNED), 0o777)
        self.tune(1, "sda", "scheduler", "--write")
        self.assertIn("others can write to a directory in its path; chown root and chmod go-w make the directory safe", self.err)
        os.chmod(os.path.dirname(TUNED), 0o755)
        self.put(TUNED, f"{BEGIN}{HEAD}{SCHEDULER}{END});")
        os.chmod(TUNED, 0o666)
        self.tune(1, "sda", "scheduler", "--write")
        self.assertIn(f"{TUNED} cannot be read: ", self.err)

    def test_earlier_file(self):
        """The configuration is written even if a file that is read earlier sets another value."""
        self.put("etc/drivekeep/drivekeep.conf.d/10-x.conf", 'drives = ( { match = {}; scheduler = "none"; } );')
        self.tune(0, "sda", "scheduler", "--write")
        self.assert_file(TUNED, f"{BEGIN}{HEAD}{SCHEDULER}{END});\n")

    # ---- pictures ----

    def test_picture(self):
        """The picture has each value with its interval, and marks the present value and the best value."""
        self.tune(0, "sda", "scheduler", "--svg=x.svg", "--plot=y.png", "--quiet")
        text = self.get("x.svg")
        for part in "<svg ", ">scheduler: random 4 KiB, 256 at once</text>", ">bfq</text>", ">best</text>", ">now</text>", "</svg>":
            self.assertIn(part, text)
        self.assertTrue(pathlib.Path("y.png").read_bytes().startswith(b"\x89PNG"))

    def test_picture_fails(self):
        """A picture that cannot be saved does not prevent writing the configuration."""
        os.mkfifo("pipe.svg")
        os.mkdir("theirs")
        os.chmod("theirs", 0o777)
        os.symlink(self.here, "theirs/planted")
        for path, why in (("none/x.svg", "none/x.svg cannot be written: "), ("pipe.svg", "pipe.svg is not a regular file and is not replaced"),
                          ("theirs/planted/x.svg", "x.svg cannot be written: the path has a symbolic link that another user may")):
            with self.subTest(path):
                self.tune(1, "sda", "scheduler", f"--svg={path}", "--write")
                self.assertIn(why, self.err)
                self.assertIn("Written to ", self.out)
                self.assertFalse(os.path.exists("x.svg"))
                os.unlink(TUNED)
