"""Repeats the scenario "boot" with a service that `tests/run --all` has built with ASan, UBSan and LSan."""
import contextlib
import re

from scenarios.boot import Boot

UNITS = ("drivekeep", "drivekeep-broker")
REPORT = r"AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|runtime error:"
FAULTS = {"overflow": "heap-buffer-overflow", "leak": "detected memory leaks", "undefined": "signed integer overflow"}


class Sanitized(Boot):
    """The checks of `boot` run with a service that was built with sanitizers, and the sanitizers report nothing"""
    for_every_build = False

    @contextlib.contextmanager
    def machine(self, **options):
        with super().machine(**options) as machine:
            yield machine
            self.check_reports(machine, "after the second cold boot")
            self.check_watched(machine)

    def check_verdicts(self, machine):
        super().check_verdicts(machine)
        for unit in UNITS:
            # The broker exits when it has no work.
            machine.run(f"systemctl is-active --quiet {unit}.service || drivekeep apply >/dev/null", check=False)
            maps = machine.run(f"cat /proc/$(systemctl show -P MainPID {unit})/maps", check=False).stdout
            self.claim(f"{unit} runs with the sanitizers", "libasan" in maps and "libubsan" in maps, maps)

    def check_watched(self, machine):
        """Checks that the sanitizers report a faulty program that runs in place of drivekeepd, in the same sandbox."""
        for unit in UNITS:
            for fault, report in FAULTS.items():
                machine.run(f"mkdir -p /run/systemd/system/faulty.service.d; cd /run/systemd/system; "
                            f"sed -e '/^ExecCondition/d; /^Type=/d; s|^ExecStart=.*|ExecStart=/usr/lib/drivekeep-test/faulty {fault}|;"
                            f" /^Requires=/d; /^Restart=/d; /^RuntimeDirectory/d; /^StateDirectory/d' "
                            f"/usr/lib/systemd/system/{unit}.service > faulty.service; "
                            f"cp /etc/systemd/system/{unit}.service.d/sanitizers.conf faulty.service.d; systemctl daemon-reload; "
                            f"systemctl start faulty; systemctl is-active faulty; true", check=False)
                machine.wait_until("! systemctl is-active faulty", 60)
                told = machine.run("journalctl --sync; journalctl -b -u faulty -o cat --no-pager -n 60").stdout
                self.claim(f"the sanitizers report a fault ({fault}) of a program in place of {unit}", report in told, told)
        machine.run("rm -r /run/systemd/system/faulty.service*; systemctl daemon-reload; systemctl reset-failed")

    def check_reports(self, machine, when):
        machine.run("systemctl stop drivekeep.service drivekeep-broker.service", 120)
        for unit in UNITS:
            told = machine.run(f"journalctl --sync; journalctl -b -u {unit} -o cat --no-pager").stdout
            self.claim(f"{when}: {unit} has logged messages", told.strip())
            found = re.search(f"(?s)[^\n]*({REPORT}).*", told)
            self.claim(f"{when}: the journal contains no sanitizer report", not found, found and found.group(0)[:6000])
            self.equal(f"{when}: {unit} stopped successfully", machine.run(f"systemctl show -P Result {unit}").stdout, "success\n")

    def check_warm_reboot(self, machine):
        self.check_reports(machine, "after the first boot")
        super().check_warm_reboot(machine)

    def check_cold_boot(self, machine, hba):
        self.check_reports(machine, "after the warm reboot")
        super().check_cold_boot(machine, hba)
