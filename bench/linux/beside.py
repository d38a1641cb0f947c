"""What a flow's sender saw and did on both sides, beside each other, around the first packet that differs: what `fuzz.py` found, looked at.

    python bench/linux/beside.py 17 --kept DIR                  # scenario 17 of the set "train"; the kernel's run stays in DIR
    python bench/linux/beside.py 17 --kept DIR --at 1.25 --flow f2 --lines 60

A line is a packet with data that leaves (`>`, where it begins in packets of the flow's first length, `R` if its beginning was sent before), or an acknowledgement that comes (`<`, with SACK blocks, and then window,
threshold and packets in flight as the sender has them after it). Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from bisect import bisect
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl
from sides import captured, sides

from fuzz import TICK_NS, drawn
from sawtooth import _core
from sawtooth.fidelity.compared import TRAIN

Event = tuple[int, str]


def events(path: Path, series: pl.DataFrame, flow: str) -> list[Event]:
    """What left and came, in order, in words."""
    after = {row["t_ns"]: row for row in series.filter(flow=flow).to_dicts()}
    found: list[Event] = []
    sent: set[int] = set()
    first = size = None
    for packet in _core.CapturedSegments(str(path), _core.CAPTURE_EPOCH_NS):
        if packet.flow != flow:
            continue
        if packet.outgoing and packet.payload:
            first, size = (packet.seq, packet.payload) if first is None else (first, size)
            assert size
            begin = (packet.seq - first) % 2**32
            again = "R" if begin in sent else " "
            sent.add(begin)
            found.append((packet.t_ns, f">{again}{begin / size:8g} {packet.payload if packet.payload != size else ''}"))
        elif not packet.outgoing and first is not None and size:
            row = after.get(packet.t_ns)
            found.append((packet.t_ns, f"< {_place(packet.ack, first, size)} {_blocks(packet.sacks, first, size)}{_state(row, size)}"))
    return found


def _place(at: int, first: int, size: int) -> str:
    return f"{((at - first + 2**31) % 2**32 - 2**31) / size:8g}"


def _blocks(sacks: Sequence[tuple[int, int]], first: int, size: int) -> str:
    return "".join(f"[{_place(left, first, size).strip()}-{_place(right, first, size).strip()}]" for left, right in sacks[:2])


def _state(row: dict[str, Any] | None, size: int) -> str:
    if row is None:
        return ""
    threshold = row["ssthresh_bytes"]
    limit = f"{threshold / size:.4g}" if threshold is not None and threshold < 2**30 else "-"
    return f" {row['cwnd_bytes'] / size:.4g}/{limit} {row['pipe_bytes'] / size:.4g}"


def parts_at(one: Sequence[Event], other: Sequence[Event], tolerance_ns: int) -> int:
    """When the first packet is another or leaves at another time."""
    sent = ([event for event in events if event[1][0] == ">"] for events in (one, other))
    for mine, its in zip_longest(*sent):
        if not mine or not its or mine[1] != its[1] or abs(mine[0] - its[0]) > tolerance_ns:
            return min(event[0] for event in (mine, its) if event)
    return one[-1][0] if one else 0


def main() -> None:
    """Prints both sides' events beside each other."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("number", type=int)
    parser.add_argument("--set", default=TRAIN)
    parser.add_argument("--kept", type=Path, required=True, metavar="DIR")
    parser.add_argument("--flow", default="f1")
    parser.add_argument("--at", type=float, help="seconds; else where they part")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--tolerance", type=int, default=TICK_NS, help="of times, in ns")
    options = parser.parse_args()
    tree = drawn(options.set, options.number)
    if "train" in options.set:
        print({key: value for key, value in tree.items() if key != "sample"})
    columns: list[list[Event]] = []
    with tempfile.TemporaryDirectory() as simulated:
        for on_kernel, keep in ((True, options.kept), (False, Path(simulated))):
            (side,) = sides([tree], on_kernel=on_kernel, keep=keep)
            columns.append(events(captured(tree, 1, keep, on_kernel=on_kernel), side.series, options.flow))
    at = int(options.at * 1e9) if options.at is not None else parts_at(columns[0], columns[1], options.tolerance)
    shown = [_around(column, at, options.lines) for column in columns]
    for mine, its in zip_longest(*shown):
        print(f"{_line(mine):73} {_line(its)}".rstrip())


def _around(column: Sequence[Event], at: int, lines: int) -> Sequence[Event]:
    place = bisect([time for time, _ in column], at - 1)
    return column[max(0, place - lines // 2) : place + lines // 2]


def _line(event: Event | None) -> str:
    return f"{event[0] / 1e6:13.6f} {event[1]}" if event else ""


if __name__ == "__main__":
    sys.exit(main())
