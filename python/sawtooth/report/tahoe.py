"""The report of the Tahoe/Reno study: goodput by window, queue and segment for one flow, fairness and order of start for ten.

Goodput is in bytes per second, as the original has it. Beside it: the same cells on ns-3.24, the last generation with Tahoe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from sawtooth import stats
from sawtooth.errors import DatasetError
from sawtooth.plots import against, bars, small_multiples
from sawtooth.report import tahoe_findings as findings
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.tahoe_findings import ARMS, Case, Outcome
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval, Vector
from sawtooth.study import shipped

# Below this a loss cannot be signalled by three duplicate acknowledgements: the lost segment and three after it.
FEWEST_SEGMENTS = 4
# What counts as near ns-3's value, relatively.
CLOSE = 0.05
_KEYS = ("flows", "queue", "window", "segment", "arm")

Measure: TypeAlias = Callable[[Outcome], Vector]
Panels: TypeAlias = dict[tuple[str, str], dict[str, list[Interval]]]


class _Data:
    """What all sections use."""

    def __init__(self, dataset: Dataset) -> None:
        missing = {f"{name}_value" for name in _KEYS[:4]} - set(dataset.runs.columns)
        if missing:
            raise DatasetError(f"this report needs the factors flows, queue, window and segment; there is no {', '.join(sorted(missing))}",
                               "the study `tahoe-vs-reno` has them")  # fmt: skip
        keys = [pl.col(f"{name}_value").round().cast(pl.Int64).alias(name) for name in _KEYS[:4]]
        plan = dataset.runs.select("run", "cell", "arm", "replicate", *keys)
        finished = dataset.status().filter(status="ok").select("run")
        flows = (
            dataset.flows()
            .select("run", "flow", "start_ns", "goodput_bps", "limited_rwnd_ns", "lifetime_ns", "timeouts", "retransmits")
            .collect()
            .join(finished, on="run", how="semi")
            .join(plan, on="run")
        )
        drops = (
            dataset.table("links")
            .filter(link="bottleneck", direction="forward")
            .select("run", "dropped_packets")
            .collect()
            .join(plan, on="run")
        )
        self.outcomes: dict[Case, Outcome] = {}
        for key, group in flows.sort("cell", "replicate").group_by(*_KEYS, maintain_order=True):
            runs = group.group_by("replicate", maintain_order=True).agg("goodput_bps", "start_ns")
            case = Case(int(str(key[0])), int(str(key[1])), int(str(key[2])), int(str(key[3])), str(key[4]))
            self.outcomes[case] = Outcome(
                np.array(runs["goodput_bps"].to_list(), dtype=np.float64) / 8, np.array(runs["start_ns"].to_list(), dtype=np.float64) / 1e9
            )
        if {case.arm for case in self.outcomes} - set(ARMS):
            raise DatasetError("this report knows the arms tahoe and reno only", '`report = "generic"` takes any')
        self.levels = findings.levels_of(self.outcomes)
        self.arms = [arm for arm in ARMS if any(case.arm == arm for case in self.outcomes)]
        self.replicates = max(outcome.goodput.shape[0] for outcome in self.outcomes.values())
        self.states = (
            flows.group_by("cell", *_KEYS, maintain_order=True)
            .agg(
                by_window=pl.col("limited_rwnd_ns").sum() / pl.col("lifetime_ns").sum(),
                timeouts=pl.col("timeouts").sum() / pl.col("run").n_unique(),
                retransmits=pl.col("retransmits").sum() / pl.col("run").n_unique(),
            )
            .join(drops.group_by(*_KEYS, maintain_order=True).agg(drops=pl.col("dropped_packets").mean()), on=list(_KEYS))
            .with_columns(
                window_limited=pl.col("by_window") > 0.5,
                few_segments=pl.col("window") // pl.col("segment") < FEWEST_SEGMENTS,
            )
            .sort("cell", pl.col("arm").replace_strict(list(ARMS), range(len(ARMS)), return_dtype=pl.Int8))
        )

    def interval(self, case: Case, measure: Measure) -> Interval:
        outcome = self.outcomes.get(case)
        return stats.mean_interval(measure(outcome)) if outcome else Interval(np.nan, np.nan, np.nan, 0, "no run tells it")

    @property
    def many(self) -> int:
        """The larger number of flows."""
        return max(self.levels["flows"])

    @property
    def how(self) -> str:
        """What error bars are, for captions."""
        return f"Means of {self.replicates} runs with 95 % t interval." if self.replicates > 1 else "A single run each: no intervals."


def build(dataset: Dataset) -> Report:
    """Findings, figures, the cells beside ns-3's, and what to be careful about."""
    data = _Data(dataset)
    answers = findings.verdicts(data.outcomes, data.levels)
    sections = [
        _findings_section(data, answers),
        _goodput_section(data),
        _spread_section(data),
        _peer_section(data),
        _careful_section(data),
        _cells_section(data),
    ]
    counted = {answer: sum(verdict.answer == answer for verdict in answers) for answer in ("yes", "no", "cannot distinguish")}
    warning = (
        ["n = 1: every statement is about these very runs; the study with random starts has intervals"] if data.replicates == 1 else []
    )
    summary = [*warning, "findings: " + ", ".join(f"{number} {answer}" for answer, number in counted.items()),
               *(f"{verdict.answer}: {verdict.claim}" for verdict in answers)]  # fmt: skip
    return Report(dataset, [section for section in sections if section is not None], summary)


def _findings_section(data: _Data, answers: list[Verdict]) -> Section:
    if data.replicates == 1:
        text = (
            "One run per cell and arm, with the published start times: n = 1. What follows is true of these runs; whether it would be of others, "
            "a single run cannot tell. The study `tahoe-vs-reno/random` draws the start times."
        )
    else:
        text = (
            f"{data.replicates} runs per cell and arm, with start times drawn afresh. Tahoe and Reno share them and are compared in pairs; cells "
            "have their own and are compared as independent groups. A claim about every case is confirmed if each 95 % interval says so, and "
            "refuted if one contradicts it at 95 % for all comparisons together (Bonferroni)."
        )
    return Section("Findings, confirmed or refuted", [text], verdicts=answers)


# --- figures ------------------------------------------------------------------------------------------------------------


def _by_arm(data: _Data, flows: int, measure: Measure, panel: str, x: str) -> Panels:
    """A row per arm, a column per level of `panel`, a curve per segment over the levels of `x`."""
    return {
        (ARMS[arm], f"{panel} {level}"): {
            f"segment {segment} B": [data.interval(_case(flows, segment, arm, {panel: level, x: at}), measure) for at in data.levels[x]]
            for segment in data.levels["segment"]
        }
        for arm in data.arms
        for level in data.levels[panel]
    }


def _case(flows: int, segment: int, arm: str, sizes: Mapping[str, int]) -> Case:
    return Case(flows, sizes["queue"], sizes["window"], segment, arm)


def _lattice(data: _Data, panels: Panels, panel: str, x: str, label: str, lowest: float = 0.0) -> Figure:
    rows, columns = [ARMS[arm] for arm in data.arms], [f"{panel} {level}" for level in data.levels[panel]]
    return small_multiples.curves(panels, rows, columns, [str(level) for level in data.levels[x]], f"{x} [B]", label, lowest)


def _goodput_section(data: _Data) -> Section:
    plots: list[Plot] = []
    letters = iter("abcdefgh")
    for flows in data.levels["flows"]:
        words = "of one flow" if flows == 1 else f"per flow, mean of {flows}"
        for panel, x in (("queue", "window"), ("window", "queue")):
            panels = _by_arm(data, flows, _mean, panel, x)
            letter = next(letters)
            plots.append(Plot(
                f"{letter}_goodput_{flows}_by_{x}",
                _lattice(data, panels, panel, x, "goodput [B/s]"),
                f"({letter}) Goodput {words}, by {x} and segment size, for each {panel} (bytes). {data.how}",
            ))  # fmt: skip
    if 1 in data.levels["flows"] and data.many > 1:
        pairs = {
            ARMS[arm]: {
                f"window {window} B": [
                    (stats.mean_interval(outcome.mean), data.interval(Case(data.many, case.queue, case.window, case.segment, arm), _mean))
                    for case, outcome in data.outcomes.items()
                    if case.flows == 1 and case.arm == arm and case.window == window
                ]
                for window in data.levels["window"]
            }
            for arm in data.arms
        }
        letter = next(letters)
        lines = {"as much as alone": 1.0, f"1/{data.many} of it": 1 / data.many}
        plots.append(Plot(
            f"{letter}_one_against_{data.many}",
            against.ratios(pairs, lines, "goodput of one flow [B/s]", f"mean goodput of {data.many} [B/s]"),
            f"({letter}) Goodput of one flow against the mean of {data.many}, a point per queue, window and segment. Points on the steep line: "
            f"the flows do not get in each other's way. {data.how}",
        ))  # fmt: skip
    return Section("Goodput by window, queue and segment", plots=plots)


def _mean(outcome: Outcome) -> Vector:
    return outcome.mean


def _deviation(outcome: Outcome) -> Vector:
    return outcome.deviation


def _jain(outcome: Outcome) -> Vector:
    return outcome.jain


def _spread_section(data: _Data) -> Section | None:
    if data.many == 1:
        return None
    flows, segments, queues = data.many, data.levels["segment"], data.levels["queue"]
    deviations = {
        f"window {window} B": {
            ARMS[arm]: [[data.interval(Case(flows, queue, window, segment, arm), _deviation) for segment in segments] for queue in queues]
            for arm in data.arms
        }
        for window in data.levels["window"]
    }
    fairness = _by_arm(data, flows, _jain, "queue", "window")
    lowest = min((i.estimate for series in fairness.values() for curve in series.values() for i in curve if i.n), default=0.0)
    plots = [
        Plot("f_deviation", bars.grouped(deviations, [f"queue {queue} B" for queue in queues], [str(segment) for segment in segments],
                                         "segment [B]", "standard deviation [B/s]"),
             f"(f) Standard deviation of goodput across {flows} flows, all {len(segments) * len(queues) * len(data.levels['window'])} cases. {data.how}"),
        Plot("g_jain", _lattice(data, fairness, "queue", "window", "Jain's index", max(0.0, lowest - 0.1)),
             f"(g) Jain's index of {flows} flows. {data.how}"),
    ]  # fmt: skip
    rows, columns = [f"window {window}" for window in data.levels["window"]], [f"queue {queue}" for queue in queues]
    for letter, arm in zip("hi", data.arms, strict=False):
        panels = {
            (f"window {window}", f"queue {queue}"): {
                f"segment {segment} B": _in_order(data, Case(flows, queue, window, segment, arm)) for segment in segments
            }
            for window in data.levels["window"]
            for queue in queues
        }
        plots.append(Plot(
            f"{letter}_order_{arm}",
            small_multiples.curves(panels, rows, columns, [str(rank) for rank in range(1, flows + 1)], "order of start", "goodput [B/s]"),
            f"({letter}) {ARMS[arm]}: goodput of each flow in order of start. {data.how}",
        ))  # fmt: skip
    return Section("Spread, fairness and order of start", plots=plots)


def _in_order(data: _Data, case: Case) -> list[Interval]:
    outcome = data.outcomes.get(case)
    return [stats.mean_interval(values) for values in outcome.in_order().T] if outcome else []


# --- beside ns-3 --------------------------------------------------------------------------------------------------------


def peer_table() -> pl.DataFrame:
    """The same cells on ns-3.24, one row per cell and variant."""
    return pl.read_csv(shipped.table("tahoe-vs-reno", "published.csv"))


def peer_outcomes() -> dict[Case, Outcome]:
    """ns-3.24's single runs, with the published start times."""
    # In order of flows 0 to 9.
    starts = np.array([0.0665559, 0.00105638, 0.0988327, 0.0159708, 0.0544278, 0.057616, 0.0571915, 0.0261588, 0.0596925, 0.0265378])
    made: dict[Case, Outcome] = {}
    for row in peer_table().to_dicts():
        arm = str(row["variant"]).removeprefix("Tcp").lower()
        if arm in ARMS:
            each = np.array([[float(text) for text in str(row["goodput_kbps_per_flow"]).split(";")]]) * 1000 / 8
            made[Case(row["n"], row["q_bytes"], row["win_bytes"], row["seg"], arm)] = Outcome(each, starts[None, : each.shape[1]])
    return made


def _peer_section(data: _Data) -> Section:
    peer = peer_outcomes()
    drops = {
        Case(row["n"], row["q_bytes"], row["win_bytes"], row["seg"], str(row["variant"]).removeprefix("Tcp").lower()): row[
            "bottleneck_drops"
        ]
        for row in peer_table().to_dicts()
    }
    rows: list[dict[str, object]] = []
    for state in data.states.to_dicts():
        case = Case(*(state[name] for name in _KEYS))
        if case not in peer:
            continue
        ours, theirs = data.outcomes[case], peer[case]
        rows.append({
            **{name: state[name] for name in _KEYS}, "window_limited": state["window_limited"],
            "goodput_Bps": float(ours.mean.mean()), "ns3_goodput_Bps": float(theirs.mean[0]), "ratio": float(ours.mean.mean() / theirs.mean[0]),
            "jain": float(ours.jain.mean()), "ns3_jain": float(theirs.jain[0]), "drops": state["drops"], "ns3_drops": drops[case],
        })  # fmt: skip
    if not rows:
        return Section("Beside ns-3.24", ["None of these cells was run on it."])
    table = pl.DataFrame(rows)
    agreement = (
        table.group_by("flows", "arm", "window_limited", maintain_order=True)
        .agg(
            cases=pl.len(),
            within_5_percent=((pl.col("ratio") - 1).abs() <= CLOSE).sum(),
            median_error=(pl.col("ratio") - 1).abs().median(),
            largest_error=(pl.col("ratio") - 1).abs().max(),
            jain_median_difference=(pl.col("jain") - pl.col("ns3_jain")).abs().median(),
        )
        .sort("flows", "arm", "window_limited")
    )
    close = int(((table["ratio"] - 1).abs() <= CLOSE).sum())
    paragraphs = [
        "Runs of ns-3.24, the last generation that had Tahoe, with the same links, one per cell, with the published start times (a reference to "
        f"compare with, not a truth). Mean goodput is within {CLOSE:.0%} of it in {close} of {table.height} cells.",
        *_one_segment_less(table),
    ]
    grids = [Grid("ns3_agreement", agreement, "Agreement by number of flows and arm", {"median_error": 4, "largest_error": 4}),
             Grid("ns3_cells", table, "Every cell beside ns-3.24", {"goodput_Bps": 1, "ns3_goodput_Bps": 1, "ratio": 4})]  # fmt: skip
    if data.replicates > 1 and data.many > 1:
        inside, total = _predicted(data, peer)
        paragraphs.append(
            f"Its value of one run lies inside the 95 % prediction interval of a single run with random starts in {inside[0]} of {total} cells with "
            f"{data.many} flows for mean goodput, which hardly varies with the starts, and in {inside[1]} for Jain's index."
        )
    comparable = {case: outcome for case, outcome in peer.items() if case in data.outcomes}
    same = [
        Verdict(f"ns-3.24: {verdict.claim}", verdict.answer, verdict.numbers)
        for verdict in findings.verdicts(comparable, findings.levels_of(comparable))
    ]
    return Section("Beside ns-3.24", [*paragraphs, "The same findings put to ns-3's runs, n = 1:"], verdicts=same, grids=grids)


def _one_segment_less(table: pl.DataFrame) -> list[str]:
    """Whether ns-3's window-limited goodput is that of a window one segment smaller."""
    alone = (
        table.filter((pl.col("flows") == 1) & (pl.col("window") == findings.SMALL_WINDOW))
        .unique("segment", maintain_order=True)
        .sort("segment")
    )
    if alone.is_empty() or bool(((alone["ratio"] - 1).abs() < CLOSE / 5).all()):
        return []
    expected = [(w // s) / max((w - s) // s, 1) for w, s in alone.select("window", "segment").rows()]
    seen = alone["ratio"].to_list()
    told = ", ".join(f"{s} B: {a:.3f} and {b:.3f}" for s, a, b in zip(alone["segment"], seen, expected, strict=True))
    return [
        "The window limit of ns-3 is the receiver's buffer. Its acknowledgements leave before the application reads what has just come, so the "
        "window they tell is smaller by a segment. Ours over ns-3's goodput of one flow with the smallest window, and the ratio that this "
        f"explains, by segment: {told}. With --set 'vars.unread=\"segment\"' our window is the same."
    ]


def _predicted(data: _Data, peer: dict[Case, Outcome]) -> tuple[list[int], int]:
    """How many of ns-3's values lie inside, of mean goodput and of Jain's index, and of how many."""
    cases = [case for case in data.outcomes if case.flows == data.many and case in peer]
    inside: list[int] = []
    for measure in (_mean, _jain):
        intervals = [(stats.prediction_interval(measure(data.outcomes[case])), float(measure(peer[case])[0])) for case in cases]
        inside.append(sum(interval.low <= value <= interval.high for interval, value in intervals))
    return inside, len(cases)


# --- care, cells --------------------------------------------------------------------------------------------------------


def _careful_section(data: _Data) -> Section:
    few = sorted({(row["window"], row["segment"]) for row in data.states.filter("few_segments").to_dicts()})
    limited = data.states.filter("window_limited").height
    words: Sequence[str] = [f"{window} bytes with segments of {segment} ({window // segment} segments)" for window, segment in few]
    paragraphs = [
        *(["n = 1. The runs differ in nothing that is random: two cells may differ by chance of phase, and nothing here says by how much."]
          if data.replicates == 1 else []),
        *([f"Fast retransmit is impossible where the window is less than {FEWEST_SEGMENTS} segments: {'; '.join(words)}. There every loss costs "
           "a timeout, and Tahoe and Reno are the same; these cells are flagged `few_segments`."] if few else []),
        f"In {limited} of {data.states.height} cells and arms the flows were held back by their window limit for more than half of their time "
        "(`window_limited`). What they carry there is the window per round trip and says nothing about Tahoe or Reno.",
        f"The original does not say its links, its duration nor its number of replicates. With {data.many} flows, goodput of a flow counts from its own "
        "start, so that equal flows differ by a few hundredths of a percent. Standard deviations are those of a sample (n - 1).",
    ]  # fmt: skip
    return Section("What to be careful about", paragraphs)


def _cells_section(data: _Data) -> Section:
    rows: list[dict[str, object]] = []
    for state in data.states.to_dicts():
        outcome = data.outcomes[Case(*(state[name] for name in _KEYS))]
        mean, deviation, jain = (stats.mean_interval(values) for values in (outcome.mean, outcome.deviation, outcome.jain))
        rows.append({
            **{name: state[name] for name in ("cell", *_KEYS)}, "replicates": mean.n,
            "goodput_Bps": mean.estimate, "goodput_low_Bps": mean.low, "goodput_high_Bps": mean.high,
            "sd_Bps": deviation.estimate, "sd_low_Bps": deviation.low, "sd_high_Bps": deviation.high,
            "jain": jain.estimate, "jain_low": jain.low, "jain_high": jain.high,
            "drops": state["drops"], "timeouts": state["timeouts"], "retransmits": state["retransmits"],
            "by_window": state["by_window"], "window_limited": state["window_limited"], "few_segments": state["few_segments"],
        })  # fmt: skip
    digits = {"by_window": 3, "jain": 4, "jain_low": 4, "jain_high": 4} | {
        f"{name}_Bps": 1 for name in ("goodput", "goodput_low", "goodput_high", "sd", "sd_low", "sd_high")
    }
    return Section(
        "All cells",
        ["Goodput is that of a flow (mean over flows), sd the standard deviation across flows, drops at the bottleneck; by_window is the share "
         "of the flows' time in which the window limit held them back."],
        grids=[Grid("cells", pl.DataFrame(rows), "Every cell and arm", digits)],
    )  # fmt: skip
