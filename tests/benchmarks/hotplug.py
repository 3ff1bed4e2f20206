"""Hotplug of a drive into a machine with many configured drives."""
import time

import bench
import contenders

STAYS = 15      # seconds for which the drive stays plugged in; if it vanished right after a visit, drivekeep would delay later visits


def once(guest, drives, contender):
    others = drives.marks()
    figure = bench.measure(guest, [drives.hot], contender, lambda: drives.hot_hba.plug(guest))
    figure.others = bench.count(others)
    time.sleep(STAYS)
    drives.hot_hba.unplug(guest)
    drives.hot.power_cycle()
    bench.rest(guest, drives.present)
    return figure


def run(image, floor, number, runs, chosen):
    """Returns {contender: [Figure, ...]}. `others` of a Figure counts the commands to the drives that were plugged in before."""
    figures = {}
    with bench.machine(image, number, floor) as (guest, drives):
        for contender in [contenders.NONE, *chosen]:
            if not contender.sees_hotplug:
                continue
            with bench.at_work(guest, drives, contender):
                for turn in range(runs):
                    figure = once(guest, drives, contender)
                    figures.setdefault(contender.name, []).append(figure)
                    bench.tell(f"hotplug among {number}", contender, turn, figure, f"; the others: {figure.others}")
    return figures
