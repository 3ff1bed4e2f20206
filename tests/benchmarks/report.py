"""Formats the results of the JSON file as tables, and judges each target. All functions are pure."""
import statistics

NO_LOG = "drivekeep, no wake log"      # in the part "idle": the second measurement of drivekeep, with wake_log = false
ORDER = ["none", "floor", "drivekeep", NO_LOG, "hdparm", "udisks2", "tlp", "tuned", "smartd", "hd-idle"]
NOTES = {"none": "udev alone", "floor": "a bare C loop", "hdparm": "Debian's udev scripts", "tlp": "2 of the 4 settings",
         "tuned": "2 of the 4 settings", "hd-idle": "no setting"}


def in_order(names):
    return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


def valid(figures):
    """Returns the runs that count: those in which every drive has all settings."""
    return [f for f in figures if f["right"] == f["drives"]]


def values(figures, *path):
    found = []
    for f in figures:
        for key in path:
            f = f.get(key) if isinstance(f, dict) else None
        if f is not None:
            found.append(f)
    return found


def median(numbers):
    return statistics.median(numbers) if numbers else None


def shown(numbers, scale=1.0, digits=0):
    """Formats the median. If the numbers are not all equal, adds the smallest and the largest number."""
    if not numbers:
        return "-"
    low, mid, high = (f"{n / scale:,.{digits}f}" for n in (min(numbers), statistics.median(numbers), max(numbers)))
    return mid if low == high else f"{mid} ({low}-{high})"


class Table:
    def __init__(self, title, *columns):
        self.title, self.rows = title, [list(columns)]

    def add(self, *cells):
        self.rows.append([str(cell) for cell in cells])

    def __str__(self):
        widths = [max(len(row[i]) for row in self.rows) for i in range(len(self.rows[0]))]
        lines = ["  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))).rstrip()
                 for row in self.rows]
        return "\n".join([self.title, "", lines[0], "  ".join("-" * w for w in widths), *lines[1:]]) + "\n"


# ---- Tables ----

def commands_per_drive(figures, *kinds):
    return [sum(f["commands"][kind] for kind in kinds) / f["drives"] for f in figures]


def figures_table(title, by_contender):
    table = Table(title, "", "right", "set/drive", "read/drive", "processes", "CPU s", "elapsed s", "runs")
    for name in in_order(by_contender):
        figures = by_contender[name]
        good = valid(figures)
        worst = min(figures, key=lambda f: f["right"])
        cells = [shown(commands_per_drive(good, "set"), digits=1), shown(commands_per_drive(good, "read"), digits=1),
                 shown(values(good, "processes")), shown(values(good, "cpu", "all"), 1e6, 2),
                 shown(values(good, "seconds"), 1, 1)] if good else ["does not count"] + ["-"] * 4
        right = "" if name == "none" else f"{worst['right']}/{worst['drives']}"
        table.add(name, right, *cells, len(figures))
    return table


def drives(number):
    return f"{number} drive{'s' if number != '1' else ''}"


def coldplug_tables(results):
    for number, by_contender in sorted(results.items(), key=lambda item: int(item[0])):
        yield figures_table(f"Coldplug of {drives(number)}, to the last setting in place", by_contender)


def instructions_tables(result):
    table = Table("Instructions (callgrind)", "", "now", "last", "change")
    last = result.get("last") or {"counts": {}}
    for name, now in result["counts"].items():
        before = last["counts"].get(name)
        table.add(name, f"{now:,}", f"{before:,}" if before else "-", f"{now / before - 1:+.1%}" if before else "-")
    yield table


def footprint_tables(result):
    table = Table("On the disk", "", "version", "installed kB", "pulls in packages", "of kB")
    for name in in_order(result):
        f = result[name]
        table.add(name, f["version"], f"{f['own'] / 1000:,.0f}", f["pulled_in"], f"{f['pulled_in_bytes'] / 1000:,.0f}")
    yield table


def startup_tables(result):
    table = Table("The command's start, to say its version", "", "CPU ms")
    for name in in_order(result):
        table.add(name, f"{result[name] / 1000:.1f}")
    yield table


def slow_tables(result):
    table = Table("One drive among them takes ten seconds to answer: the others' last setting", "", "without s", "with s",
                  "held up s", "runs")
    for name in in_order(result):
        without, with_ = (values(valid(result[name].get(case, [])), "others_seconds") for case in ("without", "with"))
        table.add(name, shown(without, digits=1), shown(with_, digits=1) if with_ else "does not count",
                  f"{held_up(result[name]):.1f}" if held_up(result[name]) is not None else "-", len(result[name]["with"]))
    yield table


def held_up(cases):
    without, with_ = (median(values(valid(cases.get(case, [])), "others_seconds")) for case in ("without", "with"))
    return None if without is None or with_ is None else with_ - without


def hotplug_tables(result):
    table = figures_table("Hotplug of one drive among those configured", result)
    table.rows[0].append("commands to the others")
    for row in table.rows[1:]:
        row.append(shown([others(f) for f in result[row[0]]]))
    for name in (name for name in CANNOT_HOTPLUG if name not in result):
        table.add(name, "cannot", *["-"] * (len(table.rows[0]) - 2))
    yield table


CANNOT_HOTPLUG, CANNOT_RESUME = ["tlp", "tuned", "smartd"], ["tuned", "smartd"]


def others(figure):
    return figure["others"]["set"] + figure["others"]["read"]


def resume_tables(result):
    table = figures_table("Resume, after the drives lost their power", result)
    for name in (name for name in CANNOT_RESUME if name not in result):
        table.add(name, "cannot", *["-"] * (len(table.rows[0]) - 2))
    yield table


def boot_tables(results):
    for number, result in sorted(results.items(), key=lambda item: int(item[0])):
        yield boot_table(number, result)


def boot_table(number, result):
    table = Table(f"Boot with {drives(number)}", "", "to the target s", "on the critical chain", "mounts that wait for it",
                  "from drive to mountable s", "right", "runs")
    for name in in_order(result):
        boots = result[name]
        right = "" if name == "none" else f"{min(b['right'] for b in boots)}/{boots[0]['drives']}"
        table.add(name, shown(values(boots, "target"), digits=2), "yes" if any(b["on_chain"] for b in boots) else "no",
                  max(len(mounts(b)) for b in boots), shown(values(boots, "mountable"), digits=3), right, len(boots))
    return table


def mounts(boot):
    return [name for name in boot["before"] if name.endswith((".mount", "-fs.target", "-fs-pre.target"))]


def idle_tables(result):
    seconds = next(iter(result.values()))["seconds"]
    table = Table(f"Idle for {seconds / 60:.0f} minutes, the work done", "", "wake-ups", "commands", "PSS kB", "RSS kB")
    for name in in_order(result):
        r = result[name]
        table.add(name, r["wakeups"], r["commands"], f"{r['pss'] // 1024:,}", f"{r['rss'] // 1024:,}")
    for name in ("floor", "hdparm", "tlp"):
        table.add(name, "-", "-", "0", "0")
    yield table


def spindown_tables(result):
    table = Table("Drives that nobody uses, to be spun down after ten minutes: the hour after the last use, and then the next one",
                  "", "drives", "spun down", "looks/drive", "commands/drive", "wake-ups",
                  "then looks/drive", "then commands", "then wake-ups", "runs")
    for number in sorted(result, key=int):
        for name in in_order(result[number]):
            runs = result[number][name]
            first = {key: values(runs, "falling", key) for key in ("asleep", "looks", "commands", "wakeups")}
            table.add(name, number, f"{min(first['asleep'])}/{number}", shown(first["looks"]),
                      shown(first["commands"], int(number), 1), shown(first["wakeups"]),
                      *(shown(values(runs, "asleep", key)) for key in ("looks", "commands", "wakeups")), len(runs))
    yield table


def growth_tables(result):
    table = Table("Growth: read-ahead of drives made by scsi_debug", "", "drives", "right", "processes", "CPU s",
                  "CPU ms/drive", "PSS kB", "runs")
    for number in sorted(result, key=int):
        for name in in_order(result[number]):
            figures = result[number][name]
            good = valid(figures)
            table.add(name, number, min(f["right"] for f in figures), shown(values(good, "processes")),
                      shown(values(good, "cpu", "all"), 1e6, 2), shown(values(good, "cpu", "all"), 1e3 * int(number), 2),
                      shown(values(good, "pss"), 1024), len(figures))
    yield table


TABLES = {"coldplug": coldplug_tables, "slow": slow_tables, "hotplug": hotplug_tables, "resume": resume_tables,
          "boot": boot_tables, "idle": idle_tables, "spindown": spindown_tables, "growth": growth_tables,
          "footprint": footprint_tables, "startup": startup_tables, "instructions": instructions_tables}


def text(results):
    parts = [str(table) for name, tables in TABLES.items() if results.get(name) for table in tables(results[name])]
    verdicts = targets(results)
    if verdicts:
        table = Table("Targets", "", "figure", "to reach", "")
        for target in verdicts:
            table.add(target["text"], target["figure"], target["limit"], "reached" if target["reached"] else "MISSED")
        parts.append(str(table))
    return "\n".join(parts)


# ---- Targets ----

def target(text, figure, limit, reached):
    return {"text": text, "figure": figure, "limit": limit, "reached": bool(reached)}


def median_of(by_contender, name, *path):
    return median(values(valid(by_contender.get(name, [])), *path))


def commands_of(by_contender, name):
    return median(commands_per_drive(valid(by_contender.get(name, [])), "set", "read"))


def commands_target(text, by_contender):
    ours, floor = commands_of(by_contender, "drivekeep"), commands_of(by_contender, "floor")
    if floor is None:
        return []
    if ours is None:
        return [target(f"{text}: commands a drive", "does not count", f"{floor + 2:g}", False)]
    return [target(f"{text}: commands a drive", f"{ours:g}", f"{floor + 2:g} (the floor + 2)", ours <= floor + 2)]


def coldplug_targets(results):
    found = []
    for number, by_contender in sorted(results.items(), key=lambda item: int(item[0])):
        found += commands_target(f"coldplug of {number}", by_contender)
    if "24" in results and "96" in results:
        slopes = [(median_of(results["96"], name, "cpu", "all"), median_of(results["24"], name, "cpu", "all"))
                  for name in ("drivekeep", "floor")]
        if all(None not in slope for slope in slopes):
            ratio = (slopes[0][0] - slopes[0][1]) / (slopes[1][0] - slopes[1][1])
            found.append(target("CPU slope from 24 to 96 drives", f"{ratio:.2f} times the floor's", "2", ratio <= 2))
    if "24" in results:
        theirs, ours = (median_of(results["24"], name, "cpu", "all") for name in ("hdparm", "drivekeep"))
        if theirs and ours:
            found.append(target("CPU at 24 drives, against Debian's hdparm", f"{theirs / ours:.0f} times less", "50",
                                theirs / ours >= 50))
    return found


def instructions_targets(result):
    counts, last, found = result["counts"], result.get("last"), []
    for small, large, what in (
            ("parse 250 rules", "parse 500 rules", "parsing: twice the rules"),
            ("match and plan 500 drives, 500 rules", "match and plan 1000 drives, 500 rules", "planning: twice the drives"),
            ("match and plan 1000 drives, 250 rules", "match and plan 1000 drives, 500 rules", "planning: twice the rules")):
        ratio = counts[large] / counts[small]
        found.append(target(what, f"{ratio:.2f} times the instructions", "2.1", ratio <= result["linear"]))
    if not last:
        return found
    worst = max(counts[name] / last["counts"][name] for name in counts if name in last["counts"])
    if last["toolchain"] == result["toolchain"]:
        found.append(target("instructions, against the last result", f"{worst - 1:+.1%}", "+5%", worst <= result["margin"]))
    else:
        found.append(target("instructions, against the last result", "another compiler, C library or processor",
                            "not judged", True))
    return found


RESIDENT = ["udisks2", "tuned", "smartd", "hd-idle"]


def footprint_targets(result):
    ours = result["drivekeep"]["own"]
    found = [target("installed", f"{ours / 1000:.0f} kB", "600 kB", ours < 600e3)]
    for name in RESIDENT:
        found.append(target(f"installed, against {name}", f"{ours / 1000:.0f} kB", f"{result[name]['own'] / 1000:.0f} kB",
                            ours < result[name]["own"]))
    return found


def slow_targets(result):
    late = held_up(result.get("drivekeep", {}))
    return [target("one slow drive: the others held up", "does not count" if late is None else f"{late:.1f} s of 10",
                   "nothing (2 s of noise)", late is not None and late < 2)]


def hotplug_targets(result):
    figures = result.get("drivekeep", [])
    sent = sum(others(f) for f in figures)
    return commands_target("hotplug", result) + [target("hotplug: commands to the others", sent, "0", figures and sent == 0)]


def resume_targets(result):
    return commands_target("resume", result)


def boot_targets(results):
    boots = [b for result in results.values() for b in result.get("drivekeep", [])]
    waiting = sum(len(mounts(b)) for b in boots)
    return [target("boot: on the critical chain", "yes" if any(b["on_chain"] for b in boots) else "no", "no",
                   boots and not any(b["on_chain"] for b in boots)),
            target("boot: mounts that wait", waiting, "0", boots and not waiting),
            *(mountable_target(number, result) for number, result in results.items()
              if "drivekeep" in result and values(result["none"], "mountable"))]


def mountable_target(number, result):
    """Checks that drives can be mounted as early with drivekeep as in the slowest boot without it."""
    without, ours = values(result["none"], "mountable"), median(values(result["drivekeep"], "mountable"))
    return target(f"boot: until one of {drives(number)} can be mounted", f"{ours:.3f} s",
                  f"{max(without):.3f} s (the worst without it)", ours <= max(without))


def idle_targets(result):
    ours, pss = result[NO_LOG], max(result[name]["pss"] for name in ("drivekeep", NO_LOG))
    return [target("idle, no wake log: wake-ups", ours["wakeups"], "0", ours["wakeups"] == 0),
            target("idle, no wake log: commands", ours["commands"], "0", ours["commands"] == 0),
            target("idle: memory (PSS)", f"{pss / 1e6:.2f} MB", "1.5 MB", pss < 1.5e6)]


MESSAGE = 3         # largest number of wake-ups of the service for one kernel message


def spindown_targets(result):
    ours = [each for by_contender in result.values() for each in by_contender["drivekeep"]]
    looks = max(each["falling"]["looks"] for each in ours)
    wakeups, commands, messages = (sum(each["asleep"][key] for each in ours) for key in ("wakeups", "commands", "messages"))
    all_asleep = all(hour["asleep"] == hour["drives"] for each in ours for hour in each.values())
    return [target("falling asleep: looks at a drive", looks if all_asleep else "does not count", "3", all_asleep and looks <= 3),
            target("spun down for an hour: wake-ups", wakeups, f"0, {messages} messages of the kernel's" if messages else "0",
                   wakeups <= MESSAGE * messages),
            target("spun down for an hour: commands", commands, "0", commands == 0)]


LINEAR = 1.15       # largest accepted factor by which the CPU time per drive grows from few to many drives


def growth_targets(result):
    sizes = sorted(result, key=int)
    if len(sizes) < 2:
        return []
    least, most = ({key: median(values(valid(result[n].get("drivekeep", [])), *key)) for key in (("cpu", "all"), ("pss",))}
                   for n in (sizes[0], sizes[-1]))
    if None in least.values() or None in most.values():
        return [target(f"growth to {sizes[-1]} drives", "does not count", "linear", False)]
    ratio = (most["cpu", "all"] / int(sizes[-1])) / (least["cpu", "all"] / int(sizes[0]))
    bytes_ = (most["pss",] - least["pss",]) / (int(sizes[-1]) - int(sizes[0]))
    return [target(f"growth from {sizes[0]} to {sizes[-1]} drives: CPU a drive", f"{ratio:.2f} times", f"{LINEAR}",
                   ratio <= LINEAR),
            target("growth: memory a drive", f"{bytes_ / 1000:.1f} kB", "16 kB", bytes_ < 16e3)]


TARGETS = {"coldplug": coldplug_targets, "slow": slow_targets, "hotplug": hotplug_targets, "resume": resume_targets,
           "boot": boot_targets, "idle": idle_targets, "spindown": spindown_targets, "growth": growth_targets,
           "footprint": footprint_targets, "instructions": instructions_targets}


def targets(results):
    return [each for name, judge in TARGETS.items() if results.get(name) for each in judge(results[name])]
