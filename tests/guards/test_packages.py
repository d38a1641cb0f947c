"""What other packagers make of this project says the same as `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

from tests.conftest import ROOT

_NAMES = {"matplotlib": "matplotlib-base"}
"""Distributions that conda has under another name: without programs for windows."""


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def recipe() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "supply/conda/recipe.yaml").read_text(encoding="utf-8"))


def as_conda(requirement: str) -> str:
    match = re.fullmatch(r"([\w-]+)(>=.*)", requirement)
    assert match, requirement
    return f"{_NAMES.get(match[1], match[1])} {match[2]}"


def test_the_conda_recipe_has_the_version_and_the_command() -> None:
    assert recipe()["context"]["version"] == project()["version"]
    (command,) = project()["scripts"].items()
    assert recipe()["build"]["python"]["entry_points"] == [" = ".join(command)]


def test_the_conda_recipe_needs_what_the_project_needs() -> None:
    needed = recipe()["requirements"]
    assert needed["run"] == ["python", *map(as_conda, project()["dependencies"])]
    assert needed["run_constraints"] == [as_conda(each) for extra in project()["optional-dependencies"].values() for each in extra]
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert set(map(as_conda, built)) <= set(needed["host"])


def test_the_image_begins_with_a_python_that_the_wheel_runs_on() -> None:
    text = (ROOT / "supply/Containerfile").read_text(encoding="utf-8")
    (version,) = re.findall(r"^ARG BASE=python:3\.(\d+)-slim$", text, re.MULTILINE)
    assert int(version) >= int(project()["requires-python"].removeprefix(">=3."))
    assert text.count("\nFROM ") == 1 and "\nFROM ${BASE}\n" in text
