"""The report of the HighSpeed TCP study at 1, 10 and 100 Gbit/s: the step its authors lacked the resources for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sawtooth import stats
from sawtooth.metrics import throughput
from sawtooth.plots import curves
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.generic import factor_table
from sawtooth.report.needs import require
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval

BASE = "newreno"
ARMS = {"newreno": "NewReno", "sack": "SACK", "highspeed": "HighSpeed TCP"}
BUFFERS = {True: "published window limit and queues", False: "window limit and queues scaled with the rate"}


class _Data:
    """What all sections use."""

    def __init__(self, dataset: Dataset) -> None:
        require(dataset, "hstcp-gigabit", tuple(ARMS), BASE, ("Bw", "Tp", "N", "scale"))
        values = dataset.runs.select("cell", "Bw_value", "Tp_value", "N_value").unique(maintain_order=True)
        self.factors = factor_table(dataset).join(values, on="cell").with_columns(published=pl.col("scale") == "1")
        self.flows = throughput.per_flow(dataset)
        self.runs = throughput.per_run(self.flows).join(self.factors, on="cell").with_columns(share=pl.col("sum_bps") / pl.col("Bw_value"))
        self.gains = throughput.gains(throughput.per_run(self.flows), BASE).join(self.factors, on="cell").sort("arm", "cell")
        self.arms = [arm for arm in ARMS if arm in set(self.runs["arm"])]
        self.states = _states(dataset).join(self.factors, on="cell")

    def levels(self, name: str) -> list[str]:
        return list(dict.fromkeys(self.factors.sort(f"{name}_value")[name]))

    def buffers(self) -> list[bool]:
        return [published for published in BUFFERS if published in set(self.factors["published"])]


def _states(dataset: Dataset) -> pl.DataFrame:
    """What held the flows back, one row per cell and arm: shares of the flows' lifetimes, retransmitted share, timeouts per flow."""
    runs = dataset.runs.lazy().select("run", "cell", "arm")
    flows = dataset.flows().select("run", "sent_packets", "retransmits", "timeouts", "lifetime_ns", "limited_rwnd_ns")
    return (
        flows.join(runs, on="run")
        .group_by("cell", "arm", maintain_order=True)
        .agg(
            by_window_limit=pl.col("limited_rwnd_ns").sum() / pl.col("lifetime_ns").sum(),
            retransmitted=pl.col("retransmits").sum() / pl.col("sent_packets").sum(),
            timeouts_per_flow=pl.col("timeouts").mean(),
        )
        .collect()
    )


def build(dataset: Dataset) -> Report:
    """Utilisation, gain and fairness by rate, with the published buffers and with scaled ones."""
    data = _Data(dataset)
    return Report(
        dataset,
        [
            _reached_section(data),
            _gain_section(data),
            _limits_section(data),
            _findings_section(data),
            _careful_section(data),
            _cells_section(data),
        ],
        _summary(data),
    )


def _reached_section(data: _Data) -> Section:
    plots: list[Plot] = []
    for published in data.buffers():
        runs = data.runs.filter(pl.col("published") == published)
        panels = {
            bw: {ARMS[arm]: [_mean(runs, arm, bw, tp, "share") for tp in data.levels("Tp")] for arm in data.arms}
            for bw in data.levels("Bw")
        }
        name = "a_share_published" if published else "b_share_scaled"
        plots.append(Plot(
            name,
            curves.panels(panels, data.levels("Tp"), "propagation delay", "share of the bottleneck", (0, 1.05)),
            f"Sum of throughputs over the bottleneck's rate, with the {BUFFERS[published]}; mean over flows and access delays, with 95 % t "
            "interval over replicates.",
        ))  # fmt: skip
    return Section(
        "How much of the link was used",
        ["A path of 100 Gbit/s with 50 ms each way holds 1.25 million packets of 1000 bytes. Standard TCP grows by one packet per round trip, so "
         "50 seconds let it regain at most 500 packets after a loss."],
        plots=plots,
    )  # fmt: skip


def _mean(runs: pl.DataFrame, arm: str, bw: str, tp: str, column: str) -> Interval:
    """One value per replicate, averaged over the other factors."""
    chosen = runs.filter((pl.col("arm") == arm) & (pl.col("Bw") == bw) & (pl.col("Tp") == tp))
    return stats.mean_interval(chosen.group_by("replicate", maintain_order=True).agg(pl.col(column).mean())[column].to_numpy())


def _gain_section(data: _Data) -> Section:
    rows: list[dict[str, object]] = []
    for published in data.buffers():
        for bw in data.levels("Bw"):
            for arm in data.arms[1:]:
                gain = _relative(data, arm, published, bw)
                interval = stats.bootstrap_interval(gain["relative"].to_numpy())
                clear = gain.filter((pl.col("gain_low_bps") > 0) | (pl.col("gain_high_bps") < 0))
                more = clear.filter(pl.col("gain_bps") > 0).height
                jain = stats.bootstrap_interval(gain["jain_gain"].to_numpy())
                rows.append({
                    "buffers": BUFFERS[published], "Bw": bw, "arm": ARMS[arm], "experiments": gain.height,
                    "median_gain": interval.estimate, "gain_low": interval.low, "gain_high": interval.high,
                    "more": more, "less": clear.height - more,
                    "median_jain_change": jain.estimate, "jain_low": jain.low, "jain_high": jain.high,
                })  # fmt: skip
    digits = {name: 3 for name in rows[0] if "gain" in name or "jain" in name}
    return Section(
        "Against NewReno",
        ["Relative gain in throughput and change of Jain's index, median over experiments with 95 % BCa bootstrap interval; `more` and "
         "`less` count experiments whose own 95 % interval over replicates excludes zero."],
        grids=[Grid("gain_by_rate", pl.DataFrame(rows), "Gain over NewReno by rate and buffers", digits)],
    )  # fmt: skip


def _relative(data: _Data, arm: str, published: bool, bw: str | None = None) -> pl.DataFrame:
    base = data.runs.filter(pl.col("arm") == BASE).group_by("cell", maintain_order=True).agg(base_bps=pl.col("sum_bps").mean())
    gain = data.gains.filter((pl.col("arm") == arm) & (pl.col("published") == published)).join(base, on="cell")
    if bw is not None:
        gain = gain.filter(pl.col("Bw") == bw)
    return gain.with_columns(relative=pl.col("gain_bps") / pl.col("base_bps"))


def _limits_section(data: _Data) -> Section:
    table = (
        data.states.group_by("published", "Bw", "Bw_value", "arm", maintain_order=True)
        .agg(pl.col("by_window_limit", "retransmitted", "timeouts_per_flow").mean())
        .sort(pl.col("published").not_(), "Bw_value", pl.col("arm").replace_strict(list(ARMS), range(len(ARMS)), return_dtype=pl.Int8))
        .with_columns(
            buffers=pl.col("published").replace_strict(list(BUFFERS), list(BUFFERS.values()), return_dtype=pl.String),
            arm=pl.col("arm").replace(ARMS),
        )
        .select("buffers", "Bw", "arm", "by_window_limit", "retransmitted", "timeouts_per_flow")
    )
    return Section(
        "What held the flows back",
        ["by_window_limit is the share of the flows' time in which the receiver's window, and not the congestion window, was what kept "
         "them from sending; retransmitted is the share of packets sent more than once; means over experiments."],
        grids=[Grid("limits", table, "What held the flows back", {"by_window_limit": 3, "retransmitted": 4, "timeouts_per_flow": 2})],
    )  # fmt: skip


def _findings_section(data: _Data) -> Section:
    verdicts: list[Verdict] = []
    for published in data.buffers():
        words = BUFFERS[published]
        for arm in data.arms[1:]:
            gain = _relative(data, arm, published)
            interval = stats.bootstrap_interval(gain["relative"].to_numpy())
            answer = "yes" if interval.low > 0 else "no" if interval.high < 0 else "cannot distinguish"
            verdicts.append(Verdict(
                f"With the {words}, {ARMS[arm]} carries more than NewReno",
                answer,
                f"median gain {interval.words('+.1%')} over {interval.n} experiments",
            ))  # fmt: skip
        if "highspeed" in data.arms:
            verdicts.append(_grows(data, published))
    if len(data.buffers()) == 2:
        verdicts.append(_buffers_matter(data))
    return Section("Findings", verdicts=verdicts)


def _grows(data: _Data, published: bool) -> Verdict:
    gain = _relative(data, "highspeed", published)
    claim = f"With the {BUFFERS[published]}, HighSpeed TCP's relative gain grows with bandwidth"
    x, y = gain["Bw_value"].to_numpy(), gain["relative"].to_numpy()
    medians = ", ".join(
        f"{bw}: {float(np.median(gain.filter(pl.col('Bw') == bw)['relative'].to_numpy())):+.1%}" for bw in data.levels("Bw")
    )
    if len(data.levels("Bw")) < 2:
        return Verdict(claim, "cannot distinguish", f"one bandwidth only; median gain {medians}")
    rho, low, high = stats.spearman_interval(x, y)
    answer = "yes" if low > 0 else "no" if high < 0 else "cannot distinguish"
    return Verdict(claim, answer, f"Spearman's rho {rho:.2f} (95 % bootstrap {low:.2f} to {high:.2f}); median gain {medians}")


def _buffers_matter(data: _Data) -> Verdict:
    """Paired by experiment: the share of the link reached by NewReno with scaled against published buffers."""
    keys = [name for name in ("Bw", "Tp", "D", "N") if name in data.factors.columns]
    base = data.runs.filter(pl.col("arm") == BASE).group_by(*keys, "published", maintain_order=True).agg(pl.col("share").mean())
    small, large = (base.filter(pl.col("published") == published) for published in (True, False))
    both = small.join(large, on=keys, suffix="_scaled")
    ratio = stats.bootstrap_interval((both["share_scaled"] / both["share"]).to_numpy())
    answer = "yes" if ratio.low > 1 else "no" if ratio.high < 1 else "cannot distinguish"
    return Verdict(
        "With queues and window limit scaled, NewReno itself carries more",
        answer,
        f"median ratio of NewReno's throughput, scaled over published: {ratio.words('.2f')}",
    )


def _careful_section(data: _Data) -> Section:
    replicates = data.runs["replicate"].n_unique()
    return Section(
        "What to be careful about",
        [f"{replicates} replicates per experiment and arm, which differ in their start interval alone: intervals of single experiments are "
         "wide, those of medians over experiments are what the findings rest on.",
         "50 seconds are 500 round trips at Tp = 50 ms and 25 at 1000 ms. Where NewReno needs thousands of round trips to refill the pipe, the "
         "result is the start of a transfer, not a steady state.",
         "Losses come from drop-tail queues alone. At 100 Gbit/s a bit error rate of 1e-12 would itself lose a packet every 10 seconds."],
    )  # fmt: skip


def _cells_section(data: _Data) -> Section:
    cells = (
        data.factors.select("cell", *(name for name in ("Bw", "Tp", "D", "N", "scale") if name in data.factors.columns))
        .join(throughput.per_cell(data.runs), on="cell")
        .join(data.states.select("cell", "arm", "by_window_limit", "retransmitted", "timeouts_per_flow"), on=["cell", "arm"])
        .sort("cell", pl.col("arm").replace_strict(list(ARMS), range(len(ARMS)), return_dtype=pl.Int8))
    )
    digits = {"sum_bps": 0, "sum_low_bps": 0, "sum_high_bps": 0, "jain_run_mean": 3, "jain_run_low": 3, "jain_run_high": 3,
              "by_window_limit": 3, "retransmitted": 4, "timeouts_per_flow": 2}  # fmt: skip
    return Section("All experiments", grids=[Grid("cells", cells, "Every experiment and arm", digits)])


def _summary(data: _Data) -> list[str]:
    lines: list[str] = []
    for published in data.buffers():
        shares: Sequence[str] = [
            f"{ARMS[arm]} {float(str(data.runs.filter((pl.col('arm') == arm) & (pl.col('published') == published))['share'].mean())):.0%}"
            for arm in data.arms
        ]
        lines.append(f"share of the link used on average, with the {BUFFERS[published]}: {', '.join(shares)}")
    return lines
