"""What a verdict says of one that would be another if it were the only claim: it is left open only if nothing is decided."""

from __future__ import annotations

import pytest

from sawtooth.findings.verdict import Claimed, Evidence, decide
from sawtooth.report import behind


def claim(shown_to: float) -> Claimed:
    """One cell denies it at every level, the other shows it at levels up to this."""
    return Claimed(
        "c",
        [
            Evidence("x", lambda _level: False, lambda _level: True, "1 ms"),
            Evidence("y", lambda level: level <= shown_to, lambda _level: False, "2 ms"),
        ],
    )


def test_a_verdict_that_is_decided_is_not_left_open() -> None:
    open_ones = [Claimed("o", [Evidence("", lambda _level: False, lambda _level: False, "3 ms")])] * 3
    claims = [claim(0.98), *open_ones]
    answer, by_itself = decide(claims)[0], decide(claims, together=False)[0]
    assert (answer, by_itself) == ("no", "mixed")
    assert behind.together(answer, by_itself, 4) == (
        "; by itself this would be `mixed`: with all 4 claims of the study together (Holm) it is `no`"
    )


@pytest.mark.parametrize("by_itself", ["yes", "no", "mixed"])
def test_one_that_is_not_decided_is(by_itself: str) -> None:
    said = behind.together("cannot distinguish", by_itself, 2)
    assert said.endswith(f"by itself this would be `{by_itself}`: with all 2 claims of the study together (Holm) it is left open")
    assert not behind.together(by_itself, by_itself, 2)
