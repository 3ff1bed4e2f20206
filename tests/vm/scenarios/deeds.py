"""What is done once when a drive is attached, and left at that: standby, and sleep, after which a drive hears nothing."""
from keeping import CONF, Keeping, by_id, ours, settings

# "resume" repeats the action after each resume.
STANDBY, SLEEP = "E0/00 00 000000", "E6/00 00 000000"
FILE = """
drives = (
  {{ match = "{standby}"; standby = true; }},
  {{ match = "{again}"; standby = "resume"; }},
  {{ match = "{sleep}"; sleep = true; allow_dangerous = true; {more} }},
  {{ match = "{busy}"; apm = 100; lookahead = true; read_ahead_kb = 512; timeout = 40; max_sectors_kb = 256; }}
);
"""
ROUNDS = 20
# A request for standby joins a visit that is about all settings of the drive, whenever a worker is busy with the one before.
REQUESTS = ("for i in $(seq {rounds}); do drivekeep apply {drive} & drivekeep apply {drive} & drivekeep standby {drive} & wait; done"
            " >/dev/null 2>&1; systemctl show -P NRestarts drivekeep")


class Deeds(Keeping):
    """standby and sleep at attach: once, and a drive that sleeps is not even asked whether it does"""

    def run(self):
        self.standby, self.asleep = self.drive("DEED-STANDBY"), self.drive("DEED-SLEEP", apm=128)
        self.busy, self.again = self.drive("DEED-BUSY"), self.drive("DEED-AGAIN")
        with self.drives(self.standby, self.asleep, self.busy, self.again) as (_, arguments), \
             self.machine(suspends=True, files={CONF: self.file()}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            # The kernel may still look for drives when all else is up.
            machine.wait_until(lambda: ours(self.standby) and ours(self.asleep), 120)
            self.settle(machine)
            self.equal("attached: the drive is spun down, once", settings(self.standby), [STANDBY])
            self.equal("attached: the other is put to sleep, once", settings(self.asleep), [SLEEP])
            self.equal("nothing is sent behind it", [e.registers() for e in ours(self.asleep)][-1], SLEEP)

            mark = self.asleep.log.mark(), self.standby.log.mark()
            machine.push(CONF, self.file("apm = 100; spindown_time = \"10min\";"))
            machine.run("systemctl reload drivekeep", 180, check=False)
            self.settle(machine)
            machine.run("drivekeep plan", 180, check=False)
            machine.run("drivekeep apply", 180, check=False)
            machine.run("systemctl restart drivekeep", 180)
            self.settle(machine)
            self.equal("a drive that sleeps is sent nothing: not by a reload, a plan, a request or another daemon",
                       [e.registers() for e in ours(self.asleep, mark[0])], [])
            self.equal("what else is wanted of it waits", self.verdict(machine, "DEED-SLEEP", "apm"), "deferred")
            machine.run(f"dd if={by_id('DEED-STANDBY')} of=/dev/null bs=512 count=1 iflag=direct", 60)
            machine.run("drivekeep apply", 180, check=False)
            self.equal("a drive that its user has woken is not spun down again", settings(self.standby, mark[1]), [])
            self.equal("the verdict of the awake drive shows it", self.told(machine, "DEED-STANDBY"), ("applied", "off"))
            self.equal("the verdict of the sleeping drive", self.told(machine, "DEED-AGAIN"), ("unchanged", "on"))

            machine.run(f"dd if={by_id('DEED-SLEEP')} of=/dev/null bs=512 count=1 iflag=direct", 60)
            machine.wait_until("drivekeep status --json | grep -A9 '\"name\": *\"apm\"' | grep -q applied", 180)
            self.equal("used again, it gets the rest, and is not put to sleep again",
                       [text for text in settings(self.asleep, mark[0]) if text == SLEEP], [])
            self.equal("its APM level", self.asleep["apm"], 100)

            machine.suspend(while_asleep=lambda: [drive.power_cycle() for drive in (self.standby, self.asleep, self.again)])
            self.settle(machine)
            machine.wait_until("journalctl -b -o cat -u drivekeep | grep -q 'visited at resume'", 180)
            self.settle(machine)
            for drive, deed in ((self.standby, STANDBY), (self.asleep, SLEEP)):
                self.equal(f"resume is no attach: {deed.split()[0]} was sent once all in all", settings(drive).count(deed), 1)
            self.equal("standby = \"resume\": sent once more after the resume", settings(self.again).count(STANDBY), 2)
            self.equal("the drive with \"resume\" sleeps, with that verdict", (self.again["mode"], self.told(machine, "DEED-AGAIN")), ("standby", ("applied", "on")))
            self.equal("the drive without \"resume\" runs, with that verdict", (self.standby["mode"] == "standby", self.told(machine, "DEED-STANDBY")), (False, ("applied", "off")))
            self.check_joined(machine)

    def told(self, machine, serial):
        """The verdict of `standby`, and what the drive has."""
        record = next(each for each in self.all_status(machine) if each["serial"] == serial)
        setting = next(each for each in record["settings"] if each["name"] == "standby")
        return setting["verdict"], setting["actual"]

    def check_joined(self, machine):
        """Sleep and apply at once, for a drive with five settings"""
        mark = self.busy.log.mark()
        restarts = machine.run(REQUESTS.format(rounds=ROUNDS, drive=by_id("DEED-BUSY")), 600).stdout.strip()
        self.equal(f"{ROUNDS} requests for standby beside others for all settings: the service never restarts", restarts, "0")
        self.equal("and the drive is put into standby", STANDBY in settings(self.busy, mark), True)

    def file(self, more=""):
        return FILE.format(standby=by_id("DEED-STANDBY"), again=by_id("DEED-AGAIN"), sleep=by_id("DEED-SLEEP"), busy=by_id("DEED-BUSY"), more=more)
