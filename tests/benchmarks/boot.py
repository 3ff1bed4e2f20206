"""The time of a boot with each contender, and the time from the first event of a drive until the drive can be mounted."""
import re
import statistics

import bench
import contenders

MEASURED = [contenders.NONE, contenders.DRIVEKEEP, contenders.HDPARM]
UNITS = {"drivekeep": "drivekeep.service"}
# A mount waits for the unit of its device. This unit becomes active when udev has finished all rules. For each drive, the
# script prints two times in microseconds since boot: the drive's first event, and the start of its unit.
READY = ("for node in /dev/sd?; do udevadm info -q property $node | sed -n s/^USEC_INITIALIZED=//p; "
         "systemctl show -P ActiveEnterTimestampMonotonic $(systemd-escape -p --suffix=device $node); done")


def once(image, floor, number, contender):
    enable = f"systemctl enable -q {contender.unit}\n" if contender.unit else ""
    if contender.rule:
        enable += f"rm -f /etc/udev/rules.d/{contender.rule}\n"
    with bench.machine(image, number, floor, start=enable) as (guest, drives):
        guest.run("systemctl is-system-running --wait", 1800, check=False)
        chain = guest.run("systemd-analyze critical-chain --no-pager multi-user.target").stdout
        told = guest.run("systemd-analyze time --no-pager").stdout
        unit, before = UNITS.get(contender.name), ""
        if unit:
            before = guest.run(f"systemctl show -P Before {unit}").stdout
        ready = [int(line) for line in guest.run(READY, 1800).stdout.split()]
        right = sum(bench.as_wanted(drive, contender.settings) for drive in drives.present)
        return {"target": seconds(re.search(r"reached after (.*?) in userspace", told)[1]),
                "mountable": statistics.median(there - first for first, there in zip(ready[::2], ready[1::2])) / 1e6,
                "on_chain": bool(unit and unit in chain), "chain": chain, "right": right, "drives": number,
                "before": [name for name in before.split() if name not in ("shutdown.target", "multi-user.target")]}


def seconds(text):
    """Parses a time as printed by systemd: '1min 2.345s'."""
    units = {"min": 60, "s": 1, "ms": 0.001}
    return sum(float(n) * units[unit] for n, unit in re.findall(r"([0-9.]+)(min|ms|s)", text))


def run(image, floor, number, runs, chosen):
    names = {"none", *[contender.name for contender in chosen]}
    found = {}
    for turn in range(runs):
        for contender in MEASURED:
            if contender.name not in names:
                continue
            result = once(image, floor, number, contender)
            found.setdefault(contender.name, []).append(result)
            bench.log(f"boot with {number}, {contender.name}, run {turn + 1}: {result['target']:.2f} s to the target")
    return found
