"""A filter that is an empty list chooses nothing: it is refused where it stands, and does not mean all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sawtooth
from sawtooth.errors import SawtoothError, StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
[scenario]
duration = "1 s"
sample = "100 ms"
links.l = { rate = "10 Mbit/s", delay = "5 ms" }
flows = [{ name = "f", path = ["l"] }]
[sweep]
"links.l.loss" = [0, 0.01]
[arms]
a = {}
b = { "tcp.recovery" = "newreno" }
[[ASKED]]
metric = "mean(series.srtt_ns)"
"""
FIGURE = STUDY.replace("ASKED", "figures") + 'name = "g"\nx = "loss"\n'
FINDING = STUDY.replace("ASKED", "findings") + 'claim = "c"\nof = "f"\narm = "a"\nis = "above"\n'

# What is asked, and the key whose list is empty.
CASES = {
    "arms of a figure": (FIGURE + "arm = []\n", "arm"),
    "items of a figure": (FIGURE + "of = []\n", "of"),
    "levels of a figure": (FIGURE + "where = { loss = [] }\n", "loss"),
    "rows of a figure": (FIGURE + "where = { flow = [] }\n", "flow"),
    "numbers of a figure": (FIGURE + "where = { cwnd_bytes = [] }\n", "cwnd_bytes"),
    "items of a finding": (FINDING.replace('of = "f"', "of = []") + 'than = "1 ms"\n', "of"),
    "levels of a finding": (FINDING + 'than = "1 ms"\nwhere = { loss = [] }\n', "loss"),
    "arms of the other side": (FINDING + "than = { arm = [] }\n", "arm"),
    "levels of the other side": (FINDING + 'than = { arm = "b", where = { loss = [] } }\n', "loss"),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_an_empty_filter_is_refused_at_its_place(case: str) -> None:
    text, key = CASES[case]
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(text, Path("s.toml")))
    error, place = caught.value, caught.value.place
    assert error.message == f"`{key}` is empty, which chooses nothing"
    assert error.hint == f"leave `{key}` out for all, or name what is meant"
    assert place is not None and place.text[place.column - 1 : place.end_column - 1] == "[]"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> sawtooth.Dataset:
    return sawtooth.run(STUDY.partition("[[")[0], tmp_path_factory.mktemp("empty") / "out")


@pytest.mark.parametrize("asked", [{"arm": []}, {"of": ()}, {"where": {"loss": []}}], ids=str)
def test_an_empty_filter_of_python_is_refused(dataset: sawtooth.Dataset, asked: dict[str, Any]) -> None:
    with pytest.raises(SawtoothError, match="is empty, which chooses nothing"):
        dataset.measure("goodput_bps", **asked)
    with pytest.raises(SawtoothError, match="is empty, which chooses nothing"):
        dataset.figure(metric="goodput_bps", x="loss", **asked)


def test_no_column_tells_nothing_apart(dataset: sawtooth.Dataset) -> None:
    assert dataset.measure("goodput_bps", by=[]).equals(dataset.measure("goodput_bps"))
