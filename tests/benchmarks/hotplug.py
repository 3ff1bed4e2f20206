"""One more drive is plugged into a machine full of drives that are configured."""
import time

import bench
import contenders

STAYS = 15      # seconds: one that goes just after it was written to is a flapping one to drivekeep, which then waits


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
    """{contender: [Figure with others, the commands to all the other drives]}"""
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
