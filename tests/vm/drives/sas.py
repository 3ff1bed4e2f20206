"""A SAS controller for QEMU whose disks are ScsiDisk objects of this process.

The controller works like Hba, but its mailboxes contain whole SCSI commands. In the guest
the module in ivsas/ registers a SAS host for the controller.
"""

import struct

from .hba import BYTES, DATA_IN, DATA_OUT, FLAGS, Hba, Port
from .scsi import Request

MAGIC = 0x53415349

# Offsets in the mailbox: the first line in 32-bit words, the second line in bytes
STATUS, RETURNED, SENSE_LENGTH = 4, 5, 6
CDB, PID, COMM, ADDRESS, SENSE = 84, 116, 120, 240, 256
SENSE_SIZE = 96
LENGTHS = {0: 6, 1: 10, 2: 10, 4: 16, 5: 12}        # length of a CDB by the group of its opcode


class SasPort(Port):
    def taskfile(self):
        """Returns the command in the mailbox and the data sent with it."""
        words, memory, base = self.words, self.memory, self.base
        comm = memory[base + COMM:base + COMM + 16].split(b"\0")[0].decode(errors="replace")
        [pid] = struct.unpack_from("I", memory, base + PID)
        user = words[FLAGS] & 4
        cdb = memory[base + CDB:base + CDB + 32]
        cdb = cdb[:LENGTHS.get(cdb[0] >> 5, 32)]
        request = Request(cdb, words[BYTES] if words[FLAGS] & DATA_IN else 0,
                          "passthrough" if user else "kernel", comm, pid)
        data = memory[self.window:self.window + words[BYTES]] if words[FLAGS] & DATA_OUT else b""
        return request, data

    def put(self, answer):
        self.memory[self.window:self.window + len(answer.data)] = answer.data
        sense = answer.sense[:SENSE_SIZE]
        self.memory[self.base + SENSE:self.base + SENSE + len(sense)] = sense
        self.words[STATUS], self.words[RETURNED] = answer.status, len(answer.data)
        self.words[SENSE_LENGTH] = len(sense)


class SasHba(Hba):
    """A SAS controller with up to `slots` simultaneous commands per disk. See Hba for the rest."""

    magic, port_class = MAGIC, SasPort

    def attach(self, port, drive):
        self.ports[port].memory[self.ports[port].base + ADDRESS:self.ports[port].base + ADDRESS + 8] = \
            struct.pack("<Q", int(drive.wwn, 16) + 1)
        return super().attach(port, drive)
