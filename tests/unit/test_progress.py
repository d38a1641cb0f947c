"""What `run` says of its progress: the share of the work, and a remaining time that follows it and counts what each run costs by itself."""

from __future__ import annotations

import dataclasses
import io
import json
import time
from pathlib import Path

import pytest
from rich.console import Console

from sawtooth import execute
from sawtooth.plan import make_plan
from sawtooth.progress import JsonReporter, LineReporter, TerminalReporter
from sawtooth.results.dataset import Dataset
from sawtooth.sharing import RUN_WORK
from sawtooth.study import Study
from tests.conftest import STUDY


def test_runs_cost_something_besides_their_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(Study.parse(STUDY, tmp_path / "pair.toml"))
    told: list[float] = []
    reporter = LineReporter()

    def begin(_total: int, _done: int, cost: float, _before: float) -> None:
        told.append(cost)

    def advance(_runs: int, cost: float, _failed: int) -> None:
        told.append(-cost)

    monkeypatch.setattr(reporter, "begin", begin)
    monkeypatch.setattr(reporter, "advance", advance)
    execute.execute(plan, Dataset.create(tmp_path / "out", plan), reporter=reporter, jobs=1)
    assert told[0] == pytest.approx(sum(plan.work))
    assert all(work > run.demand.events + RUN_WORK for work, run in zip(plan.work, plan.runs, strict=True))
    assert sum(told) == pytest.approx(0.0)


def test_the_line_tells_the_share_of_the_work(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    reporter = LineReporter()
    reporter.begin(10, 0, 4e6)
    clock[0] = 110.0
    reporter.advance(2, 1e6, 0)
    assert capsys.readouterr().err.splitlines() == ["0/10 runs", "2/10 runs, 25 % of the work, 10 s so far, about 30 s left"]


def test_what_was_there_counts_as_done_and_the_time_that_is_left_is_of_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    written = io.StringIO()
    reporter = TerminalReporter(Console(file=written, force_terminal=True, width=110))
    reporter.begin(23_040, 506, 3e6, before=1e6)
    clock[0] += 4.0
    # The first batches come in a burst, and say nothing of how fast others do.
    for _ in range(4):
        reporter.advance(2, 0.5e5, 0)
    reporter.end()
    last = written.getvalue().split("\r")[-1]
    assert "30 % of the work, 514/23,040 runs, 2/s" in last and "0:00:56 left" in last

    plan = make_plan(Study.parse(STUDY, tmp_path / "pair.toml"))
    plan = dataclasses.replace(plan, batches=[range(6), range(6, len(plan.runs))])
    dataset = Dataset.create(tmp_path / "out", plan)
    execute.execute(plan, dataset, jobs=1)
    next((dataset.directory / "parts").iterdir()).unlink()
    reporter = Begun()
    execute.execute(plan, Dataset(dataset.directory), reporter=reporter, jobs=1)
    assert 0 < reporter.done < len(plan.runs) and min(reporter.cost, reporter.before) > 0
    assert reporter.cost + reporter.before == pytest.approx(sum(plan.work))


class Begun(LineReporter):
    """Keeps what it was told at the begin."""

    done, cost, before = 0, 0.0, 0.0

    def begin(self, total: int, done: int, cost: float, before: float = 0.0) -> None:
        super().begin(total, done, cost, before)
        self.done, self.cost, self.before = done, cost, before


class Worst:
    """What is told besides: the same twice, then something else."""

    def __init__(self) -> None:
        self.said_so_far = 0

    def said(self) -> str:
        self.said_so_far += 1
        return "worst cell: limit 4 bdp" if self.said_so_far < 3 else "worst cell: limit 1 bdp"

    def facts(self) -> dict[str, object]:
        return {"widest": {"measure": "goodput_bps", "where": "limit 4 bdp", "share": 0.25}}


def test_the_worst_cell_is_told_in_logs_whenever_it_is_another(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    reporter = LineReporter(below=Worst())
    reporter.begin(10, 0, 4e6)
    for _ in range(3):
        clock[0] += 10.0
        reporter.advance(2, 1e6, 0)
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "runs" not in line] == ["worst cell: limit 4 bdp", "worst cell: limit 1 bdp"]


def test_programs_are_told_the_worst_cell_once_something_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    reporter = JsonReporter(below=Worst())
    reporter.begin(10, 0, 4e6)
    clock[0] = 110.0
    reporter.advance(2, 1e6, 0)
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert "widest" not in first
    assert second["widest"] == {"measure": "goodput_bps", "where": "limit 4 bdp", "share": 0.25}


def test_programs_are_told_in_lines_of_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    reporter = JsonReporter()
    reporter.begin(10, 4, 4e6)
    clock[0] = 110.0
    reporter.advance(2, 1e6, 1)
    reporter.advance(1, 1e6, 0)  # sooner than a line is worth
    reporter.say('two\n"lines"')
    reporter.end()
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    same = {"planned": 10, "round": 1}
    assert told == [
        {"runs": 4, "failed": 0, "share": 0.0, "seconds": 0.0, "left": None, **same},
        {"runs": 6, "failed": 1, "share": 0.25, "seconds": 10.0, "left": 30.0, **same},
        {"said": 'two\n"lines"'},
        {"runs": 7, "failed": 1, "share": 0.5, "seconds": 10.0, "left": 10.0, **same},
    ]
