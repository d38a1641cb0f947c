"""Captures as tshark and tcptrace read them: what docs/validation/captures.md says of its cases."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import captures
from round_trips import RoundTripCount

MISSING = [program for program in captures.PROGRAMS if shutil.which(program) is None]
QUICK = (
    "linux, losses of 2 %", "linux, doubled packets", "linux, reordering", "rfc, NewReno, losses", "ns2, no handshake, losses", "ECN, dctcp", "AccECN, prague, losses",
    "short transfers", "partial packets, no delay", "requests and responses", "damaged packets", "UDP beside TCP",
)  # fmt: skip


@pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} not installed (Debian packages of the same names)")
@pytest.mark.parametrize("case", [pytest.param(case, marks=[] if case in QUICK else pytest.mark.long) for case in captures.CASES])
def test_both_programs_read_what_the_run_recorded_and_complain_of_nothing(case: str, tmp_path: Path) -> None:
    found = captures.outcome(case, tmp_path)
    assert +found.faults == {}
    assert found.frames > 100 and found.rows
    assert {row.flow: row.differences for row in found.rows if row.differences} == {}
    sent, captured = found.datagrams
    assert sent == captured


def test_round_trips_are_counted_by_the_rule_of_the_stack() -> None:
    def count(*, is_per_segment: bool, has_echo: bool) -> int:
        trips = RoundTripCount(is_per_segment)
        once, twice = captures.Sent(0, 1, [0.0]), captures.Sent(1, 2, [0.1, 1.0])
        trips.on_sent(1, 0.0, highest=None)
        trips.on_sent(2, 0.1, highest=None)
        trips.on_ack(1, 0.5, [once], has_echo=has_echo)
        trips.on_sent(3, 0.5, highest=None)
        # The timer: nothing is timed any more, until something new is sent.
        trips.on_sent(2, 1.0, highest=3)
        trips.on_ack(2, 1.5, [twice], has_echo=has_echo)
        trips.on_ack(3, 1.6, [captures.Sent(2, 3, [0.5])], has_echo=has_echo)
        return trips.samples

    # RFC 6298 §3: the first. RFC 7323 §4.1: all three. By segments: the first and the third, and with a timestamp the second.
    assert [count(is_per_segment=False, has_echo=echo) for echo in (False, True)] == [1, 3]
    assert [count(is_per_segment=True, has_echo=echo) for echo in (False, True)] == [2, 3]


def test_the_page_has_every_case() -> None:
    text = captures.PAGE.read_text(encoding="utf-8")
    assert [case for case in captures.CASES if f"\n| {case} |" not in text] == []
    assert set(QUICK) <= set(captures.CASES)


@pytest.mark.parametrize(
    ("written", "computed", "is_bad"), [("0xffff", "0x0000", False), ("0x0000", "0xffff", False), ("0xfffe", "0x0000", True)]
)
def test_the_other_zero_of_ones_complement_is_no_wrong_checksum(written: str, computed: str, *, is_bad: bool) -> None:
    frame = captures.Frame(dict.fromkeys(captures.FIELDS, ""))
    frame |= {"tcp.checksum.status": "0", "tcp.checksum": written, "tcp.checksum_calculated": computed}
    assert frame.is_bad == is_bad
