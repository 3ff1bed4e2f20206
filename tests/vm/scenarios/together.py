"""The drives of an array are woken together, as many at a time as the configuration permits, and are spun down together.

All results come from the drives' own logs. The time to read all members is given in units of one spin-up. A spin-up is long compared with
the other delays of the emulation.
"""
import json

from drives import model, power
from keeping import CONF, TRACE_FILTER, TRACES, TRACING, Keeping, by_id

SPIN_UP = 6     # seconds
MEMBERS = [f"SN-MEMBER{number}" for number in range(8)]
APART = "SN-APART"
IDLE = 600      # seconds without I/O
STEP = IDLE // 20
CHUNK = "dd if=/dev/md0 of=/dev/null bs=64k iflag=direct status=none count="

ARRAY = f"mdadm -q --create /dev/md0 --run --level=0 --chunk=64 --raid-devices={len(MEMBERS)} --metadata=1.2 {{}}; udevadm settle"


def rules(wake_together="", option=""):
    """Returns a configuration with one rule for all drives, including the drive outside the array."""
    return (f'{option}drives = ( {{ match = {{ transport = "sata"; }}; spindown_time = "10min"; spindown_by = "service"; '
            f'{wake_together} }} );\n')


class Together(Keeping):
    """Eight drives of an array are spun down together, and woken together or two at a time"""
    reads = {1: "the first"}    # with spin_up_at_once = 2: {number of members that are read: words for them in the results}

    def run(self):
        self.members = {serial: self.drive(serial, spin_up_seconds=SPIN_UP) for serial in MEMBERS}
        self.apart = self.drive(APART, spin_up_seconds=SPIN_UP)
        self.table = []
        with self.drives(*self.members.values(), self.apart) as (_, arguments), \
             self.machine(files={CONF: rules()}, setup=TRACING + "systemctl enable drivekeep\n", append="nohz=off", extra_args=arguments) as machine:
            self.settle(machine)
            nodes = [self.node(machine, serial) for serial in MEMBERS]
            machine.run(ARRAY.format(" ".join(nodes)), 120)
            self.settle(machine)
            machine.run(f"drivekeep standby {by_id(APART)}")
            self.check_spun_down(machine, nodes)
            self.check_more(machine, nodes)
            self.check_together(machine, nodes)
            self.check_two_at_once(machine, nodes)
            self.equal("the drive outside the array is in standby all the time",
                       (self.apart["mode"], self.apart["spin_ups"]), ("standby", 0))
            self.equal("the drive outside the array gets no command in standby",
                       [(e.name, e.comm) for e in self.apart.log.since(self.asleep_since)], [])
        self.show_table(self.table)

    # Results from the drives' logs

    def marks(self):
        return {serial: drive.log.mark() for serial, drive in self.members.items()}

    def since(self, marks, **wanted):
        return {serial: self.members[serial].log.since(mark, **wanted) for serial, mark in marks.items()}

    def spin_ups(self, marks):
        """Returns the begin and end of each spin-up, and the number of spin-ups of each drive."""
        found = {serial: [(e.time, e.time + (e.seconds or SPIN_UP)) for e in entries if e.command in model.READ | model.VERIFY]
                 for serial, entries in self.since(marks, mode=power.SPUN_DOWN).items()}
        return sorted(each for of_drive in found.values() for each in of_drive), {serial: len(each) for serial, each in found.items()}

    def took(self, marks):
        """Returns the time from the first read to the end of the last read, as a multiple of one spin-up."""
        reads = [e for entries in self.since(marks, command=model.READ, origin="kernel").values() for e in entries]
        return (max(e.time + e.seconds for e in reads) - min(e.time for e in reads)) / SPIN_UP

    def text(self, marks):
        return "\n".join(f"{serial} {e.time:.2f} {e.seconds} {e.name} {e.comm} {e.mode}"
                         for serial, entries in self.since(marks).items() for e in entries)

    def modes(self):
        return {drive["mode"] for drive in self.members.values()}

    # Steps of the scenario

    def begin(self, machine, nodes, text):
        """Loads a configuration, puts all members into standby and waits until the tracer watches them."""
        machine.run(f"cat > {CONF} <<'END'\n{text}END\nsystemctl reload drivekeep")
        self.settle(machine)
        machine.run(f"drivekeep standby {' '.join(nodes)}", 120)
        self.equal("all members are in standby", self.modes(), {"standby"})
        machine.wait_until(f"{TRACES} && [ $(grep -o 'host_no==[0-9]*' {TRACE_FILTER} | sort -u | wc -l) -eq {len(MEMBERS) + 1} ]", 60)
        self.told = len(self.wakes(machine))
        return self.marks()

    def wakes(self, machine):
        return json.loads(machine.run("drivekeep wakes --json").stdout)["wakes"]

    def judge_woken(self, machine, marks, *others):
        """Checks that each member was spun up once, and that the daemon logged each wake with the right kind: "read" for the first member,
        and one of `others` for all other members."""
        machine.wait_until(lambda: self.modes() == {"active"}, 120)
        machine.wait_until(lambda: len(self.wakes(machine)) >= self.told + len(MEMBERS), 60)
        self.settle(machine)
        self.equal("each member is spun up once", self.spin_ups(marks)[1], dict.fromkeys(MEMBERS, 1))
        told = sorted((w["serial"], w["kind"], w["process"]) for w in self.wakes(machine)[self.told:])
        self.claim("the daemon names the reading process once for each member",
                   [(each[0], each[2]) for each in told] == [(serial, "dd") for serial in MEMBERS]
                   and told[0][1] == "read" and all(each[1] in others for each in told[1:]), str(told))

    def check_spun_down(self, machine, nodes):
        """Leaps the guest's clock in steps of half a minute, which is the precision of the spin-down times."""
        machine.wait_until(lambda: self.apart["mode"] == "standby", 60)
        self.asleep_since = self.apart.log.mark()
        read = "dd if={} of=/dev/null bs=4096 count=1 iflag=direct status=none"
        machine.run("; ".join(read.format(node) for node in nodes))
        self.leap(machine, IDLE * 0.4, step=STEP)
        machine.run(read.format(nodes[3]))
        (_, begun), passed, downs = self.clocks(machine), 0, {}
        while len(downs) < len(MEMBERS) and passed < 2:
            self.leap(machine, STEP, step=STEP)
            passed = (self.clocks(machine)[1] - begun) / IDLE
            downs |= {serial: passed for serial, drive in self.members.items() if drive["mode"] == "standby" and serial not in downs}
        first, last = min(downs.values(), default=0), max(downs.values(), default=0)
        self.claim("no member is spun down before the last one with I/O has been idle for the configured time", first >= 1, str(downs))
        self.claim("all members are spun down within one poll interval",
                   len(downs) == len(MEMBERS) and last <= 1.6 and last - first <= 0.4, str(downs))
        self.table.append(("spun down: times the time, since the last use of the last one used", f"{first:.2f} to {last:.2f}"))

    def check_more(self, machine, nodes):
        pass

    def check_in_turn(self, machine, nodes):
        marks = self.begin(machine, nodes, rules())
        machine.run(f"{CHUNK}{len(MEMBERS)}", 120)
        took = self.took(marks)
        self.claim("without wake_together a read of all members waits for one spin-up after another",
                   took > len(MEMBERS) - 0.1, f"{took} spin-ups\n{self.text(marks)}")
        self.judge_woken(machine, marks, "read")
        self.table.append(("read of all, without wake_together: spin-ups", f"{took:.2f}"))

    def check_together(self, machine, nodes):
        marks = self.begin(machine, nodes, rules("wake_together = true;"))
        machine.run(f"{CHUNK}{len(MEMBERS)}", 120)
        took = self.took(marks)
        self.claim("with wake_together a read of all members takes at most one and a half spin-ups",
                   took <= 1.5, f"{took} spin-ups\n{self.text(marks)}")
        self.judge_woken(machine, marks, "together")
        self.table.append(("read of all, with wake_together: spin-ups", f"{took:.2f}"))

    def check_two_at_once(self, machine, nodes):
        for count, what in self.reads.items():
            marks = self.begin(machine, nodes, rules("wake_together = true;", "spin_up_at_once = 2;\n"))
            machine.run(f"{CHUNK}{count}", 120)
            machine.wait_until(lambda: self.modes() == {"active"}, 120)
            times = self.spin_ups(marks)[0]
            most = max(sum(begin <= at < end for begin, end in times) for at, _ in times)
            took = (max(end for _, end in times) - times[0][0]) / SPIN_UP
            self.equal(f"with spin_up_at_once = 2 a read of {what} spins up at most two members at a time", most, 2)
            self.claim("all members are active after four to six spin-ups",
                       len(MEMBERS) / 2 <= took <= 6, f"{took} spin-ups\n{self.text(marks)}")
            # A program that reads all members may reach a drive before the service wakes it.
            self.judge_woken(machine, marks, "together", *(["read"] if count > 1 else []))
            self.table.append((f"all awake after a read of {what}, spin_up_at_once = 2: spin-ups", f"{took:.2f}, {most} at a time"))


class TogetherBeside(Together):
    """The checks of `together` also run without wake_together; a program that reads all members does not make more than two spin up at once"""
    rare = True
    reads = {1: "the first", len(MEMBERS): "all"}

    def check_more(self, machine, nodes):
        self.check_in_turn(machine, nodes)
