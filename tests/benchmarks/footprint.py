"""The size of each contender on disk, and the packages of the guest that the contender pulls in.

A package does not count if a minimal system with systemd, udev and D-Bus has it. Manual pages count compressed, as in packages.
"""
import dataclasses
import gzip
import pathlib
import re

DRIVEKEEP_NEEDS = ["libsystemd0", "libudev1", "libconfig9", "libseccomp2", "libjson-c5", "libsmartcols1"]
MINIMAL = ["systemd", "systemd-sysv", "udev", "dbus", "kmod"]
PEERS = {"hdparm": "hdparm", "udisks2": "udisks2", "tlp": "tlp", "tuned": "tuned", "smartd": "smartmontools",
         "hd-idle": "hd-idle"}


@dataclasses.dataclass
class Footprint:
    version: str
    own: int                # bytes of the contender itself
    pulled_in: int          # number of packages that a minimal system lacks, without the contender itself
    pulled_in_bytes: int


def packages(tree):
    """Returns {name: fields} of all packages installed in the root file system `tree`, and {virtual name: provider}."""
    text = (tree / "var/lib/dpkg/status").read_text()
    found, virtual = {}, {}
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^(\S+): (.*)$", paragraph, re.M))
        if fields.get("Status") != "install ok installed":
            continue
        found[fields["Package"]] = fields
        for name in re.findall(r"[a-z0-9][a-z0-9+.-]+", re.sub(r"\([^)]*\)", "", fields.get("Provides", ""))):
            virtual.setdefault(name, fields["Package"])
    return found, virtual


def closure(found, virtual, names):
    """Returns the packages `names` and all their dependencies. Of alternative dependencies, only the first installed package counts."""
    known, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        name = name if name in found else virtual.get(name)
        if name is None or name in known:
            continue
        known.add(name)
        for key in ("Depends", "Pre-Depends"):
            for group in filter(None, found[name].get(key, "").split(",")):
                choices = [re.match(r"\s*([a-z0-9+.-]+)", choice)[1] for choice in group.split("|")]
                waiting += [choice for choice in choices if choice in found or choice in virtual][:1]
    return known


def packed_bytes(path):
    """Returns the size as in a package, with manual pages compressed by gzip."""
    if path.match("share/man/man*/*"):
        return len(gzip.compress(path.read_bytes(), 9))
    return path.lstat().st_size


def tree_bytes(top):
    return sum(packed_bytes(path) for path in pathlib.Path(top).rglob("*") if not path.is_dir())


def run(tree, installed):
    """Returns {contender: Footprint}. `tree` is the guest's root file system, `installed` the result of `meson install --strip`."""
    found, virtual = packages(tree)
    essential = [name for name, fields in found.items() if fields.get("Essential") == "yes"]
    minimal = closure(found, virtual, [*essential, *MINIMAL])

    def size(names):
        return sum(int(found[name].get("Installed-Size", 0)) for name in names) * 1024

    pulled = closure(found, virtual, DRIVEKEEP_NEEDS) - minimal
    version = re.search(r"version : '(.*)'", (pathlib.Path(__file__).resolve().parents[2] / "meson.build").read_text())[1]
    result = {"drivekeep": Footprint(version, tree_bytes(installed), len(pulled), size(pulled))}
    for contender, package in PEERS.items():
        pulled = closure(found, virtual, [package]) - minimal - {package}
        result[contender] = Footprint(found[package]["Version"], size([package]), len(pulled), size(pulled))
    return result


