"""A mistake is blamed itself, and not what merely uses it: a path of the sweep, not the figure of its factor; a level of a list, not the list."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
vars = { T = "20 ms" }
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "T", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ name = "f", path = ["l"] }]
[sweep]
"links.l.queue.limit" = ["0.5 bdp", "1 bdp"]
[arms]
a = {}
b = { "tcp.recovery" = "newreno" }
[[references]]
name = "paper"
file = "ref.csv"
keys = { limit = "buffer" }
columns = { tput = { column = "tput", unit = "Mbit/s" } }
[[figures]]
name = "g"
metric = "goodput_bps"
x = "limit"
[[findings]]
claim = "c"
metric = "goodput_bps"
of = "f"
arm = "a"
is = "above"
than = { arm = "b" }
"""

# What is written instead of what, what of it is blamed, and how the error and its hint begin.
CASES = {
    "a last key of a path": ("queue.limit", "queue.limt", '"links.l.queue.limt"', "unknown parameter of drop_tail `limt`", "did you mean `limit`"),
    "a key of a path": ("l.queue.limit", "l.qeue.limit", '"links.l.qeue.limit"', "`links.l.qeue.limit` does not exist", "did you mean `queue`"),
    "a path of one word": ('"links.l.queue.limit"', "limit", "limit", "unknown key `limit`", "did you mean `limits`"),
    "a path of an arm": ("tcp.recovery", "tcp.recovry", '"tcp.recovry"', "unknown tcp parameter `recovry`", "did you mean `recovery`"),
    "an item that is not there": ('"links.l.queue.limit"', '"flows[3].cc"', '"flows[3].cc"', "`flows[3].cc` does not exist", "they are counted from 0: the last one is `flows[0]`"),
    "a level": ('"1 bdp"]', '"1 bdq"]', "bdq", "unknown unit `bdq`", "did you mean `bdp`"),
    "a factor twice": ("[sweep]\n", '[sweep]\n"scenario.links.l.queue.limit" = ["2 bdp", "3 bdp"]\n', '"links.l.queue.limit"', "this axis sets `links.l.queue.limit`, which the sweep varies at", "vary it in one place"),
    "a sweep without an axis": ('"links.l.queue.limit" = ["0.5 bdp", "1 bdp"]\n', "", "[sweep]", "the sweep has no axis", "write paths and their values"),
    "an axis without a level": ('["0.5 bdp", "1 bdp"]', "[]", "[]", "`links.l.queue.limit` must be swept over a list of values, found []", "write its values between the brackets"),
    "a path without quotes": ('"links.l.queue.limit"', "links.l.queue.limit", "links", "`links` must be swept over a list of values, found a table", 'a path with dots is in quotes, such as "links.l.queue.limit" = [...]'),
    "a key of the study": ('"links.l.queue.limit"', "repeat", "repeat", "`repeat` is of the study, not of the scenario", "what the scenario holds is varied and set"),
    "one measure of several": ('metric = "goodput_bps"\nx', 'kind = "shares"\nmetric = ["limited_cwnd_ns", "limited_rwn_ns"]\nx', "limited_rwn_ns", "there is no measure `limited_rwn_ns`", "did you mean `limited_rwnd_ns`"),
    "an item that others are held against": ('x = "limit"', 'x = "limit"\nkind = "difference"\nalong = "item"\nto = "h"', '"h"', "no run has an item `h`", "known here: f"),
    "samples without a time": ('x = "limit"', 'kind = "time"', '"goodput_bps"', "`goodput_bps` has no time", "a figure over time is of samples"),
    "an arm without a name": ("b = {", '"" = {', '""', "an arm needs a name", "what the report calls it"),
    "a value that is no table": ('{ name = "drop_tail", limit = "1 bdp" }', "50", '"links.l.queue.limit"', "`links.l.queue.limit` does not exist: `links.l.queue` is 50", "write `links.l.queue` as a table"),
    "an arm of an expression": ('"goodput_bps"\nx', '"goodput_bps / arms.c.goodput_bps"\nx', "c", "there is no arm `c`", "known here: a, b"),
    "a reference of an expression": ('"goodput_bps"\nx', '"goodput_bps / references.papr.tput"\nx', "papr", "there is no reference `papr`", "did you mean `paper`"),
    "a column of a reference": ('column = "tput"', 'column = "tputt"', '"tputt"', "ref.csv has no column `tputt`", "did you mean `tput`"),
    "a reference without a column": ('x = "limit"', 'x = "limit"\nreference = "paper"', '"paper"', "`paper` does not say which of its columns", "there is paper.tput"),
    "another side that is none": ('than = { arm = "b" }', "than = [1]", "[1]", "a finding needs `than`", 'such as than = "9 Mbit/s", or than = { arm = "reno" }'),
    "another side by its name": ('than = { arm = "b" }', 'than = "b"', '"b"', "`b` is no quantity", 'write than = { arm = "b" }'),
    "an item that is ranked": ('is = "above"\nthan = { arm = "b" }', 'is = "ranked"\nalong = "item"\norder = ["f", "h"]', '"h"', "no run has an item `h`", "known here: f"),
    "an item that is ranked in a place of several": ('is = "above"\nthan = { arm = "b" }', 'is = "ranked"\nalong = "item"\norder = [["f", "h"], "g"]', '"h"', "no run has an item `h`", "known here: f"),
    "a unit within a quantity": ('than = { arm = "b" }', 'than = "9 mbit/s"', "mbit/s", "unknown unit `mbit/s`", "did you mean `Mbit/s`"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_mistake_is_blamed_itself(case: str, tmp_path: Path) -> None:
    (tmp_path / "ref.csv").write_text("buffer,tput\n0.5 bdp,8.1\n1 bdp,9.3\n")
    old, new, blamed, message, hint = CASES[case]
    assert old in STUDY
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(STUDY.replace(old, new, 1), tmp_path / "s.toml"))
    error, place = caught.value, caught.value.place
    assert error.message.replace(f"{tmp_path}/", "").startswith(message)
    assert (error.hint or "").startswith(hint)
    assert place is not None and place.text[place.column - 1 : place.end_column - 1] == blamed


def test_a_forest_without_findings_is_refused() -> None:
    text = STUDY[: STUDY.index("[[references]]")] + '[[figures]]\nname = "g"\nkind = "forest"\n'
    with pytest.raises(StudyError, match="a forest is of verdicts, and the study has no findings"):
        make_plan(Study.parse(text, Path("s.toml")))
