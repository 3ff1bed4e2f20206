# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a drive has while one of its settings is measured, and has again afterwards. The service sets it, and gives it back when this
program is gone."""
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
    why: str = ""       # the value is not known
    exact: bool = True  # it can be set back to that text

    @classmethod
    def of(cls, shown: dict, setting: str) -> Reading | None:
        """None: it is no setting of this kind of drive."""
        for row in (row for row in shown["settings"] if row["name"] == setting):
            if row["supported"] and row["value"] is not None:
                return cls(row["value"], exact=row["exact"])
            return cls(None, row["reason"] or "the drive does not have it, or it cannot be read")
        return None


class Temporary:
    """Of one setting. `beside`: what its change may reset, which is held from the beginning."""

    def __init__(self, subject: Subject, setting: str, present: str, related: dict[str, str], saves_power: bool):
        self.subject, self.setting, self.present, self.related, self.saves_power = subject, setting, present, related, saves_power
        self.value: str | None = None   # the one that the drive holds now; None: none for this
        self.is_lost = False            # the drive has not kept it
        self.left_out: list[str] = []   # values that cannot be had, and why

    def _set_temporary(self, setting: str, value: str, before: str) -> None:
        self.subject.service.request("SetTemporary", "ssss", self.subject.name, setting, value, before)

    def _records(self) -> dict[str, dict]:
        """What the service has told of the last visit, by the settings' names."""
        # The command says by its status what is not as wanted, which is no matter here.
        drives = command.read("status", *self.subject.state(), "--", self.subject.name)["drives"]
        return {row["name"]: row for drive in drives for row in drive["settings"]}

    def _leave_out(self, value: str, why: str, first: bool) -> ValueUnavailable:
        # Later it is one round that lacks it.
        self.left_out += [f"{value}: {why}"] if first else []
        return ValueUnavailable()

    def set(self, value: str, first: bool) -> None:
        """Raises NotHad: it cannot be had."""
        if value == self.value and not self.is_lost:
            return
        self.subject.check_here()
        begins, self.is_lost = self.value is None, False
        # From here on it has to be set back.
        self.value = value
        if begins:
            for setting, text in self.related.items():
                self._set_temporary(setting, text, text)
        self._set_temporary(self.setting, value, self.present)
        self.subject.service.read(self.subject.name)

        record = self._records().get(self.setting)
        if record is None:
            raise self._leave_out(value, "the service has no record of it", first)
        if not (record["wanted"] == record["actual"] == value and record["verdict"] in WANTED_VERDICTS):
            raise self._leave_out(value, ", ".join(filter(None, (record["verdict"], record["reason"]))), first)

    def check_kept(self, first: bool) -> int | None:
        """Behind a read, so that the drive is awake. Returns how often it has unloaded its heads; None: it does not tell. What cannot be
        read just now may be as it was."""
        try:
            shown = self.subject.read_settings(self.setting)
        except Trouble:
            return None
        now = Reading.of(shown, self.setting)
        self.is_lost = now is not None and now.value is not None and now.value != self.value
        if self.is_lost:
            raise self._leave_out(self.value, "the drive does not keep it", first)
        return shown["wear"]["load_cycles"] if shown["wear"] else None

    def _is_restored(self, shown: dict, records: dict[str, dict], setting: str, before: str) -> bool:
        """Has the drive this value again, or that which the files want in its place? That may be written otherwise: "default",
        "2 stripes"."""
        now, record = Reading.of(shown, setting) or Reading(None, "the drive does not answer"), records.get(setting)
        of_files = record and record["rule"] not in (None, RULE_OF_TUNE) and record["verdict"] != "deferred" and record["actual"] == now.value
        if now.value is not None and (now.value == before or of_files):
            return True
        is_now = f"is {now.value}" if now.value is not None else f"cannot be read now ({now.why})"
        warn(f"{setting} of {self.subject.name} {is_now}, and was {before}: drivekeep.service sets it back as soon as it can")
        return False

    def restore(self, service_is_lost: bool) -> int:
        """The drive gets what it had. Returns WANTED when it has; NOT_WANTED, having said what it has; or raises Trouble. That the service
        is lost was said already."""
        subject, records, trouble = self.subject, {}, None
        if self.value is None:
            return command.WANTED
        # Another drive that has its name has held nothing.
        if not subject.is_here():
            raise Trouble(f"{subject.name} is gone, and its {self.setting} could not be restored: it was {self.present}")
        # The user may have ended it in a time without use. The drive was awake before, and one that sleeps would be left as it is.
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
