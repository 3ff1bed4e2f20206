"""Build the guest's kernel module, once per source and kernel."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parent / "ivata"
NAME = "ivata.ko"


def cache_folder():
    named = os.environ.get("DRIVEKEEP_TEST_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drivekeep-test"


def build_module(kernel):
    """Path of the module for a kernel, such as '6.1.0-56-amd64', whose linux-headers are
    installed. Built in the cache, so the source folder stays clean."""
    digest = hashlib.sha256(kernel.encode())
    for file in sorted(SOURCE.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    cache = cache_folder()
    built = cache / f"ivata-{kernel}-{digest.hexdigest()[:16]}" / NAME
    if built.exists():
        return built

    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
        make = subprocess.run(["make", "-C", f"/lib/modules/{kernel}/build", f"M={folder}",
                               "modules"], capture_output=True, text=True)
        if make.returncode:
            raise RuntimeError(f"{NAME} for {kernel} does not build:\n"
                               f"{make.stdout}{make.stderr}")
        subprocess.run(["strip", "--strip-debug", f"{folder}/{NAME}"], check=True)
        os.replace(f"{folder}/{NAME}", built)
    return built


if __name__ == "__main__":
    print(build_module(sys.argv[1]))
