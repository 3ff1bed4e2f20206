# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets a temporary value of a setting while it is measured, and restores the old value afterwards. The service sets both values, and
restores the old value if this program ends."""
from __future__ import annotations

import typing

from measure import command
from measure.command import NOT_WANTED, Trouble, warn
from measure.subject import Subject
from measure.tune import ValueUnavailable

WANTED_VERDICTS = "applied", "unchanged", "unverifiable"
RULE_OF_TUNE = "drivekeep tune"


class Reading(typing.NamedTuple):
    value: str | None
    why: str = ""       # why the value is not known
    exact: bool = True  # the value can be restored from this text

    @classmethod
    def of(cls, shown: dict, setting: str) -> Reading | None:
        """Returns the reading of a setting; None: this kind of drive does not have the setting."""
        for row in (row for row in shown["settings"] if row["name"] == setting):
            if row["supported"] and row["value"] is not None:
                return cls(row["value"], exact=row["exact"])
            return cls(None, row["reason"] or "the drive does not have this setting, or the value cannot be read")
        return None


class Temporary:
    """The temporary value of one setting. `related`: other settings that a change of this setting may reset, each with its present
    value. Before the first change, these values are set as temporary values, too."""

    def __init__(self, subject: Subject, setting: str, present: str, related: dict[str, str], saves_power: bool):
        self.subject, self.setting, self.present, self.related, self.saves_power = subject, setting, present, related, saves_power
        self.value: str | None = None   # the current temporary value; None: not set yet
        self.is_lost = False            # the drive has not kept the value
        self.left_out: list[str] = []   # unavailable values, each with the cause

    def _set_temporary(self, setting: str, value: str, before: str) -> None:
        self.subject.service.request("SetTemporary", "ssss", self.subject.name, setting, value, before)

    def _records(self) -> dict[str, dict]:
        """Returns the service's records of the last visit, by name of the setting."""
        drives = command.read("status", *self.subject.state(), "--", self.subject.name)["drives"]
        return {row["name"]: row for drive in drives for row in drive["settings"]}

    def _leave_out(self, value: str, why: str, first: bool) -> ValueUnavailable:
        # Reports only a value that is unavailable in the first round. In a later round, the value merely has no sample of that round.
        self.left_out += [f"{value}: {why}"] if first else []
        return ValueUnavailable()

    def set(self, value: str, first: bool) -> None:
        """Sets the temporary value. Raises ValueUnavailable."""
        if value == self.value and not self.is_lost:
            return
        self.subject.check_here()
        begins, self.is_lost = self.value is None, False
        # From here on the old value must be restored.
        self.value = value
        if begins:
            for setting, text in self.related.items():
                self._set_temporary(setting, text, text)
        self._set_temporary(self.setting, value, self.present)
        self.subject.service.read(self.subject.name)

        record = self._records().get(self.setting)
        if record is None:
            raise self._leave_out(value, "the service has no record of the setting", first)
        if not (record["wanted"] == record["actual"] == value and record["verdict"] in WANTED_VERDICTS):
            raise self._leave_out(value, ", ".join(filter(None, (record["verdict"], record["reason"]))), first)

    def check_kept(self, first: bool) -> int | None:
        """Raises ValueUnavailable if the drive has lost the value. Must be called after a read, so that the drive is active. Returns the
        drive's number of load cycles, or None if not known. A value that cannot be read now counts as kept."""
        try:
            shown = self.subject.read_settings(self.setting)
        except Trouble:
            return None
        now = Reading.of(shown, self.setting)
        self.is_lost = now is not None and now.value is not None and now.value != self.value
        if self.is_lost:
            raise self._leave_out(self.value, "the drive does not keep this value", first)
        return shown["wear"]["load_cycles"] if shown["wear"] else None

    def _is_restored(self, shown: dict, records: dict[str, dict], setting: str, before: str) -> bool:
        """Returns true if the drive has the value `before` again, or has the value from the configuration. The configuration may give the
        value in another form, such as "default" or "2 stripes". If the drive has any other value, prints a message."""
        now, record = Reading.of(shown, setting) or Reading(None, "the drive does not answer"), records.get(setting)
        of_files = record and record["rule"] not in (None, RULE_OF_TUNE) and record["verdict"] != "deferred" and record["actual"] == now.value
        if now.value is not None and (now.value == before or of_files):
            return True
        is_now = f"is {now.value}" if now.value is not None else f"cannot be read now ({now.why})"
        warn(f"{setting} of {self.subject.name} {is_now}; drivekeep.service restores the old value {before} as soon as possible")
        return False

    def restore(self, service_is_lost: bool) -> int:
        """Restores the old value. Returns WANTED on success. Prints a message and returns NOT_WANTED if the drive does not show the old value.
        Raises Trouble if the drive is gone or the service fails. `service_is_lost`: a message about the service was printed before."""
        subject, records, trouble = self.subject, {}, None
        if self.value is None:
            return command.WANTED
        # A new drive with the same name has no temporary value.
        if not subject.is_here():
            raise Trouble(f"{subject.name} was removed before its {self.setting} was restored to {self.present}")
        # Makes the drive active, as before the measurement: the user may have interrupted an idle time, and the service wakes no drive.
        if self.saves_power:
            subject.read_anywhere()
        try:
            subject.service.request("EndTemporary", "s", subject.name)
            subject.service.read(subject.name)
            records = self._records()
        except Trouble as error:
            trouble = error
            if not service_is_lost:
                error.report()
        try:
            shown = subject.read_settings()
        except Trouble:
            shown = {"settings": []}
        settings = {self.setting: self.present, **self.related}
        restored = [self._is_restored(shown, records, setting, before) for setting, before in settings.items()]
        if trouble:
            raise Trouble(status=trouble.status)
        return command.WANTED if all(restored) else NOT_WANTED
