"""Numbers in the prose of pages are what a run, a plan, a table of the core or arithmetic says today."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sawtooth
from sawtooth import _core, stats
from sawtooth.captures import MOST_ROWS
from sawtooth.fitting import control, cross
from sawtooth.plan import Plan, make_plan
from sawtooth.study import Study
from sawtooth.web.play import MOST_SECONDS
from tests.conftest import ROOT

DOCS = ROOT / "docs"


def plan(name: str) -> Plan:
    return make_plan(Study.load(name))


def studies(page: str) -> list[str]:
    return re.findall(r"(?s)```toml\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"))


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


# Page, and a sentence of it with a hole for each number; what fills the holes may run a study in a folder.
FACTS: list[tuple[str, str, Callable[[Path], list[Any]]]] = [
    ("concepts/partial-packets.md", "are {} packets with autocorking and {} without", packets_with_autocorking),
    ("concepts/partial-packets.md", "So each request takes {} ms longer", wait_of_a_request),
    ("concepts/buffers.md", "so the default limit of {} bytes holds {} segments, {} MB, and no more than that is ever in flight: over a path of 300 ms a connection has at most {} Mbit/s", send_buffer),
    ("concepts/statistics.md", "of 3 runs fewer than {} %, of 5 fewer than {} %, of 10 fewer than {} %", those_that_differ),
    ("concepts/statistics.md", "It takes {} runs: all of {} lie on one side of the median with {} %", lambda _: [n := stats.fewest_for_median(0.95), n - 1, round(200 * 0.5 ** (n - 1))]),
    ("concepts/statistics.md", "2 · 0.5^n, two-sided: {} of 10 runs", lambda _: [f"{2 * 0.5**10:.3f}"]),
    ("concepts/speed.md", "all {} runs of the HighSpeed study", lambda _: [f"{len(plan('hstcp').runs):,}"]),
    ("guides/cluster.md", "of all {} of `hstcp`", lambda _: [f"{len(plan('hstcp').runs):,}"]),
    ("studies.md", "Its whole is about {} billion segments", lambda _: [round(plan("hstcp/gigabit").cost / 1e9, -1).__round__()]),
    ("studies.md", "128 of its {} cells were run", lambda _: [len(plan("hstcp/gigabit").cells)]),
    ("guides/stall-study.md", "sawtooth report results/stall # {} runs, some seconds", lambda _: [len(plan("stall").runs)]),
    ("guides/testbed.md", "over all {} cells", lambda _: [len(plan("testbed").cells)]),
    ("guides/links.md", "so 100 Mbit/s carry {} of full packets", lambda _: [f"{100 * 1500 / 1538:.1f}"]),
    ("guides/links.md", "of the 155.52 Mbit/s of an STM-1 {} are for cells", lambda _: [f"{155.52 * 26 / 27:.2f}"]),
    ("guides/fit.md", "is named, if it is nearer than {} % and the next", lambda _: [round(100 * control._FARTHEST)]),
    ("guides/fit.md", "in the first {} round trips", lambda _: [control._BEGINNING]),
    ("guides/fit.md", "Less than {} % of the link's rate is told as none", lambda _: [round(100 * cross._FEWEST_BUSY)]),
    ("guides/analyze.md", "series {} rows in all", lambda _: [f"{MOST_ROWS:,}"]),
    ("guides/explorer-playground.md", "A simulation ends after {} s", lambda _: [f"{MOST_SECONDS:g}"]),
]  # fmt: skip


@pytest.mark.parametrize(("page", "sentence", "holes"), FACTS, ids=[f"{page}: {sentence[:40]}" for page, sentence, _ in FACTS])
def test_a_number_in_prose_is_what_it_says(page: str, sentence: str, holes: Callable[[Path], list[Any]], tmp_path: Path) -> None:
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    assert sentence.format(*holes(tmp_path / "out")) in text
