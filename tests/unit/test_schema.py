"""The JSON Schema of study files holds for all studies there are, and for no slip of the pen."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from typer.testing import CliRunner

from sawtooth import _core
from sawtooth.cli import app
from sawtooth.schema import study_schema
from sawtooth.study import keys

SCHEMA = study_schema()
VALIDATOR = Draft7Validator(SCHEMA)
SMALL: dict[str, Any] = {"scenario": {"duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}]}}


def faults(tree: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(tree)]


def test_it_is_a_schema_itself() -> None:
    Draft7Validator.check_schema(SCHEMA)


STUDIES = sorted(Path(__file__).parents[2].glob("python/sawtooth/studies/**/*.toml"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: "/".join(path.parts[-2:]))
def test_it_holds_for_what_is_shipped(path: Path) -> None:
    assert faults(tomllib.loads(path.read_text(encoding="utf-8"))) == []


def test_it_has_each_key_of_a_study_and_of_a_scenario_with_its_meaning() -> None:
    assert list(SCHEMA["properties"]) == list(keys.names(keys.STUDY))
    rows = [row for row in _core.registry()["key"] if not row["table"]]
    scenario = SCHEMA["properties"]["scenario"]["properties"]
    assert [scenario[row["key"]]["description"] for row in rows] == [row["summary"] for row in rows]


def tables(schema: Any) -> Iterator[dict[str, Any]]:
    """All tables of a schema that have keys."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from tables(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from tables(value)


def test_no_table_with_keys_takes_others() -> None:
    found = list(tables(SCHEMA))
    assert len(found) > 60
    assert all(table["additionalProperties"] is False for table in found)


# Each is refused by the reader, too: `tests/errors` has their texts.
@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        ("", "repaet", 3),
        ("", "order", "cell"),
        ("", "backend", "simm"),
        ("scenario", "duratoin", "1 s"),
        ("scenario", "stack", "linus"),
        ("scenario", "cc", "cubik"),
        ("scenario", "cc", {"name": "cubic", "betta": 0.7}),
        ("scenario", "tcp", {"recovry": "sack"}),
        ("scenario", "record", ["packet"]),
        ("scenario.links.l", "queu", {"name": "red"}),
        ("scenario.links.l", "queue", {"name": "redd"}),
        ("scenario.links.l", "keep_order", "perhaps"),
        ("scenario.links.l", "reverse", {"count": 2}),
        ("scenario.links.l", "outages", [{"form": "1 s"}]),
        ("scenario.flows.0", "transport", "sctp"),
        ("scenario.flows.0", "path", "l"),
        ("scenario.flows.0", "arrivals", {"rat": 1}),
        ("scenario", "duration", "1 sec"),
        ("scenario", "duration", "10 Mbit/s"),
        ("scenario.links.l", "rate", "10 Mbps"),
        ("scenario.links.l", "delay", "10 packets"),
        ("scenario.links.l", "queue", {"name": "drop_tail", "limit": "10 ms"}),
        ("", "sweep", {"links.l.rat": ["1 Mbit/s"]}),
        ("", "sweep", {"linkss.l.rate": ["1 Mbit/s"]}),
        ("", "sweep", {"tcp.recovry": ["sack"]}),
        ("", "sweep", [{"grod": {"cc": ["reno"]}}]),
        ("", "sweep", [{"zip": {"flows[0].cd": ["reno"]}}]),
        ("", "arms", {"a": {"flow[0].cc": "reno"}}),
        ("", "arms", {"a": {"repaet": 2}}),
    ],
)
def test_a_slip_of_the_pen_is_marked(place: str, key: str, value: Any) -> None:
    tree = json.loads(json.dumps(SMALL))
    assert faults(tree) == []
    table = tree
    for part in filter(None, place.split(".")):
        table = table[int(part) if part.isdigit() else part]
    table[key] = value
    assert faults(tree) != []


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        ("scenario", "duration", "2 * Tp"),
        ("scenario", "duration", "1e3 ms"),
        ("scenario.links.l", "delay", ".5s"),
        ("scenario.links.l", "queue", {"name": "drop_tail", "limit": "0.5 bdp"}),
        ("", "sweep", {'links."a b".rate': ["1 Mbit/s"], "flows[*].cc.name": ["reno"], "scenario.host": ["h"], "vars.N": [2]}),
        ("", "arms", {"a": {"flows[0]": {"path": ["l"]}, "links.l": {"rate": "1 Mbit/s"}, "backends": ["sim"], "repeat": 2}}),
    ],
)
def test_what_is_right_is_not_marked(place: str, key: str, value: Any) -> None:
    tree = json.loads(json.dumps(SMALL))
    table = tree
    for part in filter(None, place.split(".")):
        table = table[int(part) if part.isdigit() else part]
    table[key] = value
    assert faults(tree) == []


def test_the_command_prints_it_or_writes_it_and_says_how_a_study_names_it(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["schema"])
    assert json.loads(printed.stdout) == SCHEMA
    written = CliRunner().invoke(app, ["schema", "--out", str(tmp_path / "s.json")])
    assert written.stdout.endswith("a study beside it begins with the line\n#:schema s.json\n")
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8")) == SCHEMA
