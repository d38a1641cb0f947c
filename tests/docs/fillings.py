"""What fills the holes of the sentences in facts.py: helpers, and what takes more than a line."""

from __future__ import annotations

import csv
import inspect
import json
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import sawtooth
from docs import captured
from sawtooth import _core
from sawtooth.plan import Plan, make_plan
from sawtooth.study import Study
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench/linux"))
import testbed_tables

DOCS = ROOT / "docs"
STUDIES = ROOT / "python/sawtooth/studies"
CAPTURE = "crates/sawtooth-capture/src"
Fill = Callable[[Path], list[Any]]


@cache
def plan(name: str) -> Plan:
    return make_plan(Study.load(name))


def runs_of(name: str) -> str:
    return f"{len(plan(name).runs):,}"


def replicates(name: str) -> int:
    return max(run.replicate for run in plan(name).runs)


def levels_of(name: str, variable: str) -> list[str]:
    return list(dict.fromkeys(str(cell.factors[f"vars.{variable}"]) for cell in plan(name).cells))


def study_text(name: str) -> str:
    return Study.load(name).document.text


def of_gigabit() -> list[int]:
    """The cells of the study at gigabit rates that were run, all, those at 1 Gbit/s, and those with the published queues."""
    cells = plan("hstcp/gigabit").cells
    first, unscaled = ([cell.factors[name] == level for cell in cells] for name, level in (("vars.Bw", "1 Gbit/s"), ("vars.scale", 1)))
    return [sum(a or b for a, b in zip(first, unscaled, strict=True)), len(cells), sum(first), sum(unscaled)]


@cache
def exchanged_tables() -> list[int]:
    """In how many of the testbed's detailed tables rows are exchanged, and how many there are."""
    state = testbed_tables.compare_tables(*map(testbed_tables.read, ("published-b-means.csv", "published-b-stats.csv")))
    return [state.filter(details=testbed_tables.EXCHANGED).height, state.height]


def studies(page: str) -> list[str]:
    return re.findall(r"(?s)```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"))


def constant(file: str, name: str) -> str:
    """The number of a constant in the sources, without its separators."""
    found = re.search(rf"\b{re.escape(name)}\b[^=\n]*= ?(?:\w+\()?(\d[\d_]*(?:\.\d+)?)", (ROOT / file).read_text(encoding="utf-8"))
    assert found is not None, f"{file} has no {name}"
    return found[1].replace("_", "")


def thousands(number: str | float) -> str:
    return f"{float(number):,.0f}"


def of_stack(key: str, stack: str = "linux") -> str:
    """What a stack has of a TCP parameter."""
    (values,) = (row["values"] for row in _core.registry()["stack"] if row["name"] == stack)
    (usual,) = (row["default"] for row in _core.registry()["tcp"] if row["name"] == key)
    return str(values.get(key, usual))


def of_queue(name: str, key: str) -> str:
    """The default of a queue's parameter."""
    (params,) = (row["params"] for row in _core.registry()["queue"] if row["name"] == name)
    return next(str(param["default"]) for param in params if param["name"] == key)


def default(function: Callable[..., Any], name: str) -> Any:
    return inspect.signature(function).parameters[name].default


def told(page: str, pattern: str) -> list[str]:
    """What a page that a program writes says."""
    found = re.search(pattern, " ".join((DOCS / page).read_text(encoding="utf-8").split()))
    assert found is not None, (page, pattern)
    return list(found.groups())


def published(study: str, name: str = "published.csv") -> list[dict[str, str]]:
    with (STUDIES / study / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def block(page: str, name: str) -> list[list[str]]:
    """The rows of a table that a program has filled."""
    found = re.search(
        rf"(?s)<!-- {name} -->\n(.*?)<!-- (?:/{name}|end) -->", page if "\n" in page else (DOCS / page).read_text(encoding="utf-8")
    )
    assert found is not None, (page, name)
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in found[1].splitlines() if line.startswith("| ")][1:]


# --- partial packets and buffers


def packets_with_autocorking(folder: Path) -> list[Any]:
    """Of the second study of the page, with and without."""
    links = sawtooth.run(studies("concepts/partial-packets.md")[1], folder).table("links", factors=True).collect()
    return [links.filter(direction="forward", autocorking=on)["arrived_packets"].item() for on in ("true", "false")]


def wait_of_a_request(folder: Path) -> list[Any]:
    """What a request in two writes takes longer with Nagle's policy than without, in the first study of the page."""
    found = sawtooth.run(studies("concepts/partial-packets.md")[0], folder).table("exchanges", factors=True).collect()
    times = {policy: found.filter(partial=policy)["completion_mean_ns"].item() for policy in ("nagle", "nodelay")}
    return [round((times["nagle"] - times["nodelay"]) / 1e6)]


def send_buffer(_: Path) -> list[Any]:
    """What Linux's default limit holds, in packets of 2728 bytes with 1448 of data each, and what that is of a path of 300 ms."""
    (limit,) = (param["default"] for param in _core.registry()["tcp"] if param["name"] == "send_buffer_max")
    held = round(_core.evaluate(limit, {})[0] / 2728)
    return [limit.removesuffix(" B"), held, f"{held * 1448 / 1e6:.1f}", round(held * 1448 * 8 / 0.3 / 1e6)]


def those_that_differ(_: Path) -> list[Any]:
    return [f"{100 * (1 - 0.05 ** (1 / n)):.0f}" for n in (3, 5, 10)]


# --- the study of Tahoe and Reno

CELL = {"vars.flows": 1, "vars.queue": "8000 B", "vars.window": "32000 B", "vars.segment": "256 B"}
"""The cell of Reno that differs most from ns-3.24's."""
TAHOE = {"vars.flows": 1, "vars.queue": "2000 B", "vars.window": "32000 B", "vars.segment": "128 B"}
WIRE = 256 + 42
"""Bytes of a segment of that cell with its headers."""


def goodput(arm: str, cell: Mapping[str, Any], *, more: int = 0, delay: str = "20 ms", recovery: str | None = None) -> float:
    """In kB/s, of a cell of the study with a queue that is some packets larger, another delay of the bottleneck or another recovery."""
    its = plan("tahoe-vs-reno")
    run = next(run for run in its.runs if run.arm == arm and its.cells[run.cell - 1].factors == cell)
    tree = json.loads(run.scenario)
    tree["links"]["bottleneck"]["queue"]["limit"] = f"queue + {1 + more} * (segment + header)"
    tree["links"]["bottleneck"]["delay"] = delay
    tree["tcp"]["recovery"] = recovery or tree["tcp"]["recovery"]
    return float(sawtooth.simulate(tree, seed=run.seed).tables["flows"]["goodput_bps"][0]) / 8e3


def of_ns3(variant: str) -> dict[str, str]:
    """What the published table has of that cell."""
    where = {"set": "study", "n": "1", "q_bytes": "8000", "win_bytes": "32000", "seg_bytes": "256", "variant": variant}
    (row,) = (row for row in published("tahoe-vs-reno") if where.items() <= row.items())
    return row


def kilobytes_of_ns3(variant: str) -> str:
    return f"{float(of_ns3(variant)['goodput_kbps_mean']) / 8:.1f}"


def extremes(arm: str, cell: Mapping[str, Any], queues: range) -> list[str]:
    """The least and the most with such queues, and with delays of 19 to 21 ms."""
    by_queue = [goodput(arm, cell, more=more) for more in queues]
    by_delay = [goodput(arm, cell, delay=f"{19 + at / 2} ms") for at in range(5)]
    return [f"{value:.1f}" for values in (by_queue, by_delay) for value in (min(values), max(values))]


def drops_more(_: Path) -> list[Any]:
    """What ns-3.24 loses more than this simulator, as the page's own table has it."""
    ours, theirs = told("guides/tahoe-vs-reno.md", r"8000 B \| 32000 B \| 256 B \| reno \| [\d.]+ \| (\d+), (\d+) \|")
    return [int(theirs) - int(ours)]


# --- the testbed


def published_means() -> list[float]:
    return [float(row["mean_s"]) for row in published("testbed", "published-b-means.csv")]


# --- captures and fits


def transfer(key: str) -> str:
    """What the capture of the guides is simulated with."""
    link = tomllib.loads(captured.TRANSFER)["scenario"]["links"]["line"]
    return str(link["queue"]["limit"] if key == "limit" else link[key])


def fits_of_kernels(_: Path) -> list[Any]:
    """How the fresh captures are named, and of how many of those that are not the two nearest are of these three."""
    (section,) = told("validation/fit.md", r"### 160 fresh ones (.*?) ### ")
    rates, captures, right, wrong = (
        re.findall(pattern, section)[0]
        for pattern in (r"\| (\d+) within 2%", r"of (\d+) are named", r"(\d+) of \d+ are named right", r"(\d+) wrong")
    )
    untold = re.findall(r"cannot tell; (\w+) [\d.]+%, (\w+) ", section)
    alike = [pair for pair in untold if set(pair) <= {"htcp", "westwood", "reno"}]
    return [captures, right, wrong, len(untold), rates, len(alike), len(untold)]


def errors_of_fluids(_: Path) -> list[Any]:
    """Of the scenarios with windows of two segments or more: of goodput the least and most error, of the wait in the queue, and how far below utilisation is."""
    page = (DOCS / "validation/fluid.md").read_text(encoding="utf-8").partition("## Each scenario")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if re.match(r"\| \d", line)]
    seen = pl.DataFrame(
        [[float(row[at]) for at in (4, 5, 10, 11, 12)] for row in rows],
        schema=["buffer", "window", "goodput", "utilisation", "wait"],
        orient="row",
    )
    seen = seen.filter(pl.col("window") >= 2)
    assert seen.filter(pl.col("buffer") >= 0.3)["utilisation"].abs().max() < 1  # pyright: ignore[reportOperatorIssue]
    goodput, wait = seen["goodput"].abs(), -seen["wait"]
    return [round(float(value)) for value in (goodput.min(), goodput.max(), wait.min(), wait.max(), -seen["utilisation"].min())]  # pyright: ignore


def assumed() -> list[list[Any]]:
    """The levels of what the study of background traffic assumes: all factors but the rate of the background."""
    sweep = tomllib.loads((STUDIES / "self-similar-background/sensitivity.toml").read_text(encoding="utf-8"))["sweep"]
    return [levels for key, levels in sweep.items() if key != "vars.background"]


# --- the page of the five documents


def claims_of_tahoe(*, of_parts: bool) -> list[str]:
    """The verdicts with random starts, of claims that the document's numbered parts, its conclusion and its levels are of, or of all others."""
    rows = block("guides/tahoe-vs-reno.md", "verdicts")
    return [row[1] for row in rows if of_parts == bool(re.match(r"1\.1 \([23]\)|1\.3|Conclusion|Levels", row[0]))]


def verdicts_of_tahoe(_: Path) -> list[Any]:
    found = claims_of_tahoe(of_parts=True)
    return [len(found), *(found.count(answer) for answer in ("yes", "no", "mixed", "cannot distinguish"))]


def combinations_of_tahoe(_: Path) -> list[Any]:
    (combinations,) = {sum(int(count or 0) for count in row[1:]) for row in block("guides/tahoe-vs-reno.md", "standing")}
    return [combinations]


def said_of_stalls(_: Path) -> list[Any]:
    return told("guides/stall-study.md", r"medians: ([\d.]+) at (\d+) sizes without a dip, ([\d.]+) at (\d+) with one")


# --- the gallery of everything else


def shared_queues(queues: int, flows: int) -> int:
    """Of how many runs one has two flows that fall into one queue."""
    return round(1 / (1 - math.prod(1 - at / queues for at in range(flows))))


def events_of_qlog(folder: Path) -> list[Any]:
    """Of the first run of the study in its short form, as the page's command writes it."""
    folder.mkdir()
    captured.said("trace", "hstcp", "--short", "--qlog", folder / "run.qlog", "--out", folder / "trace.svg")
    told_of = json.loads((folder / "run.qlog").read_text(encoding="utf-8"))
    return [f"{sum(len(each['events']) for each in told_of['traces']):,}"]


def reach() -> list[str]:
    """Numbers of flows that bench/reach.py measures."""
    (flows,) = re.findall(r"(?m)^FLOWS = [\[(](.*)[\])]", (ROOT / "bench/reach.py").read_text(encoding="utf-8"))
    return [each.strip().replace("_", "") for each in flows.strip(", ").split(",")]
