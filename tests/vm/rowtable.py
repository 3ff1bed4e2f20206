"""A table of settings: drivekeep writes the setting of each row, and another program reads it.

A setting that drivekeep does not know is listed as missing. A setting that no emulated device supports is listed with the reason. Neither
of these settings counts as passed.
"""
import dataclasses
import json
import re

from keeping import CONF, Keeping

PROBE = "/run/probe"
WANTED_VERDICTS = {"applied", "unchanged", "adjusted", "unverifiable"}
ALIASES = {"read_ahead_sect": "read_ahead_kb", "force_spindown_time": "spindown_time", "apm_battery": "apm"}
# Errors of drivekeep about a key that is not a setting.
UNKNOWN = re.compile(r'unknown setting|"\w+" selects drives')


@dataclasses.dataclass(frozen=True)
class Row:
    """The setting `key` = `value` on a device. `command` reads the setting with another program; {node}, {name} (sda) and {sys}
    (/sys/block/sda) stand for the device. For settings that no program can read, the command "model NAME" reads the attribute NAME of the
    drive model. The pattern `expected` must match the output after the setting is applied, and must not match the output before. `lines`
    are additional lines of the rule, such as allow_dangerous. Rows of one device with the same `group` or the same key exclude each other
    and are set in separate passes."""
    device: str
    key: str
    value: str
    command: str
    expected: str
    lines: str = ""
    permanent: bool = False
    group: str = ""

    @property
    def reader(self):
        return "the drive model" if self.command.startswith("model ") else self.command.split()[0]


@dataclasses.dataclass(frozen=True)
class Device:
    """A drive in the guest: its link in /dev, and its drive model, if any. `backends` lists the backends of its settings, each with
    its word for "transport" in `drivekeep settings --json`."""
    link: str
    model: object = None
    backends: tuple = ()


@dataclasses.dataclass
class Outcome:
    row: Row
    result: str = "missing"     # "equal", "NOT EQUAL", or "missing": drivekeep does not know the setting
    text: str = ""


def passes(rows):
    """Splits rows into lists, one for each configuration file. Rows that exclude each other are in different lists."""
    found = []
    for row in rows:
        def clashes(other):
            return row.device == other.device and \
                (row.key == other.key or row.group and row.group == other.group) or row.permanent != other.permanent
        place = next((each for each in found if not any(map(clashes, each))), None)
        if place is None:
            found.append(place := [])
        place.append(row)
    return found


class RowTable(Keeping):
    """Base class, not itself a scenario. The subclass fills in `devices` (name: Device) and `outcomes`."""

    def file(self, rows):
        """Returns the configuration with these rows, and the row of each line number."""
        lines, owners = ["drives = ("], {}
        for device in dict.fromkeys(row.device for row in rows):
            mine = [row for row in rows if row.device == device]
            extra = " ".join(dict.fromkeys(row.lines for row in mine if row.lines))
            if any(row.permanent for row in mine):
                extra += " permanent = true;"
            lines.append(f'  {"," if len(lines) > 1 else " "} {{ match = "{self.devices[device].link}"; {extra}')
            for row in mine:
                lines.append(f"      {row.key} = {row.value};")
                owners[len(lines)] = row
            lines.append("    }")
        return "\n".join([*lines, ");", ""]), owners

    def complaints(self, machine, rows):
        """Returns drivekeep's errors and warnings about the lines of these rows: {row: sentence}."""
        text, owners = self.file(rows)
        machine.push(f"{PROBE}/drivekeep/drivekeep.conf", text)
        result = machine.run(f"drivekeep plan --config-root {PROBE}", 180, check=False)
        said = re.findall(rf"{PROBE}/drivekeep/drivekeep.conf:(\d+):\d+: (?:error|warning): (.*)", result.stdout + result.stderr)
        return {owners[int(line)]: sentence for line, sentence in said if int(line) in owners}

    def read(self, machine, row):
        device = self.devices[row.device]
        if row.command.startswith("model "):
            return repr(device.model[row.command.split()[1]])
        command = row.command.format(node=device.link, name="$name", sys="/sys/block/$name")
        if "$name" in command:
            command = f"name=$(readlink -f {device.link}); name=${{name##*/}}; {command}"
        result = machine.run(command, 120, check=False)
        return result.stdout + result.stderr

    def run_rows(self, machine, rows):
        """Applies and judges all rows. For each row whose setting drivekeep knows, claims that the setting is in effect."""
        self.outcomes |= {row: Outcome(row) for row in rows}
        missing = self.complaints_of_all(machine, rows)
        for these in passes([row for row in rows if row not in missing]):
            before = {row: self.read(machine, row) for row in these}
            machine.push(CONF, self.file(these)[0])
            machine.run("systemctl reload drivekeep", 180, check=False)
            self.settle(machine)
            permanent = "--permanent" if these[0].permanent else ""
            machine.run(f"drivekeep apply {permanent}", 300, check=False)
            verdicts = self.verdicts(machine)
            for row in these:
                self.judge(row, before[row], self.read(machine, row), verdicts.get((row.device, ALIASES.get(row.key, row.key)), "none"))

    def check_complete(self, machine, elsewhere):
        """Claims that the table has a row of each setting of `drivekeep settings` for each backend. Two kinds of settings need no row:
        the keys of `elsewhere`, and settings that drivekeep never writes. Returns the settings that drivekeep never writes. A key of
        `elsewhere` may name the backend: "standby (ata)"."""
        listed = json.loads(machine.run("drivekeep settings --json").stdout)["settings"]
        never = [row["name"] for row in listed if row["instead"]]
        done = {(row.key, held) for row in self.outcomes for held in self.devices[row.device].backends}
        missing = {f'{row["name"]} ({row["transport"]})': row["name"] for row in listed if not row["instead"]
                   and (row["name"], row["transport"]) not in done}
        self.equal("every setting of 'drivekeep settings' is in the table, or in the list of settings without a device",
                   [row for row, name in missing.items() if name not in elsewhere and row not in elsewhere], [])
        absent = {row["name"] for row in listed} - {row.key for row in self.outcomes} | set(missing)
        self.equal("no setting is both in the table and in the list of settings without a device",
                   [key for key in elsewhere if key not in absent], [])
        return never

    def complaints_of_all(self, machine, rows):
        """Returns the rows that drivekeep rejects. If drivekeep knows the setting of a rejected row, counts a failed claim."""
        unknown = set()
        for these in passes(rows):
            for row, sentence in self.complaints(machine, these).items():
                unknown.add(row)
                if not UNKNOWN.match(sentence):
                    self.outcomes[row] = Outcome(row, "NOT EQUAL", sentence)
                    self.claim(f"{row.device}: drivekeep accepts {row.key} = {row.value}", False, sentence)
        return unknown

    def verdicts(self, machine):
        names = {machine.run(f"basename $(readlink -f {device.link})").stdout.strip(): name
                 for name, device in self.devices.items()}
        return {(names[drive["name"]], setting["name"]): setting["verdict"]
                for drive in self.all_status(machine) if drive["name"] in names for setting in drive["settings"]}

    def judge(self, row, before, after, verdict):
        outcome = self.outcomes[row]
        if re.search(row.expected, before, re.M):
            outcome.text = "the device had the value already before"
        elif not re.search(row.expected, after, re.M):
            outcome.text = f"/{row.expected}/ is not in: {' '.join(after.split())[-300:]}"
        elif verdict not in WANTED_VERDICTS:
            outcome.text = "the device has the value, but the verdict is wrong"
        else:
            outcome.result, outcome.text = "equal", ""
        if outcome.result != "equal":
            outcome.result = "NOT EQUAL"
        self.claim(f"{row.device}: {row.key} = {row.value} is in effect, read by {row.reader}", outcome.result == "equal",
                   f"{outcome.text}\ndrivekeep's verdict: {verdict}")

    def print_table(self, elsewhere, never=()):
        """Prints the table. `elsewhere`: {key: reason why no emulated device supports it}; `never`: keys that drivekeep never writes."""
        lines = [("row", "device", "wanted", "read by", "equal")]
        lines += [(o.row.key, o.row.device, o.row.value, o.row.reader, o.result) for o in self.outcomes.values()]
        lines += [(key, "-", "-", "-", f"no device here: {why}") for key, why in elsewhere.items()]
        lines += [(key, "-", "-", "-", "drivekeep never writes this setting, as 'drivekeep settings' shows") for key in never]
        self.show_table(lines)
        results = [outcome.result for outcome in self.outcomes.values()]
        self.note(f"rows: {results.count('equal')} equal, {results.count('NOT EQUAL')} not equal, {results.count('missing')} unknown to "
                  f"drivekeep, {len(elsewhere)} without a device here, {len(never)} never written by drivekeep")
