"""Properties of plans and datasets, over random studies."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sawtooth
from sawtooth.plan import Plan, make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

# As many times more as for properties in Rust, see `make test-long`.
TIMES = max(int(os.environ.get("PROPTEST_CASES", "256")) // 256, 1)
AXES = {
    "vars.A": st.lists(st.integers(1, 50).map(lambda n: f"{n} ms"), min_size=1, max_size=4, unique=True),
    "vars.N": st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True),
    "tcp.ack_every": st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True),
}


@st.composite
def studies(draw: st.DrawFn) -> tuple[str, dict[str, list[object]], int, int]:
    axes = {path: draw(AXES[path]) for path in draw(st.lists(st.sampled_from(sorted(AXES)), unique=True, max_size=3))}
    repeat, arms = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    lines = [
        'name = "random"', f"repeat = {repeat}", 'vars = { A = "10 ms", N = 2 }',
        "[draws]", 'S = { distribution = "uniform", low = "0 ms", high = "A" }',
        "[scenario]", 'duration = "200 ms"', 'stack = "rfc"', 'links.l = { rate = "2 Mbit/s", delay = "A" }',
        "[[scenario.flows]]", 'path = ["l"]', 'count = "N"', 'start = "S / i"',
    ]  # fmt: skip
    if axes:
        lines.append("[sweep]")
        lines += [f'"{path}" = {values}'.replace("'", '"') for path, values in axes.items()]
    if arms:
        lines.append("[arms]")
        lines += [f'arm{n} = {{ "tcp.recovery" = "{name}" }}' for n, name in zip(range(arms), ("reno", "sack"), strict=False)]
    return "\n".join(lines) + "\n", axes, repeat, arms


def plan_of(text: str, directory: Path, *options: str) -> Plan:
    path = directory / "random.toml"
    path.write_text(text)
    return make_plan(Study.load(path, options=options))


@settings(max_examples=60 * TIMES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(studies())
def test_a_grid_has_every_combination_once_and_the_last_axis_varies_fastest(
    tmp_path: Path, study: tuple[str, dict[str, list[object]], int, int]
) -> None:
    text, axes, repeat, arms = study
    plan = plan_of(text, tmp_path)
    cells = math.prod(len(values) for values in axes.values())
    assert len(plan.cells) == cells
    assert len(plan.runs) == cells * max(arms, 1) * repeat
    seen = [tuple(cell.factors[path] for path in axes) for cell in plan.cells]
    expected: list[tuple[object, ...]] = [()]
    for values in axes.values():
        expected = [(*before, value) for before in expected for value in values]
    assert seen == expected
    assert [run.index for run in plan.runs] == list(range(len(plan.runs)))
    order = [(run.cell, run.arm, run.replicate) for run in plan.runs]
    assert order == sorted(order)
    assert sum(len(batch) for batch in plan.batches) == len(plan.runs)


@settings(max_examples=40 * TIMES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(studies())
def test_ids_name_runs_and_arms_share_seeds_and_draws(tmp_path: Path, study: tuple[str, dict[str, list[object]], int, int]) -> None:
    text, _, _, _ = study
    plan, again = plan_of(text, tmp_path), plan_of(text, tmp_path)
    assert [run.id for run in plan.runs] == [run.id for run in again.runs]
    assert len({run.id for run in plan.runs}) == len(plan.runs)
    shared: dict[tuple[int, int], tuple[int, dict[str, float]]] = {}
    for run in plan.runs:
        assert shared.setdefault((run.cell, run.replicate), (run.seed, run.draws)) == (run.seed, run.draws)
    # Written in parts, and the same as if written whole.
    assert all(run.scenario == json.dumps(json.loads(run.scenario), sort_keys=True, separators=(",", ":")) for run in plan.runs)
    # More replicates change none of the former.
    more = {(run.cell, run.arm, run.replicate): run.id for run in plan_of(text, tmp_path, "repeat=4").runs}
    assert all(more[run.cell, run.arm, run.replicate] == run.id for run in plan.runs)


@settings(max_examples=10 * TIMES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(studies())
def test_a_dataset_gives_back_what_single_runs_give(tmp_path: Path, study: tuple[str, dict[str, list[object]], int, int]) -> None:
    text, _, _, _ = study
    plan = plan_of(text, tmp_path)
    out = tmp_path / f"out-{abs(hash(text))}"
    sawtooth.run(tmp_path / "random.toml", out, jobs=1)
    dataset = Dataset.open(out)
    assert dataset.complete
    flows = dataset.flows().collect()
    for run in (plan.runs[0], plan.runs[-1]):
        alone = sawtooth.simulate(json.loads(run.scenario), seed=run.seed).flows
        kept = flows.filter(pl.col("run") == run.index).select(alone.columns)
        assert kept.equals(alone)
