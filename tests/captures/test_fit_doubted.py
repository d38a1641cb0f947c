"""`sawtooth fit` where packets that were sent together did not arrive at one rate, and the one simulation of the study that it proposes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sawtooth import captures, fitting, taps
from sawtooth.api import simulate
from sawtooth.cli import fit_text
from sawtooth.fitting import unexplained
from sawtooth.fitting.again import Again, Behaviour
from sawtooth.study import Study

NOT_ONE = "packets that were sent together did not arrive at one rate"


def late(directory: Path, loss: float = 0.0) -> captures.Capture:
    """A flow over 50 packets of drop-tail whose acknowledgements come late and in bursts, as a host takes them in that has other things to do."""
    # Most are hardly late; one in fifty for as long as a processor is with others.
    delays = sorted([*np.linspace(0, 0.5, 49), 30.0])
    link: dict[str, Any] = {
        "rate": "10 Mbit/s",
        "delay": "20 ms",
        "queue": {"name": "drop_tail", "limit": "50 packets"},
        "loss": loss,
        "reverse": {"rate": "1 Gbit/s", "jitter": {"name": "table", "quantiles": [f"{each:.3f} ms" for each in delays]}},
    }
    file = directory / "late.pcapng"
    scenario = {"duration": "10 s", "stack": "linux", "cc": "cubic", "links": {"l": link}, "flows": [{"path": ["l"]}]}
    simulate(scenario, seed=3, captures=taps.wanted(file))
    return captures.read(file)


def fitted(capture: captures.Capture) -> fitting.Fit:
    return fitting.fit(capture, captures.choose(capture, [])[0], ["cubic"])


def test_where_arrivals_contradict_one_rate_a_buffer_and_a_loss_are_not_told(tmp_path: Path) -> None:
    found = fitted(late(tmp_path))
    path = found.path
    assert found.cross.contradicted
    assert (path.buffer_packets.value, path.buffer_packets.low, path.buffer_packets.high) == (None, 1.0, math.inf)
    assert path.buffer_packets.why == f"cannot tell: {NOT_ONE}, so what looks as if it was queued may have waited at a busy host"
    assert (path.loss.value, path.loss.low) == (None, 0.0)
    lost = len(path.lost)
    assert lost > 0
    assert (
        path.loss.why
        == f"cannot tell: {NOT_ONE}, so all of the {lost} of {found.seen.sent.size} packets that were lost may have found the queue full"
    )
    # What the study assumes is what was queued when packets were lost, in the middle.
    assert path.assumed_packets == pytest.approx(50, abs=5)
    assert "\nloss = 0  #" in found.study


def test_pairs_that_are_uneven_by_a_little_have_one_rate() -> None:
    rates = np.log(1e7) + np.random.default_rng(1).normal(0, 0.008, 300)
    few = rates.copy()
    few[:100] += np.linspace(0.05, 1, 100)
    assert unexplained.of_most(rates).value == pytest.approx(1e7, rel=0.01)
    assert unexplained.contradicts(unexplained.of_most(few))


def test_losses_that_do_not_depend_on_the_queue_are_told_and_may_have_been_none(tmp_path: Path) -> None:
    loss = fitted(late(tmp_path, 0.02)).path.loss
    assert loss.value == pytest.approx(0.02, rel=0.3)
    assert loss.low == 0 < 0.02 < loss.high
    assert loss.why.endswith(f"; {NOT_ONE}, so all may have found it full")


def test_the_study_is_simulated_once_and_says_how_far_it_is(tmp_path: Path) -> None:
    capture = late(tmp_path)
    found = fitted(capture)
    again = found.again
    assert again is not None
    row = capture.flows.row(0, named=True)
    assert again.measured == Behaviour(row["goodput_bps"], row["srtt_mean_ns"] / 1e9, row["retransmits"])
    file = tmp_path / "again.pcapng"
    simulate(Study.parse(found.study, tmp_path / "late.toml"), seed=1, captures=taps.wanted(file, ["sender"]))
    row = captures.read(file).flows.row(0, named=True)
    assert again.simulated == Behaviour(row["goodput_bps"], row["srtt_mean_ns"] / 1e9, row["retransmits"])
    assert f"study   {'caveat: ' if again.is_far else ''}{again.words}" in list(fit_text.lines(found, None, None))
    assert f"# S{again.words[1:]} (seed 1).\n" in found.study
    told = json.loads(json.dumps(fit_text.as_json(found, None), allow_nan=False))["again"]
    assert set(told) == {"measured", "simulated", "apart", "is_far"}
    assert again.simulated.goodput_bps and again.measured.goodput_bps
    assert told["apart"]["goodput_bps"] == pytest.approx(again.simulated.goodput_bps / again.measured.goodput_bps - 1)


@pytest.mark.parametrize(
    ("measured", "simulated", "is_far"),
    [
        (Behaviour(10e6, 0.1, 10), Behaviour(11.4e6, 0.1, 10), False),
        (Behaviour(10e6, 0.1, 10), Behaviour(11.6e6, 0.1, 10), True),
        (Behaviour(10e6, 0.1, 10), Behaviour(10e6, 0.084, 10), True),
        # As many more come by chance; so many do not.
        (Behaviour(10e6, 0.1, 12), Behaviour(10e6, 0.1, 20), False),
        (Behaviour(10e6, 0.1, 120), Behaviour(10e6, 0.1, 200), True),
        (Behaviour(10e6, 0.1, 0), Behaviour(10e6, 0.1, 20), True),
        (Behaviour(10e6, None, 0), Behaviour(10e6, 0.1, 0), False),
    ],
)
def test_what_is_far_is_more_than_a_part_and_more_than_chance(measured: Behaviour, simulated: Behaviour, is_far: bool) -> None:
    assert Again(measured, simulated).is_far == is_far


def test_how_far_it_is_stands_in_words_and_among_the_caveats() -> None:
    again = Again(Behaviour(9.49e6, 0.08515, 0), Behaviour(6.48e6, None, 3))
    words = "simulated once, beside the capture: goodput 6.48 and 9.49 Mbit/s (-31.7%), mean round trip unknown and 85.15 ms, segments sent again 3 and 0"
    assert again.words == words
    assert again.caveat == f"The study does not behave as the capture did; {words}."
    assert Again(again.measured, again.measured).caveat is None


@pytest.mark.parametrize(
    ("file", "title"),
    [("fits/x-codel.toml", "x-codel"), ("a b.pcap.gz", "a-b.pcap"), ("-", "fitted"), (".hidden", "hidden"), ("überall.pcapng", "überall")],
)
def test_a_study_is_named_by_its_file_as_a_directory_can_be(file: str, title: str) -> None:
    assert fitting.title_of(file) == title
    assert (
        Study.parse(f'name = "{title}"\n[scenario]\nlinks.l = {{ rate = "1 Mbit/s" }}\nflows = [{{ path = ["l"] }}]\n', Path("x")).name
        == title
    )
