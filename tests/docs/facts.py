"""Sentences of pages with holes, and what fills them: a plan, a run, a table, a constant of the sources, or arithmetic."""

from __future__ import annotations

import csv
import inspect
import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import sawtooth
from docs import captured
from sawtooth import _core, stats
from sawtooth.captures import MOST_ROWS
from sawtooth.cli import advise, animate
from sawtooth.conformance import agreed, running
from sawtooth.exports import flent_file
from sawtooth.fitting import again, control, cross, path, scenario
from sawtooth.live import exact, tcp_info
from sawtooth.plan import Plan, make_plan
from sawtooth.results import packs
from sawtooth.stats.mean import RESAMPLED, TIED
from sawtooth.stats.resampled import FEWEST_FOR_MEDIAN
from sawtooth.stats.sequential import ERROR
from sawtooth.stats.studentised import RESAMPLES
from sawtooth.stats.trend import PERMUTATIONS
from sawtooth.study import Study
from sawtooth.web import judging, play, runs, workbench
from sawtooth.web.play import MOST_SECONDS
from tests.conftest import ROOT
from tests.guards import sizes, structure

DOCS = ROOT / "docs"
STUDIES = ROOT / "python/sawtooth/studies"
CAPTURE = "crates/sawtooth-capture/src"
Fill = Callable[[Path], list[Any]]


@cache
def plan(name: str) -> Plan:
    return make_plan(Study.load(name))


def runs_of(name: str) -> str:
    return f"{len(plan(name).runs):,}"


def studies(page: str) -> list[str]:
    return re.findall(r"(?s)```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"))


def constant(file: str, name: str) -> str:
    """The number of a constant in the sources, without its separators."""
    found = re.search(rf"\b{re.escape(name)}\b[^=\n]*= ?(?:\w+\()?(\d[\d_]*(?:\.\d+)?)", (ROOT / file).read_text(encoding="utf-8"))
    assert found is not None, f"{file} has no {name}"
    return found[1].replace("_", "")


def thousands(number: str | float) -> str:
    return f"{float(number):,.0f}"


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
    found = re.search(rf"(?s)<!-- {name} -->\n(.*?)<!-- (?:/{name}|end) -->", page if "\n" in page else (DOCS / page).read_text(encoding="utf-8"))
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
    rates, captures, right, wrong = (re.findall(pattern, section)[0] for pattern in (r"\| (\d+) within 2%", r"of (\d+) are named", r"(\d+) of \d+ are named right", r"(\d+) wrong"))
    untold = re.findall(r"cannot tell; (\w+) [\d.]+%, (\w+) ", section)
    alike = [pair for pair in untold if set(pair) <= {"htcp", "westwood", "reno"}]
    return [captures, right, wrong, len(untold), rates, len(alike), len(untold)]


def errors_of_fluids(_: Path) -> list[Any]:
    """Of the scenarios with windows of two segments or more: of goodput the least and most error, of the wait in the queue, and how far below utilisation is."""
    page = (DOCS / "validation/fluid.md").read_text(encoding="utf-8").partition("## Each scenario")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if re.match(r"\| \d", line)]
    seen = pl.DataFrame([[float(row[at]) for at in (4, 5, 10, 11, 12)] for row in rows], schema=["buffer", "window", "goodput", "utilisation", "wait"], orient="row")
    seen = seen.filter(pl.col("window") >= 2)
    assert seen.filter(pl.col("buffer") >= 0.3)["utilisation"].abs().max() < 1  # pyright: ignore[reportOperatorIssue]
    goodput, wait = seen["goodput"].abs(), -seen["wait"]
    return [round(float(value)) for value in (goodput.min(), goodput.max(), wait.min(), wait.max(), -seen["utilisation"].min())]  # pyright: ignore


def assumed() -> list[list[Any]]:
    """The levels of what the study of background traffic assumes: all factors but the rate of the background."""
    sweep = tomllib.loads((STUDIES / "self-similar-background/sensitivity.toml").read_text(encoding="utf-8"))["sweep"]
    return [levels for key, levels in sweep.items() if key != "vars.background"]


# --- the tree of the crates


def modules(when: str) -> dict[str, list[float]]:
    """Files, lines, lines of the longest file and their median, by module, as the page has them; a test holds the page's second table against the sources."""
    return {row[0]: [float(row[at]) for at in (1, 2, 4, 5)] for row in block("development/tree.md", when)}


def grown(_: Path) -> list[Any]:
    before, after = modules("before"), modules("after")
    whole, was = after["all"], before["all"]
    ratio = {name: after[name][1] / before[name][1] - 1 for name in ("all", "cc/", "tcp/")}
    assert 1.9 < after["tcp/"][0] / before["tcp/"][0] < 2.3
    return [f"{value:.0f}" for value in (was[2], whole[2], was[3], whole[3], whole[0], was[0], 100 * ratio["all"], -100 * ratio["cc/"], 100 * ratio["tcp/"])]


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


STEP_SECS = flent_file._STEP  # pyright: ignore[reportPrivateUsage]

# Page, and a sentence of it with a hole for each number; what fills the holes may run a study in a folder.
FACTS: list[tuple[str, str, Fill]] = [
    ("concepts/partial-packets.md", "are {} packets with autocorking and {} without", packets_with_autocorking),
    ("concepts/partial-packets.md", "So each request takes {} ms longer", wait_of_a_request),
    ("concepts/partial-packets.md", "an interface that takes {} ms for each", lambda _: [round((300 + 52) * 8 / 100e3 * 1e3)]),
    ("concepts/partial-packets.md", "packets of 9140 bytes leave room in it for {})", lambda _: [32 * 1024 % 9140]),
    ("concepts/buffers.md", "so the default limit of {} bytes holds {} segments, {} MB, and no more than that is ever in flight: over a path of 300 ms a connection has at most {} Mbit/s", send_buffer),
    ("concepts/statistics.md", "of 3 runs fewer than {} %, of 5 fewer than {} %, of 10 fewer than {} %", those_that_differ),
    ("concepts/statistics.md", "It takes {} runs: all of {} lie on one side of the median with {} %", lambda _: [n := stats.fewest_for_median(0.95), n - 1, round(200 * 0.5 ** (n - 1))]),
    ("concepts/statistics.md", "2 · 0.5^n, two-sided: {} of 10 runs; fewer than {} never tell anything", lambda _: [f"{2 * 0.5**10:.3f}", next(n for n in range(1, 20) if 2 * 0.5**n < 0.05)]),
    ("concepts/statistics.md", "Up to {} values, the bootstrap-t interval ({} resamples, a fixed seed) where one value makes up {} % or more", lambda _: [RESAMPLED, RESAMPLES, round(100 * TIED)]),
    ("concepts/statistics.md", "(Bebu and Mathew 2008; {} draws, a fixed seed)", lambda _: [thousands(constant("python/sawtooth/stats/compare.py", "_DRAWS"))]),
    ("concepts/statistics.md", "{} resamples of each cell's replicates, a fixed seed, {} replicates at least", lambda _: [thousands(re.findall(r"size=\((\d+),", (ROOT / "python/sawtooth/stats/resampled.py").read_text(encoding="utf-8"))[0]), FEWEST_FOR_MEDIAN]),
    ("concepts/statistics.md", "or from {} permutations within strata", lambda _: [thousands(PERMUTATIONS)]),
    ("concepts/statistics.md", "must be narrow at three looks in a row, and is one of {} % for a coverage of 95 %", lambda _: [round(100 * (1 - ERROR * 0.05))]),
    ("concepts/speed.md", "Packets are {} bytes", lambda _: re.findall(r"size_of::<Packet>\(\), (\d+)\)", (ROOT / "crates/sawtooth-core/src/packet.rs").read_text(encoding="utf-8"))),
    ("concepts/speed.md", "all {} runs of the HighSpeed study", lambda _: [runs_of("hstcp")]),
    ("concepts/speed.md", "how soon the explorer shows {} runs", lambda _: [runs_of("hstcp")]),
    ("concepts/speed.md", "fails where one rises by {} % over", lambda _: [round(100 * float(constant("bench/instructions.py", "TOLERANCE")))]),
    ("development/guards.md", "a packet that takes {} % more instructions", lambda _: [round(100 * float(constant("bench/instructions.py", "TOLERANCE")))]),
    ("development/guards.md", "More than {0} % above the table fails, more than {0} % below is reported", lambda _: [round(100 * float(constant("bench/instructions.py", "TOLERANCE")))]),
    ("development/guards.md", "a source file that grows above {} lines", lambda _: [sizes.LIMIT]),
    ("development/guards.md", "has more than {} lines of implementation", lambda _: [sizes.LIMIT]),
    ("development/guards.md", "A struct has at most {} fields", lambda _: [structure.FIELDS]),
    ("start/install.md", "every CPython from {} on", lambda _: [tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"].removeprefix(">=")]),
    ("start/install.md", "where glibc is {} or newer", lambda _: re.findall(r'(?m)^GLIBC = "(.*)"', (ROOT / "supply/wheel.py").read_text(encoding="utf-8"))),
    ("development/builds.md", "against the symbols of glibc {} whatever", lambda _: re.findall(r'(?m)^GLIBC = "(.*)"', (ROOT / "supply/wheel.py").read_text(encoding="utf-8"))),
    ("guides/advise.md", "run in `--repeat` ({}) replicates", lambda _: [default(advise.advise, "repeat")]),
    ("guides/advise.md", "The best `--confirm` ({}) of it", lambda _: [default(advise.advise, "confirm")]),
    ("guides/advise.md", "in `--fresh` ({}) replicates", lambda _: [default(advise.advise, "fresh")]),
    ("guides/advise.md", "by more than `--bar` ({})", lambda _: [default(advise.advise, "bar")]),
    ("guides/analyze.md", "over a line of {} that loses a packet in {} ", lambda _: [transfer("rate"), round(1 / float(transfer("loss")))]),
    ("guides/analyze.md", "VXLAN (ports {} and {})", lambda _: re.findall(r"VXLAN_PORTS: \[u16; 2\] = \[(\d+), (\d+)\]", (ROOT / CAPTURE / "read/network.rs").read_text(encoding="utf-8"))[0]),
    ("guides/analyze.md", "{} connections are followed at a time", lambda _: [thousands(constant(f"{CAPTURE}/analysis/mod.rs", "MOST_CONNECTIONS"))]),
    ("guides/analyze.md", "{} flows have a row", lambda _: [thousands(constant(f"{CAPTURE}/analysis/mod.rs", "MOST_FLOWS"))]),
    ("guides/analyze.md", "series {} rows in all", lambda _: [f"{MOST_ROWS:,}"]),
    ("guides/analyze.md", "packets share rows of {} µs, {} µs and so on", lambda _: [n := round(int(constant(f"{CAPTURE}/analysis/series.rs", "SHORTEST_NS")) / 1e3), 2 * n]),
    ("guides/analyze.md", "Where both together take less than {} ms", lambda _: [int(constant(f"{CAPTURE}/analysis/vantage.rs", "LEAST_WAY_NS")) / 1e6]),
    ("guides/analyze.md", "unacknowledged byte after {} ms", lambda _: [round(int(constant(f"{CAPTURE}/analysis/half.rs", "least_timer")) / 1e6)]),
    ("guides/animate.md", "A page has at most {} rows", lambda _: [thousands(animate._MOST)]),
    ("guides/animate.md", "documentation and slides: at most {} rows", lambda _: [animate._MOST_IN_SVG]),
    ("guides/background.md", "{} runs; with --short a look at it", lambda _: [runs_of("self-similar-background")]),
    ("guides/background.md", "{} shorter runs", lambda _: [runs_of("self-similar-background/sensitivity")]),
    ("guides/background.md", "is given among the {} combinations", lambda _: [math.prod(len(levels) for levels in assumed())]),
    ("guides/background.md", "In the rows of 15:2 there are {}: where nothing", lambda _: [sum(map(int, told("guides/background.md", r"vanilla gets 15 duplicate ACKs [^|]*\| [^|]+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|")))]),
    ("guides/background.md", "a queue of {} ms cuts slow start short", lambda _: [100 * 1500 * 8 / 1e9 * 1e3]),
    ("guides/captures.md", "flow N has port {} + N - 1", lambda _: [constant("crates/sawtooth-agent/src/experiment.rs", "FIRST_PORT")]),
    ("guides/captures.md", "and port {} for the first flow of UDP, {} for the second and so on, to 10.0.0.2 and port {}.", lambda _: [n := int(constant(f"{CAPTURE}/simulated/faces.rs", "FIRST_PORT")), n + 1, constant(f"{CAPTURE}/simulated/faces.rs", "SERVICE")]),
    ("guides/captures.md", "has a port from {} up, the other listens on {}.", lambda _: [constant(f"{CAPTURE}/simulated/faces.rs", "FIRST_PORT"), constant(f"{CAPTURE}/simulated/faces.rs", "SERVICE")]),
    ("guides/captures.md", "Of each packet {} bytes are captured", lambda _: re.findall(r'from its IP header on; 0: all\.", show_default="(\d+)"', (ROOT / "python/sawtooth/cli/options.py").read_text(encoding="utf-8"))),
    ("guides/captures.md", "their {} bytes are not of the simulation", lambda _: [constant(f"{CAPTURE}/write/headers.rs", "FRAME_HEADER")]),
    ("guides/cluster.md", "of all {} of `hstcp`", lambda _: [runs_of("hstcp")]),
    ("guides/cluster.md", "at its end if more than {} batches are not packed yet", lambda _: [thousands(packs._BATCHES)]),
    ("guides/cluster.md", "a run that leaves more than {} batches there", lambda _: [thousands(packs._BATCHES)]),
    ("guides/conform.md", "without, `--tolerance` of the command, {} ms", lambda _: [round(1e3 * running.TOLERANCE_SECS)]),
    ("guides/conform.md", "send buffers hold {} MiB", lambda _: [agreed.SEND_BUFFER_BYTES // 2**20]),
    ("guides/exchange.md", "a run of the command above ({} events)", events_of_qlog),
    ("guides/exchange.md", "are sampled {} times instead of", lambda _: [thousands(constant("python/sawtooth/trace.py", "_SAMPLES"))]),
    ("guides/exchange.md", "A step has {} s, as flent's, or a fiftieth of a run shorter than {} s", lambda _: [STEP_SECS, round(50 * STEP_SECS)]),
    ("guides/explorer-playground.md", "A simulation ends after {} s, or {} million events", lambda _: [f"{MOST_SECONDS:g}", round(play._LIMITS["events"] / 1e6)]),
    ("guides/explorer-run.md", "beyond that for {} samples", lambda _: [constant("python/sawtooth/trace.py", "_SAMPLES")]),
    ("guides/explorer-run.md", "as far as {} packets at links fit", lambda _: [thousands(runs._MOST_IN_FILM)]),
    ("guides/explorer.md", "verdicts on more than {} runs are made by a process of their own", lambda _: [thousands(judging._FEW)]),
    ("guides/explorer.md", "A figure has up to {} panels and {} points", lambda _: [workbench._MOST_PANELS, thousands(workbench._MOST_POINTS)]),
    ("guides/fit.md", "a simulated transfer of CUBIC over {} and {} each way, with room for {} and a loss of {:.2f} %", lambda _: [transfer("rate"), transfer("delay"), transfer("limit"), 100 * float(transfer("loss"))]),
    ("guides/fit.md", "is more than {} % from the capture's", lambda _: [round(100 * again._FAR)]),
    ("guides/fit.md", "is named, if it is nearer than {} % and the next is at least {} % farther away than it ({} % beside traffic of others). Above {} % it is said to be far", lambda _: [round(100 * control._FARTHEST), round(100 * control._APART - 100), round(100 * control._APART_BESIDE - 100), round(100 * control._FAR)]),
    ("guides/fit.md", "in the first {} round trips", lambda _: [control._BEGINNING]),
    ("guides/fit.md", "beside {} of others:", lambda _: re.findall(r'rate = "(\d+ Mbit/s)"', captured.OTHERS)),
    ("guides/fit.md", "Less than {} % of the link's rate is told as none", lambda _: [round(100 * cross._FEWEST_BUSY)]),
    ("guides/fit.md", "shorter than {} packets or {:g} s", lambda _: [path.FEWEST_PACKETS, scenario._SHORTEST_S]),
    ("guides/fit.md", "if it were fewer than {}; where more packets are in flight, if it were fewer than {};", lambda _: [control._FEW_LOSSES, control._SMALL]),
    ("guides/fit.md", "Of [{} captures of a real kernel](../validation/fit.md#captures-of-real-kernels), twenty of each congestion control, it names {} right and {} wrong, and cannot tell the other {}; rates are right in {} and delays in all. Of {} of the {} it is not told", fits_of_kernels),
    ("guides/fluid.md", "[{} scenarios, drawn by a rule that was fixed first]", lambda _: told("validation/fluid.md", r"(\d+) scenarios are drawn")),
    ("guides/fluid.md", "the goodput of a flow looked at was wrong by {} to {} %, to either side; the mean wait in the queue was {} to {} % too short; and utilisation was wrong by less than a point, except over buffers of less than 0.3 bandwidth-delay products, where it was up to {} points too low", errors_of_fluids),
    ("guides/links.md", "so 100 Mbit/s carry {} of full packets", lambda _: [f"{100 * 1500 / 1538:.1f}"]),
    ("guides/links.md", "of the 155.52 Mbit/s of an STM-1 {} are for cells", lambda _: [f"{155.52 * 26 / 27:.2f}"]),
    ("guides/queues.md", "With {} queues, of {} flows two do so in every sixth run", lambda _: [1024, 20] if shared_queues(1024, 20) == 6 else []),
    ("guides/stall-study.md", "sawtooth report results/stall # {} runs, some seconds", lambda _: [len(plan("stall").runs)]),
    ("guides/stall.md", "keeps of every connection ({} or later)", lambda _: [tcp_info.KERNEL_WITH_COUNTERS]),
    ("guides/stall.md", "list each that took {} ms or more", lambda _: [exact.LISTED_NS // 1_000_000]),
    ("guides/tahoe-vs-reno.md", "{} runs, the published start times", lambda _: [runs_of("tahoe-vs-reno")]),
    ("guides/tahoe-vs-reno.md", "{} random starts of each", lambda _: [plan("tahoe-vs-reno/random").study.repeat]),
    ("guides/tahoe-vs-reno.md", "With {} random starts", lambda _: [plan("tahoe-vs-reno/random").study.repeat]),
    ("guides/tahoe-vs-reno.md", "segments of 256 bytes: {} against {} kB/s)", lambda _: [f"{goodput('reno', CELL):.1f}", kilobytes_of_ns3("TcpReno")]),
    ("guides/tahoe-vs-reno.md", "The link carries {} kB/s of such segments, the path holds {} of them and the queue {}.", lambda _: [f"{1e3 / 8 * 256 / WIRE:.1f}", round(0.08 * 1e6 / 8 / WIRE), round(8000 / WIRE)]),
    ("guides/tahoe-vs-reno.md", "queues of 2 packets less to 4 more give {} to {} kB/s, delays of 19 to 21 ms {} to {}.", lambda _: extremes("reno", CELL, range(-2, 5))),
    ("guides/tahoe-vs-reno.md", "Ours with `newreno` carries {} kB/s, where 3.24's has {}.", lambda _: [f"{goodput('reno', CELL, recovery='newreno'):.1f}", kilobytes_of_ns3("TcpNewReno")]),
    ("guides/tahoe-vs-reno.md", "Why 3.24 loses {} packets", drops_more),
    ("guides/tahoe-vs-reno.md", "({} to {} kB/s with queues of 2 packets less or more, {} to {} with the same delays)", lambda _: extremes("tahoe", TAHOE, range(-2, 3))),
    ("guides/testbed.md", "over all {} cells", lambda _: [len(plan("testbed").cells)]),
    ("guides/testbed.md", "The times that it found are {:.1f} to {:.1f} s", lambda _: [min(published_means()), max(published_means())]),
    ("guides/testbed.md", "repeated each download {} times", lambda _: list({row["n"] for row in published("testbed", "published-b.csv") if row["n"]})),
    ("guides/testbed.md", "so {:.2f} s at 5 ms and {:.2f} s at 20 ms", lambda _: [8 * 2 * 5e-3, 8 * 2 * 20e-3]),
    ("guides/testbed.md", "tries {} settings", lambda _: [len(plan("testbed/fit").cells) * len(plan("testbed/fit").study.arms) // 33]),
    ("guides/testbed.md", "looks closer at the {} cells whose client has Reno", lambda _: [sum(cell.factors["receiver_cc"] == "reno" for cell in plan("testbed").cells)]),
    ("guides/testbed.md", "Of jitter's {1} cells {0} show longer downloads", lambda _: told("guides/testbed.md", r"Jitter makes a download longer \| [a-z ]+ \| (\d+) of (\d+) cells")),
    ("guides/trace.md", "beyond that {} samples", lambda _: [constant("python/sawtooth/trace.py", "_SAMPLES")]),
    ("studies.md", "Its whole is about {} billion segments", lambda _: [round(plan("hstcp/gigabit").cost / 1e9, -1).__round__()]),
    ("concepts/statistics.md", "skewed data may have {} %", lambda _: [round(min(map(float, re.findall(r"lognormal errors, slope [\d.]+ \| \**([\d.]+)\** \| \**([\d.]+)\** \| \**([\d.]+)", (DOCS / "validation/statistics.md").read_text(encoding="utf-8"))[2])))]),
    ("concepts/speed.md", "the cost of a packet from 1 to {} flows", lambda _: [thousands(reach()[-1])]),
    ("development/tree.md", "The longest file had {} lines and has {}; the median has fallen from {} to {}, in {} files instead of {}. All together has become longer by {} %, much of it what came since, such as `sawtooth-capture`: `cc/` is shorter by {} %, as what algorithms share is written once, `tcp/` longer by {} %", grown),
    ("guides/captures.md", "A packet takes about {} bytes of the file besides", lambda _: [constant("python/sawtooth/taps.py", "_OVERHEAD")]),
    ("guides/stall.md", "Looks are taken as often as {} % of a processor allows", lambda _: [round(100 * float(constant("python/sawtooth/live/watch.py", "_BUDGET, _LEAST")))]),
    ("guides/tahoe-vs-reno.md", "In how many of the {} combinations", combinations_of_tahoe),
    ("guides/traffic.md", "compares {} flows with endless ones", lambda _: [thousands(constant("bench/arrivals.py", "FLOWS"))]),
    ("studies.md", "| {} experiments of {} replicates, start draws, two arms |", lambda _: [len(plan("hstcp").cells), plan("hstcp").study.repeat]),
    ("studies.md", "and the same of SACK's sums and of all indices of fairness: {0} of {0} each", lambda _: [2 * len(plan("hstcp").cells)]),
    ("studies.md", "up to {:.0f} GB of memory", lambda _: [max(run.demand.memory_bytes for run in plan("hstcp/gigabit").runs) / 1e9]),
    ("studies.md", "| {0} + {0} runs, published starts |", lambda _: [len(plan("tahoe-vs-reno").runs) // 2]),
    ("studies.md", "decides each claim in {} combinations", combinations_of_tahoe),
    ("studies.md", "each published claim in {} combinations", lambda _: [math.prod(map(len, assumed()))]),
    ("studies.md", "decided again in each of {} combinations", lambda _: [math.prod(map(len, assumed()))]),
    ("studies.md", "each of {} cells; was the median over them", lambda _: told("../python/sawtooth/studies/hstcp/README.md", r"SACK and NewReno are alike, within 5 %, at every bandwidth \| mixed \| \d+ of (\d+) cells")),
    ("studies.md", "| {0} sums and {0} indices to the printed digit", lambda _: [2 * len(plan("hstcp").cells)]),
    ("studies.md", "mixed: {} of {} sums", lambda _: told("../python/sawtooth/studies/hstcp/README.md", r"as RFC 3649 has it \| mixed \| (\d+) of (\d+) cells")),
    ("studies.md", "| no ({}) | a finding now |", lambda _: told("guides/stall-study.md", r"with stall at all sizes at most -0\.8 \| no \| (-[\d.]+) \|")),
    ("studies.md", "no (median {} at {} sizes, {} at the {} with a dip)", said_of_stalls),
    ("studies.md", "| no ({} %) | new |", lambda _: told("guides/stall-study.md", r"faster than the corrected one \| no \| (\+[\d.]+)% at")),
    ("studies.md", "all {} claims together", lambda _: [len(block("guides/background.md", "verdicts")) + len(block("guides/background.md", "beyond"))]),
    ("studies.md", "{} claims with random starts", lambda _: [len(claims_of_tahoe(of_parts=False))]),
    ("studies.md", "| {} claims of 1.1 (2), 1.1 (3), 1.3, conclusion, levels | | {} yes, {} no, {} mixed, {} cannot distinguish |", verdicts_of_tahoe),
    ("studies.md", "instead of {} cells as units", lambda _: [sum(cell.factors["receiver_cc"] == "reno" for cell in plan("testbed").cells)]),
    ("studies.md", "cannot distinguish ({} against {}, intervals overlap)", lambda _: told("guides/testbed.md", r"By the number yes: ([\d.]+) at delays left out, against ([\d.]+)\.")),
    ("studies.md", "by the rules of 6.1 no ({})", lambda _: told("guides/testbed.md", r"<!-- old-kernel --> .*?\| Linux 6\.1 \| [^|]+ \| [^|]+ \| ([\d.]+) \(")),
    ("studies.md", "128 of its {} cells were run", lambda _: [len(plan("hstcp/gigabit").cells)]),
]  # fmt: skip
