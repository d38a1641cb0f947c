"""The page of the validity map and its figure, of the table that comes along: docs/validation/map.md. `validity.py` writes it."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from sawtooth.cli.fidelity_text import lines
from sawtooth.fidelity import MEASURES, REACH, RULE, Compared, K, Neighbour, answer, nearest
from sawtooth.fidelity.compared import FIXED, FRESH, KINDS, TRAIN
from sawtooth.plan import make_plan
from sawtooth.plots import style
from sawtooth.study import Study

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

NAME = "map"
EXAMPLE = "congestion-controls"
WORDS = {"goodput": "Goodput", "packets": "Packets", "retransmits": "Retransmissions", "rtt": "Mean RTT", "cwnd": "Mean cwnd"}
GROUPS: Mapping[str, Callable[[Compared], bool]] = {
    "drawn afresh": lambda row: row.fresh,
    "drawn, and looked at while the simulator was mended": lambda row: row.set == TRAIN,
    "fixed, and looked at": lambda row: row.set == FIXED,
}
NONE_FRESH = f"""\
**No scenario of the table was drawn afresh** since the simulator was last mended, so none of this says how far it is from the kernel where
nobody has looked. Rows of the set "{FRESH}" will, once they are run; they are then shown first, and apart.

"""
LOOKED_AT = """\
What was looked at while the simulator was mended was brought nearer by that: it tells what is known of such scenarios, and is kinder than
others would be."""


def publish(rows: Sequence[Compared], folder: Path) -> None:
    """Writes the page of these rows and its figure."""
    folder.joinpath(f"{NAME}.md").write_text(page(rows), encoding="utf-8")
    style.write(figure(rows), folder, NAME)


def page(rows: Sequence[Compared]) -> str:
    """What is written of these rows."""
    drawn = [each for each in rows if each.set != FIXED]
    groups = {words: own for words, of in GROUPS.items() if (own := [each for each in rows if of(each)])}
    algorithms = len({each.situation.algorithm for each in rows})
    none = "" if any(each.fresh for each in rows) else NONE_FRESH
    return f"""<!-- Written by bench/linux/validity.py (and bench/linux/fuzz.py --write) of python/sawtooth/fidelity/compared.csv; edit those. -->

# Validity map: where the simulator was compared with Linux

How far was the simulator from a kernel in scenarios like mine? `sawtooth doctor --fidelity STUDY` answers from a table of what was
compared: {len(rows)} rows of {algorithms} algorithms, of random scenarios that were compared [packet by packet](linux-packets.md), and of
[fixed ones](linux.md). It is the simulator's `linux` stack that was compared, with user-mode Linux in virtual time over the same links; of
any other stack the map tells nothing, and the answer says so.

{table(["Scenarios", "Rows", "Linux", "When", "Commit of the simulator"], [_origin(words, own) for words, own in groups.items()], "lrlll")}

{none}{LOOKED_AT}

## How do I ask?

{example(rows)}

A study may have factors and arms: then each algorithm's situations are counted, and the nearest, the median and the farthest are shown;
`--json` has all. `--set` and `--short` are as in `sawtooth run`. What is not within reach is told as *nothing like this was compared*, with
the nearest there is.

## Where

![Round-trip time over rate of what was compared](map.png)

Each mark is a random scenario: where its link is, and how far packets parted. Grey crosses are the fixed scenarios, each of which every
algorithm ran; their packets were not compared one by one. The rate is that of the link that has least for each flow, the round-trip time
propagation alone. What else places a scenario, buffer, losses, marks, the way back, flows and whether they end, is not in the figure.

{reaches(drawn)}

## By algorithm

Random scenarios: how many are of each kind, which [the page of packets](linux-packets.md) defines, and the differences, simulator less
kernel without sign, as a share of the kernel's: median / largest. Of a scenario with several flows it is the flow with the largest
difference. Retransmissions are shares of the kernel's, or of one where it has none. The last column is the goodput of the kernel beside
itself, with a start 7 ms later: what no simulator can be expected to be below.

{by_algorithm(drawn)}

Fixed scenarios, single runs. The kernel beside itself is with the last flow 7 ms later; where it does not reproduce itself, the standard
deviation of its goodput over eight starts. Two of its scenarios, in which given packets are lost, have no probability of loss, and no place here.

{of_fixed([each for each in rows if each.set == FIXED])}

## What is like a scenario

The rule, which was written, and committed, before any row was made. What is near, how near, and how many are taken was not changed since; two of
its reasons were worded anew. What rows measure was corrected after looking: after two rows, windows and round trips are taken until a
transfer's end, and windows over time; after the first whole table, a transfer that only one side ended is compared over the whole run; after
the first answers, fixed scenarios in which the kernel does not reproduce itself have its own spread, where only those had been shown in which it does.

{RULE}

{held(drawn)}

## What it cannot say

- It is a list of neighbours, and no bound: nothing is said of what lies between them, and five scenarios with small differences do not
  exclude one with a large one. `parts` of a neighbour may come of one rare event.
- Rate, round trip, buffer and loss are those of one link, the one that has least for each flow. Paths with two slow links, queues other
  than drop-tail and a step that marks, jitter, reordering, media, rates that change, losses that are not of chance alone, flows that
  arrive, other sources than bulk, hosts, UDP or another algorithm beside the flow, and TCP parameters that are set: none was compared, and
  the answer lists those that a scenario has.
- Which flows end is a matter of yes or no: a flow of 10 kB, which never leaves slow start, and one of 5 MB are alike.
- The largest difference of several flows may be of one that sent a few packets: shares of little are large.
- The kernel is one release with ticks of 10 ms, without segmentation offload, in virtual time. Hosts that are busy are not in it. """


def example(rows: Sequence[Compared]) -> str:
    """A question and the beginning of its answer."""
    said = list(lines(answer(make_plan(Study.load(EXAMPLE)), rows)))
    ends = [at for at, line in enumerate(said) if not line]
    return "```console\n$ sawtooth doctor --fidelity " + "\n".join([EXAMPLE, *said[: ends[2]]]) + "\n...\n```"


def _origin(words: str, rows: Sequence[Compared]) -> list[str]:
    def values(name: str) -> str:
        return ", ".join(dict.fromkeys(getattr(each, name) for each in rows))

    return [words, str(len(rows)), values("kernel"), values("date"), values("commit")]


def by_algorithm(rows: Sequence[Compared]) -> str:
    """Kinds and differences of random scenarios, those drawn afresh above the others."""
    found: list[list[str]] = []
    for words, of in GROUPS.items():
        own = [each for each in rows if of(each)]
        if not own:
            continue
        found.append([f"**{words}**", *_kinds(own, shares=True), *_differences(own)])
        for name in dict.fromkeys(each.situation.algorithm for each in own):
            each = [one for one in own if one.situation.algorithm == name]
            found.append([name, *_kinds(each, shares=False), *_differences(each)])
    return table(["", "Scenarios", *KINDS, *WORDS.values(), "Kernel beside itself"], found, "lr" + "r" * (len(KINDS) + len(WORDS) + 1))


def of_fixed(rows: Sequence[Compared]) -> str:
    """Differences of fixed scenarios."""
    names = ("goodput", "retransmits", "rtt")
    found = [["**all**", str(len(rows)), *(_difference(rows, name) for name in names), _itself(rows)]]
    for name in dict.fromkeys(each.situation.algorithm for each in rows):
        own = [each for each in rows if each.situation.algorithm == name]
        found.append([name, str(len(own)), *(_difference(own, key) for key in names), _itself(own)])
    return table(["", "Rows", *(WORDS[name] for name in names), "Kernel beside itself"], found, "lrrrrr")


def _kinds(rows: Sequence[Compared], *, shares: bool) -> list[str]:
    found = Counter(each.kind for each in rows)
    return [str(len(rows)), *(f"{found[kind] / len(rows):.0%}" if shares else f"{found[kind] or ''}" for kind in KINDS)]


def _differences(rows: Sequence[Compared]) -> list[str]:
    return [*(_difference(rows, name) for name in MEASURES), _itself(rows)]


def _difference(rows: Iterable[Compared], name: str) -> str:
    return _spread(each.apart[name] for each in rows)


def _itself(rows: Iterable[Compared]) -> str:
    return _spread(each.itself["goodput"] for each in rows)


def _spread(values: Iterable[float | None]) -> str:
    sizes = [abs(value) for value in values if value is not None]
    return f"{_percent(statistics.median(sizes))} / {_percent(max(sizes))}" if sizes else "-"


def _percent(value: float) -> str:
    return f"{value:.1%}" if value < 10 else f"{value:,.0%}"


def reaches(rows: Sequence[Compared]) -> str:
    """How near random scenarios are to each other."""
    far = [others[0].distance for each in rows if (others := _others(each, rows))]
    if not far:
        return "No algorithm has two random scenarios, so none has a neighbour."
    within = sum(each <= REACH for each in far)
    return (
        f"A random scenario's nearest neighbour among the others of its algorithm is {statistics.median(far):.2f} away in the median and "
        f"{max(far):.2f} at most; {within} of {len(far)} have one within {REACH:g}. "
        "So much of the whole does the map reach with them."
    )


def held(rows: Sequence[Compared]) -> str:
    """Whether neighbours tell anything: each scenario beside those like it."""
    within = [(each, near) for each in rows if (near := [other for other in _others(each, rows) if other.distance <= REACH])]
    below = {name: [_is_below(each, near, name) for each, near in within if each.apart[name] is not None] for name in MEASURES}
    words = ", ".join(
        f"{WORDS[name][0].lower() + WORDS[name][1:]} in {sum(found)} of {len(found)}" for name, found in below.items() if found
    )
    one = statistics.median(len(near) for _, near in within) if within else 0
    return (
        f"Does a neighbour tell anything? Each random scenario was asked of the others, without itself: {len(within)} of {len(rows)} have neighbours "
        f"within {REACH:g}, {one:g} in the median. The scenario's own difference is no larger than the "
        f"largest of its neighbours' in {words or 'none'}. With one neighbour that would be half by chance alone, with {K} five of six."
    )


def _is_below(each: Compared, near: Sequence[Neighbour], name: str) -> bool:
    return abs(each.apart[name] or 0) <= max(abs(other.row.apart[name] or 0) for other in near)


def _others(each: Compared, rows: Sequence[Compared]) -> list[Neighbour]:
    return nearest(each.situation, [other for other in rows if other is not each])


def figure(rows: Sequence[Compared]) -> Figure:
    """Round-trip time over rate, a panel for each provenance of random scenarios."""
    panels = {words: own for words, of in GROUPS.items() if (own := [each for each in rows if of(each) and each.set != FIXED])}
    made, axes = style.figure(4.2 * len(panels) + 2.4 if len(panels) == 1 else 4.2 * len(panels), 4.4, 1, len(panels), share_y=True)
    places = sorted({(each.situation.rate_bps, each.situation.rtt_s) for each in rows if each.set == FIXED})
    for axis, (words, own) in zip(axes, panels.items(), strict=True):
        fixed = [rate / 1e6 for rate, _ in places], [1e3 * rtt for _, rtt in places]
        axis.plot(*fixed, "x", color="0.45", markersize=6, label="fixed scenarios", zorder=1)
        for kind, colour, marker in zip(KINDS, style.COLOURS, style.MARKERS, strict=False):
            at = [each.situation for each in own if each.kind == kind]
            axis.plot([each.rate_bps / 1e6 for each in at], [1e3 * each.rtt_s for each in at], marker, color=colour, markersize=6, alpha=0.85,
                      markeredgecolor="white", markeredgewidth=0.4, label=kind, zorder=2)  # fmt: skip
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlim(0.4, 630)
        axis.set_ylim(0.8, 380)
        style.plain_ticks(axis.xaxis)
        style.plain_ticks(axis.yaxis)
        axis.set_xlabel("rate of the link (Mbit/s)")
        axis.set_title("\n".join(style.wrapped(f"{len(own)} scenarios {words}", 9, 5.8 if len(panels) == 1 else 3.6)), fontsize=9)
    axes[0].set_ylabel("round-trip time (ms)")
    style.legend_above(made, axes[0])
    return made
