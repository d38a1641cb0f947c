"""What docs/development/criteria.md says of the sources, read and measured: `python -m tests.docs.criteria` prints its evidence with line numbers."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.guards import records, sizes, structure
from tests.guards.rust import Crate
from tests.guards.rust import text as text_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/development/criteria.md"
CORE = ROOT / "crates/sawtooth-core"


@dataclass(frozen=True)
class Evidence:
    """A line that the page names: words in a file; the line is 0 if there is no such one."""

    path: str
    words: str
    line: int


def evidence(page: str) -> Iterator[Evidence]:
    """`` `FILE` (`WORDS`) ``, perhaps over the end of a line."""
    for path, words in re.findall(r"`([\w./-]+\.\w+|Makefile)`\s\(`([^`]+)`\)", page):
        text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
        lines = (number for number, line in enumerate(text.splitlines(), 1) if words.strip() in line)
        yield Evidence(path, words, next(lines, 0))


def scores(page: str) -> list[int]:
    return [int(score) for score in re.findall(r"(?m)^\| \[[^|]+\| (\d) \|$", page)]


def total(page: str) -> tuple[int, int]:
    """The sum that the page says, and of how many."""
    found = re.search(r"\*\*(\d+) of (\d+)\*\*", page)
    assert found is not None
    return int(found[1]), int(found[2])


def bounds(page: str) -> dict[str, tuple[str, int]]:
    """Of each figure `at most` or `at least`, and what."""
    return {name: (kind, int(number)) for name, kind, number in re.findall(r"(?m)^\| ([^|]+) \| (at most|at least) (\d+) \|$", page)}


def _crates() -> list[int]:
    return [*sizes.found(ROOT, (sizes.CRATES,)).values()]


def _core(folder: str = "src") -> Iterator[tuple[Path, str]]:
    return ((path, path.read_text(encoding="utf-8")) for path in sorted((CORE / folder).rglob("*.rs")))


def _tested(*folders: str) -> float:
    """The share of lines of implementation in files that have tests in them or beside them."""
    lines = tested = 0
    for path, text in _core():
        if path.relative_to(CORE / "src").parts[0].removesuffix(".rs") in folders and path.name not in ("tests.rs", "testing.rs"):
            size = sizes.rust_lines(text)
            lines += size
            tested += size * bool(re.search(r"(?m)^(?:pub(?:\(\w+\))? )?mod tests\b", text))
    return 100 * tested / lines


def _count(pattern: str, texts: Iterator[tuple[Path, str]]) -> int:
    return sum(len(re.findall(pattern, text)) for _, text in texts)


def _properties() -> int:
    blocks = (block for _, text in (*_core(), *_core("tests")) for block in re.findall(r"(?ms)^( *)proptest! \{(.*?)^\1\}", text))
    return sum(len(re.findall(r"\bfn \w+\(", block)) for _, block in blocks)


# Where numbers are what a study or a file says, or have no unit.
_PLAIN = ("scenario", "spec", "registry", "record", "expr", "limits", "demand", "dist", "rng", "noise", "fft", "histogram", "units")
_ROWS = ("tcp", "params", "row")
# Numbers of components and of packets, seeds, and counts of what is no segment or byte.
_COUNTED = [
    "bits",
    "buckets",
    "channel",
    "child",
    "connection",
    "count",
    "cycles",
    "dupacks",
    "end",
    "entry",
    "first_stop",
    "flow",
    "hop",
    "host",
    "id",
    "index",
    "number",
    "most",
    "order",
    "other",
    "parent",
    "per_decade",
    "place",
    "port",
    "round",
    "rounds",
    "seed",
    "slot",
    "step",
    "tag",
]
# Shares, factors and probabilities.
_WITHOUT_UNIT = ["alpha", "beta", "gain", "gamma", "growth", "likelihood", "p_classic", "probability", "round_trips", "share", "thresh"]


@cache
def _bare() -> Counter[bool]:
    """Parameters that are bare numbers and have a unit, of all functions, private ones too: those in `cc/` (true), and all others."""
    found = Counter[bool]()
    for source in Crate(ROOT, "sawtooth-core").sources.values():
        if not source.module or source.module[0] in _PLAIN or source.module == _ROWS:
            continue
        for function in source.of("function_item", "function_signature_item"):
            parameters = function.child_by_field_name("parameters")
            for each in parameters.named_children if parameters is not None else []:
                name, kind = (text_of(each.child_by_field_name(part)) for part in ("pattern", "type"))
                is_bare = kind in ("f64", "u64", "u32", "Option<f64>", "Option<u64>", "Option<u32>")
                found[source.module[0] == "cc"] += is_bare and name.lstrip("_") not in (*_COUNTED, *_WITHOUT_UNIT)
    return found


FIGURES: dict[str, Callable[[], float]] = {
    "Lines of implementation of the longest source file of the crates": lambda: max(_crates()),
    "Median of lines of their source files": lambda: statistics.median(_crates()),
    "Source files of the crates with more than 300 lines": lambda: sum(lines > 300 for lines in _crates()),
    "Rows of `tests/guards/structure.txt`": lambda: len(structure.read(structure.TABLE.read_text())),
    "Parameters with a unit that are a bare `f64`, `u64` or `u32`, or an `Option` of one, of functions public and private outside `cc/`": lambda: (
        _bare()[False]
    ),
    "The same in the formulas of `cc/`": lambda: _bare()[True],
    "Citations of an RFC with its section, in the sources of the core": lambda: _count(r"RFC \d+ §", _core()),
    "RFCs that are cited there": lambda: len({name for _, text in _core() for name in re.findall(r"RFC \d+", text)}),
    "Unit tests of the core": lambda: _count(r"#\[test\]", _core()),
    "Share of lines of `cc/`, `queue/` and `tcp/` in files with tests beside them, percent": lambda: _tested("cc", "queue", "tcp"),
    "The same of `sim/`, percent": lambda: _tested("sim"),
    "Tests of the core from outside": lambda: _count(r"#\[test\]", _core("tests")),
    "Properties of random cases": _properties,
    "Hashes of columns and golden rows": lambda: sum(map(len, records.read(records.TABLE.read_text()).values())),
    "Tests of the texts of errors, besides their cases": lambda: sum(
        len(re.findall(r"(?m)^def test_", path.read_text())) for path in (ROOT / "tests/errors").glob("*.py")
    ),
    "Recipes with an example that is applied": lambda: len([*(ROOT / "tests/recipes").glob("*.toml")]),
}


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for each in evidence(page):
        print(f"{each.path}:{each.line}: {each.words}")
    for name, measure in FIGURES.items():
        print(f"{name}: {measure():g}")


if __name__ == "__main__":
    main()
