"""`sawtooth simulate`: a run's table, one column per flow."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import recorded
from sawtooth.cli import app, simulate_text
from tests.unit.test_report_text import on_terminal

STUDY = """\
name = "lone"
question = "How does one flow do?"
[scenario]
duration = "1 s"
links.lan = { rate = "10 Mbit/s", delay = "5 ms" }
[[scenario.flows]]
path = ["lan"]
source = { name = "request_response", request = "300 B", response = "300 B", count = 2 }
"""


@pytest.mark.parametrize(("table", "row"), [("flows", "acked_packets"), ("exchanges", "answered")])
def test_a_table_is_printed_upright_though_its_flow_has_no_name(table: str, row: str, tmp_path: Path) -> None:
    study = tmp_path / "lone.toml"
    study.write_text(STUDY)
    done = CliRunner().invoke(app, ["simulate", str(study), "--table", table], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    head, *rest = done.output.splitlines()
    assert head.split() == ["flow"]
    assert row in {line.split()[0] for line in rest if line.strip()}
    # At the end what is delivered and not yet acknowledged makes goodput the larger of the two.
    told = "From a flow's start to the end of the run: throughput_bps of whole segments that were acknowledged, goodput_bps of all that was delivered."
    assert (told in rest) is (table == "flows")


def test_people_are_shown_units_and_programs_the_records(tmp_path: Path) -> None:
    study = tmp_path / "lone.toml"
    study.write_text(STUDY.replace("[scenario]", '[scenario]\nsample = "100 ms"'))
    shown = on_terminal(["simulate", str(study)], 100, TERM="dumb").splitlines()
    (start,) = (line.split() for line in shown if line.startswith("limited_source "))
    assert start[2] in ("ms", "s") and not any("_ns" in line or "_bps" in line for line in shown)
    # Of what nothing is known there is no unit.
    assert [line.split() for line in shown if line.startswith("stall_window")] == [["stall_window", "-"]]
    piped = CliRunner().invoke(app, ["simulate", str(study)], catch_exceptions=False).output
    assert "limited_source_ns" in piped and "goodput_bps" in piped and "Mbit/s" not in piped


def test_many_rows_are_shown_below_each_other_and_columns_that_do_not_fit_below_them(tmp_path: Path) -> None:
    study = tmp_path / "lone.toml"
    study.write_text(STUDY.replace("[scenario]", '[scenario]\nsample = "100 ms"'))
    shown = on_terminal(["simulate", str(study), "--table", "series"], 80, TERM="dumb").splitlines()
    lines = [line for line in shown if not line.startswith("note")]
    assert max(map(len, lines)) <= 80
    heads = [line.split()[:3] for line in lines if line.split()[0] == "t"]
    assert len(heads) > 1 and all(head == ["t", "(ms)", "flow"] for head in heads)
    times = [line.split()[0] for line in lines if line.split()[0] != "t"]
    assert times == [f"{100 * at:,.1f}" for at in range(11)] * len(heads)


def test_no_two_columns_are_called_the_same_without_their_units() -> None:
    for name, table in recorded.schema().items():
        names = [simulate_text._name(column["name"]) for column in table["columns"]]  # pyright: ignore[reportPrivateUsage]
        assert len({*names}) == len(names), name
