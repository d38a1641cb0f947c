"""A message's way through all layers of both hosts, on one clock: what `sawtooth trace --layers` shows."""

from __future__ import annotations

import json

import polars as pl

from sawtooth.backends import sim
from sawtooth.errors import RunFailed, StudyError
from sawtooth.plan import Plan, Run
from sawtooth.study import did_you_mean

# The moments of a packet's life in their order: column, layer, event.
MOMENTS = (
    ("tcp_send", "tcp", "send"),
    ("driver_send", "driver", "send"),
    ("handed", "driver", "handed"),
    ("wire_begin", "wire", "begin"),
    ("wire_end", "wire", "end"),
    ("arrive", "wire", "arrive"),
    ("driver_receive", "driver", "receive"),
    ("tcp_receive", "tcp", "receive"),
)


def take(plan: Plan, run: Run, flows: list[str] | None = None) -> pl.DataFrame:
    """Does the run once more and gives its table `layers`, of one flow: the first that has a host, or the one that is named.

    Raises:
        StudyError: if no flow has a host, or there is none of that name.
        RunFailed: with the backend's words.

    """
    tree = json.loads(run.scenario)
    record = [*tree.get("record", []), *(["layers"] if "layers" not in tree.get("record", []) else [])]
    if plan.study.backend != "sim" or not tree.get("hosts"):
        raise StudyError("this study has no layers to show", hint="flows have them in the simulator, with `host`: docs/concepts/host.md")
    batch = sim.run_batch([json.dumps({**tree, "record": record})], [run.seed])
    for message in batch.errors.values():
        raise RunFailed(f"the run failed: {message}")
    found = batch.tables["layers"].drop("run")
    names = found["flow"].unique(maintain_order=True).to_list()
    if not names:
        raise StudyError("nothing happened in any layer", hint="no flow has a host, or none began")
    wanted = flows[0] if flows else names[0]
    if wanted not in names:
        raise StudyError(f"there is no flow `{wanted}` with a host", hint=did_you_mean(wanted, names))
    return found.filter(flow=wanted)


def within(layers: pl.DataFrame, span: tuple[float, float]) -> pl.DataFrame:
    """What happens from and to these seconds."""
    return layers.filter(pl.col("t_ns").is_between(round(span[0] * 1e9), round(span[1] * 1e9)))


def packets(layers: pl.DataFrame) -> pl.DataFrame:
    """One row per packet with the times of its moments.

    Columns: packet, kind, seq, bytes (of data), then microseconds of `MOMENTS`, null where it did not come to that; latency_us, from TCP to TCP.
    """
    times = [
        pl.col("t_ns").filter((pl.col("layer") == layer) & (pl.col("event") == event)).first().alias(column)
        for column, layer, event in MOMENTS
    ]  # fmt: skip
    return (
        layers.filter(pl.col("packet") >= 0)
        .group_by("packet", maintain_order=True)
        .agg(pl.col("kind", "seq").first(), pl.col("bytes").filter(pl.col("layer") == "tcp").first(), *times)
        .with_columns(pl.col(column) / 1e3 for column, *_ in MOMENTS)
        .with_columns(latency_us=pl.col("tcp_receive") - pl.col("tcp_send"))
        .sort("packet")
    )
