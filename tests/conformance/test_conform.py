"""Scripts against the simulated endpoint, and the command."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from typer.testing import CliRunner

from docs.captured import OPENING
from sawtooth.cli import app
from sawtooth.conformance import icmp
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
        ("+0 > R 1:1(0)\n", "a reset (RST)"),
        ("+0 < . 1:1(0) ack 1 win 0\n", "a window of 0, and its probes (RFC 9293 §3.8.6.1)"),
        ("+0 sendto(4, ..., 9, MSG_FASTOPEN, ..., ...) = 9\n", "Fast Open (RFC 7413)"),
        ("+0 < S 0:9(9) win 9 <FO 00ff>\n", "Fast Open (RFC 7413)"),
        ("+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 5\n+0 connect(5, ..., ...) = 0\n", "more than one connection"),
        ("+0 write(4, ..., 9) = 5\n", "a write that is not taken whole (memory of sockets)"),
        ("+0 recvmsg(4) = 5\n", "the call recvmsg with these arguments"),
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
    """As where segmentation is offloaded; where PSH then stands is not compared, and that a burst is one is not if the script is strict."""
    written = OPENING + "+0 write(4, ..., 2500) = 2500\n"
    for flags in ("P.", "."):
        assert _run(f"{written}+0 > {flags} 1:2001(2000) ack 1\n+0 > P. 2001:2501(500) ack 1\n").verdict == PASSED
    assert _run(f"{written}+0 > P. 1:2501(2500) ack 1\n").verdict == PASSED
    assert _run(f"--strict_segments\n{written}+0 > P. 1:2501(2500) ack 1\n").verdict == FAILED


def test_what_calls_fill_in_is_compared() -> None:
    """Bytes that wait to be read, options, and what is left after a message."""
    came = OPENING + "+0 < P. 1:101(100) ack 1\n"
    message = (
        "{msg_name(...)=..., msg_iov(1)=[{..., 60}], msg_flags=0, msg_control=[{cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=%d}]}"
    )
    calls = (
        f"+0 ioctl(4, SIOCINQ, [100]) = 0\n+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1000], [4]) = 0\n+0 recvmsg(4, {message % 40}, 0) = 60\n"
    )
    assert _run(came + calls).verdict == PASSED
    for wrong, expected, had in [
        ("+0 ioctl(4, SIOCINQ, [99]) = 0\n", "99", "100"),
        ("+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [900], [4]) = 0\n", "900", "1000"),
        (f"+0 recvmsg(4, {message % 41}, 0) = 60\n", "41", "40"),
    ]:
        outcome = _run(came + wrong)
        assert (outcome.verdict, outcome.expected, outcome.came) == (FAILED, expected, had)
        assert outcome.reason.endswith("fills in differs")


def test_settings_of_files_beside_a_script_are_the_simulated_endpoints(tmp_path: Path) -> None:
    """Those that it has are in force, and those without effect do not keep a script from running."""
    (tmp_path / "settings.sh").write_text("sysctl -q net.ipv4.tcp_ecn=0 net.ipv4.tcp_syn_retries=5\nip tcp_metrics flush all\n")
    asked = OPENING.replace("< S 0:0", "< SEW 0:0")
    for text, verdict in [(f"`./settings.sh`\n{asked}", PASSED), (asked, FAILED)]:
        (tmp_path / "x.pkt").write_text(text)
        script = load(tmp_path / "x.pkt")
        assert run(script, lambda script=script: SimulatedEndpoint(script, "linux")).verdict == verdict


def test_a_call_that_blocks_returns_by_what_comes_at_its_end() -> None:
    """And segments without an acknowledgement are none (RFC 9293 §3.10.7.4)."""
    text = OPENING + "+0...0.100 read(4, ..., 9) = 5\n+.05 < - 1:10(9) win 9\n+.05 < . 1:6(5) ack 1\n+.2 close(4) = 0\n"
    assert _run(text).verdict == PASSED


def test_numbers_of_a_peer_begin_with_its_syn() -> None:
    """What is in SYNs stands as it is, and what follows is counted from there."""
    text = OPENING.replace("< S 0:0(0)", "< S 700:700(0)").replace("> S. 0:0(0) ack 1", "> S. 0:0(0) ack 701")
    assert _run(text + "+0 < P. 1:101(100) ack 1\n* > . 1:1(0) ack 101\n").verdict == PASSED


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
    options = {"sack": [(1, 3)], "FO": "00ff", "FOEXP": "11"}
    segment = Segment("P.EW", 11, 3, 7, 9, options, "ce")
    packet = to_bytes(segment, Addresses(there, here, 1000, 2**32 - 3))
    assert checksum(packet[:20]) == 0
    back = from_bytes(packet, Addresses(here, there, 2**32 - 3, 1000))
    assert back is not None
    assert set(back.flags) == set(segment.flags)
    assert (back.start, back.length, back.ack, back.window, back.options, back.ecn) == (11, 3, 7, 9, options, "ce")


def test_what_is_of_another_connection_is_left_aside() -> None:
    """By the ports of both ends, of which the local one is learnt of a SYN."""
    here, there = (IPv4Address("192.0.2.1"), 0), (IPv4Address("192.0.2.2"), 2)
    ends = Addresses(here, there)
    syn = to_bytes(Segment("S", 0, 0), Addresses(there, (here[0], 1)))
    data = to_bytes(Segment(".", 1, 0, 1), Addresses(there, (here[0], 1)))
    assert from_bytes(data, ends) is None
    assert from_bytes(syn, ends) is not None
    assert from_bytes(data, ends) is not None
    assert from_bytes(to_bytes(Segment("S", 0, 0), Addresses(there, (here[0], 3))), ends) is None


def test_an_error_of_icmp_quotes_a_segment_of_the_hosts() -> None:
    """With the path's MTU (RFC 1191 §4), or not at all if it is none that is known."""
    ends = Addresses((IPv4Address("192.0.2.1"), 1), (IPv4Address("192.0.2.2"), 2), local_isn=7)
    packet = icmp.to_bytes("icmp unreachable frag_needed mtu 800 [3:9(6)]", ends)
    assert packet[9] == 1
    assert packet[20:22] == bytes([3, 4])
    assert packet[26:28] == (800).to_bytes(2, "big")
    assert packet[28 + 20 + 4 : 28 + 20 + 8] == (10).to_bytes(4, "big")
    assert checksum(packet[20:]) == 0
    for text in ("icmp packet_too_big mtu 9", "udp (9)", "icmp unreachable elsewhere"):
        with pytest.raises(NotApplicable):
            icmp.to_bytes(text, ends)


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
        ([str(_HERE), "--define", "A"], "`--define A` has no value"),
        ([str(_HERE), "--backend", "uml", "--hz", "1000"], "`--backend uml` has ticks of its own"),
    ]:
        found = CliRunner().invoke(app, ["conform", *words])
        assert said in str(found.exception)
