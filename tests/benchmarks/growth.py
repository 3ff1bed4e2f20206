"""Hundreds of drives, emulated by the kernel's scsi_debug. They have no ATA settings, so the setting is the read-ahead.

Debian's rule covers only 26 drives; udisks2, TLP and smartd do not support read-ahead.
"""
import time

import bench
import contenders

WANTED_KB = 512
CONF = f'drives = ( {{ match = {{ transport = "scsi"; }}; read_ahead_kb = {WANTED_KB}; }} );\n'
NODES = "/sys/block/sd*/queue/read_ahead_kb"
RIGHT = f"cat {NODES} | grep -cx {WANTED_KB}"
TARGETS = 8         # SCSI targets; the drives are their logical units


def once(guest, number, name, act, stop):
    processes = contenders.BY_NAME[name].processes
    guest.run(f"for f in {NODES}; do echo 128 > $f; done; udevadm settle -t 3600", 3700)
    before, started = bench.snapshot(guest), time.monotonic()
    guest.run(act, 3600)
    while int(guest.run(RIGHT, 600, check=False).stdout or 0) < number and time.monotonic() - started < contenders.TIMEOUT:
        time.sleep(1)
    time.sleep(bench.QUIET)
    after = bench.snapshot(guest, *processes)
    right = int(guest.run(RIGHT, 600, check=False).stdout or 0)
    guest.run(stop, 600, check=False)
    spent = bench.difference(before, after)
    return {"drives": number, "right": right, "processes": spent["processes"], "cpu": {"all": spent["group.all"]},
            **{key: sum(after.get(f"{key}.{each}", 0) for each in processes) * 1024 for key in ("rss", "pss")}}


ACTS = {"drivekeep": ("systemctl start drivekeep", "systemctl stop drivekeep; rm -rf /run/drivekeep/drives"),
        "floor": (f"systemd-run -q --wait -p Type=oneshot {contenders.BENCH}/floor '{NODES}'", "true"),
        "tuned": ("systemctl start tuned", "systemctl stop tuned")}
TUNED_PROFILE = f"[main]\nsummary=The wish\n\n[disk]\ndevices=sd*\ndynamic=0\nreadahead={WANTED_KB}\n"


def run(image, floor, sizes, runs, chosen):
    """Returns {number: {contender: [figures]}}."""
    found = {}
    for number in sizes:
        with bench.machine(image, 0, floor, memory=4096) as (guest, _):
            guest.push("/etc/drivekeep/drivekeep.conf", CONF)
            guest.push("/etc/tuned/bench/tuned.conf", TUNED_PROFILE)
            guest.run(f"modprobe scsi_debug add_host=1 num_tgts={TARGETS} max_luns={number // TARGETS} dev_size_mb=8 delay=0",
                      3600)
            guest.wait_until(f"[ $(ls -d /sys/block/sd* | wc -l) -eq {number} ]", 3600)
            guest.run("udevadm settle -t 3600", 3700)
            bench.wait_systemd(guest)
            for name, (act, stop) in ACTS.items():
                if name not in {contender.name for contender in chosen}:
                    continue
                for turn in range(runs):
                    figure = once(guest, number, name, act, stop)
                    found.setdefault(number, {}).setdefault(name, []).append(figure)
                    bench.log(f"{number} drives, {name}, run {turn + 1}: {figure}")
    return found
