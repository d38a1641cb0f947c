"""What benchmarks run in processes of their own still fits the library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sawtooth import _core
from sawtooth.plan import make_plan
from sawtooth.study import Study
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import flame
import instructions
import reach
import schedule
import speed
import sweep
from supply import guided


def test_the_process_that_is_timed_beside_ns2_simulates() -> None:
    tree = json.dumps({**instructions.study(2), "duration": "1 s"})
    ended = subprocess.run([sys.executable, "-c", speed.OUR_PROCESS], input=tree, capture_output=True, text=True, check=True)
    found = json.loads(ended.stdout)
    assert len(found["acked"]) == 2 and found["deliveries"] >= sum(found["acked"]) > 0


def test_each_network_that_is_timed_beside_ns2_is_with_each_variant_and_as_the_study_has_it() -> None:
    cases = speed.benchmark_cases()
    assert len(cases) == 3 * len(speed.VARIANTS) and all(case["variant"] in name for name, case in cases.items())
    assert {case["bw_bps"] for case in cases.values()} == {102_400_000.0, 1e9} and set(speed.IN_NS3) == set(speed.VARIANTS)


def test_flows_and_rates_whose_packets_are_timed_lose_none_and_fill_their_links() -> None:
    for tree, duration in ((reach.many(100), 1.0), (reach.fast(1e7), 2.0), (reach.fast(1e9), 0.5)):
        outcome = _core.simulate([json.dumps({**tree, "duration": f"{duration} s"})], [1])
        assert not outcome["errors"]
        sent, lost = (sum(memoryview(outcome["tables"]["flows"][name][1]).cast("Q").tolist()) for name in ("sent_packets", "retransmits"))
        assert sent > 500 and lost == 0


def test_a_sweep_is_taken_apart_into_planning_simulating_and_storing() -> None:
    found = sweep.spent(("repeat=1", "duration=1 us", "vars.N=2", "vars.Tp=50 ms", "vars.D=0 ms"))
    assert found.runs == 8 * 3
    assert min(found.planning, found.simulating, found.storing) > 0
    assert found.planning + found.simulating + found.storing <= found.whole * 1.01
    assert 0 < found.share < 1


def test_a_schedule_is_replayed_of_a_log_that_can_be_kept(tmp_path: Path) -> None:
    plan = make_plan(Study.load("hstcp", short=True, options=["repeat=4", "duration=1 s"]))
    log = schedule.measured(plan, 2)
    assert len(log) == len(plan.runs) / 2
    schedule.write(tmp_path / "log.csv", log)
    again = schedule.read(tmp_path / "log.csv")
    assert [one.cell for one in again] == [one.cell for one in log]
    seconds = schedule.seconds_of(plan, log)
    # The third and fourth replicate take what the first and second of their cell and arm did.
    assert all(seconds[at] == seconds[at + 2] for at in range(0, len(seconds), 4))
    rows = schedule.schedules("hstcp", plan, seconds)
    assert [row[1] for row in rows] == ["1", "2", "8", "64"]
    assert float(rows[0][4]) == pytest.approx(sum(seconds), abs=2e-3)


def test_the_training_set_of_guided_builds_has_no_scenario_of_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = [tree for case in instructions.cases().values() for tree in (case.short, case.long)]
    assert len(guided.training()) > 10 and not any(tree in timed for tree in guided.training())
    short = [{**tree, "duration": "100 ms"} for tree in guided.training()]
    monkeypatch.setattr(guided, "training", lambda: short)
    library = next((ROOT / "python/sawtooth").glob("_core*.so"))
    assert " acked_packets " in guided.train(library)


def test_a_program_too_old_for_the_compilers_counts_is_not_taken(tmp_path: Path) -> None:
    for name, said, expected in (("old", "Debian LLVM version 14.0.6", 14), ("new", "LLVM version 22.1.2-rust", 22), ("other", "1.2", 0)):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{said}'\n")
        program.chmod(0o755)
        assert guided.version(str(program)) == expected


def test_a_flame_graph_is_of_a_case_that_there_is_and_is_named_after_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(flame.CASES) <= set(instructions.cases())
    assert [flame.file_name(name) for name in flame.CASES] == ["ns2-newreno-32-flows", "linux-cubic"]
    monkeypatch.setattr(sys, "argv", ["flame.py", "linux/cubics"])
    with pytest.raises(SystemExit):
        flame.main()
    assert "linux/cubic" in capsys.readouterr().err


def test_a_flame_graph_says_which_program_it_lacks_and_how_to_get_it() -> None:
    with pytest.raises(SystemExit, match="inferno-of-nowhere is not installed\nhint: cargo install inferno"):
        flame.run(["inferno-of-nowhere"])
