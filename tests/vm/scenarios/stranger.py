"""A new administrator installs the Debian package, and does common tasks with the commands that the manual gives. The scenario shows the
output of the commands and the time of each task."""
import time

from keeping import CONF, Keeping, by_id
from scenarios.package import COLD, NOW, STOCK, find_files

EXAMPLES = "/usr/share/doc/drivekeep/examples"
CLASS = 'drives = ( { match = { transport = "sata"; }; lookahead = true; spindown_time = "20min"; } );\n'
EXCEPTION = 'drives = ( { match = { serial = "SN-MUSIC"; }; lookahead = false; spindown_time = "keep"; } );\n'
BATTERY = 'drives = ( { match = { serial = "SN-MUSIC"; }; apm = 254; on_battery = { apm = 128; }; } );\n'
HDPARM = "/dev/disk/by-id/ata-DRIVEKEEP_TESTDISK_SN-OLD {\n\tapm = 127\n\twrite_cache = off\n}\n"


class Stranger(Keeping):
    """A new user of the package sets a class of drives, excepts a drive, imports hdparm.conf, tries values and removes the package"""

    def run(self):
        self.music, self.old = self.drive("SN-MUSIC", **COLD), self.drive("SN-OLD", **COLD)
        members = [self.drive(serial, erc=erc, **COLD) for serial, erc in (("SN-RAID-1", (0, 0)), ("SN-RAID-2", None))]
        with self.drives(self.music, self.old, *members) as (_, arguments), self.machine(setup=STOCK, extra_args=arguments) as machine:
            machine.wait_running()
            machine.run("udevadm settle")
            self.files = find_files(machine)
            for task in (self.install, self.set_class, self.set_one_drive, self.migrate, self.find_refusal, self.try_value, self.battery,
                         self.array, self.typo, self.remove):
                self.printed, began = "", time.monotonic()
                task(machine)
                self.note(f"{task.__name__}: {time.monotonic() - began:.0f} s of an emulated machine\n{self.printed}")

    def do(self, machine, command, status=0):
        """Runs a command and returns its output; claims that the exit status is `status`."""
        result = machine.run(f"exec 2>&1; {command}", 120, check=False)
        self.printed += "".join(f"       {line}\n" for line in [f"# {command}", *result.stdout.splitlines()])
        self.equal(f"{command.splitlines()[0]}: exit status {status}", result.status, status)
        return result.stdout

    def write(self, machine, name, text):
        self.do(machine, f"cat >{name} <<'END'\n{text}END")

    def reload(self, machine):
        self.do(machine, "systemctl reload drivekeep")
        self.settle(machine)

    def install(self, machine):
        self.do(machine, f"dpkg -i {NOW}")

    def set_class(self, machine):
        self.write(machine, CONF, CLASS)
        self.do(machine, "drivekeep check")
        self.do(machine, "systemctl enable --now drivekeep")
        self.settle(machine)
        self.match("status summarizes the kept settings in one line", self.do(machine, "drivekeep status"), r"^5 drives, 8 settings kept$")
        self.equal("both drives have the settings of the class",
                   [(d["lookahead"], d["standby_seconds"]) for d in (self.music, self.old)], [(True, 1200)] * 2)

    def set_one_drive(self, machine):
        self.write(machine, "/etc/drivekeep/drivekeep.conf.d/music.conf", EXCEPTION)
        self.reload(machine)
        self.match("explain shows the rule in force and the overridden rule",
                   self.do(machine, f"drivekeep explain {by_id('SN-MUSIC')} lookahead"),
                   r"(?s)off.*music\.conf:1.*drivekeep\.conf:1")
        self.equal("the excepted drive differs, the other drive has the setting of the class",
                   (self.music["lookahead"], self.old["lookahead"]), (False, True))

    def migrate(self, machine):
        machine.push("/etc/hdparm.conf", HDPARM)
        self.do(machine, "drivekeep import /etc/hdparm.conf >/etc/drivekeep/drivekeep.conf.d/hdparm.conf")
        self.do(machine, "drivekeep check")
        self.reload(machine)
        self.equal("the drive has the values from hdparm.conf", (self.old["apm"], self.old["write_cache"]), (127, False))

    def find_refusal(self, machine):
        node = by_id("SN-OLD")
        machine.run(f"hdparm -B 200 {node}")
        self.old.inject("abort", command=0xEF, feature=0x05, origin="passthrough", times=None)
        self.match("status --failed shows the refused setting and the rejected command",
                   self.do(machine, f"drivekeep apply {node} >/dev/null; drivekeep status --failed", 2),
                   r"(?s)apm +127 +200 +refused.*^sd. apm: .*SET FEATURES 05h")
        self.old.faults.clear()
        self.do(machine, f"drivekeep apply {node}")

    def try_value(self, machine):
        node = by_id("SN-MUSIC")
        self.do(machine, f"drivekeep try {node} apm=100")
        self.equal("try sets the temporary value on the drive", self.music["apm"], 100)
        self.do(machine, "drivekeep try --undo")
        self.equal("try --undo restores the drive's previous value", self.music["apm"], 128)

    def battery(self, machine):
        self.write(machine, "/etc/drivekeep/drivekeep.conf.d/battery.conf", BATTERY)
        self.reload(machine)
        self.equal("on mains power the drive has the value for mains", self.music["apm"], 254)
        self.match("plan --on-battery shows the value for battery",
                   self.do(machine, f"drivekeep plan --on-battery {by_id('SN-MUSIC')}", 2), r"apm +128 +254 +write")

    def array(self, machine):
        machine.run(f"mdadm --quiet --create /dev/md0 --run --assume-clean --metadata=1.2 --level=1 --raid-devices=2 "
                    f"{by_id('SN-RAID-1')} {by_id('SN-RAID-2')}; udevadm settle", 120)
        self.do(machine, f"cp {EXAMPLES}/raid-error-recovery.conf /etc/drivekeep/drivekeep.conf.d/")
        self.reload(machine)
        shown = self.do(machine, f"drivekeep status -v {by_id('SN-RAID-1')} {by_id('SN-RAID-2')}")
        self.match("an array member has error recovery limited to seven seconds", shown, r"error_recovery +7 s +7 s +(applied|unchanged)")
        self.match("the kernel's timeout is three minutes for a member without error recovery control",
                   shown, r"error_recovery_fallback_timeout +3 min +3 min +(applied|unchanged)")
        # With create_on_open, a process that opens the device node of the stopped array would create a new array without members.
        machine.run("echo N >/sys/module/md_mod/parameters/create_on_open; mdadm --quiet --stop /dev/md0; "
                    "rm /etc/drivekeep/drivekeep.conf.d/raid-error-recovery.conf")

    def typo(self, machine):
        self.write(machine, "/etc/drivekeep/drivekeep.conf.d/typo.conf", CLASS.replace("lookahead", "look_ahead"))
        self.match("check shows the line of the typo and suggests the correct name",
                   self.do(machine, "drivekeep check", 1), r"typo\.conf:1:.*look_ahead.*lookahead")
        self.do(machine, "rm /etc/drivekeep/drivekeep.conf.d/typo.conf")
        self.do(machine, "drivekeep check")

    def remove(self, machine):
        self.do(machine, "dpkg --purge drivekeep")
        self.equal("no file is left after the purge", find_files(machine) - self.files, set())
