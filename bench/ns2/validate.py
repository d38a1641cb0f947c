"""Run ns-2 and the simulator on the same cases, compare each flow's acknowledged packets, write docs/validation/ns2.md.

    python bench/ns2/validate.py --jobs 2

ns-2's answers are kept (answers.json beside this), because they never change; --fresh asks it again.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cases as series
from peer import Case, PeerError, run_case

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
WITHIN = 0.005
"""Largest relative difference of a flow that is not identical."""


@dataclass(frozen=True)
class Comparison:
    """One case: acknowledged packets of every flow on both simulators."""

    case: Case
    reference: list[int]
    ours: list[int]

    @property
    def identical(self) -> bool:
        return self.reference == self.ours

    @property
    def errors(self) -> list[float]:
        """Relative difference of each flow."""
        pairs = zip(self.reference, self.ours, strict=True)
        return [abs(ours - reference) / max(1, reference) for reference, ours in pairs]

    @property
    def worst(self) -> float:
        return max(self.errors)


def main() -> int:
    options = parse()
    chosen = series.cases(options.count, options.seed)
    started = time.monotonic()
    references = reference_answers(chosen, options.cache, options.jobs, options.fresh)
    ns2_seconds = time.monotonic() - started
    started = time.monotonic()
    ours = our_answers(chosen)
    our_seconds = time.monotonic() - started
    compared = beside(chosen, references, ours)
    second, blind = (
        beside(others, reference_answers(others, options.cache, options.jobs, options.fresh), our_answers(others))
        for others in (series.cases(*series.SECOND), series.cases(*series.BLIND))
    )
    text = page(compared, second, blind, options)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text, encoding="utf-8")
    print(summary(compared))
    print(f"ns-2 {ns2_seconds:.1f} s (kept answers are free), simulator {our_seconds:.1f} s; wrote {options.out}")
    for one in sorted(compared, key=lambda one: -one.worst)[: options.show]:
        if not one.identical:
            print(describe(one), "ns-2", one.reference, "ours", one.ours)
    identical = share(one.identical for one in compared)
    near = all(one.worst <= WITHIN for one in compared)
    return 0 if identical >= 0.9 and near else 1


def beside(chosen: Sequence[Case], references: Sequence[list[int]], ours: Sequence[list[int]]) -> list[Comparison]:
    """Both sides of each case."""
    return [Comparison(case, reference, own) for case, reference, own in zip(chosen, references, ours, strict=True)]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="ns-2 processes at a time")
    parser.add_argument("--count", type=int, default=series.COUNT, help="number of cases")
    parser.add_argument("--seed", type=int, default=series.SEED, help="another series of cases")
    parser.add_argument("--cache", type=Path, default=series.ANSWERS, help="what ns-2 answered, by the case")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "validation" / "ns2.md")
    parser.add_argument("--fresh", action="store_true", help="run ns-2 again on every case")
    parser.add_argument("--show", type=int, default=5, help="differing cases to print")
    return parser.parse_args()


def reference_answers(chosen: Sequence[Case], cache: Path, jobs: int, fresh: bool) -> list[list[int]]:
    """ns-2's acknowledged packets, kept or new."""
    kept: dict[str, list[int]] = {}
    if cache.exists() and not fresh:
        kept = json.loads(cache.read_text(encoding="utf-8"))
    missing = [case for case in chosen if series.key(case) not in kept]

    def ask(case: Case) -> list[int]:
        # Nothing acknowledged, not even the SYN, is -1 there and 0 here.
        return [max(0, acked) for acked in run_case(case).acked]

    if missing:
        with ThreadPoolExecutor(jobs) as pool:
            for done, (case, acked) in enumerate(zip(missing, pool.map(ask, missing), strict=True), 1):
                kept[series.key(case)] = acked
                if done % 20 == 0 or done == len(missing):
                    print(f"ns-2: {done} of {len(missing)} cases", file=sys.stderr, flush=True)
        cache.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f'"{name}": {json.dumps(acked)}' for name, acked in kept.items())
        cache.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return [kept[series.key(case)] for case in chosen]


def our_answers(chosen: Sequence[Case]) -> list[list[int]]:
    """The simulator's acknowledged packets."""
    import sawtooth

    answers: list[list[int]] = []
    for case in chosen:
        flows = sawtooth.simulate(series.scenario(case)).flows
        answers.append([int(acked) for acked in flows["acked_packets"].to_list()])
    return answers


def share(flags: Iterable[bool]) -> float:
    """The share of true ones."""
    listed = list(flags)
    return sum(listed) / len(listed) if listed else math.nan


def summary(compared: Sequence[Comparison]) -> str:
    """The table: one line a variant and one for all."""
    rows: list[list[str]] = []
    for name in [*series.VARIANTS, "all"]:
        part = [one for one in compared if name in ("all", one.case["variant"])]
        if not part:
            continue
        flows = [error for one in part for error in one.errors]
        same = sum(one.identical for one in part)
        rows.append([
            name, str(len(part)), f"{same} ({same / len(part):.1%})", f"{max(one.worst for one in part):.3%}", str(len(flows)),
            f"{sum(error == 0 for error in flows)} ({share(error == 0 for error in flows):.2%})",
        ])  # fmt: skip
    return table(["Variant", "Cases", "Identical in every flow", "Largest difference", "Flows", "Identical flows"], rows, "lrrrrr")


def page(compared: Sequence[Comparison], second: Sequence[Comparison], blind: Sequence[Comparison], options: argparse.Namespace) -> str:
    """The page of the documentation."""
    differing = sorted((one for one in compared if not one.identical), key=lambda one: -one.worst)
    errors = sorted(error for one in compared for error in one.errors)
    bounds = [0.0, 1e-5, 1e-4, 1e-3, WITHIN, 0.05, math.inf]
    shares = [
        [
            "0" if low == high == 0 else f"up to {high:.3%}" if high < math.inf else f"above {low:.0%}",
            str(sum(low < error <= high if high else error == 0 for error in errors)),
        ]
        for low, high in zip([0.0, *bounds], bounds, strict=False)
    ]
    parts = [
        "# The simulator against ns-2",
        "Written by `python bench/ns2/validate.py`; ns-2 is the Debian package (2.35), used as a black box.",
        f"{len(compared)} random dumbbells (`bench/ns2/cases.py`, seed {options.seed}) run on both, with the preset "
        '`stack = "ns2"`. Compared is `acked_packets`, the highest cumulatively acknowledged packet of each flow '
        "(`ack_` of ns-2), when the run ends. Goal: identical in at least 90 % of the cases, within 0.5 % in the rest.",
        summary(compared),
        "## Differences, flow by flow",
        table(["Relative difference", "Flows"], shares, "lr"),
        "## Cases that differ",
        differing_table(differing) if differing else "None.",
        f"The same of another series: {of_series(second, series.SECOND)}",
        f"The simulator was mended with these cases in sight. With a third series, which was drawn afterwards, in sight nothing was: {of_series(blind, series.BLIND)}",
        "## What the cases cover",
        coverage([one.case for one in compared]),
    ]
    return "\n\n".join(parts) + "\n"


def of_series(others: Sequence[Comparison], drawn: tuple[int, int]) -> str:
    """What another series shows: each case that differs, with its worst flow."""
    same = sum(one.identical for one in others)
    said = [f"{same} of {len(others)} cases of `cases({drawn[0]}, {drawn[1]})` are identical."]
    for one in others:
        if not one.identical:
            case, at = one.case, max(range(len(one.errors)), key=one.errors.__getitem__)
            said.append(
                f"Case {case['number']} (`{case['variant']}`, {case['n']} flows) is not: flow {at + 1} has {one.ours[at]:,} packets acknowledged here and "
                f"{one.reference[at]:,} in ns-2. Why is not known."
            )
    return " ".join(said)


def differing_table(differing: Sequence[Comparison]) -> str:
    """The worst first."""
    header = ["Case", "Variant", "Rate", "Delay", "Flows", "Queue", "Window", "Packets (ns-2)", "Packets (ours)", "Largest difference"]
    rows: list[list[str]] = []
    for one in differing:
        case = one.case
        rows.append([
            str(case["number"]), case["variant"], f"{case['bw_bps'] / 1e6:.3g} Mbit/s", f"{case['delay_s'] * 1e3:.3g} ms", str(case["n"]),
            str(case["queue"]), str(case["window"]), str(sum(one.reference)), str(sum(one.ours)), f"{one.worst:.3%}",
        ])  # fmt: skip
    return table(header, rows, "rlrrrrrrrr")


def coverage(chosen: Sequence[Case]) -> str:
    """The range of every parameter."""
    columns: list[tuple[str, list[float], str]] = [
        ("rate", [case["bw_bps"] / 1e6 for case in chosen], "Mbit/s"),
        ("one-way delay of the bottleneck", [case["delay_s"] * 1e3 for case in chosen], "ms"),
        ("flows", [case["n"] for case in chosen], ""),
        ("queue", [case["queue"] for case in chosen], "packets"),
        ("window limit", [case["window"] for case in chosen], "packets"),
        ("packet size", [case["packet_size"] for case in chosen], "bytes"),
        ("duration", [case["duration"] for case in chosen], "s"),
    ]
    rows: list[list[str]] = []
    for name, values, unit in columns:
        ordered = sorted(values)
        low, middle, high = (f"{value:.4g} {unit}".strip() for value in (ordered[0], ordered[len(ordered) // 2], ordered[-1]))
        rows.append([name, low, middle, high])
    lines = [table(["Parameter", "Least", "Median", "Most"], rows, "lrrr"), ""]
    kinds = {
        "one link and no access links": lambda case: case["single"],
        "delayed acknowledgements": lambda case: case["sink"] == "delack",
        "a slower way back": lambda case: case["reverse_bps"] < case["bw_bps"],
        "access links like the bottleneck, so that everything keeps step": lambda case: (
            not case["single"] and case["access_queue"] == case["queue"]
        ),
    }
    lines += [f"- {sum(map(kind, chosen))} cases have {words}." for words, kind in kinds.items()]
    return "\n".join(lines)


def describe(one: Comparison) -> str:
    """One case in a line."""
    shown: dict[str, Any] = {
        name: one.case[name] for name in ("number", "variant", "n", "single", "bw_bps", "delay_s", "queue", "window", "duration")
    }
    return f"{one.worst:.4%} {shown}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PeerError as error:
        sys.exit(f"error: {error}")
