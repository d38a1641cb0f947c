"""What `run --retry-failed` says of what it did: runs done once more were not there, and those that had failed are none below zero."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from sawtooth.cli import app

STUDY = """
name = "hard"
repeat = 4
[scenario]
duration = "5 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["l"] }]
[sweep]
"links.l.rate" = ["1 Mbit/s", "100 Mbit/s"]
"""


def run(*arguments: str) -> tuple[str, str]:
    outcome = CliRunner().invoke(app, ["run", *arguments])
    # Without what the linter says first.
    return outcome.stdout, outcome.stderr.partition(" tells them\n")[2]


def test_runs_that_are_done_once_more_are_counted_as_done_not_as_there(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(STUDY)
    command = [str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]
    assert "8/8 runs, 100 % of the work, 0 s so far, about 0 s left, 4 failed\n" in run(*command, "--set", "limits.events=10000")[1]
    # Not asked to, it leaves them.
    assert "8 were there\n4 runs failed" in run(*command)[1]
    # Less than they need, once more: as many fail.
    _, said = run(*command, "--retry-failed", "--set", "limits.events=10000")
    assert said.startswith("0/8 runs\n1 batch in which runs were lost or had failed: done once more\n8/8 runs, 100 % of the work")
    assert "left, 4 failed\n" in said
    out, said = run(*command, "--retry-failed", "--json")
    assert "fail" not in said.replace("had failed", "") and "-" not in said
    facts = json.loads(out)
    assert (facts["done_now"], facts["resumed"], facts["again"], facts["failed"]) == (8, 0, 8, 0)
