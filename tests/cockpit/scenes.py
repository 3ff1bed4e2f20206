# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenes: simulated machines that reply to the commands of the page and send events. Tests validate the replies against the JSON Schema."""
from __future__ import annotations

import json
import pathlib
import queue
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vm"))

import schema

SCHEMA = schema.read()
BOOT = "5bc5a9a2f3b84ac6a6f1d2a4f38d9e6c"
HEAD = {"version": 2, "host": "nas", "boot_id": BOOT}
HOUR, DAY = 3600, 86400
JOURNAL = "drivekeep: the journal cannot be read: only root and members of the groups systemd-journal and adm can read it"
NEEDS_ROOT = "drivekeep: 'drivekeep {0}' needs root"

Doc = dict


def stamp(when: float | None) -> str | None:
    return None if when is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


def keys(name: str, *below: str) -> list[str]:
    """Returns the keys of an object of the schema, in order."""
    part = SCHEMA["$defs"][name]
    for key in below:
        part = part["properties"][key].get("items") or part["properties"][key]
    return list(part["properties"])


def fill(names: list[str], values: dict) -> dict:
    unknown = set(values) - set(names)
    assert not unknown, f"not in the schema: {unknown}"
    return {name: values.get(name) for name in names}


def setting(name: str, wanted: str, verdict: str | None = "unchanged", **more) -> dict:
    values = {"name": name, "wanted": wanted, "verdict": verdict, "actual": None if verdict in ("deferred", None) else wanted, "optional": False,
              "remediable": False, "rule": "/etc/drivekeep/drivekeep.conf:12", "when": stamp(time.time() - 900), **more}
    return fill(keys("status", "drives", "settings"), values)


class Drive:
    def __init__(self, name: str, model: str | None, serial: str | None, size: float, transport: str = "sata", power: str | None = "active/idle",
                 since: float = HOUR, spindown: str | None = None, settings: list[dict] = (), **more) -> None:
        now = time.time()
        self.settings = list(settings)
        kept = sum(s["verdict"] in ("applied", "unchanged", "unverifiable") for s in self.settings)
        self.listed = {"name": name, "node": f"/dev/{name}", "model": model, "serial": serial, "wwn": more.pop("wwn", None), "firmware": "CC32",
                       "transport": transport, "identity": "serial" if serial else "path", "size": int(size), "power": power,
                       "power_since": stamp(now - since) if power else None, "power_as_of": stamp(now - 40) if power else None,
                       "spindown": spindown, "settings_kept": kept, "settings_not_kept": len(self.settings) - kept, **more}

    def status(self) -> dict:
        names = keys("status", "drives")
        return fill(names, {**{k: v for k, v in self.listed.items() if k in names}, "state": "idle", "visit_reason": "boot", "settings": self.settings})


class Scene:
    """`commands`: the commands that the page ran. `emit()` sends an event to the page."""

    def __init__(self, drives: list[Drive], wakes: list[dict] = (), complaints: list[dict] = (), service: bool = True) -> None:
        self.drives, self.wakes, self.complaints, self.service = drives, list(wakes), list(complaints), service
        self.commands: list[str] = []
        self.clock = 0      # seconds by which the clock of the machine is ahead of the browser's
        self.followers: list[queue.Queue] = []      # of `drivekeep events --follow`
        self.watchers: list[queue.Queue] = []       # of the directory of the state files
        self.replies: dict[str, tuple[Doc | str, str, int]] = {}
        self.settings = json.loads((pathlib.Path(__file__).parent / "settings.json").read_text())

    def emit(self, event: str, drive: str, **more) -> None:
        waker = (more.get("unit") or more.get("process") or "unknown") if event == "active" else None
        kind = "read" if event == "active" else None
        values = {"time": stamp(self.now()), "boot_id": BOOT, "event": event, "drive": drive, "kind": kind, "waker": waker, **more}
        for events in self.followers:
            events.put({**HEAD, "events": [fill(keys("events", "events"), values)]})
        self.change()

    def now(self) -> float:
        """The clock of the machine."""
        return time.time() + self.clock

    def change(self) -> None:
        """Tells the page that a state file has changed."""
        for changes in self.watchers:
            changes.put({"event": "changed"})

    def drive(self, name: str) -> Drive:
        return next(d for d in self.drives if d.listed["name"] == name)

    # ---- commands ----

    def run(self, words: list[str], root: bool, required: bool, write) -> dict:
        """Runs a command of the page, and returns how it ended."""
        if words == ["fswatch1"]:
            return self._print_all(self.watchers, write)
        # The name of a drive or of a measurement must not be taken for an option.
        assert "--json" not in words[:-1] or "--" in words, words
        words = [w for w in words if w not in ("--json", "--")]
        self.commands.append(" ".join(words))
        if required and not root:
            return {"status": None, "problem": "access-denied", "message": "Not permitted to perform this action."}
        if words == ["events", "--follow"]:
            return self._follow(write) if root else {"status": 1, "problem": None, "message": JOURNAL}
        output, message, status = self._reply(words, root)
        if output != "":
            write(output if isinstance(output, str) else json.dumps(output, indent=2))
        return {"status": status, "problem": None, "message": message}

    def _follow(self, write) -> dict:
        if not self.service:
            return {"status": 3, "problem": None, "message": "drivekeep: drivekeep.service has not run since boot"}
        self._print_all(self.followers, write)
        return {"status": 1, "problem": None, "message": "drivekeep: 'drivekeep events' failed: Input/output error"}

    @staticmethod
    def _print_all(queues: list[queue.Queue], write) -> dict:
        documents: queue.Queue = queue.Queue()
        queues.append(documents)
        while document := documents.get():
            write(json.dumps(document) + "\n")
        return {"status": 0, "problem": "terminated", "message": ""}

    def _reply(self, words: list[str], root: bool) -> tuple[Doc | str, str, int]:
        text, verb = " ".join(words), words[0]
        if text in self.replies:
            return self.replies[text]
        measures = verb in ("bench", "tune") and len(words) > 1 and "--compare" not in words
        if (verb in ("plan", "show", "apply", "try", "release") or measures) and not root:
            return "", NEEDS_ROOT.format(verb), 1
        if verb == "wakes" and not root:
            return "", JOURNAL, 1
        if verb == "list":
            return {**HEAD, "time": stamp(self.now()), "drives": [fill(keys("list", "drives"), d.listed) for d in self.drives]}, "", 0
        if verb == "status":
            if not self.service:
                return {**HEAD, "drives": []}, "drivekeep: drivekeep.service does not run, and has left no records; 'systemctl start drivekeep.service' starts it", 3
            return {**HEAD, "drives": [d.status() for d in self.drives if d.settings is not None]}, "", 2
        if text == "wakes --summary":
            return {**HEAD, "wakers": [fill(keys("wakes_summary", "wakers"), {
                "waker": "smartd.service", "unit": "smartd.service", "programs": ["smartctl"], "wakes": 9, "drives": ["sda"], "last": stamp(time.time()),
                "advice": "add '-n standby' to the line of the drive in /etc/smartd.conf"})]}, "", 0
        if verb == "wakes":
            return {**HEAD, "wakes": self.wakes, "drives": [fill(keys("wakes", "drives"), {
                "name": d.listed["name"], "serial": d.listed["serial"], "power": d.listed["power"], "power_since": d.listed["power_since"],
                "power_until": d.listed["power_as_of"]}) for d in self.drives]}, "", 0
        if verb == "check":
            return {**HEAD, "complaints": self.complaints}, "", 1 if any(c["level"] == "error" for c in self.complaints) else 0
        if verb == "settings":
            return {**HEAD, "settings": self.settings}, "", 0
        if verb == "explain":
            return self._explain(self.drive(words[1])), "", 0
        if verb == "bench":
            return {**HEAD, "measurements": []}, "drivekeep: /var/lib/drivekeep/bench has no measurement; 'drivekeep bench DRIVE' measures a drive", 0
        if verb == "tune":
            return {**HEAD, "measurements": []}, "drivekeep: /var/lib/drivekeep/tune has no measurement; 'drivekeep tune DRIVE' measures a drive", 0
        return "", f"drivekeep: the scene has no reply to '{text}'", 1

    def _explain(self, drive: Drive) -> Doc:
        timer = drive.listed["spindown"]
        use = fill(keys("use"), {
            "setting": timer.split(" by")[0], "since": stamp(time.time() - 10 * DAY), "watched_seconds": 10 * DAY, "spin_ups": 29, "standby_seconds": 171000,
            "last_wake": {"time": None, "process": None, "unit": None},
            "load_cycles": {"count": 120310, "rated": None, "assumed_rating": 600000, "more_per_100_days": 31200, "years_left": 4.2},
            "spindle_starts": {"count": 900, "rated": 50000, "assumed_rating": None, "more_per_100_days": 290, "years_left": 46.3},
            "temperature": 35, "read": stamp(time.time() - 2 * HOUR),
            "timers": [{"minutes": m, "spin_ups_per_100_days": s, "standby_seconds_per_day": t}
                       for m, s, t in ((5, None, None), (10, 400, 21200), (20, 300, 17400), (30, 100, 16200), (60, 100, 14400))]}) if timer else None
        return {**HEAD, "node": drive.listed["node"], "model": drive.listed["model"], "serial": drive.listed["serial"], "transport": drive.listed["transport"],
                "on_battery": False, "rules": [{"rule": "/etc/drivekeep/drivekeep.conf:10", "reason": "model = \"ST*\" matches", "matches": True},
                                               {"rule": "/etc/drivekeep/drivekeep.conf:20", "reason": "rotational = false, but the drive rotates", "matches": False}],
                "settings": [], "spindown": timer, "kept_active": None, "use": use}


def wake(drive: Drive, when: float, standby: int | None, process: str | None, unit: str | None = None, what: str | None = "read sector 2048", **more) -> dict:
    return fill(keys("wakes", "wakes"), {"time": stamp(when), "boot_id": BOOT, "drive": drive.listed["name"], "serial": drive.listed["serial"],
                                         "model": drive.listed["model"], "kind": "read", "waker": unit or process or "kernel: kworker", "process": process, "unit": unit, "what": what,
                                         "standby_seconds": standby, **more})


def estimate(median: float | None, samples: int | list) -> dict:
    wide = 0.02 if (samples if isinstance(samples, int) else len(samples)) > 5 else None
    return {"median": median, "low": median * (1 - wide) if median and wide else None, "high": median * (1 + 2 * wide) if median and wide else None,
            "samples": samples}


UNITS = {"random_rate": "1/s", "deep_rate": "1/s", "random_latency": "s", "fsync_latency": "s", "mapped_latency": "s", "deep_latency_p99": "s", "first_read": "s"}


def identify(drive: Drive, when: float) -> dict:
    return {"host": "nas", "boot_id": BOOT, "drive": drive.listed["name"], "key": drive.listed["serial"], "model": drive.listed["model"],
            "serial": drive.listed["serial"], "when": stamp(when)}


def benched(name: str, drive: Drive, when: float, figures: dict[str, tuple]) -> dict:
    """A measurement of `drivekeep bench`; `figures`: median and number of samples."""
    return {"name": name, **identify(drive, when), "samples": sum(n for _, n in figures.values()),
            "figures": [{"name": key, "unit": UNITS.get(key, "B/s"), **estimate(*figure)} for key, figure in figures.items()]}


def tuned(drive: Drive, when: float, name: str, present: str, picked: str, reason: str, goal: str, medians: dict[str, float], cost: str | None = None,
          idle: dict[str, tuple] = {}, **more) -> dict:     # pylint: disable=dangerous-default-value # nobody changes it
    """A measurement of `drivekeep tune`; `idle`: the first reads after 1, 2, 5 and 10 s."""
    values = [{"value": value, "goal": {"unit": UNITS.get(goal, "B/s"), **estimate(median, [median] * 10 + [None])},
               **({"cost": {"unit": "s", **estimate(0.002 * (i + 1), [0.002] * 10)}} if cost else {}), "idle": [], "slow_after": None, "load_cycles": None,
               "waits": None} for i, (value, median) in enumerate(medians.items())]
    values += [{"value": value, "goal": {"unit": "s", **estimate(None, [])},
                "idle": [{"seconds": seconds, "median": median, "samples": [median] * 2} for seconds, median in zip((1, 2, 5, 10), reads)],
                "slow_after": 5 if reads[2] > 1 else None, "load_cycles": 4, "waits": 8} for value, reads in idle.items()]
    return {**identify(drive, when), "result": fill(keys("tune_result"), {"setting": name, "present": present, "picked": picked, "reason": reason, "goal": goal,
                                                                          "cost": cost, "others": 0, "cached": 0, "errors": 0, "values": values, **more})}


HOSTILE = "<img src=x onerror=\"document.title='broken'\"> \u202egpj.evil\u202c \u2067abc"


def usual() -> Scene:
    """Six drives of a home server, one with a hostile model name."""
    random.seed(1)
    now = time.time()
    sda = Drive("sda", "ST2000DL003-9VT166", "5YD1XYZ0", 2e12, power="standby", since=2.2 * HOUR, spindown="20 min", wwn="0x5000c5002f8ebf71",
                bay="0:0:24:0/Slot 04", path="pci-0000:03:00.0-sas-phy3-lun-0", temperature=35, temperature_as_of=stamp(now - 2 * HOUR),
                settings=[setting("apm", "127"), setting("spindown_time", "20 min", "unverifiable", reason="the drive does not report the value"),
                          setting("lookahead", "on"), setting("read_ahead_kb", "512 KiB")])
    sdb = Drive("sdb", "WDC WD40EFRX-68N32N0", "WD-WCC7K4ABCDEF", 4e12, spindown="20 min by the service", settings=[
        setting("apm", "128", "ignored", actual="254", reason="128 was accepted, but the value is still 254"),
        setting("error_recovery", "7 s"), setting("write_cache", "off", "drifted", actual="on", reason="smartd or another program set it to on",
                                                  drift_from="off", drift_to="on", drift_when=stamp(now - HOUR)),
        setting("read_ahead_kb", "1 MiB", rule="drivekeep try", temporary="try")])
    sdc = Drive("sdc", HOSTILE, "<b>1</b>\u202e321", 1e12, "usb", power=None, dock_model="Elements 25A2", path="pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0", settings=[
        setting("apm", "1", "unsupported", optional=True, reason="the drive has no APM")])
    sdd = Drive("sdd", "Hitachi HDS5C3020ALA632", "ML0220F30XYZED", 2e12, power="suspended", since=9 * HOUR, spindown="30 min by autosuspend_delay", settings=[
        setting("mult_sect_io", "16", "quarantined", reason="the machine crashed while this value was written"),
        setting("apm", "128", "deferred", reason="the drive is suspended; the setting waits until the drive is active")])
    nvme = Drive("nvme0n1", "Samsung SSD 970 EVO Plus 1TB", "S4EWNX0M123456", 1e12, "nvme", power=None, settings=[
        setting("apst_latency", "25 ms"), setting("scheduler", "none")])
    sr0 = Drive("sr0", "HL-DT-ST DVDRAM GH24NSD1", None, 0, power="active/idle", settings=[])
    wakes, at = [], now - 6.6 * DAY
    programs = [("smartctl", "smartd.service", "sent SMART READ DATA", None), ("find", "plocate-updatedb.service", "read sector 2048", "/usr/sbin/updatedb.plocate"),
                ("smbd", "smbd.service", "read sector 81920", "/usr/sbin/smbd --foreground"), (None, None, "wrote sector 128", None)]
    while at < now - 4 * HOUR:
        standby = int(random.uniform(0.3, 3) * HOUR)
        at += standby + random.uniform(0.4, 3) * HOUR
        p = random.choice(programs)
        if at < now - 3 * HOUR:
            wakes.append(wake(sda, at, standby, p[0], p[1], p[2], command_line=p[3], thread=None if p[0] else "kworker/u8:1"))
    for hours in (80, 55, 31, 20, 9.5):
        wakes.append(wake(sdb, now - hours * HOUR, 2 * HOUR, "smartctl", "smartd.service", "sent SMART READ DATA"))
        wakes.append(wake(sdd, now - hours * HOUR - 600, 5 * HOUR, "<script>alert(1)</script>", "\u202eevil.service", command_line="/bin/sh -c '<img src=x>'"))
    wakes.sort(key=lambda w: w["time"])
    next(w for w in reversed(wakes) if w["drive"] == "sda")["path"] = "/srv/<b>film</b>.mkv"
    scene = Scene([sda, sdb, sdc, sdd, nvme, sr0], wakes, [
        {"file": "/etc/drivekeep/drivekeep.conf", "level": "error", "line": 40, "column": 9, "sentence": "apm = 300 is not in the range of 1 to 255"},
        {"file": "/etc/drivekeep/drivekeep.conf", "level": "warning", "line": 14, "column": 7,
         "sentence": "spindown_time: smartd polls the drive every 30 min, so that its timer of 60 min never expires; add '-n standby' to /etc/smartd.conf"},
        {"file": "/etc/udev/rules.d/69-hdparm.rules", "level": "warning", "line": 3, "column": 0, "sentence": "this rule also sets apm of sdb: remove the rule, or apm from drivekeep.conf"},
        {"file": "/etc/drivekeep/drivekeep.conf", "level": "notice", "line": 30, "column": 3, "sentence": "this rule matches no attached drive"}])
    shown = keys("show", "drives", "settings")
    scene.replies["show sda"] = ({**HEAD, "drives": [{**fill(keys("show", "drives"), {
        "name": "sda", "key": "5YD1XYZ0", "match": "serial = \"5YD1XYZ0\"", "node": "/dev/sda", "size": 2000000000000, "state": "active/idle", "rotational": True}),
        "settings": [fill(shown, {"name": n, "transport": t, "value": v, "range": r, "supported": s, "exact": True}) for n, t, v, r, s in (
            ("apm", "ata", "127", None, True), ("write_cache", "ata", "on", None, True), ("error_recovery", "ata", "7 s", None, True),
            ("acoustic_management", "ata", None, None, False), ("mult_sect_io", "ata", "16", None, True), ("timeout", "scsi", "30 s", None, True),
            ("link_power_management", "scsi", None, None, True),
            ("software_settings_preservation", "ata", "on", '"5s"..."20min", "21min", "30min"..."330min" in steps of 30 min, "12h", ' * 3, True))]}]}, "", 0)
    scene.replies["plan sda"] = ({**HEAD, "drives": [{"name": "sda", "node": "/dev/sda", "model": None, "serial": "5YD1XYZ0", "wwn": None, "settings": [
        fill(keys("plan", "drives", "settings"), {"name": "apm", "wanted": "127", "present": "254", "action": "write", "reason": None,
                                                  "rule": "/etc/drivekeep/drivekeep.conf:12", "optional": False, "remediable": False})]}]}, "", 2)
    scene.replies["bench"] = ({**HEAD, "measurements": [
        *(benched(f"sda-{i + 1}", sda, now - days * DAY, {"sequential_start": (speed, 12), "buffered": (speed * wide, 9), "random_latency": (0.013, 12)})
          for i, (days, speed, wide) in enumerate(((210, 152e6, 0.4), (120, 149e6, 0.41), (31, 150e6, 0.4), (30.9, 148e6, 0.42), (5, 151e6, 0.8)))),
        benched("sdc-1", sdc, now - 3 * HOUR, {"sequential_start": (31e6, 4), "random_rate": (88, 12), "fsync_latency": (None, 0)})]}, "", 0)
    ladder = ("128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB")
    scene.replies["tune"] = ({**HEAD, "measurements": [
        tuned(sda, now - 4 * DAY, "apm", "254", "254", "curve", "first_read", {}, idle={
            "64": (0.011, 0.012, 1.9, 1.9), "127": (0.011, 0.011, 1.8, 1.9), "128": (0.012, 0.011, 0.012, 1.2), "254": (0.011, 0.012, 0.011, 0.012)}),
        tuned(sda, now - 5 * DAY, "read_ahead_kb", "128 KiB", "512 KiB", "better", "buffered",
              dict(zip(ladder, (60e6, 88e6, 119e6, 121e6, 120e6, 122e6, 118e6))), "mapped_latency"),
        tuned(nvme, now - 40 * DAY, "scheduler", "none", "none", "present", "deep_rate", {"none": 412e3, "mq-deadline": 398e3, "kyber": 401e3},
              "deep_latency_p99", left_out="bfq: refused, the kernel says \u202eon"),
        tuned(sdc, now - HOUR, "lookahead", HOSTILE, "on", "better", "sequential_small", {HOSTILE: 20e6, "on": 31e6})]}, "", 0)
    figure = keys("bench_compare", "figures")
    scene.replies["bench --compare 5YD1XYZ0"] = ({**HEAD, "before": "sda-4", "after": "sda-5", "figures": [
        fill(figure, {"name": "sequential_start", "before": 148e6, "after": 151e6, "factor": 1.02, "low": 0.98, "high": 1.06, "differs": False,
                      "finding": "12 samples show no difference"}),
        fill(figure, {"name": "random_latency", "before": 0.013, "after": 0.0105, "factor": 0.81, "low": 0.74, "high": 0.88, "differs": True, "finding": "19 % lower (12 to 26 %)"}),
        fill(figure, {"name": "buffered", "before": 60e6, "after": 120e6, "factor": 2.0, "low": 1.7, "high": 2.3, "differs": True, "finding": "100 % higher (70 to 130 %)"})],
        "changes": [{"drive": None, "name": "read_ahead_kb", "before": "128 KiB", "after": "512 KiB"}]}, "", 0)
    return scene


def home() -> Scene:
    """For the pictures of cockpit/screenshots: the usual drives without strange names."""
    scene, now = usual(), time.time()
    sdc, sdd = scene.drive("sdc"), scene.drive("sdd")
    sdc.listed.update(model="Elements 25A2", serial="57584D31", power="active/idle", power_since=stamp(now - 5 * HOUR), power_as_of=stamp(now))
    scene.wakes = [w for w in scene.wakes if w["drive"] != "sdd"] + [wake(sdd, now - hours * HOUR, 4 * HOUR, "rsync", "backup.service")
                                                                     for hours in (22, 15, 9.6)]
    scene.wakes.sort(key=lambda w: w["time"])
    scene.drives.pop()
    scene.complaints = [c for c in scene.complaints if c["level"] != "error"]
    return scene


def many(n_drives: int = 64, n_wakes: int = 10000) -> Scene:
    random.seed(2)
    now = time.time()
    drives = [Drive(f"sd{chr(97 + i // 26 - 1) if i >= 26 else ''}{chr(97 + i % 26)}", f"ST8000NM000A-{i:03}", f"ZA{i:06}", 8e12, "sas", power=random.choice(["standby", "active/idle"]),
                    since=random.uniform(60, 7200), spindown="20 min", settings=[setting("write_cache", "on"), setting("error_recovery", "7 s")]) for i in range(n_drives)]
    wakes = [wake(random.choice(drives), now - random.uniform(4 * HOUR, 7 * DAY), random.randrange(600, 1800), random.choice(["smbd", "find", "smartctl", "zfs"]),
                  random.choice(["smbd.service", "plocate-updatedb.service", "smartd.service", None])) for _ in range(n_wakes)]
    wakes.sort(key=lambda w: w["time"])
    return Scene(drives, wakes)


# ---- the schema ----

OBJECTS = {"list": "list", "status": "status", "wakes": "wakes", "wakes --summary": "wakes_summary", "check": "check", "settings": "settings",
           "explain": "explain", "show": "show", "plan": "plan", "bench": "bench_list", "bench --compare": "bench_compare", "tune": "tune_list"}


def validate(scene: Scene) -> list[str]:
    """Returns the errors of all documents of a scene."""
    errors = []
    lines = ["list", "status", "wakes", "wakes --summary", "check", "settings", f"explain {scene.drives[0].listed['name']}", "bench", "tune", *scene.replies]
    for line in lines:
        document, _, _ = scene._reply(line.split(), True)
        name = OBJECTS.get(line) or OBJECTS[" ".join(line.split()[:-1])]
        errors += [f"{line}: {error}" for error in schema.errors(name, document)]
    return errors
