"""Datasets of fetches whose times are chosen, for tests of the testbed reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.results.head import RUNS, Head
from sawtooth.results.parts import as_parquet
from sawtooth.study import Study

SCENARIO = """
[scenario]
duration = "10 s"
links.path = { rate = "480 Mbit/s", delay = "delay", queue = { name = "drop_tail", limit = "10 packets" } }

[[scenario.flows]]
path = ["path"]
count = "fetches"
source = { name = "bulk", size = "1 MB" }
"""

Times = Callable[[Mapping[str, Any]], Sequence[float] | None]
"""Given a row of the plan, the seconds of its fetches (not a number: did not complete), or None for a run that failed."""


def dataset(
    directory: Path,
    report: str,
    axes: Mapping[str, Sequence[object]],
    times: Times,
    *,
    arms: Sequence[str] = ("cache", "no-cache"),
    repeat: int = 2,
    fetches: int = 4,
    done: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> Dataset:
    """Plans a study with these axes and stores the times as if they had been measured."""
    # The simulator's variables are quantities: algorithms are numbered here, and named in the plan's table below.
    named = {name: levels for name, levels in axes.items() if name.endswith("cc")}
    axes = {name: list(range(len(levels))) if name in named else levels for name, levels in axes.items()}
    first = {name: levels[0] for name, levels in axes.items()} | {"fetches": fetches}
    if "delay" not in first:
        first["delay"] = "5 ms"
    text = "\n".join([
        f'name = "synthetic"\nquestion = "Which is fastest?"\nreport = "{report}"\nrepeat = {repeat}\n[vars]',
        *(f"{name} = {json.dumps(value)}" for name, value in first.items()),
        SCENARIO,
        "[sweep]",
        *(f'"vars.{name}" = {json.dumps(list(levels))}' for name, levels in axes.items()),
        "[arms]",
        *(f'{arm} = {{ "vars.fetches" = {fetches} }}' for arm in arms),
    ])  # fmt: skip
    plan = make_plan(Study.parse(text, Path("synthetic.toml")))
    Dataset.create(directory, plan)
    head = Head.look(directory)
    table = head.runs.with_columns(
        pl.col(name).replace_strict({str(at): level for at, level in enumerate(levels)}) for name, levels in named.items()
    )
    head.write(str(head.owner), {RUNS: as_parquet(table)})
    made = Dataset.open(directory)
    flows: list[dict[str, object]] = []
    status: list[dict[str, object]] = []
    for row in made.runs.to_dicts():
        if not done(row):
            continue
        seconds = times(row)
        status.append({"run": row["run"], "status": "failed" if seconds is None else "ok",
                       "message": "the guest died" if seconds is None else None})  # fmt: skip
        for at, second in enumerate(seconds or (), 1):
            flows.append({
                "run": row["run"], "flow": f"fetch[{at}]", "cc": row.get("cc", "cubic"), "retransmits": 3, "timeouts": 0,
                "min_rtt_ns": int(2e9 * row["delay_value"]), "completion_ns": -1 if np.isnan(second) else round(second * 1e9),
            })  # fmt: skip
    kinds: dict[str, Any] = {"run": pl.UInt32, "flow": pl.String, "cc": pl.String, "retransmits": pl.UInt64, "timeouts": pl.UInt64,
                             "min_rtt_ns": pl.Int64, "completion_ns": pl.Int64}  # fmt: skip
    made.write_batch(
        0,
        {"flows": pl.DataFrame(flows, schema=kinds)},
        pl.DataFrame(status, schema={"run": pl.UInt32, "status": pl.String, "message": pl.String}),
    )
    return made
