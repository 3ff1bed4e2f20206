"""An ATA disk whose volatile state is lost at power loss."""

import threading
import time

from . import epc as power_conditions
from . import feature, lock, sct, smart
from .fault import Fault, FaultList, refuse
from .identify import altered, identify
from .log import Log
from .power import QUIET, Power
from .store import SECTOR, Store
from .taskfile import ID_NOT_FOUND, CommandFailed, NoAnswer, Result, abort

READ = {0x20, 0x24, 0x25, 0x29, 0xc4, 0xc8}
WRITE = {0x30, 0x34, 0x35, 0x39, 0x3d, 0xc5, 0xca, 0xce}
VERIFY = {0x40, 0x41, 0x42}
FLUSH = {0xe7, 0xea}
RECORDS = {0xb0, 0x2f, 0x47}    # commands that read or write SMART data and logs on the medium


class AtaDrive:
    """One drive. Each feature's argument is its value at power-on, or None if the drive does
    not support the feature:

    apm                  1..254, or 255 for disabled; `apm_quantum` lists the levels that
                         the drive rounds to; with `apm_can_disable=False` the drive
                         refuses SET FEATURES 85h
    acoustic             128..254, or 0 for disabled
    write_cache, lookahead, ssp, dipm, dsn, free_fall      True or False
    puis                 True or False; with `puis_needs_spin_up` the drive waits for SET
                         FEATURES 07h before it spins up
    wrv                  write-read-verify: False or the mode 0..3
    erc                  (read, write) in units of 100 ms; `erc_minimum` is the lowest limit;
                         with `erc_kept=False` the limits are lost at a COMRESET
    feature_control      True: SCT feature control; needs `erc`
    epc                  True (enabled), False, or a dict of epc.Epc's arguments
    security, dco, sanitize      True: can be frozen
    smart                True or False (disabled)

    path (a sparse file, kept if it exists), size_mb, rpm (1: not rotating),
    spin_up_seconds, time_scale (speed of the standby timer), ignores_timer (the standby
    timer does nothing), apm_timers and wake_seconds (see power.Power) and physical_4k
    describe other properties. All methods may be called from any thread.
    """

    def __init__(self, model="DRIVEKEEP TESTDISK", serial="SN-0001", firmware="FW01",
                 wwn=None, size_mb=64, path=None, *, rpm=7200, physical_4k=False,
                 apm=128, apm_quantum=None, apm_can_disable=True, acoustic=None,
                 write_cache=True, lookahead=True, erc=(0, 0), erc_minimum=65, erc_kept=True,
                 feature_control=None, ssp=True, dipm=None, puis=None,
                 puis_needs_spin_up=False, wrv=None, dsn=None, free_fall=None, epc=None,
                 security=True, dco=None, sanitize=None, smart_enabled=True,
                 spin_up_seconds=0, time_scale=1, ignores_timer=False, mechanics=None,
                 apm_timers=(), wake_seconds=None):
        self.model, self.serial, self.firmware, self.wwn = model, serial, firmware, wwn
        self.rpm, self.physical_4k, self.mechanics = rpm, physical_4k, mechanics
        self.store = Store(path, size_mb)
        self.sectors = self.store.sectors
        self.log = Log()
        self.faults = FaultList()
        self.power_cycles = 1
        self.powered_since = time.monotonic()
        self._lock = threading.Condition()
        self._resets = 0
        self._releases = 0

        self.power = Power(self, time_scale, spin_up_seconds, ignores_timer, apm_timers, wake_seconds)
        self.features = [self.power, feature.Transfer(self, 0), feature.Multiple(self, 0),
                         feature.Switch(self, "keep_features", False)]
        self.epc = None
        if epc is not None:
            options = epc if isinstance(epc, dict) else {"default": epc}
            self.epc = power_conditions.Epc(self, **options)
            self.features.append(self.epc)
        if write_cache is not None:
            self.features.append(feature.WriteCache(self, write_cache))
        switches = {"lookahead": lookahead, "ssp": ssp, "dipm": dipm, "dsn": dsn}
        self.features += [feature.Switch(self, name, default)
                          for name, default in switches.items() if default is not None]
        if apm is not None:
            self.features.append(feature.Apm(self, apm, apm_quantum, apm_can_disable))
        if acoustic is not None:
            self.features.append(feature.Acoustic(self, acoustic))
        if wrv is not None:
            self.features.append(feature.WriteReadVerify(self, wrv))
        if puis is not None:
            self.features.append(feature.PowerUpInStandby(self, puis, puis_needs_spin_up))
        if free_fall is not None:
            self.features.append(feature.FreeFall(self, free_fall))
        if security:
            self.features.append(lock.Security(self, False))
        if dco:
            self.features.append(lock.Overlay(self, False))
        if sanitize:
            self.features.append(lock.Sanitize(self))
        if smart_enabled is not None:
            self.features.append(smart.Smart(self, smart_enabled))
        control = sct.FeatureControl(self) if feature_control else None
        self.sct = None if erc is None else sct.Sct(self, erc, erc_minimum, erc_kept, control)
        self.features += [each for each in (self.sct, control) if each]
        self._gather()

    def _gather(self):
        """Collects the features' commands in the tables that `_perform` uses."""
        self._commands = {opcode: self._media for opcode in READ | WRITE | VERIFY}
        self._commands |= {opcode: self._flush for opcode in FLUSH}
        self._commands |= {0xec: self._identify, 0xef: self._set_features}
        self._subcommands, self.smart_logs, self.gpl_logs = {}, {}, {}
        for each in self.features:
            self._commands |= each.commands()
            self._subcommands |= each.subcommands()
            self.smart_logs |= each.smart_logs()
            self.gpl_logs |= each.gpl_logs()

    # Functions for tests

    def power_cycle(self):
        """Switches the power off and on."""
        with self._lock:
            self.log.event("power cycle")
            self.power_cycles += 1
            self.powered_since = time.monotonic()
            for each in self.features:
                each.power_on()
            self._interrupt()

    def comreset(self):
        """Resets the link, which ends the current command."""
        with self._lock:
            self.log.event("comreset")
            ssp = self.feature("ssp")
            preserve = bool(ssp and ssp.value)
            for each in self.features:
                each.comreset(preserve)
            self._interrupt()

    def inject(self, kind, **match):
        """Adds a fault, see fault.Fault, and returns it (`fault.struck` counts its effects)."""
        return self.faults.add(Fault(kind, **match))

    def state(self):
        """Returns the state as a dict: the value of each feature, and other values such as mode and spin_ups."""
        with self._lock:
            self.power.tick()
            merged = {}
            for each in self.features:
                merged |= each.state()
            return merged

    def pass_time(self, seconds):
        """Advances the drive's own timers by a time without I/O."""
        with self._lock:
            self.power.pass_time(seconds)

    def __getitem__(self, name):
        return self.state()[name]

    def feature(self, name):
        """Returns the feature with this name, or None."""
        return next((each for each in self.features if each.name == name), None)

    def identify(self):
        """Returns the current IDENTIFY DEVICE data, without the effect of faults."""
        with self._lock:
            return identify(self)

    # Functions for the host

    def execute(self, tf, data=b""):
        """Executes a command. Returns a Result, or None if the drive never answers."""
        with self._lock:
            self.power.tick()
            fault = self.faults.strike(tf)
            entry = self.log.add(
                command=tf.command, feature=tf.feature, count=tf.count, lba=tf.lba,
                device=tf.device, mode=self.power.mode, fault=fault.kind if fault else "",
                origin=tf.origin, comm=tf.comm, pid=tf.pid, scsi_op=tf.scsi_op,
                data=bytes(data[:SECTOR]))
            try:
                result = self._perform(tf, data, fault)
            except CommandFailed as failed:
                result = Result(failed.status, failed.error, tf.count, tf.lba, tf.device)
            except NoAnswer:
                return None
            result.fault = fault
            self.log.answer(entry, result)
            return result

    def release(self):
        """Ends the current pause of the drive."""
        with self._lock:
            self._releases += 1
            self._lock.notify_all()

    def pause(self, seconds):
        """Keeps the drive busy for `seconds`, or until `release` is called. A reset ends the pause and the command."""
        resets, releases = self._resets, self._releases
        if seconds:
            self._lock.wait_for(lambda: (self._resets, self._releases) != (resets, releases), seconds)
        if self._resets != resets:
            raise NoAnswer

    def _interrupt(self):
        self._resets += 1
        self._lock.notify_all()

    def _perform(self, tf, data, fault):
        self.power.require_awake()
        if tf.command not in QUIET:
            self.power.begin()
        if fault:
            refuse(fault)
            if fault.kind == "ignore":
                return Result(count=tf.count, lba=tf.lba)
            if fault.kind == "hang":
                self.pause(fault.seconds)
        command = self._commands.get(tf.command)
        if command is None:
            raise abort()
        if tf.command in RECORDS:
            self.power.spin_up()
        result = command(tf, data)
        self.power.used(tf)
        if fault and fault.kind == "corrupt" and result.data:
            result.data = result.data[:-1] + bytes([result.data[-1] ^ 0xff])
        if fault and fault.kind == "lie":
            result.data = altered(result.data, fault.words)
        return result

    def _identify(self, tf, data):
        return Result(data=identify(self))

    def _set_features(self, tf, data):
        function = self._subcommands.get((tf.feature, tf.count)) or \
            self._subcommands.get((tf.feature, None))
        if function is None:
            raise abort()
        function(tf)
        return Result()

    def _media(self, tf, data):
        count = tf.sectors
        if tf.lba + count > self.sectors:
            raise abort(ID_NOT_FOUND)
        puis = self.feature("puis")
        if puis and puis.waiting:
            raise abort()
        self.power.spin_up()
        if self.mechanics and tf.command in WRITE and self["write_cache"]:
            self.pause(self.mechanics.cached(tf.lba, count, self.sectors))
        elif self.mechanics:
            self.pause(self.mechanics.seconds(tf.lba, count, self.sectors, self["lookahead"]))
        if tf.command in READ:
            return Result(lba=tf.lba, data=self.store.read(tf.lba, count))
        if tf.command in WRITE:
            self.store.write(tf.lba, data[:count * SECTOR])
        return Result(lba=tf.lba)

    def _flush(self, tf, data):
        self.write_cached()
        return Result()

    def write_cached(self):
        if self.mechanics:
            self.pause(self.mechanics.flush())

    def forget_cached(self):
        if self.mechanics:
            self.mechanics.flush()
