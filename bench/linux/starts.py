"""What does not repeat itself, on a real kernel and in the simulator: distributions over ten starts, and whether they can be told apart.

    python bench/linux/starts.py --keep DIR                # prints the table; the kernel's values stay in DIR, and are not run again
    python bench/linux/starts.py --set starts-train        # those that may be looked at
    python bench/linux/starts.py --keep DIR --write        # docs/validation/linux-starts.md

The rule, written before any of these was run:

- Scenario N of the set "starts-2" is drawn as in `fuzz.py`, N from 1 on. Those of bbr, cdg and nv and those with more than one flow are taken, until there are 40. Whatever is tuned is tuned on the set "starts-train".
- Each is run ten times on both sides. In run K, from 0 on, all flows begin 7 K ms later, and the seed, of losses and of what a congestion control draws, is K + 1.
- Of each flow there are ten values of each side of goodput, packets with data, retransmissions, the mean round trip of acknowledgements and the mean window.
- Both distributions are held against each other by the two-sample test of Kolmogorov and Smirnov, exact, and the tests of a scenario together by Holm's method, at 5 %. A scenario is *told apart* if one of them is.
- Round trips are in whole microseconds, as the kernel tells them. A further column leaves out what differs by less than a thousandth in the mean: with spreads as small as some are, that is told apart as well.
- There was a set "starts" before, of which 25 of 40 were not told apart on 30 November. Then it was looked at, start by start: most of the others differed by half a microsecond of the mean round trip, and 36 were not told apart when the simulator
  estimated round trips as the kernel does, 35 after what else was mended. So this set is another. Its kernels ran before the simulator was mended for the last time, and nothing of them was looked at before this table.
- The simulator is given this kernel's clock, as `fuzz.py` tells; in the guest one run begins at another of its microseconds than the next, which it is not given.
- At least 90 % are wanted not to be told apart; a kernel beside itself would not be in 95 % or more.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp
from sides import Side, sides
from validity import commit, ended, measures

from fuzz import DETERMINISTIC, OTHERS, SHIFT_MS, drawn, later
from sawtooth.backends import uml
from sawtooth.fidelity import MEASURES
from sawtooth.stats import holm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import publish, table

PAGE = Path(__file__).resolve().parents[2] / "docs/validation/linux-starts.md"
SET, TUNED_ON, NUMBER, STARTS, LEVEL = "starts-2", "starts-train", 40, 10, 0.05
SMALL = 0.001
NEVER_ALIKE = ("bbr", "cdg", "nv")

Values = dict[str, dict[str, list[float]]]
"""Of each flow and measure, what each start gave."""


@dataclass(frozen=True)
class Test:
    """Both distributions of a measure of a flow."""

    flow: str
    measure: str
    p: float
    kernel: float
    simulator: float

    @property
    def tells(self) -> bool:
        """Whether it tells both sides apart."""
        return self.p < LEVEL


@dataclass(frozen=True)
class Beside:
    """A scenario: its number, its congestion control, and of each flow and measure the p-value that Holm's method gives, and both means."""

    number: int
    cc: str
    tests: Sequence[Test]

    @property
    def apart(self) -> bool:
        """Whether one of its tests tells both sides apart."""
        return any(test.tells for test in self.tests)

    @property
    def far_apart(self) -> bool:
        """Whether one does of means that differ by a thousandth or more."""
        return any(test.tells and abs(test.simulator - test.kernel) >= SMALL * abs(test.kernel) for test in self.tests)


def taken(of: str) -> Iterator[int]:
    """The numbers of the scenarios of a set."""
    for number in count(1):
        tree = drawn(of, number)
        if tree["cc"] in NEVER_ALIKE or len(tree["flows"]) > 1:
            yield number


def starts(tree: Mapping[str, Any], *, on_kernel: bool) -> Values:
    """What each start gave on one side."""
    trees = [later(tree, SHIFT_MS * at) for at in range(STARTS)]
    found: Values = {}
    for side in sides(trees, on_kernel=on_kernel, seeds=range(1, STARTS + 1)):
        for flow, values in _values(side).items():
            for measure, value in values.items():
                found.setdefault(flow, {}).setdefault(measure, []).append(value)
    return found


def _values(side: Side) -> dict[str, dict[str, float]]:
    """A measure that there is not, as a round trip of nothing that was acknowledged, is none."""
    return {flow: {name: values[name] or 0.0 for name in MEASURES} for flow, values in measures(side, ended(side)).items()}


def kernels(of: str, number: int, keep: Path | None) -> Values:
    """The kernel's values, which are kept."""
    path = keep / f"{of}-{number}.json" if keep else None
    if path and path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    found = starts(drawn(of, number), on_kernel=True)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def beside(number: int, tree: Mapping[str, Any], kernel: Values, simulator: Values) -> Beside:
    """Both sides held against each other."""
    pairs = [(flow, name, kernel[flow][name], simulator[flow][name]) for flow in kernel for name in kernel[flow]]
    p_values = [ks_2samp(theirs, ours, method="exact").pvalue for _, _, theirs, ours in pairs]
    held = holm([float(p) for p in p_values])
    tests = [
        Test(flow, name, p, float(np.mean(theirs)), float(np.mean(ours))) for (flow, name, theirs, ours), p in zip(pairs, held, strict=True)
    ]
    return Beside(number, tree["cc"], tests)


def summary(found: Sequence[Beside]) -> str:
    """How many of each congestion control are told apart."""
    rows: list[list[str]] = []
    for name in (*DETERMINISTIC, *OTHERS):
        own = [each for each in found if each.cc == name]
        if own:
            apart = [f"{each.number}" for each in own if each.apart]
            rows.append([name, f"{len(own)}", f"{len(own) - len(apart)}", f"{sum(not each.far_apart for each in own)}", ", ".join(apart)])
    alike, near = (sum(not getattr(each, how) for each in found) for how in ("apart", "far_apart"))
    rows.append(["**all**", f"{len(found)}", f"{alike} ({alike / len(found):.0%})", f"{near} ({near / len(found):.0%})", ""])
    return table(["", "Scenarios", "not told apart", "nor by a thousandth", "told apart"], rows, "lrrrl")


def differences(found: Sequence[Beside]) -> str:
    """Every test that tells both sides apart."""
    rows = [
        [f"{each.number}", each.cc, test.flow, test.measure, f"{test.kernel:.4g}", f"{test.simulator:.4g}", f"{test.p:.2g}"]
        for each in found
        for test in each.tests
        if test.tells
    ]
    return table(["Scenario", "", "flow", "", "kernel, mean", "simulator, mean", "p"], rows, "rlllrrr")


def page(found: Sequence[Beside]) -> str:
    """What is written."""
    assert __doc__
    rule = __doc__.split("was run:\n\n")[1].strip()
    return f"""<!-- Written by bench/linux/starts.py --write; edit that. -->

# What does not repeat itself, beside Linux: distributions over ten starts

{len(found)} scenarios, Linux {uml.modules().release}, the simulator of commit `{commit()}`, {date.today().isoformat()}. The rule, which was written before any of these was run:

{rule}

{summary(found)}

## What told them apart

Goodput in bit/s, round trips in ns, windows in bytes; p after Holm's method.

{differences(found)}
"""


def main() -> None:
    """Runs both sides and prints or writes what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="a folder for the kernel's values, which are not run again")
    parser.add_argument("--number", type=int, default=NUMBER, help="scenarios")
    parser.add_argument("--set", default=SET, choices=(SET, TUNED_ON))
    parser.add_argument("--kernels", action="store_true", help="run the kernel alone, into --keep, and show nothing")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    if options.write and options.set != SET:
        parser.error("the page is of the set that nothing was tuned on: leave out --set")
    if options.kernels and not options.keep:
        parser.error("--kernels is for --keep: where should its values go?")
    found: list[Beside] = []
    for number in islice(taken(options.set), options.number):
        tree, kernel = drawn(options.set, number), kernels(options.set, number, options.keep)
        if not options.kernels:
            found.append(beside(number, tree, kernel, starts(tree, on_kernel=False)))
        print(number, *("told apart" for each in found[-1:] if each.apart), file=sys.stderr, flush=True)
    if found:
        publish(page(found), PAGE, write=options.write)


if __name__ == "__main__":
    main()
