"""`sawtooth simulate`: a run's table, one column per flow."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app

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
