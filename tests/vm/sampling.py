"""Measurements by `drivekeep bench` and `drivekeep tune` that end after a number of samples, however long these take on the host."""
import pathlib
import subprocess
import tempfile

from keeping import Keeping

# fio is linked with these for pools of Ceph, which no test has: to relocate them is half of the work of a start.
CEPH = {"librados.so.2": "rados_", "librbd.so.1": "rbd_"}
LIGHT = "/usr/local/lib/fio"
# Stands before the real one, which takes one sample at each start. The one after the last ends the measurement, as Ctrl-C does.
FIO = f"""#!/bin/sh
export LD_LIBRARY_PATH={LIGHT}
if [ "$SAMPLES" ] && [ "$1" != --version ]; then
        read -r left < "$SAMPLES"
        echo $((left - 1)) > "$SAMPLES"
        [ "$left" -gt 0 ] || kill -INT $PPID
fi
exec /usr/bin/fio "$@"
"""
# Longer than any number of samples here takes.
BUDGET = "--budget=12h"


class Sampling(Keeping):
    """Base class; not a scenario of its own."""
    files = {"/usr/local/bin/fio": (FIO, 0o755)}

    def sampled(self, samples, command):
        """The command, which measures, as a shell command that takes so many samples at most, and one before them to warm up."""
        return f"SAMPLES=$(mktemp /run/samples.XXXXXX) && echo {samples + 1} > $SAMPLES && export SAMPLES && {command}"

    def lighten(self, machine):
        """In place of Ceph's libraries fio finds some that do nothing."""
        names = machine.run(f"grep -aoE '\\b({'|'.join(CEPH.values())})[a-z0-9_]+' /usr/bin/fio | sort -u").stdout.split()
        for library, prefix in CEPH.items():
            source = "".join(f"void {name}(void) {{}}\n" for name in names if name.startswith(prefix))
            with tempfile.NamedTemporaryFile() as file:
                subprocess.run(["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{library}", "-xc", "-", "-o", file.name], input=source.encode(),
                               check=True)
                machine.push(f"{LIGHT}/{library}", pathlib.Path(file.name).read_bytes())
