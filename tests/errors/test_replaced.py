"""What the sweep or the arms replace in every run is held to what its key takes, too: the next change of the sweep makes it a run's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.linting import lint
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """
vars = { N = 2 }
draws = { start = { distribution = "uniform", low = 0, high = 1 } }
[scenario]
duration = "2 s"
stack = "linux"
cc = "reno"
tcp.recovery = "newreno"
links.l = { rate = "10 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"], count = "N", start = "start * 1 s" }]
"""
SWEPT = """
[sweep]
"links.l.rate" = ["5 Mbit/s", "20 Mbit/s"]
"links.l.delay" = ["5 ms", "20 ms"]
"links.l.queue.name" = ["red", "drop_tail"]
"links.l.queue.limit" = ["50 packets", "100 packets"]
"vars.N" = [1, 3]
[arms]
reno = { "cc.name" = "reno", "tcp.recovery" = "rack" }
cubic = { "cc.name" = "cubic", "tcp.recovery" = "newreno" }
"""
MISTAKES = [
    ('rate = "10 Mbit/s"', 'rate = "-10 Mbit/s"'), ('rate = "10 Mbit/s"', 'rate = "10 Mbit"'), ('rate = "10 Mbit/s"', 'rate = "0 Mbit/s"'),
    ('rate = "10 Mbit/s"', 'rate = "1e30 bit/s"'),
    ('rate = "10 Mbit/s"', "rate = 10"), ('delay = "10 ms"', 'delay = "10 Mbit/s"'), ('cc = "reno"', 'cc = "qubic"'),
    ('name = "drop_tail"', 'name = "pie2"'), ('limit = "10 packets"', 'limit = "0 packets"'), ('limit = "10 packets"', 'limit = "M packets"'),
    ('recovery = "newreno"', 'recovery = "newrenno"'), ("N = 2", 'N = "2 *"'),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), MISTAKES)
def test_what_every_run_replaces_is_refused_as_if_it_were_run_with(right: str, wrong: str) -> None:
    assert right in STUDY
    make_plan(Study.parse(STUDY + SWEPT))
    with pytest.raises(StudyError) as alone:
        make_plan(Study.parse(STUDY.replace(right, wrong)))
    with pytest.raises(StudyError) as swept:
        make_plan(Study.parse(STUDY.replace(right, wrong) + SWEPT))
    assert str(swept.value) == str(alone.value) and swept.value.place is not None
    (found,) = lint(Study.parse(STUDY.replace(right, wrong) + SWEPT))
    assert (found.rule.code, found.place) == ("SW001", alone.value.place)


def test_one_mistake_hides_no_other_value_from_being_put_back() -> None:
    text = STUDY.replace('delay = "10 ms"', 'delay = "20 ms"').replace("10 Mbit/s", "-1 Mbit/s").replace('"reno"', '"qubic"')
    with pytest.raises(StudyError, match="a link's rate must be above zero"):
        make_plan(Study.parse(text + SWEPT))


@pytest.mark.parametrize(
    "text",
    [
        # What is not there at all.
        re.sub(r'rate = "10 Mbit/s", |cc = "reno"\n', "", STUDY) + SWEPT.replace('"cc.name"', '"cc"'),
        # Expressions over what a level defines, or over what is drawn.
        STUDY.replace('rate = "10 Mbit/s"', 'rate = "N * start * 1 Mbit/s + 1 kbit/s"') + SWEPT,
        # Pairs that bound each other, of which each run has both from the same level.
        STUDY.replace("tcp.recovery", 'tcp.rto_min = "1 s"\ntcp.rto_max = "2 s"\ntcp.recovery')
        + '[[sweep]]\nzip = { "tcp.rto_min" = ["10 s"], "tcp.rto_max" = ["20 s"] }\n',
        # Queues whose parameters the name decides.
        STUDY.replace('{ name = "drop_tail", limit = "10 packets" }', '{ name = "codel", target = "5 ms" }')
        + '[[sweep]]\ncases = [{ "links.l.queue" = { name = "red", limit = "50 packets" } }, { "links.l.queue" = "pie" }]\n',
        STUDY.replace('cc = "reno"', 'cc = { name = "cubic", beta = 0.8 }') + '[arms]\nown = { "cc.beta" = 0.7 }\nplain = { "cc.beta" = 0.5 }\n',
    ],
)  # fmt: skip
def test_what_is_absent_or_only_right_together_is_no_mistake(text: str) -> None:
    make_plan(Study.parse(text))


def test_a_file_that_every_run_replaces_has_to_be_there(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    (tmp_path / "there.csv").write_text("at,rate\n500 ms,1 Mbit/s\n1 s,2 Mbit/s\n")
    changes = 'rate = "10 Mbit/s", changes = { file = "gone.csv" }'
    path.write_text(STUDY.replace('rate = "10 Mbit/s"', changes) + '[sweep]\n"links.l.changes.file" = ["there.csv"]\n')
    with pytest.raises(StudyError, match=r"gone\.csv") as caught:
        make_plan(Study.load(path))
    assert caught.value.place is not None and '"gone.csv"' in caught.value.place.text
