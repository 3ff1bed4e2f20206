"""Base class of the scenarios about faults."""
from keeping import Keeping

# Writes one megabyte outside the partition table; reads the megabyte back and computes its checksum.
WRITE = "dd if=/dev/urandom of={node} bs=64k count=16 seek=16 oflag=direct 2>/dev/null"
READ = "dd if={node} bs=64k count=16 skip=16 iflag=direct 2>/dev/null | md5sum"


class Faulty(Keeping):
    """Base class, not itself a scenario."""

    def fill(self, machine, nodes):
        """Writes data to each drive and returns {node: checksum}. Waits for udev, which sends commands to a drive after a write."""
        machine.run("; ".join(WRITE.format(node=node) for node in nodes) + "; udevadm settle", 300)
        return self.checksums(machine, nodes)

    def checksums(self, machine, nodes):
        out = machine.run("; ".join(READ.format(node=node) for node in nodes), 300).stdout.split("\n")
        return dict(zip(nodes, out))

    def nodes(self, machine, drives):
        """Returns {serial: node} of the given drives. Behind a bridge, the serial number is that of the drive, not of the dock."""
        wanted = {drive.serial for drive in drives}
        return {each["serial"]: each["node"] for each in self.all_status(machine) if each["serial"] in wanted}

    @staticmethod
    def file(values):
        """Returns a configuration with the APM levels of {serial or pattern: apm}."""
        blocks = ",\n  ".join(f'{{ match = {{ serial = "{serial}"; }}; apm = {apm}; lookahead = true; }}'
                              for serial, apm in values.items())
        return f"drives = (\n  {blocks}\n);\n"
