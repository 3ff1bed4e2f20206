"""The main job: what the file says is in the drives after a boot, and nothing else is."""
from keeping import CONF, MODEL, Keeping, by_id, ours, settings
from machine import nvme_disk, scsi_disk, virtio_disk

FILE = f"""
drives = (
  {{ match = {{ transport = "sata"; model = "{MODEL}"; }};
    apm = 127; lookahead = true; }},
  {{ match = "{by_id('SN-ALL')}";
    spindown_time = "20min"; write_cache = off_; acoustic_management = 128; error_recovery = "7s";
    read_ahead_kb = 512; timeout = "60s"; scheduler = "none"; }},
  {{ match = {{ serial = "SN-QUANT"; }};  apm = 100; }},
  {{ match = {{ serial = "SN-BARE"; }};   apm = "keep"; lookahead = "keep"; }},
  {{ match = {{ transport = "usb"; }};    apm = 127; spindown_time = "10min"; }},
  {{ match = {{ transport = "nvme"; }};   write_cache = "off"; read_ahead_sect = 512; }},
  {{ match = {{ transport = "scsi"; }};   queue_depth = 16; timeout = "1min"; apm = 127; }},
  {{ match = {{ transport = "virtio"; }}; read_ahead_kb = "256KiB"; }}
);
""".replace("off_", '"off"')

# What each drive is, and what must come of it: {setting: (verdict, ...)}.
EXPECTED = {
    "SN-ALL": {"apm": "applied", "lookahead": "applied", "spindown_time": "unverifiable", "write_cache": "applied",
               "acoustic_management": "applied", "error_recovery": "applied", "read_ahead_kb": "applied",
               "timeout": "applied"},
    "SN-QUANT": {"apm": "adjusted", "lookahead": "applied"},
    "SN-ABORT": {"apm": "refused", "lookahead": "applied"},
    "SN-IGNORE": {"apm": "ignored", "lookahead": "applied"},
    "SN-NOAPM": {"apm": "unsupported", "lookahead": "applied"},
    "SN-USBFIX": {"apm": "applied", "spindown_time": "unverifiable"},
    "SN-USBMUTE": {"apm": "applied", "spindown_time": "unverifiable"},
    "NVME1": {"write_cache": "applied", "read_ahead_kb": "applied"},
    "SCSI1": {"queue_depth": "applied", "timeout": "applied", "apm": "unsupported"},
    "VIRTIO1": {"read_ahead_kb": "applied"},
}


class Boot(Keeping):
    """Cold boot, warm reboot, cold boot: every setting applied, read back and told; the drives agree"""

    def run(self):
        cold = {"apm": 128, "lookahead": False}
        drives = {
            "SN-ALL": self.drive("SN-ALL", acoustic=254, erc=(0, 0), **cold),
            "SN-QUANT": self.drive("SN-QUANT", apm_quantum=[1, 64, 127, 254], **cold),
            "SN-ABORT": self.drive("SN-ABORT", **cold),
            "SN-IGNORE": self.drive("SN-IGNORE", **cold),
            "SN-NOAPM": self.drive("SN-NOAPM", apm=None, lookahead=False),
            "SN-BARE": self.drive("SN-BARE", **cold),
        }
        usb = {"SN-USBFIX": self.drive("SN-USBFIX", **cold), "SN-USBMUTE": self.drive("SN-USBMUTE", **cold)}
        drives["SN-ABORT"].inject("abort", command=0xEF, feature=0x05, times=None)
        drives["SN-IGNORE"].inject("ignore", command=0xEF, feature=0x05, times=None)
        self.ata = {**drives, **usb}

        disks = [nvme_disk("NVME1"), scsi_disk("SCSI1"), virtio_disk("VIRTIO1")]
        bridges = [(usb["SN-USBFIX"], {"sense": "fixed"}), (usb["SN-USBMUTE"], {"sense": "none", "pid": 0x0579})]
        with self.drives(*drives.values(), usb=bridges) as (hba, arguments), \
             self.machine(disks=disks, files={CONF: FILE}, setup="systemctl enable drivekeep",
                          extra_args=arguments) as machine:
            self.settle(machine)
            self.check_order(machine)
            self.check_verdicts(machine)
            self.check_by_others(machine)
            self.check_log_of_drives()
            self.check_journal(machine)
            self.check_command(machine)
            self.check_warm_reboot(machine)
            self.check_cold_boot(machine, hba)

    def check_order(self, machine):
        units = "drivekeep.service drivekeep-broker.service drivekeep-broker.socket"
        later = machine.run(f"systemctl show -P Before {units}").stdout.split()
        self.equal("nothing of the boot waits for the service", {unit for unit in later if "drivekeep" not in unit},
                   {"shutdown.target"})
        self.match("at shutdown the process that makes workers goes last",
                   machine.run("systemctl show -P Before drivekeep-broker.service").stdout, r"\bdrivekeep\.service\b")
        chain = machine.run("systemd-analyze critical-chain --no-pager multi-user.target").stdout
        self.equal("and it is not on the critical chain", [line for line in chain.splitlines() if "drivekeep" in line], [])

    def check_verdicts(self, machine):
        status = self.status(machine)
        self.claim("the drive behind the mute bridge, of which udev knows the dock only, is known", "SN-USBMUTE" in status)
        # Of a unit attention from before the first visit the service may hear after it, and looks once more: then all is as wanted.
        first, last = {}, {}
        for record in self.records(machine, SYSLOG_IDENTIFIER="drivekeepd"):
            key = record.get("DRIVEKEEP_SERIAL"), record.get("DRIVEKEEP_SETTING")
            first.setdefault(key, record.get("DRIVEKEEP_VERDICT"))
            last[key] = record.get("DRIVEKEEP_VERDICT")
        for serial, wanted in EXPECTED.items():
            for setting, verdict in wanted.items():
                self.equal(f"{serial}: {setting}: {verdict}", first.get((serial, setting)), verdict)
            self.equal(f"{serial}: status says what the journal says", {s: status.get(serial, {}).get(s, {}).get("verdict") for s in wanted},
                       {s: last.get((serial, s)) for s in wanted})

    def check_by_others(self, machine):
        """hdparm, smartctl, nvme and sysfs: none of them is ours."""
        node = self.node(machine, "SN-ALL")
        for option, pattern in (("-B", r"APM_level\s+= 127"), ("-W", r"write-caching =\s+0"), ("-A", r"look-ahead\s+=\s+1"),
                                ("-M", r"acoustic\s+= 128"), ("-a", r"readahead\s+= 1024")):
            self.match(f"hdparm {option} agrees", machine.run(f"hdparm {option} {node}").stdout, pattern)
        self.match("smartctl reads the error recovery limits", machine.run(f"smartctl -l scterc {node}", check=False).stdout,
                   r"Read:\s+70[^$]*Write:\s+70")
        name = node.removeprefix("/dev/")
        self.equal("sysfs: timeout", machine.run(f"cat /sys/block/{name}/device/timeout").stdout, "60\n")
        self.match("sysfs: scheduler", machine.run(f"cat /sys/block/{name}/queue/scheduler").stdout, r"\[none\]")
        self.equal("the kernel knows that the cache is off",
                   machine.run(f"cat /sys/block/{name}/device/scsi_disk/*/cache_type").stdout, "write through\n")
        self.match("nvme reads the write cache off", machine.run("nvme get-feature /dev/nvme0 --feature-id=6").stdout, r"value:0+$")
        self.equal("sysfs: read-ahead of the NVMe drive", machine.run("cat /sys/block/nvme0n1/queue/read_ahead_kb").stdout, "256\n")
        scsi = machine.run("readlink -f /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SCSI1").stdout.strip().removeprefix("/dev/")
        self.equal("sysfs: queue depth of the SCSI drive", machine.run(f"cat /sys/block/{scsi}/device/queue_depth").stdout, "16\n")
        self.equal("the drive's own word: standby timer of 20 min", self.ata["SN-ALL"]["standby_seconds"], 1200)
        self.equal("the drive's own word: APM", self.ata["SN-QUANT"]["apm"], 127)
        self.equal("the USB drives' own word: APM", [self.ata[s]["apm"] for s in ("SN-USBFIX", "SN-USBMUTE")], [127, 127])
        self.equal("the USB drives' own word: timer", [self.ata[s]["standby_seconds"] for s in ("SN-USBFIX", "SN-USBMUTE")],
                   [600, 600])

    def check_log_of_drives(self):
        self.equal("a drive that the file cancels everything for got no command", ours(self.ata["SN-BARE"]), [])
        commands = ours(self.ata["SN-QUANT"])
        self.claim("two settings cost five commands: power mode, IDENTIFY, two, IDENTIFY", len(commands) == 5,
                   "\n".join(e.registers() for e in commands))
        order = [r[:5] for r in settings(self.ata["SN-ALL"])]
        self.equal("the rows' order of writing", order,
                   ["EF/82", "EF/AA", "EF/42", "B0/D6", "B0/D6", "EF/05", "E3/00"])
        opened = [d.serial for d in self.ata.values() if len(d.log.since(comm="ata_id", command=0xEC)) > 2]
        self.equal("no drive was probed again by udev because of us", opened, [])

    def check_journal(self, machine):
        found = self.records(machine, DRIVEKEEP_SERIAL="SN-ALL", DRIVEKEEP_SETTING="apm")
        self.equal("one record per setting", len(found), 1)
        record = found[0] if found else {}
        self.equal("its fields", [record.get(f"DRIVEKEEP_{f}") for f in ("WANTED", "BEFORE", "AFTER", "VERDICT", "MODEL")],
                   ["127", "128", "127", "applied", MODEL.replace(" ", "_")])
        self.match("its rule is a place in the file", record.get("DRIVEKEEP_RULE", ""), rf"^{CONF}:\d+$")
        self.claim("its message ID is explained by the catalog",
                   "is applied" in machine.run("journalctl -b -x DRIVEKEEP_SERIAL=SN-ALL DRIVEKEEP_SETTING=apm --no-pager").stdout)
        refused = self.records(machine, DRIVEKEEP_SERIAL="SN-ABORT", DRIVEKEEP_SETTING="apm")
        self.match("a refusal names the command and what came back", refused[-1].get("DRIVEKEEP_REASON", "") if refused else "",
                   r"SET FEATURES 05h \(aborted command, .*(status|sense).*apm = \"keep\"")
        self.match("systemctl status tells the sum", machine.run("systemctl show -P StatusText drivekeep").stdout,
                   r"^\d+ drives, \d+ settings kept, 1 adjusted, 1 ignored, 1 refused$")

    def check_command(self, machine):
        anybody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        self.equal("anybody may ask for the status; 2 says that something is not as wanted",
                   machine.run(f"{anybody} drivekeep status", check=False).status, 2)
        self.equal("what a drive does not have, and a rule for a class of drives asks for, is no failure",
                   [machine.run(f"drivekeep status {by_id(serial)} {option}", check=False).stdout.count("unsupported")
                    for serial, option in (("SN-NOAPM", ""), ("SN-NOAPM", "-v"))], [0, 1])
        self.equal("and 0 says so", machine.run(f"drivekeep status {by_id('SN-NOAPM')}", check=False).status, 0)
        self.equal("0 says that all is as wanted", machine.run("drivekeep status nvme0n1", check=False).status, 0)
        self.equal("an unknown drive is bad input", machine.run("drivekeep status /dev/sdzz", check=False).status, 1)
        marks = {s: d.log.mark() for s, d in self.ata.items()}
        denied = machine.run(f"{anybody} drivekeep apply", check=False)
        self.equal("only root may make it act", denied.status, 1)
        self.equal("and nothing was sent", [s for s, d in self.ata.items() if ours(d, marks[s])], [])
        applied = machine.run("drivekeep apply nvme0n1", check=False)
        self.equal("apply of a drive that is as wanted", (applied.status, "unchanged" in applied.stdout), (0, True))
        node = self.node(machine, "SN-ALL")
        machine.run(f"hdparm -B 200 {node}")
        mark = self.ata["SN-ALL"].log.mark()
        plan = machine.run(f"drivekeep plan {node}", check=False)
        self.match("plan tells what would be written", plan.stdout, r"apm\s.*127.*200")
        self.equal("and writes nothing", settings(self.ata["SN-ALL"], mark), [])
        machine.run(f"drivekeep apply {node}", check=False)
        sent = ["EF/05 7F 000000", "E3/00 F0 000000"]
        self.equal("apply writes what differs and what cannot be read, and only that", settings(self.ata["SN-ALL"], mark), sent)
        machine.run("systemctl stop drivekeep")
        self.equal("without the service apply says so: 3", machine.run("drivekeep apply", check=False).status, 3)
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        self.equal("a restart of the service sends nothing again", settings(self.ata["SN-ALL"], mark), sent)

    def check_warm_reboot(self, machine):
        marks = {s: self.ata[s].log.mark() for s in self.ata}
        machine.reboot()
        self.settle(machine)
        self.equal("after a warm reboot, which the drives do not notice, only the timer is sent again: it cannot be read",
                   settings(self.ata["SN-ALL"], marks["SN-ALL"]), ["E3/00 F0 000000"])
        self.equal("and that is all on a drive that is as wanted", settings(self.ata["SN-NOAPM"], marks["SN-NOAPM"]), [])

    def check_cold_boot(self, machine, hba):
        machine.power_off()
        hba.power_cycle()
        self.equal("without power the drive forgets", self.ata["SN-ALL"]["apm"], 128)
        machine.power_on()
        machine.wait_boot()
        self.settle(machine)
        state = self.ata["SN-ALL"].state()
        self.equal("after the next cold boot it has everything again",
                   [state[k] for k in ("apm", "lookahead", "write_cache", "acoustic", "standby_seconds")], [127, True, False, 128, 1200])
