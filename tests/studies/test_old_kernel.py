"""The verdicts of `testbed/old-kernel` come out otherwise on other data: rules exchanged, times of no use."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sawtooth import Dataset
from sawtooth.findings.verdict import decide
from sawtooth.study import shipped

ARMS = ["linux", "linux-cache", "linux-3-11", "linux-3-11-cache", "linux-3-2", "linux-3-2-cache"]
PUBLISHED = np.log([[0.5, 1.0, 0.9], [0.7, 1.7, 1.5], [1.2, 2.8, 2.4]])
"""Three delays, three algorithms."""


@pytest.fixture
def analysis(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("old_kernel")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    text = (shipped.studies()["testbed/old-kernel"].parent / "old_kernel.py").read_text()
    exec(compile(text, "old_kernel.py", "exec"), module.__dict__)
    return module


def answers(analysis: ModuleType, monkeypatch: pytest.MonkeyPatch, error: dict[str, float]) -> list[str]:
    """With times that are off by so much (standard deviation of the log over algorithms) in the arms of each kernel."""
    rng = np.random.default_rng(3)
    noise = 1 + 0.01 * rng.standard_normal((len(ARMS), 3, 3, 8))
    shape = np.array([1.0, -1.0, 0.5])
    own = [error[arm.removesuffix("-cache")] + 0.05 * arm.endswith("-cache") for arm in ARMS]
    seconds = np.exp(PUBLISHED + np.multiply.outer(own, np.tile(shape, (3, 1))))[..., None] * noise
    settings = [(arm, "10 packets", "0.01") for arm in ARMS]
    times: Any = analysis.Times(settings, seconds, PUBLISHED, ["bic", "reno", "lp"])
    monkeypatch.setattr(analysis, "DRAWS", 200)
    monkeypatch.setattr(analysis, "_times", lambda _: times, raising=True)
    (first, _) = analysis.sections(Dataset.__new__(Dataset))
    return decide(first.claims)


def test_old_rules_that_fit_beat_those_of_today_and_one_time_per_delay(analysis: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answers(analysis, monkeypatch, {"linux": 0.8, "linux-3-2": 0.1, "linux-3-11": 0.1})
    assert found == ["no", "no", "yes", "yes", "yes", "yes", "yes", "yes"]


def test_with_the_rules_exchanged_it_is_the_other_way_round(analysis: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answers(analysis, monkeypatch, {"linux": 0.1, "linux-3-2": 0.8, "linux-3-11": 0.8})
    assert found == ["yes", "yes", "no", "no", "no", "no", "no", "no"]


def test_alike_rules_are_not_told_apart(analysis: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answers(analysis, monkeypatch, {"linux": 0.1, "linux-3-2": 0.1, "linux-3-11": 0.1})
    assert found[-2:] == ["cannot distinguish", "cannot distinguish"]


def test_what_is_left_out_does_not_choose(analysis: ModuleType) -> None:
    # The first setting is right at the first delay only, the second at the others only.
    logs = np.array([[[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [[3.0, 3.0], [0.0, 0.0], [0.0, 0.0]]])
    assert analysis.residual(logs, None) == pytest.approx(np.sqrt(2 / 3))
    # Without the first delay the second setting is chosen, which leaves 3 there; without another, the first, which leaves 1.
    assert analysis.residual(logs, 1) == pytest.approx(np.sqrt((9 + 1 + 1) / 3))
