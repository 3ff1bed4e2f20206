"""Measurements by `drivekeep bench` and `drivekeep tune` that end after a number of samples, however long these take on the host."""
import pathlib
import shlex
import subprocess
import tempfile

from keeping import LEAP, Keeping
from machine import PERL

# fio is linked with these for pools of Ceph, which no test has: to relocate them is half of the work of a start.
CEPH = {"librados.so.2": "rados_", "librbd.so.1": "rbd_"}
LIGHT = "/usr/local/lib/fio"
# Stands before the real one, which takes one sample at each start. Before the one after the last it runs $LAST.
FIO = f"""#!/bin/sh
export LD_LIBRARY_PATH={LIGHT}
if [ "$SAMPLES" ] && [ "$1" != --version ]; then
        read -r left < "$SAMPLES"
        echo $((left - 1)) > "$SAMPLES"
        [ "$left" -gt 0 ] || eval "$LAST"
fi
exec /usr/bin/fio "$@"
"""
# Longer than any number of samples here takes.
BUDGET = "--budget=1h"
CTRL_C = "kill -INT $PPID"
# What was interrupted writes nothing. This one waits until spend() has spent its budget.
HOLD = "touch /run/holds; until [ -e /run/spent ]; do sleep 1; done"


class Sampling(Keeping):
    """Base class; not a scenario of its own."""
    # What Debian's package drivekeep-tune depends on and recommends.
    packages = ("python3", "python3-jeepney", "python3-matplotlib", "python3-numpy")
    files = {"/usr/local/bin/fio": (FIO, 0o755)}

    def sampled(self, samples, command, last=CTRL_C):
        """The command, which measures, as a shell command that takes so many samples at most, and one before them to warm up."""
        return f"export LAST={shlex.quote(last)} SAMPLES=$(mktemp /run/samples.XXXXXX) && echo {samples + 1} > $SAMPLES && {command}"

    def spend(self, machine):
        """More than the budget passes at once; nothing else may be measured meanwhile."""
        machine.wait_until("[ -e /run/holds ]", 1200)
        machine.run(f"{PERL}{LEAP}leap(300) for 1..13; put('/run/spent', '');")

    def lighten(self, machine):
        """In place of Ceph's libraries fio finds some that do nothing."""
        names = machine.run(f"grep -aoE '\\b({'|'.join(CEPH.values())})[a-z0-9_]+' /usr/bin/fio | sort -u").stdout.split()
        for library, prefix in CEPH.items():
            source = "".join(f"void {name}(void) {{}}\n" for name in names if name.startswith(prefix))
            with tempfile.NamedTemporaryFile() as file:
                subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{library}", "-xc", "-", "-o", file.name], input=source.encode(),
                               check=True)
                machine.push(f"{LIGHT}/{library}", pathlib.Path(file.name).read_bytes())
