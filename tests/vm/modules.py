#!/usr/bin/env python3
"""Build the guest's kernel modules and print their paths. A module is built again if its source or the kernel has changed."""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from image import cache_directory, inside

HERE = pathlib.Path(__file__).resolve().parent
# Each folder contains the source of the module with the folder's name.
SOURCES = [HERE / "drives/ivata", HERE / "drives/ivsas", HERE / "stubborn", HERE / "supply", HERE / "warp"]


def build(source, kernel, root=None):
    """Builds the module for a kernel, such as '6.1.0-56-amd64', and returns its path. The kernel's linux-headers and a compiler must
    be installed on the host, or in the tree `root`.

    The build happens in the cache directory, so the source folder stays clean.
    """
    name = f"{source.name}.ko"
    digest = hashlib.sha256(kernel.encode())
    for file in sorted(source.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    cache = cache_directory()
    built = cache / f"{source.name}-{kernel}-{digest.hexdigest()[:16]}" / name
    if built.exists():
        return built

    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        headers = f"/lib/modules/{kernel}/build"
        command = inside(root, f"make -C {headers} M=/mnt modules", folder) if root else ["make", "-C", headers, f"M={folder}", "modules"]
        make = subprocess.run(command, capture_output=True, text=True)
        if make.returncode:
            raise RuntimeError(f"{name} for {kernel} does not build:\n{make.stdout}{make.stderr}")
        subprocess.run(["strip", "--strip-debug", f"{folder}/{name}"], check=True)
        os.replace(f"{folder}/{name}", built)
    return built


def main():
    parser = argparse.ArgumentParser(description="Build the guest's kernel modules and print their paths, one per line.")
    parser.add_argument("--root", metavar="DIR", help="where the kernel's headers and a compiler are (default: on this machine)")
    parser.add_argument("kernel", metavar="KERNEL", help="its version, as image.py --kernel-version prints it")
    options = parser.parse_args()
    for source in SOURCES:
        print(build(source, options.kernel, options.root))


if __name__ == "__main__":
    main()
