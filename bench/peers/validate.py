"""Run the same scenarios on ns-2 and ns-3 and in the simulator, with the algorithms that both have, and write how far they part and why.

    python bench/peers/validate.py --keep results/peers     # all; writes docs/validation/peers.md
    python bench/peers/validate.py --peer ns3 --algorithm TcpVegas,TcpVeno --only "every 100th lost"

The peers are the Debian packages ns2 and libns3-dev; one that is not installed is left out. With --keep their runs, which never change,
are kept in a folder: without it ns-3 takes ten minutes of a processor.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import laws
from dumbbells import CASES, Case
from reasons import REASONS, Reason, reason_for
from twin import Peer, PeerError, Twin, kept

from ns2 import Agents, LinuxAgent
from ns3 import Ns3
from sawtooth.backends import sim

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
PEERS: tuple[Peer, ...] = (Agents(), LinuxAgent(), Ns3())
MOST = 0.05
"""A difference above this needs a reason."""


@dataclass(frozen=True)
class Difference:
    """One flow on both sides."""

    peer: Peer
    twin: Twin
    cases: tuple[Case, ...]
    flow: str
    theirs: float
    ours: float

    @property
    def name(self) -> str:
        return self.cases[0].name

    @property
    def error(self) -> float:
        return self.ours / self.theirs - 1


def main() -> int:
    options = parse()
    peers = [peer for peer in PEERS if options.peer in (None, peer.name)]
    scenarios = [one for one in CASES if options.only in (None, one[0].name)]
    found: list[Difference] = []
    for peer in peers:
        try:
            peer.version()
        except PeerError as error:
            print(error, file=sys.stderr)
            continue
        for twin in peer.twins:
            if options.algorithm and twin.name not in options.algorithm.split(","):
                continue
            own = [difference for cases in scenarios for difference in compare(peer, twin, cases, options.keep)]
            found += own
            print(f"{peer.name} {twin.name}: " + ", ".join(f"{one.name} {one.flow} {one.error:+.1%}" for one in own), flush=True)
    unexplained = [one for one in found if abs(one.error) > MOST and reason_for(one.peer.name, one.twin.name, one.name) is None]
    for one in unexplained:
        print(f"no reason: {one.peer.name} {one.twin.name}, {one.name}, {one.flow}: {one.error:+.1%}", file=sys.stderr)
    if not (options.peer or options.only or options.algorithm) and len({one.peer.name for one in found}) == len(PEERS):
        options.out.write_text(page(found, options.keep), encoding="utf-8")
        print(f"wrote {options.out}")
    return 1 if unexplained else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=[peer.name for peer in PEERS], help="one peer")
    parser.add_argument("--algorithm", help="some of its algorithms, by its names")
    parser.add_argument("--only", help="one scenario")
    parser.add_argument("--keep", type=Path, help="a folder: peers' runs are kept there and taken from there")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/validation/peers.md")
    return parser.parse_args()


def compare(peer: Peer, twin: Twin, cases: tuple[Case, ...], keep: Path | None) -> list[Difference]:
    """One algorithm in one scenario, on both sides; the mean if it has several cases."""
    theirs = [kept(peer, case, twin, keep).packets for case in cases]
    ours = [delivered(peer, case, twin) for case in cases]
    return [
        Difference(peer, twin, cases, flow.name, statistics.mean(a[i] for a in theirs), statistics.mean(b[i] for b in ours))
        for i, flow in enumerate(cases[0].flows)
    ]


def delivered(peer: Peer, case: Case, twin: Twin) -> list[float]:
    """What each flow delivers in the simulator."""
    batch = sim.run_batch([json.dumps(peer.scenario(case, twin))], [1])
    assert not batch.errors, batch.errors
    return [peer.delivered(flow) for flow in batch.tables["flows"].to_dicts()]


def page(found: Sequence[Difference], keep: Path | None) -> str:
    peers = list(dict.fromkeys(one.peer for one in found))
    parts = [
        "# The simulator beside ns-2 and ns-3",
        "Written by `python bench/peers/validate.py --keep results/peers`. Peers: "
        + "; ".join(f"{peer.title} (Debian package, {peer.version()})" for peer in peers)
        + ". They are used as black boxes: scenarios go in, windows and counters come out.",
        "The network, sizes of segments and acknowledgements, starts, initial windows, delayed acknowledgements and timers are the same on both sides, and so is the "
        "loss recovery as far as the simulator has the peer's (`bench/peers/ns2.py`, `ns3.py`). Our algorithms have the parameters of "
        "their specifications; where a peer's default is another and can be set, it is set. Each entry is the relative difference of what a flow "
        "delivered, simulator less peer; x22: 22 times as much. *Median* is that of the row, without signs.",
        "## In short",
        summary(peers, found),
    ]
    for peer in peers:
        parts += [f"## Beside {peer.title}", matrix([one for one in found if one.peer is peer])]
        if peer.missing:
            parts.append("Left out: " + "; ".join(f"`{name}` ({words})" for name, words in peer.missing.items()) + ".")
    parts += [
        "## What the algorithms do",
        "Measured of the congestion window, peer / simulator, on a path of 100 Mbit/s and 100 ms without a queue that matters, where the 600th packet is lost: the factor per round "
        "trip in slow start; the window when the loss is found, segments; the share of it that is left two and a half round trips later; "
        "the growth, segments per round trip, over round trips 5 to 15 after the loss. No algorithm has anything else to react to there, so each number can be held against an equation.",
        law_table(peers, keep),
        "## Why",
        f"Every difference above {MOST:.0%}, with what the first flow's window did in that run, peer / simulator: the reductions, the mean share of the window that one "
        "left, and the mean window in segments. *Set alike* is the difference that is left when the simulator's parameters are those that the reason names.",
        why(found, keep),
        "### The reasons",
        "Numbers in them were measured on 2026-11-22 in commit `7ae6e840` by `python bench/peers/validate.py --keep results/peers`; the tables above are made anew.",
        "\n".join(f"{number}. **{reason.who}** {reason.text}" for number, reason in enumerate(REASONS.values(), 1)),
    ]
    return "\n\n".join(parts) + "\n"


def share(value: float) -> str:
    return f"{value:+.1%}" if abs(value) < 10 else f"x{value + 1:.0f}"


def summary(peers: Sequence[Peer], found: Sequence[Difference]) -> str:
    rows: list[list[str]] = []
    for peer in peers:
        errors = [abs(one.error) for one in found if one.peer is peer]
        near = sum(error <= MOST for error in errors)
        rows.append(
            [peer.title, str(len(peer.twins)), str(len(errors)), f"{statistics.median(errors):.1%}", f"{near} ({near / len(errors):.0%})"]
        )
    return table(["Peer", "Algorithms", "Flows", "Median", f"Within {MOST:.0%}"], rows, "lrrrr")


def matrix(found: Sequence[Difference]) -> str:
    """Algorithms down, scenarios across."""
    names = list(dict.fromkeys(one.name for one in found))
    rows: list[list[str]] = []
    for twin in dict.fromkeys(one.twin.name for one in found):
        own = [one for one in found if one.twin.name == twin]
        cells = [", ".join(share(one.error) for one in own if one.name == name) for name in names]
        rows.append([twin, f"`{own[0].twin.cc}`", *cells, f"{statistics.median(abs(one.error) for one in own):.1%}"])
    medians = [f"{statistics.median(abs(one.error) for one in found if one.name == name):.1%}" for name in names]
    rows.append(["*median*", "", *medians, f"{statistics.median(abs(one.error) for one in found):.1%}"])
    titles = [name + (" (near, far)" if name == "two round-trip times" else "") for name in names]
    return table(["Peer's", "Ours", *titles, "Median"], rows, "ll" + "r" * (len(names) + 1))


def law_table(peers: Sequence[Peer], keep: Path | None) -> str:
    rows: list[list[str]] = []
    for peer in peers:
        for twin in peer.twins:
            if twin.cc == "bbr":  # Its window has no law of this kind.
                continue
            both = [laws.theirs(peer, twin, keep), laws.ours(peer, twin)]
            cells = [
                " / ".join("-" if one is None else f"{getattr(one, name):.{digits}f}" for one in both)
                for name, digits in (("slow_start", 2), ("before", 0), ("kept", 3), ("growth", 2))
            ]
            rows.append([peer.title, twin.name, *cells])
    return table(["Peer", "Algorithm", "Slow start", "Window at the loss", "Share left", "Growth"], rows, "llrrrr")


def why(found: Sequence[Difference], keep: Path | None) -> str:
    """Every difference that needs a reason, the largest of a peer first."""
    numbers = {key: str(number) for number, key in enumerate(REASONS, 1)}
    rows: list[list[str]] = []
    for one in found:
        if abs(one.error) <= MOST:
            continue
        known = reason_for(one.peer.name, one.twin.name, one.name)
        case, first = one.cases[0], one.flow == one.cases[0].flows[0].name
        windows = ["", "", ""]
        if first:
            both = [
                laws.habits(curve, 4 * case.delay_s, case.duration_s)
                for curve in (kept(one.peer, case, one.twin, keep, trace=True).window, laws.our_curve(one.peer, case, one.twin))
            ]
            windows = [
                " / ".join(str(habit.reductions) for habit in both),
                " / ".join(f"{habit.kept:.2f}" for habit in both),
                " / ".join(f"{habit.mean:.1f}" for habit in both),
            ]
        reasons = "**not explained**" if known is None else ", ".join(numbers[key] for key in known.keys)
        rows.append([one.peer.title, one.twin.name, one.name, one.flow if len(case.flows) > 1 else "", share(one.error), *windows,
                     set_alike(one, known), reasons])  # fmt: skip
    header = ["Peer", "Algorithm", "Scenario", "Flow", "Difference", "Reductions", "Share left", "Mean window", "Set alike", "Reason"]
    return table(header, rows, "llllrrrrrl")


def set_alike(one: Difference, known: Reason | None) -> str:
    """The difference that remains with the parameters that the reason names, and these."""
    if known is None or not known.alike:
        return ""
    twin = replace(one.twin, parameters={**one.twin.parameters, **known.alike})
    place = [flow.name for flow in one.cases[0].flows].index(one.flow)
    ours = statistics.mean(delivered(one.peer, case, twin)[place] for case in one.cases)
    return f"{share(ours / one.theirs - 1)} ({', '.join(f'`{name} = {json.dumps(value)}`' for name, value in known.alike.items())})"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PeerError as error:
        sys.exit(f"error: {error}")
