"""TLP and PowerTOP change the drives of a machine with drivekeep: 'drivekeep check' names each change before it happens."""
from keeping import CONF, Keeping, by_id

LINK = by_id("SN-SHARED")
FILE = f'drives = ( {{ match = "{LINK}"; apm = 127; spindown_time = "20min"; }} );\n'
TLP = "/etc/tlp.d/10-own.conf"
TLP_FILE = f"""TLP_DEFAULT_MODE=AC
DISK_DEVICES="{LINK.rpartition('/')[2]}"
DISK_APM_LEVEL_ON_AC="200"
DISK_SPINDOWN_TIMEOUT_ON_AC="60"
AHCI_RUNTIME_PM_ON_AC=auto
AHCI_RUNTIME_PM_TIMEOUT=20
"""
# The remedy that 'drivekeep check' prints for TLP.
TLP_REMEDY = r"""DISK_APM_LEVEL_ON_AC="keep"\nDISK_SPINDOWN_TIMEOUT_ON_AC="keep"\nAHCI_RUNTIME_PM_ON_AC=""\n"""
POWERTOP = "/usr/lib/systemd/system/powertop.service"


class Conflicts(Keeping):
    """TLP and PowerTOP change a drive as 'drivekeep check' warns, and no longer change it after the remedies that check prints"""
    rare = True
    packages = ("tlp", "powertop")

    def run(self):
        drive = self.drive("SN-SHARED", apm=128)
        with self.drives(drive) as (_, arguments), \
             self.machine(cold=True, files={CONF: FILE}, setup="systemctl enable drivekeep; systemctl disable tlp powertop || true",
                          extra_args=arguments) as machine:
            self.settle(machine)
            self.node_ = self.node(machine, "SN-SHARED")
            self.power = f"/sys/block/{self.node_[5:]}/device/power"
            self.equal("before TLP starts, the drive has drivekeep's values", self.values(machine, drive), (127, 1200, "on"))
            self.equal("check does not warn about installed programs that do not start", self.warnings(machine), [])
            self.check_tlp(machine, drive)
            self.check_powertop(machine, drive)

    def values(self, machine, drive):
        return drive["apm"], drive["standby_seconds"], machine.run(f"cat {self.power}/control").stdout.strip()

    def warnings(self, machine):
        """Returns the warnings about TLP and PowerTOP, without check's other warnings."""
        told = machine.run("drivekeep check 2>&1", check=False).stdout.splitlines()
        return [line for line in told if ": warning: " in line and ("TLP" in line or "PowerTOP" in line)]

    def check_tlp(self, machine, drive):
        machine.run(f"cat > {TLP} <<'END'\n{TLP_FILE}END\nsystemctl enable tlp")
        keep = r'set this variable to "keep" in /etc/tlp\.conf \(SATA_ and AHCI_ variables: to ""\)$'
        warnings = "\n".join(self.warnings(machine))
        for line, text in ((3, rf"TLP sets apm to 200 .*{CONF}:1 wants 127 .*: {keep}"),
                           (4, rf"TLP sets spindown_time to 5 ?min .*{CONF}:1 wants 20 ?min .*: {keep}"),
                           (5, rf"TLP sets runtime_pm to auto, so the kernel stops the idle drive, and {CONF}:1 wants .*: {keep}")):
            self.match(f"check warns about line {line} of TLP's file, and prints the remedy", warnings, rf"^{TLP}:{line}:1: warning: {text}")
        self.equal("check warns about no other line of TLP", warnings.count(": warning: "), 3)

        machine.run("systemctl start tlp", 120, check=False)
        self.equal("TLP changes each setting that check has named, to the value that check has named", self.values(machine, drive), (200, 300, "auto"))
        self.equal("TLP sets the delay before the runtime suspend", machine.run(f"cat {self.power}/autosuspend_delay_ms").stdout, "20000\n")
        self.claim("the kernel suspends the idle drive", machine.wait_until(f"grep -q '^suspended' {self.power}/runtime_status", 120))
        self.equal("the runtime suspend spins the drive down", drive["mode"], "standby")
        self.match("list shows the suspend, and its cause", machine.run("drivekeep list").stdout,
                   rf"(?m)^{self.node_[5:]} .* suspended .*20 s, by autosuspend_delay")
        self.match("status shows the suspend", machine.run("drivekeep status", check=False).stdout,
                   rf"(?m)^{self.node_[5:]}: runtime-suspended by the kernel")

        machine.run(f"printf '{TLP_REMEDY}' >> /etc/tlp.conf")
        self.equal("after the remedy, check does not warn about TLP", self.warnings(machine), [])
        self.take_back(machine, drive)
        machine.run("tlp start", 120, check=False)
        self.equal("after the remedy, TLP leaves drivekeep's values", self.values(machine, drive), (127, 1200, "on"))

    def check_powertop(self, machine, drive):
        machine.run("systemctl enable powertop")
        warnings = "\n".join(self.warnings(machine))
        self.match("check warns about PowerTOP's unit, and prints the remedy", warnings,
                   rf"^{POWERTOP}:\d+:\d+: warning: PowerTOP sets runtime_pm to auto.* {CONF}:1 wants .*: disable this unit, or remove --auto-tune$")
        self.equal("check warns about nothing else of PowerTOP", warnings.count(": warning: "), 1)
        machine.run("systemctl start powertop", 300, check=False)
        self.equal("PowerTOP changes the setting that check has named, and no other", self.values(machine, drive), (127, 1200, "auto"))

        machine.run("systemctl disable powertop")
        self.equal("after the remedy, check does not warn about PowerTOP", self.warnings(machine), [])
        self.take_back(machine, drive)
        machine.reboot()
        self.settle(machine)
        self.equal("TLP starts at the next boot, and PowerTOP does not",
                   machine.run("systemctl show -P ActiveState tlp powertop", check=False).stdout.split(), ["active", "inactive"])
        self.equal("after the remedies and a reboot, the drive has drivekeep's values", self.values(machine, drive), (127, 1200, "on"))

    def take_back(self, machine, drive):
        """Resumes the drive, which the remedies do not do, and lets drivekeep write its values."""
        machine.run(f"echo on > {self.power}/control; dd if={LINK} of=/dev/null bs=4096 count=1 iflag=direct; drivekeep apply", 120, check=False)
        self.settle(machine)
        machine.wait_until(lambda: self.values(machine, drive) == (127, 1200, "on"), 60)
