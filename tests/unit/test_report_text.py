"""What `sawtooth report` prints: short lines on a terminal, whole ones in a pipe, and last what was found in words."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import sawtooth
from sawtooth import Dataset
from sawtooth.findings.verdict import Claimed, Evidence
from sawtooth.report import closing, fact
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.stats import Interval

STUDY = """
name = "two"
question = "Does the longer way carry less?"
repeat = 8
caveats = ["The link is assumed. Nobody has seen it, and it may be another one altogether, which would be a pity for all that follows from it; so this is long. The page has it whole, and --verbose prints it so, as can be told by its last word: it is the END."]

[vars]
D = "20 ms"

[scenario]
duration = "5 s"

[scenario.links]
l = { rate = "1 Mbit/s", delay = "D" }

[[scenario.flows]]
path = ["l"]

[sweep]
"vars.D" = ["10 ms", "50 ms"]

[[findings]]
claim = "Less is carried the longer the way"
metric = "goodput_bps"
is = "falling"
along = "D"
strata = true

[[findings]]
claim = "More is carried than 10 Mbit/s"
metric = "goodput_bps"
is = "above"
than = "10 Mbit/s"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    (folder / "s.toml").write_text(STUDY)
    return sawtooth.run(folder / "s.toml", folder / "out").directory


def on_terminal(words: list[str], width: int, **more: str) -> str:
    """What a command prints to a terminal so wide."""
    mine, theirs = pty.openpty()
    settings = {**os.environ, "COLUMNS": str(width), "TERM": "xterm-256color", **more}
    process = subprocess.Popen([sys.executable, "-m", "sawtooth.cli", *words], stdout=theirs, env=settings)
    os.close(theirs)
    parts: list[bytes] = []
    try:
        while part := os.read(mine, 1 << 16):
            parts.append(part)
    except OSError:
        # Linux tells so that nobody writes any more.
        pass
    assert process.wait() == 0
    os.close(mine)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_on_a_terminal_is_wider_than_it(width: int, results: Path, tmp_path: Path) -> None:
    told = on_terminal(["report", str(results), "--format", "csv", "--out", str(tmp_path)], width, TERM="dumb").split("\n")
    lines = [line for line in told if not line.startswith("report: ")]
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("two: Does the longer way carry less?")
    assert lines[3].startswith("  - The link is assumed.") and sum("it may be another" in line for line in lines) == 1
    assert not any("END" in line for line in lines)
    assert any(line.startswith("yes") and line.rstrip().endswith("rank correlation -1.00") for line in lines)
    assert told[-2] == f"report: {tmp_path}"


def test_a_terminal_has_colours_unless_it_is_asked_not_to(results: Path, tmp_path: Path) -> None:
    words = ["report", str(results), "--format", "csv", "--out", str(tmp_path)]
    assert "\x1b[32m" in on_terminal(words, 100, NO_COLOR="") and "\x1b[32m" not in on_terminal(words, 100, NO_COLOR="1")


def test_a_pipe_gets_whole_lines_and_all_numbers_only_if_asked(results: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sawtooth.cli", "report", str(results), "--format", "csv", "--out", str(tmp_path)]
    plain, whole = (subprocess.run([*words, *more], check=True, capture_output=True, text=True).stdout for more in ([], ["--verbose"]))
    assert plain.splitlines() == [
        "two: Does the longer way carry less?",
        "caveat: The link is assumed. ...",
        "yes: Less is carried the longer the way (rank correlation -1.00)",
        "no: More is carried than 10 Mbit/s (0 of 2 cells, 2 contrary)",
        "Of 2 claims together: 1 yes, 1 no.",
        "Shown: Less is carried the longer the way.",
        "The contrary is shown of: More is carried than 10 Mbit/s.",
        f"report: {tmp_path}",
    ]
    assert "END." in whole and "permutation test" in whole and whole.splitlines()[-4:] == plain.splitlines()[-4:]


def made(claim: str, answer: str, *evidence: Evidence) -> Verdict:
    return Verdict(claim, answer, "", evidence)


def number(low: float, high: float, kind: str = "95% t interval", unit: str = "ns") -> Evidence:
    return Evidence("", lambda _: True, lambda _: False, "", Interval((low + high) / 2, low, high, 3, kind), unit=unit)


def test_the_number_that_decides() -> None:
    assert closing.number(made("", "yes", number(1e6, 3e6))) == "+2 ms (+1 to +3)"
    # What does not vary, or has no end, has no interval to show.
    assert closing.number(made("", "yes", number(2e6, 2e6, "no variation in 3 runs: up to 63% of further ones may differ"))) == "+2 ms"
    assert closing.number(made("", "yes", fact(True, "7 of them (so many)"))) == "7 of them"
    assert closing.number(made("", "mixed", fact(True, ""), fact(False, ""), fact(True, ""))) == "2 of 3 cells, 1 contrary"
    assert closing.number(Verdict("", "cannot distinguish", "no run tells it; none came to an end")) == "no run tells it"


def test_a_number_that_decides_only_by_itself_says_so(results: Path) -> None:
    def up_to(most: float, evidence: Evidence) -> Evidence:
        def shows(level: float) -> bool:
            return level <= most

        return replace(evidence, shows=shows)

    shown, open_one = up_to(0.96, number(1e6, 3e6)), up_to(0.0, number(-1e6, 3e6))
    told = Answers(Dataset.open(results)).decided([Claimed("a", [shown]), Claimed("b", [open_one]), Claimed("c", [open_one])], [])
    assert [each.answer for each in told] == ["cannot distinguish"] * 3
    assert [closing.number(each) for each in told] == [
        "+2 ms (+1 to +3); `yes` before correction for 3 claims",
        "+1 ms (-1 to +3)",
        "+1 ms (-1 to +3)",
    ]


def test_claims_that_differ_in_their_last_words_are_told_together() -> None:
    grows = [f"The gain grows with {what}" for what in ("bandwidth", "delay", "the number of flows")]
    assert closing.together(grows) == ["The gain grows with bandwidth, delay and the number of flows"]
    assert closing.together(["Less is more", *grows[:2], "More is less"]) == [
        "Less is more", "The gain grows with bandwidth and delay", "More is less"
    ]  # fmt: skip
    # One that is the beginning of another, and those that differ in more words, stand alone.
    alone = ["The gain grows with time", "The gain grows with time and again"]
    assert closing.together(alone) == alone
    apart = ["The gain grows with bandwidth, in all cells", "The gain grows with delay, in all cells"]
    assert closing.together(apart) == apart


def test_what_no_run_tells_is_not_left_open() -> None:
    verdicts = [Verdict("It grows", "cannot distinguish", "no run tells it"), Verdict("All do", "cannot distinguish", "follows from a, b")]
    told = closing.found(verdicts)
    assert told == [
        "Of 2 claims together: 1 cannot distinguish, 1 not told.", "Left open: All do.", "Not told by the runs that were made: It grows."
    ]  # fmt: skip
    # Each line says what the count says.
    assert [each.said for each in verdicts] == ["not told", "cannot distinguish"]


def test_values_that_came_out_again_are_counted_first() -> None:
    exact = made("All 2 sums come out again", "yes", fact(True, ""), fact(True, ""))
    told = closing.found([made("It grows", "yes", number(1, 2)), exact, made("It does not", "cannot distinguish", number(-1, 1))])
    assert told == [
        "Of 3 claims together: 2 yes, 1 cannot distinguish.",
        "Shown: All 2 sums come out again (2 of 2 cells); It grows.",
        "Left open: It does not.",
    ]
