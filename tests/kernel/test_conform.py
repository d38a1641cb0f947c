"""Scripts of packets on a guest's kernel, in virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import doctor
from sawtooth.cli import app

GUEST = doctor.guest_finding()
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")

_SCRIPTS = Path(__file__).resolve().parents[1] / "conformance"


def test_scripts_pass_on_a_guests_kernel(tmp_path: Path) -> None:
    """All but those of accurate ECN, which no packaged kernel has; a mistake in one and a failure of another take nothing from the rest."""
    (tmp_path / "mistake.pkt").write_text("0 what is this\n")
    (tmp_path / "failure.pkt").write_text("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 4\n")
    ended = CliRunner().invoke(app, ["conform", str(_SCRIPTS), str(tmp_path), "--backend", "uml", "--json"])
    assert ended.exit_code == 2, ended.output
    told = {Path(each["script"]).name: each for each in json.loads(ended.stdout)}
    assert told.pop("mistake.pkt")["verdict"] == "has a mistake"
    failure = told.pop("failure.pkt")
    assert (failure["verdict"], failure["line"], failure["expected"], failure["came"]) == ("failed", 1, "4", "3")
    lacking = {name for name, each in told.items() if each["verdict"] == "not applicable"}
    assert lacking == {"rfc9768-receiver.pkt", "rfc9768-sender.pkt"}
    assert {each["verdict"] for name, each in told.items() if name not in lacking} == {"passed"}


def test_an_image_that_is_not_there_is_told() -> None:
    """And one for a backend that has none."""
    for words, said in [
        (["--backend", "uml", "--image", "9.9-hz1"], "9.9-hz1"),
        (["--image", "6.1-hz250"], "`--backend sim` has no kernel of an image"),
    ]:
        ended = CliRunner().invoke(app, ["conform", str(_SCRIPTS), *words])
        assert said in str(ended.exception)
