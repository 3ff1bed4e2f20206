#!/usr/bin/env python3
"""Measures drivekeep, its peers and the floor program (floor.c). tests/bench runs this script after the build."""
import argparse
import dataclasses
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "vm"))

import boot  # noqa: E402
import chart  # noqa: E402
import coldplug  # noqa: E402
import contenders  # noqa: E402
import footprint  # noqa: E402
import growth  # noqa: E402
import hotplug  # noqa: E402
import idle  # noqa: E402
import image  # noqa: E402
import instructions  # noqa: E402
import report  # noqa: E402
import resume  # noqa: E402
import slow  # noqa: E402
import spindown  # noqa: E402
import startup  # noqa: E402

PARTS = ["instructions", "footprint", "startup", "coldplug", "slow", "hotplug", "resume", "boot", "idle", "spindown",
         "growth"]
SUITE = "bookworm"              # the published figures are for programs of this suite
SIZES = [1, 24, 96]             # numbers of drives for coldplug
FULL = 24                       # number of drives in the other parts
FEW = 4                         # number of drives in a quick run
IDLE_SECONDS = 600
GROWTH = [256, 512, 1024]
SPINDOWN = [FEW, FULL]


def say(text):
    print(text, flush=True)


def plain(value):
    """Converts dataclasses to dicts recursively, with keys as in JSON."""
    if dataclasses.is_dataclass(value):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


class Run:
    def __init__(self, options):
        self.options = options
        self.results = json.loads(options.earlier.read_text()) if options.earlier else {}
        self.packages = sorted(contenders.PACKAGES)
        self.chosen = [each for each in contenders.ALL if not options.contender or each.name in options.contender]
        self.number = FEW if options.quick else FULL
        self._image = None

    def keep(self, part, found):
        """Stores the results of a part on disk at once, because a run takes hours."""
        self.results[part] = plain(found)
        save(self.results, self.options)

    def image(self):
        if not self._image:
            self._image = image.build(self.options.overlay, sorted(self.options.modules.glob("*.ko")), log=say, packages=self.packages, suite=SUITE)
        return self._image

    def instructions(self):
        result = instructions.run(self.options.instructions)
        result.update(last=instructions.last(), margin=instructions.MARGIN, linear=instructions.LINEAR)
        if self.options.keep:
            instructions.keep({key: result[key] for key in ("toolchain", "counts")})
        return result

    def footprint(self):
        return footprint.run(image.base(say, self.packages, SUITE).tree, self.options.overlay)

    def coldplug(self):
        sizes = self.options.size or (SIZES[:2] if self.options.quick else SIZES)
        for number in sizes:
            chosen = [each for each in self.chosen if not (self.options.quick and each.slow and number > FEW)]
            figures = coldplug.run(self.image(), self.options.floor, number, self.options.runs, chosen)
            self.keep("coldplug", self._into("coldplug", {number: figures}))
        return self.results["coldplug"]

    def _into(self, part, figures):
        """Adds the figures to those that earlier runs have stored for other numbers of drives or other contenders."""
        found = {**self.results.get(part, {})}
        for number, by_contender in plain(figures).items():
            found[number] = {**found.get(number, {}), **by_contender}
        return found

    def _drives(self, part):
        figures = part.run(self.image(), self.options.floor, self.number, self.options.runs, self.chosen)
        return {**self.results.get(part.__name__, {}), **figures} if self.options.contender else figures

    def slow(self):
        return self._drives(slow)

    def hotplug(self):
        return self._drives(hotplug)

    def resume(self):
        return self._drives(resume)

    def boot(self):
        number = self.options.size[0] if self.options.size else self.number
        return self._into("boot", {number: boot.run(self.image(), self.options.floor, number, self.options.runs, self.chosen)})

    def idle(self):
        return idle.run(self.image(), self.options.floor, FULL, 60 if self.options.quick else self.options.idle)

    def spindown(self):
        sizes = self.options.size or (SPINDOWN[:1] if self.options.quick else SPINDOWN)
        return self._into("spindown", {number: spindown.run(self.image(), self.options.floor, number, self.options.runs)
                                      for number in sizes})

    def growth(self):
        sizes = self.options.size or (GROWTH[:1] if self.options.quick else GROWTH)
        return self._into("growth", growth.run(self.image(), self.options.floor, sizes, self.options.runs, self.chosen))

    def startup(self):
        return startup.run(self.image(), self.options.floor, self.chosen)


def save(results, options):
    verdicts = report.targets(results)
    if options.json:
        options.json.write_text(json.dumps({**results, "targets": verdicts}, indent=1) + "\n")
    if options.svg:
        options.svg.write_text(chart.svg(results))
    if options.text:
        options.text.write_text(report.text(results))


def parse_options():
    parser = argparse.ArgumentParser(prog="tests/bench", description="Measure drivekeep against what people use today.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"what to measure, of: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every figure of every run to FILE")
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="write the tables to FILE too")
    parser.add_argument("--svg", type=pathlib.Path, metavar="FILE", help="draw the main figures into FILE")
    parser.add_argument("--from", dest="earlier", type=pathlib.Path, metavar="FILE",
                        help="begin with the figures of an earlier --json; what is named (parts, sizes, contenders) is "
                        "measured anew")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each case (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one run of the small cases")
    parser.add_argument("--size", type=int, action="append", metavar="N",
                        help="coldplug, growth, spindown or boot of N drives; as often as needed")
    parser.add_argument("--contender", action="append", choices=[each.name for each in contenders.ALL],
                        help="measure only this one; as often as needed")
    parser.add_argument("--idle", type=int, default=IDLE_SECONDS, metavar="SECONDS",
                        help="how long to watch what is idle (default: 600)")
    parser.add_argument("--keep", action="store_true", help="make this run's instruction counts those to compare with")
    for name in ("overlay", "modules", "instructions", "floor"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part!r}")
    if options.quick:
        options.runs = 1
    return options


def main():
    options = parse_options()
    run = Run(options)
    run.results.update(when=time.strftime("%Y-%m-%d"), runs=options.runs)
    for part in options.parts or PARTS:
        say(f"Measuring: {part}…")
        run.keep(part, getattr(run, part)())
    say("\n" + report.text(run.results))
    verdicts = report.targets(run.results)
    missed = [each["text"] for each in verdicts if not each["reached"]]
    say(f"{len(verdicts) - len(missed)} targets reached, {len(missed)} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
