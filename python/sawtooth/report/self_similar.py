"""The report of the self-similar background study: as published, then long paths, larger buffers, and the background itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.metrics.instruments import COUNTERS, LIMITS, WARM_UP
from sawtooth.plots import lattice, shares
from sawtooth.plots.lattice import Curve, Panel
from sawtooth.plots.variance_time import variance_time
from sawtooth.report import self_similar_findings as findings
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.self_similar_data import ARMS, LINE_RATE, MEGA, PARTS, PAYLOAD, WINDOW_LIMITED, Data, hurst_table, mean, vector
from sawtooth.results.dataset import Dataset
from sawtooth.stats import hurst

HOLLOW = "held back by the receiver's window"
BACKGROUND = "background (Mbit/s)"


@dataclass(frozen=True)
class Measure:
    """A column of the runs as figures show it."""

    column: str
    title: str
    unit: str
    divisor: float = 1.0

    @property
    def label(self) -> str:
        """Of an axis."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


THROUGHPUT = Measure("mean_bps", "throughput", "Mbit/s", MEGA)
COV = Measure("cov_second", "CoV, windows of 1 s", "")
COV_SHORT = Measure("cov_tenth", "CoV, windows of 0.1 s", "")
WINDOW = Measure("cwnd_bytes", "mean cwnd", "kB", 1e3)
SIGNALS = Measure("CongSignals", "congestion signals", "")
RETRANSMITS = Measure("SegsRetrans", "packets retransmitted", "")
DUPACKS = Measure("DupAcksIn", "duplicate ACKs", "")


def build(dataset: Dataset) -> Report:
    """Every finding with its verdict, the published figures, and those that the authors could not draw."""
    data = Data(dataset)
    own, further = findings.published(data), findings.beyond(data)
    check, generated = _background_section(data)
    parts = [
        _findings_section(own, further, generated),
        _base_section(data),
        _instruments_section(data),
        check,
        _paths_section(data),
        _buffers_section(data),
        _hurst_section(data),
        _queue_section(data),
        _limited_section(data),
        _cells_section(data),
    ]
    summary = [f"{verdict.answer}: {verdict.claim} ({verdict.numbers})" for verdict in (*own, *further, *generated)]
    return Report(dataset, [part for part in parts if part is not None], summary)


def _findings_section(own: Sequence[Verdict], further: Sequence[Verdict], generated: Sequence[Verdict]) -> Section:
    return Section(
        "Findings, confirmed or refuted",
        [f"The published ones first ({len(own)}), then what the authors could not do ({len(further)}), then the background itself "
         f"({len(generated)}). Stacks share the background of a replicate, so they are compared in pairs: the number of a claim is "
         f"averaged over the "
         "combinations it names, replicate by replicate, and its 95 % t interval is over replicates. Counts of single combinations go by "
         "intervals that hold together (Bonferroni)."],
        verdicts=[*own, *further, *generated],
    )  # fmt: skip


# --- curves -------------------------------------------------------------------------------------------------------------


def _curve(data: Data, frame: pl.DataFrame, measure: Measure, x: str) -> Curve:
    """Over the values of column `x`, of the runs of one arm."""
    groups = [(float(str(at)), group) for (at,), group in frame.sort(x).group_by(x, maintain_order=True)]
    limited = {(row["cell"], row["arm"]): bool(row["window_limited"]) for row in data.cells.to_dicts()}
    values = [vector(group, measure.column) / measure.divisor for _, group in groups]
    kept = [at for at, each in enumerate(values) if each.size]
    return Curve(
        [groups[at][0] for at in kept],
        [stats.mean_interval(values[at]) for at in kept],
        [values[at] for at in kept],
        [limited[groups[at][1]["cell"][0], groups[at][1]["arm"][0]] for at in kept],
    )


def _panel(
    data: Data,
    frame: pl.DataFrame,
    measure: Measure,
    x: str,
    title: str = "",
    like: str = "",
    y_label: str | None = None,
    *,
    line: bool = False,
) -> Panel:
    curves = {ARMS[arm]: _curve(data, own, measure, x) for arm in data.arms if not (own := frame.filter(pl.col("arm") == arm)).is_empty()}
    ends = [0.0, max(curve.x[-1] for curve in curves.values())] if curves else []
    rest = [(LINE_RATE / MEGA - end) * PAYLOAD for end in ends]
    reference = ("what the background leaves", ends, rest) if line else None
    return Panel(title, measure.label if y_label is None else y_label, curves, reference, like)


def _caption(data: Data, words: str) -> str:
    n = data.runs["replicate"].n_unique()
    return f"{words} Means over n = {n} replicates (dots) with 95 % t interval; throughput, CoV and cwnd after the first {WARM_UP:.0%} of a run."


# --- as published -------------------------------------------------------------------------------------------------------


def _base_section(data: Data) -> Section | None:
    frame = data.base
    if frame.is_empty():
        return None
    measures = (THROUGHPUT, COV, COV_SHORT, WINDOW, SIGNALS, RETRANSMITS, DUPACKS)
    panels = [
        _panel(data, frame, measure, "background_mbps", y_label=measure.label, line=measure is THROUGHPUT)
        for measure in measures
    ]  # fmt: skip
    panels.append(_panel(data, frame, Measure("by_receiver", "share of time under\nthe receiver's window", ""), "background_mbps"))
    rates = data.levels(frame, "background")
    limited = {
        ARMS[arm]: {
            words: np.array([mean(frame.filter(pl.col("arm") == arm, pl.col("background") == rate), column).estimate for rate in rates])
            for column, words in (
                ("by_receiver", "receiver's window"),
                ("by_window", "congestion window, recovery"),
                ("by_sender", "sender"),
            )
        }
        for arm in data.arms
    }
    x = np.array([float(frame.filter(pl.col("background") == rate)["background_mbps"][0]) for rate in rates])
    return Section(
        "As published: 1 Gbit/s, 6 ms",
        ["Not published, and chosen here: run length, warm-up, width of the windows, the queue (a section of its own), and the buffer, of "
         "which is "
         f"known that the window capped the flows below {findings.CAPPED_BELOW:g} Mbit/s of background. Hollow points are combinations in "
         f"which the "
         f"receiver's window held the flow back for more than {WINDOW_LIMITED:.0%} of its life: what stacks have alike there is no "
         f"property of "
         "their congestion control."],
        plots=[
            Plot("a_against_background", lattice.lattice(panels, 3, BACKGROUND, hollow=HOLLOW), _caption(data, "The instruments against the background's mean rate.")),
            Plot("b_limited_by", shares.stacked(x, limited, BACKGROUND, "share of the connection's life"),
                 "What held the flow back, by stack: means over replicates."),
        ],
    )  # fmt: skip


def _instruments_section(data: Data) -> Section | None:
    frame = data.base
    if frame.is_empty():
        return None

    def points(x: str, y: str, x_divisor: float = 1.0, y_divisor: float = 1.0) -> dict[str, tuple[stats.Vector, stats.Vector]]:
        own = {arm: frame.filter(pl.col("arm") == arm) for arm in data.arms}
        return {ARMS[arm]: (vector(rows, x) / x_divisor, vector(rows, y) / y_divisor) for arm, rows in own.items()}

    throughput = lattice.scatters([("mean cwnd (kB)", "throughput (Mbit/s)", points("cwnd_bytes", "mean_bps", 1e3, MEGA))], 1)
    counters = lattice.scatters([
        ("duplicate ACKs", "packets retransmitted", points("DupAcksIn", "SegsRetrans")),
        ("packets retransmitted", "fast retransmits", points("SegsRetrans", "FastRetran")),
        ("duplicate ACKs", "DSACKs", points("DupAcksIn", "DSACKDups")),
    ], 3, scale="symlog")  # fmt: skip
    pairs = (("cwnd_bytes", "mean_bps"), ("DupAcksIn", "SegsRetrans"), ("SegsRetrans", "FastRetran"), ("DupAcksIn", "DSACKDups"))
    rows: list[dict[str, object]] = []
    for arm in data.arms:
        own = frame.filter(pl.col("arm") == arm)
        for x, y in pairs:
            both = own.select(pl.col(x, y).cast(pl.Float64)).drop_nulls()
            if both[x].n_unique() > 1 and both[y].n_unique() > 1:
                rho, low, high = stats.spearman_interval(both[x].to_numpy(), both[y].to_numpy())
                rows.append({"arm": ARMS[arm], "x": x, "y": y, "spearman": rho, "low": low, "high": high, "n": both.height})
    grids = [
        Grid(
            "correlations",
            pl.DataFrame(rows),
            "Rank correlations over runs, with 95 % bootstrap interval",
            dict.fromkeys(("spearman", "low", "high"), 2),
        )
    ]
    return Section(
        "The instruments against each other",
        plots=[
            Plot("c_throughput_cwnd", throughput, "Throughput against mean congestion window, one point per run."),
            Plot("d_counters", counters, "Counters against each other, one point per run; scales are linear up to 1 and logarithmic above."),
        ],
        grids=grids if rows else [],
    )  # fmt: skip


# --- the background -----------------------------------------------------------------------------------------------------


def _background_section(data: Data) -> tuple[Section | None, list[Verdict]]:
    """The packets that were sent, made once more from the seeds, of every Hurst parameter and variance."""
    frame = data.where("H", "variance").filter(pl.col("arm") == data.arms[0], pl.col("background_mbps") > findings.CAPPED_BELOW)
    rates = [
        rate
        for rate in data.levels(frame, "background")
        if frame.filter(pl.col("background") == rate)["H"].n_unique() == frame["H"].n_unique()
    ]
    if not rates:
        return None, []
    frame = frame.filter(pl.col("background") == rates[0]).sort("variance_value", "H_value", "replicate")
    table, counts = hurst_table(data, frame.to_dicts())
    plots: list[Plot] = []
    for variance in data.levels(frame, "variance"):
        own = {h: series[0] for (its, h, _), series in counts.items() if its == variance}
        chosen = [h for h in own if h in (min(own), data.published["H"], max(own))]
        shown = {f"H = {h}": own[h] for h in chosen if own[h].size >= 8 * hurst.FEWEST and float(np.ptp(own[h])) > 0}
        if shown:
            fits = {label: hurst.aggregated_variance(series) for label, series in shown.items()}
            plots.append(Plot(f"e_variance_time_{variance}", variance_time(shown, fits),
                              f"Variance-time plot of the background of the first replicates at {rates[0]} with a variance of {variance} "
                              f"packets; lines: "
                              "what the aggregated variance is fitted with."))  # fmt: skip
    if table.is_empty():
        return (Section("The background itself", plots=plots) if plots else None), []
    by_parameter = (
        table.group_by("variance", "H", "method", maintain_order=True)
        .agg(
            replicates=pl.len(),
            measured=pl.col("hurst").mean(),
            sd=pl.col("hurst").std(),
            standard_error=(pl.col("error") ** 2).mean().sqrt(),
            mean_packets=pl.col("mean_packets").mean(),
            variance_packets=pl.col("variance_packets").mean(),
        )
        .rename({"variance": "variance_asked", "H": "H_asked"})
    )
    grid = Grid("hurst", by_parameter, f"Measured Hurst parameters at {rates[0]}: mean over replicates, their standard deviation, and the "
                "standard error of a single estimate", {"measured": 3, "sd": 3, "standard_error": 3, "mean_packets": 2, "variance_packets": 2})  # fmt: skip
    section = Section(
        "The background itself",
        ["Packets per period as they were sent, by three estimators. They are whole packets, between none and line rate: rounding adds "
         "1/12 of a packet squared, "
         "without memory, and the limit cuts off the largest bursts, so the variance is not quite that asked for. H = 1, as published, is "
         "the limit in which "
         "every period of a run has the same number of packets."],
        plots=plots,
        grids=[grid],
    )  # fmt: skip
    return section, findings.right_hurst(table)


# --- beyond -------------------------------------------------------------------------------------------------------------


def _paths_section(data: Data) -> Section | None:
    frame = data.where("RTT", fitted=True)
    levels = data.levels(frame, "RTT")
    if len(levels) < 2:
        return None
    # Rates of which all paths have something.
    shared = [
        rate for rate in data.levels(frame, "background") if frame.filter(pl.col("background") == rate)["RTT"].n_unique() == len(levels)
    ]
    frame = frame.filter(pl.col("background").is_in(shared))
    panels = [
        _panel(data, frame.filter(pl.col("RTT") == rtt), measure, "background_mbps", f"round trip {rtt}" if row == 0 else "",
               like="" if measure in (WINDOW, SIGNALS, RETRANSMITS) else measure.column,
               y_label=measure.label if at == 0 else "", line=measure is THROUGHPUT)
        for row, measure in enumerate((THROUGHPUT, COV, WINDOW, SIGNALS, RETRANSMITS))
        for at, rtt in enumerate(levels)
    ]  # fmt: skip
    return Section(
        "Long paths",
        ["“This should be repeated on a long-distance path”: the socket buffer is to each path what the published one is to 6 ms. After a "
         "loss standard TCP "
         "grows by less than a packet per round trip: runs as short as these are the beginning of a transfer to it at 180 ms, not a "
         "steady state."],
        plots=[Plot("f_long_paths", lattice.lattice(panels, len(levels), BACKGROUND, hollow=HOLLOW),
                    _caption(data, "The instruments on longer paths; cwnd, congestion signals and retransmissions each on a scale of their own."))],
    )  # fmt: skip


def _buffers_section(data: Data) -> Section | None:
    frame = data.where("RTT", "buffers").filter(pl.col("relative") >= 1 - 1e-9)
    larger = frame.filter(pl.col("relative") > 1 + 1e-9)
    if larger.is_empty():
        return None
    levels = data.levels(larger, "RTT")
    rates = [rate for rate in data.levels(larger, "background")
             if larger.filter(pl.col("background") == rate)["RTT"].n_unique() == len(levels)]  # fmt: skip
    ticks = sorted([1.0, *larger["relative"].round(6).unique().to_list()])
    plots: list[Plot] = []
    for letter, measure in (("g", THROUGHPUT), ("h", COV), ("i", SIGNALS)):
        panels = [
            _panel(data, frame.filter(pl.col("RTT") == rtt, pl.col("background") == rate), measure, "relative",
                   f"round trip {rtt}, {rate}", like=rtt if measure is SIGNALS else "all", y_label=measure.label if at == 0 else "")
            for rtt in levels for at, rate in enumerate(rates)
        ]  # fmt: skip
        plots.append(Plot(
            f"{letter}_buffers_{measure.column.lower()}",
            lattice.lattice(panels, len(rates), "socket buffer (multiples)", x_scale="log", ticks=ticks, hollow=HOLLOW),
            _caption(data, f"{measure.title[0].upper()}{measure.title[1:]} by the receiver's socket buffer."),
        ))  # fmt: skip
    return Section(
        "Larger socket buffers",
        ["Buffers are multiples of the one that is to the path what the published one is to 6 ms. Once the window no longer caps a flow, "
         "the queue does: it fills, and "
         "what the stacks make of its losses is seen at every background."],
        plots=plots,
    )  # fmt: skip


def _hurst_section(data: Data) -> Section | None:
    frame = data.where("H", "variance")
    varied = frame.filter(pl.col("H") != data.published["H"])
    if varied.is_empty():
        return None
    rates, variances = data.levels(varied, "background"), data.levels(varied, "variance")
    panels = [
        _panel(data, frame.filter(pl.col("background") == rate, pl.col("variance") == variance), measure, "H_value",
               f"{rate}, variance {variance}", like=measure.column, y_label=measure.label if at == 0 else "")
        for measure in (COV, THROUGHPUT)
        for variance in variances
        for at, rate in enumerate(rates)
    ]  # fmt: skip
    return Section(
        "How self-similar the background is",
        ["The published variance of 1 packet in 1476 µs is nearly a constant rate: a burst is one packet. With a variance of 100 it is "
         "ten."],
        plots=[Plot("j_hurst", lattice.lattice(panels, len(rates), "Hurst parameter", hollow=HOLLOW),
                    _caption(data, "CoV and throughput by the background's Hurst parameter and variance."))],
    )  # fmt: skip


def _queue_section(data: Data) -> Section | None:
    frame = data.where("queue")
    varied = frame.filter(pl.col("queue") != data.published["queue"])
    if varied.is_empty():
        return None
    rates = data.levels(varied, "background")
    panels = [
        _panel(data, frame.filter(pl.col("background") == rate), measure, "queue_value", str(rate) if row == 0 else "",
               like=measure.column, y_label=measure.label if at == 0 else "")
        for row, measure in enumerate((THROUGHPUT, COV, SIGNALS))
        for at, rate in enumerate(rates)
    ]  # fmt: skip
    ticks = sorted(frame.filter(pl.col("background").is_in(rates))["queue_value"].unique().to_list())
    return Section(
        "The queue, which was not published",
        plots=[Plot("k_queue", lattice.lattice(panels, len(rates), "queue (packets)", x_scale="log", ticks=ticks, hollow=HOLLOW),
                    _caption(data, "Throughput, CoV and congestion signals by the length of the queue."))],
    )  # fmt: skip


# --- validity and tables ------------------------------------------------------------------------------------------------


def _limited_section(data: Data) -> Section:
    limited = data.cells.filter("window_limited")
    table = (
        data.runs.select("cell", "arm", *PARTS, "background", "background_value").unique(maintain_order=True)
        .join(limited.select("cell", "arm", "by_receiver"), on=["cell", "arm"])
        .sort("cell", _order("arm"))
        .select("cell", "arm", *PARTS, "background", "by_receiver")
    )  # fmt: skip
    return Section(
        "Held back by the receiver's window",
        [f"{limited.height} of {data.cells.height} combinations are flagged: the receiver's window, and not the congestion window, held "
         f"the flow back for more than "
         f"{WINDOW_LIMITED:.0%} of its life. Differences and likenesses of stacks there say nothing about their congestion control."],
        grids=[Grid("window_limited", table, "Flagged combinations", {"by_receiver": 2})] if table.height else [],
    )  # fmt: skip


def _order(column: str) -> pl.Expr:
    return pl.col(column).replace_strict(list(ARMS), range(len(ARMS)), return_dtype=pl.Int8)


def _cells_section(data: Data) -> Section:
    names = ("mean_bps", "sd_second_bps", "cov_second", "sd_tenth_bps", "cov_tenth", "cwnd_bytes", *COUNTERS, *LIMITS)
    means = (
        data.runs.group_by("cell", "arm", maintain_order=True)
        .agg(
            replicates=pl.len(),
            **{name: pl.col(name).mean() for name in names},
            half_bps=pl.col("mean_bps").std() / pl.len().sqrt(),
        )
        .join(data.cells.select("cell", "arm", "window_limited"), on=["cell", "arm"])
    )
    table = (
        data.runs.select("cell", "arm", *PARTS, "background").unique(maintain_order=True)
        .join(means, on=["cell", "arm"])
        .sort("cell", _order("arm"))
        .rename({"half_bps": "se_mean_bps"})
    )  # fmt: skip
    digits = {"mean_bps": 0, "sd_second_bps": 0, "sd_tenth_bps": 0, "se_mean_bps": 0, "cov_second": 4, "cov_tenth": 4, "cwnd_bytes": 0,
              **dict.fromkeys(COUNTERS, 1), **dict.fromkeys(LIMITS, 3)}  # fmt: skip
    return Section(
        "All combinations",
        ["Means over replicates. Counters (by their names in RFC 4898) are of the whole connection; `sd_` and `cov_` are of throughput "
         "over windows of a second and "
         "of a tenth; `by_` are shares of the connection's life, and `se_mean_bps` the standard error of the mean. SACKsRcvd counts "
         "acknowledgements with SACK "
         "blocks. Click a heading to sort."],
        grids=[Grid("cells", table, "Every combination and stack", digits)],
    )  # fmt: skip
