"""`drivekeep try` sets temporary values, and `drivekeep edit` accepts only a valid file."""
import json

from keeping import CONF, Keeping, settings

NOTHING = "no values are being tried"
KEPT = "/etc/drivekeep/drivekeep.conf.d"
WWN = "5000c500a1b2c3d"
FILE = """drives = (
  { match = { serial = "SN-A"; }; apm = 200; },
  { match = { serial = "SN-B"; }; apm = 60; }
);
"""


class Trying(Keeping):
    """Values of `drivekeep try` last until --undo, or are kept by --keep; `drivekeep edit` accepts only a valid file"""

    def run(self):
        self.ata = {name: self.drive(name, wwn=WWN + name[-1].lower()) for name in ("SN-A", "SN-B")}
        with self.drives(*self.ata.values()) as (hba, arguments), \
             self.machine(files={CONF: FILE}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            self.device = self.node(machine, "SN-A").removeprefix("/dev/")
            self.own_ahead = self.present(machine)[2]
            self.claim("the kernel's default read-ahead differs from the temporary value", self.own_ahead != "512")
            self.check_try(machine)
            self.check_invalid(machine)
            self.check_undo(machine)
            self.check_unreadable(machine)
            self.check_asleep(machine)
            self.check_keep(machine)
            self.check_edit(machine)

    def present(self, machine, serial="SN-A"):
        """Returns the APM level from the drive, the write cache from hdparm and the read-ahead from sysfs."""
        node = self.node(machine, serial)
        cache = machine.run(f"hdparm -W {node}").stdout.rpartition("=")[2].split()[0]
        return self.ata[serial]["apm"], cache, machine.run(f"cat /sys/block/{node[5:]}/queue/read_ahead_kb").stdout.strip()

    def check_try(self, machine):
        mark = self.ata["SN-B"].log.mark()
        said = machine.run(f"drivekeep try {self.device} apm=100 write_cache=off read_ahead_kb=512")
        self.equal("try sets the values in the drive and the kernel", self.present(machine), (100, "0", "512"))
        self.match("try prints a rule for the configuration file",
                   said.stdout, rf'wwn = ".*{WWN}a"; \}};\n +apm = 100;\n +write_cache = false;\n')
        self.equal("try sends no setting to another drive", settings(self.ata["SN-B"], mark), [])
        self.equal("/run/drivekeep is writable only by root and contains no rules",
                   machine.run("stat -c '%U %a' /run/drivekeep; ls /run/drivekeep").stdout, "root 755\ndrives\n")
        explained = machine.run(f"drivekeep explain {self.device} apm").stdout
        self.match("explain names drivekeep try as the source of the value", explained, "^  apm = 100, from drivekeep try$")
        self.match("explain shows the value and rule that try overrides", explained, rf"^    overrides 200, from {CONF}:2$")
        self.match("cat shows the temporary rule",
                   machine.run("drivekeep cat").stdout, rf"^# drivekeep try, {self.device}: until the next boot$")
        self.equal("status names drivekeep try as the rule, and as the command of the temporary value",
                   {(row["rule"], row["temporary"]) for drive in json.loads(machine.run("drivekeep status --json").stdout)["drives"]
                    for row in drive["settings"] if row["temporary"] or not row["rule"].startswith(CONF)},
                   {("drivekeep try", "try")})
        self.equal("check, which also checks access as the service's user, finds no error",
                   machine.run("drivekeep check", check=False).status, 0)
        machine.run(f"drivekeep try {self.device} apm=50")
        self.equal("a second try keeps the other values of the first", self.present(machine), (50, "0", "512"))
        tried = machine.run("drivekeep try").stdout
        self.match("try lists the temporary value and the previous value", tried, rf"^{self.device} +apm +50 +200 *$")
        self.match("try lists the values of the first try too", tried, rf"^{self.device} +write_cache +off +on *$")
        machine.run("systemctl kill --signal=KILL drivekeep.service; systemctl reset-failed drivekeep.service; "
                    "systemctl restart drivekeep.service")
        self.settle(machine)
        self.equal("temporary values survive a kill of the service", (self.present(machine), machine.run("drivekeep try").stdout),
                   ((50, "0", "512"), tried))

    def check_invalid(self, machine):
        tried = machine.run("drivekeep try").stdout
        mark = self.ata["SN-A"].log.mark()
        for words, says in (("amp=1", "did you mean 'apm'"), ("apm=999", "out of range"), ("apm", "SETTING=VALUE")):
            result = machine.run(f"drivekeep try {self.device} {words}", check=False)
            self.equal(f"try {words} fails with exit status 1 and the cause", (result.status, says in result.stderr), (1, True))
        self.equal("an invalid try sets no temporary value and sends no setting to the drive",
                   (machine.run("drivekeep try").stdout, settings(self.ata["SN-A"], mark)), (tried, []))

    def check_undo(self, machine):
        result = machine.run(f"drivekeep try --undo {self.device}", check=False)
        self.equal("undo restores the values from before the first try", self.present(machine), (200, "1", self.own_ahead))
        kib = int(self.own_ahead)
        ahead = f"{kib // 1024} MiB" if kib % 1024 == 0 else f"{kib} KiB"
        self.equal("undo prints each restored value", (result.status, sorted(result.stdout.splitlines())),
                   (0, [f"{self.device}: apm is 200 again", f"{self.device}: read_ahead_kb is {ahead} again",
                        f"{self.device}: write_cache is on again"]))
        self.match("after undo there is no temporary value", machine.run("drivekeep try").stderr, NOTHING)
        self.settle(machine)
        self.equal("after undo only the permanent rule is in force", list(self.status(machine, self.device)["SN-A"]), ["apm"])

    def check_unreadable(self, machine):
        result = machine.run(f"drivekeep try {self.device} spindown_time=20min", check=False)
        self.equal("try sets the standby timer", (result.status, self.ata["SN-A"]["standby_seconds"]), (0, 1200))
        self.match("try warns at once that the present value is not known",
                   result.stderr, "the current value of spindown_time is not known")
        result = machine.run("drivekeep try --undo", check=False)
        self.equal("undo reports that the standby timer stays, and ends the temporary value",
                   (result.status, "so the value 20 min stays" in result.stderr, NOTHING in machine.run("drivekeep try").stderr),
                   (2, True, True))

    def check_asleep(self, machine):
        drive = self.ata["SN-A"]
        machine.run(f"hdparm -y /dev/{self.device}")
        spin_ups = drive["spin_ups"]
        result = machine.run(f"drivekeep try {self.device} lookahead=off", check=False)
        self.equal("try defers the value of a drive in standby and does not wake the drive",
                   (result.status, drive["mode"], drive["spin_ups"], "deferred" in result.stdout), (75, "standby", spin_ups, True))
        self.match("try reports that the value of a drive in standby is not known",
                   result.stderr, "the current value of lookahead is not known")
        undone = machine.run("drivekeep try --undo", check=False)
        self.equal("undo of a deferred value reports no change", (undone.status, undone.stdout, undone.stderr),
                   (0, f"{self.device}: lookahead was not changed\n", ""))
        self.equal("undo does not wake a drive in standby", (drive["mode"], drive["spin_ups"]), ("standby", spin_ups))
        machine.run(f"dd if=/dev/{self.device} of=/dev/null bs=4096 count=1 iflag=direct")
        # The service polls a drive with a deferred setting every 30 s.
        self.leap(machine, 90)
        self.equal("a deferred value that was undone is not set when the drive becomes active", drive["lookahead"], True)

    def check_keep(self, machine):
        machine.run(f"drivekeep try {self.device} apm=100")
        said = machine.run(f"drivekeep try --keep {self.device} read_ahead_kb=512").stdout
        self.match("try --keep names the file with the kept values", said, rf"^Kept in {KEPT}/90-.*{WWN}a.conf:$")
        self.match("after --keep no value is temporary", machine.run("drivekeep try").stderr, NOTHING)
        self.equal("after --keep the drive and the kernel have the kept values", self.present(machine), (100, "1", "512"))

    def check_edit(self, machine):
        drive = self.ata["SN-B"]
        machine.run(f"chmod 640 {CONF}; chgrp drivekeep {CONF}")
        said = machine.run("EDITOR='sed -i s/60/61/' drivekeep edit").stdout
        self.settle(machine)
        self.equal("edit puts a valid file in force at once", (drive["apm"], "has read it" in said), (61, True))
        self.equal("edit keeps owner, group and mode of the file", machine.run(f"stat -c '%U %G %a' {CONF}").stdout,
                   "root drivekeep 640\n")
        before = machine.run(f"cat {CONF}").stdout
        result = machine.run("EDITOR='sed -i s/61/999/' drivekeep edit </dev/null", check=False)
        self.equal("edit does not install an invalid file", (result.status, machine.run(f"cat {CONF}").stdout), (1, before))
        self.match("the error names the configuration file, not the temporary copy", result.stderr, rf"^{CONF}:3:\d+: error: ")
        self.match("edit keeps the invalid text as a draft", machine.run(f"cat {CONF}.draft").stdout, "apm = 999")
        self.equal("the next edit continues with the draft",
                   machine.run("EDITOR='sed -i s/999/62/' drivekeep edit", check=False).status, 0)
        self.settle(machine)
        self.equal("the corrected value is in force", drive["apm"], 62)
        self.equal("edit removes the draft", machine.run("ls -A /etc/drivekeep").stdout.split(), ["drivekeep.conf", "drivekeep.conf.d"])
