"""Instruction counts by callgrind on the host, which depend little on the processor and not on the load."""
import json
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LAST = HERE / "instructions.json"
MARGIN = 1.05                   # largest accepted factor by which a count exceeds that of the last result
LINEAR = 2.1                    # largest accepted factor by which a count grows when the work is doubled

PARSE, PLAN = "measured_parse", "measured_plan"
WORK = {                        # name: (function, rules, drives)
    "parse 250 rules": (PARSE, 250, 0),
    "parse 500 rules": (PARSE, 500, 0),
    "match and plan 500 drives, 500 rules": (PLAN, 500, 500),
    "match and plan 1000 drives, 250 rules": (PLAN, 250, 1000),
    "match and plan 1000 drives, 500 rules": (PLAN, 500, 1000),
}


def count(program, function, rules, drives):
    # The compiler may have cloned the function and added a suffix to its name.
    with tempfile.NamedTemporaryFile() as out:
        told = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}",
                               f"--toggle-collect={function}*", program, str(rules), str(drives)],
                              capture_output=True, text=True, check=True).stderr
    counted = int(re.search(r"Collected : (\d+)", told)[1])
    if not counted:
        raise RuntimeError(f"callgrind saw no {function}")
    return counted


def toolchain(program):
    """Returns what the counts depend on besides the source code."""
    compiler = re.search(r"GCC: [^\n\0]*|clang version [^\n\0]*", pathlib.Path(program).read_bytes().decode("latin-1"))
    libc = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True).stdout.strip()
    flags = re.search(r"^flags\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    vectors = [name for name in ("avx512f", "avx2", "sse4_2") if flags and name in flags[1].split()]
    return f"{compiler[0] if compiler else 'unknown compiler'}; {libc}; {vectors[0] if vectors else 'baseline'}"


def run(program):
    """Returns {"toolchain": ..., "counts": {work: instructions}}."""
    return {"toolchain": toolchain(program), "counts": {name: count(program, *work) for name, work in WORK.items()}}


def last():
    return json.loads(LAST.read_text()) if LAST.exists() else None


def keep(result):
    LAST.write_text(json.dumps(result, indent=2) + "\n")
