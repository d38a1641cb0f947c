"""The report of the testbed study, scenario B: congestion control of server and client by delay, beside the published tables."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sawtooth import stats
from sawtooth.metrics import fetch, round_trips, variance
from sawtooth.plots import dots, heatmap, lines
from sawtooth.plots.heatmap import Matrix, Strip
from sawtooth.plots.lines import Line
from sawtooth.report import cc_findings as findings
from sawtooth.report import testbed
from sawtooth.report.document import Grid, Plot, Report, Section, Verdict
from sawtooth.report.testbed import ARMS, CELL, PUBLISHED, STATISTICS
from sawtooth.results.dataset import Dataset
from sawtooth.stats import Interval

FACTORS = {"delay_ms": "delay", "server_cc": "cc", "client_cc": "receiver_cc"}
PUBLISHED_CONSTANT_S = 0.25


class _Data:
    """What all sections use."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.planned = fetch.cells(dataset, FACTORS)
        self.fetches = fetch.per_fetch(dataset, FACTORS)
        self.statistics = fetch.statistics(self.fetches, [*CELL, "arm"])
        self.published = testbed.scenario_b()
        done = self.fetches.filter(pl.col("seconds").is_not_null())
        self.arms = [arm for arm in dict.fromkeys(self.planned["arm"]) if arm in set(done["arm"])]
        self.means = {testbed.label(arm): fetch.resampled(done.filter(arm=arm), CELL) for arm in self.arms}
        published = testbed.resampled_means(self.published)
        self.ours = list(self.means)
        # The published cells that this dataset has too, and all of them.
        measured = self.statistics.filter(pl.col("n") > 0).select(CELL).unique(maintain_order=True)
        self.published_all = published
        self.means[PUBLISHED] = published.only(published.keys.join(measured, on=CELL, how="semi", maintain_order="left"))
        self.order = self._order()
        servers, clients = set(self.planned["server_cc"]), set(self.planned["client_cc"])
        self.servers = [name for name in self.order if name in servers]
        self.clients = [name for name in self.order if name in clients]
        self.delays = sorted(self.planned["delay_ms"].unique())

    def _order(self) -> list[str]:
        """Algorithms, the published fastest first, those that were not published last."""
        known = findings.ranking(self.published_all).order()
        names = sorted(set(self.planned["server_cc"]) | set(self.planned["client_cc"]))
        return [name for name in known if name in names] + [name for name in names if name not in known]

    def sources(self) -> list[str]:
        """Published first, if it has any of these cells, then the arms."""
        return [name for name in (PUBLISHED, *self.ours) if self.means[name].keys.height]

    def values(self, source: str) -> pl.DataFrame:
        means = self.means[source]
        return means.keys.with_columns(seconds=pl.Series(means.mean_s))


def build(dataset: Dataset) -> Report:
    """The matrix of server and client algorithms beside the published one, and what makes the ranking."""
    data = _Data(dataset)
    question, answer = _question_section(data)
    agreement = _agreement(data)
    sections = [
        question,
        _findings_section(data),
        _agreement_section(agreement),
        _times_section(data),
        _heat_section(data),
        _trips_section(data),
        _position_section(data),
        _published_section(),
        testbed.missing_section(data.dataset, data.planned, data.fetches, [*CELL, "arm"]),
        _cells_section(data),
    ]
    return Report(dataset, [section for section in sections if section is not None], _summary(data, answer, agreement))


# --- the question -------------------------------------------------------------------------------------------------------


def _question_section(data: _Data) -> tuple[Section, str]:
    title = "How much of the ranking is congestion control, and how much an inherited threshold"
    rankings = {source: findings.ranking(data.means[source]) for source in data.sources()}
    paragraphs = [
        "Linux keeps the slow-start threshold of a connection that lost packets and starts the next one to the same host with it (before "
        "version 5.6 by default). What is inherited was set by the algorithm's own reduction after its last loss, so that an algorithm "
        "that yields less looks faster in the next fetch, whatever it does during the fetch. With the cache off every fetch starts alike, "
        "and what remains of the ranking is congestion control within the fetch."
    ]  # fmt: skip
    answer = "whether the cache makes the ranking cannot be said: both arms, with at least two algorithms in common, are needed"
    on, off = (data.means.get(ARMS[arm]) for arm in ("cache", "no-cache"))
    attributed = findings.attribution(on, off) if on is not None and off is not None else None
    if attributed is not None:
        answer = attributed.sentence
        paragraphs.append(
            "The share is 1 - V(off) / V(on), V being the variance between server algorithms of the log time at the same delay, averaged "
            f"over delays. Over all cells a fetch takes {attributed.slowdown:.2f} times as long with the cache on as with it off."
        )
    rows: list[dict[str, object]] = []
    for source, found in rankings.items():
        ranks = found.ranks()
        for name in [name for name in data.order if name in found.names]:
            at = found.names.index(name)
            low, high = np.quantile(found.draws_s[:, at], (0.025, 0.975)) if found.resampled else (None, None)
            rank = ranks[name]
            limits = (rank.low, rank.high) if found.resampled else (None, None)
            rows.append({
                "source": source, "server_cc": name, "seconds": float(found.seconds[at]), "low_s": low, "high_s": high,
                "rank": rank.estimate, "rank_low": limits[0], "rank_high": limits[1],
            })  # fmt: skip
    spreads: list[dict[str, object]] = [
        {
            "source": source, "algorithms": len(found.names), "fastest": found.order()[0], "slowest": found.order()[-1],
            "slowest_over_fastest": found.spread, "between_variance_log": findings.between_algorithms(data.means[source])[0],
            "spearman_with_published": findings.rank_correlation(found, rankings[PUBLISHED]) if PUBLISHED in rankings else None,
        }
        for source, found in rankings.items()
    ]  # fmt: skip
    if PUBLISHED in rankings:
        words = "; ".join(f"{source}: {findings.rank_correlation_words(rankings[source], rankings[PUBLISHED])}" for source in data.ours)
        paragraphs.append(f"Spearman's rank correlation of the algorithms with the published ranking: {words}.")
    panels = {
        f"{delay:g} ms": {source: _by_server(data, source, delay) for source in data.sources()} for delay in data.delays
    }  # fmt: skip
    kinds = {data.means[source].kind for source in data.ours}
    caption = (
        "Download time by the server's algorithm, geometric mean over the clients' algorithms, with 95 % bootstrap interval (ours: "
        f"{' and '.join(sorted(kinds))} resampled within cells; published: from its standard deviations). One panel per one-way delay; "
        "algorithms in the published order."
    )
    plot = Plot("a_ranking", dots.multiples(panels, data.servers, "server's algorithm", "download time (s)", across=3), caption)
    digits = {"seconds": 3, "low_s": 3, "high_s": 3, "slowest_over_fastest": 2, "spearman_with_published": 2, "between_variance_log": 4}
    section = Section(
        title,
        [answer[0].upper() + answer[1:] + ("" if answer.endswith(".") else "."), *paragraphs],
        plots=[plot],
        grids=[Grid("spread", pl.DataFrame(spreads), "Differences between server algorithms, each source over its own cells", digits),
               Grid("ranking", pl.DataFrame(rows, infer_schema_length=None), "Server algorithms: geometric mean over clients and delays, and rank", digits)],
    )  # fmt: skip
    return section, answer


def _by_server(data: _Data, source: str, delay: float) -> list[Interval | None]:
    """Each server's geometric mean over clients at one delay."""
    means = data.means[source]
    part = means.only(means.keys.filter(pl.col("delay_ms") == delay))
    if part.keys.is_empty():
        return [None] * len(data.servers)
    found = findings.ranking(part)
    intervals: dict[str, Interval] = {}
    for at, name in enumerate(found.names):
        low, high = np.quantile(found.draws_s[:, at], (0.025, 0.975)) if found.resampled else (-np.inf, np.inf)
        intervals[name] = Interval(float(found.seconds[at]), float(low), float(high), part.keys.height, "95% bootstrap")
    return [intervals.get(name) for name in data.servers]


# --- findings -----------------------------------------------------------------------------------------------------------


def _findings_section(data: _Data) -> Section:
    verdicts: list[Verdict | None] = []
    terms: list[dict[str, str | int | float | None]] = []
    effects: list[dict[str, object]] = []
    for source in data.sources():
        means = data.means[source]
        found = findings.ranking(means)
        verdicts += [findings.receiver(means, source), findings.fastest(found, source), findings.slowest(found, source)]
        terms += [
            {"source": source, "term": term.name, "freedom": term.freedom, "share": term.share, "F": term.f, "p": term.p}
            for term in findings.anova(means)
        ]
        logs = means.keys.with_columns(log=pl.Series(means.log))
        for effect in variance.effects(logs, "log", "client_cc"):
            low, high = (effect.change.low, effect.change.high) if effect.change.n > 1 else (None, None)
            effects.append({"source": source, "client_cc": effect.level, "change": effect.change.estimate, "low": low, "high": high,
                            "combinations": effect.change.n})  # fmt: skip
    within = ", ".join(f"{testbed.label(arm)} {_within(data.fetches.filter(arm=arm)):.1%}" for arm in data.arms)
    grids = [Grid("anova", pl.DataFrame(terms, infer_schema_length=None), "Analysis of variance of the log of the cells' mean times",
                  {"share": 5, "F": 1, "p": 4})]  # fmt: skip
    if effects:
        grids.append(Grid("receiver", pl.DataFrame(effects, infer_schema_length=None),
                          "Effect of the receiver's algorithm: change of the time against the mean over receivers",
                          {"change": 4, "low": 4, "high": 4}))  # fmt: skip
    return Section(
        "Findings, confirmed or refuted",
        ["The unit is a cell (delay, server, client): the published tables have nothing finer, so both sides are analysed alike. Terms of the "
         "analysis of variance are tested against what they leave unexplained. The intervals of the receivers' effects hold together with "
         f"95 % (Bonferroni). Differences between fetches of one cell make up this share of the variance of all log times: {within}."],
        verdicts=[verdict for verdict in verdicts if verdict is not None],
        grids=grids,
    )  # fmt: skip


def _within(fetches: pl.DataFrame) -> float:
    """Share of the sum of squares of log times that lies within cells."""
    logs = fetches.filter(pl.col("seconds").is_not_null()).with_columns(log=pl.col("seconds").log())
    total = float(((logs["log"] - logs["log"].mean()) ** 2).sum())
    inside = float(logs.select(((pl.col("log") - pl.col("log").mean().over(CELL)) ** 2).sum()).item())
    return inside / total if total > 0 else 0.0


# --- agreement ----------------------------------------------------------------------------------------------------------


def _agreement(data: _Data) -> pl.DataFrame:
    """One row per arm and delay, and per arm over all: how far the means are from the published ones."""
    rows: list[dict[str, object]] = []
    for source in data.ours:
        both = data.values(source).join(data.values(PUBLISHED), on=CELL, suffix="_published")
        for delay in [None, *data.delays]:
            part = both if delay is None else both.filter(pl.col("delay_ms") == delay)
            if part.is_empty():
                continue
            log = np.log((part["seconds"] / part["seconds_published"]).to_numpy())
            ours, theirs = (findings.ranking(data.means[name].only(part.select(CELL))) for name in (source, PUBLISHED))
            rows.append({
                "source": source, "delay": "all" if delay is None else f"{delay:g} ms", "cells": part.height,
                "rms_log_ratio": float(np.sqrt((log**2).mean())), "typical_factor": float(np.exp(np.sqrt((log**2).mean()))),
                "bias": float(np.exp(log.mean())), "rms_log_ratio_without_bias": float(log.std()),
                "spearman": findings.rank_correlation(ours, theirs), "spread": ours.spread, "published_spread": theirs.spread,
            })  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _agreement_section(agreement: pl.DataFrame) -> Section | None:
    if agreement.is_empty():
        return None
    words = [
        f"{row['source']}: our means are {row['bias']:.2f} times the published ones (geometric mean over {row['cells']} cells), off by a typical "
        f"factor of {row['typical_factor']:.2f}, and by {np.exp(row['rms_log_ratio_without_bias']):.2f} once that constant is taken out"
        for row in agreement.filter(delay="all").to_dicts()
    ]
    return Section(
        "Agreement with the published means",
        ["; ".join(words) + ".", "The typical factor is the exponential of the root mean square of the log ratio, ours over published."],
        grids=[Grid("agreement", agreement, "Our means against the published ones", {
            "rms_log_ratio": 3, "typical_factor": 2, "bias": 2, "rms_log_ratio_without_bias": 3, "spearman": 2, "spread": 2,
            "published_spread": 2})],
    )  # fmt: skip


# --- figures ------------------------------------------------------------------------------------------------------------


def _times_section(data: _Data) -> Section:
    intervals = {
        source: {tuple(key): interval for key, interval in zip(data.means[source].keys.rows(), data.means[source].intervals(), strict=True)}
        for source in data.sources()
    }
    clouds = {
        f"{delay:g} ms": {
            source: [
                stats.vector(data.values(source).filter(pl.col("delay_ms") == delay, pl.col("server_cc") == server)["seconds"].to_numpy())
                for server in data.servers
            ]
            for source in data.sources()
        }
        for delay in data.delays
    }
    plots = [Plot(
        "b_by_server", dots.clouds(clouds, data.servers, "server's algorithm", "download time (s)"),
        "Mean download time by the server's algorithm and one-way delay; a dot for every client's algorithm, a bar at their geometric mean.",
    )]  # fmt: skip
    for delay in data.delays:
        panels = {
            f"client {client}": {
                source: [intervals[source].get((delay, server, client)) for server in data.servers] for source in data.sources()
            }
            for client in data.clients
        }
        plots.append(Plot(
            f"c_by_client_{delay:g}ms".replace(".", "_"),
            dots.multiples(panels, data.servers, "server's algorithm", "download time (s)"),
            f"Mean download time by the server's algorithm, one panel per client's algorithm, {delay:g} ms one-way delay; 95 % bootstrap intervals.",
        ))  # fmt: skip
    return Section("Download time by server and client algorithm", plots=plots)


def _matrix(data: _Data, source: str, delay: float) -> NDArray[np.float64]:
    """Seconds, servers down and clients across."""
    made = np.full((len(data.servers), len(data.clients)), np.nan)
    for row in data.values(source).filter(pl.col("delay_ms") == delay).to_dicts():
        if row["server_cc"] in data.servers and row["client_cc"] in data.clients:
            made[data.servers.index(row["server_cc"]), data.clients.index(row["client_cc"])] = row["seconds"]
    return made


def _heat_section(data: _Data) -> Section:
    plots: list[Plot] = []
    for delay in data.delays:
        values = {source: _matrix(data, source, delay) for source in data.sources()}
        strips = [Strip([Matrix(source, matrix) for source, matrix in values.items()], "time", "download time (s)")]
        ratios = [Matrix(f"{source} / published", values[source] / values[PUBLISHED]) for source in data.ours if PUBLISHED in values]
        on, off = (values.get(ARMS[arm]) for arm in ("cache", "no-cache"))
        if on is not None and off is not None:
            ratios = [Matrix("cache on / cache off", on / off), *ratios]
        if ratios:
            strips.append(Strip(ratios, "ratio", "ratio"))
        plots.append(Plot(
            f"d_heat_{delay:g}ms".replace(".", "_"),
            heatmap.matrices(strips, data.servers, data.clients, "server's algorithm", "client's algorithm"),
            f"Mean download time in seconds at {delay:g} ms one-way delay, and ratios, coloured by their logarithm: of our times with the "
            "cache on to those with it off, and of ours to the published ones.",
        ))  # fmt: skip
    return Section("Heat maps", plots=plots)


def _trips_section(data: _Data) -> Section | None:
    rows: dict[str, dict[str, object]] = {server: {"server_cc": server} for server in data.servers}
    panels: dict[str, list[Line | None]] = {}
    words: list[str] = []
    for source in data.sources():
        means = data.values(source).group_by("delay_ms", "server_cc", maintain_order=True).agg(pl.col("seconds").mean()).sort("delay_ms")
        pairs = means["server_cc"].to_list(), (means["delay_ms"] * 2e-3).to_numpy(), means["seconds"].to_numpy()
        found = round_trips.fit(*pairs)
        if found is None:
            continue
        # What others fitted to the published means by eye: a constant of a quarter of a second.
        fixed = round_trips.fit(*pairs, constant_s=PUBLISHED_CONSTANT_S) if source == PUBLISHED else None
        words.append(f"{source}: {found.constant_s:.3f} s + N x RTT, relative error {found.residual:.1%} (root mean square)")
        panels[f"{source}: {found.constant_s:.2f} s + N x RTT"] = panel = []
        for server in data.servers:
            own = means.filter(pl.col("server_cc") == server)
            rtt = stats.vector((own["delay_ms"] * 2).to_numpy())
            if server not in found.trips or not rtt.size:
                panel.append(None)
                continue
            rows[server][f"trips_{source.replace(' ', '_')}"] = found.trips[server]
            if fixed is not None:
                rows[server][f"trips_{source.replace(' ', '_')}_at_{PUBLISHED_CONSTANT_S:g}_s"] = fixed.trips[server]
            fitted_x = np.array([0.0, rtt.max()])
            panel.append(Line(f"{server} {round(found.trips[server], 1) + 0.0:.1f}", rtt, stats.vector(own["seconds"].to_numpy()), fitted_x,
                              found.at(server, fitted_x / 1000)))  # fmt: skip
    if not panels:
        return None
    figure = lines.labelled(panels, "round-trip time (ms)", "download time (s)", scale="linear")
    return Section(
        "Round trips",
        ["Without loss 1 MB takes a handful of round trips in slow start; N says how many it took as measured. " + "; ".join(words) + "."],
        plots=[Plot("e_round_trips", figure, "Mean time over clients against the round-trip time; lines are the fit, N stands at their ends.")],
        grids=[Grid("round_trips", pl.DataFrame(list(rows.values()), infer_schema_length=None), "Round trips N by server algorithm",
                    dict.fromkeys([name for row in rows.values() for name in row], 1))],
    )  # fmt: skip


def _position_section(data: _Data) -> Section | None:
    """The first fetch of a block finds nothing in the cache, later ones do."""
    done = data.fetches.filter(pl.col("seconds").is_not_null())
    if done["fetch"].n_unique() < 3:
        return None
    by_position = (
        done.with_columns(log=pl.col("seconds").log())
        .group_by("arm", "server_cc", "fetch", maintain_order=True)
        .agg(seconds=pl.col("log").mean().exp())
        .sort("arm", "server_cc", "fetch")
    )
    panels: dict[str, list[Line | None]] = {}
    rows: list[dict[str, object]] = []
    for arm in data.arms:
        panels[testbed.label(arm)] = []
        for server in data.servers:
            own = by_position.filter(pl.col("arm") == arm, pl.col("server_cc") == server)
            x, y = stats.vector(own["fetch"].cast(pl.Float64).to_numpy()), stats.vector(own["seconds"].to_numpy())
            if not x.size:
                panels[testbed.label(arm)].append(None)
                continue
            panels[testbed.label(arm)].append(Line(server, x, y))
            later = y[x > 1]
            if x[0] == 1 and later.size:
                rest = float(np.exp(np.log(later).mean()))
                rows.append({"source": testbed.label(arm), "server_cc": server, "first_s": float(y[0]), "later_s": rest,
                             "later_over_first": rest / float(y[0])})  # fmt: skip
    last = int(str(done["fetch"].max()))
    ticks = sorted({1, *range(5, last + 1, 5)}) if last >= 10 else list(range(1, last + 1))
    change = "; ".join(
        f"{source}: later fetches take {np.exp(np.mean(np.log([float(str(r['later_over_first'])) for r in rows if r['source'] == source]))):.2f} "
        "times as long as the first"
        for source in dict.fromkeys(str(row["source"]) for row in rows)
    )
    return Section(
        "First and later fetches of a block",
        ["The first fetch of a block finds an empty cache; later ones start with what was left behind. "
         + (change[0].upper() + change[1:] + " (geometric mean over algorithms)." if change else "")],
        plots=[Plot("f_position", lines.labelled(panels, "fetch of the block", "download time (s)", x_ticks=ticks),
                    "Download time by position in the block, geometric mean over clients, delays and blocks.")],
        grids=[Grid("position", pl.DataFrame(rows), "First fetch of a block against later ones",
                    {"first_s": 3, "later_s": 3, "later_over_first": 3})] if rows else [],
    )  # fmt: skip


# --- tables -------------------------------------------------------------------------------------------------------------


def _published_section() -> Section:
    state = testbed.check()
    swapped = state.filter(details=testbed.EXCHANGED)
    by_server = swapped.group_by("server_cc", maintain_order=True).agg(pl.col("delay_ms"))
    words = ", ".join(f"{row['server_cc']} ({'/'.join(f'{delay:g}' for delay in row['delay_ms'])} ms)" for row in by_server.to_dicts())
    others = " ".join(
        f"The table of server {row['server_cc']} at {row['delay_ms']:g} ms holds other measurements: {row['remark']}."
        for row in state.filter(details=testbed.OTHER).to_dicts()
    )
    missing = sorted(set(testbed.scenario_b().filter(details="none")["server_cc"]))
    return Section(
        "What is wrong with the published tables",
        [f"Against the table of means, the RENO and SCALABLE rows are exchanged in {swapped.height} of {state.height} detailed tables: {words}. They "
         f"are exchanged back here. {others} There is no detailed table for {', '.join(missing)}: only its means are known."],
        grids=[Grid("published_tables", state, "Every detailed table against the table of means")],
    )  # fmt: skip


def _cells_section(data: _Data) -> Section:
    theirs = data.published.select(*CELL, *[pl.col(name).alias(f"published_{name}") for name in STATISTICS], "details")
    table = (
        data.statistics.join(theirs, on=CELL, how="left", maintain_order="left")
        .with_columns(log_ratio=(pl.col("mean_s") / pl.col("published_mean_s")).log())
        .sort("delay_ms", "server_cc", "client_cc", "arm")
    )
    seconds = ("mean_s", "max_s", "min_s", "stdev_s", "ci95_s", "ci95_blocks_s")
    digits = {**dict.fromkeys(seconds, 3), **{f"published_{name}": 2 for name in STATISTICS if name != "n"}, "cov": 3, "log_ratio": 2,
              "retransmits": 1, "timeouts": 2}  # fmt: skip
    by_server = (
        table.group_by("delay_ms", "server_cc", "arm", maintain_order=True)
        .agg(
            clients=pl.len(), fetches=pl.col("n").sum(), mean_s=pl.col("mean_s").mean(), published_mean_s=pl.col("published_mean_s").mean(),
            ratio=pl.col("log_ratio").mean().exp(), cov=pl.col("cov").mean(), published_cov=pl.col("published_cov").mean(),
            retransmits=pl.col("retransmits").mean(), timeouts=pl.col("timeouts").mean(), unfinished=pl.col("unfinished").sum(),
        )
    )  # fmt: skip
    return Section(
        "All cells",
        ["n counts completed fetches. ci95_s is the half-width over fetches, as published; ci95_blocks_s that over the means of blocks, which "
         "unlike fetches of a block are independent. retransmits and timeouts are per fetch. log_ratio is the natural logarithm of our mean over "
         "the published one. Click a heading to sort."],
        grids=[Grid("by_server", by_server, "By delay and server algorithm, averaged over clients; ratio is a geometric mean",
                    {**digits, "ratio": 2}),
               Grid("cells", table, "Every cell and arm beside the published statistics", digits)],
    )  # fmt: skip


def _summary(data: _Data, answer: str, agreement: pl.DataFrame) -> list[str]:
    made = [answer]
    for source in data.ours:
        found = findings.receiver(data.means[source], source)
        if found is not None:
            made.append(f"{found.claim}: {found.answer}; {found.numbers.split(';')[0]}")
            break
    if not agreement.is_empty():
        every = agreement.filter(delay="all").to_dicts()
        closest = min(every, key=lambda row: float(row["rms_log_ratio"]))
        rho = "" if closest["spearman"] is None else f", Spearman's rho of the ranking {closest['spearman']:.2f}"
        made.append(
            f"closest to the published means: {closest['source']}, off by a typical factor of {closest['typical_factor']:.2f} "
            f"(mean ratio {closest['bias']:.2f}){rho}"
        )
    return made
