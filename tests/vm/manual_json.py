"""What drivekeep(1) says of the JSON that each command prints: the keys, by their paths ("settings.name")."""
import pathlib
import re

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "man/drivekeep.1"


def documented():
    """By command the forms that its output may have, each a set of paths."""
    section = MANUAL.read_text().split(".Sh JSON\n")[1].split("\n.Sh ")[0]
    forms = {}
    for text, block in re.findall(r"(.*?)^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", section, re.M | re.S):
        for command in re.findall(r"^\.Cm (\w+)", text, re.M):
            forms.setdefault(command, []).append(_paths_of_example(block))
    return forms


def paths(value):
    """Of a value that was read; what stands in an array has the path of the array."""
    if isinstance(value, list):
        return set().union(*map(paths, value))
    if not isinstance(value, dict):
        return set()
    return set(value) | {f"{key}.{path}" for key, inner in value.items() for path in paths(inner)}


def differences(found, form):
    """The paths that are in only one of both. Below what was null or empty, the output has none."""
    inner = {path.rpartition(".")[0] for path in found}
    return sorted(found - form | {path for path in form - found if path.rpartition(".")[0] in inner})


def _paths_of_example(block):
    """The depth of a key is how far it is indented; a comment may follow."""
    above, found = [], set()
    for line in block.splitlines():
        indent = len(line) - len(line.lstrip())
        for key in re.findall(r'"(\w+)": ', line):
            above = [(depth, name) for depth, name in above if depth < indent]
            found.add(".".join([name for _, name in above] + [key]))
            if re.search(rf'"{key}": [\[{{]( |$)', line):
                above.append((indent, key))
    return found
