"""What the intervals of `sawtooth.stats` cover; writes docs/validation/statistics.md and the counts that it is made of beside it.

    python bench/statistics/intervals.py [--only METHOD ...] [--page]       # ten minutes; --only: of methods that begin so; --page: none

Each trial draws samples from a distribution whose mean and median are known, and counts how often the interval has it.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

from samples import WORLDS
from trials import COURSES, FAMILIES, PAIRS, SIZES, SLOPES, Outcome, Trial, run, shares

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/validation/statistics.md"
COUNTS = PAGE.with_suffix(".csv")
HEAD = ("method", "world", "n", "samples", "alike", "unbounded", "covered", "width")
# What is promised, and what may lie below it by chance.
LEAST, MOST = 0.93, 0.97
SLACK = 3.0

MEDIANS = ("normal, 10 % spread", "lognormal, sigma 1", "exponential", "uniform from 0", "half alike, half normal about it")
OF_MEDIANS = (6, 7, 8, 10, 15, 20, 30)
OF_PAIRS = (3, 4, 5, 6, 8, 10, 15, 30)
OF_TRENDS = (1, 2, 5)

Outcomes = dict[Trial, Outcome]


def trials() -> list[Trial]:
    """All of the page."""
    made: list[Trial] = []
    for method, count in (("mean: rule", 6000), ("mean: t", 6000), ("mean: percentile bootstrap", 1000)):
        made += [Trial(method, world.name, n, count) for world in WORLDS for n in SIZES]
    for method, count in (("median: rule", 10_000), ("median: BCa", 500)):
        made += [Trial(method, world, n, count) for world in MEDIANS for n in OF_MEDIANS]
    for method in ("paired difference: rule", "difference: rule", "paired ratio: rule", "ratio: rule", "paired ratio: Fieller"):
        pairs = [pair for pair in PAIRS if method.startswith("paired") or pair.correlation == 0.0]
        made += [Trial(method, pair.name, n, 2000) for pair in pairs for n in OF_PAIRS]
    made += [Trial("Holm", family, n, 20_000) for family in FAMILIES for n in (3, 5, 10)]
    made += [Trial("trend", world, n, 1000) for world in ("normal, 10 % spread", "lognormal, sigma 1", "levels 1 to 4") for n in OF_TRENDS]
    made += [Trial("trend: interval", world, n, 500) for world in SLOPES for n in OF_TRENDS]
    for method in ("sequential: rule", "sequential: plain", "sequential: first narrow t"):
        made += [Trial(method, course.name, 0, 1000) for course in COURSES]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="write the page from the counts that are there")
    parser.add_argument("--only", nargs="+", default=[""], help="methods that are tried again, by how they begin")
    options = parser.parse_args()
    if not options.page:
        kept = {} if options.only == [""] else counts()
        asked = [trial for trial in trials() if trial.method.startswith(tuple(options.only)) or trial not in kept]
        # The longest first: processes end together.
        asked.sort(key=lambda trial: (not trial.method.startswith("sequential"), -trial.n * trial.count))
        with multiprocessing.Pool() as pool:
            found = kept | dict(zip(asked, pool.map(run, asked, chunksize=1), strict=True))
        with COUNTS.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEAD)
            writer.writerows(row(trial, found[trial]) for trial in trials())
    PAGE.write_text(page(counts()), encoding="utf-8")


def row(trial: Trial, outcome: Outcome) -> list[object]:
    return [trial.method, trial.world, trial.n, *astuple(outcome)[:4], f"{outcome.width:.4g}"]


def counts() -> Outcomes:
    """The outcomes of the last run."""
    with COUNTS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        Trial(each["method"], each["world"], int(each["n"]), int(each["samples"])): Outcome(
            int(each["samples"]), int(each["alike"]), int(each["unbounded"]), int(each["covered"]), float(each["width"])
        )
        for each in rows
    }


def low(outcome: Outcome) -> bool:
    """Whether it covers with less than is promised, by more than chance."""
    return outcome.coverage + SLACK * outcome.error < LEAST


def page(found: Outcomes) -> str:
    by = {(trial.method, trial.world, trial.n): outcome for trial, outcome in found.items()}
    names = [world.name for world in WORLDS]
    asked = [by["mean: rule", world.name, n] for world in WORLDS if world.asked for n in SIZES]
    old = [by["mean: t", world.name, n] for world in WORLDS if world.asked for n in SIZES]
    errors = max(outcome.error for outcome in asked)
    families = [outcome for trial, outcome in found.items() if trial.method == "Holm"]
    courses = [by["sequential: rule", course.name, 0] for course in COURSES]
    plain = [by["sequential: plain", course.name, 0] for course in COURSES]
    rare = [
        by["mean: rule", name, n] for name in ("rare: 1 in 10 is three times as large", "lognormal, sigma 1, less its mean") for n in SIZES
    ]
    two = [outcome for trial, outcome in found.items() if trial.world in {pair.name for pair in PAIRS} and trial.method.endswith("rule")]
    samples = {method: max(trial.count for trial in found if trial.method == method) for method in {trial.method for trial in found}}
    parts = [
        "# What do the intervals cover?",
        "Written by `python bench/statistics/intervals.py`; the counts are in [statistics.csv](statistics.csv). [The rule](../concepts/statistics.md) says which interval "
        "is made of what; here is how often the nominal 95 % interval has what it is of, in samples from distributions of which that is known. A sample "
        'whose values are all alike has no interval of a level ("no variation in n runs"): it counts for nothing here, and how many are so is shown. An interval '
        'that is unbounded ("n does not suffice") covers, and how many are so is shown too.',
        table(
            ["What", "Wanted", "Found"],
            [
                [
                    "means by the rule: normal, lognormal and tied data, n = 3 to 30",
                    "at least 93 %",
                    f"{_span(asked)} ({_median(asked)} in the middle)",
                ],
                ["the same by Student's t, as it was", "", f"{_span(old)} ({_median(old)} in the middle)"],
                ["what no rule can see in few runs: rare events, skewness without a least value", "said", _span(rare)],
                ["differences and ratios of two treatments, normal and lognormal, n = 3 to 30", "at least 93 %", _span(two)],
                [
                    "one or more false findings of a family, adjusted by Holm",
                    "at most 5 %",
                    f"{_percent(max(1 - each.coverage for each in families))} at most, with an error of {100 * max(each.error for each in families):.2f} %",
                ],
                ["means of sequential studies, when they stop", "93 to 97 %", _span(courses)],
                ["the same, by the interval of a fixed n", "93 to 97 %", _span(plain)],
            ],
        ),
        f"Monte Carlo errors (one standard deviation) of means are at most {100 * errors:.1f} %; with {samples['mean: rule']:,} samples that of 95 % is "
        f"{100 * (0.95 * 0.05 / samples['mean: rule']) ** 0.5:.2f} %.",
        "## Means",
        "Coverage by the rule in per cent. Bold: below 93 % by more than three Monte Carlo errors.",
        _grid(by, "mean: rule", names, SIZES, _bold),
        "Of these, samples in per cent whose interval is unbounded because n does not suffice:",
        _grid(by, "mean: rule", names, SIZES, lambda each: f"{100 * each.unbounded / each.count:.0f}"),
        "Coverage of the others alone. A sample that happens to lack a distribution's tail looks like one of a distribution that has none: what is bounded at "
        "small n is so by such a chance, and no method tells them apart.",
        _grid(by, "mean: rule", names, SIZES, _of_bounded),
        "Samples of no variation in per cent:",
        _grid(
            by,
            "mean: rule",
            [name for name in names if any(by["mean: rule", name, n].alike for n in SIZES)],
            SIZES,
            lambda each: f"{100 * each.alike / each.count:.1f}",
        ),
        "What it costs: the width of the bounded intervals, over those of Student's t of the same samples (median).",
        _grid(by, "mean: rule", names, SIZES, lambda each: f"{each.width:.2f}" if each.width == each.width else "-"),
        "Before: Student's t, always.",
        _grid(by, "mean: t", names, SIZES, _bold),
        f"Before: the percentile bootstrap, 999 resamples ({samples['mean: percentile bootstrap']:,} samples).",
        _grid(by, "mean: percentile bootstrap", names, SIZES, _bold),
        "## Medians",
        "By the rule, from order statistics; of fewer than 6 values n does not suffice.",
        _grid(by, "median: rule", MEDIANS, OF_MEDIANS, _bold),
        f"Before: the BCa bootstrap ({samples['median: BCa']:,} samples).",
        _grid(by, "median: BCa", MEDIANS, OF_MEDIANS, _bold),
        "## Shares",
        "Computed, without samples: over shares of 1 to 99 % of n runs.",
        table(
            ["n", "mean coverage, mid-p", "least", "mean coverage, Clopper and Pearson"],
            [[str(n), *(_percent(value) for value in shares(n))] for n in SIZES],
            "rrrr",
        ),
        "## Differences and ratios of two treatments",
        f"Means 10 and 10 over 1.2 (or 2), {samples['difference: rule']:,} samples; in brackets those in per cent whose interval is unbounded.",
    ]
    for method, text in (
        ("paired difference: rule", "Paired differences by the rule."),
        ("difference: rule", "Differences of independent runs by the rule."),
        ("paired ratio: rule", "Ratios of means of paired runs by the rule."),
        ("paired ratio: Fieller", "Before: Fieller's interval."),
        ("ratio: rule", "Ratios of means of independent runs by the rule."),
    ):
        worlds = [pair.name for pair in PAIRS if (method, pair.name, OF_PAIRS[0]) in by]
        parts += [text, _grid(by, method, worlds, OF_PAIRS, _with_unbounded)]
    parts += [
        "## Many findings at once",
        "How often one or more true hypotheses are rejected at 5 %, of findings that are tested by Student's t over n runs and adjusted by Holm "
        f"({samples['Holm']:,} families).",
        _grid(by, "Holm", list(FAMILIES), (3, 5, 10), lambda each: _percent(1 - each.coverage)),
        "## Trends within strata",
        f"How often `stats.trend` says at 5 % that there is a trend where there is none: four strata of three levels with n runs each ({samples['trend']:,} designs).",
        _grid(by, "trend", [each for each in names if ("trend", each, 1) in by], OF_TRENDS, lambda each: _percent(1 - each.coverage)),
        f"What the interval of its rho covers, which is approximate ({samples['trend: interval']:,} designs):",
        _grid(by, "trend: interval", list(SLOPES), OF_TRENDS, _bold),
        "## Sequential rules",
        f"Until half the interval's width is a share of the mean, from the least to the most n ({samples['sequential: rule']:,} studies): the rule, what the interval of a fixed n covers where it stops "
        "(that of all figures and verdicts of such a study), and beside it stopping as soon as Student's interval is narrow.",
        table(
            ["Data; share, n", "covers", "fixed n covers", "mean n", "first narrow t covers", "mean n"],
            [
                [course.name, _bold(rule), _bold(fixed), f"{rule.width:.0f}", _bold(first), f"{first.width:.0f}"]
                for course in COURSES
                for rule, fixed, first in (
                    tuple(by[f"sequential: {name}", course.name, 0] for name in ("rule", "plain", "first narrow t")),
                )
            ],
            "lrrrrr",
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _span(of: Sequence[Outcome]) -> str:
    return f"{100 * min(each.coverage for each in of):.1f} to {100 * max(each.coverage for each in of):.1f} %"


def _median(of: Sequence[Outcome]) -> str:
    return _percent(sorted(each.coverage for each in of)[len(of) // 2])


def _bold(outcome: Outcome) -> str:
    if outcome.alike == outcome.count:
        return "-"
    text = f"{100 * outcome.coverage:.1f}"
    return f"**{text}**" if low(outcome) else text


def _with_unbounded(outcome: Outcome) -> str:
    share = 100 * outcome.unbounded / outcome.count
    return _bold(outcome) + (f" ({share:.0f})" if share >= 0.5 else "")


def _of_bounded(outcome: Outcome) -> str:
    bounded = outcome.count - outcome.alike - outcome.unbounded
    return f"{100 * outcome.covered / bounded:.1f}" if bounded >= outcome.count / 50 else "-"


def _grid(by: dict[tuple[str, str, int], Outcome], method: str, worlds: Sequence[str], sizes: Sequence[int], cell: object) -> str:
    rows = [[name, *(cell(by[method, name, n]) for n in sizes)] for name in worlds]  # type: ignore[operator]
    return table(["n =", *map(str, sizes)], rows, "l" + "r" * len(sizes))


if __name__ == "__main__":
    main()
