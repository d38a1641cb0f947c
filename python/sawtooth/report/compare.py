"""Sides laid beside each other: as lines of text, a table, and a page with figures.

`sawtooth compare` takes datasets of one study, the arms of one dataset, or a dataset and a table of published numbers. How a
verdict comes about is in `metrics.agreement`; here nothing is decided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from sawtooth import outputs, reference_files
from sawtooth.counted import counted
from sawtooth.errors import DatasetError, cut
from sawtooth.hints import did_you_mean
from sawtooth.measures import HOWS, Context, Measure
from sawtooth.metrics import agreement, sides
from sawtooth.metrics.agreement import VERDICTS, Comparison
from sawtooth.metrics.matching import NO_SPREAD, Row
from sawtooth.recognise import written
from sawtooth.reference_files import Columns
from sawtooth.references import Reference
from sawtooth.report.compare_rows import (
    MOST_LINES,
    all_flows,
    difference_of,
    furthest,
    groups,
    inside,
    name_of,
    number_of,
    pm,
    positive,
    range_of,
    rank_correlation,
    ratio_says_nothing,
    scale_of,
)  # fmt: skip
from sawtooth.results.dataset import Dataset

_MARKS = {"": "", "at least": "≥ ", "at most": "≤ ", "unbounded": ""}
_STYLES = {"agree": "green", "differ": "red", "not decided": "yellow"}


@dataclass(frozen=True)
class Question:
    """What is compared, and how.

    Attributes:
        metrics: measures, as `sawtooth list metric` has them, or expressions over them; none for completion times of transfers, else goodput.
        tolerance: ratios from 1 / (1 + tolerance) to 1 + tolerance are as good as 1.
        how: `mean`, `sum` or `max` over the flows of a block, or `each` flow by itself.
        arm: only this one.
        of: only these items, or blocks of flows by their name; all if none is named.
        reference: a `[[references]]` table of the study by its name, or a CSV file of published numbers, that the results are held against.
        published: what is said of its columns.
        cell, flow: whose window is drawn; by default the first.

    """

    metrics: Sequence[str] = ()
    tolerance: float = 0.05
    how: str = "mean"
    arm: str | None = None
    reference: str | None = None
    published: Columns | None = None
    cell: int | None = None
    flow: str | None = None
    of: Sequence[str] = ()


def compare(first: Path, others: Sequence[Path], asked: Question) -> Comparison:
    """Compares a results directory with others, with a table of published numbers, or its arms with each other.

    Raises:
        DatasetError: says what of the directories, the table or the question cannot be used, and what to do.

    """
    if asked.how not in HOWS:
        raise DatasetError(f"there is no way `{asked.how}` to take flows together", did_you_mean(asked.how, HOWS))
    if not 0 < asked.tolerance < math.inf:
        raise DatasetError(f"the tolerance must be above 0, found {asked.tolerance:g}", "such as 5 %, or 0.05")
    made = _compared(first, others, asked)
    return replace(made, notes=[f"only of {', '.join(asked.of)}", *made.notes]) if asked.of else made


def _compared(first: Path, others: Sequence[Path], asked: Question) -> Comparison:
    dataset = Dataset.open(first)
    named = published_side([_readable(path) for path in others], asked)
    if named is not None:
        reference, label = reference_of(dataset, named, asked.published or Columns())
        pairs = _held(reference, label, asked, sides.context(dataset))
        return agreement.with_reference(dataset, reference, label, pairs, asked.tolerance, asked.how, asked.arm, asked.of)
    if asked.published is not None:
        raise DatasetError(
            f"{others[0]} is no file" if others else "which table is `--value` a column of?",
            "--value names a column of a CSV of published numbers, or of a --reference",
        )
    if not others:
        if asked.arm is not None and not any(dataset.runs["arm"]):
            raise DatasetError(f"{first} has no arms, so none is called `{asked.arm}`", "leave out --arm, and name what it is held against")
        if asked.arm is not None:
            raise DatasetError("the arms of one dataset are compared with each other: there is nothing to choose with --arm")
        return agreement.of_arms(dataset, asked.metrics, asked.tolerance, asked.how, asked.of)
    opened = [dataset, *map(Dataset.open, others)]
    twice = next(
        (path for at, path in enumerate([first, *others]) if path.resolve() in {each.resolve() for each in [first, *others][:at]}), None
    )
    if twice is not None:
        raise DatasetError(
            f"{twice} is named twice: whatever was measured agrees with itself, and nothing can be learnt of that",
            "name each directory once; without a second one the arms of the first are compared",
        )
    return agreement.of_datasets(opened, asked.metrics, asked.tolerance, asked.how, asked.arm, asked.of)


def published_side(others: Sequence[Path], asked: Question) -> str | None:
    """The table that results are held against, as it is named; None if there is none.

    Raises:
        DatasetError: if more is named than can be compared.

    """
    tables = [path for path in others if path.is_file() or path.suffix == ".csv"]
    if asked.reference is None and not tables:
        return None
    if asked.reference is not None and others:
        raise DatasetError(f"--reference {asked.reference} is what the results are held against, and so is {others[0]}", "name one of them")
    if len(others) > 1:
        raise DatasetError(
            f"one directory is held against a table, and {tables[0]} is one", "compare with each table by itself, or with directories only"
        )
    return str(tables[0]) if asked.reference is None else asked.reference


def reference_of(dataset: Dataset, named: str, columns: Columns) -> tuple[Reference, str]:
    """The published numbers of a name, or of a file; and what they are called.

    Raises:
        DatasetError: if there are none, or they cannot be read.

    """
    known = reference_files.of_results(dataset, sides.factors(dataset))
    if named in known:
        said = {"--sd": columns.sd, "--ci": columns.ci, "--n": columns.n, "--unit": columns.unit, "--digits": columns.digits, "--factor": columns.factors}  # fmt: skip
        option = next((name for name, value in said.items() if value), None)
        if option is not None:
            raise DatasetError(
                f"{option} is for a CSV file; the study says it of its reference `{named}`",
                "change it there: `sawtooth run` takes it over and runs nothing again",
            )
        return known[named], named
    path = _readable(Path(named))
    if not named or (not path.exists() and path.suffix != ".csv"):
        there = did_you_mean(named, known) if known else "the study has no [[references]]; a CSV file can be named"
        raise DatasetError(f"{dataset.directory} has no reference `{cut(named)}`, and there is no such file", there)
    unset = [name for name in (*sides.factors(dataset), "arm") if not set(dataset.runs[name]).isdisjoint((None, ""))]
    return reference_files.of_file(path, columns, sides.factors(dataset), unset), path.stem


def _readable(path: Path) -> Path:
    """The path, if the system can tell whether anything is there."""
    try:
        path.exists()
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise DatasetError(f"cannot read {cut(str(path))}: {why}", "name another, or see what `ls -ld` says of it") from None
    return path


def _held(reference: Reference, label: str, asked: Question, context: Context) -> list[tuple[Measure, str]]:
    """Which metric is held against which column: what is asked for, or each column that is called like a measure."""
    columns, value = list(reference.quantities), asked.published.value if asked.published else None
    if value is not None and value not in columns:
        raise DatasetError(f"`{label}` has no column `{value}`", did_you_mean(value, columns))
    if not asked.metrics:
        alike = [(found, column) for column in ([value] if value else columns) if (found := _alike(column, context)) is not None]
        if alike:
            return alike
    if len(asked.metrics) != 1:
        raise DatasetError(
            f"one metric is held against `{value or label}`, found {len(asked.metrics)}", "--metric COLUMN names it, such as completion_ns"
        )
    (metric,) = asked.metrics
    if value is None and len(columns) > 1 and metric not in columns:
        raise DatasetError(f"which column of {reference.path} is compared?", f"--value COLUMN says it; there are {', '.join(columns)}")
    return [(sides.chosen_measure(metric, context), value or (metric if metric in columns else columns[0]))]


def _alike(column: str, context: Context) -> Measure | None:
    """The measure that a column is called like."""
    try:
        return sides.chosen_measure(column, context)
    except DatasetError:
        return None


def tolerance(text: str) -> float:
    """A tolerance as people write it: `5 %`, `5%` or `0.05`. A plain number from 1 on is refused: `5` may be meant as 5 %.

    Raises:
        DatasetError: if it is no share.

    """
    percent = text.strip().endswith("%")
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise DatasetError(f"`{text}` is no tolerance", "such as 5 %, or 0.05") from None
    if not 0 < number < math.inf:
        raise DatasetError(f"`{text}` is no tolerance: it is above 0", "such as 5 %, or 0.05")
    if number >= 1 and not percent:
        raise DatasetError(
            f"`{text}` is {100 * number:g} % without a sign of it", f"write `{text.strip()} %` or {number / 100:g}, or `{100 * number:g} %`"
        )
    return number / 100 if percent else number


def published(
    value: str | None,
    *,
    sd: str | None = None,
    ci: str | None = None,
    n: str | None = None,
    unit: str | None = None,
    digits: int | None = None,
    factors: Sequence[str] = (),
) -> Columns | None:
    """What the columns of a table of published numbers are, with `factors` as `NAME=COLUMN`; None if nothing is said.

    Raises:
        DatasetError: if what is said is not enough.

    """
    if value is None:
        if sd or ci or n or unit or digits is not None:
            raise DatasetError("which column holds the published means?", "--value COLUMN says it")
        if not factors:
            return None
    named = dict[str, str]()
    for text in factors:
        name, equals, column = text.partition("=")
        if not (name and equals and column):
            raise DatasetError(f"`--factor {text}` is not NAME=COLUMN", "such as --factor delay=delay_ms")
        named[name] = column
    return Columns(value, sd, ci, n, unit, digits, named)


def write_csv(comparison: Comparison, path: Path, reads: Sequence[Path] = ()) -> None:
    """Writes every row, in base units, and every cell that was not compared.

    Raises:
        DatasetError: if it cannot be written.

    """
    outputs.write(path, comparison.every_cell().write_csv().encode(), "a table", reads)


def summary(comparison: Comparison) -> list[str]:
    """The findings in a few lines, by metric."""
    lines: list[str] = []
    grouped = groups(comparison)
    several = len({pair for _, pair in grouped}) > 1
    for (metric, (first, second)), rows in grouped.items():
        named = f"{metric.name}, {first} / {second}" if several else metric.name
        count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
        lines.append(
            f"{named}: of {len(rows)} rows {count['agree']} agree within {comparison.tolerance * 100:.3g} % (ratio "
            f"{1 / (1 + comparison.tolerance):.3f} to {1 + comparison.tolerance:.3f}), {count['differ']} differ by more, "
            f"{count['not decided']} are not decided"
        )
        untested = [row for row in rows if row.p_within is None and not row.bound]
        for words, some in (
            ("have one replicate, of which", [row for row in untested if NO_SPREAD not in row.why]),
            (f"have {NO_SPREAD}, so that of them", [row for row in untested if NO_SPREAD in row.why]),
        ):
            if some:
                near = sum(inside(row, comparison.tolerance) for row in some)
                lines.append(f"{named}: {len(some)} rows {words} nothing can be tested; {near} of those ratios lie within")
        unbounded = sum(row.bound == "unbounded" for row in rows)
        if unbounded:
            lines.append(
                f"{named}: of {unbounded} rows runs of both sides did not finish, so that nothing bounds the ratio; --metric names another measure"
            )
        lines += [f"{named}: {text}" for text in _together(rows, "the ratio" if several else f"{first} / {second}")]
        apart = [row for row in rows if ratio_says_nothing(row) and row.difference.estimate != 0]
        far = [row for row in furthest(rows) if positive(row.ratio.estimate) and row.ratio.estimate != 1 and row not in apart][:3]
        if far:
            lines.append(
                f"{named}: furthest from 1: "
                + "; ".join(f"{name_of(row, rows)}: {f'{row.bound} ' if row.bound else ''}{row.ratio.estimate:.3f}" for row in far)
            )
        if apart:
            more = f"; and {len(apart) - 3} more" if len(apart) > 3 else ""
            lines.append(
                f"{named}: {first} less {second}, where {second} may be 0 and a ratio says nothing: "
                + "; ".join(f"{name_of(row, rows)}: {difference_of(row)}" for row in _widest(apart)[:3])
                + more
            )
    if comparison.unmatched:
        one, none = (sum((entry.side == "neither") == is_none for entry in comparison.unmatched) for is_none in (False, True))
        parts = [f"{counted(count, 'entry')} {where}" for count, where in ((one, "only on one side"), (none, "on neither")) if count]
        lines.append(f"not compared, and listed: {', '.join(parts)}")
    return lines


def _together(rows: Sequence[Row], ratio: str) -> list[str]:
    """What all ratios come to, and of how many rows that is; of those that are bounds the bound."""
    known = [row.ratio.estimate for row in rows if positive(row.ratio.estimate) and not row.bound]
    open_ = sum(bool(row.bound) for row in rows)
    lines: list[str] = []
    if known:
        ends = f" (least {min(known):.4f}, most {max(known):.4f})" if len(known) > 1 else ""
        only = [*(["all of whose runs finished"] if open_ else []), *(["whose ratio is above 0"] if len(known) + open_ < len(rows) else [])]
        of = f"of the {len(known)} of {len(rows)} rows {' and '.join(only)}, " if only else ""
        lines.append(f"{of}{ratio} has the geometric mean {_geometric(known):.4f}{ends}{rank_correlation(rows)}")
    bounds = {row.bound for row in rows if row.bound}
    told = [row.ratio.estimate for row in rows]
    if len(bounds) == 1 and "unbounded" not in bounds and all(map(positive, told)):
        lines.append(f"of all {len(rows)} rows {ratio} has a geometric mean of {bounds.pop()} {_geometric(told):.4f}")
    one_sided = sum(not row.bound and (math.isinf(row.ratio.estimate) or row.ratio.estimate == 0) for row in rows)
    if one_sided:
        lines.append(f"{one_sided} rows have a mean of 0 on one side only")
    return lines


def _widest(rows: Sequence[Row]) -> list[Row]:
    """The rows by their difference, the largest first."""
    return sorted(rows, key=lambda row: -abs(row.difference.estimate))


def _geometric(ratios: Sequence[float]) -> float:
    return math.exp(float(np.mean(np.log(ratios))))


def table(comparison: Comparison, most: int = MOST_LINES) -> Table:
    """The rows for a terminal, in the order of the plan; of more than `most`, those furthest from 1."""
    rows = list(comparison.rows)
    if len(rows) > most:
        chosen = {id(row) for row in furthest(rows)[:most]}
        rows = [row for row in rows if id(row) in chosen]
    units = {
        metric: scale_of(metric, [row for row in comparison.rows if row.metric == metric])
        for metric in dict.fromkeys(row.metric for row in rows)
    }
    names = [name for name in comparison.factors if len({row.factors.get(name) for row in comparison.rows}) > 1]
    several = len({row.sides for row in comparison.rows}) > 1
    # Of arms the pair is their name.
    pairs = several and any(row.arm != row.pair for row in comparison.rows)
    arms, items = (len({getattr(row, name) for row in comparison.rows}) > 1 for name in ("arm", "item"))
    digits = any(row.digits for row in comparison.rows)
    zero = any(map(ratio_says_nothing, rows))
    made = Table(box=None, pad_edge=False)
    for head in [
        "cell",
        *names,
        *(["of"] if pairs else []),
        *(["arm"] if arms else []),
        *(["flow" if all_flows(comparison) else "item"] if items else []),
        "metric",
    ]:
        made.add_column(head, no_wrap=True)
    for head in (*(("first", "second") if several else comparison.sides), "ratio", "95 %", *(["difference"] if zero else [])):
        made.add_column(head, justify="right", no_wrap=True)
    for head in ["verdict", *(["digits"] if digits else [])]:
        made.add_column(head, no_wrap=True)
    for row in rows:
        divisor, unit = units[row.metric]
        texts = [
            str(row.cell),
            *(written(row.factors.get(name, "")) for name in names),
            *([row.pair] if pairs else []),
            *([row.arm] if arms else []),
            *([row.item] if items else []),
        ]
        texts.append(f"{row.metric.name} ({unit})" if unit else row.metric.name)
        texts += [pm(side, divisor) for side in (row.first, row.second)]
        if ratio_says_nothing(row):
            texts += ["-", "", difference_of(row)]
        else:
            texts += [_MARKS[row.bound] + number_of(row.ratio.estimate, 3), range_of(row.ratio), *([""] if zero else [])]
        verdict = Text(row.verdict + (f" ({row.why})" if row.why else ""), style=_STYLES[row.verdict])
        made.add_row(*(Text(text) for text in texts), verdict, *([Text(row.digits)] if digits else []))
    return made


def key(comparison: Comparison, *, columns: bool = False) -> list[str]:
    """What the table's signs and columns mean, and what it leaves out; or, of one with all `columns`, such as a page has."""
    lines: list[str] = []
    if len(comparison.rows) > MOST_LINES and not columns:
        lines.append(f"the {MOST_LINES} of {len(comparison.rows)} rows furthest from 1; --csv FILE writes all")
    if len({row.sides for row in comparison.rows}) > 1:
        lines.append("ratio: first over second")
    if columns:
        lines.append("low, high: of a mean its 95 % t interval, of a ratio Fieller's")
    else:
        halves = any("±" in pm(side, 1.0) for row in comparison.rows for side in (row.first, row.second))
        lines.append(("±: half of the mean's 95 % t interval; " if halves else "") + "95 %: the ratio's Fieller interval")
    if any(map(ratio_says_nothing, comparison.rows)):
        lines.append("difference: first less second with its 95 % interval, where second may be 0 and a ratio says nothing")
    if any(row.bound for row in comparison.rows):
        lines.append("≥, ≤: runs did not finish, and it is at least, or at most, so much")
    if any(row.digits for row in comparison.rows):
        lines.append("digits: whether the mean, rounded as the table is, is the published number")
    return lines


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Everything, for other programs; numbers in base units."""
    return {
        "sides": list(comparison.sides),
        "tolerance": comparison.tolerance,
        "summary": summary(comparison),
        "verdicts": {verdict: sum(row.verdict == verdict for row in comparison.rows) for verdict in VERDICTS},
        "rows": comparison.frame().to_dicts(),
        "only": [vars(entry) for entry in comparison.unmatched],
        "notes": list(comparison.notes),
    }
