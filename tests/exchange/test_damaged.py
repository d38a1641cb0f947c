"""Whatever becomes of a file of iperf3 or flent, it is read or refused with its name, and nothing else happens."""

from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from sawtooth import foreign
from sawtooth.errors import FileUnreadable
from sawtooth.foreign import jsontext

DATA = sorted((Path(__file__).parent / "data").iterdir())
ODD: list[Any] = [None, True, -1, 0.5, 1e400, 10**30, "x", "", [], [1], {}, {"a": 1}]


def tried(content: bytes, file: Path) -> None:
    file.write_bytes(content)
    try:
        measured = foreign.read(file)
        foreign.as_csv(measured)
    except FileUnreadable as error:
        assert str(file) in str(error)


def text(path: Path) -> bytes:
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_a_file_that_ends_anywhere_is_read_or_refused(path: Path, tmp_path: Path) -> None:
    content, chance = text(path), random.Random(1)
    for _ in range(40):
        tried(content[: chance.randrange(len(content))], tmp_path / "x.json")


def places(value: Any, where: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [where, *(place for name, each in inner for place in places(each, (*where, name)))]


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_a_value_of_another_kind_is_read_or_refused(path: Path, tmp_path: Path) -> None:
    content, chance = text(path), random.Random(2)
    parts = [node.value for node in jsontext.values(jsontext.Text("x", content.decode()))]
    for _ in range(150):
        changed = copy.deepcopy(parts)
        # Few of the many values of a long list.
        where = chance.choice(
            [place for place in places(changed) if place and (len(place) < 2 or not isinstance(place[-1], int) or place[-1] < 3)]
        )
        inner: Any = changed
        for step in where[:-1]:
            inner = inner[step]
        if chance.random() < 0.2 and isinstance(inner, dict):
            del inner[where[-1]]
        else:
            inner[where[-1]] = chance.choice(ODD)
        tried("\n".join(json.dumps(part) for part in changed).encode(), tmp_path / "x.json")


def test_changed_bytes_are_read_or_refused(tmp_path: Path) -> None:
    chance = random.Random(3)
    for path in DATA:
        content = path.read_bytes()
        for _ in range(30):
            changed = bytearray(content)
            for _ in range(chance.randrange(1, 4)):
                changed[chance.randrange(len(changed))] = chance.randrange(256)
            tried(bytes(changed), tmp_path / "x.json")
