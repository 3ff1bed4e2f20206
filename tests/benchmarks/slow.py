"""Coldplug with one drive that takes ten seconds to answer: the time until the other drives have their settings."""
import bench
import contenders
import coldplug

HANG = 10


def others(figure, drives, since):
    """Returns the seconds until all drives but the first, which may be slow, had their last setting."""
    times = [bench.last_setting({drive: mark}) for drive, mark in since.items() if drive is not drives.present[0]]
    return max(time for time in times if time) - figure.since if all(times) else None


def once(guest, drives, contender, hang):
    if hang:
        drives.present[0].inject("hang", command=0xef, origin="passthrough", seconds=HANG)
    marks = drives.marks()
    figure = coldplug.once(guest, drives, contender)
    drives.present[0].faults.clear()
    figure.others_seconds = others(figure, drives, marks)
    return figure


def run(image, floor, number, runs, chosen):
    """Returns {contender: {"without": [Figure, ...], "with": [Figure, ...]}}: runs without and with a slow drive."""
    figures = {}
    with bench.machine(image, number, floor) as (guest, drives):
        for turn in range(runs):
            for contender in chosen:
                if contender.slow:
                    continue
                for case in ("without", "with"):
                    figure = once(guest, drives, contender, case == "with")
                    figures.setdefault(contender.name, {}).setdefault(case, []).append(figure)
                    bench.tell(f"{case} a slow drive among {number}", contender, turn, figure,
                               f"; the others: {figure.others_seconds or 0:.1f} s")
    return figures
