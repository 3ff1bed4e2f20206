#!/usr/bin/env python3
"""Builds and caches the guest: a root file system with the packages of a Debian suite, its kernel and a small initrd.

There are two stages, each cached by a hash of its inputs. The base tree takes a minute. It is built again if the list
of packages has changed, or if Debian's archive has another kernel. The disk image adds drivekeep, the kernel modules and the agent. It
takes seconds, and is built again for each build of drivekeep.
"""
import argparse
import contextlib
import ctypes
import dataclasses
import fcntl
import hashlib
import lzma
import os
import pathlib
import platform
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
USUAL_SUITE = "trixie"
# Packages whose names differ between suites, or that some suites do not have.
SUITES = {
    "bookworm": ["libconfig9"],
    "trixie": ["libconfig11", "systemd-cryptsetup"],
    "forky": ["libconfig15", "systemd-cryptsetup"],
    "sid": ["libconfig15", "systemd-cryptsetup"],
}
DISK_SIZE = "2500M"
CLONE_NEWNS = 0x20000       # linux/sched.h
BASES_KEPT = 8
IMAGES_KEPT = 8     # each build of drivekeep adds a disk image of half a gigabyte

# The last line has the dependencies and recommendations of Debian's package drivekeep-tune.
PACKAGES = """
    linux-image-amd64 systemd systemd-sysv systemd-container udev dbus kmod mount passwd util-linux procps perl-base busybox-static
    hdparm hd-idle fio smartmontools sdparm sg3-utils nvme-cli e2fsprogs btrfs-progs fdisk mdadm lvm2 cryptsetup jq
    libsystemd0 libudev1 libjson-c5 libsmartcols1 libasan8 libubsan1
    python3 python3-jeepney python3-matplotlib python3-numpy
""".split()

# Files of packages that no test needs. The kernel modules in this list are half of Debian's kernel package.
UNWANTED_PATHS = ["/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/lib/modules/*/kernel/sound/*"] + [
    f"/lib/modules/*/kernel/drivers/{name}/*" for name in ("gpu", "media", "net", "infiniband", "staging", "iio")]
# QEMU's network card, for tests that reach a machine by ssh.
WANTED_PATHS = [f"/lib/modules/*/kernel/drivers/net/{name}.ko*" for name in ("virtio_net", "net_failover")]

# Debian's hooks that run hdparm on drives. They are moved below SET_ASIDE, so that only drivekeep changes drives. A test that needs a hook
# copies it back.
SET_ASIDE = "usr/lib/drivekeep-test/set-aside"
HDPARM_HOOKS = ["usr/lib/udev/rules.d/85-hdparm.rules", "usr/lib/systemd/system-sleep/hdparm"]

# Units that only cost time under emulation, or that start something in the middle of a test: smartd and the mdcheck timers read drives, and
# hd-idle spins drives down.
MASKED_UNITS = """
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
    systemd-tmpfiles-clean.timer hd-idle.service mdcheck_start.timer mdcheck_continue.timer mdmonitor-oneshot.timer smartmontools.service
    nvmefc-boot-connections.service nvmf-autoconnect.service systemd-pstore.service lvm2-monitor.service
    getty@tty1.service serial-getty@ttyS0.service dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount
    sys-kernel-tracing.mount systemd-binfmt.service proc-sys-fs-binfmt_misc.automount sys-fs-fuse-connections.mount
    sys-kernel-config.mount modprobe@drm.service modprobe@fuse.service modprobe@configfs.service uuidd.socket
    systemd-tmpfiles-setup-dev-early.service systemd-random-seed.service systemd-udev-load-credentials.service
    systemd-modules-load.service systemd-sysctl.service blk-availability.service
""".split()

# Each boot and each "systemctl daemon-reload" runs all generators. These generators have nothing to do in the test machines.
MASKED_GENERATORS = """
    bless-boot debug factory-reset getty gpt-auto hibernate-resume import integritysetup rc-local run ssh system-update tpm2 veritysetup
""".split()

# udev would load these modules for devices of the emulated PC that no test needs. Each takes some hundredths of a second.
UNWANTED_MODULES = """
    ata_generic ata_piix floppy i2c_piix4 pcspkr psmouse qemu_fw_cfg serio_raw sha1_ssse3 sha256_ssse3 sha512_ssse3
""".split()

# The root is mounted read-only, so that systemd-fsck-root.service checks it as on a machine without an initrd.
# The initrd may end with a second archive, which contains /overlay (files of one test) and /setup (a script that runs in a chroot of the
# root). A reset machine boots with the same initrd, but must not apply the second archive again. The file "set-up" in the root marks that
# the second archive has been applied.
INIT = """#!/bin/busybox sh
umask 022
mount -t proc proc /proc
mount -t devtmpfs dev /dev
while read -r module; do insmod "$module"; done < /modules
until [ -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 -o ro /dev/vda /root || poweroff -f
mount --move /dev /root/dev
if { [ -e /overlay ] || [ -e /setup ]; } && [ ! -e /root/var/lib/set-up ]; then
    mount -o remount,rw /root
    if [ -e /overlay ]; then cp -dRf /overlay/. /root/ || { echo "overlay failed" > /root/dev/console; poweroff -f; }; fi
    if [ -e /setup ]; then
        mount --bind /proc /root/proc
        chroot /root /bin/sh -e < /setup > /root/dev/console 2>&1 ||
            { echo "setup failed" > /root/dev/console; sleep 1; poweroff -f; }
        umount /root/proc
    fi
    touch /root/var/lib/set-up
    mount -o remount,ro /root
fi
umount /proc
exec switch_root /root /sbin/init "$@"
"""
INITRD_MODULES = ["virtio_pci", "virtio_blk", "ext4", "virtio_console"]
INITRD_APPLETS = ["sh", "mount", "umount", "insmod", "sleep", "cp", "touch", "chroot", "switch_root", "poweroff"]


@dataclasses.dataclass(frozen=True)
class Base:
    """The first stage: the files that come from Debian packages."""
    key: str
    tree: pathlib.Path      # the root directory
    kernel: pathlib.Path
    vmlinux: pathlib.Path   # the kernel, unpacked
    initrd: pathlib.Path
    version: str            # the kernel's version, as `uname -r` prints it


@dataclasses.dataclass(frozen=True)
class Image:
    """The files from which a Machine boots. Machines only read the disk, and write to overlays."""
    disk: pathlib.Path
    kernel: pathlib.Path
    vmlinux: pathlib.Path
    initrd: pathlib.Path
    version: str
    suite: str


def cache_directory():
    path = os.environ.get("DRIVEKEEP_TEST_CACHE")
    if not path:
        path = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "drivekeep-test")
    directory = pathlib.Path(path).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def cpio_archive(entries):
    """Returns an initramfs archive ("newc") of (name, mode, bytes) triples, with the parent directories of these names."""
    members = {}
    for name, mode, data in entries:
        parts = name.strip("/").split("/")
        for depth in range(1, len(parts)):
            members.setdefault("/".join(parts[:depth]), (stat.S_IFDIR | 0o755, b""))
        members["/".join(parts)] = (mode, data)
    archive = bytearray()

    def pad():
        archive.extend(b"\0" * (-len(archive) % 4))

    for number, (name, (mode, data)) in enumerate([*members.items(), ("TRAILER!!!", (0, b""))], 1):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name.encode()) + 1, 0]
        archive.extend(b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0")
        pad()
        archive.extend(data)
        pad()
    return bytes(archive)


def kernel_version(log=print, suite=USUAL_SUITE):
    """Returns the guest's kernel version. modules.py needs the headers of exactly this version."""
    return base(log, suite=suite).version


def base(log=print, packages=(), suite=USUAL_SUITE):
    """Returns the base tree and its boot files. Builds them if they are not cached. `packages` are installed in addition to PACKAGES."""
    cache = cache_directory()
    packages = [*PACKAGES, *SUITES[suite], *packages]
    key = _digest(suite, " ".join(packages), _own_text(), _archive_kernel(suite))
    directory = cache / f"base-{key}"
    with _lock(cache):
        if directory.exists():
            os.utime(directory)
        else:
            log(f"image: installing packages of {suite} into a new root (a minute or two)")
            with _workspace(cache) as work:
                _build_base(work, packages, suite)
                work.rename(directory)
            prune(cache.glob("base-*"), BASES_KEPT)
    return Base(key, directory / "root", directory / "vmlinuz", directory / "vmlinux", directory / "initrd",
                (directory / "version").read_text().strip())


def build(overlay=None, modules=(), files=None, log=print, packages=(), suite=USUAL_SUITE):
    """Returns the bootable image: the base, and over it the tree `overlay` (of `DESTDIR=... meson install`), kernel modules and files.

    `files` maps an absolute path to its text, or to (text, mode). `packages` are Debian packages in addition to PACKAGES.
    """
    first = base(log, packages, suite)
    cache = cache_directory()
    files = dict(files or {})
    for name in ("agent.pl", "agent.service"):
        files.setdefault(_AGENT_PATHS[name], (HERE / name).read_text())
    modules = [pathlib.Path(module) for module in modules]
    key = _digest(first.key, repr(sorted(files.items())), _tree_digest(overlay) if overlay else "",
                  repr(sorted((module.name, _digest(module.read_bytes())) for module in modules)))
    disk = cache / f"disk-{key}.img"
    with _lock(cache):
        if disk.exists():
            os.utime(disk)
        else:
            log("image: making the disk image")
            with _workspace(cache) as work:
                _build_disk(work, first, overlay, modules, files)
                (work / "disk").rename(disk)
            prune(cache.glob("disk-*.img"), IMAGES_KEPT)
    return Image(disk, first.kernel, first.vmlinux, first.initrd, first.version, suite)


def build_machine(machines, suite, log=print, packages=()):
    """Returns the image of a suite. The image contains the files that build_machine() of tests/setup.sh has put below the directory
    `machines`."""
    built = machines / suite
    return build(built / "root", sorted(built.glob("modules/*.ko")), log=log, packages=packages, suite=suite)


_AGENT_PATHS = {
    "agent.pl": "/usr/lib/drivekeep-test/agent.pl",
    "agent.service": "/etc/systemd/system/drivekeep-test-agent.service",
}


def inside(root, command, mnt=None):
    """Returns the arguments of a program that runs a command in the tree `root`, with the directory `mnt` at /mnt. /proc is mounted for the
    kernel's objtool and for journalctl, which finds no file without /proc since version 260."""
    bind = f'mount --bind "{mnt}" "$0/mnt" && ' if mnt else ""
    return ["unshare", "--mount", "sh", "-c", f'{bind}mount -t proc proc "$0/proc" && exec chroot "$0" {command}', root]


def _run(*command, **options):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            **options)
    if result.returncode:
        raise RuntimeError(f"{command[0]} failed ({result.returncode}):\n{result.stdout[-4000:]}")
    return result.stdout


def prune(paths, kept):
    """Removes all paths except the newest ones, whose number is `kept`. Machines of another run may still use a path that is not the
    newest."""
    for path in sorted(paths, key=lambda path: path.stat().st_mtime)[:-kept]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _digest(*parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:16]


def _own_text():
    """Returns the text of this file without comment lines, which have no effect on the base tree."""
    return re.sub(r"^ *#.*\n", "", pathlib.Path(__file__).read_text(), flags=re.M)


def _tree_digest(top):
    lines = []
    for path in sorted(pathlib.Path(top).rglob("*")):
        mode = path.lstat().st_mode
        content = ""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = _digest(path.read_bytes())
        lines.append(f"{path.relative_to(top)} {mode:o} {content}")
    return "\n".join(lines)


@contextlib.contextmanager
def _lock(cache):
    with open(cache / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _workspace(cache):
    """Yields a temporary directory on the cache's file system, so that a finished file can be moved into the cache by a rename."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="work-", dir=cache))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _archive_kernel(suite):
    """Returns the kernel package that the host's apt would install, if the host has this suite. A new kernel package
    has another name, which makes base() build a new tree."""
    if platform.freedesktop_os_release().get("VERSION_CODENAME") != suite or not shutil.which("apt-cache"):
        return ""
    shown = subprocess.run(["apt-cache", "show", "--no-all-versions", "linux-image-amd64"], capture_output=True, text=True)
    found = re.search(r"^Depends: *(linux-image-\S+)", shown.stdout, re.M)
    return found.group(1) if found else ""


def _apt_sources(suite):
    """Returns the host's Debian sources of this suite in apt's one-line format. If the host has no source of this suite, returns
    sources with the name of this suite and the servers of the host's other sources."""
    if not shutil.which("apt-get"):
        return ""
    lines = _run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)",
                 "Identifier: Packages", "Origin: Debian").splitlines()
    own = [line for line in lines if line.split()[1].startswith(suite)]
    main = [line for line in lines if line.endswith(" main") and "-" not in line.split()[1]]
    return "\n".join(sorted({f"deb {line}" for line in own or [f"{line.split()[0]} {suite} main" for line in main]}))


def _apt_options():
    """Returns the apt options of the host for proxies and for the check of dates: a snapshot of the archive may be too old for this
    check."""
    if not shutil.which("apt-config"):
        return []
    wanted = re.compile(r"^Acquire::(https?|Check-)[^ ]* \".+\";$")
    return [f"--aptopt={line[:-1]}" for line in _run("apt-config", "dump").splitlines() if wanted.match(line)]


def _build_base(work, packages, suite):
    root = work / "root"
    sources = _apt_sources(suite)
    _run("mmdebstrap", "--variant=minbase", "--format=directory", f"--include={','.join(packages)}",
         *[f"--dpkgopt=path-exclude={path}" for path in UNWANTED_PATHS],
         *[f"--dpkgopt=path-include={path}" for path in WANTED_PATHS], "--dpkgopt=force-confold", *_apt_options(),
         # The guest boots with the initrd of _initrd(). Debian's initrd would take half a minute to build.
         "--essential-hook=mkdir -p $1/etc/initramfs-tools && echo update_initramfs=no > "
         "$1/etc/initramfs-tools/update-initramfs.conf",
         suite, root, *(["-"] if sources else []), input=sources)
    [version] = [path.name for path in (root / "usr/lib/modules").iterdir()]
    shutil.copy(root / f"boot/vmlinuz-{version}", work / "vmlinuz")
    (work / "vmlinux").write_bytes(_unpack_kernel((work / "vmlinuz").read_bytes()))
    (work / "version").write_text(version + "\n")
    _prepare_modules(root, version)
    (work / "initrd").write_bytes(_initrd(root, version))
    _configure(root)


def _unpack_kernel(image):
    """Returns the unpacked kernel of a bzImage: see payload_offset in the kernel's Documentation/x86/boot.rst."""
    setup_sectors = image[0x1f1]
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = image[start:start + length - 4]   # the last four bytes are the unpacked length
    if payload.startswith(b"\x28\xb5\x2f\xfd"):     # zstd, since Debian 13
        return subprocess.run(["zstd", "-dc"], input=payload, stdout=subprocess.PIPE, check=True).stdout
    return lzma.decompress(payload)


def _prepare_modules(root, version):
    """Removes the compression (since Debian 13) and the signatures of modules: together they cost an emulated machine a second at each
    boot. busybox cannot load a compressed module. The signature's format is in include/linux/module_signature.h of the kernel."""
    mark = b"~Module signature appended~\n"
    for path in (root / f"usr/lib/modules/{version}").rglob("*.ko*"):
        module = path.read_bytes()
        path.unlink()
        if path.suffix == ".xz":
            module, path = lzma.decompress(module), path.with_suffix("")
        if module.endswith(mark):
            end = len(module) - len(mark)
            [length] = struct.unpack_from(">I", module, end - 4)
            module = module[:end - 12 - length]
        path.write_bytes(module)
    _run(*inside(root, f"depmod {version}"))


def _initrd(root, version):
    shown = _run(*inside(root, f"modprobe --set-version {version} --show-depends --all {' '.join(INITRD_MODULES)}"))
    paths = list(dict.fromkeys(re.findall(r"^insmod (\S+)", shown, re.M)))
    contents = {path: (root / path.lstrip("/")).read_bytes() for path in paths}
    program, directory, link = stat.S_IFREG | 0o755, stat.S_IFDIR | 0o755, stat.S_IFLNK | 0o777
    return cpio_archive([
        ("init", program, INIT.encode()),
        ("bin/busybox", program, (root / "bin/busybox").read_bytes()),
        *[(f"bin/{applet}", link, b"busybox") for applet in INITRD_APPLETS],
        *[(name, directory, b"") for name in ("proc", "dev", "root")],
        ("modules", stat.S_IFREG | 0o644, "".join(f"{path}\n" for path in contents).encode()),
        *[(path, stat.S_IFREG | 0o644, content) for path, content in contents.items()],
    ])


def _configure(root):
    """Configures the installed packages for a machine without background work. Because of the machine ID in the
    image, systemd does not treat a new machine's boot as a first boot."""
    for name in HDPARM_HOOKS:
        aside = root / SET_ASIDE / name
        aside.parent.mkdir(parents=True, exist_ok=True)
        (root / name).rename(aside)
    for path in ["etc/apt/apt.conf.d/99mmdebstrap", "etc/apt/sources.list", "usr/lib/udev/rules.d/96-e2scrub.rules"]:
        (root / path).unlink(missing_ok=True)
    shutil.rmtree(root / "boot")
    (root / "boot").mkdir()
    for unit in MASKED_UNITS:
        (root / "etc/systemd/system" / unit).symlink_to("/dev/null")
    generators = root / "etc/systemd/system-generators"
    generators.mkdir(exist_ok=True)
    for name in MASKED_GENERATORS:
        (generators / f"systemd-{name}-generator").symlink_to("/dev/null")
    texts = {
        "etc/machine-id": hashlib.md5(b"drivekeep-test").hexdigest() + "\n",
        "etc/hostname": "drivekeep-test\n",
        "etc/hosts": "127.0.0.1 localhost drivekeep-test\n",
        "etc/fstab": "/dev/vda / ext4 defaults 0 1\n",
        "etc/modprobe.d/unwanted.conf": "".join(f"blacklist {name}\n" for name in UNWANTED_MODULES),
        # A persistent journal also has the records of earlier boots.
        "etc/systemd/journald.conf.d/test.conf": "[Journal]\nStorage=persistent\nSystemMaxUse=64M\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    # Root has no password, so that rescue mode does not ask for one and a person can log in at the console.
    _run(*inside(root, "passwd --delete root"))


@contextlib.contextmanager
def _changeable(work, tree):
    """Yields a directory with the content of `tree`, which a copy would take ten times as long to make. Changes reach only this directory.
    The mount is visible only to this process and its children, so no mount remains if the process is killed."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "cannot unshare the mount namespace")
    _run("mount", "--make-rprivate", "/")
    root, upper, scratch = (work / name for name in ("root", "upper", "scratch"))
    for directory in root, upper, scratch:
        directory.mkdir()
    _run("mount", "-t", "overlay", "-o", f"lowerdir={tree},upperdir={upper},workdir={scratch}", "overlay", root)
    try:
        yield root
    finally:
        _run("umount", root)


def _build_disk(work, first, overlay, modules, files):
    with _changeable(work, first.tree) as root:
        _complete(root, first, overlay, modules, files)
        _run("mke2fs", "-q", "-t", "ext4", "-L", "guest-root", "-E", "assume_storage_prezeroed=1", "-d", root, work / "disk", DISK_SIZE)


def _complete(root, first, overlay, modules, files):
    """Adds the overlay, the modules and the files to a tree that has the content of the base."""
    if overlay:
        # --no-overwrite-dir keeps the modes of the root's existing directories. --keep-directory-symlink keeps the links /lib and /sbin.
        pack = ["tar", "-C", str(overlay), "--owner=0", "--group=0", "-c", *sorted(os.listdir(overlay))]
        with subprocess.Popen(pack, stdout=subprocess.PIPE) as packer:
            _run("tar", "-C", root, "--keep-directory-symlink", "--no-overwrite-dir", "-x", stdin=packer.stdout)
        if packer.returncode:
            raise RuntimeError(f"cannot pack {overlay}")
        # The scripts of drivekeep's package run these programs. systemd-tmpfiles is not run here: it creates its files at boot.
        for command in ("systemd-sysusers", "journalctl --update-catalog", "ldconfig"):
            _run(*inside(root, command))
    if modules:
        extra = root / f"usr/lib/modules/{first.version}/extra"
        extra.mkdir(exist_ok=True)
        for module in modules:
            shutil.copy(module, extra)
        _run(*inside(root, f"depmod {first.version}"))
    for name, content in files.items():
        text, mode = content if isinstance(content, tuple) else (content, 0o644)
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    _run(*inside(root, "systemctl enable drivekeep-test-agent.service"))
    # If these files were older than /usr, systemd would assume an upgrade at the first boot and rebuild its databases.
    for name in ("etc/.updated", "var/.updated"):
        (root / name).touch()


def main():
    parser = argparse.ArgumentParser(description="Build the guest's image and print the paths of its files.")
    parser.add_argument("--overlay", metavar="DIR", help="a tree, made by `meson install`, that is copied over the root")
    parser.add_argument("--module", action="append", default=[], metavar="FILE", help="a kernel module to install; may be repeated")
    parser.add_argument("--suite", choices=SUITES, default=USUAL_SUITE, help=f"suite of Debian (default: {USUAL_SUITE})")
    parser.add_argument("--kernel-version", action="store_true", help="print the guest's kernel version and stop")
    options = parser.parse_args()

    def log(text):
        print(text, file=sys.stderr)

    if options.kernel_version:
        print(kernel_version(log, options.suite))
        return
    image = build(options.overlay, options.module, log=log, suite=options.suite)
    for field in dataclasses.fields(image):
        print(f"{field.name}={getattr(image, field.name)}")


if __name__ == "__main__":
    main()
