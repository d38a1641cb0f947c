"""Run every congestion control that Linux has on a real kernel and in the simulator, over the same scenarios, and write how far they part.

    python bench/linux/validate.py                      # all; writes docs/validation/linux.md
    python bench/linux/validate.py --cc cubic,bbr --only "1 MB"

The kernel is user-mode Linux in virtual time (`sawtooth doctor`), so every difference is one of TCP: the links are the same code.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sawtooth import _core
from sawtooth.backends import guest, sim, uml
from sawtooth.backends.batch import Batch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from markdown import table

ROOT = Path(__file__).resolve().parents[2]
# The packaged kernel's ticks are of 10 ms.
TICKS = {"timer_tick": "10 ms"}
SAMPLE = "20 ms"
# What the project wants: the median over algorithms and scenarios, and the 90th percentile.
WANTED = {"goodput": (0.02, 0.05), "completion": (0.03, 0.08), "mean RTT": (0.05, 0.10), "cwnd": (0.10, None)}


def case(
    rate: str,
    delay: str,
    queue: str,
    *,
    size: str | None = None,
    duration: str = "20 s",
    flows: Sequence[Mapping[str, Any]] = (),
    **more: Any,
) -> dict[str, Any]:
    """A scenario of one link."""
    link = {"rate": rate, "delay": delay, "queue": {"name": "drop_tail", "limit": queue}, **more}
    source = {"name": "bulk", **({"size": size} if size else {})}
    return {"duration": duration, "sample": SAMPLE, "links": {"l": link}, "flows": list(flows) or [{"path": ["l"], "source": source}]}


def unequal_round_trips() -> dict[str, Any]:
    """Two flows share a bottleneck; one comes from 30 ms further away."""
    tree = case(
        "10 Mbit/s", "10 ms", "50 packets", flows=[{"path": ["l"], "name": "near"}, {"path": ["far", "l"], "name": "far", "start": "1 s"}]
    )
    tree["links"]["far"] = {"rate": "1 Gbit/s", "delay": "30 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}}
    return tree


def marking() -> dict[str, Any]:
    """A queue of one bandwidth-delay product that marks above a third of it, and hosts that understand marks."""
    tree = case("10 Mbit/s", "10 ms", "17 packets")
    tree["links"]["l"]["queue"] = {"name": "step", "limit": "17 packets", "mark_above": "6 packets"}
    tree["tcp"] = {"ecn": "classic"}
    return tree


CASES: dict[str, dict[str, Any]] = {
    "10 Mbit/s 20 ms, 0.2 BDP": case("10 Mbit/s", "10 ms", "4 packets"),
    "10 Mbit/s 20 ms, 1 BDP": case("10 Mbit/s", "10 ms", "17 packets"),
    "10 Mbit/s 20 ms, 5 BDP": case("10 Mbit/s", "10 ms", "83 packets"),
    "50 Mbit/s 80 ms, 0.2 BDP": case("50 Mbit/s", "40 ms", "67 packets"),
    "50 Mbit/s 80 ms, 1 BDP": case("50 Mbit/s", "40 ms", "333 packets"),
    "100 Mbit/s 10 ms, 1 BDP": case("100 Mbit/s", "5 ms", "83 packets", duration="10 s"),
    "100 Mbit/s 300 ms, 1 BDP": case("100 Mbit/s", "150 ms", "2500 packets", duration="20 s"),
    "every 100th lost": case("10 Mbit/s", "20 ms", "1000 packets", drop=list(range(100, 20_000, 100))),
    "two early losses": case("10 Mbit/s", "20 ms", "1000 packets", size="300 kB", drop=[7, 22]),
    "20 kB": case("10 Mbit/s", "20 ms", "50 packets", size="20 kB", duration="5 s"),
    "200 kB": case("10 Mbit/s", "20 ms", "50 packets", size="200 kB", duration="5 s"),
    "1 MB": case("10 Mbit/s", "20 ms", "50 packets", size="1 MB", duration="5 s"),
    "1 MB, 10 packets": case("10 Mbit/s", "20 ms", "10 packets", size="1 MB", duration="10 s"),
    "two round-trip times": unequal_round_trips(),
    "10 Mbit/s 20 ms, ECN": marking(),
}


@dataclass(frozen=True)
class Part:
    """How far kernel and simulator part for one flow; shares, and segments."""

    cc: str
    case: str
    flow: str
    goodput: float | None
    completion: float | None
    rtt: float | None
    retransmits: tuple[int, int]
    cwnd: float | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cc", help="algorithms, by default all that the kernel and the simulator have")
    parser.add_argument("--only", help="one scenario")
    parser.add_argument("--keep", type=Path, help="a folder: kernels' runs are kept there and taken from there, for they never change")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/validation/linux.md")
    options = parser.parse_args()
    kernels = uml.modules().congestion_controls()
    names = options.cc.split(",") if options.cc else [entry["name"] for entry in _core.registry()["cc"] if entry["name"] in kernels]
    cases = {name: tree for name, tree in CASES.items() if options.only in (None, name)}
    started = time.monotonic()
    parts: list[Part] = []
    for name in names:
        found = compare(name, cases, options.keep)
        parts += found
        print(f"{name:10}" + " ".join(f"{key} {words(spread(found, key))};" for key in WANTED), flush=True)
    if not options.only and not options.cc:
        options.out.write_text(page(parts, list(cases)), encoding="utf-8")
        frame(parts).write_csv(options.out.with_suffix(".csv"))
        print(f"{len(names)} algorithms, {len(cases)} scenarios in {time.monotonic() - started:.0f} s; wrote {options.out}")
    else:
        print(
            table(
                ["Algorithm", "Scenario", "Flow", "Goodput", "Completion", "Mean RTT", "Retransmissions", "cwnd"],
                [row(part) for part in parts],
            )
        )


def on_kernel(jobs: Sequence[str], keep: Path | None) -> Batch:
    """All jobs on the kernel, except those of which an earlier run has kept the result of the same job, kernel and agent."""
    if keep is None:
        return uml.run_batch(jobs, [1] * len(jobs))
    keep.mkdir(parents=True, exist_ok=True)
    same = hashlib.sha256(uml.modules().release.encode() + guest.AGENT.read_bytes() + guest.CLOCK.read_bytes()).hexdigest()
    paths = [keep / f"{hashlib.sha256((same + job).encode()).hexdigest()[:16]}.pickle" for job in jobs]
    missing = [at for at, path in enumerate(paths) if not path.exists()]
    if missing:
        made = uml.run_batch([jobs[at] for at in missing], [1] * len(missing))
        assert not made.errors, made.errors
        for run, at in enumerate(missing):
            own = {name: frame.filter(run=run).drop("run") for name, frame in made.tables.items()}
            paths[at].write_bytes(pickle.dumps(own))
    kept = [pickle.loads(path.read_bytes()) for path in paths]
    tables = {
        name: pl.concat([own[name].with_columns(pl.lit(run, pl.UInt32).alias("run")) for run, own in enumerate(kept) if name in own])
        for name in dict.fromkeys(name for own in kept for name in own)
    }
    return Batch(tables, {}, 0, 0)


def compare(cc: str, cases: Mapping[str, Mapping[str, Any]], keep: Path | None = None) -> list[Part]:
    """One algorithm in all scenarios, on both sides."""
    trees = [with_feedback(tree, cc) for tree in cases.values()]
    ours = [json.dumps({**tree, "cc": cc, "stack": "linux", "tcp": {**tree.get("tcp", {}), **TICKS}}) for tree in trees]
    theirs = [json.dumps({**tree, "cc": f"kernel:{cc}", "kernel": {"gso": False}}) for tree in trees]
    kernel, simulator = on_kernel(theirs, keep), sim.run_batch(ours, [1] * len(ours))
    for batch in (kernel, simulator):
        assert not batch.errors, batch.errors
    parts: list[Part] = []
    for run, (name, tree) in enumerate(cases.items()):
        for one, other in zip(flows(kernel, run), flows(simulator, run), strict=True):
            sized = "size" in tree["flows"][0].get("source", {})
            done = one["completion_ns"] > 0 and other["completion_ns"] > 0
            a, b = series(kernel, run, one), series(simulator, run, other)
            length = min(len(a), len(b))
            a, b = a[:length], b[:length]
            parts.append(
                Part(
                    cc, name, one["flow"],
                    goodput=None if sized else other["goodput_bps"] / one["goodput_bps"] - 1,
                    completion=other["completion_ns"] / one["completion_ns"] - 1 if sized and done else None,
                    rtt=ratio(b["srtt_ns"].mean(), a["srtt_ns"].mean()),
                    retransmits=(one["retransmits"], other["retransmits"]),
                    cwnd=distance(a["cwnd_bytes"].to_numpy(), b["cwnd_bytes"].to_numpy()),
                )
            )  # fmt: skip
    return parts


def with_feedback(tree: Mapping[str, Any], cc: str) -> Mapping[str, Any]:
    """With ECN, `dctcp` needs a receiver that echoes as RFC 8257 has it: in Linux one that runs `dctcp`, too."""
    return {**tree, "tcp": {"ecn": "dctcp"}, "receiver_cc": cc} if cc == "dctcp" and "tcp" in tree else tree


def flows(batch: Batch, run: int) -> list[dict[str, Any]]:
    return batch.tables["flows"].filter(run=run).to_dicts()


def series(batch: Batch, run: int, flow: Mapping[str, Any]) -> pl.DataFrame:
    """The flow's samples while it was under way."""
    rows = batch.tables["series"].filter(pl.col("run") == run, pl.col("flow") == flow["flow"], pl.col("srtt_ns") > 0).sort("t_ns")
    if flow["completion_ns"] > 0:
        rows = rows.filter(pl.col("t_ns") <= flow["start_ns"] + flow["completion_ns"])
    return rows


def ratio(ours: Any, theirs: Any) -> float | None:
    return float(ours) / float(theirs) - 1 if ours and theirs else None


def distance(theirs: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> float | None:
    """Root mean square of the difference of two curves, as a share of the kernel's mean."""
    if len(theirs) < 2:
        return None
    difference = ours.astype(float) - theirs.astype(float)
    return float(np.sqrt((difference**2).mean()) / theirs.astype(float).mean())


def values(parts: Sequence[Part], key: str) -> list[float]:
    found = [{"goodput": part.goodput, "completion": part.completion, "mean RTT": part.rtt, "cwnd": part.cwnd}[key] for part in parts]
    return sorted(abs(value) for value in found if value is not None)


def spread(parts: Sequence[Part], key: str) -> tuple[float, float] | None:
    """Median and 90th percentile."""
    found = values(parts, key)
    return (statistics.median(found), float(np.quantile(found, 0.9))) if found else None


def words(found: tuple[float, float] | None) -> str:
    return "-" if found is None else f"{found[0]:.1%} / {found[1]:.1%}"


def share(value: float | None) -> str:
    return "" if value is None else f"{value:+.1%}"


def row(part: Part) -> list[str]:
    return [part.cc, part.case, part.flow, share(part.goodput), share(part.completion), share(part.rtt), "{} / {}".format(*part.retransmits),
            "" if part.cwnd is None else f"{part.cwnd:.0%}"]  # fmt: skip


def retransmissions(parts: Sequence[Part]) -> str:
    """How many agree within 15 % or 3 segments."""
    near = sum(abs(one - other) <= max(3, 0.15 * one) for one, other in (part.retransmits for part in parts))
    return f"{near} of {len(parts)}"


def frame(parts: Sequence[Part]) -> pl.DataFrame:
    """Every run, for programs; shares to six digits."""
    rows = [{**vars(part), "kernel_retransmits": part.retransmits[0], "retransmits": part.retransmits[1]} for part in parts]
    return pl.DataFrame(rows).with_columns(pl.col("goodput", "completion", "rtt", "cwnd").cast(pl.Float64).round(6))


def page(parts: Sequence[Part], cases: Sequence[str]) -> str:
    names = list(dict.fromkeys(part.cc for part in parts))
    overall = [["**all**", *(words(spread(parts, key)) for key in WANTED), retransmissions(parts)]]
    wanted = [["*wanted*", *(f"{median:.0%} / {f'{most:.0%}' if most else '-'}" for median, most in WANTED.values()), "half of them"]]
    by_cc = [
        [name, *(words(spread(own, key)) for key in WANTED), retransmissions(own)]
        for name in names
        if (own := [part for part in parts if part.cc == name])
    ]
    by_case = [
        [name, *(words(spread(own, key)) for key in WANTED), retransmissions(own)]
        for name in cases
        if (own := [part for part in parts if part.case == name])
    ]
    header = ["", "Goodput", "Completion", "Mean RTT", "cwnd (NRMSE)", "Retransmissions"]
    return "\n\n".join([
        "# The simulator's `linux` stack beside Linux",
        f"Written by `python bench/linux/validate.py`. Kernel: Linux {uml.modules().release} as user-mode Linux in virtual time, its own congestion "
        "controls, segmentation offload off, defaults otherwise. Simulator: the congestion control of the same name, `stack = \"linux\"`, with the kernel's ticks "
        "of 10 ms. The links are the same code on both sides.",
        "Each entry is the median and the 90th percentile of the relative difference, simulator less kernel, without its sign; the last column how many flows "
        "agree in retransmitted segments within 15 % or 3. A curve's distance is the root mean square of the difference of the congestion windows, sampled every "
        f"{SAMPLE}, over the kernel's mean.",
        table(header, wanted + overall + by_cc),
        "## By scenario",
        table(header, by_case),
        "## Every run",
        "Differences with their sign: positive is more in the simulator. Retransmissions: kernel / simulator.",
        table(["Algorithm", "Scenario", "Flow", "Goodput", "Completion", "Mean RTT", "Retransmissions", "cwnd"], [row(part) for part in parts]),
    ]) + "\n"  # fmt: skip


if __name__ == "__main__":
    main()
