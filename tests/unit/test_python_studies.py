"""Studies that are made in Python, tables with what their runs varied, and how objects show themselves."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sawtooth
from sawtooth import _core
from sawtooth.errors import DatasetError, RunFailed, StudyError
from sawtooth.plan import make_plan
from sawtooth.report import report
from sawtooth.results.dataset import Dataset
from sawtooth.results.provenance import plan_hash
from sawtooth.results.records import Records
from sawtooth.results.tables import Tables
from sawtooth.study import Study, shipped
from sawtooth.study.written import written
from tests.conftest import STUDY

SCENARIO: dict[str, Any] = {
    "duration": "300 ms",
    "cc": "reno",
    "links": {"l": {"rate": "1 Mbit/s", "delay": "5 ms"}},
    "flows": [{"path": ["l"]}, {"path": ["l"], "start": "50 ms"}],
}
TREE: dict[str, Any] = {
    "name": "of-python",
    "question": 'Who\tgets "more"?\x7f',
    "repeat": np.int64(2),
    "scenario": SCENARIO,
    "sweep": {"links.l.delay": ("5 ms", "20 ms"), "cc": ["reno", "cubic"]},
    "arms": {"few": {}, "many": {"tcp.initial_window": "4 packets"}},
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return sawtooth.run(TREE, tmp_path_factory.mktemp("made") / "out")


@pytest.mark.parametrize("name", shipped.studies())
def test_a_study_that_is_read_and_written_is_the_same(name: str) -> None:
    tree = tomllib.loads(shipped.studies()[name].read_text())
    assert tomllib.loads(written(tree)) == tree


def test_a_mapping_a_text_and_a_file_are_one_study(study_file: Path, tmp_path: Path) -> None:
    by_file = make_plan(Study.load(study_file))
    for study in (Study.of(tomllib.loads(STUDY)), Study.parse(STUDY, Path("<study>"))):
        assert plan_hash(make_plan(study)) == plan_hash(by_file)
    one, other = (sawtooth.run(form, tmp_path / str(at), short=True) for at, form in enumerate((study_file, STUDY)))
    assert one.flows().collect().equals(other.flows().collect())


def test_a_scenario_alone_is_a_study_of_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for form in (SCENARIO, "duration = '300 ms'\nlinks.l = { rate = '1 Mbit/s', delay = '5 ms' }\nflows = [{ path = ['l'] }]\n"):
        made = sawtooth.run(form, tmp_path / f"of-{type(form).__name__}")
        assert (made.runs.height, made.manifest["name"]) == (1, "study")
        assert made.study.scenario["duration"] == "300 ms"
    assert sawtooth.run(SCENARIO).directory == Path("results/study")


def test_the_short_form_goes_to_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tree = {**TREE, "short": {"repeat": 1}}
    assert sawtooth.run(tree).directory == Study.of(tree).directory()
    assert sawtooth.run(tree, short=True).directory == Path(f"results/{Study.of(tree).name}-short")
    # What has no short form is the same with it.
    assert Study.of(TREE, short=True).directory() == Study.of(TREE).directory()


def test_a_mistake_in_a_mapping_is_shown_in_the_text_that_it_is() -> None:
    wrong = {**TREE, "scenario": {**SCENARIO, "links": {"l": {"rate": "1 Mbit", "delay": "5 ms"}}}}
    with pytest.raises(StudyError) as caught:
        make_plan(Study.of(wrong))
    place = caught.value.place
    assert place is not None
    assert (place.name, place.text) == ("<study>", 'rate = "1 Mbit"')


def test_what_is_no_study_is_told() -> None:
    with pytest.raises(TypeError, match=r"`run` takes a study: the path of its file, its text, a mapping, or a Study, found an int: 3"):
        sawtooth.run(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"a study is made of a mapping, found a list: \[\]"):
        Study.of([])  # pyright: ignore[reportArgumentType]
    with pytest.raises(StudyError, match="found a value of type NoneType"):
        sawtooth.run({"scenario": None})


def test_every_table_of_the_schema_has_a_method_of_its_name(dataset: Dataset) -> None:
    methods = {name for name in vars(Tables) if not name.startswith("_")} - {"table"}
    assert methods == set(_core.schema())
    for name in methods:
        assert getattr(dataset, name)().collect_schema() == dataset.table(name).collect_schema()
        assert getattr(dataset, name)(factors=True).collect_schema().names()[:4] == ["run", "cell", "arm", "replicate"]


def test_a_table_carries_what_its_runs_varied_before_its_own_columns(dataset: Dataset) -> None:
    plain, told = dataset.flows().collect(), dataset.flows(factors=True).collect()
    # `cc` is a column of flows: the factor of that name is told apart.
    assert told.columns[:9] == ["run", "cell", "arm", "replicate", "delay", "delay_value", "factor_cc", "factor_cc_value", "flow"]
    assert told.select(plain.columns).equals(plain)
    assert told["factor_cc"].to_list() == told["cc"].to_list()
    assert told.select("arm", "cell", "delay", "delay_value").row(0) == ("few", 1, "5 ms", 0.005)
    runs = dataset.runs.select("run", "cell", "arm", "replicate")
    assert told.select(runs.columns).unique().sort("run").equals(runs.sort("run"))


def test_tables_that_there_are_have_names_and_others_are_told(dataset: Dataset) -> None:
    assert dataset.tables == ["flows", "links"]
    with pytest.raises(DatasetError, match="there is no table `flow`"):
        dataset.table("flow", factors=True)
    assert dataset.series(factors=True).collect().is_empty()


def test_objects_say_what_they_are(dataset: Dataset) -> None:
    study = Study.of({**TREE, "question": "Is <b>this</b> text?", "repeat": 9})
    lines = repr(study).splitlines()
    assert lines[0] == "<Study of-python: Is <b>this</b> text?>"
    assert lines[2].split(maxsplit=1) == ["links.l.delay", "5 ms, 20 ms"]
    plan = repr(make_plan(study)).splitlines()
    assert plan[0] == "<Plan of-python: Is <b>this</b> text?>"
    assert "4 cells x 2 arms x 9 replicates = 72" in plan[4]
    assert f"directory  {dataset.directory}" in repr(dataset)
    assert "delay      5 ms, 20 ms" in repr(dataset)
    assert "tables     flows, links" in repr(dataset)
    assert repr(dataset).splitlines()[0] == '<Dataset of-python: Who?gets "more"??>'
    made = report(dataset)
    assert repr(made).splitlines()[1:] == [f"  {line}" for line in made.summary]
    for each in (study, make_plan(study), dataset, made):
        html = each._repr_html_()  # pyright: ignore[reportPrivateUsage]
        assert "<b>this" not in html
        assert "of-python" in html
    assert "<svg" in made._repr_html_()  # pyright: ignore[reportPrivateUsage]


def test_results_that_are_not_complete_say_so(tmp_path: Path) -> None:
    begun = Dataset.create(tmp_path / "out", make_plan(Study.of(TREE)))
    assert "runs       0 of 16" in repr(begun)


def test_of_many_levels_the_first_are_named() -> None:
    from sawtooth.display import few

    assert few(range(6)) == "0, 1, 2, 3, 4, 5"
    assert few(range(1000)) == "0, 1, 2, 3, 4, ... (1,000 in all)"
    assert few(["x" * 60]) == f"{'x' * 37}..."
    assert pl.Series([few([])]).to_list() == [""]


def test_the_records_of_a_run_have_every_table_by_name_or_say_what_would_make_it() -> None:
    records = sawtooth.simulate(SCENARIO)
    assert {name for name, kind in vars(Records).items() if isinstance(kind, property)} == set(_core.schema())
    assert records.flows is records.table("flows") is records.tables["flows"]
    assert repr(records).splitlines()[0] == "<Records of one run>"
    assert f"flows  {records.flows.height} rows of {records.flows.width} columns" in repr(records)
    for name, hint in (
        ("queues", 'add sample = "100 ms" to the scenario'),
        ("transfers", 'add record = ["transfers"] to the scenario'),
        ("datagrams", "it has flows, links"),
    ):
        with pytest.raises(RunFailed) as caught:
            getattr(records, name)
        assert (caught.value.message, caught.value.hint) == (f"this run has no table `{name}`", hint)
