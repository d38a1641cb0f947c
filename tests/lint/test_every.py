"""`sawtooth lint` tells all mistakes at once, and none that only comes of how another was put right."""

from __future__ import annotations

from pathlib import Path

import sawtooth
from sawtooth.linting import lint
from sawtooth.study import Study

GOOD = """\
name = "many"
[scenario]
duration = "1 s"
stack = "linux"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"], cc = "reno" }]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
[short]
duration = "500 ms"
[[figures]]
name = "one"
metric = "goodput_bps"
[[figures]]
name = "two"
metric = "goodput_bps"
[[figures]]
name = "verdicts"
kind = "forest"
[[findings]]
name = "first"
claim = "a"
is = "above"
metric = "goodput_bps"
than = "1 Mbit/s"
[[findings]]
claim = "all"
is = "all"
findings = ["first"]
"""


def mistakes(tmp_path: Path, *changes: tuple[str, str]) -> list[str]:
    """What the command says, a line each; changes are made one after the other, each once."""
    path, text = tmp_path / "study.toml", GOOD
    for right, wrong in changes:
        assert right in text
        text = text.replace(right, wrong, 1)
    path.write_text(text)
    return [f"{each.place.line if each.place else 0} {each.message}" for each in sawtooth.lint(path) if each.severity == "error"]


def test_unknown_keys_of_all_tables_and_names_that_have_a_near_one_are_all_told(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path, ('name = "many"', 'name = "many"\ncolour = "red"'), ("duration = ", "duratoin = "), ("delay = ", "dellay = "),
        ('"drop_tail"', '"drop_tale"'), ('cc = "reno"', 'cc = "qubic"'), ('duration = "500', 'durration = "500'), ('metric = "g', 'metrik = "g'),
        ('metric = "goodput_bps"\n[[figures]]\nname = "verdicts"', 'metric = "gp"\n[[figures]]\nname = "verdicts"'), ('is = "above"', 'is = "abov"'),
    )  # fmt: skip
    assert found == [
        "2 unknown key `colour`", "4 unknown key `duratoin`", "6 unknown key `dellay`", "6 unknown queue `drop_tale`",
        "7 unknown congestion control `qubic`", "12 unknown key `durration`", "15 unknown key `metrik`", "18 there is no measure `gp`",
        "25 `is` cannot be `abov`",
    ]  # fmt: skip


def test_entries_have_the_numbers_of_the_file(tmp_path: Path) -> None:
    found = mistakes(tmp_path, ('name = "one"\n', ""), ('name = "two"\n', ""), ('name = "verdicts"\n', ""))
    assert found == ["12 `figures[0]` lacks `name`", "14 `figures[1]` lacks `name`", "16 `figures[2]` lacks `name`"]


def test_what_follows_from_a_mistake_is_none(tmp_path: Path) -> None:
    # No link has a rate, and what is made of the finding is not told, nor the forest of no verdicts.
    assert mistakes(tmp_path, ("rate = ", "velocity = ")) == ["5 unknown key `velocity`"]
    assert mistakes(tmp_path, ('metric = "goodput_bps"\nthan', 'metric = "gp"\nthan')) == ["25 there is no measure `gp`"]


def test_what_cannot_be_put_right_does_not_hide_figures_and_findings(tmp_path: Path) -> None:
    found = mistakes(tmp_path, ('delay = "20 ms"', 'delay = "20 parsecs"'), ('metric = "goodput_bps"', 'metric = "gp"'))
    assert found == ["5 unknown unit `parsecs`", "14 there is no measure `gp`"]


def test_a_good_study_has_no_mistake_and_python_tells_as_many(tmp_path: Path) -> None:
    assert mistakes(tmp_path) == []
    study = Study.parse(GOOD.replace('"drop_tail"', '"drop_tale"').replace('"goodput_bps"', '"gp"', 1))
    assert [each.message for each in lint(study)] == ["unknown queue `drop_tale`", "there is no measure `gp`"]


def test_a_mapping_or_a_text_that_cannot_be_read_tells_all_of_its_mistakes() -> None:
    whole = {
        "naem": "many",
        "scenario": {
            "duratoin": "1 s",
            "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}},
            "flows": [{"path": ["l"], "cc": "qubic"}],
        },
    }
    text = 'naem = "many"\n[scenario]\nduratoin = "1 s"\nlinks.l = { rate = "10 Mbit/s", delay = "20 ms" }\nflows = [{ path = ["l"], cc = "qubic" }]\n'
    for study in (whole, text):
        found = sawtooth.lint(study)
        told = [each.message for each in found]
        assert len(told) == 3 and all(each.place is not None and each.place.name == "<study>" for each in found)
        for words in ("unknown key `naem`", "unknown key `duratoin`", "`qubic`"):
            assert any(words in each for each in told), (words, told)
