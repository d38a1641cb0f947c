"""Texts of scenarios: cells that differ in plain values share one, and each has what a tree of its own would have."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path

import pytest

from sawtooth.plan import make_plan
from sawtooth.study import Study
from sawtooth.study.assign import assign
from sawtooth.study.sweep import cells
from sawtooth.study.template import Templates

HEAD = """
name = "texts"
question = "?"
repeat = 2
[vars]
R = "1 Mbit/s"
[scenario]
duration = "1 ms"
links."100%s" = { rate = "R", delay = "20 ms", queue = { name = "drop_tail", limit = "10 packets" } }
[[scenario.flows]]
path = ["100%s"]
cc = "reno"
"""
LINK = "links.100%s"
STUDIES = {
    "plain values": f'[sweep]\n"{LINK}.rate" = ["1 Mbit/s", "2 Mbit/s"]\n"duration" = ["1 ms", "2 ms", "3 ms"]\n',
    "a table, and then a value in it": f'[sweep]\n"{LINK}.queue" = [{{ name = "drop_tail" }}, {{ name = "red" }}]\n"{LINK}.queue.limit" = ["50 packets", "60 packets"]\n',
    "an arm that adds": f'[sweep]\n"{LINK}.rate" = ["1 Mbit/s", "2 Mbit/s"]\n[arms.a]\n[arms.b]\n"{LINK}.loss" = 0.1\n"flows[0].tcp.recovery" = "sack"\n',
}  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_a_cell_has_the_text_that_a_tree_of_its_own_has(name: str) -> None:
    study = Study.parse(HEAD + STUDIES[name], Path("texts.toml"))
    runs = {(run.cell, run.arm): run.written.identity({}) for run in make_plan(study).runs}  # type: ignore[attr-defined]
    for cell, (arm, applied) in itertools.product(cells(study), (study.arms or {"": ()}).items()):
        tree = copy.deepcopy(study.scenario)
        for assignment in (*study.base, *copy.deepcopy([*cell.assignments]), *applied):
            assign(tree, assignment, study.document)
        assert runs[cell.number, arm] == json.dumps(tree, sort_keys=True, separators=(",", ":"))
    assert len(runs) == len(cells(study)) * max(1, len(study.arms))


def test_what_names_a_file_or_is_set_again_has_no_slot() -> None:
    study = Study.parse(HEAD + STUDIES["plain values"], Path("texts.toml"))
    kinds = Templates(study)
    one, other = (cells(study)[at].assignments for at in (0, 3))
    assert kinds.kind("", one) == kinds.kind("", other) == ("", f"{LINK}.rate", "duration")
    named = Study.parse(HEAD + STUDIES["a table, and then a value in it"], Path("texts.toml"))
    found = {Templates(named).kind("", cell.assignments) for cell in cells(named)}
    assert found == {("", (f"{LINK}.queue", f'{{"name":"{queue}"}}'), f"{LINK}.queue.limit") for queue in ("drop_tail", "red")}


def test_what_is_drawn_stands_in_the_text_and_its_range_is_that_of_the_cell() -> None:
    drawn = '[sweep]\n"vars.R" = ["1 Mbit/s", "9 Mbit/s"]\n[draws]\nS = { distribution = "uniform", low = "0 ms", high = "R / (1 Mbit/s) * 1 ms" }\n'
    runs = make_plan(Study.parse(HEAD + drawn, Path("texts.toml"))).runs
    assert all(json.loads(run.scenario)["vars"]["S"] == run.drawn["S"] for run in runs)
    assert [json.loads(run.scenario)["vars"]["R"] for run in runs] == [rate for rate in ("1 Mbit/s", "9 Mbit/s") for _ in range(2)]
    assert max(run.draws["S"] for run in runs[:2]) < 0.001 < max(run.draws["S"] for run in runs[2:]) < 0.009
