"""Measurements in a results directory, which is reported, compared and drawn as that of a study is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.counted import counted
from sawtooth.errors import DatasetError, StudyError
from sawtooth.importing.files import Found, Source
from sawtooth.importing.settings import Factors, Given, Settings, factors, told_by
from sawtooth.importing.tables import tables
from sawtooth.recognise import level, size
from sawtooth.results.dataset import Dataset, Observation
from sawtooth.study.written import written
from sawtooth.tables import as_status

NAME = "measured"
"""What imported results are called unless a name is given."""


@dataclass(frozen=True)
class Imported:
    """What came of it.

    Attributes:
        dataset: the results.
        factors: by name, the levels of each.
        told: those of the factors that the files tell.
        along: other settings in which files differ, together with their factors.
        failed: files of measurements that did not come to their end, and why: runs that failed.

    """

    dataset: Dataset
    factors: Mapping[str, Sequence[str]]
    told: Sequence[str]
    along: Sequence[str]
    failed: Mapping[Path, str]


def import_files(found: Found, directory: Path, given: Given | None = None, *, name: str = NAME, arm: str | None = None) -> Imported:
    """Makes results of measurements.

    Args:
        found: which.
        directory: where they go; a directory that has them already is made the same.
        given: what is said of the files.
        name: of the results: two datasets of one name can be compared.
        arm: the factor whose levels are arms, which are compared in pairs.

    Raises:
        DatasetError: if a file cannot be read, or the directory holds anything else.
        StudyError: for a factor that is not there, or a pattern that does not fit.

    """
    if found.failed:
        raise DatasetError(f"{len(found.failed)} of {counted(len(found.failed) + len(found.sources), 'file')} cannot be read, the first: {found.failed[0].message}",
                           found.failed[0].hint)  # fmt: skip
    made = factors(found.sources, given or Given())
    if arm is not None and arm not in made.names:
        there = f"the factors are {', '.join(made.names)}" if made.names else "there are none: --set, --pattern and --factors give them"
        raise StudyError(f"there is no factor `{arm}` whose levels could be arms", hint=there)
    levels = {name: _levels([each[name] for each in made.each]) for name in made.names}
    runs, sources = _runs(found.sources, made, levels, arm)
    programs = " and ".join(sorted({told_by(source.measured)["tool"] for source in sources}))
    question = f"What did {programs} measure?"
    tree: dict[str, Any] = {
        "name": name,
        "question": question,
        "scenario": {},
        **({"sweep": swept} if (swept := {each: found for each, found in levels.items() if each != arm and found}) else {}),
        **({"arms": {each: {} for each in levels[arm]}} if arm is not None else {}),
    }
    files = [
        {
            "run": run,
            "file": str(source.path),
            "sha256": source.sha256,
            "program": source.measured.program,
            "time": source.measured.facts.get("time"),
        }
        for run, source in enumerate(sources)
    ]
    dataset = Dataset.imported(directory, Observation(name, question, "generic", programs, _HEAD + written(tree)), runs, files)
    whole = {run: source.measured for run, source in enumerate(sources) if source.measured.damage is None}
    content: dict[str, list[pl.DataFrame]] = {}
    for run, measured in whole.items():
        for table, frame in tables(measured, run).items():
            content.setdefault(table, []).append(frame)
    status = as_status(
        range(len(sources)),
        ["ok" if run in whole else "failed" for run in range(len(sources))],
        [None if run in whole else f"{source.path}: {source.measured.damage}" for run, source in enumerate(sources)],
    )
    with dataset.lock(wait=False):
        dataset.write_batch(0, {table: pl.concat(frames) for table, frames in content.items()}, status)
    failed = {source.path: source.measured.damage for source in sources if source.measured.damage is not None}
    return Imported(dataset, levels, made.told, made.along, failed)


_HEAD = "# Measurements, put here by `sawtooth import`: there is no scenario to be run again, and the sweep tells what they differ in.\n"


def _levels(values: Sequence[str]) -> list[str]:
    """The levels of a factor, each as it is written first: quantities in their order, others as they come."""
    found: dict[str, str] = {}
    for value in values:
        found.setdefault(level(value), value)
    sizes = [size(each) for each in found.values()]
    amounts = [each[0] for each in sizes if each is not None]
    if len(amounts) < len(sizes):
        return list(found.values())
    return [each for _, each in sorted(zip(amounts, found.values(), strict=True))]


def _runs(
    sources: Sequence[Source], made: Factors, levels: Mapping[str, Sequence[str]], arm: str | None
) -> tuple[pl.DataFrame, list[Source]]:
    """The table of runs, and the measurement of each.

    Cells are in the order of levels, and in each replicates in the order of time: of two arms those that were made next to each other are pairs.
    """
    known = {name: {level(each): at for at, each in enumerate(found)} for name, found in levels.items()}
    names = [name for name in made.names if name != arm]

    def key(settings: Settings, name: str) -> int:
        return known[name][level(settings[name])]

    rows: list[tuple[tuple[int, ...], int, float, str, Source]] = [
        (tuple(key(each, name) for name in names), key(each, arm) if arm is not None else 0,
         source.measured.facts.get("begun_s") or 0.0, str(source.path), source)
        for source, each in zip(sources, made.each, strict=True)
    ]  # fmt: skip
    rows.sort(key=lambda row: row[:4])
    cells = {cell: number for number, cell in enumerate(dict.fromkeys(row[0] for row in rows), 1)}
    replicates: Counter[tuple[tuple[int, ...], int]] = Counter()
    table: list[dict[str, object]] = []
    for run, (cell, of_arm, _, _, source) in enumerate(rows):
        replicates[cell, of_arm] += 1
        # A measurement is known by its bytes: what stands in two results is paired with itself, and with nothing else.
        table.append({
            "run": run, "id": source.sha256[:16], "cell": cells[cell], "arm": levels[arm][of_arm] if arm is not None else "",
            "replicate": replicates[cell, of_arm], "seed": int(source.sha256[:15], 16),
        })  # fmt: skip
        for name, at in zip(names, cell, strict=True):
            amount = size(levels[name][at])
            table[-1] |= {name: levels[name][at], f"{name}_value": None if amount is None else amount[0]}
    kinds = {"run": pl.UInt32, "id": pl.String, "cell": pl.UInt32, "arm": pl.String, "replicate": pl.UInt32, "seed": pl.UInt64}
    of_factors = {f"{name}{what}": kind for name in names for what, kind in (("", pl.String), ("_value", pl.Float64))}
    return pl.DataFrame(table, schema={**kinds, **of_factors}), [row[-1] for row in rows]
