"""What was compared with a kernel: a row for each scenario, in a table that comes along. `bench/linux/fuzz.py --write` makes it anew."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from sawtooth.fidelity.situation import Situation

TABLE = Path(__file__).parent / "compared.csv"
MEASURES = ("goodput", "packets", "retransmits", "rtt", "cwnd")
"""Simulator less kernel, as a share of the kernel's."""
KINDS = ("same packets", "within a tick", "same counts", "by chance", "parts")
FRESH, TRAIN, FIXED = "test-8", "train", "fixed"


@dataclass(frozen=True)
class Compared:
    """A scenario on a kernel and in the simulator's `linux` stack.

    Attributes:
        set: `FRESH` of those that nobody had seen before they were run; `train` and `fixed` of those that were looked at while
            the simulator was mended.
        scenario: its number in the set, or its name.
        kernel: the release.
        date: when both ran.
        commit: of the simulator; with a + if sources had changed since.
        situation: where it is on the map.
        kind: how far packets parted, one of `KINDS`; empty where packets were not compared one by one.
        apart: the difference of each of `MEASURES`, of the flow that has the largest; None where it was not measured.
        itself: the same of the kernel beside itself, from a start a little later.

    """

    set: str
    scenario: str
    kernel: str
    date: str
    commit: str
    situation: Situation
    kind: str
    apart: Mapping[str, float | None]
    itself: Mapping[str, float | None]

    @property
    def fresh(self) -> bool:
        """Whether nobody had looked at it while the simulator was mended."""
        return self.set == FRESH


@functools.cache
def compared() -> Sequence[Compared]:
    """All that comes along."""
    return read(TABLE)


def read(path: Path) -> list[Compared]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(line) for line in csv.DictReader(file)]


def write(rows: Iterable[Compared], path: Path = TABLE) -> None:
    """Writes a table: shares to six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(_line(row) for row in rows)


_HEAD = ("set", "scenario", "kernel", "date", "commit")
_PLACE = tuple(each.name for each in fields(Situation))
COLUMNS = (*_HEAD, *_PLACE, "kind", *MEASURES, *(f"itself_{name}" for name in MEASURES))


def _row(line: Mapping[str, str]) -> Compared:
    rate, rtt, buffer, loss = (float(line[name]) for name in ("rate_bps", "rtt_s", "buffer_bdp", "loss"))
    marks, slow_acks, ends = (line[name] == "yes" for name in ("marks", "slow_acks", "ends"))
    place = Situation(line["algorithm"], rate, rtt, buffer, loss, marks, slow_acks, float(line["flows"]), ends)
    apart, itself = ({name: float(text) if (text := line[f"{of}{name}"]) else None for name in MEASURES} for of in ("", "itself_"))
    head = (line["set"], line["scenario"], line["kernel"], line["date"], line["commit"])
    return Compared(*head, place, line["kind"], apart, itself)


def _line(row: Compared) -> dict[str, str]:
    place = {name: _text(getattr(row.situation, name)) for name in _PLACE}
    shares = {name: _text(row.apart[name]) for name in MEASURES} | {f"itself_{name}": _text(row.itself[name]) for name in MEASURES}
    return {**{name: getattr(row, name) for name in _HEAD}, **place, "kind": row.kind, **shares}


def _text(value: float | str | bool | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"
