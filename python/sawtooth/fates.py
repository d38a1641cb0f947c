"""When single packets of a run were dropped, or lost on a wire: the run is done once more, with a row for each packet at each link."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from sawtooth import _core
from sawtooth.backends.registry import Simulator
from sawtooth.errors import RunFailed
from sawtooth.plan import Run
from sawtooth.stats import Vector
from sawtooth.trace import Trace, duration_of

MOST_PACKETS = 3e6
"""Rows of single packets, at each link that they cross."""


def packets_until(run: Run, until: float) -> float:
    """Rows of single packets that a run has by then, at most about."""
    _, paths = _core.network(run.scenario)
    crossings = sum(2 * len(path) for _, path in paths) / max(len(paths), 1)
    return run.cost * crossings * min(until / duration_of(run), 1.0)


def recorded_packets(run: Run, begin: float, until: float, backend: Simulator) -> pl.DataFrame:
    """The table `packets` of a stretch of a run, seconds.

    Raises:
        RunFailed: with the simulator's words.

    """
    tree: dict[str, Any] = {key: value for key, value in json.loads(run.scenario).items() if key != "sample"}
    tree |= {"record": ["packets"], "record_from": f"{begin:.9f} s", "record_until": f"{until:.9f} s"}
    batch = backend.run_batch([json.dumps(tree)], [run.seed])
    for message in batch.errors.values():
        raise RunFailed(f"the run failed: {message}")
    return batch.tables["packets"]


def lost_on_wires(taken: Trace, span: tuple[float, float], backend: Simulator) -> dict[str, Vector] | None:
    """When packets were transmitted by each link that were lost on its wire, in a stretch of a simulated run, forward, seconds; None if there are too many packets to look.

    Raises:
        RunFailed: with the simulator's words.

    """
    if not taken.links["lost_packets"].sum():
        return {}
    if packets_until(taken.run, span[1]) > MOST_PACKETS:
        return None
    lost = recorded_packets(taken.run, *span, backend).filter(fate="lost", direction="forward").sort("started_ns")
    return {str(link): rows["started_ns"].to_numpy() * 1e-9 for (link,), rows in lost.group_by("link", maintain_order=True)}
