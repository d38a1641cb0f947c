"""Random scenarios on a real kernel and in the simulator, packet by packet: which packet is the first that differs, and what both sides knew then.

    python bench/linux/fuzz.py --number 20                   # prints the table and, of each that parts, the first packet that differs
    python bench/linux/fuzz.py --only 7 --minimise           # one scenario, made as small as it may be and still part
    python bench/linux/fuzz.py --number 500 --set test-8 --write              # the page, and rows of the validity map (validity.py) with its page
    python bench/linux/fuzz.py --number 500 --set test-8 --map                # the validity map alone
    python bench/linux/fuzz.py --only 22 --keep recovery-end --until 0.1   # the kernel's packets as a regression test: tests/linux/packets

The rule, written before any of these was run:

- Scenario N of a set draws from a generator with the seed "linux fuzz SET N". Whatever is tuned is tuned on the set "train"; the table is of the set "test-8". There were sets "test" to "test-7"
  before, of which the totals were seen when the simulator had been mended up to then, and after their tables "test-6" and "test-7" scenario by scenario: what has been seen is not used again. The kernel's runs of "test-8" were made
  before the simulator was mended for the last time, and of them only the totals were ever looked at: 83 % of the deterministic algorithms' scenarios within a tick (77 % the same packets) and 65 % of the others' (58 %), before what
  "two-way" below has shown was mended; 87 % (80 %) and 66 % (59 %) then, before "test-7" showed in which order timers of one tick expire, and how Hybla begins after lost SYNs.
- Since "test-5" the measuring was mended, too. What a kernel sent of a burst after its first four packets had left up to 512 ns late, because the agent read the kernel's clock there; the kernel's timers had ended up to
  half a microsecond late; and the simulator did not know that this kernel reads times of 256 ns, and where its ticks are. That decided which packet a full queue drops where acknowledgements clock what arrives.
- Of "test-6" 73 % of the deterministic algorithms' scenarios were within a tick (65 % the same packets), and 58 % of the others'; then receivers closed, and DCTCP, NV, HighSpeed TCP and CDG were mended, on "train". Of "test-7" 76 % were (71 %),
  and 66 and 72 % of the others'. Since then round trips are estimated in the kernel's microseconds, windows are told to the byte, and CUBIC, Westwood, Veno, Vegas, YeAH and recoveries in a mark's reduction were mended, on "train" and on what
  "test-7" had shown.
- A link of 0.5 to 500 Mbit/s, 1 to 300 ms both ways and 0.1 to 10 bandwidth-delay products (2 packets at least), all uniform in their logarithm; of three scenarios one with random losses of 0.01 to 2 %,
  one of six with an acknowledgement path of a fiftieth to a tenth of the rate, one of six with ECN and a queue that marks above a third. One to three flows with the same congestion control, which begin within a second,
  half of the scenarios with flows of 10 kB to 5 MB, the others without an end. It lasts as long as 4,000 packets of the link take, between 2 and 30 s.
- The set "two-way" has one flow more in each scenario, of which the last goes against the others. Its scenarios were drawn and run on the kernel before any of them was simulated; one pair of flows of CUBIC, which is
  not among them, had been compared before. Of it 48 % of the deterministic algorithms' scenarios were within a tick (40 % the same packets), and 58 % of the others' (48 %). Then it was looked at scenario by scenario: a SYN,ACK
  that is dropped is sent again by Linux's listener, repeats the first SYN's time, and is acknowledged when it comes again (`tcp.resend_syn_ack`); probes in a mark's reduction were mended (`tcp.probe_in_cwr`), and so was how long
  acknowledgements are that report a segment which has come again, and how many blocks they have beside.
- Of "two-way-2", 136 others, which were not looked at before, 72 % were within a tick then (60 % the same packets), and 54 % (46 %). With that, four of the first packets that differ of this set were seen; nothing was mended by
  them. By "two-way" alone then were mended what a duplicate counts for (`tcp.dsack_delivers`), which segments share memory of the sender's buffer, where calls of the application end, which timers count whole ticks, in which times RACK compares,
  and that windows are told by acknowledgements of their own. The set "two-way-3" is another of the same kind: the simulator had not been run on it before this table.
- The kernel is the packaged user-mode Linux in virtual time, segmentation offload off. The links of both sides are the same code with the same seed, so that all that differs is TCP.
- What is compared are packets with data at their senders, of each flow in order: where they begin and how long they are. *Same packets*: all of them, each within a microsecond. *Within a tick*: all of them, each within 10 ms.
  *Same counts*: packets and retransmissions of every flow within 2 %. *By chance*: the kernel that starts 7 ms later differs from itself in these as much as from the simulator. Otherwise it *parts*.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.backends import uml
from sawtooth.fidelity.compared import FRESH, KINDS, TRAIN

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import validity
from sides import Packet, Side, sides

from pages import publish, table

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/validation"
TWO_WAY, FRESH_TWO_WAY = "two-way", "two-way-3"
CORPUS = ROOT / "tests/linux/packets"
DETERMINISTIC = ("reno", "cubic", "scalable", "highspeed", "bic", "hybla", "vegas", "veno", "westwood", "yeah")
OTHERS = ("htcp", "illinois", "lp", "dctcp", "nv", "cdg", "bbr")
TICK_NS, MICROSECOND_NS, NEAR = 10_000_000, 1000, 0.02
PACKETS, SHORTEST_S, LONGEST_S = 4000, 2.0, 30.0
SHIFT_MS = 7
MEASURED = {
    "goodput": "goodput; of transfers that both ended, until their end",
    "packets": "packets with data",
    "rtt": "mean smoothed round trip",
    "cwnd": "mean congestion window",
}
BEFORE = """Of the same scenarios the simulator as it was before sent the same packets, or the same counts, in fewer. **They are the ones that were looked at while it was mended**, so they say what was found, and not how often
other scenarios part. All of the kernel's runs were made anew when the measuring was mended."""


@dataclass(frozen=True)
class Compared:
    """A scenario on both sides, how far the simulator was from the kernel, and how far the kernel was from itself with a later start."""

    number: int
    tree: Mapping[str, Any]
    kind: str
    kernel: Side
    simulator: Side
    apart: Mapping[str, float | None]
    itself: Mapping[str, float | None]

    @property
    def cc(self) -> str:
        """The congestion control of its flows."""
        return self.tree["cc"]


def is_two_way(of: str) -> bool:
    """Whether the last flow of each scenario of a set goes against the others."""
    return of.startswith(TWO_WAY)


def drawn(of: str, number: int) -> dict[str, Any]:
    """The scenario of a number, without what either side adds."""
    draw = random.Random(f"linux fuzz {of} {number}")
    names = DETERMINISTIC + OTHERS
    cc = names[(number - 1) % len(names)]

    def even(low: float, high: float) -> float:
        return math.exp(draw.uniform(math.log(low), math.log(high)))

    rate, round_trip = even(0.5e6, 500e6), even(0.001, 0.3)
    packets = max(2, round(even(0.1, 10) * rate * round_trip / 12_000))
    link: dict[str, Any] = {
        "rate": f"{rate:.0f} bit/s", "delay": f"{round_trip / 2 * 1e6:.0f} us", "queue": {"name": "drop_tail", "limit": f"{packets} packets"},
    }  # fmt: skip
    if draw.random() < 1 / 3:
        link["loss"] = round(even(0.0001, 0.02), 5)
    if draw.random() < 1 / 6:
        link["reverse"] = {
            "rate": f"{rate * even(0.02, 0.1):.0f} bit/s",
            "delay": link["delay"],
            "queue": {"name": "drop_tail", "limit": "1000 packets"},
        }
    tree: dict[str, Any] = {"links": {"l": link}, "cc": cc}
    if draw.random() < 1 / 6 or cc == "dctcp":
        link["queue"] = {"name": "step", "limit": f"{packets} packets", "mark_above": f"{max(1, packets // 3)} packets"}
        tree |= {"tcp": {"ecn": "dctcp" if cc == "dctcp" else "classic"}, **({"receiver_cc": cc} if cc == "dctcp" else {})}
    sized = draw.random() < 1 / 2
    flows: list[dict[str, Any]] = []
    for at in range(draw.choice((1, 1, 2, 3)) + is_two_way(of)):
        flow: dict[str, Any] = {"path": ["l"], "name": f"f{at + 1}", "start": f"{draw.uniform(0, 1) * 1e6 if at else 0:.0f} us"}
        if sized:
            flow["source"] = {"name": "bulk", "size": f"{even(10e3, 5e6):.0f} B"}
        flows.append(flow)
    if is_two_way(of):
        flows[-1]["direction"] = "reverse"
    duration = min(max(PACKETS * 12_000 / rate, SHORTEST_S), LONGEST_S)
    return {"duration": f"{duration:.3f} s", "sample": "ack", **tree, "flows": flows}


def kind_of(kernel: Side, simulator: Side, again: Side) -> str:
    """How far they part: one of `KINDS`."""
    if _content(kernel) == _content(simulator):
        apart = max((abs(one.t_ns - other.t_ns) for one, other in _pairs(kernel, simulator)), default=0)
        if apart <= TICK_NS:
            return KINDS[0] if apart <= MICROSECOND_NS else KINDS[1]
    far = apart_in_counts(kernel, simulator)
    if far <= NEAR:
        return KINDS[2]
    return KINDS[3] if apart_in_counts(kernel, again) >= far else KINDS[4]


def _content(side: Side) -> dict[str, list[tuple[int, int]]]:
    return {flow: [(packet.start, packet.length) for packet in packets] for flow, packets in side.packets.items()}


def _pairs(one: Side, other: Side) -> Iterator[tuple[Packet, Packet]]:
    for flow in one.packets.keys() & other.packets.keys():
        yield from zip(one.packets[flow], other.packets[flow], strict=False)


def apart_in_counts(one: Side, other: Side) -> float:
    """The largest difference of packets or retransmissions of a flow, as a share of the first side's; one packet more or less is none."""
    found = 0.0
    theirs = other.counts()
    for flow, counts in one.counts().items():
        for mine, its in zip(counts, theirs.get(flow, (0, 0)), strict=True):
            found = max(found, max(abs(mine - its) - 1, 0) / max(mine, 1))
    return found


def compared(numbers: Sequence[int], trees: Sequence[Mapping[str, Any]], keep: Path | None = None) -> list[Compared]:
    """These scenarios on both sides, and on the kernel once more from a later start; `keep` is where the kernel's runs stay."""
    kernels, ours = sides(trees, on_kernel=True, keep=keep), sides(trees, on_kernel=False)
    shifted = sides([later(tree, SHIFT_MS) for tree in trees], on_kernel=True, keep=keep)
    found: list[Compared] = []
    for number, tree, kernel, simulator, again in zip(numbers, trees, kernels, ours, shifted, strict=True):
        apart, itself = validity.apart(kernel, simulator), validity.apart(kernel, again)
        found.append(Compared(number, tree, kind_of(kernel, simulator, again), kernel, simulator, apart, itself))
    return found


def later(tree: Mapping[str, Any], ms: int) -> dict[str, Any]:
    """The same with flows that begin later."""
    flows = [{**flow, "start": f"{int(flow['start'].removesuffix(' us')) + ms * 1000} us"} for flow in tree["flows"]]
    return {**tree, "flows": flows}


def kept(of: Compared, until_s: float) -> dict[str, Any]:
    """A scenario's beginning with the kernel's packets, for `CORPUS`."""
    packets = {
        flow: [[packet.t_ns, packet.start, packet.length] for packet in packets if packet.t_ns < until_s * 1e9]
        for flow, packets in of.kernel.packets.items()
    }
    return {"scenario": {**of.tree, "duration": f"{until_s} s"}, "packets": packets}


def differences(case: Mapping[str, Any]) -> list[str]:
    """Packets of the simulator that are not those of a kept case, each within a microsecond."""
    (ours,) = sides([case["scenario"]], on_kernel=False)
    found: list[str] = []
    for flow, packets in case["packets"].items():
        sent = [packet for packet in ours.packets.get(flow, ()) if packet.t_ns <= packets[-1][0] + MICROSECOND_NS]
        if len(sent) != len(packets):
            found.append(f"{flow}: {len(sent)} packets, not {len(packets)}")
        for packet, (time, start, length) in zip(sent, packets, strict=False):
            if (packet.start, packet.length) != (start, length) or abs(packet.t_ns - time) > MICROSECOND_NS:
                found.append(
                    f"{flow}: {packet.length} B from {packet.start} on at {packet.t_ns} ns, not {length} B from {start} on at {time} ns"
                )
                break
    return found


def first_difference(of: Compared) -> list[str]:
    """The first packet of which the sides differ, in lines: both packets, and what both senders had sampled last."""
    parted: list[tuple[int, str, int]] = []
    for flow in of.kernel.packets.keys() | of.simulator.packets.keys():
        theirs, ours = of.kernel.packets.get(flow, ()), of.simulator.packets.get(flow, ())
        for at in range(max(len(theirs), len(ours))):
            one, other = (side[at] if at < len(side) else None for side in (theirs, ours))
            same = one and other and (one.start, one.length) == (other.start, other.length) and abs(one.t_ns - other.t_ns) <= TICK_NS
            if not same:
                parted.append((min(packet.t_ns for packet in (one, other) if packet), flow, at))
                break
    if not parted:
        return ["no packet differs"]
    time, flow, at = min(parted)
    lines = [f"flow {flow}, its packet {at + 1}, at {time / 1e9:.6f} s"]
    for name, side in (("kernel", of.kernel), ("simulator", of.simulator)):
        packets = side.packets.get(flow, ())
        packet = packets[at] if at < len(packets) else None
        sent = f"{packet.length} B from {packet.start:,} on at {packet.t_ns / 1e9:.6f} s" if packet else "nothing more"
        rows = side.series.filter(pl.col("flow") == flow, pl.col("t_ns") <= time).sort("t_ns").tail(1).to_dicts()
        known = ("cwnd_bytes", "ssthresh_bytes", "srtt_ns", "flight_bytes", "pipe_bytes", "pacing_rate_bps")
        state = ", ".join(f"{key} {row[key]}" for row in rows for key in known if row.get(key) is not None)
        lines.append(f"  {name:9} {sent}; {state or 'no sample'}")
    return lines


def minimised(of: Compared) -> Compared:
    """The same with less in it, as long as it parts in the same way: flows, losses, ways back and time are left out one by one."""
    best, smaller = of, True
    while smaller:
        smaller = False
        for tree in _less(best.tree):
            (tried,) = compared([of.number], [tree])
            if tried.kind == of.kind:
                best, smaller = tried, True
                break
    return best


def _less(tree: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    flows, link = tree["flows"], tree["links"]["l"]
    if len(flows) > 1:
        for at in range(len(flows)):
            yield {
                **tree,
                "flows": [{**flow, "start": "0 us"} if rest == 0 else flow for rest, flow in enumerate(flows[:at] + flows[at + 1 :])],
            }
    for key in ("loss", "reverse"):
        if key in link:
            yield {**tree, "links": {"l": {name: value for name, value in link.items() if name != key}}}
    seconds = float(tree["duration"].removesuffix(" s"))
    if seconds > SHORTEST_S / 4:
        yield {**tree, "duration": f"{seconds / 2:.3f} s"}


def summary(found: Sequence[Compared]) -> str:
    """How many of each congestion control are of each kind."""
    rows: list[list[str]] = []
    for name in (*DETERMINISTIC, *OTHERS):
        kinds = Counter(each.kind for each in found if each.cc == name)
        if kinds:
            rows.append([name, f"{kinds.total()}", *(f"{kinds[kind] or ''}" for kind in KINDS)])
    for words, names in (("**deterministic**", DETERMINISTIC), ("**others**", OTHERS)):
        kinds = Counter(each.kind for each in found if each.cc in names)
        if kinds:
            rows.append([words, f"{kinds.total()}", *(f"{kinds[kind] / kinds.total():.0%}" for kind in KINDS)])
    return table(["", "Scenarios", *KINDS], rows, "lr" + "r" * len(KINDS))


def deviations(found: Sequence[Compared]) -> str:
    """How far flows are from the kernel's, each for itself."""
    rows: list[list[str]] = []
    apart = [validity.apart_of_flows(each.kernel, each.simulator) for each in found]
    for name, words in MEASURED.items():
        values = [abs(value) for each in apart for value in each[name]]
        rows.append([words, f"{len(values)}", *(f"{pl.Series(values).quantile(at):.2%}" for at in (0.5, 0.9))])
    return table(["", "Flows", "Median", "90th percentile"], rows, "lrrr")


def path_of(of: str) -> Path:
    """The page on which a set is written."""
    return PAGES / ("linux-two-way.md" if is_two_way(of) else "linux-packets.md")


def page(found: Sequence[Compared], of: str) -> str:
    """What is written."""
    assert __doc__
    rule = __doc__.split("was run:\n\n")[1].strip()
    parts = [each for each in found if each.kind == KINDS[4]]
    lines = "\n".join(f"Scenario {each.number}, {each.cc}:\n{chr(10).join(first_difference(each))}\n" for each in parts)
    return f"""<!-- Written by bench/linux/fuzz.py --write; edit that. -->

# The simulator's `linux` stack beside Linux, packet by packet{": traffic both ways" if is_two_way(of) else ""}

{len(found)} scenarios of the set "{of}", Linux {uml.modules().release}, {date.today().isoformat()}. The rule, which was written before any of these was run:

{rule}

{summary(found)}

How far flows are from the kernel's, as a share of the kernel's, without sign; each flow of a scenario counts for itself:

{deviations(found)}

{BEFORE if of == TRAIN else ""}

What was mended has a case each in `tests/linux/packets`, with the kernel's packets. Where on the map of rates and round-trip times scenarios are, and how far goodput, retransmissions, round trips and windows of each were
from the kernel's, is [the validity map](map.md), from which `sawtooth doctor --fidelity STUDY` answers.

## The first packet that differs, of all that part

```text
{lines}```
"""


def main() -> None:
    """Runs both sides and prints or writes what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=20, help="scenarios")
    parser.add_argument("--first", type=int, default=1, help="the number of the first")
    parser.add_argument("--set", default=TRAIN, choices=(TRAIN, FRESH, TWO_WAY, FRESH_TWO_WAY))
    parser.add_argument("--only", type=int, help="this one alone")
    parser.add_argument("--cc", help="those of this congestion control")
    parser.add_argument("--keep", metavar="NAME", help=f"write the kernel's packets of --only to {CORPUS.relative_to(ROOT)}")
    parser.add_argument("--until", type=float, default=1.0, help="and of those that leave before this many seconds")
    parser.add_argument("--kept", type=Path, metavar="DIR", help="the kernel's runs stay there, and are not run again")
    parser.add_argument("--minimise", action="store_true", help="make those that part smaller")
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"write {path_of(FRESH).name}, or {path_of(TWO_WAY).name}; and of the others the validity map with its page anew",
    )
    parser.add_argument(
        "--map", action="store_true", help="put these scenarios into the validity map, and write its page; others of the set stay"
    )
    options = parser.parse_args()
    if options.minimise and (options.write or options.map):
        parser.error("--minimise makes other scenarios, which are not those of their numbers: leave out --write and --map")
    numbers = [options.only] if options.only else list(range(options.first, options.first + options.number))
    commit = validity.commit()
    trees = {number: drawn(options.set, number) for number in numbers}
    trees = {number: tree for number, tree in trees.items() if options.cc in (None, tree["cc"])}
    found: list[Compared] = []
    for number, tree in trees.items():
        (each,) = compared([number], [tree], options.kept)
        if options.minimise and each.kind == KINDS[4]:
            each = minimised(each)
        found.append(each)
        print(
            f"{number:4} {each.cc:10} {each.kind}",
            *(first_difference(each) if each.kind == KINDS[4] else ()),
            sep="\n     ",
            file=sys.stderr,
            flush=True,
        )
        if options.only:
            print(json.dumps(each.tree, indent=1))
        if options.keep:
            CORPUS.joinpath(f"{options.keep}.json").write_text(json.dumps(kept(each, options.until), separators=(",", ":")) + "\n")
    if options.write:
        publish(page(found, options.set), path_of(options.set), write=True)
    else:
        print(summary(found))
    if not is_two_way(options.set) and (options.write or options.map):
        rows = [validity.row(options.set, each, uml.modules().release, commit) for each in found]
        validity.renew(rows, whole=options.write and options.cc is None and options.only is None)


if __name__ == "__main__":
    main()
