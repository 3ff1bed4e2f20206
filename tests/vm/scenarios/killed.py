"""The daemon, the workers and the broker are killed at every step of a visit, /run becomes full, and journald stops."""
import json

from striking import Striking

BROKEN = "/run/systemd/system/drivekeep-broker.service.d/broken.conf"
JOURNALD = "systemctl kill --kill-whom=main -s %s systemd-journald"
# Fills journald's queue. Each sender fills its own socket buffer; when a new sender cannot send one message, the queue is full.
FILL = r"""perl -MSocket -e 'for (;;) { my $n = 0; socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;
connect($s, sockaddr_un("/run/systemd/journal/socket")) or die $!; $n++ while send($s, "MESSAGE=full\n", 64); $n or last }'"""


class Killed(Striking):
    """Drives get each setting once, and no note remains, despite SIGKILL of any process in a visit, a full /run or a stuck journald"""

    def run(self):
        with self.struck() as machine:
            for event, blow in (("SIGKILL of workers", self.kill_workers),
                                ("SIGKILL of the daemon", "systemctl kill -s KILL drivekeep"),
                                ("SIGKILL of broker and workers", "systemctl kill -s KILL drivekeep-broker"),
                                ("SIGKILL of daemon, workers, broker", "systemctl kill -s KILL drivekeep drivekeep-broker")):
                self.strike(machine, event, blow)
            self.check_closed(machine)
            self.check_full(machine)
            self.check_journal(machine)

    def kill_workers(self, machine, pids):
        machine.run("kill -KILL " + " ".join(map(str, pids)))

    def check_closed(self, machine):
        """Because of a temporary fault the broker cannot start, and systemd stops the broker's socket too. The service exits, and systemd
        restarts the service and the socket."""
        machine.push(BROKEN, "[Unit]\nStartLimitIntervalSec=60s\nStartLimitBurst=3\n[Service]\nExecStart=\nExecStart=/bin/false\n")
        machine.run("systemctl daemon-reload; systemctl stop drivekeep-broker.service")
        self.want_other_values(machine)
        started = self.sound.log.event("no broker").time
        machine.start("systemctl reload drivekeep")
        machine.wait_until("systemctl is-failed --quiet drivekeep-broker.socket", 60)
        machine.run(f"rm {BROKEN}; systemctl daemon-reload")
        self.hurry(machine, "journalctl -b -u drivekeep -o cat | grep -q 'socket refuses connections'", step=5)
        machine.wait_until(self.have_wanted_values, 120)
        delay = max(e.time for e in self.sound.log.since(0, command=0xE3)) - started
        self.match("the broker temporarily cannot start: the service logs that its socket refuses connections",
                   machine.run("journalctl -b -u drivekeep -o cat").stdout,
                   r"(?m)^drivekeep-broker\.socket refuses connections; drivekeepd exits, and systemd restarts both\.$")
        machine.wait_until(lambda: self.shows_wanted_values(machine), 60, 1)
        self.claim("every drive has its settings when the broker can start again", self.have_wanted_values())
        self.fault("the broker cannot start", "systemd's start limit", len(self.all), "unverifiable/applied", delay)

    def check_full(self, machine):
        self.want_other_values(machine)
        machine.run("dd if=/dev/zero of=/run/fill bs=64k 2>/dev/null; dd if=/dev/zero of=/run/fill2 bs=4k 2>/dev/null; true", 120)
        self.claim("/run is full", machine.run("head -c 65536 /dev/zero > /run/more", check=False).status != 0)
        started = self.sound.log.event("/run full").time
        # systemctl reload would fail: systemd starts no process while /run is full.
        machine.start("drivekeep reload")
        machine.wait_until(self.have_wanted_values, 120)
        delay = max(e.time for e in self.sound.log.since(0, command=0xE3)) - started
        self.claim("/run full: the drives get their settings", True)
        machine.wait_until("! systemctl show -P StatusText drivekeep | grep -q visited", 120)
        # The guest's agent needs /run for the output of commands, so this output goes to /root.
        machine.run("drivekeep status --json > /root/told; rm -f /run/fill /run/fill2 /run/more", check=False)
        told = [s for each in json.loads(machine.run("cat /root/told").stdout)["drives"] for s in each["settings"] if s["name"] == "apm"]
        self.claim("/run full: status shows no outdated value",
                   {s["actual"] for s in told} <= {str(self.want[0])}, str(told))
        machine.run("drivekeep apply", 120)
        machine.wait_until(lambda: self.shows_wanted_values(machine), 60, 1)
        self.claim("with room in /run again, status shows every setting as applied", True)
        self.fault("/run full", "state files", len(self.all), "/".join(sorted({s["verdict"] for s in told})) or "no verdict", delay)

    def check_journal(self, machine):
        """journald is stopped with a full queue, as when its disk hangs: the service keeps working, and journald gets the records later."""
        self.want_other_values(machine)
        machine.run(f"{JOURNALD % 'STOP'}; {FILL}")
        started = self.sound.log.event("journald stuck").time
        machine.run("drivekeep reload; drivekeep apply", 120)
        delay = max(e.time for e in self.sound.log.since(0, command=0xE3)) - started
        self.claim("journald stuck: commands are answered, and the drives have their settings", self.have_wanted_values())
        self.fault("journald stuck", "full queue", len(self.all), "unverifiable/applied", delay)
        machine.run(f"{JOURNALD % 'CONT'}; journalctl --sync", 120)
        told = self.records(machine, DRIVEKEEP_SETTING="apm", DRIVEKEEP_WANTED=str(self.want[0]), DRIVEKEEP_VERDICT="applied")
        self.equal("journald, running again, gets every record that waited",
                   {r["DRIVEKEEP_SERIAL"] for r in told}, {d.serial for d in self.all})
        machine.run(f"{JOURNALD % 'STOP'}; {FILL}; drivekeep apply; systemctl stop drivekeep", 120)
        self.claim_stop(machine, "while journald is stuck")
        machine.run(f"{JOURNALD % 'CONT'}; systemctl start drivekeep")
        self.settle(machine)
