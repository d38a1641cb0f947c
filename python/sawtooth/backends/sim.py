"""The simulator: runs of a batch, one after the other, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sawtooth import _core
from sawtooth.backends.batch import Batch
from sawtooth.tables import frame_of


def run_batch(
    scenarios: Sequence[str], seeds: Sequence[int], captures: Sequence[_core.CaptureRequest] = (), series_of: str | None = None
) -> Batch:
    """Runs scenarios (JSON text) with their seeds. A run that fails is reported; the others go on.

    Args:
        scenarios: what is run.
        seeds: of each.
        captures: what is captured of the first of them.
        series_of: the flow of TCP whose rows alone the table `series` has, where a scenario has many others; all if none is named.

    """
    outcomes = run_share(scenarios, seeds, captures=captures, series_of=series_of)
    assert outcomes is not None
    return gather([outcomes])


def run_share(
    scenarios: Sequence[str],
    seeds: Sequence[int],
    stop: _core.StopRequest | None = None,
    captures: Sequence[_core.CaptureRequest] = (),
    series_of: str | None = None,
) -> _core.Outcomes | None:
    """Runs some of a batch; what comes out is for `gather`. Nothing does once it is told to stop."""
    return _core.run_all(list(scenarios), list(seeds), stop, list(captures), series_of)


def gather(outcomes: Sequence[_core.Outcomes], columns: Mapping[str, Collection[str]] | None = None) -> Batch:
    """The batch of which these shares are, in the order of its runs. Tables are made here and not of each share: that takes as long as several short runs.

    Args:
        outcomes: the shares.
        columns: which of each table are wanted, where those who ask wait for them; all if nothing is said.

    """
    outcome = _core.outcomes_of(list(outcomes))
    tables = outcome["tables"]
    if columns is not None:
        tables = {name: {column: table[column] for column in columns[name]} for name, table in tables.items() if name in columns}
    return Batch(
        tables={name: frame_of(table) for name, table in tables.items()},
        errors=dict(outcome["errors"]),
        deliveries=sum(effort[2] for effort in outcome["efforts"]),
        events=sum(effort[1] for effort in outcome["efforts"]),
    )
