"""The gallery's claims: each says what would refute it, and none says the same of other results."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.study import shipped
from tests.studies.altered import Altered, answers, swapped

GALLERY = [name for name in shipped.studies() if name.startswith("gallery/")]
Alteration = Mapping[str, Mapping[str, Any]]


def arms(first: str, second: str) -> Alteration:
    return {"runs_as": {"arm": swapped(first, second)}}


def flows(first: str, second: str) -> Alteration:
    return {"flows_as": swapped(first, second)}


# What of each is run, as little as tells its claims, and what is exchanged.
ALTERED: Mapping[str, tuple[Sequence[str], Sequence[Alteration]]] = {
    "bbr-against-cubic": (
        ['links.bottleneck.queue.limit=["0.25 bdp", "16 bdp"]', "repeat=6", 'scenario.duration="40 s"'],
        [flows("bbr", "cubic"), arms("BBR v1", "BBR v3")],
    ),
    "bufferbloat": ([], [arms("drop-tail", "FQ-CoDel"), flows("upload", "call")]),
    "incast": (["repeat=60"], [arms("CUBIC", "DCTCP with marks"), {"runs_as": {"N": swapped("2", "64") | swapped("4", "32") | swapped("8", "16")}}]),
    "l4s": ([], [arms("DualPI2", "CoDel")]),
    "leo-satellite": (['scenario.duration="60 s"'], [arms("bbr", "vegas"), arms("cubic", "vegas")]),
    "lossy-wireless": (
        ["vars.p=[0, 0.002, 0.01]", "repeat=6", 'scenario.duration="10 s"'],
        [arms("cubic", "bbr"), arms("westwood", "reno"), {"runs_as": {"p": swapped("0", "0.01")}}],
    ),
    "rtt-unfairness": (
        ['cc=["reno", "cubic", "bbr"]', "repeat=6", 'scenario.duration="20 s"'],
        [flows("near", "far"), {"runs_as": {"cc": swapped("reno", "bbr")}}],
    ),
    "slow-start-overshoot": ([], [arms("no HyStart", "HyStart"), arms("HyStart", "HyStart++")]),
}  # fmt: skip


def findings(name: str) -> list[dict[str, Any]]:
    return tomllib.loads(shipped.studies()[name].read_text())["findings"]


def test_every_claim_says_in_a_sentence_what_would_have_made_it_no() -> None:
    claims = [finding for name in GALLERY for finding in findings(name)]
    assert len(claims) > 30
    for finding in claims:
        assert finding.get("refuted_by", "").endswith("."), finding["claim"]


def test_incast_puts_the_same_claims_to_every_number_of_servers() -> None:
    study = tomllib.loads(shipped.studies()["gallery/incast"].read_text())
    asked = {(finding["where"]["N"], finding["metric"], finding["arm"]) for finding in study["findings"]}
    of_each = {(metric, arm) for _, metric, arm in asked}
    assert len(of_each) == 3
    assert asked == {(n, *each) for n in study["sweep"]["vars.N"] for each in of_each}
    assert study["repeat"]["until"] == "10 %"
    assert "with its results in sight" in study["caveats"][0]


def test_all_of_the_gallery_is_altered_here() -> None:
    assert {f"gallery/{name}" for name in ALTERED} == set(GALLERY)


@pytest.mark.parametrize("name", ALTERED)
def test_each_verdict_comes_out_otherwise_on_altered_results(name: str, tmp_path: Path) -> None:
    settings, alterations = ALTERED[name]
    words = [word for setting in settings for word in ("--set", setting)]
    done = CliRunner().invoke(app, ["run", f"gallery/{name}", *words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    found = answers(Altered(tmp_path / "out"))
    others = [answers(Altered(tmp_path / "out", **alteration)) for alteration in alterations]
    same = {claim: answer for claim, answer in found.items() if all(other[claim] == answer for other in others)}
    assert same == {}
