"""Drive models for the system tests. Like real drives, the models lose volatile settings at power loss.

    with Hba(f"{folder}/hba0", ports=4) as hba:
        drive = hba.attach(0, AtaDrive(serial="A", apm=128))
        with self.machine(extra_args=hba.qemu_args()) as machine:
            drive.inject("hang", command=0xef, feature=5, seconds=5)
            machine.run("hdparm -B 100 /dev/disk/by-id/ata-DRIVEKEEP_TESTDISK_A")
            assert drive["apm"] == 100
            machine.suspend(while_asleep=hba.power_cycle)
            assert drive["apm"] == 128
            print(drive.log)

model.AtaDrive is the drive, log.Log records its commands, and fault.Fault is an injected fault.
hba.Hba connects the drive to SATA (with the guest's kernel module in ivata/, built by ../modules.py);
usb.UsbDisk connects it behind a USB bridge.
"""
