"""Drives that never answer harm nobody else."""
import time

from keeping import CONF, Keeping, by_id, ours

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 127; lookahead = true; } );\n'
COLD = {"apm": 128, "lookahead": False}


class Silent(Keeping):
    """24 drives, 16 of them silent for ever; the others are done, stop takes 5 s at most, suspend is not held up"""

    def run(self):
        good = [self.drive(f"SN-G{i:02}", **COLD) for i in range(8)]
        # Silent to us only: the kernel's own commands are answered, so that boot and error handling go on.
        bad = [self.drive(f"SN-B{i:02}", **COLD) for i in range(16)]
        for drive in bad:
            drive.inject("hang", command=0xE5, origin="passthrough", seconds=3600, times=None)
        with self.drives(*bad[:12]) as (_, first), self.drives(*bad[12:], *good, name="hba1") as (_, second), \
             self.machine(suspends=True, files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=first + second) as machine:
            machine.wait_running()
            machine.wait_until(lambda: all(d["apm"] == 127 for d in good), 120)
            self.claim("the 17th drive does not wait behind 16 silent ones", True)
            self.equal("boot is not held up", machine.run("systemctl is-active multi-user.target").stdout, "active\n")
            cost = {len(ours(d)) for d in good}
            self.equal("the others cost what they always cost", cost, {5})
            self.fault("16 drives silent for ever", "CHECK POWER MODE", len(good) + len(bad), "no answer; the others applied")
            self.check_time_out(machine, good[0])
            machine.run("systemctl restart drivekeep")
            self.claim_stop(machine, "beside 16 silent drives")
            said = machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout
            self.match("a worker that the kernel holds is named", said, r"still waits for the kernel|no answer for 20 s|did not answer")
            # A command that a drive is sitting on keeps the kernel itself from sleeping, whoever sent it, until it times out.
            machine.wait_until("! systemctl show -P StatusText drivekeep | grep -q visited", 120)
            started = time.monotonic()
            machine.suspend()
            self.claim("suspend is not held up by us", time.monotonic() - started < 30, f"{time.monotonic() - started:.1f} s")

    def check_time_out(self, machine, drive):
        """libata calls it aborted; it is not the drive's word."""
        machine.run(f"hdparm -B 200 {by_id(drive.serial)}")
        drive.inject("hang", command=0xEF, feature=0x05, origin="passthrough", seconds=3600)
        machine.run(f"drivekeep apply {by_id(drive.serial)}", 120, check=False)
        self.equal("a command that times out has failed, and was not refused", self.verdict(machine, drive.serial, "apm"), "failed")
        machine.run(f"drivekeep apply {by_id(drive.serial)}", 120, check=False)
        self.equal("and the next visit makes it good", (drive["apm"], self.verdict(machine, drive.serial, "apm")), (127, "applied"))
