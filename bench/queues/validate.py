"""The simulator's queue disciplines beside ns-3's, Linux's and the RFCs' pseudo-code, on the same packets; writes docs/validation/queues.md.

python bench/queues/validate.py [--only NAME]
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import cases
import ours
import pseudocode
import traffic
from cases import Case
from ours import Fed
from traffic import DURATION_S, Traffic

import linux
import ns3
from pages import table

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/validation/queues.md"
REASONS = HERE / "reasons.md"
GOAL = 0.05
# Rates of fewer packets than this are told as numbers of packets: what a rate would say of them is chance.
FEW = 40


def wait_ms(fed: Fed) -> float:
    left = sum(flow.arrived - flow.dropped for flow in fed.flows)
    return 1e3 * sum(flow.waited_s for flow in fed.flows) / left


def dropped(fed: Fed) -> float:
    return sum(flow.dropped for flow in fed.flows) / sum(flow.arrived for flow in fed.flows)


def marked(fed: Fed) -> float:
    return sum(flow.marked for flow in fed.flows) / sum(flow.arrived for flow in fed.flows)


def queue(fed: Fed) -> float:
    return math.nan if fed.mean_packets is None else fed.mean_packets


def mean(runs: Sequence[Fed], measure: Callable[[Fed], float]) -> float:
    return statistics.fmean(measure(run) for run in runs)


def compared(mine: Sequence[Fed], theirs: Sequence[Fed], measure: Callable[[Fed], float], packets: int) -> tuple[list[str], bool]:
    """Both means and the relative difference; and whether it is within the goal."""
    one, other = mean(mine, measure), mean(theirs, measure)
    rate = measure in (dropped, marked)
    figures = [f"{100 * value:.2f} %" if rate else f"{value:.2f}" for value in (one, other)]
    if one == other:
        return [*figures, "0"], True
    if rate and max(one, other) * packets < FEW:
        return [*figures, f"{(one - other) * packets:+.1f} packets"], True
    difference = one / other - 1 if other else math.inf
    good = abs(difference) <= GOAL
    text = f"{100 * difference:+.1f} %"
    return [*figures, text if good else f"**{text}**"], good


def row(case: Case, load: Traffic, theirs: Sequence[Fed], measures: Sequence[Callable[[Fed], float]]) -> tuple[list[str], bool]:
    mine = [ours.fed(case.ours, load, seed) for seed in range(1, case.seeds + 1)]
    cells, good = [case.name, load.name], True
    for measure in measures:
        found, within = compared(mine, theirs, measure, len(load.packets))
        cells += found
        good = good and within
    return cells, good


def ns3_tables(only: str | None) -> str:
    rows: list[list[str]] = []
    explained: list[list[str]] = []
    count = within = 0
    for case in (case for case in cases.NS3 if only in (None, case.name)):
        assert case.peer.ns3 is not None
        for load in case.traffic:
            seeds = range(1, case.seeds + 1)
            theirs = [ns3.fed(*case.peer.ns3, load, seed) for seed in seeds]
            cells, good = row(case, load, theirs, (queue, dropped, marked))
            rows.append(cells)
            count, within = count + 1, within + good
            if case.peer.pseudo is not None:
                explained.append(witness(case, load, theirs, seeds))
            print(*cells, flush=True)
    head = ["Discipline", "Traffic", *(f"{name} {side}" for name in ("Queue", "Drops", "Marks") for side in ("here", "ns-3", "diff."))]
    text = f"{within} of {count} rows are within 5 % in all three.\n\n" + table(head, rows, "ll" + "r" * 9)
    head = [
        "Discipline",
        "Traffic",
        *(f"{name} {side}" for name in ("Wait", "Drops", "Marks") for side in ("here", "RFC", "ns-3", "RFC + departure")),
    ]
    return text + "\n\n@WITNESS@\n\n" + table(head, explained, "ll" + "r" * 12)


def witness(case: Case, load: Traffic, theirs: Sequence[Fed], seeds: Sequence[int]) -> list[str]:
    """Ours, the pseudo-code, the peer, and the pseudo-code with the peer's departure."""
    assert case.peer.pseudo is not None
    mine = [ours.fed(case.ours, load, seed) for seed in seeds]
    plain = [pseudocode.fed(case.peer.pseudo(seed), load) for seed in seeds]
    departed = [pseudocode.fed(case.peer.departs(seed), load) for seed in seeds] if case.peer.departs else None
    cells = [case.name, load.name]
    for measure in (wait_ms, dropped, marked):
        for runs in (mine, plain, theirs, departed):
            value = mean(runs, measure) if runs else math.nan
            cells.append("" if math.isnan(value) else f"{value:.2f}" if measure is wait_ms else f"{100 * value:.2f} %")
    return cells


def codel_realisations() -> str:
    """CoDel is chaotic: one realisation says little of means."""
    limit = cases.LIMIT
    codel, settings = {"name": "codel", **cases.OURS}, ("CoDelQueueDisc", cases.PIE_NS3)
    sides: dict[str, Callable[[Traffic], Fed]] = {
        "here": lambda load: ours.fed(codel, load, 1),
        "RFC 8289's pseudo-code": lambda load: pseudocode.fed(pseudocode.Codel(limit), load),
        "ns-3": lambda load: ns3.fed(*settings, load, 1),
        "the pseudo-code with one Newton step a drop": lambda load: pseudocode.fed(pseudocode.Codel(limit, newton=True), load),
    }
    rows: list[list[str]] = []
    for name, side in sides.items():
        runs = [side(load) for load in traffic.REALISATIONS]
        cells = [name]
        for measure, scale in ((wait_ms, 1.0), (dropped, 100.0)):
            values = [scale * measure(run) for run in runs]
            error = statistics.stdev(values) / math.sqrt(len(values))
            cells.append(f"{statistics.fmean(values):.2f} ± {error:.2f}")
        rows.append(cells)
    return table(["CoDel, 16 realisations of Poisson 1.1", "Wait, ms", "Drops, %"], rows, "lrr")


def pie_without_allowance() -> str:
    rows: list[list[str]] = []
    for load in (traffic.STRONG, traffic.UNEQUAL, traffic.LONG_AND_SHORT):
        for name, kind, limit in (("pie", "PieQueueDisc", {"MaxSize": "10240p"}), ("fq_pie", "FqPieQueueDisc", dict[str, str]())):
            cells = [name, load.name]
            for allowance in ("150 ms", "0 ms"):
                settings = {"name": name, "mean_packet": "1000 B", "derandomise": False, "limit": "10241 packets", "max_burst": allowance}
                theirs = {**limit, "MaxBurstAllowance": allowance.replace(" ", "")}
                mine = mean([ours.fed(settings, load, seed) for seed in range(1, 5)], queue)
                other = mean([ns3.fed(kind, theirs, load, seed) for seed in range(1, 5)], queue)
                cells += [f"{mine:.2f}", f"{other:.2f}", f"{100 * (mine / other - 1):+.1f} %"]
            rows.append(cells)
    head = [
        "Discipline",
        "Traffic",
        *(f"{side}, allowance {allowance}" for allowance in ("150 ms", "0") for side in ("Here", "ns-3", "diff.")),
    ]
    return table(head, rows, "llrrrrrr")


def pseudo_table() -> str:
    rows: list[list[str]] = []
    for case in cases.DUALPI2:
        assert case.peer.pseudo is not None
        for load in case.traffic:
            mine, theirs = ours.fed(case.ours, load, 1), pseudocode.fed(case.peer.pseudo(1), load)
            for number, (one, other) in enumerate(zip(mine.flows, theirs.flows, strict=True)):
                same = (one.dropped, one.marked) == (other.dropped, other.marked) and math.isclose(
                    one.waited_s, other.waited_s, rel_tol=1e-9
                )
                rows.append([load.name, str(number), f"{one.arrived}", f"{one.dropped} / {other.dropped}", f"{one.marked} / {other.marked}",
                             f"{one.waited_s:.6f} / {other.waited_s:.6f}", "yes" if same else "**no**"])  # fmt: skip
    return table(["Traffic", "Flow", "Packets", "Dropped", "Marked", "Waited in total, s", "Identical"], rows, "llrrrrl")


def linux_table() -> str:
    jobs = {f"{i}-{j}": (case, load) for i, case in enumerate(cases.LINUX) for j, load in enumerate(case.traffic)}
    found = linux.run({key: linux.Job(case.peer.linux or [], load) for key, (case, load) in jobs.items()}, cases.LINUX_MODULES)
    rows = [row(case, load, [found[key]], (wait_ms, dropped, marked))[0] for key, (case, load) in jobs.items()]
    head = ["Discipline", "Traffic", *(f"{name} {side}" for name in ("Wait", "Drops", "Marks") for side in ("here", "Linux", "diff."))]
    flows: list[list[str]] = []
    for key, (case, load) in jobs.items():
        mine, theirs = ours.fed(case.ours, load, 1), found[key]
        if len(mine.flows) > 1:
            for number, (one, other) in enumerate(zip(mine.flows, theirs.flows, strict=True)):
                sent = [flow.arrived - flow.dropped for flow in (one, other)]
                waits = [1e3 * flow.waited_s / left for flow, left in zip((one, other), sent, strict=True)]
                flows.append([case.name, load.name, str(number), str(one.arrived), str(sent[0]), str(sent[1]), f"{100 * (sent[0] / sent[1] - 1):+.2f} %",
                              f"{waits[0]:.2f}", f"{waits[1]:.2f}"])  # fmt: skip
    by_flow = ["Discipline", "Traffic", "Flow", "Packets", "Sent here", "Sent Linux", "diff.", "Wait here", "Wait Linux"]
    return table(head, rows, "ll" + "r" * 9) + "\n\nBy flow:\n\n" + table(by_flow, flows, "lll" + "r" * 6)


def standing_table() -> str:
    """Which standing queues CAKE signals: marks of a minute's half in which as many packets always wait."""
    rates = ((2e6, "2mbit"), (5e6, "5mbit"))
    loads = [(rate, word, traffic.standing(rate, packets)) for rate, word in rates for packets in range(3, 10)]
    jobs = {str(at): linux.Job(cases.cake(f"bandwidth {word} memlimit 200m"), load) for at, (_, word, load) in enumerate(loads)}
    found = linux.run(jobs, cases.LINUX_MODULES)
    rows: list[list[str]] = []
    for at, (rate, _, load) in enumerate(loads):
        mine = ours.fed({"name": "cake", "rate": f"{rate:.0f} bit/s", "limit": "200 MB"}, load, 1)
        cells = [f"{side.flows[0].marked}" for side in (mine, found[str(at)])]
        waits = [f"{wait_ms(side):.1f}" for side in (mine, found[str(at)])]
        rows.append([load.name, f"{4 * 8e3 * 1514 / rate:.1f}", waits[0], cells[0], waits[1], cells[1]])
    head = ["Traffic", "Four frames, ms", "Wait here, ms", "Marks", "Wait Linux, ms", "Marks"]
    return table(head, rows, "lrrrrr")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", help="a discipline beside ns-3's, printed and not written")
    chosen = arguments.parse_args()
    if chosen.only:
        print(ns3_tables(chosen.only))
        return
    loads = table(["Traffic", "Packets", "What comes"], [[load.name, str(len(load.packets)), load.about] for load in traffic.ALL], "lrl")
    parts = {
        "@VERSION@": ns3.version(),
        "@DURATION@": f"{DURATION_S:g}",
        "@TRAFFIC@": loads,
        "@NS3@": ns3_tables(None),
        "@CODEL@": codel_realisations(),
        "@FQPIE@": pie_without_allowance(),
        "@DUALPI2@": pseudo_table(),
        "@LINUX@": linux_table(),
        "@STANDING@": standing_table(),
    }
    text = REASONS.read_text()
    head, _, tail = text.partition("@@WITNESS\n")
    text = tail
    for name, part in parts.items():
        text = text.replace(name, part.replace("@WITNESS@", head.strip()))
    PAGE.write_text(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
