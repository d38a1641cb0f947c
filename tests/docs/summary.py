"""How many tests there are, by kind: `python -m tests.docs.summary` counts them and writes the table of docs/development/tests.md, with the day and the commit.

Tests in Python are counted as pytest collects them, each case of a parameter for itself; those in Rust as the sources have them, where a property of random cases counts once.
"""

from __future__ import annotations

import datetime
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.blocks import filled

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/development/tests.md"
COMMAND = "python -m tests.docs.summary"
FOLDERS = {
    "advise": "what `sawtooth advise` recommends",
    "captures": "captures, and scenarios fitted to them",
    "cluster": "clusters, shards, merging",
    "conformance": "scripts of packets",
    "docs": "documentation: snippets, links, numbers, the site",
    "errors": "the texts of errors",
    "exchange": "files of iperf3, flent and qvis",
    "fuzz": "random inputs that had once found a fault",
    "guards": "what must not slip",
    "kernel": "real kernels",
    "lint": "rules of the linter",
    "linux": "beside a kernel of Linux",
    "live": "live connections",
    "peers": "beside ns-2, ns-3 and others",
    "property": "properties of random cases",
    "robustness": "damage, kills, full disks",
    "studies": "the studies that come along",
    "unit": "each module",
    "web": "the explorer",
}
"""Of tests in Python, what each is about."""


class Row(NamedTuple):
    """A row of the table: of how many tests, how many need a browser, and how many run in `make test-long` alone."""

    kind: str
    tests: int
    browser: int = 0
    long: int = 0


class _Collected:
    """Takes what pytest has collected."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = session.items


def python() -> list[Row]:
    """Tests in Python, by folder."""
    collected = _Collected()
    if pytest.main(["--collect-only", "-qq", "-m", "long or not long", "--no-header", str(ROOT / "tests")], plugins=[collected]):
        raise SystemExit("pytest collects the tests with errors: `pytest --collect-only` tells them")
    tests, browser, long = Counter[str](), Counter[str](), Counter[str]()
    for item in collected.items:
        folder = item.path.relative_to(ROOT / "tests").parts[0]
        tests[folder] += 1
        browser[folder] += "browser" in getattr(item, "fixturenames", ())
        long[folder] += item.get_closest_marker("long") is not None
    return [Row(f"`tests/{folder}`: {FOLDERS[folder]}", tests[folder], browser[folder], long[folder]) for folder in sorted(tests)]


def rust() -> list[Row]:
    """Tests in Rust: beside the code, from outside, and properties."""
    beside, outside, properties = 0, 0, 0
    for path in sorted((ROOT / "crates").glob("*/*/**/*.rs")):
        text = path.read_text(encoding="utf-8")
        random = sum(block.count("#[test]") for _, block in re.findall(r"(?ms)^( *)proptest! \{\n(.*?)^\1\}$", text))
        single = text.count("#[test]") - random
        is_outside = path.relative_to(ROOT / "crates").parts[1] == "tests"
        beside, outside = beside + single * (not is_outside), outside + single * is_outside
        properties += random
    return [Row("beside the code", beside), Row("from outside", outside), Row("properties of random cases", properties)]


def files() -> list[Row]:
    """Files that are tests, each run by one of those above."""
    return [
        Row("scripts of packets, `tests/conformance`", _number("tests/conformance", "*.pkt")),
        Row("examples of recipes, `tests/recipes`", _number("tests/recipes", "*.toml")),
        Row("inputs that had once found a fault, `tests/fuzz/corpus`", _number("tests/fuzz/corpus", "*")),
        Row("golden files of the crates", _number("crates", "tests/golden/*") + _number("crates", "tests/golden/*/*")),
    ]


def _number(folder: str, pattern: str) -> int:
    return sum(path.is_file() for path in (ROOT / folder).rglob(pattern))


def table(head: str, columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """In Markdown."""
    yield f"| {' | '.join([head, *columns])} |"
    yield "|---|" + "---:|" * len(columns)
    for row in rows:
        yield f"| {row.kind} | " + " | ".join(f"{number:,}" if number else "" for number in row[1 : 1 + len(columns)]) + " |"


def with_sum(rows: Sequence[Row]) -> list[Row]:
    """Rows, and all of them together."""
    return [*rows, Row("**all**", *(sum(row[at] for row in rows) for at in (1, 2, 3)))]


def main() -> None:
    """Writes the table."""
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    day = datetime.datetime.now(tz=datetime.UTC).date()
    lines = [
        f"*Measured on {day} in commit `{commit}` by `{COMMAND}`.*", "",
        *table("Python", ("Tests", "in a browser", "long"), with_sum(python())), "",
        *table("Rust", ("Tests",), with_sum(rust())), "",
        *table("Files, each used by a test above", ("Number",), files()),
    ]  # fmt: skip
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), {"tests": "\n".join([*lines, ""])}), encoding="utf-8")


if __name__ == "__main__":
    main()
