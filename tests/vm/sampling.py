"""Measurements by `drivekeep bench` and `drivekeep tune` that end after a number of samples, independent of the host's speed."""
import pathlib
import shlex
import subprocess
import tempfile

from keeping import LEAP, Keeping
from machine import PERL

# Ceph libraries that fio is linked with. No test needs them, and to load and link them is half of the work of starting fio.
CEPH = {"librados.so.2": "rados_", "librbd.so.1": "rbd_"}
LIGHT = "/usr/local/lib/fio"
# A wrapper of fio. Each start of fio takes one sample. If a start follows after the last sample, the wrapper runs $LAST first.
FIO = f"""#!/bin/sh
export LD_LIBRARY_PATH={LIGHT}
if [ "$SAMPLES" ] && [ "$1" != --version ]; then
        read -r left < "$SAMPLES"
        echo $((left - 1)) > "$SAMPLES"
        [ "$left" -gt 0 ] || eval "$LAST"
fi
exec /usr/bin/fio "$@"
"""
# A time budget that the samples of a scenario do not use up.
BUDGET = "--budget=1h"
CTRL_C = "kill -INT $PPID"
# `--write` has no effect if the command is interrupted. So HOLD pauses the command until spend() has moved the clock beyond BUDGET.
HOLD = "touch /run/holds; until [ -e /run/spent ]; do sleep 1; done"


class Sampling(Keeping):
    """Base class, not itself a scenario."""
    # Dependencies and recommendations of Debian's package drivekeep-tune.
    packages = ("python3", "python3-jeepney", "python3-matplotlib", "python3-numpy")
    files = {"/usr/local/bin/fio": (FIO, 0o755)}

    def sampled(self, samples, command, last=CTRL_C):
        """Returns a shell command that runs the measuring `command` with at most `samples` samples, after one sample to warm up."""
        return f"export LAST={shlex.quote(last)} SAMPLES=$(mktemp /run/samples.XXXXXX) && echo {samples + 1} > $SAMPLES && {command}"

    def spend(self, machine):
        """Moves the guest's clock forward by more than the budget. No other measurement may run meanwhile."""
        machine.wait_until("[ -e /run/holds ]", 1200)
        machine.run(f"{PERL}{LEAP}leap(300) for 1..13; put('/run/spent', '');")

    def lighten(self, machine):
        """Replaces Ceph's libraries with empty ones for fio."""
        names = machine.run(f"grep -aoE '\\b({'|'.join(CEPH.values())})[a-z0-9_]+' /usr/bin/fio | sort -u").stdout.split()
        for library, prefix in CEPH.items():
            source = "".join(f"void {name}(void) {{}}\n" for name in names if name.startswith(prefix))
            with tempfile.NamedTemporaryFile() as file:
                subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{library}", "-xc", "-", "-o", file.name], input=source.encode(),
                               check=True)
                machine.push(f"{LIGHT}/{library}", pathlib.Path(file.name).read_bytes())
