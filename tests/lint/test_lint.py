"""`sawtooth lint`: its output, what it leaves out, and what `plan` and `run` make of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy import optimize, stats
from typer.testing import CliRunner

from sawtooth import Study, lint, linting
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.linting.statistics import DETECTABLE
from sawtooth.study import shipped

FIXTURES = Path(__file__).parent / "fixtures"
RUN = CliRunner()


def changed(tmp_path: Path, code: str, before: str) -> Path:
    """A fixture that breaks a rule, with something before its first table."""
    path = tmp_path / "study.toml"
    path.write_text(
        (FIXTURES / f"{code}-bad.toml").read_text(encoding="utf-8").replace("\n[draws]", f"\n{before}\n[draws]", 1), encoding="utf-8"
    )
    return path


def test_a_diagnostic_says_where_what_and_what_to_do() -> None:
    outcome = RUN.invoke(app, ["lint", str(FIXTURES / "SW401-bad.toml")])
    assert outcome.exit_code == 0
    assert outcome.stdout == (
        f"{FIXTURES}/SW401-bad.toml:17:1: SW401 the flow can carry 300 Mbit/s of the 965 Mbit/s of `l`: 3.15 MB may be outstanding "
        "(`receive_buffer_max`), and the path holds 10.5 MB\n"
        "  hint: set `tcp.receive_buffer_max` to some times what the path and its queue hold\n"
        "1 warning; `sawtooth lint --explain CODE` says why\n"
    )


def test_an_error_ends_with_1_and_json_says_the_same() -> None:
    outcome = RUN.invoke(app, ["lint", "--json", str(FIXTURES / "SW501-bad.toml")])
    assert outcome.exit_code == 1
    (found,) = json.loads(outcome.stdout)
    assert (found["code"], found["severity"], found["line"]) == ("SW501", "error", 22)
    assert found["hint"].endswith('; if it is meant, end the study with a line [lint] and below it ignore = { SW501 = "why" }')
    unusable = RUN.invoke(app, ["lint", str(FIXTURES / "SW001-bad.toml")])
    assert unusable.exit_code == 1
    assert "SW001-bad.toml:14:13: SW001" in unusable.stdout


def test_rules_are_selected_and_ignored_by_code_beginning_or_name() -> None:
    study = str(FIXTURES / "SW201-bad.toml")
    for options, seen in ((["--select", "SW2"], True), (["--select", "SW4"], False), (["--ignore", "one-replicate"], False)):
        assert ("SW201" in RUN.invoke(app, ["lint", *options, study]).stdout) is seen
    wrong = RUN.invoke(app, ["lint", "--select", "SW9", study])
    assert isinstance(wrong.exception, StudyError)
    assert wrong.exception.message == "there is no rule `SW9`"
    assert str(wrong.exception.hint).startswith("codes begin with SW0 (the file), SW1 (design), ")
    near = RUN.invoke(app, ["lint", "--explain", "one-replicates"]).exception
    assert getattr(near, "hint", None) == "did you mean `one-replicate`?"


def test_a_study_that_comes_along_is_named_and_not_its_path() -> None:
    assert "`sawtooth lint congestion-controls` tells them" in RUN.invoke(app, ["plan", "congestion-controls"]).stderr


def test_explain_says_why_and_what_to_do() -> None:
    outcome = RUN.invoke(app, ["lint", "--explain", "SW402"])
    assert outcome.stdout.startswith("SW402 window-below-four-segments (warning; buffers; of a study, before it runs)\n\nFinds ")
    assert json.loads(RUN.invoke(app, ["lint", "--explain", "SW402", "--json"]).stdout)["code"] == "SW402"


@pytest.mark.parametrize("ignore", ['{ SW402 = "why" }', '["SW402"]'])
def test_a_study_ignores_what_it_means(tmp_path: Path, ignore: str) -> None:
    study = Study.load(changed(tmp_path, "SW402", f"[lint]\nignore = {ignore}\n"))
    assert "SW402" not in {each.rule.code for each in lint(study)}
    assert linting.ignored(study) == {"SW402": "why" if "why" in ignore else ""}


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ('ignore = ["SW999"]', "there is no rule `SW999`", 11),
        ('ignore = { SW999 = "why" }', "there is no rule `SW999`", 12),
        ("ignore = 3", "`ignore` names rules", 10),
        ("ignore = [3]", "`ignore` names rules", 11),
        ('ignores = ["SW402"]', "unknown key `ignores` in `lint`", 1),
        ('ignore = ["SW001"]', "`SW001` cannot be ignored: no run could use such a study", 11),
    ],
)
def test_what_cannot_be_ignored_is_told_at_its_place(tmp_path: Path, text: str, message: str, column: int) -> None:
    with pytest.raises(StudyError) as found:
        lint(Study.load(changed(tmp_path, "SW402", f"[lint]\n{text}\n")))
    place = found.value.place
    assert found.value.message == message
    assert place is not None and (place.line, place.column) == (6, column)


def test_plan_says_warnings_in_a_line_and_stops_at_errors() -> None:
    warned = RUN.invoke(app, ["plan", str(FIXTURES / "SW401-bad.toml")])
    assert warned.exit_code == 0
    assert f"note: the linter has warnings of SW401: `sawtooth lint {FIXTURES}/SW401-bad.toml` tells them" in warned.stderr
    stopped = RUN.invoke(app, ["plan", str(FIXTURES / "SW501-bad.toml")])
    assert isinstance(stopped.exception, StudyError)
    assert stopped.exception.message == "the run ends at 30 s, before this starts: it will send nothing (SW501)"


def test_what_the_hint_of_an_error_says_is_what_the_study_can_say(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'{(FIXTURES / "SW501-bad.toml").read_text(encoding="utf-8")}\n[lint]\nignore = {{ SW501 = "why" }}\n', encoding="utf-8"
    )
    assert RUN.invoke(app, ["plan", str(study)]).exit_code == 0


@pytest.mark.parametrize("written", ["10 MB/s", "10MB/s", "1.5 kB/s", "8 * 2 GB/s"])
@pytest.mark.parametrize("where", ["rate", "sweep", "arm"])
def test_a_rate_in_bytes_is_told_where_it_is_written(tmp_path: Path, written: str, where: str) -> None:
    path = changed(tmp_path, "SW003", "")
    text = path.read_text().replace('"10 MB/s"', f'"{written}"' if where == "rate" else '"10 Mbit/s"')
    text += {
        "rate": "",
        "sweep": f'[sweep]\n"links.l.rate" = ["1 Mbit/s", "{written}"]\n',
        "arm": f'[arms]\none = {{ "links.l.rate" = "{written}" }}\n',
    }[where]
    path.write_text(text)
    (found,) = [each for each in lint(Study.load(path)) if each.rule.code == "SW003"]
    assert found.place is not None
    assert written in path.read_text().splitlines()[found.place.line - 1]
    assert "bit/s" in found.hint


def test_a_misspelt_name_that_no_flow_takes_is_told_at_its_place() -> None:
    path = FIXTURES / "SW004-bad.toml"
    assert [str(each) for each in lint(Study.load(path))] == [
        f"{path}:11:6: SW004 there is no `cubik`; every run has another `cc` in its place, so that no run fails\n  hint: did you mean `cubic`?"
    ]


def test_rules_are_listed() -> None:
    listed = json.loads(RUN.invoke(app, ["list", "rule", "--json"]).stdout)
    assert [row["name"] for row in listed] == list(linting.RULES)


KNOWN = {
    "congestion-controls": {"SW201"}, "gallery/incast": {"SW302"}, "hstcp": {"SW302", "SW401", "SW502", "SW503"},
    "hstcp/gigabit": {"SW203", "SW302", "SW401", "SW502"}, "hstcp/random": {"SW302", "SW401", "SW502", "SW503"}, "stall/closed-loop": {"SW203"}, "stall/latency": {"SW203"}, "stall": {"SW002"}, "stall/modern": {"SW203"}, "stall/mpi": {"SW203", "SW302"}, "stall/receiver": {"SW203"},
    "stall/slow-start": {"SW203"}, "stall/switch": {"SW002", "SW203"}, "testbed/guest-resources": {"SW203"},
    "self-similar-background/kernel": {"SW203"}, "self-similar-background/sensitivity": {"SW203"},
}  # fmt: skip
"""What the studies that come along are told, and rightly: most of it is what was wrong with what they do again."""


@pytest.mark.parametrize("name", shipped.studies())
def test_studies_that_come_along_are_told_what_is_so(name: str) -> None:
    assert {each.rule.code for each in lint(Study.load(name))} == KNOWN.get(name, set())


@pytest.mark.parametrize("pairs", DETECTABLE)
def test_what_few_replicates_detect_is_the_power_of_a_paired_t_test(pairs: int) -> None:
    critical = stats.t.ppf(0.975, pairs - 1)

    def missing(effect: float) -> float:
        return float(stats.nct.sf(critical, pairs - 1, effect * pairs**0.5)) - 0.8

    assert DETECTABLE[pairs] == pytest.approx(optimize.brentq(missing, 0.5, 20), rel=0.005)
