"""`drivekeep bench`: its figures, the commands it sends, and what it must not change."""
import json

import schema
from drives.mechanics import Mechanics
from drives.model import FLUSH, READ, WRITE
from keeping import CALM, CONF
from sampling import BUDGET, Sampling

RESULTS = "/var/lib/drivekeep/bench"
READS = ["sequential_start", "sequential_middle", "sequential_end", "buffered", "random_latency", "random_latency_p99", "random_rate"]
WRITES = ["fsync_latency", "mixed_rate"]
JOBS, JOBS_IN_FILE = 6, 8     # samples per round, without and with --file; one sample yields both figures of random latency
# The 95 % interval of a figure needs six samples. One more round makes up for discarded samples.
ROUNDS = 7
FILE = """drives = ( { match = { serial = "SN-PLAIN"; }; read_ahead_kb = 256; } );
"""
# Bytes per second of the outermost and the innermost zone. The drives that store test files of 128 MiB are fast.
SLOW, FAST = (10e6, 5e6), (40e6, 20e6)


class Measuring(Sampling):
    """`drivekeep bench` measures by reads alone, discards samples that other programs disturbed, and leaves nothing behind"""
    long = True
    # A host that delays the machine delays some samples much more than others.
    real_time = True

    def run(self):
        # The drives are so slow that the host's time for a command is negligible.
        plain, files, left, right, timed = (
            self.drive(f"SN-{name}", size_mb=65536, mechanics=Mechanics(rates, rpm=2400, seek=(3e-3, 36e-3)))
            for name, rates in (("PLAIN", SLOW), ("FILES", FAST), ("LEFT", FAST), ("RIGHT", FAST), ("TIMED", SLOW)))
        with self.drives(plain, files, left, right, timed) as (_, arguments), \
                self.machine(files={CONF: FILE, **self.files}, setup="systemctl enable drivekeep", extra_args=arguments) as machine:
            self.settle(machine)
            # This measurement mostly waits, so other drives can be measured meanwhile.
            first = machine.start(self.bench_command("SN-TIMED", ROUNDS))
            told = self.check_reads(machine, plain)
            self.check_others(machine, plain)
            first = self.figures(json.loads(first.result(1200).stdout))
            self.check_accuracy(timed, first)
            self.check_end(machine, plain)
            timed.mechanics.rates = tuple(0.4 * rate for rate in timed.mechanics.rates)
            second = machine.start(self.bench_command("SN-TIMED", ROUNDS))
            self.check_json(machine, told)
            self.check_file(machine, files)
            self.check_array(machine, left, right)
            self.check_slower(machine, first, self.figures(json.loads(second.result(1200).stdout)))
            self.check_refusals(machine, plain)

    def bench_command(self, drive, rounds, *options):
        return self.sampled(rounds * (JOBS_IN_FILE if options else JOBS), f"drivekeep bench --json {drive} {BUDGET} {' '.join(options)}")

    def bench(self, machine, drive, *options, rounds=2):
        """Returns the measurement that `drivekeep bench` prints and stores. With two rounds, bench may discard one round."""
        return json.loads(machine.run(self.bench_command(drive, rounds, *options), 300, check=False).stdout)

    def newest(self, machine):
        """Returns the name of the newest measurement of SN-PLAIN. A name consists of the drive and the time."""
        return machine.run(f"cd {RESULTS} && ls {self.node(machine, 'SN-PLAIN')[5:]}-*").stdout.split()[-1].removesuffix(".json")

    def figures(self, result):
        return {figure["name"]: figure for figure in result["figures"]}

    def sent(self, drive, mark):
        """Returns the opcodes of all commands that the kernel sent by itself, without pass-through."""
        return {e.command for e in drive.log.since(mark, origin="kernel")}

    def check_reads(self, machine, drive):
        mark = drive.log.mark()
        told = self.bench(machine, "SN-PLAIN")
        figures = self.figures(told)
        self.equal("without --file the measurement has all figures of reads, and no others", list(figures), READS)
        self.equal("no figure has errors", [f["name"] for f in figures.values() if f["errors"]], [])
        self.claim("the kernel sends only reads to the drive", self.sent(drive, mark) <= READ, str(self.sent(drive, mark)))
        self.equal("the measured drive gets no command that changes a setting",
                   [e.registers() for e in drive.log.since(mark) if e.sets], [])
        settings = {s["name"]: s["value"] for s in told["settings"]}
        node = self.node(machine, "SN-PLAIN")
        self.equal("the measurement records look-ahead as hdparm shows it", settings["lookahead"],
                   machine.run(f"hdparm -A {node} | grep -oE '\\((on|off)' | tr -d '('").stdout.strip())
        self.equal("the measurement records read-ahead as the kernel has it", settings["read_ahead_kb"], "256 KiB")
        kept = machine.run(f"ls {RESULTS}; cat {RESULTS}/*").stdout
        self.claim("the printed samples are kept on disk", json.dumps(told["figures"][0]["samples"][0]) in kept, kept[:300])
        self.match("the kernel's I/O statistics count the reads", machine.run(f"cat /sys/block/{node[5:]}/stat").stdout, r"^ *[1-9]")

        before = self.newest(machine)
        machine.run(f"echo 128 > /sys/block/{node[5:]}/queue/read_ahead_kb")
        self.bench(machine, node, rounds=1)
        shown = machine.run(f"drivekeep bench --compare {before} {self.newest(machine)}").stdout
        self.match("--compare shows the difference of two measurements for each figure",
                   shown, r"sequential, middle .*(%|\d+ samples show no difference|too few samples)")
        self.match("--compare shows the setting that changed between two measurements",
                   shown, r"sd., read_ahead_kb: 256 KiB before, 128 KiB after")
        listed = json.loads(machine.run("drivekeep bench --json").stdout)
        self.equal("the output of drivekeep bench  agrees with the schema", schema.errors("bench_list", listed), [])
        self.equal("the list of measurements has the printed median of each figure",
                   [{f["name"]: f["median"] for f in each["figures"]} for each in listed["measurements"] if each["name"] == before],
                   [{name: f["median"] for name, f in figures.items()}])
        self.match("show --plot draws the last week of a drive", machine.run("drivekeep show --plot SN-PLAIN", check=False).stdout,
                   r"^sd.  SN-PLAIN\n +0  .*\n(?:\w{3} [ \d]\d \w{3}  .{48}  .*\n){7}")
        self.match("bench without a drive lists both measurements",
                   machine.run("drivekeep bench").stdout, rf"^{before} .*\n(?:.*\n)*^{self.newest(machine)} ")
        return told

    def check_accuracy(self, drive, figures):
        """The figures agree with the known times of the drive model; the emulated machine adds to these times."""
        model = drive.mechanics
        median = {name: figure["median"] for name, figure in figures.items()}
        self.claim("the interval of each figure contains its median",
                   all(f["low"] <= f["median"] <= f["high"] for f in figures.values()), str(figures))
        self.claim("the outer zone of the drive is the fastest, and the inner zone the slowest",
                   median["sequential_start"] > median["sequential_middle"] > median["sequential_end"], str(median))
        for name, part in (("sequential_start", 0), ("sequential_middle", 0.5), ("sequential_end", 1)):
            self.claim(f"{name} is close to the drive model's rate",
                       0.7 <= median[name] / model.rate(part) <= 1.03, f"{median[name]} of {model.rate(part)}")
        # The median distance between two random places on a disk is 0.29 of its size.
        truth = model.access(0.29)
        self.claim("the latency of a random read is close to the drive model's access time", 0.9 <= median["random_latency"] / truth <= 1.6,
                   f"{median['random_latency']} of {truth}")
        self.claim("the 99th percentile of random reads exceeds the median by at least a quarter of a revolution",
                   median["random_latency_p99"] > median["random_latency"] + 15 / model.rpm,
                   str(median))

    def check_slower(self, machine, before, after):
        told = {f["name"]: f for f in json.loads(machine.run("drivekeep bench --compare --json SN-TIMED").stdout)["figures"]}
        for name in ("sequential_start", "sequential_middle", "sequential_end", "buffered"):
            self.claim(f"the drive has become slower by 60 %: --compare reports a lower {name}",
                       told[name]["differs"] and told[name]["high"] < 1,
                       f"{before[name]}\n{after[name]}\n{told[name]}")
        self.claim("--compare reports an almost unchanged latency of random reads, since these transfer little data",
                   0.8 < told["random_latency"]["factor"] < 1.4, str(told["random_latency"]))

    def check_json(self, machine, told):
        self.equal("the output of drivekeep bench SN-PLAIN agrees with the schema", schema.errors("bench", told), [])
        shown = json.loads(machine.run("drivekeep bench --json --compare SN-PLAIN").stdout)
        self.equal("the output of drivekeep bench --compare SN-PLAIN agrees with the schema", schema.errors("bench_compare", shown), [])

    def check_others(self, machine, drive):
        """A sample is discarded if another program does I/O. bench notices the reads of another program only if they exceed what the
        kernel may read ahead."""
        node = self.node(machine, "SN-PLAIN")
        machine.run(f"systemd-run -q --unit=other sh -c 'while dd if={node} of=/dev/null bs=1M skip=40000 count=1000 iflag=direct; do :; done'")
        figures = self.figures(self.bench(machine, "SN-PLAIN", rounds=1))
        machine.run("systemctl stop other")
        self.equal("while another program reads, every sample is discarded", {name: len(f["samples"]) for name, f in figures.items()},
                   dict.fromkeys(READS, 0))
        self.claim("each figure counts the samples that another program disturbed",
                   all(f["others"] > 0 for f in figures.values()), str(figures))

    def check_end(self, machine, drive):
        before = self.newest(machine)
        mark = drive.log.mark()
        machine.run("systemd-run -q --unit=ended -p StandardOutput=file:/root/ended drivekeep bench SN-PLAIN --budget=10min")
        # bench reads the middle of the drive after it has completed a sample of the start of the drive.
        machine.wait_until(lambda: any(e.lba > drive.sectors // 4 for e in drive.log.since(mark, origin="kernel")))
        machine.run("systemctl kill -s INT ended")
        machine.wait_until("! systemctl is-active -q ended")
        self.match("an interrupted measurement prints the figures so far",
                   machine.run("cat /root/ended").stdout, r"sequential, start \(outer zone\) .*/s")
        self.claim("an interrupted measurement is kept", self.newest(machine) != before, before)
        self.equal("no fio process remains after an interrupted measurement", machine.run("pgrep -x fio", check=False).stdout, "")
        self.match("without fio the error names the missing program",
                   machine.run("PATH=/none /usr/bin/drivekeep bench SN-PLAIN", check=False).stderr,
                   r"drivekeep bench needs fio")

    def check_file(self, machine, drive):
        node = self.node(machine, "SN-FILES")
        machine.run(f"mkfs.ext4 -q -N 1000 -J size=8 -E lazy_itable_init=0,lazy_journal_init=0 {node} && mkdir -p /mnt/files && mount -o {CALM} {node} /mnt/files && sync")
        used = machine.run("df --output=used /mnt/files").stdout
        mark = drive.log.mark()
        figures = self.figures(self.bench(machine, node, "--file=/mnt/files", rounds=1))
        self.equal("with --file the measurement also has the figures of writes", list(figures), READS + WRITES)
        self.claim("the figures of writes come from writes and flushes", all(figures[name]["samples"] for name in WRITES) and
                   self.sent(drive, mark) & WRITE and self.sent(drive, mark) & FLUSH, str(figures))
        self.equal("the temporary file and its space are gone after the measurement",
                   machine.run("ls -A /mnt/files; df --output=used /mnt/files").stdout, "lost+found\n" + used)
        machine.run(f"systemd-run -q --unit=killed drivekeep bench {node} --file=/mnt/files --budget=10min")
        machine.wait_until("ls -l /proc/$(systemctl show -P MainPID killed)/fd | grep -q '/mnt/files/.*deleted'")
        machine.run("systemctl kill -s KILL killed")
        # The killed process may still be in a write; the deleted file takes up space until the process has ended.
        machine.wait_until("systemctl show -P ActiveState killed | grep -qE 'inactive|failed'")
        self.equal("the temporary file and its space are gone after bench was killed",
                   machine.run("sync; ls -A /mnt/files; df --output=used /mnt/files").stdout, "lost+found\n" + used)
        self.match("--file rejects a directory on another drive", machine.run(f"drivekeep bench {node} --file=/root", check=False).stderr,
                   r"'/root' is not on sd. alone")

    def check_array(self, machine, left, right):
        nodes = self.node(machine, "SN-LEFT"), self.node(machine, "SN-RIGHT")
        machine.run(f"mdadm --create /dev/md/pair --run --level=1 --raid-devices=2 --assume-clean {' '.join(nodes)} && udevadm settle")
        # A file system on a partition of the array belongs to the array, not to one of its disks.
        machine.run("echo ';' | sfdisk -q /dev/md/pair; udevadm settle; "
                    "mkfs.ext4 -q -N 1000 -J size=8 -E lazy_itable_init=0,lazy_journal_init=0 /dev/md/pair1 && "
                    "mkdir -p /mnt/pair && mount -o " + CALM + " /dev/md/pair1 /mnt/pair")
        self.equal("--file accepts a directory on a partition of the array",
                   list(self.figures(self.bench(machine, "/dev/md/pair", "--file=/mnt/pair", rounds=1))), READS + WRITES)
        self.match("--file rejects a directory on the array for one of its disks",
                   machine.run(f"drivekeep bench {nodes[0]} --file=/mnt/pair", check=False).stderr,
                   r"'/mnt/pair' is not on sd. alone")
        # The kernel writes the superblock some time after the last write, but at once when the array becomes read-only.
        machine.run("umount /mnt/pair && sync && mdadm --readonly /dev/md/pair")
        marks = left.log.mark(), right.log.mark()
        told = self.bench(machine, "/dev/md/pair")
        self.claim("each figure of an array has samples", all(f["samples"] for f in self.figures(told).values()), str(told))
        self.claim("measuring an array sends only reads to its disks", all(self.sent(d, m) <= READ for d, m in zip((left, right), marks)),
                   str([self.sent(d, m) for d, m in zip((left, right), marks)]))
        self.equal("the measurement of an array records the settings of its disks", {s["drive"] for s in told["settings"]},
                   {told["drive"], *(node[5:] for node in nodes)})
        action = f"/sys/block/{told['drive']}/md/sync_action"
        machine.run(f"mdadm --readwrite /dev/md/pair; echo 1 > /proc/sys/dev/raid/speed_limit_max; echo check > {action}")
        for name in ("/dev/md/pair", nodes[0]):
            self.match(f"bench does not measure {name} during a check of the array",
                       machine.run(f"drivekeep bench {name}", check=False).stderr,
                       r"md\d+ is busy with 'check'")
        machine.run(f"echo idle > {action}; mdadm --stop /dev/md/pair")

    def check_refusals(self, machine, drive):
        node = self.node(machine, "SN-PLAIN")
        machine.run(f"hdparm -y {node}")
        spin_ups, mark = drive["spin_ups"], drive.log.mark()
        done = machine.run(f"drivekeep bench {node}", check=False)
        self.match("bench does not measure a drive in standby", done.stderr, r"sd. is not measured: sd. is in a low-power state")
        self.equal("bench exits with 1 for a drive in standby", done.status, 1)
        self.equal("the drive gets only CHECK POWER MODE and stays in standby",
                   ({e.name for e in drive.log.since(mark)}, drive["mode"], drive["spin_ups"]),
                   ({"CHECK POWER MODE"}, "standby", spin_ups))
