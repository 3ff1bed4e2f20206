"""The system is upset: PID 1, the bus and udevd begin anew, and the kernel runs out of memory, in the middle of a visit; a full or
read-only disk while drives are in standby."""
from keeping import by_id
from striking import Striking

# In the order in which they happen: one machine has all of them.
EVENTS = {
    "daemon-reload": "systemctl daemon-reload",
    "PID 1 executes itself anew": "systemctl daemon-reexec",
    "restart of udevd": "systemctl restart systemd-udevd",
    "restart of the bus": "systemctl restart dbus.service",
    # The kernel takes the process with the highest score, which any memory hog could have had.
    "OOM killer: a worker": "echo 1000 > /proc/{worker}/oom_score_adj; echo f > /proc/sysrq-trigger",
    "OOM killer: the daemon": "echo 1000 > /proc/$(systemctl show -P MainPID drivekeep)/oom_score_adj; echo f > /proc/sysrq-trigger",
}
NOTES = "/var/lib/drivekeep"
# What is wrong with a file system, and how that ends.
DISKS = {
    "/run full": ("dd if=/dev/zero of=/run/fill bs=4k 2>/dev/null; true", "rm /run/fill"),
    "/run read-only": ("mount -o remount,ro /run", "mount -o remount,rw /run"),
    "/var full": (f"mount -t tmpfs -o size=4k,mode=755,uid=drivekeep none {NOTES}; dd if=/dev/zero of={NOTES}/fill bs=4k 2>/dev/null; true",
                  f"umount {NOTES}"),
    "/var read-only": (f"mount -t tmpfs -o ro,size=4k none {NOTES}", f"umount {NOTES}"),
}


class Upset(Striking):
    """daemon-reload, daemon-reexec, restarts of bus and udevd, the OOM killer, in mid-visit; /run and /var full or read-only in standby"""

    def run(self):
        with self.struck() as machine:
            for event, blow in EVENTS.items():
                self.strike(machine, event, lambda machine, pids, blow=blow: machine.run(blow.format(worker=pids[0])))
            self.equal("OOM killer: a worker: PID 1 does not end the others for it",
                       machine.run("journalctl -b -o cat UNIT=drivekeep-broker.service | grep -c \"result 'oom-kill'\"", check=False).stdout, "0\n")
            for disk, (begin, end) in DISKS.items():
                self.check_standby(machine, disk, begin, end)

    def check_standby(self, machine, disk, begin, end):
        """All drives are in standby, and one is read: no other is woken, and the service goes on."""
        nodes = " ".join(by_id(d.serial) for d in self.all)
        machine.run(f"drivekeep standby {nodes}", 120)
        self.settle(machine)
        self.equal(f"{disk}: all drives are in standby before", {d["mode"] for d in self.all}, {"standby"})
        restarts = machine.run("systemctl show -P NRestarts drivekeep").stdout
        marks = {d: d.log.mark() for d in self.all}
        # In one command, since the guest's agent needs /run for each. Asked by `apply`, the service looks at each drive.
        machine.run(f"{{ {begin}; dd if={by_id(self.sound.serial)} of=/dev/null bs=512 count=1 skip=77 iflag=direct; drivekeep apply; "
                    f"{end}; }} >/dev/null 2>&1", 240)
        self.settle(machine)
        self.equal(f"{disk}: the drive that is read is awake, and no other", [d.serial for d in self.all if d["mode"] != "standby"],
                   [self.sound.serial])
        self.equal(f"{disk}: drives in standby are sent commands for drives in standby alone",
                   {e.name for d in self.hanging.values() for e in d.log.since(marks[d])} - {"CHECK POWER MODE", "STANDBY"}, set())
        self.equal(f"{disk}: the service goes on", machine.run("systemctl show -P NRestarts drivekeep").stdout, restarts)
        machine.run(f"for node in {nodes}; do dd if=$node of=/dev/null bs=512 count=1 skip=78 iflag=direct; done 2>/dev/null; drivekeep apply", 240)
        machine.wait_until(lambda: self.says_right(machine), 60, 1)
        self.claim(f"{disk}: afterwards every drive has what is wanted, and says so", self.are_right())
