"""What a hint suggests for a name that is not known: what is a slip away, what it begins or is begun by, and nothing that is neither."""

from __future__ import annotations

import pytest

from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.linting import lint
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """
repeat = 2
[scenario]
duration = "2 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ name = "a", path = ["l"] }, { name = "b", path = ["l"] }]
"""


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("pie", ["paired", "levels"], "known here: paired, levels"), ("jain_index", ["goodput_bps", "jain"], "did you mean `jain`?"),
        ("good", ["goodput_bps", "timeouts"], "did you mean `goodput_bps`?"), ("qubic", ["reno", "cubic"], "did you mean `cubic`?"),
        ("rtt", ["rtt_min", "rtt_max", "loss"], "there is `rtt_min`, `rtt_max`"),
    ],
)  # fmt: skip
def test_only_what_may_be_meant_is_suggested(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known) == hint


def test_a_code_that_there_is_not_is_told_which_there_are() -> None:
    with pytest.raises(StudyError, match="there is no rule `SW999`") as caught:
        lint(Study.parse(STUDY + '[lint]\nignore = ["SW999"]\n'))
    assert str(caught.value.hint).startswith("codes begin with SW0 (the file), ")


def test_an_index_of_all_flows_is_told_by_its_name() -> None:
    finding = '[[findings]]\nclaim = "c"\nis = "above"\nmetric = "jain(goodput_bps)"\nthan = 0.5\n'
    with pytest.raises(StudyError, match="must say of what") as caught:
        make_plan(Study.parse(STUDY + finding))
    assert caught.value.hint == "of all together it is the measure `jain`; else add of = one of a, b"
