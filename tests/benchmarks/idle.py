"""The cost of each resident service while nothing happens. All services run together in one machine.
The measurement begins when all services have become idle.

drivekeep is measured a second time with wake_log = false: to log wakers it polls the power mode of drives with a timer.
"""
import time

import bench
import contenders
import report
from keeping import CONF

RESIDENT = [contenders.DRIVEKEEP, contenders.UDISKS, contenders.TUNED, contenders.SMARTD, contenders.HD_IDLE]
SETTLE = 90         # seconds; every service becomes idle within this time after its work
COMM = {"drivekeepd": "drivekeep", "keep-": "drivekeep", "udisks": "udisks2", "pool-": "udisks2", "polkitd": "udisks2",
        "tuned": "tuned", "hdparm": "tuned", "smartd": "smartd", "hd-idle": "hd-idle"}


def owner(comm):
    return next((name for start, name in COMM.items() if comm.startswith(start)), "other")


def run(image, floor, number, seconds):
    """Returns {name: {"wakeups", "commands", "pss", "rss", "seconds"}} for the contenders and report.NO_LOG; memory in bytes."""
    with bench.machine(image, number, floor) as (guest, drives):
        for contender in RESIDENT:
            guest.run(f"{contender.on()}; systemctl start {contender.unit}", 1800)
            bench.rest(guest, drives.present)
            bench.log(f"{contender.name}: {guest.run(f'systemctl is-active {contender.unit}', 600, check=False).stdout.strip()}")
        found = watch(guest, drives, seconds)
        guest.push(CONF, f"wake_log = false;\n{contenders.DRIVEKEEP_CONF}")
        guest.run(f"systemctl reload {contenders.DRIVEKEEP.unit}", 600)
        return {**found, report.NO_LOG: watch(guest, drives, seconds)[contenders.DRIVEKEEP.name]}


def watch(guest, drives, seconds):
    names = [name for contender in RESIDENT for name in contender.processes]
    time.sleep(SETTLE)
    bench.rest(guest, drives.present)
    marks, before, started = drives.marks(), bench.snapshot(guest, *names), time.monotonic()
    time.sleep(seconds)
    passed, after = time.monotonic() - started, bench.snapshot(guest, *names)
    sent = [owner(e.comm) for drive, mark in marks.items() for e in bench.userland(drive, mark)]
    right = sum(bench.as_wanted(drive, contenders.WANTED) for drive in drives.present)
    asleep = sum(drive["mode"] == "standby" for drive in drives.present)
    bench.log(f"{len(marks)} drives, {right} as wanted, {asleep} asleep by now, idle for {passed:.0f} s")
    found = {}
    for contender in RESIDENT:
        # A helper process may have ended. For example, udisks2 starts polkitd only for some tasks.
        running = [name for name in contender.processes if f"pss.{name}" in before and f"pss.{name}" in after]
        if contender.processes[0] not in running:
            bench.log(f"{contender.name} does not run, and does not count")
            continue
        found[contender.name] = {
            "wakeups": sum(after[f"wakeups.{name}"] - before[f"wakeups.{name}"] for name in running),
            "commands": sent.count(contender.name), "seconds": passed,
            "rss": sum(after[f"rss.{name}"] for name in running) * 1024,
            "pss": sum(after[f"pss.{name}"] for name in running) * 1024,
        }
    return found
