"""What the report of the data-stream-stall study adds: bars on how near each form of the model comes to the published curves, and what does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from sawtooth import Dataset
from sawtooth.report import Claimed, Grid, Section, fact
from sawtooth.stats import Vector, dips, spearman

WINDOW = 32_768
NAMES = {"fe1": "Fast Ethernet (Intel)", "fe2": "Fast Ethernet (SMC)", "atm1": "ATM (Efficient)", "atm2": "ATM (Fore)"}
# Published curves of the faulty kernel: of which interface they are taken to be, and which table has them.
CURVES = {"Fast Ethernet": ("fe1", "faulty"), "Fast Ethernet, with stall": ("fe1", "stopwatch"), "ATM, with stall": ("atm1", "stopwatch")}
# Forms of the model, and what is to be known beside each number of theirs.
FORMS = {
    "corrected": (CALIBRATED := "the hosts were calibrated on these curves"),
    "faulty": "the rules of this form were chosen with the published faulty curves in sight: they are no test of it",
    "faulty-anytime": "as `faulty`, but for when messages begin: the rules were chosen with the published faulty curves in sight",
    "blind": "this form was written down before its first run: the published faulty curves are a test of it",
    "blind-corrected": CALIBRATED,
}
# Each form is held against the corrected kernel on its own hosts.
LEVELS = {form: "blind-corrected" if form.startswith("blind") else "corrected" for form in (*FORMS, "nodelay")}
# The bars that the project set itself; the first also says what is alike, and what is faster.
MOST_ERROR, MOST_FACTOR, LEAST_FOUND, MOST_SURPLUS, MOST_CORRELATION = 0.05, 1.5, 0.6, 0.25, -0.8


def sections(dataset: Dataset) -> list[Section]:
    """How near it comes, what the published numbers say by themselves, dips, and every size."""
    curves = _curves(dataset)
    bars = pl.DataFrame([row for form in FORMS for row in _bars(curves, form) if np.isfinite(row["value"])], infer_schema_length=None)
    claims = [
        Claimed(f"{form}: {bar} {asked}", [fact(row["met"], f"{row['value']:.3g}", cell=row["of"]) for row in group.iter_rows(named=True)], caveat=FORMS[str(form)])
        for (form, bar, asked), group in bars.group_by("form", "bar", "asked", maintain_order=True)
    ]  # fmt: skip
    return [
        Section("How near it comes", ["A bar that speaks of several curves is met if each of them meets it."], claims=claims,
                grids=[Grid("bars", bars, "What was asked, and what came out", {"value": 3})]),
        Section("What does not hold", ["Of the published numbers alone, and of ours where they are named."], claims=list(_published(curves))),
        Section("Dips and sizes", grids=[Grid("dips", _dips(curves), "Neighbouring sizes below half of the corrected curve", {"share": 2, "stall": 2}),
                                         Grid("sizes", curves, "Every interface, arm and size", dict.fromkeys(curves.columns[3:], 3))]),
    ]  # fmt: skip


def _curves(dataset: Dataset) -> pl.DataFrame:
    """By host, arm and size: throughput of the mean time, as published too, MB/s; the corrected kernel's (`level`); stall as a share of the time."""
    keys, made = ["host", "arm", "bytes"], pl.DataFrame()
    columns = {f"published_{kernel}": f"references.{kernel}.throughput" for kernel in ("corrected", "faulty", "stopwatch")}
    columns |= {"took": "completion_ns", "stall_ns": "stall_ns", "partial_ns": "stall_partial_ns", "published_stall": "references.stopwatch.stall"}  # fmt: skip
    for name, metric in columns.items():
        found = dataset.measure(metric).with_columns(bytes=pl.col("size").str.extract(r"^(\d+)").cast(pl.Int64))
        found = found.group_by(keys, maintain_order=True).agg(pl.col("value").mean().alias(name))
        made = made.join(found, on=keys, how="left", maintain_order="left") if made.height else found
    stalled = {"stall": pl.col("stall_ns") / pl.col("took"), "stall_partial": (pl.col("partial_ns") / pl.col("stall_ns")).fill_nan(0.0)}
    against, throughput = pl.col("arm").replace_strict(LEVELS), pl.col("bytes") / pl.col("took") * 1e3
    made = made.select(*keys, pl.col("^published.*$"), against=against, throughput=throughput, **stalled)
    levels = made.select("host", "bytes", against="arm", level="throughput")
    return made.join(levels, on=["host", "bytes", "against"], how="left", maintain_order="left").drop("against").sort(*keys)


def _published_of(curves: pl.DataFrame, name: str, form: str = "faulty") -> pl.DataFrame:
    """One published curve and ours, each relative to its own corrected one (`theirs`, `ours`), at the sizes of both."""
    host, table = CURVES[name]
    theirs, ours = pl.col(f"published_{table}") / pl.col("published_corrected"), pl.col("throughput") / pl.col("level")
    return curves.filter(host=host, arm=form).with_columns(lowest=f"published_{table}", theirs=theirs, ours=ours).drop_nulls(["theirs", "ours"])  # fmt: skip


def _bars(curves: pl.DataFrame, form: str) -> Iterator[dict[str, Any]]:
    """Rows of the table of bars; a value that nothing tells is not a number."""

    def row(bar: str, of: str, value: float, sign: str, limit: float) -> dict[str, Any]:
        met = value <= limit if sign == "at most" else value >= limit
        return {"form": form, "bar": bar, "of": of, "asked": f"{sign} {limit:g}", "value": float(value), "met": bool(met), "caveat": FORMS[form]}  # fmt: skip

    for host, name in NAMES.items():
        at = curves.filter(host=host, arm=form)
        if LEVELS[form] == form:
            error = _median((at["throughput"] / at["published_corrected"] - 1).abs())
            yield row("median absolute error", name, error, "at most", MOST_ERROR)
        else:
            found = at.filter(pl.col("throughput") < dips.BELOW * pl.col("level"))["bytes"].to_numpy()
            yield row("smallest size that is a dip, kB,", name, found.min() / 1000 if found.size else np.nan, "at least", WINDOW / 1000)
    for name in CURVES if LEVELS[form] != form else ():
        at = _published_of(curves, name, form)
        beyond = at.filter(pl.col("bytes") > WINDOW)
        if beyond.height:
            ends = [float(beyond[column].to_numpy().min()) for column in ("throughput", "lowest")]
            agreed = dips.agreement(*((at[column] < dips.BELOW).to_numpy() for column in ("ours", "theirs")))
            yield row("lowest throughput, ours to published, a factor of", name, max(ends) / min(ends), "at most", MOST_FACTOR)
            yield row("share of published dips that are dips here", name, agreed.found, "at least", LEAST_FOUND)
            yield row("share of dips here that are none there", name, agreed.surplus, "at most", MOST_SURPLUS)
        for where, part in (("all sizes", at), ("beyond the window", beyond)):
            value = _correlation(part["ours"], part["stall"])
            yield row(f"rank correlation of throughput with stall, {where},", name, value, "at most", MOST_CORRELATION)


def _published(curves: pl.DataFrame) -> Iterator[Claimed]:
    """What the published numbers say by themselves, in the document's words, curve by curve; ours where they are of the same thing."""
    for whose, column, form in (("Published", "theirs", "faulty"), ("Here", "ours", "faulty"), ("Blind", "ours", "blind")):
        of, caveat = ("published_corrected", "") if column == "theirs" else ("throughput", FORMS[form])
        pairs = curves.filter(arm=LEVELS[form]).pivot("host", index="bytes", values=["published_corrected", "throughput"])
        for name in CURVES:
            found = _published_of(curves, name, form).sort(column).select("bytes", column).rows()
            falls, faster = (found[0][0], 1 - found[0][1]), (found[-1][0], found[-1][1] - 1)
            yield Claimed(f"{whose}, {name}: throughput falls by as much as 80 %", [fact(falls[1] >= 0.8, f"by {falls[1]:.0%}, at {falls[0]:,} bytes")], caveat=caveat)  # fmt: skip
            claim = f"{whose}, {name}: the faulty kernel is nowhere more than {MOST_ERROR:.0%} faster than the corrected one"
            yield Claimed(claim, [fact(faster[1] <= MOST_ERROR, f"{faster[1]:+.1%} at {faster[0]:,} bytes")], caveat=caveat)
        first, second = (_median((pairs[f"{of}_{a}"] / pairs[f"{of}_{b}"] - 1).abs()) for a, b in (("fe1", "fe2"), ("atm1", "atm2")))
        claim = f"{whose}: interfaces of ATM differ, those of Fast Ethernet are alike (medians within {MOST_ERROR:.0%})"
        yield Claimed(claim, [fact(first <= MOST_ERROR < second, f"median difference {first:.1%} of Fast Ethernet, {second:.1%} of ATM")], caveat=caveat and CALIBRATED)  # fmt: skip
    for name in (name for name, (_, table) in CURVES.items() if table == "stopwatch"):
        at = _published_of(curves, name)
        for where, part in (("at all sizes", at), ("beyond the window", at.filter(pl.col("bytes") > WINDOW))):
            if np.isfinite(value := _correlation(part["theirs"], part["published_stall"])):
                yield Claimed(f"Published, {name}: rank correlation of throughput with stall {where} at most {MOST_CORRELATION:g}", [fact(value <= MOST_CORRELATION, f"{value:.3g}")])  # fmt: skip
        for form in ("faulty", "blind"):
            beyond = _published_of(curves, name, form).filter(pl.col("bytes") > WINDOW)
            alike = beyond.filter((pl.col("theirs") < dips.BELOW) == (pl.col("ours") < dips.BELOW))
            calm, deep = (alike.filter((pl.col("ours") < dips.BELOW) == dip) for dip in (False, True))
            if calm.height and deep.height:
                high, usual, mine = (_median(part) for part in (deep["published_stall"], calm["published_stall"], calm["stall"]))
                scaled = mine * _median(deep["published_stall"] / deep["stall"])
                words = f"{usual:.3g} at {calm.height} sizes that are no dips there nor here, {high:.3g} at {deep.height} that are both; ours at the first {scaled:.3g} on the same scale"
                claim = f"Published, {name}, beside `{form}`: where nothing dips beyond the window the stall is less than half of what it is at dips"
                yield Claimed(
                    claim, [fact(usual < high / 2, words)], caveat="nobody has explained the published stall over ATM where nothing dips"
                )


def _dips(curves: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {"interface": NAMES[str(host)], "arm": arm, "first_bytes": dip.first, "last_bytes": dip.last, "deepest_bytes": dip.deepest, "share": dip.share, "stall": dip.stall}
        for (host, arm), at in curves.drop_nulls(["throughput", "level"]).group_by("host", "arm", maintain_order=True)
        for dip in dips.find(at["bytes"].to_numpy(), at["throughput"].to_numpy(), at["level"].to_numpy(), at["stall"].to_numpy())
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _correlation(first: pl.Series, second: pl.Series) -> float:
    return spearman(first.to_numpy(), second.to_numpy()) if min(first.n_unique(), second.n_unique()) > 1 else float("nan")


def _median(values: pl.Series | Vector) -> float:
    return float(np.median(np.asarray(values))) if len(values) else float("nan")
