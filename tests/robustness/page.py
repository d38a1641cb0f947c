"""The tables of docs/validation/robustness.md, made of what the programs that try something have left.

    python -m tests.robustness.page

Each program writes `results/robustness/NAME.json` (several, if it was run in pieces), and has a function here that makes of them what stands
between `<!-- NAME -->` and `<!-- /NAME -->` on the page. What was not run stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PAGE = Path("docs/validation/robustness.md")
RESULTS = Path("results/robustness")


def write(name: str, found: dict[str, Any], results: Path = RESULTS) -> None:
    """What a program has found, for the page."""
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")


def read(pattern: str, results: Path = RESULTS) -> list[dict[str, Any]]:
    """What was found, of all pieces."""
    return [json.loads(path.read_text()) for path in sorted(results.glob(f"{pattern}.json"))]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Numbers to the right."""
    numbers = [all(isinstance(row[at], int) for row in rows) for at in range(len(head))]
    rule = "".join("---:|" if number else "---|" for number in numbers)
    lines = [head, *([f"{each:,}" if isinstance(each, int) else str(each) for each in row] for row in rows)]
    first, *rest = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([first, f"|{rule}", *rest])


def fill(page: str, name: str, text: str) -> str:
    """The page with `text` between the markers of `name`."""
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- /{name} -->\n")
    assert begin and end, f"{PAGE} has no <!-- {name} --> with <!-- /{name} --> after it, each on a line of its own: add them"
    return f"{before}{begin}\n{text}\n\n{end}{after}"


def flips(results: Path) -> str | None:
    """Single bits that were flipped."""
    pieces = read("flips", results)
    if not pieces:
        return None
    found = pieces[0]
    rows = [[row[key] for key in ("file", "flips", "refused", "noted", "healed", "left_out")] for row in found["rows"]]
    count, silent = sum(row["flips"] for row in found["rows"]), len(found["silent"])
    said = f"With seed {found['seed']}, {count:,} bits were flipped; {silent or 'none'} of them {'were' if silent > 1 else 'was'} silent."
    return f"{said}\n\n{table(['file', 'flips', 'refused', 'noted', 'healed', 'left out'], rows)}"


KILLED = {
    "sweep": "a sweep with four threads",
    "two": "one or both of two sweeps on one directory",
    "guests": "guests of a sweep, and now and then their laboratory",
    "report": "a report",
}


def kills(results: Path) -> str | None:
    """Processes that were killed."""
    rows: list[list[object]] = []
    for kind, what in KILLED.items():
        pieces = read(f"kills-{kind}-*", results)
        if pieces:
            sums = [sum(piece[key] for piece in pieces) for key in ("kills", "stored", "ends")]
            rows.append([what, *sums, sum(len(piece["faults"]) for piece in pieces)])
    return table(["killed", "kills", "batches stored at the time", "ends compared", "faults"], rows) if rows else None


SECTIONS: dict[str, Callable[[Path], str | None]] = {"flips": flips, "kills": kills}
"""What makes the text of which section, of a directory of results; nothing if there are none."""


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, section in SECTIONS.items():
        text = section(RESULTS)
        print(f"{name}: {'as it was, there are no results' if text is None else 'written'}")
        page = page if text is None else fill(page, name, text)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
