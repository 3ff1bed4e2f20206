"""Checks of `drivekeep report`: the report has no serial number, its commands only read, and --try changes no value."""
import json
import re

from keeping import ours

SET_FEATURES_OF_NVME = 0x09
SET_FEATURES, MODE_SELECT_10 = 0xEF, 0x55
# Programs that print the values of a drive, and of the kernel for the drive. Some of the programs are for other kinds of drives.
VALUES = ("hdparm -I -A -B -M -W {node}", "smartctl -d sat -l scterc {node}", "sdparm --all --long {node}", "sdparm --page=po --long {node}",
          *(f"nvme get-feature {{node}} -n {namespace} -f {number}" for namespace, number in ((0, 4), (1, 5), (0, 6), (0, 8), (0, 16))),
          "cd /sys/block/$(basename $(readlink -f {node})) && grep -rs . queue; grep -s . device/timeout device/queue_depth device/scsi_disk/*/*")
# Programs that print serial numbers and WWNs of a drive, and the patterns of these in the output.
SERIALS = (("udevadm info --query=property {node}", r"^ID_(?:\w+_)?SERIAL(?:_SHORT)?=(\S{4,})$"),
           ("lsblk -dno SERIAL {node}", r"^(\S{4,})\s*$"),
           ("hdparm -I {node}", r"Serial Number: +(\S+)"),
           ("sg_vpd -p sn {node}", r"serial number: +(\S+)"),
           ("nvme id-ctrl {node}", r"^sn +: +(\S+)"))
WWNS = (("lsblk -dno WWN {node}", r"(?:0x|eui\.)([0-9a-f]{16}|[0-9a-f]{32})\b"),
        ("hdparm -I {node}", r"Device Identifier: +([0-9a-f]{16})"),
        ("sg_vpd -p di {node}", r"0x([0-9a-f]{16})\b"),
        ("nvme id-ns -n 1 {node}", r"(?:eui64|nguid) +: +(?!0+$)([0-9a-f]+)$"))


def swapped(data):
    return bytes(data[i ^ 1] if i ^ 1 < len(data) else data[i] for i in range(len(data)))


def blocks(text):
    """Yields the data of each command of the report."""
    data = None
    for line in text.splitlines():
        if m := re.match(r"  (?:data|sent): (\d+)$", line):
            data = bytearray(int(m[1]))
        elif m := re.match(r"    ([0-9a-f]+):((?: [0-9a-f]{2})+)$", line):
            start, found = int(m[1], 16), bytes.fromhex(m[2])
            data[start:start + len(found)] = found
        elif data is not None:
            yield bytes(data)
            data = None
    if data is not None:
        yield bytes(data)


class Reporting:
    """Part of a scenario of class Keeping."""

    @staticmethod
    def printed(machine, link, programs):
        return {found for program, pattern in programs
                for found in re.findall(pattern, machine.run(program.format(node=link), check=False).stdout, re.M)}

    @staticmethod
    def sent_for_report(device, mark):
        """Returns the commands of `drivekeep report`. The logs of NVMe controllers and of USB disks have no names of programs."""
        if "nvme" in device.backends:
            return device.model.log.since(mark, origin="kernel")
        return [e for e in ours(device.model, mark) if e.comm in ("drivekeep", "")]

    def check_report(self, machine, name, device):
        """Makes a report of a device of class rowtable.Device, checks it, and returns its text."""
        mark = device.model.log.mark() if device.model else 0
        text = machine.run(f"drivekeep report {device.link}", 180).stdout
        if device.model:
            sent = self.sent_for_report(device, mark)
            writes = [e.registers() for e in sent if (e.command == SET_FEATURES_OF_NVME if "nvme" in device.backends else e.sets)]
            self.equal(f"{name}: the commands for a report only read", (writes, bool(sent)), ([], True))

        serials, wwns = self.printed(machine, device.link, SERIALS), self.printed(machine, device.link, WWNS)
        self.claim(f"{name}: other programs print a serial number", serials)
        found = {serial for serial in serials if serial in text} | {wwn for wwn in wwns if wwn in text.lower()}
        wanted = {serial: serial.encode() for serial in serials} | {wwn: bytes.fromhex(wwn) for wwn in wwns}
        for data in blocks(text):
            found |= {secret for secret, code in wanted.items() if code in data or code in swapped(data)}
        self.equal(f"{name}: the report has neither serial number nor WWN, in text or in data", found, set())
        self.claim(f"{name}: the report has the value of a setting", re.search(r"^setting: \w+; [a-z-]+; yes; [^-]", text, re.M), text)
        return text

    @staticmethod
    def values(machine, device):
        return [machine.run(program.format(node=device.link), check=False).stdout for program in VALUES]

    @staticmethod
    def written(device, mark):
        """Returns the commands that write settings: (feature, count) of SET FEATURES, (SCT action, function, code), the mode page of
        MODE SELECT(10), and the number of an NVMe feature. Other commands are returned as they are, and so are commands that save."""
        found = set()
        if "nvme" in device.backends:
            for e in device.model.log.since(mark, command=SET_FEATURES_OF_NVME):
                found.add("saved" if e.cdb[43] & 0x80 else e.feature)
        else:
            for e in ours(device.model, mark):
                if e.sets and e.cdb:
                    found.add(e.data[8] & 0x3f if e.command == MODE_SELECT_10 and not e.cdb[1] & 1 else e.cdb.hex())
                elif e.sets and e.command == SET_FEATURES:
                    found.add((e.feature, e.count))
                elif e.sets:
                    found.add(tuple(e.data[0:6:2]))
        return found

    def check_try(self, machine, name, device, sent=None, verdicts=("applied", "unsupported")):
        """Makes the service write the values of a device again. `sent`: the commands that write, as returned by written(). None: the test
        does not know the device's log. `verdicts`: the permitted verdicts. Returns {setting: verdict}."""
        before, state = self.values(machine, device), device.model and device.model.state()
        mark = device.model.log.mark() if device.model else 0
        text = machine.run(f"drivekeep report --try {device.link}", 180).stdout
        tried = re.findall(r"^try: (\w+); ([^;]+); ([^;]+); ([^;]+); ", text, re.M)
        known = dict(re.findall(r"^setting: (\w+); (?:ata|scsi-mode|nvme); yes; ([^;]+);", text, re.M))
        self.claim(f"{name}: values are written again", tried, text)
        self.equal(f"{name}: the values are those of the report", [value[:2] for value in tried], [(value[0], known[value[0]]) for value in tried])
        self.equal(f"{name}: other verdicts than {', '.join(verdicts)}", [value for value in tried if value[2] not in verdicts], [])
        self.equal(f"{name}: applied values that were read back as others", [v for v in tried if v[2] == "applied" and v[1] != v[3]], [])
        self.equal(f"{name}: other programs print the same values as before", self.values(machine, device), before)
        if device.model:
            self.equal(f"{name}: the drive has the same state as before", device.model.state(), state)
        if sent is not None:
            self.equal(f"{name}: the drive gets these commands that write, and no others", self.written(device, mark), sent)
        return {value[0]: value[2] for value in tried}

    def check_nothing_left(self, machine, before):
        status = machine.run("drivekeep status --verbose --json").stdout
        self.equal("after --try, 'drivekeep status' shows the same settings as before",
                   [(d["name"], d["settings"]) for d in json.loads(status)["drives"]], before)
        self.match("after --try, no value is being tried", machine.run("drivekeep try", check=False).stderr, "no values are being tried")
        self.equal("after --try, there is no file with temporary values",
                   machine.run("ls -A /run/drivekeep/drives | grep temporary", check=False).stdout, "")

    def check_tries(self, machine, devices):
        status = json.loads(machine.run("drivekeep status --verbose --json").stdout)
        before = [(d["name"], d["settings"]) for d in status["drives"]]
        sata = {(0x05, 0x80), (0x42, 0xfe), (0x90, 0x06), (0x63, 0x02), (0xc1, 0x00), (0xaa, 0x00), (0x02, 0x00), (3, 1, 1), (3, 1, 2), (4, 1, 2)}
        self.check_try(machine, "sata", devices["sata"], sata)
        self.check_try(machine, "usb", devices["usb"], {(0x05, 0x80), (0x10, 0x06), (0xaa, 0x00), (0x02, 0x00), (3, 1, 1), (3, 1, 2)})
        self.check_try(machine, "sas", devices["sas"], {0x01, 0x08, 0x1a})
        self.check_try(machine, "fabric", devices["fabric"], {0x02, 0x04, 0x05, 0x06, 0x08, 0x10, 0x11})
        for name in ("nvme", "ahci", "scsi"):      # QEMU's models reject some commands
            self.check_try(machine, name, devices[name], verdicts=("applied", "refused", "unsupported"))

        # The drive rejects one command, and accepts another without effect. The value is the same then, so the fault is not visible.
        drive = devices["sata"].model
        faults = [drive.inject("abort", command=SET_FEATURES, feature=0x05), drive.inject("ignore", command=SET_FEATURES, feature=0xaa)]
        verdicts = self.check_try(machine, "sata with faults", devices["sata"], sata, ("applied", "refused", "unsupported"))
        self.equal("each fault took effect once", [fault.struck for fault in faults], [1, 1])
        drive.faults.clear()
        self.equal("only the rejected value is refused", [key for key, verdict in verdicts.items() if verdict == "refused"], ["apm"])
        self.equal("a value that the drive ignores is applied", verdicts["lookahead"], "applied")
        self.check_nothing_left(machine, before)

    def check_report_in_standby(self, machine, link, drive):
        machine.run(f"hdparm -y {link}")
        for command in ("report", "report --try"):
            mark = drive.log.mark()
            result = machine.run(f"drivekeep {command} {link}", check=False)
            self.equal(f"{command}: a report of a drive in standby is empty, and exits with 75", (result.stdout, result.status), ("", 75))
            self.match(f"{command}: the message says when to run the command again", result.stderr,
                       f"in standby; run 'drivekeep {command} .*' again when it is active")
            self.equal(f"{command}: a drive in standby gets only CHECK POWER MODE", [e.registers() for e in ours(drive, mark)],
                       ["E5/00 00 000000"])
            self.equal(f"{command}: the drive stays in standby", drive["mode"], "standby")
        machine.run(f"dd if={link} of=/dev/null bs=4096 count=1 iflag=direct")
