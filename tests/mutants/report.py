"""docs/validation/mutants.md and the figures it has before and after."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

from tests.mutants.outcome import SEEN, UNSEEN, Outcome

AREAS = {"cc": "`cc/`", "queue": "`queue/`", "tcp": "`tcp/`", "stats": "`stats/`", "metrics": "`metrics/`"}
PAGE = Path("docs/validation/mutants.md")
SCORES = Path("docs/validation/mutants.csv")
ARGUMENTS = Path(__file__).with_name("arguments.toml")
# Those of the first runs, and the sets of the present one.
HALVES = ("studied", "held out")
SETS = {"read": "read", "fresh": "not read", "other": "others"}
_TEXT = Path(__file__).with_name("page.md")


def count(outcomes: Sequence[Outcome], when: str) -> None:
    """Replaces what `SCORES` has of these areas and this time."""
    areas = {each.mutant.area for each in outcomes}
    rows = [row for row in scores() if row["when"] != when or row["area"] not in areas]
    for area in AREAS:
        for of in SETS:
            viable = [each for each in outcomes if each.mutant.area == area and each.of == of and each.fate != "unviable"]
            if not viable:
                continue
            seen = [each for each in viable if each.fate in SEEN]
            rows.append({
                "when": when, "area": area, "half": of, "mutants": str(len(viable)),
                "unit": str(sum(each.stage == "unit" for each in seen)), "all": str(len(seen)),
                "argued": str(sum(argument(each) is not None for each in viable if each.fate not in SEEN)),
            })  # fmt: skip
    with SCORES.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def scores() -> list[dict[str, str]]:
    """What `count` has written."""
    if not SCORES.exists():
        return []
    with SCORES.open() as file:
        return list(csv.DictReader(file))


def argument(outcome: Outcome) -> str | None:
    """Why a mutant need not be seen."""
    for row in _arguments():
        if re.fullmatch(row["key"], outcome.mutant.key):
            return row["why"]
    return None


def _arguments() -> list[dict[str, str]]:
    return tomllib.loads(ARGUMENTS.read_text())["argument"]


def page(outcomes: Sequence[Outcome]) -> str:
    """The page, of the outcomes as they are now."""
    # Whoever reads the survivors of those that nobody has read must draw others.
    left = [each for each in outcomes if each.fate in UNSEEN and each.of != "fresh"]
    argued = {each.mutant.key: reason for each in left if (reason := argument(each))}
    open_ = [each for each in left if each.mutant.key not in argued]
    return _TEXT.read_text().format(
        scores=_scores(),
        first_runs=_first_runs(),
        held_out=_held_out(),
        kinds=_kinds(outcomes),
        arguments=_argued(left, argued),
        open=len(open_),
        survivors=_survivors(open_),
    )


def _scores() -> str:
    lines = [
        "| Area | Set | Mutants | Seen by unit tests | ... or by tests from outside | ... or argued | Left |",
        f"|---|---|{'---:|' * 5}",
    ]
    for area, name in AREAS.items():
        for of, words in SETS.items():
            for row in (row for row in scores() if (row["area"], row["when"], row["half"]) == (area, "now", of)):
                mutants, unit, all_, argued = (int(row[column]) for column in ("mutants", "unit", "all", "argued"))
                share = _share(row) if of == "fresh" else f"{all_ / mutants:.1%}"
                lines.append(
                    f"| {name} | {words} | {mutants:,} | {unit / mutants:.1%} | {share} | {(all_ + argued) / mutants:.1%} | {mutants - all_ - argued} |"
                )
    return "\n".join(lines)


def _first_runs() -> str:
    lines = ["| Area | When | Mutants | Seen by unit tests | ... or by tests from outside |", "|---|---|---:|---:|---:|"]
    for area, name in AREAS.items():
        for when in ("before", "after"):
            rows = [row for row in scores() if row["area"] == area and row["when"] == when]
            if rows:
                mutants, unit, all_ = (sum(int(row[column]) for row in rows) for column in ("mutants", "unit", "all"))
                every = f"{all_ / mutants:.1%}" if all_ > unit else "not run"
                lines.append(f"| {name} | {when} | {mutants:,} | {unit / mutants:.1%} | {every} |")
    return "\n".join(lines)


def _held_out() -> str:
    lines = ["| Area | Half | Mutants | Before | After |", "|---|---|---:|---:|---:|"]
    for area, name in AREAS.items():
        for half in HALVES:
            found = {row["when"]: row for row in scores() if row["area"] == area and row["half"] == half}
            if len(found) == 2:
                lines.append(
                    f"| {name} | {half} | {int(found['after']['mutants']):,} | {_share(found['before'])} | {_share(found['after'])} |"
                )
    return "\n".join(lines)


def _share(row: dict[str, str]) -> str:
    n, seen = int(row["mutants"]), int(row["all"])
    low, high = wilson(seen, n)
    return f"{seen / n:.1%} ({low:.1%} to {high:.1%})"


def wilson(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    share = successes / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


def _kinds(outcomes: Sequence[Outcome]) -> str:
    fates = ("killed", "endless", "survived", "unreached", "unviable")
    counts = Counter((each.mutant.kind, each.fate) for each in outcomes)
    lines = [f"| Kind | {' | '.join(fates)} |", f"|---|{'---:|' * len(fates)}"]
    lines += [
        f"| {kind} | {' | '.join(f'{counts[kind, fate]:,}' for fate in fates)} |" for kind in dict.fromkeys(kind for kind, _ in counts)
    ]
    return "\n".join(lines)


def _argued(left: Sequence[Outcome], argued: dict[str, str]) -> str:
    lines = []
    for reason in dict.fromkeys(row["why"] for row in _arguments()):
        mine = [each for each in left if argued.get(each.mutant.key) == reason]
        if mine:
            lines.append(
                f"- {reason}\n  {len(mine)}: "
                + "; ".join(f"`{_place(each)}` {_code(each)}" for each in mine[:6])
                + (" ..." if len(mine) > 6 else "")
            )
    return "\n".join(lines)


def _survivors(left: Sequence[Outcome]) -> str:
    lines = []
    for area, name in AREAS.items():
        mine = sorted((each for each in left if each.mutant.area == area), key=lambda each: (each.mutant.file, each.mutant.line))
        if mine:
            lines.append(f"\n{name}, {len(mine)}:\n")
            lines += [f"- `{_place(each)}` {_code(each)}" for each in mine]
    return "\n".join(lines)


def _place(each: Outcome) -> str:
    return f"{each.mutant.file}:{each.mutant.line}"


def _code(each: Outcome) -> str:
    return each.mutant.what.replace("|", "\\|")
