"""Scripts against the simulated endpoint, and the command."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.captured import OPENING
from sawtooth.cli import app
from sawtooth.conformance.asserting import failures
from sawtooth.conformance.endpoint import NotApplicable
from sawtooth.conformance.parse import load, parse
from sawtooth.conformance.running import FAILED, NOT_APPLICABLE, PASSED, Outcome, run
from sawtooth.conformance.script import Segment
from sawtooth.conformance.simulated import SimulatedEndpoint
from sawtooth.conformance.wire import Addresses, checksum, from_bytes, to_bytes

_HERE = Path(__file__).parent


def _run(text: str) -> Outcome:
    script = parse(text, "x.pkt")
    return run(script, lambda: SimulatedEndpoint(script, "linux"))


@pytest.mark.parametrize("path", sorted(_HERE.glob("*.pkt")), ids=lambda path: path.stem)
def test_a_script_passes_on_the_simulated_endpoint(path: Path) -> None:
    """Each names its section."""
    script = load(path)
    outcome = run(script, lambda: SimulatedEndpoint(script, "linux"))
    assert outcome.verdict == PASSED, outcome
    assert path.read_text().startswith("// RFC ")


@pytest.mark.parametrize("path", sorted((_HERE / "kernel-only").glob("*.pkt")), ids=lambda path: path.stem)
def test_what_passes_on_the_kernel_alone_is_listed_as_such(path: Path) -> None:
    """One that passes now belongs to the others."""
    script = load(path)
    assert run(script, lambda: SimulatedEndpoint(script, "linux")).verdict == FAILED


def test_a_failure_has_its_line_and_both_sequences() -> None:
    """What was expected and what came, with times."""
    outcome = _run(OPENING + "+0 write(4, ..., 100) = 100\n+0 > P. 1:201(200) ack 1\n")
    assert outcome.verdict == FAILED
    assert outcome.event is not None
    assert outcome.event.place.line == 9
    assert outcome.reason == "differs in sequence numbers"
    assert outcome.expected == "0.200000 P. 1:201(200) ack 1"
    assert outcome.came.startswith("0.200000 [noecn] P. 1:101(100) ack 1")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("+0 > . 1:1(0) ack 1\n", "no segment came"),
        ("+0 read(4, ..., 10) = 10\n", "what read returns differs"),
        ("+0 %{ assert tcpi_snd_cwnd == 3 }%\n", "an assertion does not hold"),
        ("+0 write(4, ..., 100) = 100\n+.1 > P. 1:101(100) ack 1\n", "the time differs"),
    ],
)
def test_what_fails(more: str, reason: str) -> None:
    """Segments, results, assertions and times."""
    outcome = _run(OPENING + more)
    assert (outcome.verdict, outcome.reason) == (FAILED, reason)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("+0 < R. 1:1(0) ack 1\n", "a reset (RST)"),
        ("+0 < udp (100)\n", "a packet that is none of TCP: udp (100)"),
        ("+0 poll([{fd=4}], 1, 0) = 0\n", "the call poll"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n", "the socket's option TCP_CORK"),
        ("`ip route change default`\n", "the command `ip route change default`"),
        ("`sysctl -q net.ipv4.tcp_rmem=1`\n", "the setting net.ipv4.tcp_rmem = 1"),
        ("+0 %{ assert tcpi_lost == 0 }%\n", "tcpi_lost is not known of this endpoint"),
        (
            "+0 write(4, ..., 2000) = 2000\n+.1 < . 1:1(0) ack 500 win 9\n",
            "an acknowledgement of a part of a segment, or of what was never sent",
        ),
    ],
)
def test_what_the_endpoint_lacks_is_named(more: str, reason: str) -> None:
    """It is not applicable, and no failure."""
    outcome = _run(OPENING + more)
    assert (outcome.verdict, outcome.reason) == (NOT_APPLICABLE, reason)


def test_several_segments_may_be_written_as_one() -> None:
    """As where segmentation is offloaded."""
    assert _run(OPENING + "+0 write(4, ..., 2500) = 2500\n+0 > P. 1:2501(2500) ack 1\n").verdict == PASSED


def test_assertions_do_nothing_but_arithmetic() -> None:
    """What they may not is named."""
    assert failures("assert a + 1 == 3 and not b, a", {"a": 2, "b": 0}) == []
    assert failures("assert a > 3", {"a": 2}) == ["assert a > 3 (a = 2)"]
    for code in ["import os", "assert open('x')", "assert (lambda: 1)()", "assert a.b", "1 +"]:
        with pytest.raises(NotApplicable):
            failures(code, {"a": 2})


def test_a_segment_comes_out_of_bytes_as_it_went_in() -> None:
    """Numbers are relative to the initial ones on either side."""
    here, there = (IPv4Address("192.0.2.1"), 1), (IPv4Address("192.0.2.2"), 2)
    options = {"TS": (5, 6), "sack": [(1, 3)]}
    segment = Segment("P.EW", 11, 3, 7, 9, options, "ce")
    packet = to_bytes(segment, Addresses(there, here, 1000, 2**32 - 3))
    assert checksum(packet[:20]) == 0
    back = from_bytes(packet, Addresses(here, there, 2**32 - 3, 1000))
    assert back is not None
    assert set(back.flags) == set(segment.flags)
    assert (back.start, back.length, back.ack, back.window, back.options, back.ecn) == (11, 3, 7, 9, options, "ce")


def test_the_command_tells_what_became_of_each(tmp_path: Path) -> None:
    """A mistake in one does not keep the others from running."""
    (tmp_path / "good.pkt").write_text(OPENING)
    (tmp_path / "bad.pkt").write_text("+0 bind(3\n")
    found = CliRunner().invoke(app, ["conform", str(tmp_path), "--json"])
    assert found.exit_code == 2
    assert [each["verdict"] for each in json.loads(found.stdout)] == ["has a mistake", "passed"]
    (tmp_path / "bad.pkt").write_text(OPENING + "+0 > . 1:1(0) ack 1\n")
    found = CliRunner().invoke(app, ["conform", str(tmp_path)])
    assert found.exit_code == 1
    assert found.stdout.endswith("1 passed, 1 failed\n")


def test_the_command_refuses_what_there_is_not(tmp_path: Path) -> None:
    """Folders without scripts, backends and stacks."""
    for words, said in [
        ([str(tmp_path)], "has no script"),
        ([str(_HERE), "--backend", "qemu"], "cannot be run with `--backend qemu`"),
        ([str(_HERE), "--stack", "linx"], "there is no stack `linx`"),
    ]:
        found = CliRunner().invoke(app, ["conform", *words])
        assert said in str(found.exception)
