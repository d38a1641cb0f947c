"""The validity map: where the simulator's `linux` stack was compared with Linux, and how far apart both were, as a table that comes along and a page.

    python bench/linux/fuzz.py --number 68 --write     # runs scenarios on both sides; their rows, that page and this
    python bench/linux/fuzz.py --number 68 --map       # the same without the page of packets; rows of other numbers stay
    python bench/linux/validity.py                     # runs nothing: rows of docs/validation/linux.csv anew, and the page of what is there

`sawtooth doctor --fidelity STUDY` answers from the table (`python/sawtooth/fidelity`), which has the rule for what is near.
"""

from __future__ import annotations

import csv
import importlib.machinery
import re
import subprocess
import sys
import types
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import validity_page

from sawtooth.fidelity import MEASURES, Compared, Situation, asked
from sawtooth.fidelity.compared import FIXED, FRESH, TABLE, TRAIN, read, write
from sawtooth.plan import make_plan
from sawtooth.study import Study

if TYPE_CHECKING:
    from sides import Side

    from fuzz import Compared as OnBoth

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/validation"
AGREEMENT, AGREEMENT_PAGE = FOLDER / "linux.csv", FOLDER / "linux.md"


def row(of: str, each: OnBoth, release: str, commit: str) -> Compared:
    """The row of a scenario of a set."""
    (place,) = situations(each.tree)
    return Compared(of, str(each.number), release, date.today().isoformat(), commit, place, each.kind, each.apart, each.itself)


def situations(tree: Mapping[str, Any]) -> list[Situation]:
    """Where a scenario's flows are on the map, those that are alike once."""
    found = [each.situation for each in asked(make_plan(Study.of(tree)))]
    assert None not in found, f"no place for {tree}"
    return [each for each in found if each is not None]


def apart(one: Side, other: Side) -> dict[str, float | None]:
    """How far the second side is from the first, as a share of the first's: of each measure the flow that has the largest difference."""
    every = apart_of_flows(one, other)
    return {name: max(of, key=abs) if of else None for name, of in every.items()}


def apart_of_flows(one: Side, other: Side) -> dict[str, list[float]]:
    """The same of each flow of which it is known."""
    # A transfer that only one side ended is held against the other over the run, as both can be.
    both = ended(one) & ended(other)
    of_one, of_other = measures(one, both), measures(other, both)
    found: dict[str, list[float]] = {}
    for name in MEASURES:
        every = [share(theirs[name], of_other[flow][name], counts=name == "retransmits") for flow, theirs in of_one.items()]
        found[name] = [value for value in every if value is not None]
    return found


def ended(side: Side) -> set[str]:
    """The flows whose transfer one side ended."""
    return {flow["flow"] for flow in side.flows.to_dicts() if flow["completion_ns"]}


def measures(side: Side, done: Collection[str]) -> dict[str, dict[str, float | None]]:
    """Of each flow goodput, packets with data, those sent again, the mean round trip at acknowledgements and the mean window over time.

    Args:
        side: of a comparison.
        done: transfers that ended: theirs is what was until the last byte was delivered, others' until the run ended.

    """
    found: dict[str, dict[str, float | None]] = {}
    for flow in side.flows.to_dicts():
        name, lasted = flow["flow"], flow["completion_ns"] if flow["flow"] in done else None
        packets, again = side.counts().get(name, (0, 0))
        until = flow["start_ns"] + lasted if lasted else side.duration_ns
        # What comes after a transfer is the end of the connection, of which one side tells more than the other.
        samples = side.series.filter(pl.col("flow") == name, pl.col("srtt_ns") > 0, pl.col("t_ns") <= until).sort("t_ns")
        found[name] = {
            "goodput": flow["delivered_bytes"] * 8e9 / lasted if lasted else flow["goodput_bps"],
            "packets": packets,
            "retransmits": again,
            # In whole microseconds, as the kernel tells them.
            "rtt": float((samples["srtt_ns"].to_numpy() // 1000 * 1000).mean()) if samples.height else None,
            "cwnd": over_time(samples["t_ns"].to_numpy(), samples["cwnd_bytes"].to_numpy(), until),
        }
    return found


def over_time(times: np.ndarray[Any, Any], values: np.ndarray[Any, Any], until: float) -> float | None:
    """The mean of what stays as it is between samples, from the first of them on."""
    lasting = np.diff([*times, until])
    return float((values * lasting).sum() / lasting.sum()) if len(times) and lasting.sum() > 0 else None


def share(one: float | None, other: float | None, *, counts: bool = False) -> float | None:
    """The difference as a share of the first; of counts that may be none, a share of one at least."""
    if one is None or other is None:
        return None
    if counts:
        return (other - one) / max(one, 1)
    return other / one - 1 if one else None


def fixed() -> list[Compared]:
    """Rows of the fixed scenarios of docs/validation/linux.csv, single runs: packets and mean windows are not in it."""
    # By its path: another program is called `validate`, too.
    path = Path(__file__).with_name("validate.py")
    loader = importlib.machinery.SourceFileLoader("linux_validate", str(path))
    fixed_scenarios = types.ModuleType(loader.name)
    fixed_scenarios.__file__ = str(path)
    sys.modules[loader.name] = fixed_scenarios
    loader.exec_module(fixed_scenarios)

    release = re.findall(r"Kernel: Linux (\S+) as", AGREEMENT_PAGE.read_text(encoding="utf-8"))[0]
    made_by, day = _when_agreement()
    found: list[Compared] = []
    with AGREEMENT.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for cc in dict.fromkeys(line["cc"] for line in lines):
        for case, tree in fixed_scenarios.CASES.items():
            if "drop" in tree["links"]["l"]:
                continue
            own = [line for line in lines if (line["cc"], line["case"]) == (cc, case)]
            places = situations({**fixed_scenarios.with_feedback(tree, cc), "cc": cc})
            for line, place in zip(own, places, strict=True):
                name = case if len(own) == 1 else f"{case}, {line['flow']}"
                found.append(
                    Compared(FIXED, name, release, day, made_by, place, "", _of_line(line, "first_"), _of_line(line, "kernel_itself_"))
                )
    return found


def _when_agreement() -> list[str]:
    """The simulator's commit and the day of the table beside Linux: of the commit that has it, or else it is of now."""
    if _git("status", "--porcelain", "--", str(AGREEMENT)).strip():
        return [commit(), date.today().isoformat()]
    written, day = _git("log", "-1", "--format=%h %cs", "--", str(AGREEMENT)).split()
    return [_git("log", "-1", "--format=%h", written, "--", "crates").strip(), day]


def _of_line(line: Mapping[str, str], of: str) -> dict[str, float | None]:
    goodput, completion, rtt = (float(text) if (text := line[f"{of}{key}"]) else None for key in ("goodput", "completion", "rtt"))
    # What a transfer takes is its size over its goodput.
    goodput = 1 / (1 + completion) - 1 if completion is not None else goodput
    # Where the kernel does not reproduce itself the file has means over starts, which part less than single runs;
    # of its goodput also what single runs spread.
    steady, again = line["starts"] == "1", None
    if of == "first_" and steady:
        again = share(float(line["kernel_retransmits"]), float(line["retransmits"]), counts=True)
    elif not steady and of != "first_":
        goodput, rtt = float(line["kernel_spread"]), None
    return {"goodput": goodput, "packets": None, "retransmits": again, "rtt": rtt, "cwnd": None}


def commit() -> str:
    """The last that changed the simulator, with a + if its sources have changed since."""
    changed = _git("status", "--porcelain", "--", "crates")
    return _git("log", "-1", "--format=%h", "--", "crates").strip() + ("+" if changed.strip() else "")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def renew(made: Sequence[Compared], *, whole: bool) -> None:
    """Puts rows into the table, with those of the fixed scenarios anew, and writes the page.

    Args:
        made: rows of one set.
        whole: whether they are all of that set; else those of other numbers stay.

    """
    there = read(TABLE) if TABLE.exists() else []
    sets, numbers = {each.set for each in made}, {(each.set, each.scenario) for each in made}
    # Rows of a set that was fresh once are of an older simulator.
    kept = [each for each in there if each.set in (FRESH, TRAIN)]
    drawn = [each for each in kept if (each.set not in sets if whole else (each.set, each.scenario) not in numbers)]
    drawn = sorted([*drawn, *made], key=lambda each: (each.set, int(each.scenario)))
    rows = [*drawn, *fixed()]
    write(rows)
    validity_page.publish(read(TABLE), FOLDER)


if __name__ == "__main__":
    renew([], whole=False)
