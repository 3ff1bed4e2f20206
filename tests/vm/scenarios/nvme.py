"""Settings of NVMe controllers, read back by nvme-cli and from sysfs."""
import re

from keeping import CONF, Keeping
from machine import nvme_disk

FILE = """
drives = (
  { match = { serial = "NVME-1"; };
    write_cache = "off"; error_recovery = "7s"; temperature_threshold = "75 C";
    power_state = 1; thermal_heavy = "80 C"; interrupt_coalescing_time = "200us"; hmb = "off"; apst_latency = "off"; },
  { match = { serial = "NVME-2"; };
    write_cache = "off"; error_recovery = "5s"; },
  { match = { serial = "NVME-2"; node = "/dev/nvme*n2"; };
    write_cache = "on"; error_recovery = "9s"; }
);
"""

# A controller with two namespaces.
PAIR = ["-device", "nvme,id=pair,serial=NVME-2"]
for number in (1, 2):
    PAIR += ["-blockdev", f"driver=null-co,node-name=space{number},size=67108864,read-zeroes=on",
             "-device", f"nvme-ns,drive=space{number},bus=pair,nsid={number}"]

# Settings that QEMU's controller supports, and settings that it lacks or does not let a host change.
SUPPORTED = (
    ("write_cache", "-f 6", 0),
    ("error_recovery", "-f 5 -n 1", 70),
    ("temperature_threshold", "-f 4", 75 + 273),
)
UNSUPPORTED = {
    "power_state": ("unsupported", "only the power states 0...0"),
    "thermal_heavy": ("unsupported", "no thermal_heavy"),
    "interrupt_coalescing_time": ("refused", r"feature not changeable, status 10Eh"),
    "hmb": ("unsupported", "no device/hmb"),
    "apst_latency": ("unchanged", "no apst_latency"),     # without the attribute apst_latency, APST is off
}


class Nvme(Keeping):
    """drivekeep sets features of an NVMe controller and sets them again after another program changed them; nvme-cli reads them back"""

    def run(self):
        with self.machine(cold=True, disks=[nvme_disk("NVME-1")], files={CONF: FILE}, extra_args=PAIR,
                          setup="systemctl enable drivekeep") as machine:
            self.settle(machine)
            self.check_namespaces(machine)
            self.controller = machine.run("basename $(grep -l NVME-1 /sys/class/nvme/*/serial | xargs dirname)").stdout.strip()
            status = self.status(machine)["NVME-1"]
            for name, options, expected in SUPPORTED:
                self.equal(f"{name}: the verdict is applied", status[name]["verdict"], "applied")
                self.equal(f"{name}: nvme-cli reads the wanted value", self.feature(machine, options), expected)
            self.equal("error_recovery does not change DULBE", self.feature(machine, "-f 5 -n 1") >> 16, 0)
            for name, (verdict, reason) in UNSUPPORTED.items():
                self.equal(f"{name}: the verdict is {verdict}, as the controller cannot set this", status[name]["verdict"], verdict)
                self.match(f"{name}: status shows the reason for the verdict", status[name]["reason"], reason)

            machine.run(f"nvme set-feature /dev/{self.controller} -f 4 --value=0x150")
            machine.run(f"nvme set-feature /dev/{self.controller} -f 5 -n 1 --value=0")
            machine.run("drivekeep apply", check=False)
            self.equal("apply restores a controller's feature that another program changed", self.feature(machine, "-f 4"), 348)
            self.equal("apply restores a namespace's feature that another program changed", self.feature(machine, "-f 5 -n 1"), 70)

    def check_namespaces(self, machine):
        drives = self.all_status(machine)
        pair = {each["name"][-2:]: {s["name"]: s for s in each["settings"]} for each in drives if each["serial"] == "NVME-2"}
        # If a late uevent has caused a second visit, the verdict is "unchanged".
        self.claim("the first of two namespaces sets the write cache that they share",
                   pair["n1"]["write_cache"]["verdict"] in ("applied", "unchanged"), str(pair["n1"]["write_cache"]))
        self.equal("the second namespace gets the verdict forbidden for the shared write cache",
                   pair["n2"]["write_cache"]["verdict"], "forbidden")
        self.match("the reason names the namespace that sets another value",
                   pair["n2"]["write_cache"]["reason"] or "", "nvme[0-9]+n1 sets another value")
        self.controller = machine.run("basename $(grep -l NVME-2 /sys/class/nvme/*/serial | xargs dirname)").stdout.strip()
        self.equal("nvme-cli reads the first namespace's value of the write cache", self.feature(machine, "-f 6"), 0)
        # Newer kernels scan both namespaces in parallel, so the device with the name n1 may be the namespace with ID 2.
        numbers = [machine.run(f"cat /sys/block/{self.controller}n{n}/nsid").stdout.strip() for n in (1, 2)]
        self.equal("each namespace has its own error_recovery",
                   [self.feature(machine, f"-f 5 -n {number}") for number in numbers], [50, 90])

    def feature(self, machine, options):
        shown = machine.run(f"nvme get-feature /dev/{self.controller} {options}").stdout
        return int(re.search(r"value:(?:0x)?([0-9a-fA-F]+)", shown)[1], 16)
