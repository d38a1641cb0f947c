"""Writes the tables and numbers in the guide to the stall study: `python -m docs.stall [--check] [STALL RECEIVER LOOP SLOW SWITCH LATENCY MPI]`.

Results directories of the seven commands below; what is not given is run first, which takes some minutes. With --check nothing is written, and the page must
already be so.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

import sawtooth
from docs.blocks import table, verdicts, write
from sawtooth.report import report
from sawtooth.results.dataset import Dataset
from sawtooth.stats import dips
from sawtooth.study import Study, shipped

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "bench/stall"))
import changes  # noqa: E402  # pyright: ignore[reportMissingImports]

GUIDE = ROOT / "docs/guides/stall-study.md"
COMMANDS = [["stall"], *([f"stall/{name}"] for name in ("receiver", "closed-loop", "slow-start", "switch", "latency", "mpi"))]
WINDOW = 32_768
NAMES = {"fe1": "Fast Ethernet, Intel", "fe2": "Fast Ethernet, SMC", "atm1": "ATM, Efficient", "atm2": "ATM, Fore"}
CURVES = {"fe1": "Fast Ethernet", "atm1": "ATM"}
FORMS = {"blind": "Blind", "faulty": "Informed", "faulty-anytime": "Informed, at any time"}
DRAWN = ("blind", "faulty-anytime")
SEEDS = range(1, 11)
LOOP = "exchanges.completion_mean_ns"


def blocks(
    stall: Dataset, receiver: Dataset, loop: Dataset, slow: Dataset, switch: Dataset, latency: Dataset, mpi: Dataset
) -> dict[str, str]:
    """What stands between the guide's marks."""
    return {
        **bars(stall), "times": times(stall), "read-off": read_off(), "changes": changes.table(),
        "receivers": receivers(receiver), "receiver-verdicts": verdicts(receiver),
        "loop": closed(stall, loop), "slow": slowly(slow), "slow-verdicts": verdicts(slow),
        "switch": switched(switch), "switch-verdicts": verdicts(switch), "mpi-verdicts": verdicts(mpi),
        "hosts": hosts(), "latencies": latencies(latency), "layers": layers(latency),
    }  # fmt: skip


def bars(dataset: Dataset) -> dict[str, str]:
    """The bars of all forms beside each other, how well the hosts are calibrated, and what comes out `no` or `mixed`."""
    made = report(sawtooth.Dataset.open(dataset.directory), figures=False)
    wide, calibrated = (
        grid.frame for name in ("bars", "calibrated") for section in made.sections for grid in section.grids if grid.name == name
    )
    own = [verdict for verdict in made.verdicts if verdict.answer in ("no", "mixed") and verdict.claim.startswith(("Published", "Blind:"))]
    answers = {verdict.claim: verdict.answer for verdict in made.verdicts}
    said = {form: [answers[f"{form}: {bar}"] for bar in wide["bar"].unique(maintain_order=True)] for form in FORMS}
    return {
        "bars": table(["Bar, asked", "Curve", *FORMS.values()], ((row["bar"], row["of"], *(between(row, form) for form in FORMS)) for row in wide.iter_rows(named=True))),
        "answers": table(["Bar, of both curves", *FORMS.values()], zip(wide["bar"].unique(maintain_order=True), *said.values(), strict=True)),
        "calibrated": table(["Corrected curve", "Blind", "Informed"], ((row["of"], f"{row['value_blind-corrected']:.3g}", f"{row['value_corrected']:.3g}") for row in calibrated.iter_rows(named=True))),
        "not": table(["Claim", "Verdict", "Numbers"], ((verdict.claim, verdict.answer, verdict.numbers) for verdict in own)),
        "seeds": seeds(dataset),
    }  # fmt: skip


def between(row: dict[str, float], form: str) -> str:
    """A number, with its interval if it has one."""
    ends = f" ({row[f'low_{form}']:.3g} to {row[f'high_{form}']:.3g})" if f"low_{form}" in row else ""
    return f"{row[f'value_{form}']:.3g}{ends}"


def seeds(dataset: Dataset) -> str:
    """What each bar of the forms that draw comes to with other seeds, and with how many of them its number misses it."""
    frames: list[pl.DataFrame] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            other = dataset if seed == 1 else sawtooth.run(Study.load("stall", options=[f"seed={seed}"]), out=Path(folder) / str(seed))
            made = report(sawtooth.Dataset.open(other.directory), figures=False)
            frames += [grid.frame for section in made.sections for grid in section.grids if grid.name == "bars"]
    rows: list[list[str]] = []
    for (bar, of), at in pl.concat(frames).group_by("bar", "of", maintain_order=True):
        most, limit = "at most" in str(bar), float(str(bar).rsplit(" ", 1)[1])
        rows.append([str(bar), str(of)])
        for form in DRAWN:
            values = at[f"value_{form}"].to_numpy()
            missed = int(np.sum(values > limit if most else values < limit))
            rows[-1] += [f"{values.min():.3g} to {values.max():.3g}", f"{missed} of {len(values)}"]
    return table(["Bar, asked", "Curve", *(f"{FORMS[form]}{what}" for form in DRAWN for what in (", range", ", missed"))], rows)


def published() -> pl.DataFrame:
    """The published curves by host and size: throughput, MB/s, of each kernel."""
    found = pl.read_csv(shipped.table("stall", "published.csv"), comment_prefix="#")
    return (
        found.pivot("kernel", index=["host", "message_bytes"], values="throughput").rename({"message_bytes": "bytes"}).sort("host", "bytes")
    )


def took(dataset: Dataset, metric: str = "completion_ns", keys: Sequence[str] = ("host",)) -> pl.DataFrame:
    """Mean time of a message, ms, by arm, `keys` and size."""
    found = sawtooth.Dataset.open(dataset.directory).measure(metric)
    digits, thousands = pl.col("size").str.extract(r"^([\d.]+)").cast(pl.Float64), pl.col("size").str.contains(r"\skB$")
    found = found.with_columns(bytes=(digits * pl.when(thousands).then(1000).otherwise(1)).cast(pl.Int64))
    return found.group_by("arm", *keys, "size", "bytes", maintain_order=True).agg(ms=pl.col("value").mean() / 1e6)


def beside(frame: pl.DataFrame, arm: str, level: str = "corrected", table: str = "faulty") -> pl.DataFrame:
    """Ours beside the published curve at each size of both: times, ms (`ms`, `theirs`), and whether each is a dip."""
    joined = frame.filter(arm=arm).join(frame.filter(arm=level).select("host", "bytes", level="ms"), on=["host", "bytes"])
    joined = joined.join(published(), on=["host", "bytes"]).drop_nulls([table, "corrected"])
    slower = 1 / dips.BELOW
    return joined.with_columns(
        theirs=pl.col("bytes") / pl.col(table) / 1e3, dip=pl.col("ms") > slower * pl.col("level"), there=pl.col(table) < dips.BELOW * pl.col("corrected")
    )  # fmt: skip


def times(dataset: Dataset) -> str:
    """How often a message takes about as long as published, and what lies between."""
    frame = took(dataset)
    near: list[str] = []
    for host, name in CURVES.items():
        at = beside(frame, "faulty").filter(pl.col("bytes") > WINDOW, host=host)
        share = at.filter((pl.col("ms") / pl.col("theirs") - 1).abs() <= 0.15).height
        near.append(f"{share} of {at.height} over {name}")
    at = beside(frame, "faulty").filter(pl.col("dip") & pl.col("there"), host="atm1")
    ours, theirs = (sorted(at[column]) for column in ("ms", "theirs"))
    return (
        f"Beyond the window the time of a message in the informed form is within 15 % of the published one at {' and at '.join(near)} sizes. Over ATM our messages at dips that both have take "
        f"{ours[0]:.1f} to {ours[-1]:.1f} ms, the published ones {theirs[0]:.1f} to {theirs[-1]:.1f} ms.\n"
    )


def read_off() -> str:
    """What the published faulty curve shows that rules were read off."""
    curve = published().filter(host="fe1").with_columns(ms=pl.col("bytes") / pl.col("faulty") / 1e3)
    flat = curve.filter(pl.col("bytes").is_between(36_000, 48_000))["ms"].drop_nulls()
    (before,) = curve.filter(bytes=32_000)["ms"]
    between = curve.filter(pl.col("bytes") > 48_000, pl.col("ms").is_between(12, 18))
    sizes = ", ".join(f"{each:,}" for each in between["bytes"])
    return (
        f"Published messages of 36,000 to 48,000 bytes over Fast Ethernet all take {flat.len() and min(flat):.2f} to {max(flat):.2f} ms. Some sizes lie between one tick and two, "
        f"as if some messages of a series waited and others did not: {sizes} bytes ({min(between['ms']):.1f} to {max(between['ms']):.1f} ms). One of 32,000 bytes takes {before:.1f} ms, although the window has room for it.\n"
    )  # fmt: skip


def shares(frame: pl.DataFrame, arms: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """By arm and medium: share of published dips found, share of ours that are none there, most ms of a message."""
    for arm in arms:
        cells = [arm]
        for host in CURVES:
            at = beside(frame, arm).filter(host=host)
            agreed = dips.agreement(at["dip"].to_numpy(), at["there"].to_numpy())
            cells += [f"{agreed.found:.2f}", f"{agreed.surplus:.2f}" if at["dip"].any() else "-", f"{max(at['ms']):.1f}"]
        yield tuple(cells)


def receivers(dataset: Dataset) -> str:
    """The receivers beside each other."""
    titles = [f"{name}: {what}" for name in CURVES.values() for what in ("found", "surplus", "longest, ms")]
    return table(["Receiver", *titles], shares(took(dataset), ("second", "halves", "informed", "fixed")))


def closed(stall: Dataset, loop: Dataset) -> str:
    """The times at dips of one message by itself, and in a closed loop."""
    frames = {"one message by itself": took(stall), "closed loop": took(loop, LOOP)}
    rows: list[list[str]] = []
    for name, frame in frames.items():
        cells = [name]
        for host in CURVES:
            at = beside(frame, "faulty").filter(pl.col("dip") & pl.col("there"), host=host)
            cells.append(percent(at["ms"] / at["theirs"]))
        at = beside(frame, "corrected", table="corrected")
        cells.append(percent(at["ms"] / at["theirs"]))
        rows.append(cells)
    return table(["", *(f"dips that both have, {name}" for name in CURVES.values()), "corrected curves, all interfaces"], rows)


def percent(ratios: pl.Series) -> str:
    """The median and the largest distance from 1."""
    off = (ratios - 1).abs()
    return f"{off.median():.1%}, at most {off.max():.1%}"


def slowly(dataset: Dataset) -> str:
    """What slow start adds to a message on a fresh connection, and in a loop of fifty."""
    frame = took(dataset, LOOP, ("host", "messages", "ack_every", "ack_window_share"))
    keys = ["host", "messages", "ack_every", "ack_window_share", "size"]
    both = frame.filter(arm="corrected-slow-start").join(
        frame.filter(arm="corrected").select(*keys, without="ms"), on=keys, nulls_equal=True
    )
    both = both.with_columns(added=pl.col("ms") - pl.col("without"), times=pl.col("ms") / pl.col("without"))
    rows: list[tuple[str, ...]] = []
    acks = {
        "halves of the window": pl.col("ack_window_share") == "0.5",
        "every second segment": pl.col("ack_every") == "2",
        "every segment": pl.col("ack_every") == "1",
    }
    for name, chosen in acks.items():
        for host, medium in CURVES.items():
            fresh, fifty = (both.filter(chosen, host=host, messages=number) for number in ("1", "50"))
            added, more = fresh["added"].to_numpy(), fifty["times"].to_numpy() - 1
            rows.append((name, medium, f"{added.min():.2f} to {added.max():.2f} ms", f"{np.median(more):.1%}, at most {more.max():.1%}"))
    return table(
        ["Acknowledged", "", "added to the one message of a fresh connection", "added to a message of fifty: median, largest"], rows
    )


def switched(dataset: Dataset) -> str:
    """What a switch adds by size."""
    frame = took(dataset)
    both = frame.join(frame.filter(arm="direct").select("host", "bytes", direct="ms"), on=["host", "bytes"]).with_columns(
        us=(pl.col("ms") - pl.col("direct")) * 1e3
    )
    sizes = ["1 B", "256 B", "1460 B", "9140 B", "32 kB", "64 kB", "100 kB"]
    rows = [
        (NAMES[host], {"switched": "takes no time of its own", "switched-20us": "takes 16.2 us of its own"}[arm], *(number(both.filter(host=host, arm=arm, size=size)["us"]) for size in sizes))
        for host in ("fe1", "atm1") for arm in ("switched", "switched-20us") if (host, arm) != ("fe1", "switched-20us")
    ]  # fmt: skip
    said = [
        ("published, Fast Ethernet", "", "rises", "", "up to about 125", *[""] * 4),
        ("published, ATM", "", "about 20", *[""] * 6),
        ("published, both", "varies by about 10 % (ours by nothing)", *[""] * 7),
    ]
    return table(["us added", "The switch", *sizes], [*rows, *said])


def number(values: pl.Series) -> str:
    """The one value that there is."""
    (value,) = values
    return f"{value:.1f}"


def hosts() -> str:
    """What remains between the calibrated hosts and the corrected curves."""
    found = pl.read_csv(shipped.table("stall", "calibrated.csv"), comment_prefix="#").with_columns(off=pl.col("error").abs())
    rows = [
        (what, *(f"{getattr(found.filter(nic=nic)['off'], how)():.1%}" for nic in NAMES))
        for what, how in (("median", "median"), ("largest", "max"))
    ]
    return table(["Absolute error, 100 sizes", *NAMES.values()], rows)


def latencies(dataset: Dataset) -> str:
    """The time of one message by interface, over a cable and through a switch."""
    frame, sizes = took(dataset), ["1 B", "1460 B", "4312 B", "9140 B"]
    cell = {(row["host"], row["arm"], row["size"]): f"{1e3 * row['ms']:.0f}" for row in frame.iter_rows(named=True)}
    rows = [(name, *(f"{cell[host, 'direct', size]}, {cell[host, 'switched', size]}" for size in sizes)) for host, name in NAMES.items()]
    return table(["us: over a cable, through a switch", *sizes], rows)


def layers(dataset: Dataset) -> str:
    """Where the time of a message goes."""
    made = report(sawtooth.Dataset.open(dataset.directory), figures=False)
    (frame,) = [grid.frame for section in made.sections for grid in section.grids if grid.name == "latency_by_layer"]
    chosen = [(host, size) for host in CURVES for size in ("1 B", "9140 B")]
    parts = [name for name in frame.columns if name.endswith("_us") and name != "total_us"]
    rows = [
        (
            part.removesuffix("_us").replace("_", " "),
            *(number(frame.filter(host=host, size=size, arm="direct")[part]) for host, size in chosen),
        )
        for part in parts
    ]
    return table(["Over a cable, us", *(f"{NAMES[host]}: {size}" for host, size in chosen)], rows)


if __name__ == "__main__":
    write(GUIDE, COMMANDS, blocks, sys.argv[1:])
