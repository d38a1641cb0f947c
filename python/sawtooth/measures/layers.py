"""Where a message's time goes: one-way latencies by layer, from the table `layers`.

A message is what one call of write writes. Its time is that of its last byte, from the call until the reading application has it. Of the copies of a
segment that was sent again the one that came first to TCP counts. Between the moments of that byte's way lie the parts (`PARTS`), so they add up to the whole
exactly, in nanoseconds.
"""

from __future__ import annotations

import polars as pl

from sawtooth.measures.parts import PARTS

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
# Those of its bytes above TCP, which the packet's last byte has.
BEFORE, AFTER = ("copied", "socket", "copied"), (("readable", "socket", "readable"), ("read", "application", "read"))

_HAS_DATA = (pl.col("kind") == "data") & (pl.col("bytes").fill_null(0) > 0)


def messages(layers: pl.DataFrame) -> pl.DataFrame:
    """One row per message, in order of runs, flows and messages.

    Args:
        layers: rows of the table `layers`, of whole flows; with or without the column `run`.

    Returns:
        Columns: run if there is one, flow, message (from 1), bytes, seq and packet that bring its last byte, then nanoseconds: its moments (`write`, `copied`, those of
        `MOMENTS`, `readable`, `read`), the parts, and total_ns. What it did not come to by the end of the run is null.

    """
    keys = _keys(layers)
    lives = _lives(layers, keys)
    segments = _through(
        lives.filter(_HAS_DATA)
        .sort(*keys, "seq", "tcp_receive", "packet", nulls_last=True)
        .group_by(*keys, "seq", maintain_order=True)
        .agg(pl.col("bytes", "packet").first()),
        keys,
    ).select(*keys, "through", "seq", "packet")
    # A write without end is no message.
    made = _progress(layers.filter(pl.col("bytes").is_not_null()), "application", "write", keys).rename({"t_ns": "write"})
    made = made.with_columns(message=pl.int_range(1, pl.len() + 1).over(keys))
    made = _reached(made, segments, keys)
    for moment in (BEFORE, *AFTER):
        made = _reached(made, _moment(layers, moment, keys), keys)
    made = made.join(lives.select(*keys, "packet", *(column for column, *_ in MOMENTS)), on=[*keys, "packet"], how="left")
    order = ["write", BEFORE[0], *(column for column, *_ in MOMENTS), *(column for column, *_ in AFTER)]
    return made.select(
        *keys, "message", "bytes", "seq", "packet", *order,
        *((pl.col(part.end) - pl.col(part.begin)).alias(part.column) for part in PARTS),
        total_ns=pl.col("read") - pl.col("write"),
    ).sort(*keys, "message")  # fmt: skip


def packets(layers: pl.DataFrame) -> pl.DataFrame:
    """One row per packet of one flow with the times of its moments.

    Columns: packet, kind, seq, bytes (of data), then nanoseconds: of its last byte when it had been copied to the socket (`copied`), those of `MOMENTS`, and of
    its last byte when it was readable and when the application had read it; null where it did not come to that. What came from another copy of a segment is not this one's.
    """
    lives = _lives(layers, [])
    whose = _through(lives.filter(_HAS_DATA).unique("seq", keep="first", maintain_order=True).sort("seq"), []).select("seq", "through")
    for moment in (BEFORE, *AFTER):
        whose = _reached(whose, _moment(layers, moment, []), [])
    shown = ["packet", "kind", "seq", "bytes", BEFORE[0], *(column for column, *_ in MOMENTS), *(column for column, *_ in AFTER)]
    # Acknowledgements have the number of the segment that they wait for: nothing of its bytes is theirs.
    brought = pl.col("tcp_receive") <= pl.col(AFTER[0][0])
    data = lives.filter(_HAS_DATA).join(whose, on="seq", how="left").select(shown)
    data = data.with_columns(pl.when(brought).then(pl.col(column)).alias(column) for column, *_ in AFTER)
    other = lives.filter(~_HAS_DATA)
    return pl.concat([data, other], how="diagonal").select(shown).sort("packet")


def _keys(layers: pl.DataFrame) -> list[str]:
    return ["run", "flow"] if "run" in layers.columns else ["flow"]


def _lives(layers: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """One row per packet: its kind, seq, bytes of data, and when it came to its `MOMENTS`."""
    times = [
        pl.col("t_ns").filter((pl.col("layer") == layer) & (pl.col("event") == event)).first().alias(column)
        for column, layer, event in MOMENTS
    ]  # fmt: skip
    return (
        layers.filter(pl.col("packet").is_not_null())
        .group_by(*keys, "packet", maintain_order=True)
        .agg(pl.col("kind", "seq").first(), pl.col("bytes").filter(pl.col("layer") == "tcp").first(), *times)
    )


def _progress(layers: pl.DataFrame, layer: str, event: str, keys: list[str]) -> pl.DataFrame:
    """What happens to bytes, in order: when, how many, and how many with those before (`through`)."""
    return _through(layers.filter(layer=layer, event=event).select(*keys, "t_ns", "bytes"), keys)


def _moment(layers: pl.DataFrame, moment: tuple[str, str, str], keys: list[str]) -> pl.DataFrame:
    column, layer, event = moment
    return _progress(layers, layer, event, keys).select(*keys, "through", pl.col("t_ns").alias(column))


def _through(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    total = pl.col("bytes").cum_sum()
    return frame.with_columns(through=total.over(keys) if keys else total)


def _reached(frame: pl.DataFrame, progress: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Adds to each row what `progress` says of its last byte: the first row that comes as far."""
    return frame.sort("through").join_asof(
        progress.sort("through"), on="through", by=keys or None, strategy="forward", check_sortedness=False
    )
