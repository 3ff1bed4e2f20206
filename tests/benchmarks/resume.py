"""Resume of a machine whose drives lost their power during suspend."""
import dataclasses
import time

import bench
import contenders


def once(guest, drives, contender):
    woken = []

    def sleep():
        guest.suspend(while_asleep=lambda: (drives.power_cycle(), woken.append(time.monotonic())), timeout=1800)
        return woken[0]

    does = dataclasses.replace(contender, settings=contender.at_resume or contender.settings)
    return bench.measure(guest, drives.present, does, sleep)


def run(image, floor, number, runs, chosen):
    figures = {}
    with bench.machine(image, number, floor) as (guest, drives):
        for contender in [contenders.NONE, *chosen]:
            if not contender.sees_resume:
                continue
            with bench.at_work(guest, drives, contender):
                for turn in range(runs):
                    figure = once(guest, drives, contender)
                    figures.setdefault(contender.name, []).append(figure)
                    bench.tell(f"resume with {number}", contender, turn, figure)
    return figures
