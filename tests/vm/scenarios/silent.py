"""Drives that never answer do not delay other drives, boot or suspend."""
from keeping import CONF, Keeping, by_id, ours

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 127; lookahead = true; } );\n'
COLD = {"apm": 128, "lookahead": False}


class Silent(Keeping):
    """16 of 24 drives never answer: the other 8 drives are configured, the service stops within 5 s, and suspend is not delayed"""

    def run(self):
        good = [self.drive(f"SN-G{i:02}", **COLD) for i in range(8)]
        # Only the service's commands get no answer. The drives answer the kernel's commands, so that boot and error handling continue.
        bad = [self.drive(f"SN-B{i:02}", **COLD) for i in range(16)]
        for drive in bad:
            drive.inject("hang", command=0xE5, origin="passthrough", seconds=3600, times=None)
        with self.drives(*bad[:12]) as (_, first), self.drives(*bad[12:], *good, name="hba1") as (_, second), \
             self.machine(cold=True, suspends=True, files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=first + second) as machine:
            machine.wait_running()
            machine.wait_until(lambda: all(d["apm"] == 127 for d in good), 120)
            for drive in good:
                drive.log.wait(0, 60, number=2, command=0xEC, origin="passthrough")
            self.claim("the 17th drive is configured while 16 silent drives wait", True)
            self.equal("silent drives do not delay boot", machine.run("systemctl is-active multi-user.target").stdout, "active\n")
            cost = {len(ours(d)) for d in good}
            self.equal("the service sends no more commands than usual to the other drives", cost, {5})
            self.fault("16 drives silent for ever", "CHECK POWER MODE", len(good) + len(bad), "none; other drives: applied")
            self.check_time_out(machine, good[0])
            machine.run("systemctl restart drivekeep; systemctl stop drivekeep")
            self.claim_stop(machine, "while 16 drives do not answer")
            machine.run("systemctl start drivekeep")
            said = machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout
            self.match("the journal names the worker that waits in the kernel",
                       said, r"still waits for the kernel|no answer for 20 s|did not answer")
            # A pending command prevents the kernel from suspending until the command times out, whichever process sent it.
            machine.wait_until("! systemctl show -P StatusText drivekeep | grep -q visited", 120)
            machine.suspend()
            self.equal("the service does not delay suspend: logind does not wait for it in vain, and the kernel suspends at the first attempt",
                       machine.run("journalctl -b -u systemd-logind -o cat --no-pager | grep -c 'inhibitor timeout is reached'; "
                                   "cat /sys/power/suspend_stats/success /sys/power/suspend_stats/fail", check=False).stdout.split(),
                       ["0", "1", "0"])

    def check_time_out(self, machine, drive):
        """Checks a command that times out: libata reports it as aborted, although the drive has not answered."""
        machine.run(f"hdparm -B 200 {by_id(drive.serial)}")
        drive.inject("hang", command=0xEF, feature=0x05, origin="passthrough", seconds=3600)
        # The command ends when the worker has been silent for 20 s, and the kernel's error handling may take longer.
        machine.run(f"drivekeep apply {by_id(drive.serial)}", 120, check=False)
        machine.wait_until(lambda: self.verdict(machine, drive.serial, "apm") != "applied", 120, 1)
        self.equal("a setting whose command times out is failed, not refused", self.verdict(machine, drive.serial, "apm"), "failed")
        machine.run(f"drivekeep apply {by_id(drive.serial)}", 120, check=False)
        self.equal("the next visit after the time-out applies the setting",
                   (drive["apm"], self.verdict(machine, drive.serial, "apm")), (127, "applied"))
