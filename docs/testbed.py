"""Writes the numbers in the guide to the testbed study, and in its README, from results.

    python -m docs.testbed [--check] [OLD FIRST FUTURE NEIGHBOURS MORE]               # what is simulated
    python -m docs.testbed --kernel FIT MATRIX GUESTS NEIGHBOURS [SIMULATED]          # what is measured on kernels

The results directories are those of `SIMULATED` and of `MEASURED`, in that order. What is not given at the end is run first: simulated in some
minutes, on kernels in more than an hour. With --check nothing is written, and the pages must already be so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from docs.blocks import table, write
from sawtooth import stats
from sawtooth.report.answers import Answers
from sawtooth.report.document import Section, Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped

DOCS = Path(__file__).parent
PAGES = (DOCS / "guides/testbed.md", shipped.DIRECTORY / "testbed/README.md")
STUDY4 = DOCS / "validation/study4.md"
SIMULATED = (
    ["testbed/old-kernel"], ["testbed/old-kernel", "--set", "repeat=5"], ["testbed/future"],
    ["testbed/neighbours"], ["testbed/neighbours", "--set", "repeat=200"],
)  # fmt: skip
MEASURED = (
    ["testbed/fit"], ["testbed"], ["testbed/guest-resources"], ["testbed/neighbours", "--backend", "uml"], ["testbed", "--backend", "sim"],
)  # fmt: skip
BACKENDS = {"uml": "user-mode Linux, virtual time", "qemu": "QEMU's emulation, real time"}
SOURCES = {"published": "published", "cache": "cache on", "no-cache": "cache off"}
MOVES = re.compile(r"(.*), against the mean of all algorithms \((.*)\)")


def simulated(old: Dataset, first: Dataset, future: Dataset, neighbours: Dataset, more: Dataset) -> dict[str, str]:
    """The blocks of what the simulator does."""
    return {
        "old-kernel-answer": answer(old) + "\n",
        "old-kernel": ran(old) + held_out(old) + "\n" + both(old) + "\n",
        "old-kernel-rule": by_rule(old) + "\n",
        "old-kernel-first": ran(first) + held_out(first),
        "future": ran(future) + claims([("Verdict", future)]),
        "neighbours-simulated": ran(neighbours, more) + claims([("20 replicates", neighbours), ("200 replicates", more)]),
    }


def measured(fit: Dataset, matrix: Dataset, guests: Dataset, neighbours: Dataset, simulator: Dataset) -> dict[str, str]:
    """The blocks of what kernels do, and of the simulator beside them."""
    return {
        "fit": ran(fit) + fitted(fit),
        "matrix": ran(matrix, simulator) + claims([("Linux 6.1", matrix), ("Simulator", simulator)]),
        "moves": moves(matrix, simulator),
        "agreement": agreement(matrix, simulator),
        "side-by-side": side_by_side(matrix, simulator),
        "guests": ran(guests) + claims([("Verdict", guests)]) + "\n" + section(guests, "Boot to boot").paragraphs[0] + "\n",
        "neighbours": ran(neighbours) + claims([("Verdict", neighbours)]),
    }


# --- what all blocks have


def ran(*datasets: Dataset) -> str:
    """Of which runs a block is: the command, the kernel or the simulator, how many runs and downloads, and of kernels the day and the records' hash."""
    lines = [_ran(dataset) for dataset in datasets]
    return "\n".join(f"{line}  " if line is not lines[-1] else line for line in lines) + "\n\n"


def _ran(dataset: Dataset) -> str:
    manifest = dataset.manifest
    fetches = dataset.table("flows").filter(pl.col("flow").cast(pl.String).str.starts_with("fetch")).select("completion_ns").collect()
    unfinished = fetches["completion_ns"].null_count()
    # As it was told, without where its results were put.
    options = [f"--backend {option[8:]}" if option.startswith("backend=") else f"--set {option}" for option in manifest["options"]]
    name = {path.resolve(): name for name, path in shipped.studies().items()}
    study = next(each for path, each in name.items() if _name_of(path) == manifest["name"])
    told = f"`{' '.join(['sawtooth run', study, *options])}`"
    kernels = sorted({(each["release"], BACKENDS[each["backend"]]) for each in dataset.kernels})
    where = "; ".join(f"Linux {release} ({how})" for release, how in kernels) or f"the simulator, results epoch {manifest['results_epoch']}"
    once = f", begun {manifest['started'][:10]}, records `{dataset.digest[:12]}`" if kernels else ""
    left = f", {unfinished} of which did not end within their run" if unfinished else ""
    return f"*{told}: {where}; {dataset.runs.height:,} runs, {fetches.height:,} downloads{left}{once}.*"


def _name_of(study: Path) -> str:
    found = re.search(r'^name = "(.*)"', study.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else study.stem


@cache
def answers(dataset: Dataset) -> Answers:
    """Made once: analyses resample."""
    return Answers(dataset)


def section(dataset: Dataset, title: str) -> Section:
    """One that the study's own analysis makes."""
    return next(each for each in answers(dataset).analysed if each.title == title)


def grid(dataset: Dataset, name: str) -> pl.DataFrame:
    """A table of the study's own analysis."""
    return next(each.frame for made in answers(dataset).analysed for each in made.grids if each.name == name)


def claims(columns: Sequence[tuple[str, Dataset]]) -> str:
    """Every claim with its verdicts, and the numbers of the last column; what is asked of each source is in `moves`."""
    found = [answers(dataset).verdicts() for _, dataset in columns]
    rows = [[each[0].claim, *(verdict.said for verdict in each), numbers(each[0])] for each in zip(*found, strict=True) if not MOVES.fullmatch(each[0].claim)]  # fmt: skip
    beside = "" if len(columns) == 1 else f" ({columns[0][0]})"
    return table(["Claim", *(name for name, _ in columns), f"Numbers{beside}"], rows)


def numbers(verdict: Verdict) -> str:
    """What decides, in short: of many cells how many show it."""
    cells = verdict.evidence
    if not cells:
        return "not known"
    if len(cells) == 1:
        parts = cells[0].words.split("; ")
        # Of many comparisons how many show it; of few, each.
        return parts[0] if "comparisons" in parts[0] else "; ".join(parts[:3])
    shown, denied = sum(each.shows(0.95) for each in cells), sum(each.denies(0.95) for each in cells)
    return f"{shown} of {len(cells)} cells show it, {denied} the contrary, each by itself at 95 %"


# --- the fit, and old kernels


def fitted(dataset: Dataset) -> str:
    """The best settings with what they leave where they were not chosen, and whether that is less than one time per delay leaves."""
    settings, left_out = grid(dataset, "settings"), grid(dataset, "cross_check")
    per_delay = one_per_delay()
    rows: list[list[str]] = []
    for choice, words in (("any", "best of all"), ("cache", "best with the cache on"), ("no-cache", "best with the cache off")):
        best = (settings if choice == "any" else settings.filter(arm=choice)).row(0, named=True)
        held = [_rms(left_out.filter(choice=choice, left_out=leave)["residual_left_out"]) for leave in ("delay", "cc")]
        rows.append([words, *_setting(best), *(f"{each:.3f}" for each in (best["residual"], *held)), f"{best['spearman']:.2f}"])
    matrix = settings.filter(arm="cache", queue="10 packets", loss="0.01").row(0, named=True)
    deep = settings.filter(arm="cache", queue="1000 packets", loss="0").row(0, named=True)
    rows += [[words, *_setting(row), f"{row['residual']:.3f}", "", "", f"{row['spearman']:.2f}" if row["spearman"] is not None else ""]
             for words, row in (("the one that `testbed` has", matrix), ("a deep queue without loss", deep))]  # fmt: skip
    rows.append(["one time per delay", "", "", "", f"{per_delay:.3f}", "", f"{per_delay * 11 / 10:.3f}", ""])
    held = float(rows[0][5])
    beats = "less" if held < per_delay else "more"
    head = ["Setting", "Queue", "Loss", "Cache", "Residual", "At delays left out", "At algorithms left out", "Rank correlation"]
    said = f"Where it was not chosen, the best of all leaves {held:.3f}, {beats} than the {per_delay:.3f} of one time per delay: it {'beats' if held < per_delay else 'does not beat'} it."
    factor = f"The best residual is a typical factor of {settings['factor'][0]:.2f} between our time and the published one; a deep queue without loss leaves a factor of {deep['factor']:.1f}."
    return f"{table(head, rows)}\n{said} {factor}\n"


def _setting(row: dict[str, Any]) -> list[str]:
    return [row["queue"], f"{100 * float(row['loss']):g} %", "on" if row["arm"] == "cache" else "off"]


def one_per_delay() -> float:
    """What one time per delay, alike for all algorithms, leaves of the published means."""
    means = pl.read_csv(shipped.table("testbed", "published-b-by-server.csv"), comment_prefix="#")
    log = pl.col("mean_s").log()
    return _rms(means.select(log - log.mean().over("delay_ms")).to_series())


def _rms(values: pl.Series) -> float:
    return float(np.sqrt((values.to_numpy() ** 2).mean()))


def answer(dataset: Dataset) -> str:
    """Whether the rules of Linux 3.2 beat one time per delay at delays left out: by the number, and beyond chance."""
    row = grid(dataset, "held_out").filter(rules="Linux 3.2", held="at delays left out").row(0, named=True)
    claim = "By the rules of Linux 3.2 the published times are told better than by one time per delay, at delays left out"
    verdict = next(each.answer for each in answers(dataset).verdicts() if each.claim == claim)
    less = row["residual"] < row["one_time_per_delay"]
    by_number = (
        f"By the number {'yes' if less else 'no'}: {row['residual']:.3f} at delays left out, against {row['one_time_per_delay']:.3f}."
    )
    beyond = {
        "yes": "Beyond chance yes, too",
        "no": "Beyond chance no",
        "cannot distinguish": "Beyond chance that is not shown",
        "mixed": "Beyond chance it is mixed",
    }[verdict]
    return (
        f"{by_number} {beyond}: the 95 % interval is {row['low']:.3f} to {row['high']:.3f}, and {row['below_in']:.0%} of draws are below."
    )


def by_rule(dataset: Dataset) -> str:
    """By the number that was to decide: which rules beat one time per delay, at delays and at algorithms left out."""
    found = grid(dataset, "held_out")
    said: list[str] = []
    for rules in found["rules"].unique(maintain_order=True):
        own = found.filter(pl.col("rules") == rules, pl.col("held") != "in sample").to_dicts()
        beats = [("" if row["residual"] < row["one_time_per_delay"] else "not ") + row["held"] for row in own]
        said.append(f"those of {rules} beat one time per delay {' and '.join(beats)}")
    return "Of the rules " + "; ".join(said) + "."


def held_out(dataset: Dataset) -> str:
    """By the rules of each kernel: the best setting, and what is left in sample, at delays and at algorithms left out."""
    found, best = grid(dataset, "held_out"), grid(dataset, "settings")
    rows: list[list[str]] = []
    for rules in found["rules"].unique(maintain_order=True):
        own = found.filter(rules=rules)
        setting = best.filter(rules=rules).row(0, named=True)
        cache = "on" if setting["arm"].endswith("-cache") else "off"
        values = [f"{row['residual']:.3f} ({row['low']:.3f} to {row['high']:.3f})" for row in own.to_dicts()]
        rows.append([rules, f"{setting['queue']}, {100 * float(setting['loss']):g} %, {cache}", *values])
    limits = [f"{value:.3f}" for value in found.filter(rules=found["rules"][0])["one_time_per_delay"]]
    rows.append(["one time per delay", "", *limits])
    head = ["Rules", "Best queue, loss, cache", "In sample", "At delays left out", "At algorithms left out"]
    return table(head, rows)


def both(dataset: Dataset) -> str:
    """How much nearer the old rules are than those of today, and what each of their two parts leaves alone."""
    settings = grid(dataset, "settings")
    claim = "The best setting by the rules of Linux 3.2 is nearer to the published times than that by those of Linux 6.1"
    nearer = next(each for each in answers(dataset).verdicts() if each.claim == claim).evidence[0].interval
    assert nearer is not None
    counting = settings.filter(arm="linux-3-2")["residual"].min()
    cache = settings.filter(arm="linux-cache")["residual"].min()
    together = settings.filter(arm="linux-3-2-cache")["residual"].min()
    return (
        f"In sample the rules of 3.2 are nearer than those of 6.1 by {-nearer.estimate:.3f} ({-nearer.high:.3f} to {-nearer.low:.3f}). It takes both of what they have: "
        f"counting acknowledgements without the cache leaves {counting:.3f}, the cache with today's rules {cache:.3f}, both together {together:.3f}."
    )


# --- the matrix


def moves(matrix: Dataset, simulator: Dataset) -> str:
    """Who gains or loses with delay: the verdicts of the published table, of the kernel and of the simulator."""
    columns: dict[str, dict[str, str]] = {}
    for where, dataset in (("Linux 6.1", matrix), ("simulator", simulator)):
        for verdict in answers(dataset).verdicts():
            if found := MOVES.fullmatch(verdict.claim):
                name = SOURCES[found[2]] if found[2] == "published" else f"{where}, {SOURCES[found[2]]}"
                said = verdict.evidence[0].words if verdict.evidence else "not known"
                trend = re.search(r"strata ([+-][\d.]+)", said)
                columns.setdefault(name, {})[found[1]] = f"{verdict.said} ({trend[1]})" if trend else verdict.said
    rows = [[claim, *(column[claim] for column in columns.values())] for claim in next(iter(columns.values()))]
    return table(["Claim", *columns], rows)


def agreement(matrix: Dataset, simulator: Dataset) -> str:
    """How far all cells are from the published means, and how the algorithms' order agrees with the published one."""
    rows: list[list[str]] = []
    for where, dataset in (("Linux 6.1", matrix), ("simulator", simulator)):
        found = grid(dataset, "agreement").filter(delay="all")
        for arm in ("cache", "no-cache"):
            row = found.filter(source=arm).row(0, named=True)
            order = grid(dataset, "ranking").filter(source=arm, delay="all").sort("seconds")["server_cc"].to_list()
            rows.append([f"{where}, {SOURCES[arm]}", f"{row['typical_factor']:.2f}", f"{row['bias']:.2f}", f"{row['spearman']:.2f}", ", ".join(order[:3]), ", ".join(order[-3:])])  # fmt: skip
    published = grid(matrix, "ranking").filter(source="published", delay="all").sort("seconds")["server_cc"].to_list()
    rows.append(["published", "", "", "", ", ".join(published[:3]), ", ".join(published[-3:])])
    return table(["", "Typical factor", "Mean ratio", "Rank correlation", "Fastest three", "Slowest three"], rows)


def side_by_side(matrix: Dataset, simulator: Dataset) -> str:
    """The simulator's mean times over the kernel's, in all cells and in those of the other page."""
    both = _means(matrix).join(_means(simulator), on=["delay", "cc", "receiver_cc", "arm"], suffix="_sim")
    both = both.with_columns(ratio=pl.col("seconds_sim") / pl.col("seconds"))
    rows: list[list[object]] = []
    for arm in ("no-cache", "cache"):
        for words, part in (("all", both.filter(arm=arm)), ("client Reno", both.filter(arm=arm, receiver_cc="reno"))):
            ratio = part["ratio"].to_numpy()
            by_server = part.group_by("cc").agg(pl.col("seconds", "seconds_sim").log().mean())
            order = stats.spearman(by_server["seconds"].to_numpy(), by_server["seconds_sim"].to_numpy())
            rows.append([SOURCES[arm], words, len(ratio), f"{np.exp(np.log(ratio).mean()):.3f}", f"{ratio.min():.2f} to {ratio.max():.2f}", f"{order:.2f}"])  # fmt: skip
    head = ["", "Cells", "", "Simulator over Linux 6.1, geometric mean", "Least and most", "Rank correlation of algorithms"]
    return f"{table(head, rows)}\n{other_page(both)}\n"


def other_page(both: pl.DataFrame) -> str:
    """What the other page has at the same cells, and by how much each of its two sides is another there."""
    text = STUDY4.read_text(encoding="utf-8")
    there = dict(re.findall(r"^(no-cache|cache): .*geometric mean ([\d.]+)", text, re.MULTILINE))
    cells = re.findall(r"^\| (off|on) \| (\d+ ms) \| (\w+) \| ([\d.]+) ± [\d.]+ \| ([\d.]+) ±", text, re.MULTILINE)
    rows = [
        ("cache" if on == "on" else "no-cache", delay, cc, float(kernel), float(simulator)) for on, delay, cc, kernel, simulator in cells
    ]
    page = pl.DataFrame(rows, schema=["arm", "delay", "cc", "kernel", "simulator"], orient="row")
    joined = page.join(both.filter(receiver_cc="reno"), on=["arm", "delay", "cc"])

    def over(theirs: str, ours: str) -> str:
        found = [joined.filter(arm=arm).select((pl.col(theirs) / pl.col(ours)).log().mean().exp()).item() for arm in ("no-cache", "cache")]
        return " and ".join(f"{each:.3f}" for each in found)

    return (
        f"At the cells of client Reno [the other page](../validation/study4.md) has {there['no-cache']} with the cache off and {there['cache']} with it on. Its simulated times are "
        f"{over('simulator', 'seconds_sim')} of those here, which is what the ticks do; its kernel's are {over('kernel', 'seconds')} of those here, which are other downloads of the same cells."
    )


def _means(dataset: Dataset) -> pl.DataFrame:
    fetches = dataset.table("flows").filter(pl.col("completion_ns") >= 0).select("run", "completion_ns").collect()
    cells = dataset.runs.select("run", "arm", "delay", "cc", "receiver_cc").join(fetches, on="run")
    return cells.group_by("arm", "delay", "cc", "receiver_cc").agg(seconds=pl.col("completion_ns").mean() / 1e9)


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if each != "--kernel"]
    if "--kernel" in sys.argv:
        write(PAGES, MEASURED, measured, given)
    else:
        write(PAGES, SIMULATED, simulated, given)
