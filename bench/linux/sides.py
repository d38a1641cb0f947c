"""One scenario on a real kernel or in the simulator, as packets at its senders; the kernel's may be kept, and are not run again."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth import _core, taps
from sawtooth.backends import sim, uml

TABLES = ("series", "flows")
# The packaged kernel's: ticks of 10 ms, of which those at which long waits end are counted from its boot on, and readings of 256 ns. A run begins with the first reading after a tick that is between two.
CLOCK = {"timer_tick": "10 ms", "sender_phase": "319999872 ns", "receiver_phase": "319999872 ns", "clock_reading": "256 ns"}


@dataclass(frozen=True)
class Packet:
    """A packet with data at its sender: when, where its data begins in the flow's, and how long it is."""

    t_ns: int
    start: int
    length: int


@dataclass(frozen=True)
class Side:
    """What one side did: packets of each flow, its samples at acknowledgements, and a row of each flow."""

    packets: Mapping[str, Sequence[Packet]]
    series: pl.DataFrame
    flows: pl.DataFrame
    duration_ns: float

    def counts(self) -> dict[str, tuple[int, int]]:
        """Of each flow packets, and those of them whose beginning had been sent before."""
        found: dict[str, tuple[int, int]] = {}
        for flow, packets in self.packets.items():
            found[flow] = (len(packets), len(packets) - len({packet.start for packet in packets}))
        return found


def sides(
    trees: Sequence[Mapping[str, Any]], *, on_kernel: bool, seeds: Sequence[int] | None = None, keep: Path | None = None
) -> list[Side]:
    """What one side does in all scenarios.

    Args:
        trees: the scenarios, without what either side adds.
        on_kernel: the side.
        seeds: of each scenario; 1 of all, if there are none.
        keep: the folder where captures and tables stay. What is there already of a scenario is not run again.

    """
    every = list(zip(trees, seeds or [1] * len(trees), strict=True))
    with tempfile.TemporaryDirectory() as temporary:
        folders = [(keep or Path(temporary)) / _name(tree, seed, on_kernel=on_kernel) for tree, seed in every]
        # A folder may be asked for twice, and is run once.
        missing = {folder: each for folder, each in zip(folders, every, strict=True) if not folder.exists()}
        if missing:
            _run(missing, on_kernel=on_kernel)
        return [_read(folder, tree) for folder, tree in zip(folders, trees, strict=True)]


def _name(tree: Mapping[str, Any], seed: int, *, on_kernel: bool) -> str:
    """What tells one run from another: what runs, and on which kernel."""
    of = [_text(tree, on_kernel=on_kernel), seed, uml.modules().release if on_kernel else None]
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:20]


def _text(tree: Mapping[str, Any], *, on_kernel: bool) -> str:
    added = (
        {"cc": f"kernel:{tree['cc']}", "kernel": {"gso": False}}
        if on_kernel
        else {"stack": "linux", "tcp": {**tree.get("tcp", {}), **CLOCK}}
    )
    return json.dumps({**tree, **added})


def _run(missing: Mapping[Path, tuple[Mapping[str, Any], int]], *, on_kernel: bool) -> None:
    texts = [_text(tree, on_kernel=on_kernel) for tree, _ in missing.values()]
    # Beside where they stay, so that a folder that is there is whole.
    parts = [folder.with_suffix(".part") for folder in missing]
    for part in parts:
        part.mkdir(parents=True, exist_ok=True)
    orders = [taps.wanted(_capture(part), on_kernels=on_kernel).of_scenario(text, []) for part, text in zip(parts, texts, strict=True)]
    batch = (uml if on_kernel else sim).run_batch(texts, [seed for _, seed in missing.values()], orders)
    if batch.errors:
        raise SystemExit(f"a run failed: {batch.errors}")
    for run, (part, folder) in enumerate(zip(parts, missing, strict=True)):
        for name in TABLES:
            batch.tables[name].filter(run=run).write_parquet(part / f"{name}.parquet")
        part.rename(folder)


def _read(folder: Path, tree: Mapping[str, Any]) -> Side:
    series, flows = (pl.read_parquet(folder / f"{name}.parquet") for name in TABLES)
    return Side(_packets(_capture(folder)), series, flows, 1e9 * float(tree["duration"].removesuffix(" s")))


def _capture(folder: Path) -> Path:
    return folder / "packets.pcapng"


def _packets(path: Path) -> dict[str, list[Packet]]:
    """Packets with data that left their senders, of each flow, counted from its first byte of data."""
    found: dict[str, list[Packet]] = {}
    first: dict[str, int] = {}
    for packet in _core.CapturedSegments(str(path), _core.CAPTURE_EPOCH_NS):
        if packet.outgoing and packet.payload:
            begin = first.setdefault(packet.flow, packet.seq)
            found.setdefault(packet.flow, []).append(Packet(packet.t_ns, (packet.seq - begin) % 2**32, packet.payload))
    return found


def captured(tree: Mapping[str, Any], seed: int, keep: Path, *, on_kernel: bool) -> Path:
    """The capture of a run that was kept."""
    return _capture(keep / _name(tree, seed, on_kernel=on_kernel))
