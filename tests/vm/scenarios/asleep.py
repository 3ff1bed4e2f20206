"""Sleeping drives sleep on."""
from keeping import CONF, Keeping, ours

FILE = 'drives = ( { match = { transport = "sata"; }; apm = 127; spindown_time = "20min"; read_ahead_kb = 512; } );\n'


class Asleep(Keeping):
    """A drive in standby, and one that the kernel has suspended, are not woken by a visit"""

    def run(self):
        drive = self.drive("SN-SLEEPY", apm=128)
        with self.drives(drive) as (_, arguments), \
             self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.check_standby(machine, drive)
            self.check_suspended(machine, drive)

    def check_standby(self, machine, drive):
        node = self.node(machine, "SN-SLEEPY")
        machine.run(f"hdparm -B 200 {node}; echo 128 > /sys/block/{node[5:]}/queue/read_ahead_kb; "
                    f"sed -i s/20min/10min/ {CONF}; hdparm -y {node}")
        spin_ups, mark = drive["spin_ups"], drive.log.mark()
        machine.run("systemctl reload drivekeep")
        self.settle(machine)
        self.equal("in standby: the timer is set without waking it, and nothing else is sent",
                   [e.registers() for e in ours(drive, mark)], ["E5/00 00 000000", "E2/00 78 000000"])
        self.equal("it sleeps on", (drive["mode"], drive["spin_ups"]), ("standby", spin_ups))
        self.equal("the rest is deferred", self.verdict(machine, "SN-SLEEPY", "apm"), "deferred")
        self.equal("what the kernel holds is set all the same",
                   machine.run(f"cat /sys/block/{node[5:]}/queue/read_ahead_kb").stdout, "512\n")
        machine.run(f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct; drivekeep apply", check=False)
        self.equal("awake again, the rest is done", (drive["apm"], drive["standby_seconds"]), (127, 600))

    def check_suspended(self, machine, drive):
        node = self.node(machine, "SN-SLEEPY")
        power = f"/sys/block/{node[5:]}/device/power"
        machine.run(f"hdparm -B 200 {node}; echo 100 > {power}/autosuspend_delay_ms; echo auto > {power}/control")
        if not machine.wait_until(f"grep -q '^suspended' {power}/runtime_status", 30):
            self.note("skipped: this kernel does not suspend the drive")
            return
        mark = drive.log.mark()
        machine.run("drivekeep apply", check=False)
        self.equal("suspended by the kernel: no command at all", [e.registers() for e in drive.log.since(mark) if e.command], [])
        self.match("and still suspended", machine.run(f"cat {power}/runtime_status").stdout, r"^suspended$")
        self.equal("deferred", self.verdict(machine, "SN-SLEEPY", "apm"), "deferred")
