"""The report of the data-stream-stall study: throughput by message size with the faulty and the corrected kernel, and the stall that shows the dips.

Every curve lies over the published one. Throughput is in MB/s (10^6 bytes/s), of the time until the receiver has the whole message.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.metrics import dips
from sawtooth.plots import message_sizes
from sawtooth.plots.message_sizes import Curve, Panel
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Vector
from sawtooth.study import shipped

CORRECTED, FAULTY, NODELAY, ANYTIME = "corrected", "faulty", "nodelay", "faulty-anytime"
ARMS = {
    CORRECTED: "corrected kernel",
    FAULTY: "faulty kernel",
    NODELAY: "faulty kernel, TCP_NODELAY",
    ANYTIME: "faulty kernel, messages at any time",
}
# Interfaces of the study, and their columns in the published tables.
NICS = {"fe1": "fe1_intel_MBps", "fe2": "fe2_smc_MBps", "atm1": "atm1_efficient_MBps", "atm2": "atm2_fore_MBps"}
NAMES = {"fe1": "Fast Ethernet (Intel)", "fe2": "Fast Ethernet (SMC)", "atm1": "ATM (Efficient)", "atm2": "ATM (Fore)"}
# What is published of the faulty kernel: per curve the interface whose corrected curve it belongs to, file, and columns of throughput and stall.
UNFIXED = {
    "Fast Ethernet": ("fe1", "published-unfixed.csv", "fast_ethernet_MBps", None),
    "Fast Ethernet, with stall": ("fe1", "published-fast-ethernet-unfixed.csv", "throughput_MBps", "stall_normalized"),
    "ATM, with stall": ("atm1", "published-atm-unfixed.csv", "throughput_MBps", "stall_normalized"),
}
WINDOW = 32_768
# The bars that the project set itself.
MOST_ERROR, MOST_FACTOR, LEAST_FOUND, MOST_SURPLUS, MOST_CORRELATION = 0.05, 1.5, 0.6, 0.25, -0.8
# What is smooth: at no size below this share of the corrected curve.
SMOOTH = 0.9


@dataclass(frozen=True)
class Sweep:
    """What one interface and arm did by message size; all of shape (n,), in order of size.

    Attributes:
        sizes: bytes.
        throughput: MB/s, of the mean time of the replicates.
        stall: share of the time, 0 to 1.
        partial: of the stall, the share that a held partial packet has.

    """

    sizes: Vector
    throughput: Vector
    stall: Vector
    partial: Vector

    def at(self, sizes: Vector) -> Sweep:
        """The same at these sizes only."""
        keep = np.isin(self.sizes, sizes)
        return Sweep(self.sizes[keep], self.throughput[keep], self.stall[keep], self.partial[keep])


Sweeps = dict[tuple[str, str], Sweep]
"""By interface and arm."""


@dataclass(frozen=True)
class Reference:
    """A published curve of the faulty kernel, beside ours at the sizes of both.

    Attributes:
        level: published throughput with the corrected kernel, MB/s.
        stall: as published, normalised; None where it is not.

    """

    name: str
    nic: str
    throughput: Vector
    level: Vector
    stall: Vector | None
    ours: Sweep
    our_level: Vector

    def their_correlation(self, beyond: int = 0) -> float:
        """Of throughput relative to corrected with the stall, of sizes beyond so many bytes; not a number if nothing stalls."""
        keep = self.ours.sizes > beyond
        return float("nan") if self.stall is None else dips.rank_correlation((self.throughput / self.level)[keep], self.stall[keep])

    def our_correlation(self, beyond: int = 0) -> float:
        """The same of ours."""
        keep = self.ours.sizes > beyond
        return dips.rank_correlation((self.ours.throughput / self.our_level)[keep], self.ours.stall[keep])

    @property
    def scale(self) -> Vector:
        """The published stall over ours, at the sizes that are dips of both: a constant, if both are the same but for its unit."""
        if self.stall is None:
            return np.array([])
        both = dips.below(self.ours.throughput, self.our_level) & dips.below(self.throughput, self.level)
        return self.stall[both] / self.ours.stall[both]

    @property
    def agreement(self) -> dips.Agreement:
        """Of the dips below the corrected curve, each of its own."""
        return dips.agreement(dips.below(self.ours.throughput, self.our_level), dips.below(self.throughput, self.level))

    @property
    def lowest(self) -> tuple[float, float]:
        """Ours and theirs beyond the window, MB/s; not a number where nothing is."""
        beyond = self.ours.sizes > WINDOW
        if not beyond.any():
            return float("nan"), float("nan")
        return float(self.ours.throughput[beyond].min()), float(self.throughput[beyond].min())


def build(dataset: Dataset) -> Report:
    """Findings, bars, figures, dips, and every size."""
    sweeps = sweeps_of(dataset)
    corrected = table("published-corrected.csv").sort("message_bytes")
    references = references_of(sweeps, corrected)
    bars = bars_of(sweeps, references, corrected)
    answers = verdicts(sweeps)
    missed = bars.filter(pl.col("met") == "no")
    sections = [
        Section("Findings, confirmed or refuted", [_how(dataset)], verdicts=answers),
        Section("How near it comes", _near(references, missed.height), grids=[Grid("bars", bars, "What was asked, and what came out", {"value": 3})]),
        _figures(sweeps, references, corrected),
        _dips_section(sweeps),
        _sizes_section(sweeps, corrected),
    ]  # fmt: skip
    summary = [
        *(f"{verdict.answer}: {verdict.claim}" for verdict in answers),
        *(f"bar {'met' if row['met'] == 'yes' else 'missed'}: {row['bar']}, {row['of']}: {row['value']:.3g}" for row in bars.to_dicts()),
    ]
    return Report(dataset, sections, summary)


def sweeps_of(dataset: Dataset) -> Sweeps:
    """Means over replicates.

    Raises:
        DatasetError: if the study has no sizes or no hosts, or an arm this report does not know.

    """
    missing = {"size_value", "host"} - set(dataset.runs.columns)
    if missing:
        raise DatasetError(f"this report needs the factors `vars.size` and `scenario.host`; there is no {', '.join(sorted(missing))}",
                           "the study `stall` has them")  # fmt: skip
    plan = dataset.runs.select("run", "arm", "replicate", nic="host", size=pl.col("size_value").round())
    unknown = (set(plan["arm"]) - set(ARMS)) | (set(plan["nic"]) - set(NICS))
    if unknown:
        raise DatasetError(f"this report does not know {', '.join(sorted(unknown))}", '`report = "generic"` takes any')
    finished = dataset.status().filter(status="ok").select("run")
    flows = (
        dataset.flows()
        .select("run", "completion_ns", "stall_ns", "stall_partial_ns")
        .collect()
        .join(finished, on="run", how="semi")
        .join(plan, on="run")
        .filter(pl.col("completion_ns") > 0)
    )
    means = flows.group_by("nic", "arm", "size", maintain_order=True).agg(pl.col("completion_ns", "stall_ns", "stall_partial_ns").mean())
    made: Sweeps = {}
    for nic in NICS:
        for arm in ARMS:
            part = means.filter(nic=nic, arm=arm).sort("size")
            if part.is_empty():
                continue
            sizes, took, stall, partial = (
                part[name].cast(pl.Float64).to_numpy() for name in ("size", "completion_ns", "stall_ns", "stall_partial_ns")
            )
            made[nic, arm] = Sweep(sizes, sizes / took * 1e3, stall / took, np.divide(partial, stall, out=np.zeros_like(stall), where=stall > 0))  # fmt: skip
    if not any(arm == CORRECTED for _, arm in made):
        raise DatasetError("there is no finished run of the arm `corrected`, which is the level of all dips", "the study `stall` has it")
    return made


def references_of(sweeps: Sweeps, corrected: pl.DataFrame) -> list[Reference]:
    """The published faulty curves, where we have theirs."""
    made: list[Reference] = []
    for name, (nic, file, throughput, stall) in UNFIXED.items():
        ours, level = sweeps.get((nic, FAULTY)), sweeps.get((nic, CORRECTED))
        if ours is None or level is None:
            continue
        both = table(file).join(corrected, on="message_bytes").sort("message_bytes")
        sizes = np.intersect1d(np.intersect1d(ours.sizes, level.sizes), both["message_bytes"].to_numpy())
        both = both.filter(pl.col("message_bytes").is_in(sizes.astype(np.int64)))
        ours, level = ours.at(sizes), level.at(sizes)
        made.append(Reference(
            name, nic, both[throughput].to_numpy(), both[NICS[nic]].to_numpy(), both[stall].to_numpy() if stall else None, ours, level.throughput,
        ))  # fmt: skip
    return made


# --- bars ---------------------------------------------------------------------------------------------------------------


def bars_of(sweeps: Sweeps, references: list[Reference], corrected: pl.DataFrame) -> pl.DataFrame:
    """One row per bar and curve. Columns: bar, of, asked, value, met (yes, no; empty where the sizes tell nothing)."""
    rows: list[dict[str, object]] = []

    def row(bar: str, of: str, asked: str, value: float, met: bool) -> None:
        known = bool(np.isfinite(value))
        rows.append(
            {"bar": bar, "of": of, "asked": asked, "value": value if known else None, "met": ("yes" if met else "no") if known else ""}
        )

    for nic, column in NICS.items():
        if (nic, CORRECTED) in sweeps:
            error = errors(sweeps[nic, CORRECTED], corrected, column)
            median = float(np.median(np.abs(error))) if error.size else float("nan")
            row("median absolute error, corrected", NAMES[nic], f"at most {MOST_ERROR:g}", median, median <= MOST_ERROR)
    for nic in NICS:
        found = dip_sizes(sweeps, nic, FAULTY)
        if found is not None:
            row("smallest size that is a dip, kB", NAMES[nic], f"more than {WINDOW / 1000:g}", float(found.min()) / 1000 if found.size else float("nan"),
                bool(found.size and found.min() > WINDOW))  # fmt: skip
    for reference in references:
        ours, theirs = reference.lowest
        factor = max(ours / theirs, theirs / ours)
        row("lowest throughput, ours to published", reference.name, f"a factor of {MOST_FACTOR:g} at most", factor, factor <= MOST_FACTOR)
    for reference in references:
        agreement = reference.agreement
        row(
            "published dip sizes that are dips here",
            reference.name,
            f"at least {LEAST_FOUND:g}",
            agreement.found,
            agreement.found >= LEAST_FOUND,
        )
        row(
            "dips here that are none there",
            reference.name,
            f"at most {MOST_SURPLUS:g}",
            agreement.surplus,
            agreement.surplus <= MOST_SURPLUS,
        )
    for beyond, where in ((0, "all sizes"), (WINDOW, "beyond the window")):
        for reference in references:
            for whose, value in (("ours", reference.our_correlation(beyond)), ("published", reference.their_correlation(beyond))):
                if whose == "ours" or reference.stall is not None:
                    row(f"rank correlation of throughput with stall, {where}", f"{reference.name}, {whose}", f"{MOST_CORRELATION:g} or less", value, value <= MOST_CORRELATION)  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def errors(sweep: Sweep, corrected: pl.DataFrame, column: str) -> Vector:
    """Relative errors of throughput at the published sizes."""
    both = pl.DataFrame({"message_bytes": sweep.sizes.astype(np.int64), "ours": sweep.throughput}).join(corrected, on="message_bytes").sort("message_bytes")  # fmt: skip
    return (both["ours"] / both[column] - 1).to_numpy()


def dip_sizes(sweeps: Sweeps, nic: str, arm: str, share: float = dips.BELOW) -> Vector | None:
    """At which sizes the arm is below a share of the corrected curve, bytes; None without both."""
    if (nic, arm) not in sweeps or (nic, CORRECTED) not in sweeps:
        return None
    sizes = np.intersect1d(sweeps[nic, arm].sizes, sweeps[nic, CORRECTED].sizes)
    ours, level = sweeps[nic, arm].at(sizes), sweeps[nic, CORRECTED].at(sizes)
    return ours.sizes[dips.below(ours.throughput, level.throughput, share)]


def verdicts(sweeps: Sweeps) -> list[Verdict]:
    """The study's findings, of the interfaces that were run."""
    return [
        _verdict("Throughput falls at some sizes in the faulty configuration, and only beyond the window", _only_beyond(sweeps)),
        _verdict("The stall tracks the dips: where throughput is low it is high", _tracks(sweeps)),
        _verdict("The corrected kernel has no dips", _smooth(sweeps, CORRECTED)),
        _verdict("TCP_NODELAY removes the dips of the faulty kernel", _smooth(sweeps, NODELAY)),
    ]


Told = list[tuple[bool, str]]
"""Per interface whether it is so, and its numbers."""


def _verdict(claim: str, told: Told) -> Verdict:
    answer = ("yes" if all(so for so, _ in told) else "no") if told else "cannot distinguish"
    return Verdict(claim, answer, "; ".join(numbers for _, numbers in told) or "no run tells it")


def _only_beyond(sweeps: Sweeps) -> Told:
    told: Told = []
    for nic in NICS:
        found = dip_sizes(sweeps, nic, FAULTY)
        if found is not None:
            words = f"{found.size} dips from {found.min():,.0f} B on" if found.size else "no dips"
            told.append((bool(found.size) and float(found.min()) > WINDOW, f"{NAMES[nic]}: {words}"))
    return told


def _tracks(sweeps: Sweeps) -> Told:
    told: Told = []
    for nic in NICS:
        if (nic, FAULTY) in sweeps and (nic, CORRECTED) in sweeps:
            sizes = np.intersect1d(sweeps[nic, FAULTY].sizes, sweeps[nic, CORRECTED].sizes)
            ours, level = sweeps[nic, FAULTY].at(sizes), sweeps[nic, CORRECTED].at(sizes)
            rank = dips.rank_correlation(ours.throughput / level.throughput, ours.stall)
            if np.isfinite(rank):
                told.append((rank <= MOST_CORRELATION, f"{NAMES[nic]}: rank correlation {rank:.2f}"))
    return told


def _smooth(sweeps: Sweeps, arm: str) -> Told:
    told: Told = []
    for nic in NICS:
        if (nic, arm) not in sweeps or (nic, CORRECTED) not in sweeps:
            continue
        sizes = np.intersect1d(sweeps[nic, arm].sizes, sweeps[nic, CORRECTED].sizes)
        ours, level = sweeps[nic, arm].at(sizes), sweeps[nic, CORRECTED].at(sizes)
        # The corrected curve is held against its own surface, the other against it.
        share = ours.throughput / (dips.surface(level.throughput) if arm == CORRECTED else level.throughput)
        lowest = int(np.argmin(share))
        told.append((bool(share.min() >= SMOOTH), f"{NAMES[nic]}: at least {share.min():.2f} of the level, at {ours.sizes[lowest]:,.0f} B"))
    return told


def table(name: str) -> pl.DataFrame:
    """A published table of this study.

    Raises:
        DatasetError: if it is not there.

    """
    return pl.read_csv(shipped.table("stall", name)).with_columns(pl.all().exclude("message_bytes").cast(pl.Float64))


# --- sections -----------------------------------------------------------------------------------------------------------


def _how(dataset: Dataset) -> str:
    replicates = int(dataset.runs["replicate"].n_unique())
    return (
        f"{replicates} {'replicates' if replicates > 1 else 'replicate'} per size, interface and arm, with random phases of the clocks' ticks; a curve is message size over mean time. "
        f"A dip is a size at which throughput is below {dips.BELOW:g} of the corrected curve, smooth is what is nowhere below {SMOOTH:g} of its level. In the arm `{FAULTY}` messages follow each other, "
        f"so that one begins just after a tick of the receiver; in `{ANYTIME}` they begin at any time."
    )  # fmt: skip


def _near(references: list[Reference], missed: int) -> list[str]:
    told = [
        f"{reference.name}: {reference.agreement.theirs} published dips, {reference.agreement.ours} here."
        for reference in references
    ]  # fmt: skip
    for reference in references:
        if reference.scale.size:
            low, middle, high = np.percentile(reference.scale, [25, 50, 75])
            told.append(
                f"{reference.name}: at the {reference.scale.size} sizes that are dips of both the published stall, whose unit is not told, is {middle:.1f} times our share of the time "
                f"(quartiles {low:.1f}, {high:.1f})."
            )
    if missed:
        told.append("What was tried, and what the published curves say of their own kernel, is in docs/guides/stall-study.md.")
    return told


def _figures(sweeps: Sweeps, references: list[Reference], corrected: pl.DataFrame) -> Section:
    plots = [Plot("1_throughput", message_sizes.panels([_overview(sweeps, references, nic, corrected) for nic in NICS if (nic, CORRECTED) in sweeps]),
                  "(1) Throughput by message size with the faulty and the corrected kernel. Lines are ours, points are published (of the faulty kernel for one interface of each medium). "
                  "The dotted line is the window of 32 KiB.")]  # fmt: skip
    for number, reference in enumerate((reference for reference in references if reference.stall is not None), 2):
        assert reference.stall is not None
        size = reference.ours.sizes
        theirs = Panel(
            "published",
            "throughput (MB/s)",
            [Curve("throughput", size, reference.throughput)],
            "normalised stall",
            [Curve("stall", size, reference.stall)],
            WINDOW,
        )
        ours = Panel("here", "throughput (MB/s)", [Curve("throughput", size, reference.ours.throughput)], "stall, share of the time",
                     [Curve("stall", size, reference.ours.stall)], WINDOW)  # fmt: skip
        ours.left.append(Curve("published throughput", size, reference.throughput, points=True, like=0))
        medium = reference.name.removesuffix(", with stall")
        plots.append(Plot(f"{number}_stall_{reference.nic}", message_sizes.panels([theirs, ours], columns=1),
                          f"({number}) {medium}, faulty kernel: throughput, and the stall on the right axis. The published stall is normalised in a way that is not told, ours is a share of the "
                          f"message's time; rank correlation with throughput relative to the corrected curve: published {reference.their_correlation():.2f}, here "
                          f"{_number(reference.our_correlation())}."))  # fmt: skip
    return Section("Throughput and stall by message size", plots=plots)


def _number(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "none"


def _overview(sweeps: Sweeps, references: list[Reference], nic: str, corrected: pl.DataFrame) -> Panel:
    level = sweeps[nic, CORRECTED]
    known = corrected.filter(pl.col("message_bytes").is_in(level.sizes.astype(np.int64)))
    curves = [Curve("corrected", level.sizes, level.throughput),
              Curve("corrected, published", known["message_bytes"].cast(pl.Float64).to_numpy(), known[NICS[nic]].to_numpy(), points=True, like=0)]  # fmt: skip
    if (nic, FAULTY) in sweeps:
        faulty = sweeps[nic, FAULTY]
        curves.append(Curve("faulty", faulty.sizes, faulty.throughput, like=1))
    # Of Fast Ethernet two curves are published; the one without stall is that of the kernel without the stopwatch.
    shown = [reference for reference in references if reference.nic == nic and (reference.stall is None or nic.startswith("atm"))]
    curves += [Curve("faulty, published", reference.ours.sizes, reference.throughput, points=True, like=1) for reference in shown]
    return Panel(NAMES[nic], "throughput (MB/s)", curves, mark=WINDOW)


def _dips_section(sweeps: Sweeps) -> Section:
    rows: list[dict[str, object]] = []
    for (nic, arm), sweep in sweeps.items():
        if arm == CORRECTED or (nic, CORRECTED) not in sweeps:
            continue
        sizes = np.intersect1d(sweep.sizes, sweeps[nic, CORRECTED].sizes)
        ours, level = sweep.at(sizes), sweeps[nic, CORRECTED].at(sizes)
        for dip in dips.find(ours.sizes, ours.throughput, level.throughput, ours.stall):
            at = {"first_bytes": dip.first, "last_bytes": dip.last, "deepest_bytes": dip.deepest}
            rows.append({"interface": NAMES[nic], "arm": arm, **at, "share": dip.share, "stall": dip.stall})
    text = "Neighbouring sizes below half of the corrected curve: the least share of it, and the mean share of the time that is stall."
    digits = {"first_bytes": 0, "last_bytes": 0, "deepest_bytes": 0, "share": 2, "stall": 2}
    return Section(
        "Dips", [text] if rows else ["There are none."], grids=[Grid("dips", pl.DataFrame(rows), "Dips here", digits)] if rows else []
    )


def _sizes_section(sweeps: Sweeps, corrected: pl.DataFrame) -> Section:
    frames = [
        pl.DataFrame({"nic": [nic] * sweep.sizes.size, "arm": [arm] * sweep.sizes.size, "message_bytes": sweep.sizes.astype(np.int64), "throughput_MBps": sweep.throughput,
                      "stall": sweep.stall, "stall_partial": sweep.partial})
        for (nic, arm), sweep in sweeps.items()
    ]  # fmt: skip
    known = corrected.unpivot(index="message_bytes", variable_name="column", value_name="corrected_published_MBps").with_columns(
        nic=pl.col("column").replace_strict({column: nic for nic, column in NICS.items()})
    )
    order = {nic: at for at, nic in enumerate(NICS)}
    arms = {arm: at for at, arm in enumerate(ARMS)}
    joined = (
        pl.concat(frames)
        .join(known.drop("column"), on=["nic", "message_bytes"], how="left")
        .sort(pl.col("nic").replace_strict(order), pl.col("arm").replace_strict(arms), "message_bytes")
    )
    digits = {"throughput_MBps": 3, "corrected_published_MBps": 3, "stall": 3, "stall_partial": 3}
    return Section("All sizes", ["stall is the share of the message's time, stall_partial what a held partial packet has of it."],
                   grids=[Grid("sizes", joined, "Every interface, arm and size", digits)])  # fmt: skip
