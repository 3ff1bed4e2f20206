"""The actions `standby` and `sleep`, which are sent once when a drive is attached. A drive in ATA Sleep mode accepts no command."""
from keeping import CONF, Keeping, by_id, ours, settings

# standby = "resume" repeats the action after each resume.
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
# If a worker is busy with an earlier visit, the service merges the request for standby with the queued visit for all settings of the drive.
REQUESTS = ("for i in $(seq {rounds}); do drivekeep apply {drive} & drivekeep apply {drive} & drivekeep standby {drive} & wait; done"
            " >/dev/null 2>&1; systemctl show -P NRestarts drivekeep")


class Actions(Keeping):
    """standby and sleep are sent once at attach, and a drive in ATA Sleep mode gets no command, not even CHECK POWER MODE"""

    def run(self):
        self.standby, self.asleep = self.drive("ACTION-STANDBY"), self.drive("ACTION-SLEEP", apm=128)
        self.busy, self.again = self.drive("ACTION-BUSY"), self.drive("ACTION-AGAIN")
        with self.drives(self.standby, self.asleep, self.busy, self.again) as (_, arguments), \
             self.machine(suspends=True, files={CONF: self.file()}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            # The kernel may still be detecting drives when the system is up.
            machine.wait_until(lambda: ours(self.standby) and ours(self.asleep), 120)
            self.settle(machine)
            self.equal("standby = true: the drive gets STANDBY IMMEDIATE once at attach", settings(self.standby), [STANDBY])
            self.equal("sleep = true: the drive gets SLEEP once at attach", settings(self.asleep), [SLEEP])
            self.equal("the drive gets no command after SLEEP", [e.registers() for e in ours(self.asleep)][-1], SLEEP)

            mark = self.asleep.log.mark(), self.standby.log.mark()
            machine.push(CONF, self.file("apm = 100; spindown_time = \"10min\";"))
            machine.run("systemctl reload drivekeep", 180, check=False)
            self.settle(machine)
            machine.run("drivekeep plan", 180, check=False)
            machine.run("drivekeep apply", 180, check=False)
            machine.run("systemctl restart drivekeep", 180)
            self.settle(machine)
            self.equal("a drive in ATA Sleep mode gets no command from reload, plan, apply or a restart of the service",
                       [e.registers() for e in ours(self.asleep, mark[0])], [])
            self.equal("the APM level of a drive in ATA Sleep mode is deferred", self.verdict(machine, "ACTION-SLEEP", "apm"), "deferred")
            machine.run(f"dd if={by_id('ACTION-STANDBY')} of=/dev/null bs=512 count=1 iflag=direct", 60)
            machine.run("drivekeep apply", 180, check=False)
            self.equal("a drive that a read has spun up is not put into standby again", settings(self.standby, mark[1]), [])
            self.equal("the active drive: standby has the verdict applied and the value off",
                       self.standby_state(machine, "ACTION-STANDBY"), ("applied", "off"))
            self.equal("the drive in standby: standby has the verdict unchanged and the value on",
                       self.standby_state(machine, "ACTION-AGAIN"), ("unchanged", "on"))

            machine.run(f"dd if={by_id('ACTION-SLEEP')} of=/dev/null bs=512 count=1 iflag=direct", 60)
            machine.wait_until("drivekeep status --json | grep -A9 '\"name\": *\"apm\"' | grep -q applied", 180)
            self.equal("a drive that a read has woken from ATA Sleep mode gets no second SLEEP",
                       [text for text in settings(self.asleep, mark[0]) if text == SLEEP], [])
            self.equal("the drive that was in ATA Sleep mode has the deferred APM level", self.asleep["apm"], 100)

            machine.suspend(while_asleep=lambda: [drive.power_cycle() for drive in (self.standby, self.asleep, self.again)])
            self.settle(machine)
            machine.wait_until("journalctl -b -o cat -u drivekeep | grep -q 'visited at resume'", 180)
            self.settle(machine)
            for drive, action in ((self.standby, STANDBY), (self.asleep, SLEEP)):
                self.equal(f"resume does not count as attach: {action.split()[0]} was sent only once in total",
                           settings(drive).count(action), 1)
            self.equal("standby = \"resume\": STANDBY IMMEDIATE is sent again after the resume", settings(self.again).count(STANDBY), 2)
            self.equal("standby = \"resume\": the drive is in standby, with the verdict applied and the value on",
                       (self.again["mode"], self.standby_state(machine, "ACTION-AGAIN")), ("standby", ("applied", "on")))
            self.equal("standby = true: the drive is active after the resume, with the verdict applied and the value off",
                       (self.standby["mode"] == "standby", self.standby_state(machine, "ACTION-STANDBY")), (False, ("applied", "off")))
            self.check_merged_requests(machine)

    def standby_state(self, machine, serial):
        """Returns the verdict and the actual value of `standby`."""
        record = next(each for each in self.all_status(machine) if each["serial"] == serial)
        setting = next(each for each in record["settings"] if each["name"] == "standby")
        return setting["verdict"], setting["actual"]

    def check_merged_requests(self, machine):
        """Requests for standby and for all settings reach the service at the same time. The drive enters standby, and the service does not
        restart."""
        mark = self.busy.log.mark()
        restarts = machine.run(REQUESTS.format(rounds=ROUNDS, drive=by_id("ACTION-BUSY")), 600).stdout.strip()
        self.equal(f"the service does not restart during {ROUNDS} rounds of simultaneous standby and apply requests", restarts, "0")
        self.equal("simultaneous standby and apply requests put the drive into standby", STANDBY in settings(self.busy, mark), True)

    def file(self, more=""):
        return FILE.format(standby=by_id("ACTION-STANDBY"), again=by_id("ACTION-AGAIN"), sleep=by_id("ACTION-SLEEP"), busy=by_id("ACTION-BUSY"), more=more)
