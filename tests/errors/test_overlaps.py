"""What a factor varies is set once: a later axis or an arm that takes it away is refused at its key, one that adds to it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

HEAD = """\
[scenario]
duration = "1 s"
links.l = { rate = "1 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"], count = 2 }]
"""
LIMITS = '"links.l.queue.limit" = ["1 bdp", "2 bdp"]\n'
QUEUES = '"links.l.queue" = ["drop_tail", "codel"]\n'
TABLES = '"links.l.queue" = [{ name = "drop_tail", limit = "9 packets" }, "codel"]\n'


def refused(text: str, options: tuple[str, ...] = ()) -> StudyError:
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(HEAD + text, Path("s.toml"), options=options))
    return caught.value


def test_the_error_names_both_places_and_what_to_do() -> None:
    assert (
        str(refused(f'[sweep]\n{LIMITS}[arms]\na = {{}}\nb = {{ "links.l.queue.limit" = "9 bdp" }}\n'))
        == """\
error: the arm `b` sets `links.l.queue.limit`, which the sweep varies at s.toml:6:1: its runs would be called "1 bdp" and have "9 bdp"
 --> s.toml:9:7
  |
9 | b = { "links.l.queue.limit" = "9 bdp" }
  |       ^^^^^^^^^^^^^^^^^^^^^
hint: leave it out of the arm; if arms have other values, sweep a variable (`vars.NAME`) that they use in theirs, or make them cases of one block"""
    )
    error = refused(f"[sweep]\n{LIMITS}{QUEUES}")
    assert error.place is not None
    assert (error.place.line, error.place.column) == (7, 1)
    assert error.message == (
        'this axis sets `links.l.queue`, and the sweep varies `links.l.queue.limit` at s.toml:6:1: runs would be called "1 bdp" and have '
        "what is there by default"
    )
    assert error.hint
    assert error.hint.startswith("write this axis before `links.l.queue.limit`")


@pytest.mark.parametrize(
    ("text", "line", "had"),
    [
        pytest.param(f'[sweep]\n{LIMITS}[arms]\nb = {{ "links.l.queue" = "codel" }}\n', 8, "what is there by default", id="an arm, above"),
        pytest.param(f'[sweep]\n{TABLES}[arms]\nb = {{ "links.l.queue.limit" = "2 bdp" }}\n', 8, '"2 bdp"', id="an arm, within"),
        pytest.param(f'[sweep]\n{QUEUES}[arms]\nb = {{ "links.l.queue.name" = "pie" }}\n', 8, '"pie"', id="an arm, the name"),
        pytest.param(f"[sweep]\n{TABLES}{LIMITS}", 7, '"1 bdp"', id="an axis, within"),
        pytest.param('[sweep]\n"flows[*].cc" = ["reno", "bbr"]\n[arms]\nb = { "flows[0].cc" = "cubic" }\n', 8, '"cubic"', id="one of all"),
        pytest.param(
            f'[[sweep]]\ngrid = {{ {LIMITS.strip()} }}\n[[sweep]]\ncases = [{{ "links.l.queue.limit" = "3 bdp" }}]\n',
            8,
            '"3 bdp"',
            id="blocks",
        ),
    ],
)
def test_what_is_taken_away_is_refused(text: str, line: int, had: str) -> None:
    error = refused(text)
    assert error.place is not None
    assert error.place.line == line
    assert error.message.endswith(f" {had}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"[sweep]\n{QUEUES}{LIMITS}", id="an axis adds to one before it"),
        pytest.param(f'[sweep]\n{QUEUES}[arms]\nb = {{ "links.l.queue.limit" = "9 packets" }}\n', id="an arm adds to it"),
        pytest.param('[sweep]\n"links.l.delay" = ["1 ms"]\n[arms]\nb = { "links.l.delay" = "1 ms" }\n', id="an arm says the same"),
        pytest.param('[arms]\nb = { "flows[*].cc" = "reno", "flows[0].cc" = "cubic" }\n', id="an arm for itself"),
    ],
)
def test_what_is_added_to_or_said_again_is_not(text: str) -> None:
    assert make_plan(Study.parse(HEAD + text, Path("s.toml"))).runs
