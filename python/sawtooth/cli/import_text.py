"""What `sawtooth import` says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sawtooth.counted import counted, form
from sawtooth.display import few, first_of
from sawtooth.importing import Found, Imported


def notes(found: Found, made: Imported) -> Iterator[str]:
    """What was left out, and what may not be meant."""
    if found.others:
        yield f"note: left out, as they are of neither iperf3 nor flent: {first_of(found.others)}"
    for path, damage in made.failed.items():
        yield f"warning: {path} counts as a failed run: {damage}"
    runs = made.dataset.runs
    if runs.height > 1 and runs.select("cell", "arm").n_unique() == runs.height:
        by = f", which {' and '.join(made.told)} {form(len(made.told), 'tells', 'tell')} apart" if made.told else ""
        ignoring = f"; --ignore {made.told[0]} takes them as the same" if made.told else ""
        yield f"note: no file is a replicate of another{by}: there will be no intervals{ignoring}"


def lines(made: Imported) -> Iterator[str]:
    """What there is, and what to do with it."""
    runs, directory = made.dataset.runs, made.dataset.directory
    counts = runs.group_by("cell", "arm", maintain_order=True).len()["len"]
    each = f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
    yield f"{counted(runs.height, 'measurement')} in {directory}: {counted(counts.len(), 'setting')}, {each} of each"
    for name, levels in made.factors.items():
        yield f"  {name}{', as the files tell' if name in made.told else ''}: {few(list(levels))}"
    if made.along:
        yield f"  set together with these: {', '.join(made.along)}"
    yield f"`sawtooth report {directory}` shows them"


def as_json(made: Imported) -> dict[str, Any]:
    """The same for other programs."""
    return {
        "directory": str(made.dataset.directory),
        "runs": made.dataset.runs.height,
        "factors": {name: list(levels) for name, levels in made.factors.items()},
        "told_by_files": list(made.told),
        "along": list(made.along),
        "failed": {str(path): why for path, why in made.failed.items()},
        "files": made.dataset.files,
    }
