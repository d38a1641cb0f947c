"""Flows that are simulated together as a fluid, from a study's text to the marks of its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sawtooth
from sawtooth.report import report


def scenario(model: str) -> dict[str, Any]:
    """Two flows that are looked at beside forty."""
    return {
        "duration": "30 s",
        "stack": "linux",
        "cc": "reno",
        "links": {"l": {"rate": "50 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1 bdp"}}},
        "flows": [
            {"path": ["l"], "name": "seen", "count": 2},
            {"path": ["l"], "name": "others", "count": 40, "start": "i / count * 1 s", "model": model},
        ],
    }


def test_a_link_with_a_fluid_is_as_with_packets_and_the_key_is_the_switch() -> None:
    packets, fluid = (sawtooth.simulate(scenario(model)) for model in ("packets", "fluid"))
    assert packets.flows.height == 42
    assert fluid.flows["flow"].to_list() == ["seen[1]", "seen[2]"]
    by_packets, by_fluid = (records.links.row(0, named=True) for records in (packets, fluid))
    assert by_fluid["utilisation"] == pytest.approx(by_packets["utilisation"], abs=0.01)
    assert by_fluid["wait_mean_ns"] == pytest.approx(by_packets["wait_mean_ns"], rel=0.2)
    (row,) = fluid.table("fluid").rows(named=True)
    assert (row["flow"], row["flows"]) == ("others", 40)
    without = scenario("packets")
    del without["flows"][1]["model"]
    assert sawtooth.simulate(without).flows.equals(packets.flows)


def test_what_a_fluid_cannot_be_is_said() -> None:
    tree = scenario("fluid")
    tree["links"]["l"]["queue"] = "red"
    with pytest.raises(sawtooth.StudyError, match="crosses `l`, which has a queue `red`"):
        sawtooth.simulate(tree)


def test_a_report_of_a_fluid_marks_its_cells(tmp_path: Path) -> None:
    study = Path(__file__).parents[1] / "lint/fixtures/SW711-bad.toml"
    made = report(sawtooth.run(study, out=tmp_path / "out", jobs=1))
    assert made.validity is not None
    (entry,) = (entry for entry in made.validity.entries if entry.rule.code == "SW711")
    assert "3 flows `others` are a fluid" in entry.where
