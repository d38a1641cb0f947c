"""What the report of the data-stream-stall study adds: bars on how near each form of the model comes to the published curves, and what does not hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from sawtooth import Dataset
from sawtooth.report import Claimed, Grid, Section, fact, held
from sawtooth.stats import Vector, dips, resampled, spearman

WINDOW = 32_768
NAMES = {"fe1": "Fast Ethernet (Intel)", "fe2": "Fast Ethernet (SMC)", "atm1": "ATM (Efficient)", "atm2": "ATM (Fore)"}
# Published curves of the faulty kernel: of which interface they are taken to be. Ours has no stopwatch, so it is held against the curve without; over ATM both are the same.
CURVES = {"Fast Ethernet": "fe1", "ATM": "atm1"}
# Forms of the model, and what is to be known beside each number of theirs.
FORMS = {
    "corrected": (CALIBRATED := "the hosts were calibrated on these curves"),
    "faulty": (SIGHTED := "the rules of this form were chosen with the published faulty curves in sight: they are no test of it"),
    "faulty-anytime": SIGHTED,
    "blind": "the form was written down before its first run (2026-11-24), and the limits two days earlier; that they are asked of this form was written after its first results",
    "blind-corrected": CALIBRATED,
}
# Each form is held against the corrected kernel on its own hosts.
LEVELS = {form: "blind-corrected" if form.startswith("blind") else "corrected" for form in (*FORMS, "nodelay")}
# Forms whose messages begin at times that are drawn: their numbers have intervals.
DRAWN = ("faulty-anytime", "blind")
# The bars that the project set itself; the first also says what is alike, and what is faster.
MOST_ERROR, MOST_FACTOR, LEAST_FOUND, MOST_SURPLUS, MOST_CORRELATION = 0.05, 1.5, 0.6, 0.25, -0.8


def sections(dataset: Dataset) -> list[Section]:
    """How near it comes, what the published numbers say by themselves, dips, and every size."""
    curves = _curves(dataset)
    corrected, faulty = ([row for form in forms for row in _bars(curves, form)] for forms in (("corrected", "blind-corrected"), ("blind", "faulty", "faulty-anytime")))  # fmt: skip
    claims = [
        Claimed(f"{form}: {bar}", [row["evidence"] for row in corrected + faulty if (row["form"], row["bar"]) == (form, bar)], caveat=FORMS[form])
        for form, bar in dict.fromkeys((row["form"], row["bar"]) for row in corrected + faulty)
    ]  # fmt: skip
    bars, calibrated, sizes = _beside(faulty), _beside(corrected), curves.drop("runs")
    return [
        Section("How near it comes", ["Each form is held against the published faulty curves, and its corrected kernel against the corrected ones. A bar that speaks of several curves is met if each of them meets it.",
                                      "Where messages begin at drawn times, the replicates of each size are drawn again, with replacement, and the interval is that of the numbers that come out (percentile bootstrap)."],
                claims=claims, grids=[Grid("bars", bars, "What was asked, and what came out of each form: `blind`, informed (`faulty`), informed with messages that begin at any time; with 95 % intervals where anything is drawn", dict.fromkeys(bars.columns[2:], 3)),
                                      Grid("calibrated", calibrated, "What is left of the calibration", dict.fromkeys(calibrated.columns[2:], 4))]),
        Section("What does not hold", ["Of the published numbers alone, and of ours where they are named."], claims=list(_published(curves))),
        Section("Dips and sizes", grids=[Grid("dips", _dips(curves), "Neighbouring sizes below half of the corrected curve", {"share": 2, "stall": 2}),
                                         Grid("sizes", sizes, "Every interface, arm and size", dict.fromkeys(sizes.columns[3:], 3))]),
    ]  # fmt: skip


def _curves(dataset: Dataset) -> pl.DataFrame:
    """By host, arm and size: throughput of the mean time, as published too, MB/s; the corrected kernel's (`level`); stall as a share of the time; every time (`runs`)."""
    keys, made = ["host", "arm", "bytes"], pl.DataFrame()
    columns = {f"published_{kernel}": f"references.{kernel}.throughput" for kernel in ("corrected", "faulty", "stopwatch")}
    columns |= {"took": "completion_ns", "stall_ns": "stall_ns", "partial_ns": "stall_partial_ns", "published_stall": "references.stopwatch.stall"}  # fmt: skip
    for name, metric in columns.items():
        found = dataset.measure(metric).with_columns(bytes=pl.col("size").str.extract(r"^(\d+)").cast(pl.Int64))
        every = [pl.col("value").drop_nulls().alias("runs")] if name == "took" else []
        found = found.group_by(keys, maintain_order=True).agg(pl.col("value").mean().alias(name), *every)
        made = made.join(found, on=keys, how="left", maintain_order="left") if made.height else found
    stalled = {"stall": pl.col("stall_ns") / pl.col("took"), "stall_partial": (pl.col("partial_ns") / pl.col("stall_ns")).fill_nan(0.0)}
    against, throughput = pl.col("arm").replace_strict(LEVELS), pl.col("bytes") / pl.col("took") * 1e3
    made = made.select(*keys, pl.col("^published.*$"), "runs", against=against, throughput=throughput, **stalled)
    levels = made.select("host", "bytes", against="arm", level="throughput")
    return made.join(levels, on=["host", "bytes", "against"], how="left", maintain_order="left").drop("against").sort(*keys)


def _published_of(curves: pl.DataFrame, name: str, form: str = "faulty", table: str = "faulty") -> pl.DataFrame:
    """One published curve and ours, each relative to its own corrected one (`theirs`, `ours`), at the sizes of both."""
    theirs, ours = pl.col(f"published_{table}") / pl.col("published_corrected"), pl.col("throughput") / pl.col("level")
    return curves.filter(host=CURVES[name], arm=form).with_columns(theirs=theirs, ours=ours).drop_nulls(["theirs", "ours"])  # fmt: skip


def _told(at: pl.DataFrame, form: str, name: str, of: Callable[[Vector], Vector], sign: str, limit: float) -> dict[str, Any]:
    """What `of` makes of throughputs of shape (..., sizes), beside its limit: the number, its ends at 95 % if chance has a part in it, and the evidence."""
    value = float(of(at["throughput"].to_numpy()))
    if form not in DRAWN:
        return {"value": value, "evidence": fact(value <= limit if sign == "at most" else value >= limit, f"{value:.3g}", cell=name)}
    least = int(at["runs"].list.len().to_numpy().min())  # where not all runs are there yet, as many of each size
    interval = resampled(np.array([each[:least] for each in at["runs"]]), lambda took: of(at["bytes"].to_numpy() / took * 1e3))
    above, below = (-math.inf, math.nextafter(limit, math.inf)) if sign == "at most" else (math.nextafter(limit, -math.inf), math.inf)  # the limit itself meets it  # fmt: skip
    shown = held(interval, above=above, below=below, words=(usual := interval(0.95)).words(".3g"), cell=name)
    return {"value": value, "low": usual.low, "high": usual.high, "evidence": shown}


def _bars(curves: pl.DataFrame, form: str) -> Iterator[dict[str, Any]]:
    """What is asked of a form beside the published curves of its kernel; a number that nothing tells is left out."""
    for host, name in NAMES.items() if LEVELS[form] == form else ():
        if (at := curves.filter(host=host, arm=form)).height:
            theirs = at["published_corrected"].to_numpy()
            told = _told(at, form, name, lambda x, of=theirs: np.median(np.abs(x / of - 1), axis=-1), "at most", MOST_ERROR)
            yield {"form": form, "bar": f"median absolute error at most {MOST_ERROR:g}", "of": name, **told}
    for name in CURVES if LEVELS[form] != form else ():
        at = _published_of(curves, name, form)
        beyond, there, level = (at["bytes"] > WINDOW).to_numpy(), (at["theirs"] < dips.BELOW).to_numpy(), at["level"].to_numpy()
        lowest = at["published_faulty"].to_numpy()[beyond].min(initial=np.inf)
        asked: dict[str, tuple[Callable[[Vector], Vector], str, float]] = {
            "lowest throughput, ours to published, a factor of": (lambda x, b=beyond, least=lowest: np.exp(np.abs(np.log(x[..., b].min(axis=-1, initial=np.inf) / least))), "at most", MOST_FACTOR),
            "share of published dips that are dips here": (lambda x, t=there, of=level: dips.shares(x < dips.BELOW * of, t)[0], "at least", LEAST_FOUND),
            "share of dips here that are none there": (lambda x, t=there, of=level: dips.shares(x < dips.BELOW * of, t)[1], "at most", MOST_SURPLUS),
        }  # fmt: skip
        for bar, (of, sign, limit) in asked.items() if beyond.any() else ():
            if math.isfinite((told := _told(at, form, name, of, sign, limit))["value"]):
                yield {"form": form, "bar": f"{bar} {sign} {limit:g}", "of": name, **told}


def _beside(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """The numbers of all forms beside each other, with the ends of their intervals."""
    wide = pl.DataFrame(rows, schema=["form", "bar", "of", "value", "low", "high"]).pivot("form", index=["bar", "of"], maintain_order=True)
    return wide.select(column for column in wide if column.null_count() < wide.height)


def _published(curves: pl.DataFrame) -> Iterator[Claimed]:
    """What the published numbers say by themselves, in the document's words; ours where they are of the same thing."""
    for name in CURVES:
        found = [(size, share - 1) for size, share in _published_of(curves, name).sort("theirs").select("bytes", "theirs").rows()]
        yield Claimed(f"Published, {name}: throughput falls by as much as 80 %", [fact(found[0][1] <= -0.8, f"by {-found[0][1]:.0%}, at {found[0][0]:,} bytes")])  # fmt: skip
        yield Claimed(f"Published, {name}: the faulty kernel is nowhere more than {MOST_ERROR:.0%} faster than the corrected one", [fact(found[-1][1] <= MOST_ERROR, f"{found[-1][1]:+.1%} at {found[-1][0]:,} bytes")])  # fmt: skip
        at = {form: _published_of(curves, name, form, "stopwatch") for form in ("faulty", "blind")}
        for where, part in (("at all sizes", at["faulty"]), ("beyond the window", at["faulty"].filter(pl.col("bytes") > WINDOW))):
            if min(part["theirs"].n_unique(), part["published_stall"].n_unique()) > 1:
                yield Claimed(f"Published, {name}, with stall: rank correlation of throughput with stall {where} at most {MOST_CORRELATION:g}", [fact((value := spearman(part["theirs"].to_numpy(), part["published_stall"].to_numpy())) <= MOST_CORRELATION, f"{value:.3g}")])  # fmt: skip
        calm, deep = ({form: own.filter(pl.col("bytes") > WINDOW, (pl.col("theirs") < dips.BELOW) == dip) for form, own in at.items()} for dip in (False, True))  # fmt: skip
        if (usual := calm["faulty"]["published_stall"]).len() and (high := deep["faulty"]["published_stall"]).len():
            ours = ", ".join(f"{_median(own['stall']):.0%} of the time in `{form}`" for form, own in calm.items())
            words = f"medians: {_median(usual):.3g} at {len(usual)} sizes without a dip, {_median(high):.3g} at {len(high)} with one; ours at the first: {ours}"
            caveat = "nobody has explained the published stall over ATM where nothing dips" if name == "ATM" else ""
            yield Claimed(f"Published, {name}, with stall: where nothing dips beyond the window the stall is less than half of what it is at dips", [fact(_median(usual) < _median(high) / 2, words)], caveat=caveat)  # fmt: skip
    pairs = curves.filter(arm="corrected").pivot("host", index="bytes", values="published_corrected")
    first, second = (_median((pairs[a] / pairs[b] - 1).abs()) for a, b in (("fe1", "fe2"), ("atm1", "atm2")))
    yield Claimed(f"Published: interfaces of ATM differ, those of Fast Ethernet are alike (medians within {MOST_ERROR:.0%})", [fact(first <= MOST_ERROR < second, f"median difference {first:.1%} of Fast Ethernet, {second:.1%} of ATM")])  # fmt: skip


def _dips(curves: pl.DataFrame) -> pl.DataFrame:
    rows = [
        {"interface": NAMES[str(host)], "arm": arm, "first_bytes": dip.first, "last_bytes": dip.last, "deepest_bytes": dip.deepest, "share": dip.share, "stall": dip.stall}
        for (host, arm), at in curves.drop_nulls(["throughput", "level"]).group_by("host", "arm", maintain_order=True)
        for dip in dips.find(at["bytes"].to_numpy(), at["throughput"].to_numpy(), at["level"].to_numpy(), at["stall"].to_numpy())
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _median(values: pl.Series) -> float:
    return float(np.median(values.to_numpy())) if len(values) else float("nan")
