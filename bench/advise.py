"""How often does `sawtooth advise` call something better that is not?

    .venv/bin/python bench/advise.py --write        (docs/validation/advise.md)

The rule, written before the first of these advices was made:

- An advice is one of the command: eight choices beside the present one, ranked by the goodput of two flows in 5 replicates, of which the best three are held against the present choice and against each other in 10 others. It is made through the same
  functions, studies, results and findings.
- All choices are the same: every arm is done with the scenario of the present choice, and with random numbers of its own, so that arms differ by chance alone. The scenario is 3 s of two flows of CUBIC over 4 Mbit/s and 10 ms, of whose packets 1 % are lost.
- Advice N has the study's seed 1000 + N: 300 advices with a bar of 0, and 200 with the bar that the command has, 5 %.
- An advice is false if any verdict of it is that a choice is better or worse than the present one, or one of the best better than another. With a bar of 0 "not better" is no error, for it is so.

The bars: of N advices no more are false than the 99th percentile of the binomial distribution with N and 0.05, which is what a rule that is wrong in 5 % of advices exceeds in 1 % of cases: of 300 no more than 24, of 200 no more than 18.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from scipy.stats import binom

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import publish, table
from sawtooth import advising
from sawtooth.advising import Advice
from sawtooth.execute import execute
from sawtooth.plan import Plan, Run
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
from sawtooth.study.draws import seed_of

PAGE = Path(__file__).resolve().parents[1] / "docs/validation/advise.md"
CASES = ((0.0, 300), (0.05, 200))
FIRST = 1000
ERRORS, SURE = 0.05, 0.99
SHOWN = ("better", "worse")
SCENARIO = {
    "duration": "3 s",
    "stack": "linux",
    "cc": "cubic",
    "links": {"l": {"rate": "4 Mbit/s", "delay": "10 ms", "loss": 0.01, "queue": {"name": "drop_tail", "limit": "50 packets"}}},
    "flows": [{"name": "a", "path": ["l"], "count": 2}],
}
CONTROLS = ("reno", "bbr", "bbr3", "vegas", "htcp", "westwood", "illinois", "bic")


def alike(plan: Plan) -> Plan:
    """The plan with the scenario of the first arm in all, and other random numbers in each."""
    first = next(iter(plan.study.arms))
    present = {(run.cell, run.replicate): run for run in plan.runs if run.arm == first}

    def same(run: Run) -> Run:
        of = present[run.cell, run.replicate]
        return dataclasses.replace(of, index=run.index, id=run.id, arm=run.arm, seed=seed_of(run.seed, run.arm))

    return dataclasses.replace(plan, runs=[same(run) for run in plan.runs])


def do(plan: Plan, directory: Path) -> Dataset:
    """Does the runs of a plan so."""
    plan = alike(plan)
    dataset = Dataset.create(directory, plan)
    execute(plan, dataset, jobs=2)
    return dataset


def advice(number: int, bar: float) -> Advice:
    """The advice of a number."""
    study = Study.of({"name": "alike", "seed": number, "scenario": SCENARIO})
    made = advising.prepare(study, controls=CONTROLS, queues=["present"], by="goodput", repeat=5, confirm=3, fresh=10, bar=bar)
    with tempfile.TemporaryDirectory() as directory:
        return advising.advise(made, Path(directory) / "r", do)


def falsehoods(found: Advice) -> Iterable[str]:
    """What an advice says that is not so."""
    yield from (each.answer for each in found.judged if each.answer in SHOWN)
    yield from ("better than another" for pair in found.pairs if pair.answer in SHOWN)


def most(number: int) -> int:
    """So many advices may be false."""
    return int(binom.ppf(SURE, number, ERRORS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--try", dest="tried", type=int, default=0, help="make so many advices with other seeds, to see that it works")
    given = parser.parse_args()
    rows: list[list[str]] = []
    leads: list[float] = []
    for bar, number in CASES:
        false, said = 0, Counter[str]()
        numbers = range(1, given.tried + 1) if given.tried else range(FIRST + 1, FIRST + number + 1)
        for at in numbers:
            found = advice(at, bar)
            wrong = list(falsehoods(found))
            false += bool(wrong)
            said.update(wrong)
            leads.append(max(each.in_ranking for each in found.judged if each.answer))
        kinds = ", ".join(f"{count} {what}" for what, count in sorted(said.items())) or "none"
        verdict = "yes" if false <= most(len(numbers)) else "no"
        rows.append(
            [
                f"{100 * bar:.0f} %",
                str(len(numbers)),
                str(false),
                f"{100 * false / len(numbers):.1f} %",
                str(most(len(numbers))),
                verdict,
                kinds,
            ]
        )
        print(f"bar {bar}: {false} of {len(numbers)}: {kinds}", file=sys.stderr)
    header = ["bar of the command", "advices", "false", "share", "may be", "bar met", "verdicts that are not so"]
    publish(TEXT.format(table=table(header, rows, "rrrrrll"), lead=100 * (sum(leads) / len(leads) - 1)), PAGE, write=given.write)


TEXT = """\
# How often does `sawtooth advise` call something better that is not?

Written by `python bench/advise.py --write`. The rule and the bars stand in that script, and were committed before the first of these advices was made; nothing was tuned on them.

An advice ranks eight choices, and holds the best three against the present one and against each other in runs that did not choose them. Here all choices are the same: each is done with the scenario of the present one and random numbers of its own. So every "better" or "worse" is false, and the rule promises them in at most 5 % of advices.

{table}

The best of each ranking led the present choice by {lead:.1f} % in the runs that chose it, on average, which is luck alone: that is why it is not those that are judged.
"""


if __name__ == "__main__":
    main()
