"""Captures as tshark and tcptrace read them: what docs/validation/captures.md says of its cases."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import captures

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


def test_the_page_has_every_case() -> None:
    text = captures.PAGE.read_text(encoding="utf-8")
    assert [case for case in captures.CASES if f"\n| {case} |" not in text] == []
    assert set(QUICK) <= set(captures.CASES)
