"""What Python takes as a study or a scenario, and how what it gives back shows itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth

SCENARIO = 'duration = "1 s"'
FINDING = '[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\nis = "above"\nthan = "1 kbit/s"\n'
ONE = 'scenario = { duration = "1 s", links = { l = { rate = "10 Mbit/s", delay = "20 ms" } }, flows = [{ path = ["l"] }] }'


def test_one_line_of_toml_is_a_text_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert sawtooth.simulate(ONE).flows.height == 1
    assert sawtooth.run(ONE, "out").runs.height == 1
    with pytest.raises(sawtooth.StudyError) as raised:
        sawtooth.simulate(SCENARIO)
    assert "<scenario>" in str(raised.value) and "there is no file" not in str(raised.value)
    # A file may be called so.
    Path("a=b").write_text(ONE)
    assert sawtooth.simulate("a=b").flows.height == 1
    for name in ("a=c.toml", "nothing"):
        with pytest.raises(sawtooth.StudyError, match="there is no file"):
            sawtooth.simulate(name)
    assert sawtooth.simulate(ONE.replace("l =", f"{'l' * 300} =").replace('"l"', f'"{"l" * 300}"')).flows.height == 1


def test_an_empty_text_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(sawtooth.StudyError) as raised:
        sawtooth.run("", tmp_path / "out")
    assert str(raised.value) == (
        "error: an empty text is neither a study nor the path of one\nhint: a study has a [scenario], with links and flows"
    )


def test_what_run_takes_is_linted_too(study_file: Path) -> None:
    study_file.write_text(study_file.read_text() + FINDING)
    study = sawtooth.Study.load(study_file)
    codes = [each.rule.code for each in sawtooth.lint(study)]
    assert codes
    for given in (study_file, str(study_file), study_file.read_text(), sawtooth.make_plan(study)):
        assert [each.rule.code for each in sawtooth.lint(given)] == codes
    (told,) = sawtooth.lint({"a": 1})
    assert (told.rule.code, told.message) == ("SW001", "unknown key `a`")
    with pytest.raises(TypeError, match="`lint` takes a study: the path of its file, its text, a mapping, or a Study, found an int: 3"):
        sawtooth.lint(3)  # type: ignore[arg-type]


def test_nothing_that_is_shown_has_functions_in_it(study_file: Path, tmp_path: Path) -> None:
    study_file.write_text(study_file.read_text() + FINDING)
    dataset = sawtooth.run(study_file, tmp_path / "out")
    found = dataset.finding(claim="c", metric="goodput_bps", is_="above", than="1 kbit/s")
    shown = [*sawtooth.lint(study_file), found, found.evidence, found.weighed, dataset.compare(), sawtooth.make_plan(dataset.study).runs]
    for each in shown:
        assert "<function" not in repr(each), type(each)
    (first, *_) = sawtooth.lint(study_file)
    assert repr(first) == f"<{first.severity} {first.where}: {first.rule.code} {first.message}>"


def test_what_is_said_twice_is_refused(study_file: Path, tmp_path: Path) -> None:
    dataset = sawtooth.run(study_file, tmp_path / "out")
    with pytest.raises(TypeError, match="`is_` is how Python writes `is`: both are given"):
        dataset.finding(claim="c", metric="goodput_bps", is_="above", than="1 kbit/s", **{"is": "below"})


def test_a_study_is_simulated_with_its_first_runs_seed_and_a_scenario_alone_with_1(tmp_path: Path) -> None:
    scenario = 'duration = "1 s"\nlinks.l = { rate = "10 Mbit/s", delay = "20 ms", loss = 0.01 }\nflows = [{ path = ["l"] }]\n'
    file = tmp_path / "lossy.toml"
    file.write_text(f"seed = 7\n[scenario]\n{scenario}")
    first = sawtooth.run(file, tmp_path / "out").flows()
    study = sawtooth.Study.load(file)
    seed = sawtooth.make_plan(study).runs[0].seed
    for given in (file, file.read_text(), study):
        found = sawtooth.simulate(given).flows
        assert found.equals(first.select(found.columns).collect()) and found.equals(sawtooth.simulate(given, seed=seed).flows)
    assert not found.equals(sawtooth.simulate(file, seed=1).flows)
    assert sawtooth.simulate(scenario).flows.equals(sawtooth.simulate(scenario, seed=1).flows)
