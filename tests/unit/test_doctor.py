"""`sawtooth doctor`: `ok` stands beside what is there and whole, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import calibration, doctor
from sawtooth.backends import debian, kernels, netns, processes, qemu, registry
from sawtooth.cli import app
from sawtooth.doctor import Finding
from sawtooth.errors import BackendUnavailable


class _Measured:
    reached_bps = 5e8


def _always(value: object) -> Callable[..., object]:
    def answer(*_: object, **__: object) -> object:
        return value

    return answer


def _calibrated(monkeypatch: pytest.MonkeyPatch, *known: str, clocks: bool = True) -> Finding:
    def release(*_: object, **__: object) -> str:
        if not clocks:
            raise BackendUnavailable("not here", "")
        return "6.1"

    def last(name: str, *_: object, **__: object) -> object:
        return _Measured() if name in known else None

    class Kernels:
        pass

    Kernels.release = staticmethod(release)  # pyright: ignore[reportAttributeAccessIssue]
    rows = [row for row in registry.TABLE if row.name in ("uml", "netns")]
    for row in rows:
        monkeypatch.setattr(type(row), "kernels", _always(Kernels))
    monkeypatch.setattr(registry, "TABLE", rows)
    monkeypatch.setattr(calibration, "last", last)
    return doctor._calibrations()  # pyright: ignore[reportPrivateUsage]


def test_calibrations_are_there_in_part_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _calibrated(monkeypatch)
    assert (found.said, found.detail) == ("none", "never made") and "sawtooth calibrate" in found.advice
    some = _calibrated(monkeypatch, "uml")
    assert some.said == "in part" and "500 Mbit/s" in some.detail and "netns" in some.advice
    assert _calibrated(monkeypatch, "uml", "netns").said == "ok"
    assert _calibrated(monkeypatch, clocks=False).said == "none"


def test_kernels_that_nobody_built_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "available", list)
    assert doctor._built_kernels().said == "none"  # pyright: ignore[reportPrivateUsage]


def test_what_is_left_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "leftovers", lambda: 1)
    found = doctor._leftovers()  # pyright: ignore[reportPrivateUsage]
    assert (found.said, found.detail, found.advice) == ("left", "1 temporary directory", "`sawtooth doctor --clean` removes it")


def test_namespaces_that_lack_a_shaper_are_there_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netns, "require", lambda: None)
    monkeypatch.setattr(netns, "congestion_controls", lambda: ["cubic"])
    monkeypatch.setattr(netns, "has_qdisc", _always(False))
    assert doctor.netns_finding().said == "in part"
    monkeypatch.setattr(netns, "has_qdisc", _always(True))
    assert doctor.netns_finding().said == "ok"


def test_virtual_machines_say_what_is_to_be_fetched_and_what_does_not_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "require", lambda: None)
    monkeypatch.setattr(debian, "present", lambda: None)
    monkeypatch.setattr(shutil, "which", _always("/usr/bin/apt-get"))
    assert doctor.qemu_finding().said == "to fetch" and doctor.kvm_finding().said == "not tried"
    monkeypatch.setattr(doctor, "qemu_finding", lambda: Finding("QEMU", True, ""))
    monkeypatch.setattr(debian, "present", lambda: "a kernel")
    monkeypatch.setattr(qemu, "kvm_problem", lambda: "a kernel does not boot")
    for there, said in ((True, "unusable"), (False, "missing")):
        monkeypatch.setattr(qemu, "has_kvm", lambda there=there: there)
        assert doctor.kvm_finding().said == said
    monkeypatch.setattr(qemu, "kvm_problem", lambda: "")
    assert doctor.kvm_finding().said == "ok"


def test_the_command_says_each_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    found = [Finding("python", True, "3"), Finding("kernels", True, "never made", "make one", "none"), Finding("ns", False, "not found")]
    monkeypatch.setattr(doctor, "examine", lambda: found)
    printed = CliRunner().invoke(app, ["doctor"]).output.splitlines()
    assert printed == ["ok       python: 3", "none     kernels: never made", "         make one", "missing  ns: not found"]
    told = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)
    assert [(each["ok"], each["state"]) for each in told] == [(True, "ok"), (True, "none"), (False, "missing")]
