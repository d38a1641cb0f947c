"""What `sawtooth compare` does where a side is a capture."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sawtooth import captures, outputs
from sawtooth.beside import Beside, beside
from sawtooth.beside.numbers import WHY_NO_VERDICT
from sawtooth.errors import DatasetError
from sawtooth.kinds import Kind, kind
from sawtooth.plots import style
from sawtooth.scales import number, scale


def wanted(paths: Sequence[Path]) -> bool:
    """Whether a side is a capture."""
    return any(kind(path) is Kind.CAPTURE for path in paths)


def compared(
    paths: Sequence[Path], flows: Sequence[str], cell: int | None, arm: str | None, others: Mapping[str, object], out: Path | None
) -> Beside:
    """Reads both sides, and writes their numbers and a figure if that is wanted.

    Raises:
        DatasetError: if there are not two sides, or options are given that are for results.

    """
    if len(paths) != 2:
        raise DatasetError(
            f"a capture is compared with one other, and {len(paths) - 1 or 'none'} {'is' if len(paths) < 3 else 'are'} named",
            "name another capture, a results directory, or a study whose first run is simulated",
        )
    if len(flows) > 2:
        raise DatasetError(
            f"--flow names a flow of each side, and {len(flows)} are named", "the first is of the first side, the second of the other"
        )
    if given := [option for option, value in others.items() if value not in (None, [])]:
        raise DatasetError(f"{given[0]} is for results, whose replicates it tells of; a capture is one run", "leave it out")
    chosen = (flows[0] if flows else None, flows[1] if len(flows) > 1 else None)
    made = beside(*paths, flows=chosen, cell=cell, arm=arm, on_progress=captures.progress_lines(str(paths[0])))
    if out is not None:
        outputs.write_all(out, {**style.files_of(made.figure(), "beside"), "beside.csv": made.numbers.write_csv().encode()})
    return made


def lines(made: Beside, out: Path | None) -> Iterator[str]:
    """Which flows they are and where they were seen, the numbers in a table, what they say, and what was written."""
    yield from (f"{each.name}: {each.flow}, {each.taken}; {each.trips}" for each in made.sides)
    yield ""
    rows: list[tuple[str, ...]] = [("", *made.labels, "ratio")]
    for row in made.numbers.iter_rows(named=True):
        if row["first"] is None and row["second"] is None:
            continue
        divisor, unit = scale(row["unit"], [abs(value) for value in (row["first"], row["second"]) if value is not None])
        share = row["what"].startswith(("limited", "share"))
        values = [
            "not known" if value is None else f"{100 * value:.2f} %" if share else f"{number(value / divisor)} {unit}".strip()
            for value in (row["first"], row["second"])
        ]
        rows.append((row["what"], *values, "" if row["ratio"] is None or share else f"{row['ratio']:.4g}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield from (
        "  ".join([f"{row[0]:{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in rows
    )
    yield ""
    yield WHY_NO_VERDICT
    if out is not None:
        yield f"figure: {out / 'beside.svg'}"
        yield f"numbers: {out / 'beside.csv'}"


def as_json(made: Beside, out: Path | None) -> dict[str, Any]:
    """For other programs, in base units."""
    return {
        "sides": [
            {"name": each.name, "flow": each.flow, "taken": each.taken, "round_trips": each.trips, "damage": each.damage}
            for each in made.sides
        ],
        "numbers": made.numbers.to_dicts(),
        "verdict": None,
        "why_no_verdict": WHY_NO_VERDICT,
        "notes": made.notes,
        "written": [str(out / f"beside.{kind}") for kind in ("svg", "png", "csv")] if out is not None else [],
    }


def tell_notes(made: Beside) -> None:
    """What is to be known of the sides, on standard error."""
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    for warning in dict.fromkeys(each.warning for each in made.sides if each.warning is not None):
        print(f"warning: {warning}", file=sys.stderr)


def status(made: Beside) -> int:
    """The exit code: 1 if a capture is damaged, so that what is told of it is of its beginning."""
    return int(any(each.damage is not None for each in made.sides))
