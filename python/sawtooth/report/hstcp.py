"""The report of the HighSpeed TCP study: 256 experiments held against the published ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import polars as pl

from sawtooth import stats
from sawtooth.metrics import fairness, throughput
from sawtooth.plots import curves, difference, scatter
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.needs import require
from sawtooth.results.dataset import Dataset
from sawtooth.scales import p_value
from sawtooth.stats import Interval, Vector
from sawtooth.study import shipped

BASE = "newreno"
ARMS = {"sack": "SACK", "highspeed": "HighSpeed TCP (RFC 3649, with SACK)"}
# The published column that each arm is held against.
COLUMNS = {"newreno": "newreno", "sack": "hstcp", "highspeed": "hstcp"}
# Printed with two decimals: a value agrees if it rounds to the same, give or take the last bit of the sum.
HALF_DIGIT = 0.005 * (1 + 1e-6)
FEW_PACKETS = 10


def published_table() -> pl.DataFrame:
    """The published study, one row per experiment."""
    table = pl.read_csv(shipped.table("hstcp", "published.csv"))
    return table.rename({"experiment": "cell"}).with_columns(pl.col("cell").cast(pl.UInt32))


class _Data:
    """What all sections use."""

    def __init__(self, dataset: Dataset) -> None:
        require(dataset, str(dataset.manifest["report"]), (BASE, *ARMS), BASE, ("Bw", "Tp", "D", "N"))
        self.dataset = dataset
        self.flows = throughput.per_flow(dataset)
        self.runs = throughput.per_run(self.flows)
        self.factors = dataset.runs.select("cell", "Bw", "Tp", "D", "N", "Bw_value", "Tp_value", "D_value", "N_value").unique(
            maintain_order=True
        )
        self.published = published_table()
        self.cells = throughput.per_cell(self.runs).join(fairness.of_means(self.flows), on=["cell", "arm"])
        self.gains = throughput.gains(self.runs, BASE).join(self.factors, on="cell").sort("arm", "cell")
        self.arms = [arm for arm in ARMS if arm in set(self.runs["arm"])]

    def gain(self, arm: str) -> pl.DataFrame:
        return self.gains.filter(pl.col("arm") == arm).sort("cell")

    def levels(self, name: str) -> list[str]:
        return list(dict.fromkeys(self.factors.sort(f"{name}_value")[name]))


def build(dataset: Dataset) -> Report:
    """The study with the published start intervals."""
    data = _Data(dataset)
    comparison = _comparison(data)
    agreement = _agreement(comparison)
    return Report(
        dataset,
        [
            _agreement_section(comparison, agreement),
            _identity_section(data, comparison),
            _gain_section(data),
            _fairness_section(data),
            _findings_section(data),
            _validity_section(data),
            _experiments_section(data, comparison),
        ],
        _summary(data, comparison, agreement),
    )


def build_random(dataset: Dataset) -> Report:
    """The study with fresh start intervals: how many published values fall where 30 replicates predict them."""
    data = _Data(dataset)
    rows: list[dict[str, object]] = []
    published = {int(row["cell"]): row for row in data.published.to_dicts()}
    for (cell, arm), group in data.runs.group_by("cell", "arm", maintain_order=True):
        if arm == "highspeed":
            continue
        value = float(published[int(str(cell))][f"{COLUMNS[str(arm)]}_sum_bps"])
        interval = stats.prediction_interval(group["sum_bps"].to_numpy(), of_mean=30)
        slack = HALF_DIGIT
        rows.append({
            "cell": cell, "arm": arm, "published_bps": value, "mean_bps": interval.estimate, "low_bps": interval.low,
            "high_bps": interval.high, "inside": interval.low - slack <= value <= interval.high + slack,
        })  # fmt: skip
    table = pl.DataFrame(rows).with_columns(pl.col("cell").cast(pl.UInt32))
    inside = int(table["inside"].sum())
    share = inside / table.height
    text = (
        f"{inside} of {table.height} published sums ({share:.1%}) lie inside the 95 % prediction interval of a mean of 30 fresh replicates"
    )
    section = Section(
        "Published values among fresh replicates",
        [text + ". The published study drew its own 30 start intervals per experiment; with other draws of the same distribution its means "
         "should fall inside in about 95 % of cases, if the model is right and the spread is near normal. The spread is far from normal "
         "where a single start time decides who gets through (few packets per flow)."],
        grids=[Grid("prediction", data.factors.select("cell", "Bw", "Tp", "D", "N").join(table, on="cell").sort("arm", "cell"),
                    "Published sum against prediction interval", {"published_bps": 2, "mean_bps": 2, "low_bps": 2, "high_bps": 2})],
    )  # fmt: skip
    sections = [section, _gain_section(data), _fairness_section(data), _findings_section(data), _validity_section(data)]
    return Report(dataset, sections, [text])


# --- against the published table ----------------------------------------------------------------------------------------


def _comparison(data: _Data) -> pl.DataFrame:
    """One row per experiment and arm: published and our sum and index of means, and whether they agree as printed."""
    parts: list[pl.DataFrame] = []
    for arm, column in COLUMNS.items():
        ours = data.cells.filter(pl.col("arm") == arm)
        theirs = data.published.select("cell", published_sum_bps=pl.col(f"{column}_sum_bps"), published_jain=pl.col(f"{column}_jain"))
        parts.append(ours.join(theirs, on="cell"))
    difference_bps = pl.col("sum_of_means_bps") - pl.col("published_sum_bps")
    return (
        pl.concat(parts)
        .with_columns(
            relative_error=pl.when(pl.col("published_sum_bps") > 0)
            .then(difference_bps / pl.col("published_sum_bps"))
            .otherwise(pl.when(pl.col("sum_of_means_bps") == 0).then(0.0).otherwise(math.inf)),
            sum_as_printed=difference_bps.abs() <= HALF_DIGIT,
            jain_as_printed=(pl.col("jain_of_means") - pl.col("published_jain")).abs() <= HALF_DIGIT,
        )
        .sort("cell", "arm")
    )


def _agreement(comparison: pl.DataFrame) -> pl.DataFrame:
    return (
        comparison.group_by("arm", maintain_order=True)
        .agg(
            against=pl.col("arm").first().replace_strict(COLUMNS),
            experiments=pl.len(),
            sums_as_printed=pl.col("sum_as_printed").sum(),
            sums_within_0_1_percent=(pl.col("relative_error").abs() <= 1e-3).sum(),
            jain_as_printed=pl.col("jain_as_printed").sum(),
            median_error=pl.col("relative_error").abs().median(),
            largest_error=pl.col("relative_error").abs().max(),
        )
        .sort("largest_error")
    )


def _agreement_section(comparison: pl.DataFrame, agreement: pl.DataFrame) -> Section:
    matched = comparison.filter(pl.col("arm").is_in(["newreno", "sack"]))
    total = matched.height
    return Section(
        "Agreement with the published study",
        [f"Of {total} published sums, {matched['sum_as_printed'].sum()} are reproduced to the printed digit and "
         f"{(matched['relative_error'].abs() <= 1e-3).sum()} within 0.1 %; of {total} published values of Jain's index, "
         f"{matched['jain_as_printed'].sum()} to the printed digit. The start intervals are those of the published study. Sums and indices "
         "are computed as published: each flow's throughput is averaged over replicates, then summed, and the index is that of the averages."],
        grids=[Grid("agreement", agreement, "Each arm against a published column", {"median_error": 8, "largest_error": 6})],
    )  # fmt: skip


def _identity_section(data: _Data, comparison: pl.DataFrame) -> Section:
    paragraphs: list[str] = []
    if {"sack", "highspeed"} <= set(comparison["arm"]):
        sack, high = (comparison.filter(pl.col("arm") == arm) for arm in ("sack", "highspeed"))
        paragraphs.append(
            'The published "HighSpeed" column is SACK: its script selects the SACK agent and never switches the HighSpeed window on. '
            f"Against that column the SACK arm agrees to the printed digit in {sack['sum_as_printed'].sum()} of {sack.height} experiments (largest "
            f"error {_percent(sack['relative_error'])}), the arm with HighSpeed TCP as RFC 3649 defines it in "
            f"{high['sum_as_printed'].sum()} (largest error {_percent(high['relative_error'])}); those are experiments in which the window never "
            "leaves the range where HighSpeed TCP is standard TCP by definition."
        )
        paragraphs.append(_survival(data))
    attested = data.flows.group_by("arm", "recovery", "cc", maintain_order=True).agg(flows=pl.len()).sort("arm")
    return Section(
        "Which algorithm the published column is",
        [*paragraphs, "What each run attests about itself: the algorithms that were active."],
        grids=[Grid("attested", attested, "Active loss recovery and congestion control by arm")],
    )


def _survival(data: _Data) -> str:
    sack, high = data.gain("sack"), data.gain("highspeed")
    total_sack, total_high = float(sack["gain_bps"].sum()), float(high["gain_bps"].sum())
    above = int((high["gain_low_bps"] > 0).sum())
    own = total_high - total_sack
    both = sack.filter(pl.col("gain_bps") > 0).join(high.select("cell", high_bps="gain_bps"), on="cell")
    kept = int((both["high_bps"] >= 0.95 * both["gain_bps"]).sum())
    times = f"{total_high / total_sack:.2f} times that" if total_sack > 0 else "where there was none"
    return (
        f"Summed over experiments, the published gain over NewReno (SACK's) is {total_sack:,.0f} bit/s; that of true HighSpeed TCP is "
        f"{total_high:,.0f} bit/s, {times}: its window adds {own:+,.0f} bit/s to what SACK alone gains. At least 95 % of the published gain "
        f"survives in {kept} of the {both.height} experiments that had one. HighSpeed TCP carries more than NewReno, beyond its interval, in "
        f"{above} of {high.height} experiments."
    )


# --- figures ------------------------------------------------------------------------------------------------------------


def _gain_section(data: _Data) -> Section:
    n = int(data.cells["replicates"].max() or 0)  # type: ignore[arg-type]
    label = "throughput difference\nto NewReno (bit/s)"
    columns = ("cell", "gain_bps", "gain_low_bps", "gain_high_bps")
    series: dict[str, tuple[Vector, Vector, Vector, Vector]] = {}
    for arm in data.arms:
        a, b, c, d = (stats.vector(data.gain(arm)[column].to_numpy()) for column in columns)
        series[ARMS[arm]] = (a, b, c, d)
    first = data.factors.group_by("Bw", maintain_order=True).agg(pl.col("cell").min())
    groups = [(int(row["cell"]), str(row["Bw"])) for row in first.to_dicts()]
    caption = (f"Paired differences, arm minus NewReno; 95 % t intervals over n = {n} replicates; the scale is linear below "
               f"{difference.LINEAR_BELOW:.0f} bit/s and logarithmic above, on both sides.")  # fmt: skip
    plots = [Plot("a_gain_by_experiment", difference.by_experiment(series, label, groups), "(a) " + caption)]
    for letter, factor, name in (
        ("b", "N", "flows"),
        ("c", "Tp", "propagation delay"),
        ("d", "D", "step of the access delays"),
    ):
        grouped = {
            ARMS[arm]: {
                level: stats.vector(data.gain(arm).filter(pl.col(factor) == level)["gain_bps"].to_numpy()) for level in data.levels(factor)
            }
            for arm in data.arms
        }
        plots.append(Plot(
            f"{letter}_gain_by_{factor.lower()}",
            difference.by_level(grouped, name, label),
            f"({letter}) The same by {name}: every experiment a dot; the median over experiments with its 95 % BCa bootstrap interval.",
        ))  # fmt: skip
    return Section("Throughput against NewReno", plots=plots)


def _fairness_section(data: _Data) -> Section:
    names = {BASE: "NewReno", **{arm: ARMS[arm].split(" (")[0] for arm in data.arms}}
    runs = data.runs.join(data.factors, on="cell")

    def index(arm: str, tp: str, n: str) -> Interval:
        # One value per replicate: the mean over bandwidths and access delays.
        chosen = runs.filter((pl.col("arm") == arm) & (pl.col("Tp") == tp) & (pl.col("N") == n))
        return stats.mean_interval(chosen.group_by("replicate", maintain_order=True).agg(pl.col("jain").mean())["jain"].to_numpy())

    panels = {
        f"Tp = {tp}": {name: [index(arm, tp, n) for n in data.levels("N")] for arm, name in names.items()} for tp in data.levels("Tp")
    }
    scattered: dict[str, tuple[Vector, Vector, Vector, Vector, Vector, Vector]] = {}
    for arm in data.arms:
        gain = data.gain(arm)
        a, b, c, d, e, f = (stats.vector(gain[column].to_numpy()) for column in (
            "gain_bps", "gain_low_bps", "gain_high_bps", "jain_gain", "jain_gain_low", "jain_gain_high"))  # fmt: skip
        scattered[ARMS[arm]] = (a, b, c, d, e, f)
    return Section(
        "Fairness",
        ["Jain's index per run, then averaged (the published index, of averages over replicates, is in the table of experiments)."],
        plots=[
            Plot("e_jain", curves.panels(panels, data.levels("N"), "flows", "Jain's index", (0, 1.03)),
                 "(e) Mean over bandwidths and access delays; 95 % t interval over replicates."),
            Plot("f_throughput_fairness", scatter.differences(scattered, "throughput difference (bit/s)", "difference of Jain's index"),
                 "(f) Throughput against fairness, arm minus NewReno, one point per experiment; 95 % t intervals of paired differences."),
        ],
    )  # fmt: skip


# --- findings -----------------------------------------------------------------------------------------------------------


def _findings_section(data: _Data) -> Section:
    verdicts: list[Verdict] = []
    for arm in data.arms:
        name = ARMS[arm].split(" (")[0]
        gain = data.gain(arm)
        for factor, words in (("Bw", "bandwidth"), ("Tp", "propagation delay"), ("N", "the number of flows")):
            verdicts.append(_grows(gain, factor, f"{name}'s gain grows with {words}"))
        verdicts += [_alike(data, gain, name), _little(data, gain, name)]
    verdicts += [_falls(data), _near_one(data)]
    return Section("Findings, confirmed or refuted", verdicts=[verdict for verdict in verdicts if verdict.numbers])


def _grows(gain: pl.DataFrame, factor: str, claim: str) -> Verdict:
    """Rank correlation of gain and factor over experiments."""
    x, y = gain[f"{factor}_value"].to_numpy(), gain["gain_bps"].to_numpy()
    if len(set(x)) < 2:
        return Verdict(claim, "cannot distinguish", "")
    rho, low, high = stats.spearman_interval(x, y)
    answer = "yes" if low > 0 else "no" if high < 0 else "cannot distinguish"
    by_level = gain.group_by(factor, f"{factor}_value", maintain_order=True).agg(pl.col("gain_bps").median()).sort(f"{factor}_value")
    medians = ", ".join(f"{row[factor]}: {row['gain_bps']:+,.0f}" for row in by_level.to_dicts())
    return Verdict(
        claim,
        answer,
        f"Spearman's rho {rho:.2f} (95 % bootstrap {low:.2f} to {high:.2f}) over {len(x)} experiments; median gain, bit/s: {medians}",
    )


def _relative(data: _Data, gain: pl.DataFrame) -> pl.DataFrame:
    base = data.cells.filter(pl.col("arm") == BASE).select("cell", base_bps="sum_bps")
    return gain.join(base, on="cell").with_columns(
        relative=pl.when(pl.col("base_bps") > 0).then(pl.col("gain_bps") / pl.col("base_bps")).otherwise(0.0)
    )


def _alike(data: _Data, gain: pl.DataFrame, name: str) -> Verdict:
    low = _relative(data, gain).filter((pl.col("Tp") == data.levels("Tp")[0]) & (pl.col("N") == data.levels("N")[0]))
    interval = stats.bootstrap_interval(low["relative"].to_numpy())
    within = int((low["relative"].abs() <= 0.05).sum())
    answer = (
        "yes"
        if interval.low >= -0.05 and interval.high <= 0.05
        else "no"
        if interval.low > 0.05 or interval.high < -0.05
        else "cannot distinguish"
    )
    numbers = (f"relative difference at Tp {data.levels('Tp')[0]}, N {data.levels('N')[0]}: median "
               f"{interval.words('+.2%')}; {within} of {low.height} experiments within 5 %")  # fmt: skip
    return Verdict(f"At low Tp and N, {name} and NewReno are alike (within 5 %)", answer, numbers)


def _little(data: _Data, gain: pl.DataFrame, name: str) -> Verdict:
    if len(data.levels("D")) < 2:
        return Verdict("", "", "")
    relative = _relative(data, gain)
    near, far = (relative.filter(pl.col("D") == level) for level in (data.levels("D")[0], data.levels("D")[-1]))
    both = near.join(far, on=["Bw", "Tp", "N"], suffix="_far")
    change = stats.paired(both["relative"].to_numpy(), both["relative_far"].to_numpy())
    d = change.difference
    answer = "yes" if d.low >= -0.05 and d.high <= 0.05 else "no" if d.low > 0.05 or d.high < -0.05 else "cannot distinguish"
    p = f", Wilcoxon {p_value(change.p_wilcoxon)}" if d.n > 1 else ""
    return Verdict(
        f"D matters little for {name}'s gain (changes it by less than 5 % of NewReno's throughput)",
        answer,
        f"mean change of the relative gain {d.words('+.2%')} over {d.n} pairs of experiments{p}",
    )


def _falls(data: _Data) -> Verdict:
    slowest = data.factors.sort("Bw_value")["Bw"][0]
    chosen = data.cells.join(data.factors, on="cell").filter((pl.col("Bw") == slowest) & (pl.col("arm") == BASE))
    means = chosen.group_by("N", "N_value", maintain_order=True).agg(pl.col("jain_of_means").mean()).sort("N_value")
    values = means["jain_of_means"].to_list()
    falling = all(a > b for a, b in itertools.pairwise(values))
    numbers = ", ".join(f"N = {row['N']}: {row['jain_of_means']:.2f}" for row in means.to_dicts())
    return Verdict(
        f"At {slowest} fairness falls as N grows (NewReno)",
        "yes" if falling else "no",
        f"Jain's index of means, {numbers}",
    )


def _near_one(data: _Data) -> Verdict:
    fewest = data.levels("N")[0]
    chosen = data.cells.join(data.factors, on="cell").filter(pl.col("N") == fewest)
    low, middle = float(str(chosen["jain_of_means"].min())), float(str(chosen["jain_of_means"].median()))
    share = float((chosen["jain_of_means"] >= 0.9).mean() or 0.0)  # type: ignore[arg-type]
    per_run = float(str(chosen["jain_run_mean"].median()))
    answer = "yes" if share >= 0.95 else "no"
    return Verdict(
        f"With {fewest} flows fairness is near 1 (an index of means of at least 0.9 in 95 % of experiments, all arms)",
        answer,
        f"median {middle:.3f}, lowest {low:.3f}, at least 0.9 in {share:.0%} of {chosen.height}; per run, the median is {per_run:.3f}",
    )


# --- validity and the table ---------------------------------------------------------------------------------------------


def _validity_section(data: _Data) -> Section:
    duration = 50.0
    # The longest round trip: the last flow's propagation, twice there and back over both access links.
    rtt = 2 * (pl.col("Tp_value") + 2 * (pl.col("N_value") - 1) * pl.col("D_value"))
    # Per flow and run, averaged: from acked packets.
    packets = data.flows.group_by("cell", maintain_order=True).agg(packets_per_flow=pl.col("acked_packets").mean())
    table = data.factors.join(packets, on="cell").with_columns(longest_rtt_s=rtt).with_columns(
        few_packets=pl.col("packets_per_flow") < FEW_PACKETS,
        long_rtt=pl.col("longest_rtt_s") > duration / 10,
    )  # fmt: skip
    few, long = int(table["few_packets"].sum()), int(table["long_rtt"].sum())
    return Section(
        "What to be careful about",
        [f"{few} of {table.height} experiments deliver fewer than {FEW_PACKETS} packets per flow: what they show is who started first, not "
         f"congestion control. In {long} the longest round trip exceeds a tenth of the run, so the slowest flows see only a few round trips.",
         "Every link has the same rate, access links included: a sender's own access link queues its bursts before the bottleneck does, "
         "and the ACKs of all flows share the bottleneck's reverse side."],
        grids=[Grid("validity", table.filter(pl.col("few_packets") | pl.col("long_rtt"))
                    .select("cell", "Bw", "Tp", "D", "N", "packets_per_flow", "few_packets", "longest_rtt_s", "long_rtt").sort("cell"),
                    "Flagged experiments", {"packets_per_flow": 1, "longest_rtt_s": 2})],
    )  # fmt: skip


_SHORT_NAMES = {
    "sum_of_means_bps": "bps",
    "published_sum_bps": "published_bps",
    "relative_error": "error",
    "sum_as_printed": "exact",
    "jain_of_means": "jain",
    "published_jain": "published_jain",
    "jain_as_printed": "jain_exact",
    "sum_low_bps": "low_bps",
    "sum_high_bps": "high_bps",
    "jain_run_mean": "jain_per_run",
}


def _experiments_section(data: _Data, comparison: pl.DataFrame) -> Section:
    wide = data.factors.select("cell", "Bw", "Tp", "D", "N").sort("cell")
    digits: dict[str, int] = {}
    for arm in COLUMNS:
        names = {column: f"{arm}_{name}" for column, name in _SHORT_NAMES.items()}
        part = comparison.filter(pl.col("arm") == arm).select("cell", *names).rename(names)
        wide = wide.join(part, on="cell", how="left")
        digits |= {f"{arm}_bps": 2, f"{arm}_published_bps": 2, f"{arm}_error": 6, f"{arm}_jain": 2, f"{arm}_published_jain": 2,
                   f"{arm}_low_bps": 0, f"{arm}_high_bps": 0, f"{arm}_jain_per_run": 3}  # fmt: skip
    gains = data.gains.select("cell", "arm", "Bw", "Tp", "D", "N", "gain_bps", "gain_low_bps", "gain_high_bps", "effect", "p_t", "p_wilcoxon",
                              "p_holm", "jain_gain", "jain_gain_low", "jain_gain_high")  # fmt: skip
    return Section(
        "All experiments",
        ["Ours beside the published value; _error is relative; _low and _high are the 95 % t interval over replicates; _jain is the index of "
         "means as published, _jain_per_run the mean of per-run indices. Click a heading to sort."],
        grids=[Grid("experiments", wide, "Every experiment beside the published value", digits),
               Grid("gains", gains, "Paired differences to NewReno", {"gain_bps": 1, "jain_gain": 4})],
    )  # fmt: skip


def _summary(data: _Data, comparison: pl.DataFrame, agreement: pl.DataFrame) -> list[str]:
    matched = comparison.filter(pl.col("arm").is_in(["newreno", "sack"]))
    lines = [
        f"{matched['sum_as_printed'].sum()} of {matched.height} published sums reproduced to the printed digit, "
        f"{(matched['relative_error'].abs() <= 1e-3).sum()} within 0.1 %; Jain's index: {matched['jain_as_printed'].sum()} of {matched.height}"
    ]
    by_arm = {row["arm"]: row for row in agreement.to_dicts()}
    if {"sack", "highspeed"} <= by_arm.keys():
        lines.append(
            f'the published "HighSpeed" column is SACK: {by_arm["sack"]["sums_as_printed"]} of {by_arm["sack"]["experiments"]} experiments equal to '
            f"the digit, against {by_arm['highspeed']['sums_as_printed']} for HighSpeed TCP itself"
        )
        lines.append(_survival(data))
    return lines


def _percent(errors: pl.Series) -> str:
    values: Sequence[float] = [abs(error) for error in errors if math.isfinite(error)]
    return f"{max(values, default=0.0):.2%}"
