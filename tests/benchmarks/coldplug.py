"""Coldplug: the machine boots, and all drives have power-on values.

A running machine repeats these steps of a boot: udev gets an "add" event for each drive, as from systemd-udev-trigger.service,
and the contender's service starts. So all contenders run on the same machine.
"""
import bench
import contenders

TRIGGER = "udevadm trigger --action=add --subsystem-match=block --sysname-match='sd*'"


def once(guest, drives, contender):
    guest.run(contender.on())
    drives.power_cycle()
    start = f"; systemctl start --no-block {contender.unit}" if contender.unit else ""
    try:
        return bench.measure(guest, drives.present, contender, lambda: guest.run(TRIGGER + start, 600) and None)
    finally:
        guest.run(contender.off(), 600, check=False)
        bench.rest(guest, drives.present)


def run(image, floor, number, runs, chosen):
    """Returns {contender: [Figure, ...]}. Contenders run in turns, so that the host's load affects all contenders alike."""
    figures = {}
    with bench.machine(image, number, floor, memory=1024 if number <= 24 else 2048) as (guest, drives):
        for turn in range(runs):
            for contender in [contenders.NONE, *chosen]:
                if contender.most and number > contender.most or contender.slow and number > 1 and turn > 0:
                    continue
                figure = once(guest, drives, contender)
                figures.setdefault(contender.name, []).append(figure)
                bench.tell(f"coldplug of {number}", contender, turn, figure)
    return figures
