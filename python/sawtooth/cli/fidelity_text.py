"""What `sawtooth doctor --fidelity` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from sawtooth.counted import counted, form
from sawtooth.fidelity import REACH, Answer
from sawtooth.fidelity.answer import AFRESH, LOOKED_AT, STACK, Near, Spread, Told
from sawtooth.fidelity.compared import FIXED, FRESH, MEASURES, TRAIN
from sawtooth.fidelity.nearest import Neighbour
from sawtooth.fidelity.situation import Situation
from sawtooth.linting.each import rate, time
from sawtooth.linting.setup import MOST_SETUPS

_WIDTH = 120
_WORDS = {"goodput": "goodput", "packets": "packets", "retransmits": "retransmissions", "rtt": "mean RTT", "cwnd": "mean cwnd"}
_SETS = {
    FRESH: "drawn afresh",
    TRAIN: "drawn, and looked at while the simulator was mended",
    FIXED: "fixed, and looked at while it was mended",
}


def lines(of: Answer) -> Iterator[str]:
    """The answer, line by line."""
    yield f"{of.plan.study.name}: how far was the simulator from a kernel in scenarios like this one?"
    yield from _folded(f"Compared were, with the stack `{STACK}`: {'; '.join(_set(of, name) for name in of.sets)}.")
    if not any(row.fresh for row in of.rows):
        yield from _folded("None was drawn afresh since, so this is what was found where it was looked for, and kinder than elsewhere.")
    yield from _folded(_stack(of))
    if of.cells_and_arms > MOST_SETUPS:
        yield f"Of its {of.cells_and_arms:,} cells and arms {MOST_SETUPS:,} were looked at, evenly spaced."
    for algorithm, every in of.by_algorithm.items():
        yield ""
        yield from _algorithm(of, algorithm, every)


def _set(of: Answer, name: str) -> str:
    rows = of.sets[name]
    kernels = ", ".join(dict.fromkeys(row.kernel for row in rows))
    dates = sorted({row.date for row in rows})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{counted(len(rows), 'scenario')} that {form(len(rows), 'was', 'were')} {_SETS[name]} (Linux {kernels}, {when})"


def _stack(of: Answer) -> str:
    study = of.plan.study
    if study.on_kernels:
        return f"This study runs on a kernel (backend `{study.backend}`), where nothing is simulated: what follows is of the simulator in its place."
    if not of.stacks:
        return "It has no flows of TCP, so there is nothing to compare."
    others = of.other_stacks
    if not others:
        return f"This study uses `{STACK}`, which is what was compared."
    named = " and ".join(f"`{stack}`" for stack in others)
    return (
        f"This study uses {named}, which was never compared with a kernel here: what follows is of `{STACK}` in such scenarios, not of this study. "
        f"`--set stack={STACK}` takes that one."
    )


def _algorithm(of: Answer, algorithm: str, every: Sequence[Told]) -> Iterator[str]:
    reached = sum(each.reached for each in every)
    if len(every) == 1:
        head = "one situation"
    else:
        far = sorted(each.far for each in every)
        middle = far[(len(far) - 1) // 2]
        within = f"{counted(len(every), 'situation')}, {reached} of them within {REACH:g} of what was compared"
        head = f"{within}; the nearest is {_far(far[0])} away, in the median {_far(middle)}, at most {_far(far[-1])}"
    yield from _folded(f"{algorithm}: {head}")
    if all(each.closest is None and each.asked.situation for each in every):
        yield f"  nothing like this was compared: nothing of `{algorithm}` was"
        return
    for word, each in of.chosen(algorithm).items():
        yield from _told(of, "" if len(every) == 1 else f"{word}: ", each)


def _far(value: float) -> str:
    return "out of sight" if value == float("inf") else f"{value:.2f}"


def _told(of: Answer, word: str, told: Told) -> Iterator[str]:
    situation = told.asked.situation
    yield from _folded(f"{word}{_where(of, told)}{_situation(situation) if situation else told.asked.unplaced}", "  ")
    if told.asked.unlike:
        yield from _folded(f"not in any scenario that was compared: {', '.join(told.asked.unlike)}", "    ")
    if not told.reached:
        beyond = f"; the nearest is {told.closest.distance:.2f} away, beyond {REACH:g}:" if told.closest else ""
        yield f"    nothing like this was compared{beyond}"
        if told.closest and situation:
            yield f"      {_neighbour(told.closest, situation)}"
        return
    for words in (AFRESH, LOOKED_AT):
        if words in told.groups and situation:
            yield from _near(words, told.groups[words], situation)


def _where(of: Answer, told: Told) -> str:
    if len(of.plan.cells) == 1 and len({run.arm for run in of.plan.runs}) == 1:
        return ""
    arm = f", arm {told.asked.arm}" if told.asked.arm else ""
    others = f" and {told.number - 1} more" if told.number > 1 else ""
    return f"cell {told.asked.cell}{arm}{others}: "


def _situation(of: Situation) -> str:
    parts = [rate(of.rate_bps), time(of.rtt_s), f"buffer {of.buffer_bdp:.3g} BDP", f"loss {of.loss:.2%}" if of.loss else "no random loss"]
    parts += ["marks"] if of.marks else []
    parts += ["a slow way back"] if of.slow_acks else []
    parts += [
        f"{of.flows:g} {form(of.flows, 'flow', 'flows')}",
        "which end" if of.ends and of.flows > 1 else "which ends" if of.ends else "without end",
    ]
    return ", ".join(parts)


def _near(words: str, near: Near, situation: Situation) -> Iterator[str]:
    far = [each.distance for each in near.neighbours]
    number = f"{len(far)} of the scenarios that were {words}" if len(far) > 1 else f"one of the scenarios that were {words}"
    away = f"{far[0]:.2f} to {far[-1]:.2f}" if len(far) > 1 else f"{far[0]:.2f}"
    yield f"    {number}, {away} away:"
    kinds = near.kinds
    if kinds:
        of = sum(kinds.values())
        yield f"      packet by packet: {', '.join(f'{kind} {count} of {of}' for kind, count in kinds.items())}"
    yield f"      {'':16} {'median':>8} {'worst':>8} {'':8}  kernel beside itself: median, worst"
    for measure in MEASURES:
        found = near.spread(measure)
        if found:
            itself = near.spread(measure, of_kernel=True)
            yield f"      {_WORDS[measure]:16} {_both(found, len(far))}  {_both(itself, len(far))}".rstrip()
    for each in near.neighbours:
        yield f"      {_neighbour(each, situation)}"


def _both(found: Spread | None, of: int) -> str:
    """Median and worst, and of how many where some have no such number."""
    if found is None:
        return f"{'-':>8} {'-':>8}".ljust(26)
    return f"{_share(found.median):>8} {_share(found.worst):>8} {f'({found.number} of {of})' if found.number < of else '':8}".ljust(26)


def _share(value: float) -> str:
    return f"{value:.1%}" if value < 10 else f"{value:,.0%}"


def _neighbour(each: Neighbour, to: Situation) -> str:
    """What it is, how it differs, and how far both were apart."""
    row = each.row
    kind = f", {row.kind}" if row.kind else ""
    goodput = row.apart["goodput"]
    told = "" if goodput is None else f", goodput {goodput:+,.1%}"
    differs = ", ".join(_differs(to, row.situation)) or "the same"
    return f"{each.distance:.2f}  {row.set} {row.scenario}: {differs}{kind}{told}"


def _differs(one: Situation, other: Situation) -> Iterator[str]:
    """In what the other is another situation."""
    for name, word in (("rate_bps", "rate"), ("rtt_s", "RTT"), ("buffer_bdp", "buffer"), ("flows", "flows")):
        factor = getattr(other, name) / getattr(one, name)
        if abs(factor - 1) >= 0.05:
            yield f"{word} x{factor:.2g}"
    if one.loss and other.loss:
        if abs(other.loss / one.loss - 1) >= 0.05:
            yield f"loss x{other.loss / one.loss:.2g}"
    elif one.loss or other.loss:
        yield f"loss {other.loss:.2%}" if other.loss else "no random loss"
    for name, yes, no in (
        ("marks", "marks", "no marks"),
        ("slow_acks", "a slow way back", "no slow way back"),
        ("ends", "ends", "without end"),
    ):
        if getattr(one, name) != getattr(other, name):
            yield yes if getattr(other, name) else no


def _folded(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False
    )
