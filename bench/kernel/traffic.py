"""Every kind of traffic on a kernel and in the simulator, with the same random numbers; write docs/validation/traffic.md.

python bench/kernel/traffic.py
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.backends import sim, uml
from sawtooth.backends.batch import Batch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pages import table

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
# The packaged kernel's ticks are of 10 ms.
TICKS = {"timer_tick": "10 ms"}
LINK = {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "50 packets"}}

Tree = dict[str, Any]


def scenario(*flows: Tree, duration: str = "20 s", **link: Any) -> Tree:
    return {"duration": duration, "stack": "linux", "links": {"l": {**LINK, **link}}, "flows": list(flows)}


def web(load: float) -> Tree:
    size = {"name": "pareto", "shape": 1.2, "mean": "30 kB", "max": "1 MB"}
    return {"name": "web", "path": ["l"], "arrivals": {"load": load, "size": size}}


def asks(**source: Any) -> Tree:
    return {"name": "client", "path": ["l"], "source": {"name": "request_response", "think": "50 ms", **source}}


def background(**source: Any) -> Tree:
    return {"name": "udp", "path": ["l"], "transport": "udp", "source": source}


# TCP begins a little later than UDP: of packets that come at one time one cannot say which is first.
LONG = {"name": "tcp", "path": ["l"], "start": "2.6 ms"}
TWO = [{"name": f"tcp{at}", "path": ["l"], "start": f"{at} s"} for at in range(2)]
DRAWN = {
    "request": {"name": "exponential", "mean": "2 kB"},
    "response": {"name": "lognormal", "mean": "40 kB", "sigma": 1.0},
    "think": {"name": "exponential", "mean": "300 ms"},
    "server_think": {"name": "exponential", "mean": "50 ms"},
}
ARRIVALS = {"load 0.3": scenario(web(0.3)), "load 0.6": scenario(web(0.6)), "load 0.6 beside a long flow": scenario(web(0.6), LONG)}
EXCHANGES = {
    "300 B for 30 kB": scenario(asks()),
    "drawn sizes and times": scenario(asks(**DRAWN)),
    "2 % of packets lost": scenario(asks(), loss=0.02, duration="60 s"),
}
SOURCES = {
    "on_off at 2 Mbit/s": scenario({**LONG, "source": {"name": "on_off", "rate": "2 Mbit/s"}}),
    "on_off at 20 Mbit/s": scenario({**LONG, "source": {"name": "on_off", "rate": "20 Mbit/s"}}),
    "beside UDP, constant_rate": scenario(LONG, background(name="constant_rate", rate="4 Mbit/s")),
    "beside UDP, poisson": scenario(LONG, background(name="poisson", rate="4 Mbit/s")),
    "beside UDP, self_similar": scenario(LONG, background(name="self_similar", mean="4 Mbit/s")),
}
LINKS = {
    "fq_codel": scenario(*TWO, queue={"name": "fq_codel"}),
    "codel": scenario(*TWO, queue={"name": "codel"}),
    "pie": scenario(*TWO, queue={"name": "pie"}),
    "jitter, in order": scenario(*TWO, jitter={"name": "normal", "deviation": "2 ms"}),
    "jitter that reorders": scenario(*TWO, jitter={"name": "normal", "deviation": "2 ms"}, keep_order=False),
    "gilbert_elliott": scenario(*TWO, loss={"name": "gilbert_elliott", "p": 0.001, "r": 0.3}),
    "changes of rate and delay": scenario(
        *TWO, changes=[{"at": "5 s", "rate": "2 Mbit/s"}, {"at": "10 s", "rate": "10 Mbit/s", "delay": "40 ms"}]
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/validation/traffic.md")
    out: Path = parser.parse_args().out
    sections = [
        "# What do a kernel and the simulator make of the same traffic?",
        f"Written by `python bench/kernel/traffic.py`. Linux {uml.modules().release} (user-mode Linux in virtual time, the agent's sockets, CUBIC) and the simulator with "
        f'`stack = "linux"` and ticks of 10 ms, over the same link of 10 Mbit/s and 20 ms each way with 50 packets of drop-tail queue, if nothing else is said, for 20 s; seeds {_words(SEEDS)}. '
        "Random numbers are the same: as many flows arrive at the same times with the same sizes, as many bytes are asked for, the same packets of UDP leave. What is left are two "
        "TCPs; where a queue overflows, a packet that comes a moment later finds another queue, and runs part. Kernel, simulator, and their ratio: means over the seeds.",
        "**What parts?** Nothing is random in how two flows share a queue, so the seeds are three times one run there (`fq_codel`, `codel`, steps): who has lost when decides who has more, and what "
        "to look at is the sum and the wait. One thing has not been taken apart yet: with jitter that keeps the order the slow start of one seed of three ends late in the simulator, with many drops, and not on the kernel; the other two drop as many as there.",
        "## Flows that arrive and leave",
        _section(ARRIVALS, _arrivals),
        "## Requests and responses over one connection",
        _section(EXCHANGES, _exchanges),
        "## Applications that pause, and UDP beside TCP",
        _section(SOURCES, _flows),
        "## Two flows over links and queues of the world",
        _section(LINKS, _flows),
    ]
    out.write_text("\n\n".join(sections) + "\n")
    return 0


def _words(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _section(cases: dict[str, Tree], measures: Callable[[Batch], dict[str, float]]) -> str:
    rows: list[list[str]] = []
    for name, tree in cases.items():
        kernel = [json.dumps({**tree, "cc": "kernel:cubic", "kernel": {"gso": False}})] * len(SEEDS)
        model = [json.dumps({**tree, "cc": "cubic", "tcp": TICKS})] * len(SEEDS)
        real, simulated = uml.run_batch(kernel, SEEDS), sim.run_batch(model, SEEDS)
        for batch in (real, simulated):
            if batch.errors:
                raise SystemExit(f"{name}: {batch.errors}")
        of_model = measures(simulated)
        for at, (measure, value) in enumerate(measures(real).items()):
            other = of_model[measure]
            ratio = f"{other / value:.3f}" if value else "-"
            rows.append([name if at == 0 else "", measure, f"{value:.4g}", f"{other:.4g}", ratio])
            print(rows[-1], flush=True)
    return table(["", "", "kernel", "simulator", "ratio"], rows, "llrrr")


def _mean(frame: pl.DataFrame, column: str) -> float:
    value = frame[column].mean()
    return float(value) if isinstance(value, int | float) else 0.0


def _arrivals(batch: Batch) -> dict[str, float]:
    frame = batch.tables["arrivals"]
    found = {
        name: _mean(frame, column) for name, column in (("started", "started"), ("completed", "completed"), ("alive, mean", "alive_mean"))
    }
    found["completion, ms"] = _mean(frame, "completion_mean_ns") / 1e6
    sizes = batch.tables["completions"].group_by("size_from_bytes", maintain_order=True)
    of_size = pl.col("completion_mean_ns").dot(pl.col("completed")) / pl.col("completed").sum()
    means = sizes.agg(of_size.alias("mean"), pl.col("completed").sum()).filter(pl.col("completed") > 0).sort("size_from_bytes")
    for size, mean in means.select("size_from_bytes", "mean").iter_rows():
        found[f"completion from {size // 1000} kB on, ms"] = mean / 1e6
    return found


def _exchanges(batch: Batch) -> dict[str, float]:
    frame = batch.tables["exchanges"]
    return {
        "answered": _mean(frame, "answered"),
        "request to response, ms": _mean(frame, "completion_mean_ns") / 1e6,
        "its 90th percentile, ms": _mean(frame, "completion_p90_ns") / 1e6,
    }


def _flows(batch: Batch) -> dict[str, float]:
    flows = batch.tables["flows"].filter(pl.col("flow") != "udp")
    forward = batch.tables["links"].filter(direction="forward")
    found = {
        f"goodput of {name}, Mbit/s": _mean(rows, "goodput_bps") / 1e6 for (name,), rows in flows.group_by("flow", maintain_order=True)
    }
    found["wait in the queue, ms"] = _mean(forward, "wait_mean_ns") / 1e6
    found["dropped or lost"] = _mean(forward, "dropped_packets") + _mean(forward, "lost_packets")
    if "datagrams" in batch.tables:
        found["UDP received"] = _mean(batch.tables["datagrams"], "delivered_packets")
        found["UDP delay, ms"] = _mean(batch.tables["datagrams"], "delay_mean_ns") / 1e6
    return found


if __name__ == "__main__":
    sys.exit(main())
