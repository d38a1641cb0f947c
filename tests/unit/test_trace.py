"""`sawtooth trace`: which run, which stretch of it, and what is drawn."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sawtooth import called, fates, trace
from sawtooth.backends import sim
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.plots.trace import Curve, Panel, over_time, thinned
from sawtooth.study import Study
from sawtooth.taps import comments

STUDY = """
name = "two"
repeat = 2
vars = { T = "2 s" }
[scenario]
duration = "2 * T"
tcp.recovery = "newreno"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ name = "a", path = ["l"] }, { name = "b", path = ["l"], start = "1 s" }]
[sweep]
"links.l.rate" = ["5 Mbit/s", "10 Mbit/s"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(STUDY)
    return path


def test_a_run_is_chosen_by_number_cell_arm_and_replicate(study: Path) -> None:
    plan = make_plan(Study.load(study))
    assert trace.choose(plan, trace.Which()).index == 0
    run = trace.choose(plan, trace.Which(cell=2, arm="cubic", replicate=2))
    assert (run.cell, run.arm, run.replicate) == (2, "cubic", 2)
    assert trace.choose(plan, trace.Which(run=run.index)) == run
    with pytest.raises(StudyError, match="no arm `cubik`") as caught:
        trace.choose(plan, trace.Which(arm="cubik"))
    assert caught.value.hint == "did you mean `cubic`?"
    with pytest.raises(StudyError, match="no run of the study") as caught:
        trace.choose(plan, trace.Which(run=8))
    assert "runs 0 to 7, cells 1, 2 and replicates 1 to 2" in str(caught.value.hint)


def test_a_trace_is_of_the_very_run(study: Path) -> None:
    plan = make_plan(Study.load(study))
    run = plan.runs[3]
    taken = trace.take(plan, run, sim)
    plain = sim.run_batch([run.scenario], [run.seed]).tables["flows"]
    assert taken.flows.drop("run").equals(plain.drop("run"))
    # Every acknowledgement that was received has a row (delayed ones are of two segments), and the queue never held more than its limit.
    acked = int(plain.filter(flow="a")["acked_bytes"][0]) // 1460
    assert acked / 2 <= taken.series.filter(flow="a").height <= acked
    assert taken.queues is not None and int(taken.queues["backlog_packets"].max()) == 20  # type: ignore[arg-type]


def test_a_stretch_without_a_sample_is_told(study: Path, tmp_path: Path) -> None:
    plan = make_plan(Study.load(study))
    taken = trace.take(plan, plan.runs[0], sim)
    assert trace.untold(taken, (), (1.5, 4.0)) == []
    (line,) = trace.untold(taken, (), (0.5, 0.9))
    assert line.startswith("b has no sample from 0.5 s to 0.9 s; it has ") and ", from 1." in line
    told = CliRunner().invoke(app, ["trace", str(study), "--from", "500 ms", "--to", "900 ms", "--out", str(tmp_path)])
    assert told.exit_code == 0 and line in told.stderr
    assert told.stdout.splitlines()[-1].endswith(".svg, from 0.5 s to 0.9 s; the numbers above are of the whole run")


def test_a_whole_run_is_not_told_to_be_whole(study: Path, tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["trace", str(study), "--out", str(tmp_path)])
    assert told.exit_code == 0 and told.stdout.splitlines()[-1].endswith(".svg")


def test_a_legend_of_many_curves_is_no_wider_than_the_figure() -> None:
    times = np.array([0.0, 1.0])
    panels = [Panel("y", [Curve(f"the queue of a link called {at}", times, times) for at in range(7)])]
    made = over_time(panels, "t", (0.0, 1.0))
    made.canvas.draw()
    box = made.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= made.bbox.x1


def test_the_figure_has_windows_delays_and_queues_of_what_is_asked_for(study: Path) -> None:
    plan = make_plan(Study.load(study))
    taken = trace.take(plan, plan.runs[0], sim)
    axes = trace.figure(taken, "t", flows=["b"]).axes
    assert [axis.get_ylabel().split(" (")[0].split(",")[0] for axis in axes] == ["cwnd", "smoothed RTT", "queue"]
    line = axes[0].lines[0]
    series = taken.series.filter(flow="b")
    assert np.asarray(line.get_ydata(), dtype=float).max() == pytest.approx(float(series["cwnd_bytes"].max()) / 1000)  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="no flow `c`"):
        trace.figure(taken, "t", flows=["c"])
    with pytest.raises(StudyError, match="no link `m`"):
        trace.figure(taken, "t", links=["m"])


def test_packets_that_were_lost_on_the_wire_are_crosses_and_dropped_ones_strokes(study: Path) -> None:
    lossy = study.with_name("lossy.toml")
    lossy.write_text(STUDY.replace('delay = "20 ms"', 'delay = "20 ms", loss = 0.01'))
    plan = make_plan(Study.load(lossy))
    run = plan.runs[0]
    taken = trace.take(plan, run, sim)
    lost = fates.lost_on_wires(taken, (0.0, 4.0), sim)
    assert lost is not None and list(lost) == ["l"]
    assert len(lost["l"]) == taken.links.filter(direction="forward")["lost_packets"][0] > 0
    made = trace.figure(taken, "t", lost=lost)
    signs = {line.get_marker(): line for line in made.axes[2].lines if line.get_marker() in ("x", "|")}
    assert len(np.asarray(signs["x"].get_xdata())) == len(lost["l"])
    heights = {shape: float(np.asarray(line.get_ydata(), dtype=float)[0]) for shape, line in signs.items()}
    assert 20 < heights["x"] < heights["|"]
    words = [text.get_text() for text in made.legends[0].get_texts()]
    assert words[-2:] == ["lost on the wire", "dropped by the queue"]
    # Nothing was lost, so nothing is looked for or said.
    plan = make_plan(Study.load(study))
    taken = trace.take(plan, plan.runs[0], sim)
    assert fates.lost_on_wires(taken, (0.0, 4.0), sim) == {}
    assert "lost on the wire" not in [text.get_text() for text in trace.figure(taken, "t", lost={}).legends[0].get_texts()]


def test_of_too_many_packets_it_is_said_that_losses_on_the_wire_are_not_drawn(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.write_text(STUDY.replace('delay = "20 ms"', 'delay = "20 ms", loss = 0.01'))
    monkeypatch.setattr(fates, "MOST_PACKETS", 10)
    told = CliRunner().invoke(app, ["trace", str(study), "--out", str(tmp_path)])
    assert told.exit_code == 0
    assert told.stderr == "note: the run has too many packets to tell when single ones were lost on the wire\n"


def test_what_a_backend_cannot_tell_is_left_out_of_the_summary(study: Path) -> None:
    plan = make_plan(Study.load(study))
    taken = trace.take(plan, plan.runs[0], sim)
    told = trace.summary(taken, ["a"])
    silent = taken.flows.with_columns(timeouts=None, srtt_mean_ns=None)
    fewer = trace.summary(dataclasses.replace(taken, flows=silent), ["a"])
    assert "timeouts" in told[0] and "mean RTT" in told[0]
    assert fewer[0].count(",") == told[0].count(",") - 2 and "retransmitted" in fewer[0]


def test_thinning_keeps_the_extremes() -> None:
    t = np.arange(100_000.0)
    y = np.sin(t)
    y[77_777], y[33_333] = 9.0, -9.0
    kept_t, kept = thinned(t, y, 300)
    assert len(kept_t) <= 302 and kept.max() == 9.0 and kept.min() == -9.0 and kept_t[-1] == t[-1]


def test_the_command_writes_the_figure_and_says_what_it_shows(study: Path, tmp_path: Path) -> None:
    asked = ["trace", str(study), "--cell", "2", "--arm", "cubic", "--from", "500 ms", "--to", "3 s", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(app, asked)
    said = json.loads(done.stdout)
    assert (said["cell"], said["arm"]) == (2, "cubic")
    assert Path(said["figure"]).read_text().startswith("<svg") and Path(said["figure"]).with_suffix(".png").exists()


def test_an_altered_run_says_so_and_takes_no_other_ones_place(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    altered = ["--set", "links.l.rate='50 Mbit/s'", "--set", "vars.T='1 s'", "--set", "limits.events=1e9"]
    words = "with links.l.rate = 50 Mbit/s, vars.T = 1 s"
    flent = tmp_path / "altered.flent"
    for command in (["trace"], ["animate", "--to", "100 ms"]):
        for options in ([], altered, [*altered, "--flent", str(flent)] if command == ["trace"] else altered):
            assert CliRunner().invoke(app, [command[0], str(study), *command[1:], *options]).exit_code == 0
    names = sorted(path.name for path in (tmp_path / "results/two/trace").iterdir())
    whole = [name for name in names if name.startswith(("run-0.", "trace-run-0."))]
    assert whole == ["run-0.html", "trace-run-0.png", "trace-run-0.svg"] and len(names) == 2 * len(whole), names
    for name in names:
        if not name.endswith(".png"):
            text = (tmp_path / "results/two/trace" / name).read_text()
            assert (words in text) == (name not in whole), name
    assert words in json.loads(flent.read_text())["metadata"]["TITLE"]
    plan = make_plan(Study.load(study, options=altered[1::2]))
    assert any(words in line for line in comments(plan, plan.runs[0]))
    # How many runs there are alters none.
    plan = make_plan(Study.load(study, options=["repeat=1", "limits.events=1e9"]))
    assert called.name(plan, plan.runs[0]) == "run-0" and called.overrides(plan.study) == ""


@pytest.mark.parametrize(
    ("begin", "end", "message"),
    [
        ("3", None, "`3` is not a time"),
        ("x s", None, "`x s` is not a time"),
        ("9 s", None, "no time of the run"),
        ("2 s", "1 s", "no time"),
    ],
)
def test_a_stretch_that_is_none_is_refused(study: Path, begin: str, end: str | None, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        trace.span(begin, end, make_plan(Study.load(study)).runs[0])
