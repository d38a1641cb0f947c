"""What tests of results that are made apart share."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.plan import Plan, make_plan
from sawtooth.study import Study


@pytest.fixture
def plan(study_file: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setattr("sawtooth.plan._SIMULATED_WORK", 1e5)
    return make_plan(Study.load(study_file, options=["repeat=60"]))
