"""The drives of an array are woken together, so many at a time as the file says, and spin down together.

All is judged by the drives' own logs. How long a read of all members took is a multiple of one spin-up, which is long enough that the
emulation of the rest counts for little.
"""
import json

from drives import model, power
from keeping import CONF, TRACE_FILTER, TRACES, TRACING, Keeping, by_id

SPIN_UP = 6     # seconds
MEMBERS = [f"SN-MEMBER{number}" for number in range(8)]
APART = "SN-APART"
IDLE = 600      # seconds without use
STEP = IDLE // 20
CHUNK = "dd if=/dev/md0 of=/dev/null bs=64k iflag=direct status=none count="

ARRAY = f"mdadm -q --create /dev/md0 --run --level=0 --chunk=64 --raid-devices={len(MEMBERS)} --metadata=1.2 {{}}; udevadm settle"


def rules(wake_together="", option=""):
    """The drive that is in no array has the same."""
    return (f'{option}drives = ( {{ match = {{ transport = "sata"; }}; spindown_time = "10min"; spindown_by = "service"; '
            f'{wake_together} }} );\n')


class Together(Keeping):
    """Eight drives of an array: spun down together, and woken together, or two at a time"""
    reads = {1: "the first"}    # of them, where two spin up at a time

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
            self.equal("the drive that is in no array with them has slept all the time", (self.apart["mode"], self.apart["spin_ups"]), ("standby", 0))
            self.equal("and was sent nothing since", [(e.name, e.comm) for e in self.apart.log.since(self.asleep_since)], [])
        self.show_table(self.table)

    # What the drives' logs say

    def marks(self):
        return {serial: drive.log.mark() for serial, drive in self.members.items()}

    def since(self, marks, **wanted):
        return {serial: self.members[serial].log.since(mark, **wanted) for serial, mark in marks.items()}

    def spin_ups(self, marks):
        """When each began and when it ended, and how many of them each drive had."""
        found = {serial: [(e.time, e.time + (e.seconds or SPIN_UP)) for e in entries if e.command in model.READ | model.VERIFY]
                 for serial, entries in self.since(marks, mode=power.SPUN_DOWN).items()}
        return sorted(each for of_drive in found.values() for each in of_drive), {serial: len(each) for serial, each in found.items()}

    def took(self, marks):
        """From the first read to the end of the last one, as a multiple of one spin-up."""
        reads = [e for entries in self.since(marks, command=model.READ, origin="kernel").values() for e in entries]
        return (max(e.time + e.seconds for e in reads) - min(e.time for e in reads)) / SPIN_UP

    def text(self, marks):
        return "\n".join(f"{serial} {e.time:.2f} {e.seconds} {e.name} {e.comm} {e.mode}"
                         for serial, entries in self.since(marks).items() for e in entries)

    def modes(self):
        return {drive["mode"] for drive in self.members.values()}

    # The parts

    def begin(self, machine, nodes, text):
        """With this file all of them sleep, and are watched."""
        machine.run(f"cat > {CONF} <<'END'\n{text}END\nsystemctl reload drivekeep")
        self.settle(machine)
        machine.run(f"drivekeep standby {' '.join(nodes)}", 120)
        self.equal("all members sleep", self.modes(), {"standby"})
        machine.wait_until(f"{TRACES} && [ $(grep -o 'host_no==[0-9]*' {TRACE_FILTER} | sort -u | wc -l) -eq {len(MEMBERS) + 1} ]", 60)
        self.told = len(self.wakes(machine))
        return self.marks()

    def wakes(self, machine):
        return json.loads(machine.run("drivekeep wakes --json").stdout)["wakes"]

    def judge_woken(self, machine, marks, *others):
        """Each once, and the daemon tells so: the first was read, and how the others were woken is one of these."""
        machine.wait_until(lambda: self.modes() == {"active"}, 120)
        machine.wait_until(lambda: len(self.wakes(machine)) >= self.told + len(MEMBERS), 60)
        self.settle(machine)
        self.equal("each drive was spun up once", self.spin_ups(marks)[1], dict.fromkeys(MEMBERS, 1))
        told = sorted((w["serial"], w["kind"], w["process"]) for w in self.wakes(machine)[self.told:])
        self.claim("and of each the process that read is told, once", [(each[0], each[2]) for each in told] == [(serial, "dd") for serial in MEMBERS]
                   and told[0][1] == "read" and all(each[1] in others for each in told[1:]), str(told))

    def check_spun_down(self, machine, nodes):
        """By the guest's clock, of which half a minute passes at once again and again: when, each is known as well as that."""
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
        self.claim("none is put into standby before the one used last was not used for its time", first >= 1, str(downs))
        self.claim("and then all are, within one look", len(downs) == len(MEMBERS) and last <= 1.6 and last - first <= 0.4, str(downs))
        self.table.append(("spun down: times the time, since the last use of the last one used", f"{first:.2f} to {last:.2f}"))

    def check_more(self, machine, nodes):
        pass

    def check_in_turn(self, machine, nodes):
        marks = self.begin(machine, nodes, rules())
        machine.run(f"{CHUNK}{len(MEMBERS)}", 120)
        took = self.took(marks)
        self.claim("without wake_together a read of all members waits for each in turn", took > len(MEMBERS) - 0.1, f"{took} spin-ups\n{self.text(marks)}")
        self.judge_woken(machine, marks, "read")
        self.table.append(("read of all, without wake_together: spin-ups", f"{took:.2f}"))

    def check_together(self, machine, nodes):
        marks = self.begin(machine, nodes, rules("wake_together = true;"))
        machine.run(f"{CHUNK}{len(MEMBERS)}", 120)
        took = self.took(marks)
        self.claim("with wake_together it takes one spin-up and a half at most", took <= 1.5, f"{took} spin-ups\n{self.text(marks)}")
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
            self.equal(f"with spin_up_at_once = 2, a read of {what}: no more than two spin up at a time", most, 2)
            self.claim("and all are awake after four to six spin-ups", len(MEMBERS) / 2 <= took <= 6, f"{took} spin-ups\n{self.text(marks)}")
            # Who goes on reading may come to a drive before the service does.
            self.judge_woken(machine, marks, "together", *(["read"] if count > 1 else []))
            self.table.append((f"all awake after a read of {what}, spin_up_at_once = 2: spin-ups", f"{took:.2f}, {most} at a time"))


class TogetherBeside(Together):
    """The same, beside what it takes without; and who reads all goes on in time, so that two at a time are no more"""
    rare = True
    reads = {1: "the first", len(MEMBERS): "all"}

    def check_more(self, machine, nodes):
        self.check_in_turn(machine, nodes)
