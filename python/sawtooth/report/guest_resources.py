"""The report of the testbed study, scenario A: the guest's processors and memory by delay, beside the published table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats as scipy_stats

from sawtooth.metrics import fetch, variance
from sawtooth.plots import dots
from sawtooth.report import testbed
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.testbed import PUBLISHED, STATISTICS
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval

FACTORS = {"delay_ms": "delay", "cpus": "cpus", "memory_gb": "memory"}
CELL = list(FACTORS)
WORDS = {"memory_gb": "memory", "cpus": "number of processors"}
UNITS = {"memory_gb": "GB", "cpus": "processors"}
# A change by less than this is no clear effect: a third of the spread between fetches that was published.
MARGIN = 0.10
TERMS = (("delay_ms",), ("cpus",), ("memory_gb",), ("cpus", "memory_gb"), ("delay_ms", "cpus"), ("delay_ms", "memory_gb"))
GIGABYTE = 1e9


@dataclass(frozen=True)
class Boots:
    """How times differ between boots (runs) of one cell, and between the fetches of a boot: standard deviations of log time.

    Attributes:
        boots: how many, of cells that have at least two. between: 0 where boots differ no more than their fetches explain.
        p: of boots being alike (F test, boots within cells against fetches within boots); none where fetches do not differ.

    """

    boots: int
    between: float
    within: float
    p: float | None


def build(dataset: Dataset) -> Report:
    """Download times by processors and memory, virtual and real time, beside the published ones."""
    planned = _in_gigabytes(fetch.cells(dataset, FACTORS))
    fetches = _in_gigabytes(fetch.per_fetch(dataset, FACTORS))
    statistics = fetch.statistics(fetches, [*CELL, "arm"])
    done = fetches.filter(pl.col("seconds").is_not_null())
    arms = [arm for arm in dict.fromkeys(planned["arm"]) if arm in set(done["arm"])]
    published = testbed.scenario_a()
    means = {PUBLISHED: published.select(*CELL, "mean_s")}
    means |= {testbed.label(arm): statistics.filter(pl.col("arm") == arm, pl.col("n") > 0).select(*CELL, "mean_s") for arm in arms}
    boots = {testbed.label(arm): between_boots(done.filter(arm=arm)) for arm in arms}
    verdicts = [verdict for source, table in means.items() for verdict in _verdicts(table, source, boots.get(source))]
    sections = [
        _findings_section(means, verdicts, boots),
        _times_section(fetches, published, arms),
        testbed.missing_section(dataset, planned, fetches, [*CELL, "arm"]),
        _cells_section(statistics, published),
    ]
    summary = [f"{verdict.claim}: {verdict.answer}; {verdict.numbers}" for verdict in verdicts if PUBLISHED not in verdict.claim]
    summary += [f"{source}: {_boots_words(own)}" for source, own in boots.items()]
    return Report(dataset, [section for section in sections if section is not None], summary)


def _in_gigabytes(table: pl.DataFrame) -> pl.DataFrame:
    """Memory in GB, whether the study writes `2 GB` or a plain 2; 2 GiB of memory are sold as 2 GB."""
    memory = pl.col("memory_gb")
    gigabytes = pl.when(memory > GIGABYTE / 1000).then(memory / GIGABYTE).otherwise(memory)
    return table.with_columns(memory_gb=pl.when(gigabytes >= 1).then(gigabytes.round()).otherwise(gigabytes))


# --- effects ------------------------------------------------------------------------------------------------------------


def _verdicts(means: pl.DataFrame, source: str, boots: Boots | None) -> list[Verdict]:
    """Whether memory and processors have no clear effect."""
    logs = means.select(*CELL, log=pl.col("mean_s").log())
    made: list[Verdict] = []
    for factor, words in WORDS.items():
        found = variance.effects(logs, "log", factor)
        if not found:
            continue
        far = variance.largest(found)
        share = {term.name: term for term in variance.analysis(logs, "log", TERMS)}.get(factor)
        numbers = (
            f"largest change against the mean over levels: at {far.level:g} {UNITS[factor]} {far.change.words('+.1%')} over {far.change.n} combinations "
            f"of the other factors; {share.share if share else 0:.2%} of the variance of log time"
        )
        if share is not None and share.p is not None:
            numbers += f", {_p_words(share.p)}"
        if boots is not None and boots.boots:
            numbers += f"; two boots of one guest differ by {np.expm1(boots.between):.1%} (standard deviation)"
        claim = f"The guest's {words} has no clear effect: it changes the time by less than {MARGIN:.0%} ({source})"
        made.append(Verdict(claim, variance.without_effect(found, MARGIN), numbers))
    return made


def between_boots(fetches: pl.DataFrame) -> Boots:
    """Variance components of log time: boots within cells, and fetches within boots (analysis of variance, nested)."""
    logs = fetches.with_columns(log=pl.col("seconds").log()).filter(pl.col("run").n_unique().over(CELL) > 1)
    if logs.is_empty():
        return Boots(0, 0.0, 0.0, None)
    by_boot = logs.group_by(*CELL, "run", maintain_order=True).agg(
        mean=pl.col("log").mean(), n=pl.len(), squares=((pl.col("log") - pl.col("log").mean()) ** 2).sum()
    )
    cells = by_boot.group_by(CELL, maintain_order=True).agg(
        boots=pl.len(),
        n=pl.col("n").sum(),
        # Of boots with unequal numbers of fetches, the usual n0 of the expected mean square.
        n0_times_freedom=pl.col("n").sum() - (pl.col("n").cast(pl.Float64) ** 2).sum() / pl.col("n").sum(),
        between=(pl.col("n") * (pl.col("mean") - (pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum()) ** 2).sum(),
        within=pl.col("squares").sum(),
    )
    boots, n = int(cells["boots"].sum()), int(cells["n"].sum())
    freedom, freedom_within = boots - cells.height, n - boots
    ms_between = float(cells["between"].sum()) / freedom
    ms_within = float(cells["within"].sum()) / freedom_within if freedom_within else 0.0
    n0 = float(cells["n0_times_freedom"].sum()) / freedom
    p = float(scipy_stats.f.sf(ms_between / ms_within, freedom, freedom_within)) if ms_within > 0 else None
    return Boots(boots, max(ms_between - ms_within, 0.0) ** 0.5 / n0**0.5, ms_within**0.5, p)


def _boots_words(boots: Boots) -> str:
    if not boots.boots:
        return "one boot per cell: the spread between boots is not known"
    p = "" if boots.p is None else f" ({_p_words(boots.p)} for boots being alike)"
    return (
        f"over {boots.boots} boots, two boots of one guest differ by {np.expm1(boots.between):.1%} and two fetches of one boot by "
        f"{np.expm1(boots.within):.1%} (standard deviations of log time){p}"
    )


def _p_words(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _findings_section(means: dict[str, pl.DataFrame], verdicts: list[Verdict], boots: dict[str, Boots]) -> Section:
    terms: list[dict[str, str | int | float | None]] = []
    effects: list[dict[str, object]] = []
    for source, table in means.items():
        logs = table.select(*CELL, log=pl.col("mean_s").log())
        terms += [
            {"source": source, "term": term.name, "freedom": term.freedom, "share": term.share, "F": term.f, "p": term.p}
            for term in variance.analysis(logs, "log", TERMS)
        ]
        for factor in WORDS:
            for effect in variance.effects(logs, "log", factor):
                low, high = (effect.change.low, effect.change.high) if effect.change.n > 1 else (None, None)
                effects.append({"source": source, "factor": factor, "level": effect.level, "change": effect.change.estimate, "low": low,
                                "high": high, "combinations": effect.change.n})  # fmt: skip
    grids = [Grid("anova", pl.DataFrame(terms, infer_schema_length=None), "Analysis of variance of the log of the cells' mean times",
                  {"share": 5, "F": 1, "p": 4})]  # fmt: skip
    if effects:
        grids.insert(0, Grid("effects", pl.DataFrame(effects, infer_schema_length=None),
                             "Effect of memory and processors: change of the time against the mean over levels",
                             {"change": 3, "low": 3, "high": 3}))  # fmt: skip
    one_cpu = "virtual time" in means and means["virtual time"]["cpus"].n_unique() < 2
    return Section(
        "Do memory and processors matter",
        ["The unit is a cell (delay, processors, memory), as in the published table; the intervals of a factor's levels hold together with 95 % "
         "(Bonferroni). A clear answer takes an interval that lies inside the margin, or outside of it."
         + (" In virtual time there is one processor, infinitely fast: only memory can be varied." if one_cpu else ""),
         "A run counts as a boot; where runs share one, this is the spread between runs. Boot to boot, " + ("; ".join(f"{source}: {_boots_words(own)}" for source, own in boots.items()) + "." if boots else "nothing measured.")],
        verdicts=verdicts,
        grids=grids,
    )  # fmt: skip


# --- times --------------------------------------------------------------------------------------------------------------


def _times_section(fetches: pl.DataFrame, published: pl.DataFrame, arms: list[str]) -> Section:
    intervals: dict[str, dict[tuple[float, ...], Interval]] = {
        PUBLISHED: {
            (row["delay_ms"], row["cpus"], row["memory_gb"]): Interval(
                row["mean_s"], row["mean_s"] - row["ci95_s"], row["mean_s"] + row["ci95_s"], testbed.FETCHES, "as published"
            )
            for row in published.to_dicts()
        }
    }
    for arm in arms:
        means = fetch.resampled(fetches.filter(arm=arm), CELL)
        intervals[testbed.label(arm)] = {tuple(key): own for key, own in zip(means.keys.rows(), means.intervals(), strict=True)}
    levels = {name: sorted(fetches[name].unique()) for name in CELL}
    combinations = [(cpus, memory) for cpus in levels["cpus"] for memory in levels["memory_gb"]]
    names = [f"{cpus:g} CPU{'s' if cpus > 1 else ''}, {memory:g} GB" for cpus, memory in combinations]
    panels = {
        f"{delay:g} ms": {source: [own.get((delay, cpus, memory)) for cpus, memory in combinations] for source, own in intervals.items()}
        for delay in levels["delay_ms"]
    }
    return Section(
        "Download times",
        plots=[Plot("a_times", dots.multiples(panels, names, "guest", "download time (s)", across=3),
                    "Mean download time by the guest's processors and memory, one panel per one-way delay; ours with 95 % bootstrap interval, "
                    "the published as published.")],
    )  # fmt: skip


def _cells_section(statistics: pl.DataFrame, published: pl.DataFrame) -> Section:
    theirs = published.with_columns(n=pl.lit(testbed.FETCHES)).select(
        *CELL, *[pl.col(name).alias(f"published_{name}") for name in STATISTICS]
    )
    table = (
        statistics.join(theirs, on=CELL, how="left", maintain_order="left")
        .with_columns(ratio=pl.col("mean_s") / pl.col("published_mean_s"))
        .sort(*CELL, "arm")
    )
    digits = {**dict.fromkeys(("mean_s", "max_s", "min_s", "stdev_s", "ci95_s", "ci95_blocks_s", "cov"), 3), "ratio": 2, "retransmits": 1,
              "timeouts": 2, **{f"published_{name}": 2 for name in STATISTICS if name != "n"}}  # fmt: skip
    return Section(
        "All cells",
        ["n counts completed fetches. ci95_s is the half-width over fetches, as published; ci95_blocks_s that over the means of boots, which "
         "unlike fetches of one boot are independent. Click a heading to sort."],
        grids=[Grid("cells", table, "Every cell and arm beside the published statistics", digits)],
    )  # fmt: skip
