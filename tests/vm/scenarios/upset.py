"""Disturbances of the system. PID 1, the bus or udevd restarts in the middle of a visit, or the OOM killer kills a process. A file system
becomes full or read-only while drives are in standby."""
from keeping import by_id
from striking import Striking

# These events happen in this order on one machine.
EVENTS = {
    "daemon-reload": "systemctl daemon-reload",
    "PID 1 executes itself anew": "systemctl daemon-reexec",
    "restart of udevd": "systemctl restart systemd-udevd",
    "restart of the bus": "systemctl restart dbus.service",
    # The OOM killer picks the process with the highest score.
    "OOM killer: a worker": "echo 1000 > /proc/{worker}/oom_score_adj; echo f > /proc/sysrq-trigger",
    "OOM killer: the daemon": "echo 1000 > /proc/$(systemctl show -P MainPID drivekeep)/oom_score_adj; echo f > /proc/sysrq-trigger",
}
NOTES = "/var/lib/drivekeep"
# For each fault of a file system: the commands that begin and end it.
DISKS = {
    "/run full": ("dd if=/dev/zero of=/run/fill bs=4k 2>/dev/null; true", "rm /run/fill"),
    "/run read-only": ("mount -o remount,ro /run", "mount -o remount,rw /run"),
    "/var full": (f"mount -t tmpfs -o size=4k,mode=755,uid=drivekeep none {NOTES}; dd if=/dev/zero of={NOTES}/fill bs=4k 2>/dev/null; true",
                  f"umount {NOTES}"),
    "/var read-only": (f"mount -t tmpfs -o ro,size=4k none {NOTES}", f"umount {NOTES}"),
}


class Upset(Striking):
    """Drives get their settings despite daemon-reload, restarts of bus and udevd, and the OOM killer; no drive wakes if /run is full"""

    def run(self):
        with self.struck() as machine:
            for event, blow in EVENTS.items():
                self.strike(machine, event, lambda machine, pids, blow=blow: machine.run(blow.format(worker=pids[0])))
            self.equal("OOM killer: a worker: PID 1 does not stop the broker for the killed worker",
                       machine.run("journalctl -b -o cat UNIT=drivekeep-broker.service | grep -c \"result 'oom-kill'\"", check=False).stdout, "0\n")
            for disk, (begin, end) in DISKS.items():
                self.check_standby(machine, disk, begin, end)

    def check_standby(self, machine, disk, begin, end):
        """Puts all drives into standby and reads one: no other drive is woken, and the service continues."""
        nodes = " ".join(by_id(d.serial) for d in self.all)
        machine.run(f"drivekeep standby {nodes}", 120)
        self.settle(machine)
        self.equal(f"{disk}: all drives are in standby before the read", {d["mode"] for d in self.all}, {"standby"})
        restarts = machine.run("systemctl show -P NRestarts drivekeep").stdout
        marks = {d: d.log.mark() for d in self.all}
        # One shell command runs all steps, because the guest's agent needs /run to start a command. `drivekeep apply` requests a visit to
        # each drive.
        machine.run(f"{{ {begin}; dd if={by_id(self.sound.serial)} of=/dev/null bs=512 count=1 skip=77 iflag=direct; drivekeep apply; "
                    f"{end}; }} >/dev/null 2>&1", 240)
        self.settle(machine)
        self.equal(f"{disk}: only the drive that is read becomes active", [d.serial for d in self.all if d["mode"] != "standby"],
                   [self.sound.serial])
        self.equal(f"{disk}: drives in standby get only CHECK POWER MODE and STANDBY",
                   {e.name for d in self.hanging.values() for e in d.log.since(marks[d])} - {"CHECK POWER MODE", "STANDBY"}, set())
        self.equal(f"{disk}: the service is not restarted", machine.run("systemctl show -P NRestarts drivekeep").stdout, restarts)
        machine.run(f"for node in {nodes}; do dd if=$node of=/dev/null bs=512 count=1 skip=78 iflag=direct; done 2>/dev/null; drivekeep apply", 240)
        machine.wait_until(lambda: self.shows_wanted_values(machine), 60, 1)
        self.claim(f"{disk}: afterwards every drive has its settings and reports them", self.have_wanted_values())
