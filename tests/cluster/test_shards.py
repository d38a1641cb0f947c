"""A study in shards, without a scheduler: merged, they are what one command makes, to the byte."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import DatasetError, PlainError
from sawtooth.execute import execute
from sawtooth.plan import Plan, make_plan
from sawtooth.progress import LineReporter
from sawtooth.report.origin import origin
from sawtooth.results.dataset import Dataset
from sawtooth.results.merge import merge
from sawtooth.sharing import Shard, assigned
from sawtooth.study import Study
from tests.conftest import parts
from tests.unit.test_until import text as until


def do(plan: Plan, out: Path, *shards: str) -> list[Path]:
    """Each shard into a directory of its own."""
    made: list[Path] = []
    for shard in shards:
        part = dataclasses.replace(plan, shard=Shard.parse(shard))
        made.append(out / shard.replace("/", "-of-"))
        summary = execute(part, Dataset.create(made[-1], part))
        assert summary.planned == summary.runs == sum(len(plan.batches[index]) for index in part.mine)
    return made


def told(error: pytest.ExceptionInfo[PlainError]) -> Sequence[str]:
    return str(error.value).split("\n")


def test_merged_shards_are_what_one_command_makes_to_the_byte(plan: Plan, tmp_path: Path) -> None:
    assert len(plan.batches) >= 3
    merged = merge(do(plan, tmp_path, "1/3", "2/3", "3/3"), tmp_path / "merged")
    assert (merged.runs, merged.planned, merged.missing) == (480, 480, [])
    execute(plan, Dataset.create(tmp_path / "whole", plan))
    assert parts(tmp_path / "merged") == parts(tmp_path / "whole")
    for name in ("study.toml", "runs.parquet"):
        assert (tmp_path / "merged" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    dataset = Dataset.open(tmp_path / "merged")
    assert dataset.complete and dataset.notes == [] and "shard" not in dataset.manifest
    assert dataset.digest == Dataset.open(tmp_path / "whole").digest
    assert len((tmp_path / "merged/log.jsonl").read_text().splitlines()) == len(plan.batches)
    # Once more changes nothing.
    merge([tmp_path / "1-of-3"], tmp_path / "merged")
    assert len((tmp_path / "merged/log.jsonl").read_text().splitlines()) == len(plan.batches)


def test_what_is_missing_is_named_and_the_study_does_it(plan: Plan, tmp_path: Path) -> None:
    made = do(plan, tmp_path, "1/3", "3/3")
    gone = dataclasses.replace(plan, shard=Shard(3, 3)).mine[0]
    for victim in (made[1] / "parts").glob(f"*-{gone:06d}.*"):
        victim.unlink()
    left = len(dataclasses.replace(plan, shard=Shard(3, 3)).mine)
    merged = merge(made, tmp_path / "merged")
    assert merged.missing == ["shard 2/3", "shard 3/3" if left == 1 else f"1 of {left} batches of shard 3/3"]
    summary = execute(plan, Dataset.create(tmp_path / "merged", plan))
    assert summary.resumed == merged.runs
    execute(plan, Dataset.create(tmp_path / "whole", plan))
    assert parts(tmp_path / "merged") == parts(tmp_path / "whole")


def test_batches_are_named_where_shards_are_not_known(plan: Plan, tmp_path: Path) -> None:
    (one,) = do(plan, tmp_path, "1/2")
    (other,) = do(plan, tmp_path, "1/3")
    lacking = sorted(set(range(len(plan.batches))).difference(*(dataclasses.replace(plan, shard=Shard(1, of)).mine for of in (2, 3))))
    named = ", ".join(map(str, lacking[:5])) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
    assert merge([one, other], tmp_path / "merged").missing == [f"of {len(plan.batches)} batches {named}"]


def test_another_plan_is_refused_and_nothing_is_written(plan: Plan, study_file: Path, tmp_path: Path) -> None:
    (one,) = do(plan, tmp_path, "1/2")
    other = make_plan(Study.load(study_file, options=["repeat=60", "seed=8"]))
    (two,) = do(other, tmp_path / "other", "2/2")
    with pytest.raises(DatasetError) as caught:
        merge([one, two], tmp_path / "merged")
    assert told(caught) == [
        f"error: {one} and {two} are not of the same plan",
        "hint: make them of one study file, with the same --set, --short and --backend, and the same files that it names",
    ]
    assert not (tmp_path / "merged").exists()


def test_another_text_is_refused(plan: Plan, study_file: Path, tmp_path: Path) -> None:
    (one,) = do(plan, tmp_path, "1/2")
    study_file.write_text(study_file.read_text().replace("Who gets more?", "Who gets less?"))
    (two,) = do(make_plan(Study.load(study_file, options=["repeat=60"])), tmp_path, "2/2")
    with pytest.raises(DatasetError) as caught:
        merge([one, two], tmp_path / "merged")
    assert told(caught)[0] == f"error: {one} and {two} are not of the same text of the study"


def test_a_batch_that_differs_is_refused(plan: Plan, tmp_path: Path) -> None:
    (one,) = do(plan, tmp_path, "1/2")
    shutil.copytree(one, tmp_path / "copy")
    dataset = Dataset(tmp_path / "copy")
    dataset.write_batch(0, {}, dataset.status(0).with_columns(message=dataset.status(0)["status"]))
    with pytest.raises(DatasetError) as caught:
        merge([one, tmp_path / "copy"], tmp_path / "merged")
    assert told(caught) == [
        f"error: {one} and {tmp_path / 'copy'} both have batch 0, and differ in flows-000000.parquet",
        "hint: leave one of them out, if it is known which is right: a run has one result on every machine",
    ]
    assert not (tmp_path / "merged").exists()


def test_a_damaged_shard_is_refused(plan: Plan, tmp_path: Path) -> None:
    (one,) = do(plan, tmp_path, "1/2")
    (one / "parts/flows-000000.parquet").write_bytes(b"PAR1")
    with pytest.raises(DatasetError, match=r"flows-000000\.parquet is damaged or missing"):
        merge([one], tmp_path / "merged")


def test_something_else_in_the_place_is_left_alone(plan: Plan, tmp_path: Path) -> None:
    (one,) = do(plan, tmp_path, "1/2")
    (tmp_path / "merged").mkdir()
    (tmp_path / "merged/thesis.tex").write_text("years")
    with pytest.raises(DatasetError, match="is not empty and is no results directory"):
        merge([one], tmp_path / "merged")


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "3/", "a/b", "-1/3", "1/0"])
def test_what_is_no_shard_is_said(text: str) -> None:
    with pytest.raises(PlainError) as caught:
        Shard.parse(text)
    assert told(caught) == [f"error: `{text}` is no shard", "hint: write which of how many, such as 3/10: from 1/10 to 10/10"]


def test_the_commands_say_what_they_do(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    # All is one batch, so that the second shard has nothing.
    for shard in ("1/2", "2/2"):
        result = runner.invoke(app, ["run", str(study_file), "--shard", shard])
        assert result.exit_code == 0, result.stderr
    assert "note: shard 2/2 has nothing to do: the number of batches is 1" in result.stderr
    result = runner.invoke(app, ["merge", "results/pair-2-of-2", "--out", "merged"])
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "0 of 16 runs in merged", "missing: shard 1/2",
        "hint: run and merge them, too, or run the study with --out merged: it does what is missing",
    ]  # fmt: skip
    result = runner.invoke(app, ["merge", "results/pair-1-of-2", "results/pair-2-of-2", "--out", "merged"])
    assert (result.exit_code, result.stderr) == (0, "16 of 16 runs in merged\n")


def test_a_shard_of_a_study_with_a_rule_does_the_first_replicates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(Study.parse(until(until="5 %"), tmp_path / "until.toml"))
    part = dataclasses.replace(plan, shard=Shard(1, 1))
    summary = execute(part, Dataset.create(tmp_path / "1", part), reporter=LineReporter())
    assert summary.runs == len(plan.runs)
    assert capsys.readouterr().err.splitlines()[1] == (
        f"a shard does the first {plan.study.repeat} of each cell; running the study into the merged directory does those that the rule asks for besides"
    )
    assert merge([tmp_path / "1"], tmp_path / "merged").missing == []
    summary = execute(plan, Dataset.create(tmp_path / "merged", plan))
    assert summary.resumed == len(plan.runs) and summary.planned > len(plan.runs)
    execute(plan, Dataset.create(tmp_path / "whole", plan))
    assert parts(tmp_path / "merged") == parts(tmp_path / "whole")
    # What the rule has asked for is another number of replicates than a shard has.
    with pytest.raises(DatasetError, match="have different numbers of replicates, by the study's rule"):
        merge([tmp_path / "1"], tmp_path / "merged")


def test_shards_take_as_long_as_each_other_where_batches_do_not() -> None:
    # As every third they would have 19, 11 and 3.
    assert assigned([10, 1, 1, 9, 10, 2], 3) == [1, 1, 2, 3, 2, 3]
    assert assigned([], 3) == []
    assert assigned([1.0] * 6, 2) == [1, 2, 1, 2, 1, 2]


def test_where_each_shard_was_made_is_kept(plan: Plan, tmp_path: Path) -> None:
    made: list[Path] = []
    for number in (1, 2, 3):
        part = dataclasses.replace(plan, shard=Shard(number, 3))
        made.append(tmp_path / str(number))
        execute(part, Dataset.create(made[-1], part, ["sawtooth", "run", "pair.toml", "--shard", f"{number}/3"]))
    merge(made[:2], tmp_path / "merged")
    merge(made[1:], tmp_path / "merged")
    dataset = Dataset.open(tmp_path / "merged")
    assert [(each["shard"], each["command"][-1]) for each in dataset.manifest["merged"]] == [(f"{number}/3",) * 2 for number in (1, 2, 3)]
    found = origin(dataset)
    assert found.rerun == "sawtooth run pair.toml"
    told = found.facts["put together of"]
    assert told.startswith("3 results: `sawtooth run pair.toml --shard 1/3` (")
    # What is done into the directory later knows of them still.
    execute(plan, Dataset.create(tmp_path / "merged", plan))
    assert len(Dataset.open(tmp_path / "merged").manifest["merged"]) == 3
