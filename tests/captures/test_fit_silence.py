"""`sawtooth fit`: times at which the path was silent are outages, and neither losses by chance nor a full queue."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from sawtooth import captures, fitting, taps
from sawtooth.api import simulate
from sawtooth.cli import fit_text

LINK = {"rate": "4 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "30 packets"}}


def fitted(directory: Path, **link: object) -> fitting.Fit:
    scenario = {"duration": "40 s", "stack": "linux", "cc": "reno", "links": {"l": {**LINK, **link}}, "flows": [{"path": ["l"]}]}
    file = directory / "x.pcapng"
    simulate(scenario, seed=3, captures=taps.wanted(file, ["sender"]))
    capture = captures.read(file)
    return fitting.fit(capture, captures.choose(capture, [])[0], ("reno", "cubic"))


def test_an_outage_is_told_and_the_study_has_it(tmp_path: Path) -> None:
    found = fitted(tmp_path, outages=[{"from": "10 s", "until": "20 s"}])
    (silence,) = found.silences
    assert silence.began_s == pytest.approx(10, abs=0.01) and silence.ended_low_s < 20 < silence.ended_high_s and not silence.waited
    assert found.path.loss.value == 0 and found.control.name == "reno"
    assert found.path.buffer_packets.value == pytest.approx(30, abs=2)
    (outage,) = tomllib.loads(found.study)["scenario"]["links"]["bottleneck"]["outages"]
    assert outage == silence.outage and outage.keys() == {"from", "until"}
    (caveat,) = found.untold
    assert caveat.startswith("The path was silent: nothing arrived from 10.01 s to 20.27 s, though a segment was sent again 4 times")
    assert found.again is not None and not found.again.is_far and found.why_control == found.control.why
    (line,) = [line for line in fit_text.lines(found, None, None) if line.startswith("outage")]
    assert line.startswith(f"outage  {silence.began_s:.4g} s to ") and "sent again" in line
    assert fit_text.as_json(found, None)["outages"][0]["ended_s"] == silence.ended_s


def test_an_outage_in_which_packets_wait_is_told_to_its_end(tmp_path: Path) -> None:
    found = fitted(tmp_path, outages=[{"from": "10 s", "until": "20 s", "packets": "wait"}])
    (silence,) = found.silences
    assert silence.waited and (silence.began_s, silence.ended_s) == (pytest.approx(10, abs=0.01), pytest.approx(20, abs=0.03))
    assert found.path.buffer_packets.value == pytest.approx(30, abs=2)
    assert found.cross.rate_bps.value is None and found.control.name == "reno"
    assert found.again is not None and not found.again.is_far


def test_an_outage_until_the_end_lasts_until_the_end(tmp_path: Path) -> None:
    found = fitted(tmp_path, outages=[{"from": "25 s", "until": "40 s"}])
    (silence,) = found.silences
    assert silence.ended_s == silence.ended_high_s == silence.until_s == found.seen.since[-1]


@pytest.mark.parametrize("loss", [0.0, 0.2])
def test_losses_by_chance_are_no_silence(loss: float, tmp_path: Path) -> None:
    found = fitted(tmp_path, loss=loss)
    assert found.silences == []
    assert "outages" not in tomllib.loads(found.study)["scenario"]["links"]["bottleneck"]


def test_a_study_that_is_far_is_not_called_as_near_as_its_congestion_control(tmp_path: Path) -> None:
    # Two retransmissions in vain are none too many: what this outage did is not in the study.
    found = fitted(tmp_path, outages=[{"from": "10 s", "until": "10.7 s", "every": "1.5 s"}])
    assert found.again is not None and found.again.is_far and found.silences == []
    assert found.control.name is not None and found.why_control.endswith("and the study, which has chance instead, is farther away")
