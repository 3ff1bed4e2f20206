"""The user and system time to start each contender's command and print its version."""
import bench

COMMANDS = {"drivekeep": "drivekeep --version", "hdparm": "hdparm -V", "udisks2": "udisksctl help", "tlp": "tlp-stat --version",
            "tuned": "tuned-adm --version", "smartd": "smartctl --version"}
TIMES = 50         # repetitions, because times(2) counts hundredths of a second
# Prints the CPU time of all child processes and their children, in microseconds.
SCRIPT = "perl -e 'for (1..{times}) {{ system(q({command} >/dev/null 2>&1)) }} my @t = times; print int(($t[2] + $t[3]) * 1e6)'"


def run(image, floor, chosen):
    """Returns {contender: microseconds for one start}."""
    found = {}
    with bench.machine(image, 0, floor) as (guest, _):
        for name, command in COMMANDS.items():
            if name not in [contender.name for contender in chosen]:
                continue
            guest.run(command, 600, check=False)        # loads the program into the page cache
            told = guest.run(SCRIPT.format(times=TIMES, command=command), 1800).stdout
            found[name] = int(told) / TIMES
            bench.log(f"{command}: {found[name] / 1000:.1f} ms")
    return found
