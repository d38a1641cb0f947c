"""Who may import whom: the contracts in pyproject.toml hold for every module, and see a fault that is planted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PACKAGE = ROOT / "python/sawtooth"


def contracts() -> list[dict[str, Any]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def test_every_module_has_a_layer_and_nothing_is_ignored() -> None:
    layers, *_ = contracts()
    named = [module for layer in layers["layers"] for module in layer.split(" : ")]
    modules = {path.stem for path in PACKAGE.iterdir() if (path.suffix == ".py" or (path / "__init__.py").exists())} - {"__init__"}
    assert sorted(named) == sorted(modules)
    assert layers["exhaustive"]
    assert not [contract["name"] for contract in contracts() if "ignore_imports" in contract or "exhaustive_ignores" in contract]


def test_every_module_of_the_backends_but_their_table_is_a_producer() -> None:
    (producers,) = (contract["forbidden_modules"] for contract in contracts() if contract["name"] == "Analysing knows no producer")
    modules = {path.stem for path in (PACKAGE / "backends").glob("*.py")} - {"__init__", "registry"}
    assert {name.removeprefix("sawtooth.backends.") for name in producers if ".backends." in name} == modules


PLANTED = {
    "results/dataset.py": ("from sawtooth.report import report", "sawtooth.results.dataset -> sawtooth.report"),
    "results/log.py": ("from sawtooth.results.dataset import Dataset", "sawtooth.results.log -> sawtooth.results.dataset"),
    "linting/rule.py": ("from sawtooth.linting import engine", "sawtooth.linting.rule -> sawtooth.linting.engine"),
    "study/sweep.py": ("def planted():\n    from sawtooth import execute", "sawtooth.study.sweep -> sawtooth.execute"),
    "study/paths.py": ("from sawtooth.study.model import Study", "sawtooth.study.paths -> sawtooth.study.model"),
    "newcomer.py": ("import json", "- sawtooth.newcomer"),
    "metrics/variance.py": ("import sawtooth.backends.sim", "sawtooth.metrics.variance -> sawtooth.backends.sim"),
    "animation/network.py": ("from sawtooth.animation import page", "sawtooth.animation.network -> sawtooth.animation.page"),
    "fitting/packets.py": ("from sawtooth.fitting import scenario", "sawtooth.fitting.packets -> sawtooth.fitting.scenario"),
    "advising/setting.py": ("from sawtooth.advising import advice", "sawtooth.advising.setting -> sawtooth.advising.advice"),
    "fidelity/situation.py": ("from sawtooth.fidelity import nearest", "sawtooth.fidelity.situation -> sawtooth.fidelity.nearest"),
    "conformance/script.py": ("from sawtooth.conformance import running", "sawtooth.conformance.script -> sawtooth.conformance.running"),
    "scales.py": ("from sawtooth import api", "sawtooth.scales -> sawtooth.api"),
    "__init__.py": ("from sawtooth.study import Study", "sawtooth -> sawtooth.study"),
}


def test_every_planted_import_is_seen(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    package = Path(shutil.copytree(PACKAGE, tmp_path / "sawtooth", ignore=shutil.ignore_patterns("*.so", "__pycache__", "guest")))
    for module, (line, _) in PLANTED.items():
        with (package / module).open("a") as file:
            file.write(f"\n{line}\n")
    linter = Path(sys.executable).with_name("lint-imports")
    said = subprocess.run([linter, "--no-cache"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert "0 kept, 11 broken" in said
    assert [fault for _, fault in PLANTED.values() if fault not in said] == [], said
