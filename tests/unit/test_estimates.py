"""What a plan says beforehand, against what its runs take."""

from __future__ import annotations

import pytest

from sawtooth.backends import sim
from sawtooth.plan import make_plan
from sawtooth.study import Study, shipped

QUICK = ("gallery/bufferbloat", "gallery/incast", "gallery/l4s", "gallery/lossy-wireless", "stall/modern")
SIMULATED = [name for name, path in shipped.studies().items() if "kernel:" not in path.read_text()]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.long], id=name) for name in SIMULATED])
def test_what_a_plan_estimates_is_at_least_what_its_runs_deliver(name: str) -> None:
    plan = make_plan(Study.load(name, short=True, options=["backend=sim"]))
    runs = sorted(plan.runs, key=lambda run: run.cost)[:: max(1, len(plan.runs) // 20)][:20]
    batch = sim.run_batch([run.scenario for run in runs], [run.seed for run in runs])
    assert not batch.errors
    estimate = sum(run.cost for run in runs)
    # Never less, but for a probe or a spurious retransmission; and no more than slow growth on fast links explains.
    assert batch.deliveries <= 1.01 * estimate
    assert estimate <= 12 * batch.deliveries
    everything = sum(frame.height for frame in batch.tables.values())
    share = plan.demand.rows * len(runs) / len(plan.runs)
    assert 0.5 * everything <= share <= 20 * everything
