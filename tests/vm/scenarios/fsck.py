"""drivekeep sends no command to a drive while a check of a file system on the drive is queued or running."""
import itertools

from keeping import CONF, Keeping, by_id, ours

FILE = """
drives = ( { match = { transport = "sata"; }; apm = 127; lookahead = true; spindown_time = "20min"; } );
"""

# At its end, each check reads this sector of each drive below the file system. No other program reads the sector, so the read in the
# drive's log marks the end of the check.
MARK = 12345
# Some checks also read this sector at their start.
FIRST_MARK = 12344
PLAIN = "systemd-fsck@dev-disk-by\\x2dlabel-plain.service"


# The script BEFORE runs at the start of each check. This script makes a check run as long as a file exists.
BEFORE = "/root/before-{label}"
CHECK_RUNS = "/run/check-goes-on"
LONG = f"while test -e {CHECK_RUNS}; do sleep 0.2; done\n"


def marked_check(label, *serials):
    """Returns a drop-in for a check, with the script BEFORE and the read of MARK."""
    marks = "".join(f"ExecStartPost=/bin/dd if={by_id(s)} of=/dev/null bs=512 count=1 skip={MARK} iflag=direct\n" for s in serials)
    return f"[Service]\nExecStartPre=/bin/sh {BEFORE.format(label=label)}\n{marks}"


def slow_check(label, seconds, *serials):
    """Returns a script that makes a check last `seconds` longer. The first check after a boot first waits until the visits to all drives
    in `serials` wait for the check."""
    waits, once = f"grep -ls 'WAITING_FOR=.*label-{label}' /run/drivekeep/drives/* | wc -l", f"/run/{label}-was-waited-for"
    return f"until [ -e {once} ]; do sleep 0.2; [ `{waits}` -lt {len(serials)} ] || touch {once}; done; sleep {seconds}\n"


class Fsck(Keeping):
    """The service waits for file-system checks on a plain nofail disk, on LVM over dm-crypt and on md over two drives"""
    core = True

    def run(self):
        cold = {"apm": 128, "lookahead": False, "size_mb": 128}
        names = ("SN-PLAIN", "SN-CRYPT", "SN-MD0", "SN-MD1", "SN-FREE")
        self.ata = {name: self.drive(name, **cold) for name in names}
        with self.drives(*self.ata.values()) as (hba, arguments), \
             self.machine(extra_args=arguments) as machine:
            self.prepare(machine)
            machine.power_off()
            hba.power_cycle()
            marks = {name: drive.log.mark() for name, drive in self.ata.items()}
            machine.power_on()
            machine.wait_boot()
            self.settle(machine)
            self.check_boot(machine, marks)
            self.check_while_visiting(machine)
            self.check_race(machine)
            self.check_fsck_wait(machine)

    def prepare(self, machine):
        """Makes the file systems in the first boot. The second boot is under test."""
        machine.wait_running()
        machine.wait_until(" && ".join(f"test -e {by_id(name)}" for name in self.ata), 90)
        parted = [by_id(name) for name in ("SN-PLAIN", "SN-CRYPT", "SN-MD0", "SN-MD1")]
        machine.run(f"set -e; for node in {' '.join(parted)}; do printf 'label: gpt\\n,,\\n' | sfdisk -q $node; done; udevadm settle")
        machine.run(f"""set -e
            mkfs.ext4 -q -L plain {by_id('SN-PLAIN')}-part1
            echo secret > /etc/key; chmod 600 /etc/key
            cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 {by_id('SN-CRYPT')}-part1 /etc/key
            cryptsetup open --key-file /etc/key {by_id('SN-CRYPT')}-part1 cr0
            vgcreate -qq vg /dev/mapper/cr0; lvcreate -qq -y -n deep -l 50%VG vg; mkfs.ext4 -q -L deep /dev/vg/deep
            mdadm --quiet --create /dev/md0 --run --metadata=1.2 --level=1 --raid-devices=2 \
                {by_id('SN-MD0')}-part1 {by_id('SN-MD1')}-part1
            mkfs.ext4 -q -L mirror /dev/md0
            mdadm --detail --scan > /etc/mdadm/mdadm.conf
            echo "cr0 UUID=$(cryptsetup luksUUID {by_id('SN-CRYPT')}-part1) /etc/key luks,nofail" > /etc/crypttab
            mkdir -p /srv/plain /srv/deep /srv/mirror
            for l in plain deep mirror; do echo "LABEL=$l /srv/$l ext4 nofail 0 2" >> /etc/fstab; done
            sync""", 240)
        for label, seconds, serials in (("plain", 12, ["SN-PLAIN"]), ("deep", 4, ["SN-CRYPT"]),
                                        ("mirror", 4, ["SN-MD0", "SN-MD1"])):
            unit = f"systemd-fsck@dev-disk-by\\x2dlabel-{label}.service"
            machine.push(f"/etc/systemd/system/{unit}.d/marked.conf", marked_check(label, *serials))
            machine.push(BEFORE.format(label=label), slow_check(label, seconds, *serials))
        machine.push(CONF, FILE)
        machine.run("systemctl enable --no-reload drivekeep")

    def check_boot(self, machine, marks):
        for name, unit in (("SN-PLAIN", "plain"), ("SN-CRYPT", "deep"), ("SN-MD0", "mirror"), ("SN-MD1", "mirror")):
            drive = self.ata[name]
            end = [e.index for e in drive.log.since(marks[name]) if e.command in (0x20, 0x24, 0x25, 0xC8) and e.lba == MARK]
            sent = [e.index for e in ours(drive, marks[name])]
            self.equal(f"{name}: the file-system check ran once and left its mark in the log", len(end), 1)
            self.claim(f"{name}: drivekeep sent no command before the check had ended", end and sent and min(sent) > end[0],
                       f"mark at {end}, ours at {sent}")
            self.equal(f"{name}: the drive has its APM level after the check", drive["apm"], 127)
            waited = [(r["DRIVEKEEP_WAITING_KIND"], r["DRIVEKEEP_WAITING_FOR"]) for r in self.records(machine, DRIVEKEEP_SERIAL=name)
                      if "DRIVEKEEP_WAITING_FOR" in r]
            self.claim(f"{name}: the journal names the check for which the visit waited",
                       ("check", f"systemd-fsck@dev-disk-by\\x2dlabel-{unit}.service") in waited, str(waited))
        self.equal("a drive without a file system in fstab gets its APM level too", self.ata["SN-FREE"]["apm"], 127)
        for name in ("plain", "deep", "mirror"):
            machine.wait_until(f"findmnt -n /srv/{name}", 60)
            self.claim(f"{name} is mounted after its check", True)

    def check_while_visiting(self, machine):
        """A check that is queued between two commands of a visit delays the rest of the visit."""
        drive = self.ata["SN-PLAIN"]
        node = self.node(machine, "SN-PLAIN")
        machine.run("umount /srv/plain && systemctl stop 'systemd-fsck@dev-disk-by\\x2dlabel-plain.service'")
        machine.run(f"hdparm -B 200 -A 0 {node}")
        drive.inject("hang", command=0xEF, feature=0xAA, seconds=8)
        mark = drive.log.mark()
        apply = machine.start(f"drivekeep apply {node}")
        drive.log.wait(mark, 60, command=0xEF, feature=0xAA, status=None)
        machine.run("systemctl start --no-block 'systemd-fsck@dev-disk-by\\x2dlabel-plain.service'")
        apply.result(120)
        entries = drive.log.since(mark)
        end = [e.index for e in entries if e.lba == MARK and e.command in (0x20, 0x24, 0x25, 0xC8)]
        apm = [e.index for e in entries if e.command == 0xEF and e.feature == 0x05]
        self.claim("a check queued in mid-visit delays the next setting until the check has ended",
                   len(end) == 1 and len(apm) == 1 and apm[0] > end[0], drive.log)
        self.equal("after a check in mid-visit both settings are applied", (drive["apm"], drive["lookahead"]), (127, True))

    def check_race(self, machine):
        """Queues a check at each command of a visit in turn: the check must run once. If the command hangs, the service learns of the check
        during the hang, and sends the next command after the check. If it does not hang, the guest's scheduler decides how many commands
        overlap with the check."""
        drive, node = self.ata["SN-PLAIN"], self.node(machine, "SN-PLAIN")
        machine.push(BEFORE.format(label="plain"),
                     f"dd if={by_id('SN-PLAIN')} of=/dev/null bs=512 count=1 skip={FIRST_MARK} iflag=direct && sleep 1\n")
        for (command, feature), hang in itertools.product(((0xEC, None), (0xEF, 0xAA), (0xEF, 0x05), (0xE3, None)), (0, 3)):
            wanted = {"command": command} | ({} if feature is None else {"feature": feature})
            machine.run(f"systemctl stop '{PLAIN}'; hdparm -q -B 200 -A 0 {node}")
            if hang:
                drive.inject("hang", **wanted, seconds=hang)
            mark = drive.log.mark()
            apply = machine.start(f"drivekeep apply {node}")
            drive.log.wait(mark, 60, origin="passthrough", **wanted, **({"status": None} if hang else {}))
            machine.run(f"systemctl start --no-block '{PLAIN}'")
            apply.result(120)
            drive.log.wait(mark, 60, lba=MARK)
            begin, end = ([e.index for e in drive.log.since(mark, origin="kernel") if e.lba == lba] for lba in (FIRST_MARK, MARK))
            between = [e.registers() for e in ours(drive, mark) if begin and end and begin[0] < e.index < end[0]]
            queued = f"a check queued at command {command:02X}h{'' if feature is None else f'/{feature:02X}h'}, which takes {hang} s"
            self.equal(f"{queued}: the check runs once", (len(begin), len(end)), (1, 1))
            if hang:
                self.claim(f"{queued}: the check overlaps with at most one command", len(between) <= 1, f"{between}\n{drive.log}")
            self.settle(machine)
            self.equal("after a check queued in mid-visit all settings are applied", (drive["apm"], drive["lookahead"]), (127, True))

    def check_fsck_wait(self, machine):
        drive = self.ata["SN-PLAIN"]
        machine.push(CONF, 'fsck_wait = "5s";\n' + FILE.replace("127", "126"))
        machine.push(BEFORE.format(label="plain"), LONG)
        machine.run(f"systemctl stop '{PLAIN}'; touch {CHECK_RUNS}")
        mark = drive.log.mark()
        machine.run("systemctl start --no-block 'systemd-fsck@dev-disk-by\\x2dlabel-plain.service'; systemctl restart drivekeep")
        machine.wait_until("journalctl -b -o cat DRIVEKEEP_VERDICT=deferred DRIVEKEEP_SERIAL=SN-PLAIN | grep -q .", 60)
        self.equal("a check longer than fsck_wait: the drive gets no command", ours(drive, mark), [])
        self.equal("a check longer than fsck_wait: status shows the setting as deferred",
                   self.status(machine)["SN-PLAIN"]["apm"]["verdict"], "deferred")
        self.claim("a check longer than fsck_wait: the other drives do not wait",
                   machine.wait_until(lambda: self.ata["SN-FREE"]["apm"] == 126, 60))
        asked = machine.run("drivekeep plan", check=False)
        self.equal("plan sends no command while a check runs, and names the check", (asked.status, "systemd-fsck@" in asked.stderr,
                   ours(drive, mark)), (75, True, []))
        applied = machine.run(f"timeout 60 drivekeep apply {self.node(machine, 'SN-PLAIN')}", check=False)
        self.equal("apply exits 75 without waiting for a check longer than fsck_wait", applied.status, 75)
        # Without the bus, PID 1 cannot report the end of the check.
        machine.run(f"systemctl kill --signal=KILL dbus.service; rm {CHECK_RUNS}", check=False)
        drive.log.wait(mark, 90, command=0xEF, feature=0x05)
        self.settle(machine)
        self.equal("the deferred setting is applied when the check has ended",
                   (drive["apm"], self.verdict(machine, "SN-PLAIN", "apm")), (126, "applied"))
