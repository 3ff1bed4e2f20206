"""Checks the JSON output of `drivekeep` against man/drivekeep.schema.json."""
import json
import pathlib

FILE = pathlib.Path(__file__).resolve().parents[2] / "man/drivekeep.schema.json"


def read():
    return json.loads(FILE.read_text())


def errors(shape, document):
    """Returns the errors of a document against a definition in $defs. An unknown key is an error here. The schema itself permits unknown
    keys."""
    import jsonschema   # pylint: disable=import-outside-toplevel # listing the tests must work without jsonschema

    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{shape}", "$defs": _closed(read()["$defs"])})
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def _closed(part):
    if isinstance(part, list):
        return [_closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    closed = {key: _closed(each) for key, each in part.items()}
    return {**closed, "additionalProperties": False} if isinstance(part.get("properties"), dict) else closed
