"""Saves the state of a booted machine. Other machines start from this state, which takes a tenth of a boot's work."""
import fcntl
import hashlib
import os
import pathlib
import shutil

import machine
from image import prune

STATES_KEPT = 8


def state(image, options):
    """Returns the State of a booted machine for a Machine with these options. Returns None if the machine must boot: its kernel arguments or
    its memory differ, it has a controller that QEMU cannot hotplug, or KVM makes boots fast."""
    if (options.keys() - {"disks", "files", "setup", "extra_args", "suspends"} or any(disk.driver == "ide-hd" for disk in options.get("disks", ()))
            or machine.accelerator(image.kernel) != machine.EMULATION):
        return None
    # A state fits one hardware, one QEMU and the frequency of the host's TSC.
    parts = (image.disk, image.vmlinux, pathlib.Path(machine.__file__).read_text(), os.stat(shutil.which("qemu-system-x86_64")).st_mtime,
             pathlib.Path("/proc/sys/kernel/random/boot_id").read_text())
    key = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    directory = image.disk.with_name(f"state-{key}")
    directory.mkdir(exist_ok=True)
    saved = machine.State(directory / "root.qcow2", directory / "memory")
    lock = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.utime(directory)
        if not saved.memory.exists():
            with machine.Machine(image) as booted:
                booted.wait_boot()
                booted.wait_running()
                booted.run("udevadm settle; sync")
                booted.save(saved)
            prune(image.disk.parent.glob("state-*"), STATES_KEPT)
    finally:
        os.close(lock)
    return saved
