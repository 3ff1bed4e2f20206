"""Drives without I/O: the cost of their spin-down, and the cost of an hour in which all drives are in standby."""
import dataclasses
import re

import bench
import contenders
from keeping import CONF, TRACING, Keeping

# Each contender spins the drives down itself after ten minutes. drivekeep queries each drive once a day. This query happens in
# every run, because the files that the previous run left about the drives are removed.
LEAVES = f"{contenders.DRIVEKEEP.leaves} /var/lib/drivekeep/drives/*"
CONTENDERS = [dataclasses.replace(contenders.DRIVEKEEP, settings=(), leaves=LEAVES), contenders.HD_IDLE]
FILES = {CONF: 'drives = ( { match = { transport = "sata"; }; spindown_time = "10min"; spindown_by = "service"; } );\n',
         "/etc/default/hd-idle": 'START_HD_IDLE=true\nHD_IDLE_OPTS="-i 600"\n'}
NAMES = {"drivekeep": ("drivekeepd", "keep-"), "hd-idle": ("hd-idle",)}    # prefixes of their processes' names
HOUR = 3600
SETTLE = 60         # seconds for the contender to finish its start, and to handle the kernel's message about the changed clock
APART = 50          # minimum seconds between two polls of a drive; one poll may read the kernel's counter several times

# Traces each wake-up or start of a contender's process, and each read of a drive's I/O counters. hd-idle reads one file about
# all drives, and drivekeep reads a file for each drive. The trace also counts processes that have ended.
WATCH = """cd /sys/kernel/tracing && echo mono >trace_clock && echo 0 >tracing_on
echo 'p:look part_stat_show drive=$arg1' >kprobe_events; echo 'p:look_all diskstats_show drive=$arg2' >>kprobe_events
for event in sched/sched_waking sched/sched_wakeup_new kprobes/look kprobes/look_all; do
        echo 'comm ~ "drivekeepd*" || comm ~ "keep-*" || comm == "hd-idle"' >events/$event/filter && echo 1 >events/$event/enable || exit
done
"""
BEGIN = "cd /sys/kernel/tracing && echo >trace && echo 1 >tracing_on; dmesg | wc -l"
END = "cd /sys/kernel/tracing && echo 0 >tracing_on; dmesg | wc -l"
USE = f"for drive in {contenders.FLOOR_NODES}; do dd if=$drive of=/dev/null bs=4096 count=1 iflag=direct status=none; done"


def run(image, floor, number, runs):
    """Returns {contender: [{"falling": figures, "asleep": figures}]}, with an item for each run. "falling" is the hour in which the drives
    are spun down, and "asleep" is the next hour. Figures: {"drives", "asleep", "wakeups", "commands", "looks", "messages"}."""
    found = {contender.name: [] for contender in CONTENDERS}
    # With nohz=off the tick never stops, so that timers expire in time even while the clock runs fast.
    with bench.machine(image, number, floor, append="nohz=off", start=TRACING) as (guest, drives):
        guest.run(WATCH)
        for path, text in FILES.items():
            guest.push(path, text)
        for contender in CONTENDERS * runs:
            with bench.at_work(guest, drives, contender), Keeping(image).warp(guest):
                guest.run(f"sleep {SETTLE}", 600)
                found[contender.name].append({"falling": hour(guest, drives, contender, USE), "asleep": hour(guest, drives, contender)})
    return found


def hour(guest, drives, contender, use="true"):
    marks, messages = drives.marks(), int(guest.run(BEGIN).stdout)
    guest.run(f"{use}; sleep {HOUR}", HOUR)
    messages = int(guest.run(END).stdout) - messages
    events = re.findall(r" ([\d.]+): (\w+): (.*)", guest.run("cat /sys/kernel/tracing/trace", 600).stdout)
    looks = {}
    for time, event, rest in events:
        if event.startswith("look"):
            looks.setdefault(rest.partition("drive=")[2], []).append(float(time))
    figures = {
        "drives": len(marks), "asleep": sum(drive["mode"] == "standby" for drive in marks), "messages": messages,
        "wakeups": sum(event.startswith("sched") for _, event, _ in events),
        # bench.userland() would miss hd-idle's command, which the kernel has translated to an ATA command.
        "commands": sum(e.comm.startswith(NAMES[contender.name]) for drive, mark in marks.items() for e in drive.log.since(mark)),
        "looks": max((1 + sum(b - a > APART for a, b in zip(times, times[1:])) for times in looks.values()), default=0),
    }
    bench.log(f"{contender.name}: " + ", ".join(f"{value} {name}" for name, value in figures.items()))
    return figures
