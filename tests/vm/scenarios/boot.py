"""The main task of the service: after a boot, the drives have the settings of the file and no others."""
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
# A dangerous setting, written shortly before a shutdown.
DANGEROUS = f"""drives = ( {{ match = "{by_id('SN-ALL')}"; write_read_verify = "first"; allow_dangerous = true; }} );\n"""

# The first verdicts expected after boot: {serial: {setting: verdict}}.
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
    """After cold boots and a warm reboot every setting is applied, read back and logged, and each drive has the wanted values"""

    def run(self):
        cold = {"apm": 128, "lookahead": False}
        drives = {
            "SN-ALL": self.drive("SN-ALL", acoustic=254, erc=(0, 0), wrv=False, **cold),
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
             self.machine(cold=True, disks=disks, files={CONF: FILE}, setup="systemctl enable drivekeep",
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
        units = "drivekeep.service drivekeep-broker.service drivekeep-broker.socket drivekeep-tracer.service drivekeep-tracer.socket"
        later = machine.run(f"systemctl show -P Before {units}").stdout.split()
        self.equal("no unit of the boot is ordered after the service", {unit for unit in later if "drivekeep" not in unit},
                   {"shutdown.target"})
        self.match("at shutdown the broker, which starts the workers, stops after the service",
                   machine.run("systemctl show -P Before drivekeep-broker.service").stdout, r"\bdrivekeep\.service\b")

    def check_verdicts(self, machine):
        status = self.status(machine)
        self.claim("status has the serial number of the drive behind the mute bridge, where udev has only the dock's",
                   "SN-USBMUTE" in status)
        # The service may learn of a unit attention at boot only after the first visit. It then visits the drive again, and finds all
        # settings in effect.
        first, last = {}, {}
        for record in self.records(machine, SYSLOG_IDENTIFIER="drivekeepd"):
            key = record.get("DRIVEKEEP_SERIAL"), record.get("DRIVEKEEP_SETTING")
            first.setdefault(key, record.get("DRIVEKEEP_VERDICT"))
            last[key] = record.get("DRIVEKEEP_VERDICT")
        for serial, wanted in EXPECTED.items():
            for setting, verdict in wanted.items():
                self.equal(f"{serial}: the first verdict of {setting} is {verdict}", first.get((serial, setting)), verdict)
            self.equal(f"{serial}: status shows the last verdicts of the journal",
                       {s: status.get(serial, {}).get(s, {}).get("verdict") for s in wanted},
                       {s: last.get((serial, s)) for s in wanted})

    def check_by_others(self, machine):
        """Reads the settings independently of drivekeep: by hdparm, smartctl, nvme and sysfs."""
        node = self.node(machine, "SN-ALL")
        for option, pattern in (("-B", r"APM_level\s+= 127"), ("-W", r"write-caching =\s+0"), ("-A", r"look-ahead\s+=\s+1"),
                                ("-M", r"acoustic\s+= 128"), ("-a", r"readahead\s+= 1024")):
            self.match(f"hdparm {option} reads the wanted value", machine.run(f"hdparm {option} {node}").stdout, pattern)
        self.match("smartctl reads error recovery limits of 7 s", machine.run(f"smartctl -l scterc {node}", check=False).stdout,
                   r"Read:\s+70[^$]*Write:\s+70")
        name = node.removeprefix("/dev/")
        self.equal("sysfs: the command timeout is 60 s", machine.run(f"cat /sys/block/{name}/device/timeout").stdout, "60\n")
        self.match("sysfs: the I/O scheduler is none", machine.run(f"cat /sys/block/{name}/queue/scheduler").stdout, r"\[none\]")
        self.equal("sysfs: the kernel knows that the write cache is off",
                   machine.run(f"cat /sys/block/{name}/device/scsi_disk/*/cache_type").stdout, "write through\n")
        self.match("nvme reads the write cache as off", machine.run("nvme get-feature /dev/nvme0 --feature-id=6").stdout, r"value:0+$")
        self.equal("sysfs: the read-ahead of the NVMe drive is 256 KiB",
                   machine.run("cat /sys/block/nvme0n1/queue/read_ahead_kb").stdout, "256\n")
        scsi = machine.run("readlink -f /dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_SCSI1").stdout.strip().removeprefix("/dev/")
        self.equal("sysfs: the queue depth of the SCSI drive is 16",
                   machine.run(f"cat /sys/block/{scsi}/device/queue_depth").stdout, "16\n")
        self.equal("drive model: the standby timer is 20 min", self.ata["SN-ALL"]["standby_seconds"], 1200)
        self.equal("drive model: SN-QUANT rounds the wanted APM level 100 to 127", self.ata["SN-QUANT"]["apm"], 127)
        self.equal("drive model: both USB drives have APM level 127", [self.ata[s]["apm"] for s in ("SN-USBFIX", "SN-USBMUTE")], [127, 127])
        self.equal("drive model: both USB drives have a standby timer of 10 min",
                   [self.ata[s]["standby_seconds"] for s in ("SN-USBFIX", "SN-USBMUTE")],
                   [600, 600])

    def check_log_of_drives(self):
        self.equal("a drive whose rule is \"keep\" for every setting gets no command", ours(self.ata["SN-BARE"]), [])
        commands = ours(self.ata["SN-QUANT"])
        self.claim("a visit that writes two settings sends five commands: CHECK POWER MODE, IDENTIFY, two writes, IDENTIFY",
                   len(commands) == 5,
                   "\n".join(e.registers() for e in commands))
        order = [r[:5] for r in settings(self.ata["SN-ALL"])]
        self.equal("the settings are written in the order of the settings table", order,
                   ["EF/82", "EF/AA", "EF/42", "B0/D6", "B0/D6", "EF/05", "E3/00"])
        opened = [d.serial for d in self.ata.values() if len(d.log.since(comm="ata_id", command=0xEC)) > 2]
        self.equal("the service does not cause udev to probe a drive again", opened, [])

    def check_journal(self, machine):
        found = self.records(machine, DRIVEKEEP_SERIAL="SN-ALL", DRIVEKEEP_SETTING="apm")
        self.equal("the journal has one record for the setting", len(found), 1)
        record = found[0] if found else {}
        self.equal("the record has the wanted, the old and the new value, the verdict and the model",
                   [record.get(f"DRIVEKEEP_{f}") for f in ("WANTED", "BEFORE", "AFTER", "VERDICT", "MODEL")],
                   ["127", "128", "127", "applied", MODEL.replace(" ", "_")])
        self.match("the record names the rule by file and line", record.get("DRIVEKEEP_RULE", ""), rf"^{CONF}:\d+$")
        self.claim("the catalog explains the record",
                   "is applied" in machine.run("journalctl -b -x DRIVEKEEP_SERIAL=SN-ALL DRIVEKEEP_SETTING=apm --no-pager").stdout)
        refused = self.records(machine, DRIVEKEEP_SERIAL="SN-ABORT", DRIVEKEEP_SETTING="apm")
        self.match("the reason of a refusal names the command, the drive's answer and the value \"keep\"",
                   refused[-1].get("DRIVEKEEP_REASON", "") if refused else "",
                   r"SET FEATURES 05h \(aborted command, .*(status|sense).*apm = \"keep\"")
        self.match("systemctl status shows the number of drives and of settings by verdict",
                   machine.run("systemctl show -P StatusText drivekeep").stdout,
                   r"^\d+ drives, \d+ settings kept, 1 adjusted, 1 ignored, 1 refused$")

    def check_command(self, machine):
        anybody = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        self.equal("status needs no privileges, and exits 2 if a setting is not in effect",
                   machine.run(f"{anybody} drivekeep status", check=False).status, 2)
        self.equal("status shows an unsupported setting of a general rule only with -v",
                   [machine.run(f"drivekeep status {by_id(serial)} {option}", check=False).stdout.count("unsupported")
                    for serial, option in (("SN-NOAPM", ""), ("SN-NOAPM", "-v"))], [0, 1])
        self.equal("status exits 0 if a setting of a general rule is unsupported",
                   machine.run(f"drivekeep status {by_id('SN-NOAPM')}", check=False).status, 0)
        self.equal("status exits 0 if all settings are in effect", machine.run("drivekeep status nvme0n1", check=False).status, 0)
        self.equal("status exits 1 for an unknown drive", machine.run("drivekeep status /dev/sdzz", check=False).status, 1)
        marks = {s: d.log.mark() for s, d in self.ata.items()}
        denied = machine.run(f"{anybody} drivekeep apply", check=False)
        self.equal("apply exits 1 for a user other than root", denied.status, 1)
        self.equal("the denied apply sends no command", [s for s, d in self.ata.items() if ours(d, marks[s])], [])
        applied = machine.run("drivekeep apply nvme0n1", check=False)
        self.equal("apply exits 0 and prints unchanged if all settings are in effect",
                   (applied.status, "unchanged" in applied.stdout), (0, True))
        node = self.node(machine, "SN-ALL")
        machine.run(f"hdparm -B 200 {node}")
        mark = self.ata["SN-ALL"].log.mark()
        plan = machine.run(f"drivekeep plan {node}", check=False)
        self.match("plan shows the value to write and the present value", plan.stdout, r"apm\s.*127.*200")
        self.equal("plan writes no setting", settings(self.ata["SN-ALL"], mark), [])
        machine.run(f"drivekeep apply {node}", check=False)
        sent = ["EF/05 7F 000000", "E3/00 F0 000000"]
        self.equal("apply writes only settings that differ or cannot be read back", settings(self.ata["SN-ALL"], mark), sent)
        machine.run("systemctl stop drivekeep")
        self.equal("apply exits 3 while the service is stopped", machine.run("drivekeep apply", check=False).status, 3)
        machine.run("systemctl start drivekeep")
        self.settle(machine)
        self.equal("a restart of the service writes no setting", settings(self.ata["SN-ALL"], mark), sent)

    def present(self, machine, serial):
        """Returns the APM level from the drive, and the read-ahead from sysfs."""
        return self.ata[serial]["apm"], machine.run(f"cat /sys/block/{self.node(machine, serial)[5:]}/queue/read_ahead_kb").stdout.strip()

    def check_warm_reboot(self, machine):
        own_ahead = self.present(machine, "SN-QUANT")[1]
        machine.run(f"drivekeep try {by_id('SN-QUANT')} apm=64 read_ahead_kb=512")
        self.equal("a drive has temporary values before the reboot", self.present(machine, "SN-QUANT"), (64, "512"))
        machine.run(f"drivekeep try {by_id('SN-BARE')} apm=100 read_ahead_kb=1024; drivekeep try --keep {by_id('SN-BARE')}")
        marks = {s: self.ata[s].log.mark() for s in self.ata}
        machine.reboot()
        self.settle(machine)
        self.equal("a reboot ends the temporary values", self.present(machine, "SN-QUANT"), (127, own_ahead))
        self.match("after the reboot try lists no value", machine.run("drivekeep try").stderr, "no values are being tried")
        self.equal("the kept values are in force after a reboot", self.present(machine, "SN-BARE"), (100, "1024"))
        self.match("explain names the file of the kept rule", machine.run(f"drivekeep explain {by_id('SN-BARE')} apm").stdout,
                   rf"^  apm = 100, from {CONF}\.d/90-.*\.conf:\d+$")
        self.equal("a warm reboot, in which drives keep power, leads to one write: the standby timer, which cannot be read back",
                   settings(self.ata["SN-ALL"], marks["SN-ALL"]), ["E3/00 F0 000000"])
        self.equal("a warm reboot leads to no write to a drive without a standby timer",
                   settings(self.ata["SN-NOAPM"], marks["SN-NOAPM"]), [])

    def check_cold_boot(self, machine, hba):
        machine.push(f"{CONF}.d/dangerous.conf", DANGEROUS)
        machine.run("systemctl reload drivekeep")
        self.ata["SN-ALL"].feature("wrv").value = None
        # The service removes the note after ten seconds.
        self.match("a note exists before the shutdown",
                   machine.run(f"drivekeep apply {by_id('SN-ALL')}; cat /var/lib/drivekeep/*", check=False).stdout, "INTENDED")
        machine.power_off()
        hba.power_cycle()
        self.equal("the drive loses its settings without power", self.ata["SN-ALL"]["apm"], 128)
        machine.power_on()
        machine.wait_boot()
        self.settle(machine)
        state = self.ata["SN-ALL"].state()
        self.equal("the drive has all settings again after the next cold boot",
                   [state[k] for k in ("apm", "lookahead", "write_cache", "acoustic", "standby_seconds")], [127, True, False, 128, 1200])
        self.equal("an orderly shutdown within 10 s of a write quarantines no setting",
                   (state["wrv"], [name for name, s in self.status(machine)["SN-ALL"].items() if s["verdict"] == "quarantined"]), (1, []))
