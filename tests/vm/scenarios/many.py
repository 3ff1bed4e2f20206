"""24 drives that are plugged in at the same time."""
import contextlib

from keeping import CONF, Keeping, ours

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 127; lookahead = true; spindown_time = "20min"; } );\n'


class Many(Keeping):
    """24 drives plugged in at once all get their settings, with no more commands per drive than a single drive gets"""

    def run(self):
        drives = [self.drive(f"SN-{i:02}", apm=128, lookahead=False, size_mb=8) for i in range(24)]
        with contextlib.ExitStack() as stack:
            first, _ = stack.enter_context(self.drives(*drives[:12], name="hba0"))
            second, _ = stack.enter_context(self.drives(*drives[12:], name="hba1"))
            machine = stack.enter_context(self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep"))
            machine.wait_running()
            first.plug(machine)
            second.plug(machine)
            machine.wait_until(lambda: all(d["standby_seconds"] == 1200 for d in drives), 180)
            self.settle(machine)
            self.equal("all 24 drives have their settings", {(d["apm"], d["lookahead"], d["standby_seconds"]) for d in drives},
                       {(127, True, 1200)})
            self.equal("each drive gets six commands: CHECK POWER MODE, IDENTIFY, three settings, IDENTIFY",
                       {len(ours(d)) for d in drives}, {6})
            self.match("the service's status text counts the drives and settings",
                       machine.run("systemctl show -P StatusText drivekeep").stdout,
                       r"^2[0-9] drives, 72 settings kept$")
