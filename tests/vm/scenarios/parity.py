"""hdparm and drivekeep send the same ATA registers for the same setting, with the exceptions that FLAGS explains.

Each flag is a line in FLAGS. Of two equal drives, one gets the command of hdparm, and the other gets the setting of drivekeep. The test
compares the logs of both drives. It compares only commands that change a setting: no reads, and no FLUSH CACHE around hdparm -W0.
"""
import dataclasses

from keeping import CONF, by_id, ours
from rowtable import Device, Row, RowTable

DANGER = "allow_dangerous = true;"


@dataclasses.dataclass(frozen=True)
class Flag:
    """`program` runs on one drive, and drivekeep sets `key` = `value` on the other drive. If the registers differ, `differs` is the cause,
    and `theirs` and `mine` are the registers that `program` and drivekeep must send."""
    program: str
    key: str
    value: str
    lines: str = ""
    permanent: bool = False
    asleep: bool = False        # both drives are in standby before the command
    differs: str = ""
    theirs: tuple = ()
    mine: tuple = ()


FLAGS = (
    Flag("hdparm -B 100", "apm", "100"),
    Flag("hdparm -B 255", "apm", "255"),
    Flag("hdparm -S 120", "spindown_time", '"10min"'),
    Flag("hdparm -S 242", "spindown_time", '"1h"'),
    Flag("hdparm -S 0", "spindown_time", '"off"'),
    Flag("hdparm -W 0", "write_cache", "false"),
    Flag("hdparm -W 1", "write_cache", "true"),
    Flag("hdparm -A 0", "lookahead", "false"),
    Flag("hdparm -A 1", "lookahead", "true"),
    Flag("hdparm -M 128", "acoustic_management", "128"),
    Flag("smartctl -l scterc,80,80", "error_recovery", '"8s"'),
    Flag("hdparm -S 60", "spindown_time", '"5min"', asleep=True,
         differs="IDLE (E3h) spins up a drive in standby; STANDBY (E2h) sets the same timer without a spin-up",
         theirs=("E3/00 3C 000000",), mine=("E2/00 3C 000000",)),
    Flag("hdparm -K 1", "keep_features_over_reset", "true"),
    Flag("hdparm -K 0", "keep_features_over_reset", "false"),
    Flag("hdparm -R 1", "write_read_verify", '"first"', DANGER,
         differs="drivekeep and openSeaChest put the mode into LBA 7:0; hdparm puts it into COUNT, and so always sets mode 0",
         theirs=("EF/0B 01 000000",), mine=("EF/0B 00 000001",)),
    Flag("hdparm -R 0", "write_read_verify", "false", DANGER),
    Flag("hdparm --yes-i-know-what-i-am-doing -s 1", "poweron_standby", "true", DANGER, permanent=True),
    Flag("hdparm -s 0", "poweron_standby", "false", permanent=True,
         differs="hdparm first spins up a drive that may wait for this; drivekeep has already found the drive active",
         theirs=("EF/07 00 000000", "EF/86 00 000000"), mine=("EF/86 00 000000",)),
    Flag("hdparm --yes-i-know-what-i-am-doing -m 8", "mult_sect_io", "8", DANGER),
    Flag("smartctl -s dsn,on", "device_statistics_notification", "true"),
    Flag("smartctl -s wcreorder,off", "write_cache_reordering", "false", DANGER),
    Flag("hdparm --sanitize-freeze-lock", "sanitize_freeze", "true"),
    Flag("hdparm --dco-freeze", "dco_freeze", "true"),
    Flag("hdparm --security-freeze", "security_freeze", "true"),
)

# {flags of hdparm that set something: why the test does not compare them}.
NEVER = {
    "-a, -r, -Q": "the kernel keeps these settings without a command to the drive: see the scenario rows",
    "-X": "the kernel refuses SET FEATURES 03h from programs",
    "-D, -P": "obsolete since ATA-4, drives abort them",
    "-Z": "a vendor's opcode with an unknown effect on drives of other vendors",
    "-y, -Y": "actions, not settings: the scenario actions checks their registers",
    "-N, --dco-restore, --security-set-pass, ...": "permanent or destructive",
}


def sent(entries):
    """Returns the registers of each command that sets something. For SCT commands it adds the data, which has the actual
    command."""
    return tuple(e.registers() + (f" {e.data[:10].hex()}" if e.data else "") for e in entries if e.sets)


class Parity(RowTable):
    """hdparm and drivekeep send the same registers for each setting, or a table explains the difference"""

    def run(self):
        features = {"apm": 128, "acoustic": 254, "erc": (70, 70), "feature_control": True, "wrv": False, "puis": False,
                    "dsn": False, "dco": True, "sanitize": True}
        self.theirs, self.mine = self.drive("THEIRS", **features), self.drive("MINE", **features)
        self.devices = {"mine": Device(by_id("MINE"), self.mine)}
        self.lines = [("flag", "setting", "registers")]
        with self.drives(self.theirs, self.mine) as (_, arguments), \
             self.machine(files={CONF: "drives = ();\n"}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            for serial in ("THEIRS", "MINE"):
                machine.wait_until(f"[ -b {by_id(serial)} ]", 120)
            self.settle(machine)
            self.outcomes = {}
            for flag in FLAGS:
                self.compare(machine, flag)
        self.lines += [(flag, "-", f"not compared: {why}") for flag, why in NEVER.items()]
        self.show_table(self.lines)

    def compare(self, machine, flag):
        row = Row("mine", flag.key, flag.value, "", "", flag.lines, flag.permanent)
        name = f"{flag.key} = {flag.value}"
        if self.complaints_of_all(machine, [row]):
            self.lines.append((flag.program, name, "missing in drivekeep: not compared"))
            return
        if flag.asleep:
            machine.run(f"hdparm -y {by_id('THEIRS')} {by_id('MINE')}", check=False)
        marks = self.theirs.log.mark(), self.mine.log.mark()
        machine.run(f"{flag.program} {by_id('THEIRS')}", check=False)
        machine.push(CONF, self.file([row])[0])
        machine.run("systemctl reload drivekeep", 180, check=False)
        self.settle(machine)
        if flag.permanent:
            machine.run("drivekeep apply --permanent", 300, check=False)
        if flag.asleep:     # the commands below need active drives
            for serial in ("THEIRS", "MINE"):
                machine.run(f"dd if={by_id(serial)} of=/dev/null bs=512 count=1 iflag=direct", 60)
        comm = flag.program.split()[0]
        theirs = sent(self.theirs.log.since(marks[0], origin="passthrough", comm=comm))
        mine = sent(ours(self.mine, marks[1]))
        if flag.differs:
            self.equal(f"{flag.program}: hdparm or smartctl sends the registers of the table", theirs, flag.theirs)
            self.equal(f"{name}: drivekeep sends the registers of the table", mine, flag.mine)
            self.lines.append((flag.program, name, f"{' '.join(theirs)} | {' '.join(mine)}: {flag.differs}"))
            return
        same = self.claim(f"{flag.program} and {name} send the same registers", theirs and theirs == mine,
                          f"{flag.program}: {theirs}\ndrivekeep: {mine}\n{self.mine.log}")
        self.lines.append((flag.program, name, ", ".join(mine) if same else f"DIFFERENT: {theirs} | {mine}"))
