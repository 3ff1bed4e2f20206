"""Events that report a possible loss of settings while the drive stays attached."""
from keeping import CONF, Keeping, by_id, ours, settings
from machine import nvme_disk

FILE = """
drives = (
  { match = { transport = "usb"; };  apm = 127; spindown_time = "20min"; },
  { match = { transport = "nvme"; }; write_cache = "off"; },
  { match = { transport = "sata"; }; apm = 127; read_ahead_kb = 512; },
  { match = { serial = "SN-LOOSE"; }; spindown_time = "20min"; }
);
"""
TRACING = "/sys/kernel/tracing"
KILLER = "/run/udev/rules.d/00-killer.rules"
EVENTS = 100
POWER_ON, MODE_PARAMETERS_CHANGED = (0x29, 0x00), (0x2A, 0x01)


class Events(Keeping):
    """Settings are restored after unit attentions, link loss, controller reset and revalidation, but not endlessly in a conflict"""

    def run(self):
        self.sata, self.usb, self.loose = (self.drive(f"SN-{name}", apm=128) for name in ("SATA", "USB", "LOOSE"))
        with self.drives(self.sata, self.loose, usb=[(self.usb, {})]) as (hba, arguments), \
             self.machine(disks=[nvme_disk("NVME1")], files={CONF: FILE}, setup="systemctl enable drivekeep",
                          extra_args=arguments) as machine:
            self.settle(machine)
            self.bridge = self.docks[0].bridge
            self.check_link(machine, hba)
            self.check_reset(machine)
            self.check_parameters(machine)
            self.check_controller(machine)
            self.check_nothing_new(machine)
            self.check_revalidation(machine)
            self.check_persistent_conflict(machine)
            self.check_failure_of_udev(machine)

    def use(self, machine, serial):
        node = machine.run(f"lsblk -dnpo NAME,SERIAL | awk '$2 == \"{serial}\" {{ print $1 }}'").stdout.strip()
        machine.run(f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct", check=False)
        return node

    def reasons(self, machine, serial, setting):
        return [r["DRIVEKEEP_VISIT"] for r in self.records(machine, DRIVEKEEP_SERIAL=serial, DRIVEKEEP_SETTING=setting)]

    def check_link(self, machine, hba):
        """After a short loss of power and link the drive gets its settings again. libata keeps the drive, and udev gets no event."""
        wanted, attached = (127, 1200), f"cat /sys/block/{self.node(machine, 'SN-LOOSE')[5:]}/diskseq"
        before = machine.run(attached).stdout
        for seconds in (2, 5):
            mark, others = self.loose.log.mark(), (self.sata.log.mark(), self.usb.log.mark())
            hba.interrupt(1, seconds)
            self.equal(f"power and link off for {seconds} s: the drive loses its settings", self.loose["standby_seconds"], 0)
            self.loose.log.wait(mark, 120, command=0xE3)
            self.settle(machine)
            self.equal("after the link loss the APM level and the unreadable standby timer are written again",
                       (self.loose["apm"], self.loose["standby_seconds"]), wanted)
            self.equal("after the link loss of one drive the other drives get no command",
                       (ours(self.sata, others[0]), ours(self.usb, others[1])), ([], []))
        self.match("hdparm reads the restored APM level", machine.run(f"hdparm -B {by_id('SN-LOOSE')}").stdout, r"APM_level\s+= 127$")
        self.equal("the kernel has kept the drive: its disk sequence number is the same", machine.run(attached).stdout, before)
        self.equal("the journal names the trigger of the visit after the link loss: reset",
                   self.reasons(machine, "SN-LOOSE", "apm")[-1], "reset")
        machine.run(f"hdparm -y {by_id('SN-LOOSE')}")
        mark, spin_ups = self.loose.log.mark(), self.loose["spin_ups"]
        hba.interrupt(1, 2, power=False)
        self.loose.log.wait(mark, 120, command=0xE5, origin="passthrough")
        self.settle(machine)
        self.equal("a drive in standby stays in standby after a link loss", (self.loose["mode"], self.loose["spin_ups"]),
                   ("standby", spin_ups))
        self.equal("a drive in standby gets only the standby timer after a link loss",
                   {r[:2] for r in map(str, settings(self.loose, mark))}, {"E2"})

    def check_reset(self, machine):
        """A drive that is power-cycled in its dock gets its settings again, while the dock stays attached."""
        mark = self.usb.log.mark()
        self.usb.power_cycle()
        self.use(machine, "SN-USB")
        self.usb.log.wait(mark, 60, command=0xE3)
        self.settle(machine)
        self.equal("after a power-on unit attention the APM level and the unreadable standby timer are written again",
                   (self.usb["apm"], self.usb["standby_seconds"], settings(self.usb, mark)),
                   (127, 1200, ["EF/05 7F 000000", "E3/00 F0 000000"]))
        self.equal("the journal names the trigger of the visit after the power-on: reset",
                   self.reasons(machine, "SN-USB", "apm")[-1], "reset")

    def check_parameters(self, machine):
        """Another host changes the drive's mode parameters, for example through a shared bus. The service restores the settings and reports
        the drift."""
        self.usb.execute(self.set_apm(200))
        mark = self.usb.log.mark()
        self.bridge.attention(*MODE_PARAMETERS_CHANGED)
        self.use(machine, "SN-USB")
        self.usb.log.wait(mark, 60, command=0xEF)
        self.settle(machine)
        self.equal("after a mode-parameters-changed unit attention, settings that differ or cannot be read back are written",
                   settings(self.usb, mark), ["EF/05 7F 000000", "E3/00 F0 000000"])
        drift = self.records(machine, DRIVEKEEP_SERIAL="SN-USB", DRIVEKEEP_DRIFT_TO="200")
        self.equal("the journal reports the changed APM level as drift",
                   [(d["DRIVEKEEP_DRIFT_FROM"], d["DRIVEKEEP_VISIT"]) for d in drift], [("127", "parameters")])

    def check_controller(self, machine):
        machine.run("nvme set-feature /dev/nvme0 --feature-id=6 --value=1")
        machine.run("echo 1 > /sys/class/nvme/nvme0/reset_controller")
        machine.wait_until("nvme get-feature /dev/nvme0 --feature-id=6 | grep -q 'value:0*$'", 60)
        self.settle(machine)
        self.equal("after a controller reset, the NVMe drive gets its settings again",
                   self.reasons(machine, "NVME1", "write_cache")[-1], "controller")

    def check_nothing_new(self, machine):
        """Change events without a changed setting start no worker. Such an event follows each close of a drive that was open for writing."""
        name = self.node(machine, "SN-SATA")[5:]
        mark = self.sata.log.mark()
        # The filter has the process name, not the PID: the broker exits when idle and is started again on demand.
        machine.run(f"mountpoint -q {TRACING} || mount -t tracefs nodev {TRACING}; cd {TRACING}/events/sched/sched_process_fork && "
                    "echo 'parent_comm == \"drivekeepd\"' >filter && echo 1 >enable")
        # The loop waits for each event, because udev handles the events of one drive one after another.
        machine.run(f"for i in $(seq {EVENTS}); do echo change >/sys/block/{name}/uevent; udevadm settle; done", 600)
        self.settle(machine)
        self.equal(f"{EVENTS} change events without a changed setting start no worker", self.forks(machine), 0)
        self.equal("change events without a changed setting lead to no command", ours(self.sata, mark), [])

    @staticmethod
    def forks(machine):
        return int(machine.run(f"grep -vc '^#' {TRACING}/trace", check=False).stdout)

    def check_revalidation(self, machine):
        queue = f"/sys/block/{self.node(machine, 'SN-SATA')[5:]}/queue"
        mark = self.sata.log.mark()
        machine.run(f"echo 128 > {queue}/read_ahead_kb; udevadm trigger --action=change --settle {by_id('SN-SATA')}")
        machine.wait_until(f"test $(cat {queue}/read_ahead_kb) = 512", 30)
        self.settle(machine)
        self.equal("a changed setting in sysfs is restored at the next change event, without a command to the drive",
                   ours(self.sata, mark), [])
        self.equal("a change event with a changed setting starts one worker", self.forks(machine), 1)
        drift = self.records(machine, DRIVEKEEP_SERIAL="SN-SATA", DRIVEKEEP_SETTING="read_ahead_kb", DRIVEKEEP_DRIFT_TO="128\\ KiB")
        self.equal("the journal reports the changed read-ahead as drift", [d["DRIVEKEEP_VISIT"] for d in drift], ["revalidation"])

    def check_persistent_conflict(self, machine):
        """Another program changes the setting again and again. The service restores it five times, and then limits its visits."""
        node, queue = by_id("SN-SATA"), f"/sys/block/{self.node(machine, 'SN-SATA')[5:]}/queue"
        back = 0
        for _ in range(8):
            machine.run(f"echo 64 > {queue}/read_ahead_kb; udevadm trigger --action=change --settle {node}; sleep 1.5")
            self.settle(machine)
            back += machine.run(f"cat {queue}/read_ahead_kb").stdout == "512\n"
        self.equal("the setting is restored four more times: five in total", back, 4)
        said = machine.run("journalctl -b -u drivekeep -o cat --no-pager").stdout
        self.equal("the journal reports once that visits are limited", said.count("visits are limited"), 1)
        is_back = f"test $(cat {queue}/read_ahead_kb) = 512"
        self.leap(machine, 600, lambda: machine.run(is_back, check=False).status == 0, step=300)
        self.claim("the setting is restored once more within about ten minutes", True)
        machine.run(f"echo 64 > {queue}/read_ahead_kb; udevadm trigger --action=change --settle {node}")
        self.leap(machine, 60, step=30)
        after = machine.run(f"cat {queue}/read_ahead_kb").stdout
        self.equal("the next change is not restored within a minute", after, "64\n")

    def check_failure_of_udev(self, machine):
        """A process of udev is killed while it handles an event of the drive, as by udev's time limit. The event and udev's database then
        lack the serial number by which a rule names the drive."""
        node = self.node(machine, "SN-LOOSE")
        fail = f"echo change $(cat /proc/sys/kernel/random/uuid) KILL=1 > /sys/block/{node[5:]}/uevent; udevadm settle"
        machine.push(KILLER, """ENV{SYNTH_ARG_KILL}=="1", PROGRAM="/bin/sh -c 'kill -KILL $$PPID'"\n""")
        machine.run(f"dd if={node} of=/dev/null bs=4096 count=1 iflag=direct")     # the drive leaves standby
        self.settle(machine)
        machine.run(f"udevadm control --reload; {fail}")
        self.no_match("udev has no properties of a drive whose event failed", machine.run(f"udevadm info -q property {node}").stdout, "(?m)^ID_")
        mark = self.loose.log.mark()
        machine.run(f"drivekeep apply {node}")
        self.equal("after a failure of udev a rule by serial number still applies to the drive", settings(self.loose, mark), ["E3/00 F0 000000"])

        machine.run("systemctl restart drivekeep")
        self.settle(machine)
        machine.run(fail)
        said = f"{node[5:]}: the drive cannot be managed: udev failed to identify it; 'udevadm trigger {node}' tries again."
        machine.wait_until(f"""journalctl -b -u drivekeep -o cat | grep -qxF "{said}" """, 60)
        self.match("drivekeep show names the remedy for a drive that udev has not identified",
                   machine.run(f"drivekeep show {node}", check=False).stderr, f"udev has not identified the drive; 'udevadm trigger {node}'")
        self.equal("a drive that udev has not identified gets no command that changes a setting", settings(self.loose, mark), ["E3/00 F0 000000"])
        mark = self.loose.log.mark()
        machine.run(f"udevadm trigger {node}")
        self.loose.log.wait(mark, 60, command=0xE3)
        machine.run(f"rm {KILLER}; udevadm control --reload")

    @staticmethod
    def set_apm(level):
        from drives.taskfile import Taskfile
        return Taskfile(0xEF, 0x05, level)
