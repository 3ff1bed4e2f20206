"""Measurements by `drivekeep bench` and `drivekeep tune` that end after a number of samples, independent of the host's speed."""
import pathlib
import shlex
import subprocess
import tempfile

from keeping import LEAP, Keeping
from machine import PERL, Link

# The following changes save three quarters of the work of starting fio, and make its measurements independent of other processes.
#
# fio is linked with sixty libraries. One library with empty functions replaces all but these.
NEEDED = ("libaio", "libc", "libm", "libnuma", "libz")
NEEDED_SYMBOLS = ("LIBAIO_", "GLIBC_", "libnuma_", "inflate", "deflate")
# At its start, fio reads the clock for 128 ms to measure the frequency of the TSC. Until the first thread starts, each reading of the clock
# therefore advances the clock of fio by 2 ms. Threads do the I/O. Other processes in the machine hardly run until fio waits.
SOURCE = """
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
        static long ahead;

        if (__libc_single_threaded)
                ahead += 2000000;
        int r = syscall(SYS_clock_gettime, clock, now);
        now->tv_sec += (now->tv_nsec + ahead) / 1000000000;
        now->tv_nsec = (now->tv_nsec + ahead) % 1000000000;
        return r;
}

__attribute__((constructor)) static void precede_other_processes(void) {
        setpriority(PRIO_PROCESS, 0, -20);
}
"""
LIGHT = "/usr/local/lib/fio"
# A wrapper of fio. Each start of fio takes one sample. If a start follows after the last sample, the wrapper runs $LAST first.
FIO = f"""#!/bin/sh
export LD_LIBRARY_PATH={LIGHT}
if [ "$SAMPLES" ] && [ "$1" != --version ]; then
        read -r left < "$SAMPLES"
        echo $((left - 1)) > "$SAMPLES"
        [ "$left" -gt 0 ] || eval "$LAST"
fi
exec /usr/bin/fio --clocksource=clock_gettime "$@"
"""
# A time budget that the samples of a scenario do not use up.
BUDGET = "--budget=1h"
CTRL_C = "kill -INT $PPID"
# `--write` has no effect if the command is interrupted. So HOLD pauses the command until spend() has moved the clock beyond BUDGET.
HOLD = "touch /run/holds; until [ -e /run/spent ]; do sleep 1; done"


class Sampling(Keeping):
    """Base class, not itself a scenario."""

    def __init__(self, image):
        super().__init__(image)
        self.files = {"/usr/local/bin/fio": (FIO, 0o755), **light_libraries(image.disk)}

    def sampled(self, samples, command, last=CTRL_C):
        """Returns a shell command that runs the measuring `command` with at most `samples` samples, after one sample to warm up."""
        return f"export LAST={shlex.quote(last)} SAMPLES=$(mktemp /run/samples.XXXXXX) && echo {samples + 1} > $SAMPLES && {command}"

    def spend(self, machine):
        """Moves the guest's clock forward by more than the budget. No other measurement may run meanwhile."""
        machine.wait_until("[ -e /run/holds ]", 1200)
        machine.run(f"{PERL}{LEAP}leap(300) for 1..13; put('/run/spent', '');")


def light_libraries(disk):
    """Returns the library that replaces libraries of fio on this disk image, as files of a machine."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def output(*command):
            return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout

        output("debugfs", "-R", "dump /usr/bin/fio fio", str(disk))
        fields = [line.split() for line in output("objdump", "-p", "fio").splitlines()]
        libraries = [name for key, name in (f for f in fields if len(f) == 2) if key == "NEEDED" and name.partition(".")[0] not in NEEDED]
        versions = {"GLIBC_2.17": ["clock_gettime"]}
        source = SOURCE
        for line in output("nm", "-D", "--undefined-only", "fio").splitlines():
            kind, symbol = line.split()
            symbol, _, version = symbol.partition("@")
            if kind == "U" and not (version or symbol).startswith(NEEDED_SYMBOLS):
                source += f"void {symbol}(void) {{}}\n"
                versions.setdefault(version, []).append(symbol)
        (folder / "light.c").write_text(source)
        (folder / "light.map").write_text("".join(f"{version} {{ {'; '.join(symbols)}; }};\n" for version, symbols in versions.items() if version))
        output("gcc", "-shared", "-fPIC", "-nostdlib", "-Wl,--version-script=light.map", "-o", "light.so", "light.c")
        return {f"{LIGHT}/light.so": (folder / "light.so").read_bytes(), **{f"{LIGHT}/{library}": Link("light.so") for library in libraries}}
