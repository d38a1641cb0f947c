"""What Sawtooth is made of may be: licences are read as they are written, and the bill of materials has every part."""

from __future__ import annotations

import json
import subprocess
import tomllib
from email.message import EmailMessage
from typing import Any

import pytest

from supply import deny, licences, sbom
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only AND MIT OR Zlib", True),
        ("GPL-3.0-only AND (MIT OR Zlib)", False),
        ("(MIT OR GPL-3.0-only) AND Zlib", True),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", True),
        ("Apache-2.0 WITH Other-exception", False),
        ("MIT Zlib", False),
        ("(MIT", False),
        ("", False),
        ("unknown", False),
    ],
)
def test_an_expression_is_met_by_the_licences_that_are_allowed(expression: str, met: bool) -> None:
    assert licences.is_allowed(expression, {"MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"}) is met


def test_every_distribution_that_is_installed_may_be() -> None:
    found = licences.distributions()
    assert len([each for each in found if each.licence]) > 40
    assert licences.refused() == []
    runs = {each.name for each in found if each.runs}
    assert {"numpy", "polars", "matplotlib", "python-dateutil"} <= runs and not {"pytest", "hypothesis", "mypy"} & runs


def test_a_distribution_that_may_not_be_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    one = licences.Distribution("copied", "1.0", True, "GPL-3.0-only")
    tool = licences.Distribution("tool", "1.0", False, "MPL-2.0")
    for found, refused in ((one, [one]), (tool, []), (licences.Distribution("copied", "1.0", True, "MPL-2.0"), None)):
        monkeypatch.setattr(licences, "distributions", lambda found=found: [found])
        assert licences.refused() == ([found] if refused is None else refused)
    monkeypatch.setattr(licences, "distributions", lambda: [one])
    assert not deny.distributions()
    assert "`GPL-3.0-only` is not allowed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "licence"),
    [
        ({"License-Expression": "MIT OR Apache-2.0"}, "MIT OR Apache-2.0"),
        ({"Classifier": "License :: OSI Approved :: BSD License", "License": "long text"}, "BSD-3-Clause"),
        ({"Classifier": "License :: OSI Approved :: GNU General Public License v3 (GPLv3)", "License": "GPLv3"}, "GPLv3"),
        ({"License": "MIT"}, "MIT"),
        ({}, "unknown"),
    ],
)
def test_a_licence_is_read_however_metadata_tell_it(told: dict[str, str], licence: str) -> None:
    message: Any = EmailMessage()
    for key, value in told.items():
        message[key] = value
    assert licences.licence(message) == licence


def test_crates_are_locked_from_one_registry() -> None:
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    allowed = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["sources"]["allow-registry"]
    for package in packages:
        if "source" in package:
            assert package["source"].removeprefix("registry+") in allowed, package["name"]
            assert len(package["checksum"]) == 64


def test_every_crate_may_be() -> None:
    told = subprocess.run(["cargo", "metadata", "--locked", "--format-version", "1"], cwd=ROOT, capture_output=True, text=True, check=True)
    packages = json.loads(told.stdout)["packages"]
    assert len(packages) > 40
    # Crates from before SPDX wrote a slash where they mean `OR`.
    wrong = [
        each["name"] for each in packages if not licences.is_allowed((each["license"] or "").replace("/", " OR "), licences.permissive())
    ]
    assert not wrong


def test_an_unreachable_database_is_told_in_a_line_and_the_rest_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_command: str) -> subprocess.CompletedProcess[str]:
        message = "[ERROR] failed to fetch advisory database https://example.org\nerror sending request for url (https://example.org)"
        return subprocess.CompletedProcess((), 1, "", message)

    monkeypatch.setattr(deny, "_run", run)
    assert deny.advisories_of_crates() and deny.advisories_of_distributions()
    assert capsys.readouterr().out == (
        "advisories of crates: not looked at, the RustSec database cannot be reached\n"
        "advisories of distributions: not looked at, the OSV database cannot be reached\n"
    )
    assert not deny.crates()

    def found(*_command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess((), 1, "Found 1 known vulnerability", "advisories FAILED")

    monkeypatch.setattr(deny, "_run", found)
    assert not deny.advisories_of_crates() and not deny.advisories_of_distributions()


def test_a_bill_of_several_has_each_part_once() -> None:
    def bill(subject: str, parts: list[str], edges: dict[str, list[str]]) -> dict[str, Any]:
        return {
            "bomFormat": "CycloneDX",
            "metadata": {"component": {"bom-ref": subject, "name": subject, "components": [{"bom-ref": "target"}]}},
            "components": [{"bom-ref": part, "name": part} for part in parts],
            "dependencies": [{"ref": ref, "dependsOn": on} for ref, on in edges.items()],
        }

    made = sbom.merged(
        bill("sawtooth", ["numpy"], {"sawtooth": ["numpy"], "numpy": []}),
        [bill("core", ["serde"], {"core": ["serde"], "serde": []}), bill("agent", ["serde", "core"], {"agent": ["core", "serde"]})],
    )
    assert [each["bom-ref"] for each in made["components"]] == ["agent", "core", "numpy", "serde"]
    assert {each["ref"]: each["dependsOn"] for each in made["dependencies"]} == {
        "agent": ["core", "serde"], "core": ["serde"], "numpy": [], "sawtooth": ["agent", "core", "numpy"], "serde": [],
    }  # fmt: skip
    assert "components" not in made["components"][0] and made["metadata"]["component"]["bom-ref"] == "sawtooth"


def test_the_bill_of_distributions_has_all_of_the_lock_file() -> None:
    names = {package["name"] for package in tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]}
    bill = sbom.of_distributions()
    assert {component["name"] for component in bill["components"]} == names - {"sawtooth"}
    numpy = next(each for each in bill["components"] if each["name"] == "numpy")
    assert numpy["scope"] == "required" and "BSD-3-Clause" in json.dumps(numpy["licenses"])
