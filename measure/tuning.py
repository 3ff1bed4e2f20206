# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prepares and measures one setting of a drive, and restores its value."""
from __future__ import annotations

from measure import bench, command, pick, samples, tunables
from measure.command import BAD_INPUT, WANTED, Trouble, warn
from measure.figures import FIGURES, JOB_OF
from measure.samples import Estimate
from measure.subject import Subject
from measure.temporary import Reading, Temporary
from measure.tunables import Tunable
from measure.tune import Busy, PresentUnavailable, Tune, fit_idle_times

WAKE_SECONDS, SPIN_UP_SECONDS = 1, 10   # assumed duration of the first read, for planning idle times


class Tuning:
    def __init__(self, tunable: Tunable):
        self.tunable, self.setting = tunable, tunable.setting
        self.goal, self.cost = FIGURES[tunable.goal], FIGURES.get(tunable.cost)
        self.values: list[str] = []
        self.present = ""
        self.lacking: str | None = None     # the cause if nothing was measured, as in "not measured: CAUSE"
        self.temporary: Temporary | None = None
        self.tune: Tune | None = None

    def prepare(self, s: Subject, shown: dict) -> None:
        """Reads the current value from the command's output."""
        now = Reading.of(shown, self.setting) or Reading(None, "it is not a setting of this kind of drive")
        if now.value is None or not now.exact:
            self.lacking = now.why or f"the current value '{now.value}' could not be restored"
            return
        self.present = now.value
        self.values = tunables.values(self.tunable, s.name, now.value, s.is_array)
        if len(self.values) < 2:
            self.lacking = "no other value is available"
        readings = {name: Reading.of(shown, name) for name in self.tunable.resets}
        related = {name: r.value for name, r in readings.items() if r and r.value is not None and r.exact}
        self.temporary = Temporary(s, self.setting, self.present, related, self.tunable.saves_power)

    @property
    def wake_seconds(self) -> int:
        return SPIN_UP_SECONDS if self.tunable.spins_down else WAKE_SECONDS

    @property
    def share(self) -> int:
        """Returns the milliseconds that one sample of each value takes. run() divides the time among the settings in proportion to these
        numbers. 0: nothing to measure."""
        if self.lacking:
            return 0
        jobs = {JOB_OF[figure.key].name: JOB_OF[figure.key] for figure in (self.goal, self.cost) if figure}
        # A first read counts as at most a second: it may take longer, but usually takes less.
        return len(self.values) * sum(min(job.milliseconds, 1000) for job in jobs.values())

    def run(self, s: Subject, budget: float) -> int:
        """Measures the setting, and always tries to restore the old value. Prints the cause of a failure, and returns an exit status."""
        idle_times = fit_idle_times(budget, len(self.values), self.wake_seconds) if self.tunable.saves_power else ()
        self.tune = Tune(s.meter(budget), self.goal, self.cost, self.values, self.present, self.temporary.set,
                         self.temporary.check_kept, self.tunable.ordered, s.options.force, idle_times)
        begun, trouble, restored = bench.monotonic(), None, WANTED
        try:
            self.tune.run()
        except Busy:
            self.lacking = f"other programs use {s.name} most of the time; --force measures anyway"
        except PresentUnavailable:
            self.lacking = self.left_out
        except Trouble as error:
            error.report()
            trouble = error
        try:
            restored = self.temporary.restore(trouble is not None and trouble.of_service)
        except Trouble as error:
            error.report()
            trouble = error if trouble is None or not trouble.of_service else trouble
        s.spent += bench.monotonic() - begun
        if self.lacking:
            warn(f"{self.setting} of {s.name} is not measured: {self.lacking}")
            return BAD_INPUT
        return trouble.status if trouble else restored

    # ---- results ----

    @property
    def left_out(self) -> str | None:
        """The unavailable values, each with the cause."""
        return "; ".join(self.temporary.left_out) or None if self.temporary else None

    @property
    def is_measured(self) -> bool:
        return not self.lacking and self.tune is not None and self.tune.has_seen

    @property
    def has_result(self) -> bool:
        """Returns true if the samples suffice for a statement: about the best value or, for a setting that saves power, about each value."""
        if not self.is_measured:
            return False
        return all(any(trial.after) for trial in self.tune.trials) if self.tunable.saves_power else self.tune.pick.reason != pick.UNKNOWN

    @property
    def changes(self) -> bool:
        return not self.lacking and self.tune is not None and self.tune.pick.changes

    @property
    def picked(self) -> str:
        return self.tune.trials[self.tune.pick.index].value if self.changes else self.present

    @property
    def caution(self) -> str | None:
        """Returns the tunable's caution if a value other than "off" was picked."""
        return self.tunable.caution if self.changes and self.picked != "off" else None

    def mark(self, trial: int) -> str | None:
        return "best" if self.changes and trial == self.tune.pick.index else "now" if trial == self.tune.current else None

    def goal_of(self, trial: int) -> Estimate:
        return samples.estimate(self.tune.trials[trial].goal, self.goal.error)

    def cost_of(self, trial: int) -> Estimate:
        return samples.estimate(self.tune.trials[trial].cost, self.cost.error) if self.cost else Estimate(0)


# ---- which settings ----

def why_unmeasured(row: dict) -> str:
    """Returns why a setting cannot be measured; `row`: the command's JSON about the setting."""
    reasons = ((row["transport"] == "none", "drivekeep never sets it"), (row["once"], "it is a one-time command and not a value of the drive"),
               (not row["readable"], "it cannot be read, so it could not be restored"),
               (not row["volatile"], "the drive saves it over power cycles, so it is not set temporarily"),
               (row["danger"], "it is dangerous, so it is not set temporarily"))
    return next((why for is_so, why in reasons if is_so), "no value makes reads faster or slower")


def choose(names: list[str], has_file: bool) -> list[Tuning]:
    """Returns the named settings. Without names, returns all settings that have a best value. `has_file`: settings that
    are measured by writes to a file are allowed."""
    if not names:
        return [Tuning(t) for t in tunables.TUNABLES.values() if not t.saves_power and (not t.writes or has_file)]
    # If the table of settings has several rows with the same name, uses the first row.
    rows = {row["name"]: row for row in reversed(command.read("settings", "--", *names)["settings"])}
    chosen = []
    for name in names:
        t = tunables.TUNABLES.get(rows[name]["alias_of"] or name)
        if t is None:
            warn(f"nothing can be measured for {name}: {why_unmeasured(rows[name])}")
        elif t.writes and not has_file:
            warn(f"{t.setting} is measured by writes to a file: add --file=DIR, a directory on the drive")
        else:
            chosen.append(Tuning(t))
    if len(chosen) < len(names):
        raise Trouble
    if has_file and not any(t.tunable.writes for t in chosen):
        raise Trouble("--file cannot be used: none of the given settings is measured by writes")
    return chosen


def prepare(s: Subject, tunings: list[Tuning]) -> None:
    # Reads the settings again: in the first read, an idle NVMe controller may have reported a power state that it had entered by itself.
    shown = s.read_settings() if s.changes_states else s.shown[0]
    for t in tunings:
        t.prepare(s, shown)
    if any(t.tunable.writes and not t.lacking for t in tunings):
        s.make_file()


def run(s: Subject, tunings: list[Tuning]) -> int:
    """Measures the settings, each with its share of the remaining time. Continues after a failure that concerns one setting only."""
    shares, status = sum(t.share for t in tunings), WANTED
    for t in [t for t in tunings if t.share]:
        if s.is_stopped():
            break
        share = t.share
        done = t.run(s, max(s.budget - s.spent, 0) * share / shares)
        shares -= share
        status = done or status
        if done != WANTED and not t.lacking:
            break
    s.hide_progress()
    return status


