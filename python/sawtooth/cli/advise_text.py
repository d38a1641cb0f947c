"""What `sawtooth advise` says and writes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from sawtooth import measures, outputs, streams
from sawtooth.advising import Advice, Experiment, Judged
from sawtooth.advising.experiment import BETTER, NO_NEIGHBOUR, ONE_SCENARIO
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.report import report as make_report
from sawtooth.results.dataset import Dataset
from sawtooth.scales import number, p_value, scale
from sawtooth.stats import Interval
from sawtooth.study import Study

_MOST_RANKED = 12
"""Lines of the ranking that a terminal shows."""


_MARK = "# Asked by `sawtooth advise`"
"""How its studies begin."""


def require_kept(made: Experiment, file: Path, *, force: bool) -> None:
    """Refuses a place from which the studies would not find the files that they name, and files that this command did not write, unless it is told to replace them.

    Raises:
        StudyError: that says so.

    """
    if file.suffix != ".toml":
        raise StudyError(f"a study is a TOML file, and {file} is not called like one", hint=f"name {file.with_suffix('.toml')}")
    if file.resolve() == made.setting.study.path.resolve():
        raise StudyError(f"{file} is the study that is asked about", hint="name another file with --study")
    for place in (file, file.with_name(f"{file.stem}-verdict{file.suffix}")):
        outputs.require(place, "a study", [made.setting.study.path])
        if not force:
            outputs.require_own(place, "study that `sawtooth advise` wrote", _MARK, "--force")
    try:
        make_plan(Study.parse(made.ranking().document.text, file, files=not made.setting.study.folder.shut))
    except StudyError as error:
        raise StudyError(
            f"{file} would not find what the study names: {error.message}", hint=f"put it into {made.setting.study.path.parent}"
        ) from None


def keep(found: Advice, file: Path) -> list[Path]:
    """Writes both experiments as studies."""
    files = {file: found.studies[0], file.with_name(f"{file.stem}-verdict{file.suffix}"): found.studies[1]}
    for place, study in files.items():
        head = f"{_MARK} of {found.experiment.setting.study.path.name}: an experiment of its advice.\n"
        outputs.write(place, (head + study.document.text).encode(), "a study")
    return list(files)


def report(found: Advice) -> Path:
    """Writes the report of the verdicts."""
    return make_report(Dataset.open(found.directory)).write(found.directory / "report")


def show(found: Advice) -> None:
    """Prints the verdicts, the ranking and the advice."""
    # A pipe gets whole lines of plain text, a terminal what fits it.
    console = streams.Console() if sys.stdout.isatty() else streams.Console(width=1000)
    console.print(_verdicts(found))
    for line in lines(found):
        print(line)
    for note in (each for each in found.notes if each != ONE_SCENARIO):
        print(f"note: {note}", file=sys.stderr)


def lines(found: Advice) -> Iterator[str]:
    """What stands below the table of verdicts."""
    rule = found.experiment.rule
    yield f"times: of the present choice, with the 95 % interval, in {rule.fresh} replicates that chose nothing; p: adjusted for all verdicts (Holm)"
    for pair in found.pairs:
        chance = "" if pair.p is None else f", {p_value(pair.p)}"
        by = f" by more than {100 * rule.bar:.3g} %" if rule.bar and pair.answer in {BETTER, f"not {BETTER}"} else ""
        times = f", {_times(pair.ratio)} times" if pair.ratio is not None else ""
        yield f"{pair.first.name} against {pair.second.name}: {pair.answer}{by}{times}{chance}"
    yield ""
    yield found.words
    if ONE_SCENARIO in found.notes:
        yield f"{ONE_SCENARIO[0].upper()}{ONE_SCENARIO[1:]}."
    if rule.beside is None:
        yield NO_NEIGHBOUR
    yield ""
    divisor, unit = _scale(found)
    yield f"The ranking, by {rule.objective.name} in {rule.repeat} other replicates, which chose what is judged and prove nothing:"
    for at, each in enumerate(found.ranking[:_MOST_RANKED], 1):
        value = (
            "nothing tells it" if math.isnan(each.value) else f"{'' if each.finished else 'at least '}{number(each.value / divisor)} {unit}"
        )
        equal = f" (in every run equal to: {each.equal.name})" if each.equal is not None else ""
        yield f"{at:3}  {value:>16}  {each.choice.name}{equal}"
    if len(found.ranking) > _MOST_RANKED:
        yield f"... and {len(found.ranking) - _MOST_RANKED} more; --json lists all"


def as_json(found: Advice) -> dict[str, Any]:
    """For other programs, in base units: an end that is not bounded is null."""
    rule = found.experiment.rule
    return {
        "rule": {
            "objective": rule.objective.name, "measure": rule.objective.asked.metric, "unit": measures.measure(rule.objective.asked.metric).unit,
            "more_is_better": rule.objective.more, "repeat": rule.repeat, "confirm": rule.confirm, "fresh": rule.fresh, "bar": rule.bar, "beside": rule.beside,
            "vary": rule.vary, "words": rule.words(len(found.experiment.others)),
        },
        "present": found.experiment.present.name,
        "verdicts": [_row(each) for each in found.judged],
        "pairs": [{"choice": each.first.name, "than": each.second.name, "verdict": each.answer, "ratio": _interval(each.ratio), "p": each.p} for each in found.pairs],
        "ranking": [{"choice": each.choice.name, "value": _finite(each.value), "finished": each.finished, "equal_to": each.equal.name if each.equal else None} for each in found.ranking],
        "advice": found.words,
        "caveats": found.experiment.setting.caveats,
        "notes": list(found.notes),
    }  # fmt: skip


def _row(each: Judged) -> dict[str, Any]:
    harm = each.harm
    return {
        "choice": each.choice.name, "verdict": each.answer or None, "value": _interval(each.value), "finished": each.finished, "ratio": _interval(each.ratio), "ratio_in_ranking": _finite(each.in_ranking),
        "p": each.p, "numbers": each.words or None, "goodput_bps": _finite(each.goodput_bps), "wait_p95_ns": _finite(each.delay_ns),
        **({"harm": {"share": _interval(harm.share), "own_kind": _interval(harm.own_kind), "verdict": harm.verdict}} if harm else {}),
    }  # fmt: skip


def _interval(found: Interval | None) -> dict[str, Any] | None:
    return (
        None
        if found is None
        else {"estimate": _finite(found.estimate), "low": _finite(found.low), "high": _finite(found.high), "kind": found.kind, "n": found.n}
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _scale(found: Advice) -> tuple[float, str]:
    """What values of the objective are divided by, and the unit that they then have."""
    unit = measures.measure(found.experiment.rule.objective.asked.metric).unit
    return scale(unit, [each.value for each in found.ranking if math.isfinite(each.value)])


def _verdicts(found: Advice) -> Table:
    divisor, unit = _scale(found)
    table = Table(box=None, pad_edge=False)
    harmed = found.experiment.rule.beside
    headings = [
        "choice",
        "verdict",
        "times present",
        "p",
        f"{found.experiment.rule.objective.name}{f' ({unit})' if unit else ''}",
        "goodput",
        "wait, p95",
    ]
    for heading in [*headings, *([f"harm to {harmed}", "of its own kind", "harm is"] if harmed else [])]:
        table.add_column(heading, justify="left" if heading in ("choice", "verdict", "harm is") else "right")
    for each in found.judged:
        harm = [_percent(each.harm.share), _percent(each.harm.own_kind), each.harm.verdict] if each.harm else []
        # What a study calls things is text: nothing in it is a style.
        table.add_row(*map(Text, [
            each.choice.name, each.answer, _times(each.ratio), _chance(each),
            f"{'' if each.finished else '≥ '}{number(each.value.estimate / divisor)}", _in_unit(each.goodput_bps, "bit/s"), _in_unit(each.delay_ns, "ns"), *harm,
        ]))  # fmt: skip
    return table


def _times(ratio: Interval | None) -> str:
    if ratio is None:
        return ""
    if ratio.kind.startswith("no variation"):
        return f"{ratio.estimate:.3g} (no variation)"
    ends = f" ({ratio.low:.3g} to {ratio.high:.3g})" if math.isfinite(ratio.high - ratio.low) and ratio.low < ratio.high else ""
    return f"{ratio.estimate:.3g}{ends}"


def _chance(each: Judged) -> str:
    """The p-value; in words where chance has no part."""
    if each.p is None:
        return "no variation" if each.answer else ""
    return p_value(each.p).removeprefix("p ").removeprefix("= ")


def _percent(share: Interval) -> str:
    return f"{100 * share.estimate:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"


def _in_unit(value: float, unit: str) -> str:
    if math.isnan(value):
        return "-"
    divisor, shown = scale(unit, [value])
    return f"{value / divisor:.4g} {shown}"
