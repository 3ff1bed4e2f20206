"""Checks of `drivekeep report`: the report has no serial number, and its commands only read."""
import re

from keeping import ours

SET_FEATURES_OF_NVME = 0x09
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

    def check_report_in_standby(self, machine, link, drive):
        machine.run(f"hdparm -y {link}")
        mark = drive.log.mark()
        result = machine.run(f"drivekeep report {link}", check=False)
        self.equal("a report of a drive in standby is empty, and exits with 75", (result.stdout, result.status), ("", 75))
        self.match("the message says when to run the command again", result.stderr, "in standby; run .* again when it is active")
        self.equal("a drive in standby gets only CHECK POWER MODE", [e.registers() for e in ours(drive, mark)], ["E5/00 00 000000"])
        self.equal("the drive stays in standby", drive["mode"], "standby")
        machine.run(f"dd if={link} of=/dev/null bs=4096 count=1 iflag=direct")
