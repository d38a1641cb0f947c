"""Results whose parts are put together: the same results, whoever is ended when and whoever reads meanwhile."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.errors import DatasetError
from sawtooth.execute import execute
from sawtooth.plan import Plan
from sawtooth.progress import LineReporter
from sawtooth.results import packs
from sawtooth.results.dataset import Dataset
from sawtooth.results.merge import merge
from tests.conftest import parts


@pytest.fixture
def whole(plan: Plan, tmp_path: Path) -> Path:
    execute(plan, Dataset.create(tmp_path / "whole", plan))
    return tmp_path / "whole"


@pytest.fixture
def packed(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "packed")
    Dataset(tmp_path / "packed").pack()
    return tmp_path / "packed"


def read(directory: Path) -> list[pl.DataFrame]:
    dataset = Dataset.open(directory)
    return [dataset.status(), *(dataset.table(name, factors=True).collect() for name in dataset.tables)]


def same(one: Path, other: Path) -> bool:
    return Dataset.open(one).digest == Dataset.open(other).digest and all(a.equals(b) for a, b in zip(read(one), read(other), strict=True))


def test_packed_results_are_the_same_in_fewer_files(packed: Path, whole: Path) -> None:
    assert len(parts(whole)) > 30
    assert sorted(parts(packed)) == sorted(
        [*(f"{name}-000000-{len(list(whole.glob('parts/batch-*'))) - 1:06d}.parquet" for name in ("flows", "index", "links", "status")),
         f"pack-000000-{len(list(whole.glob('parts/batch-*'))) - 1:06d}.sha256"]
    )  # fmt: skip
    assert same(packed, whole)
    dataset = Dataset.open(packed)
    assert dataset.complete and dataset.notes == []
    before = parts(packed)
    assert Dataset(packed).pack().left == 0
    assert parts(packed) == before


def test_packed_results_are_run_on_and_nothing_is_done_again(plan: Plan, packed: Path, whole: Path) -> None:
    summary = execute(plan, Dataset.create(packed, plan))
    assert (summary.runs, summary.resumed, summary.damaged) == (0, len(plan.runs), [])
    assert same(packed, whole)


def test_what_is_missing_is_done_beside_packs_and_packed_with_the_next_call(plan: Plan, whole: Path, tmp_path: Path) -> None:
    some = tmp_path / "some"
    shutil.copytree(whole, some)
    for victim in some.glob("parts/*-000004.*"):
        victim.unlink()
    Dataset(some).pack()
    assert len(list(some.glob("parts/pack-*"))) == 2
    summary = execute(plan, Dataset.create(some, plan))
    assert summary.runs == len(plan.batches[4])
    assert same(some, whole)


def test_a_batch_of_a_pack_is_done_once_more(plan: Plan, whole: Path, tmp_path: Path) -> None:
    some = tmp_path / "some"
    shutil.copytree(whole, some)
    dataset = Dataset(some)
    first = plan.batches[1]
    failed = dataset.status(1).with_columns(
        pl.lit("failed").cast(dataset.status(1)["status"].dtype).alias("status"), message=pl.lit("as if")
    )
    tables = {name: pl.read_parquet(some / f"parts/{name}-000001.parquet") for name in dataset.tables}
    dataset.write_batch(1, tables, failed)
    Dataset(some).pack()
    summary = execute(plan, Dataset.create(some, plan), retry_failed=True)
    assert summary.again == len(first)
    assert parts(some) == parts(whole)


def test_packed_results_are_merged(packed: Path, whole: Path, tmp_path: Path) -> None:
    merge([packed], tmp_path / "merged")
    assert parts(tmp_path / "merged") == parts(whole)


@pytest.mark.parametrize("table", ["flows", "index", "pack"])
def test_a_damaged_pack_is_named_and_made_anew(plan: Plan, packed: Path, whole: Path, table: str) -> None:
    (victim,) = packed.glob(f"parts/{table}-*")
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    # Without its index nobody knows what is in a pack.
    named = victim.name if table == "flows" else next(packed.glob("parts/pack-*")).name
    with pytest.raises(DatasetError, match=rf"{named} is damaged or missing"):
        Dataset.open(packed)
    with pytest.raises(DatasetError, match=rf"{named} is damaged or missing"):
        Dataset(packed).table("flows")
    summary = execute(plan, Dataset.create(packed, plan))
    assert named in summary.damaged and summary.runs == len(plan.runs)
    assert parts(packed) == parts(whole)


def test_what_another_version_has_written_stays(plan: Plan, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = parts(whole)

    def another(_content: bytes) -> str:
        return "0" * 64

    monkeypatch.setattr(packs, "digest", another)
    result = CliRunner().invoke(app, ["compact", str(whole)])
    assert result.exit_code == 0
    assert f"note: {len(plan.batches)} batches stay as they are: another version of polars has written them" in result.stderr
    assert parts(whole) == before


def test_who_reads_is_not_disturbed(whole: Path, tmp_path: Path) -> None:
    some = tmp_path / "some"
    shutil.copytree(whole, some)
    code = "import sys; from sawtooth.results.dataset import Dataset; found = Dataset(sys.argv[1]).table('flows'); print('read', flush=True); " \
        "input(); print(found.collect().height, flush=True)"  # fmt: skip
    reader = subprocess.Popen([sys.executable, "-c", code, str(some)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert reader.stdout is not None and reader.stdout.readline() == "read\n"
    assert Dataset(some).pack().after > len(parts(whole))
    assert same(some, whole)
    told, _ = reader.communicate("\n")
    assert int(told) == Dataset(whole).flows().collect().height
    assert Dataset(some).pack().after == 5
    assert same(some, whole)


def test_killed_at_any_moment_it_is_the_same_results(whole: Path, tmp_path: Path) -> None:
    # As if there were room for two batches in a pack, so that there is much to be killed at.
    code = "import sys; from sawtooth.results import packs; packs._BATCHES = 2; from sawtooth.results.dataset import Dataset; " \
        "dataset = Dataset(sys.argv[1]); print('begins', flush=True); dataset.pack()"  # fmt: skip
    moments = random.Random(7)
    some = tmp_path / "some"
    shutil.copytree(whole, some)
    killed = 0
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", code, str(some)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(moments.uniform(0.0, 0.25))
            process.kill()
        killed += process.returncode != 0
        assert same(some, whole)
    assert killed > 5
    Dataset(some).pack()
    assert same(some, whole)
    # Nothing is left of those that were killed: each list has its files.
    assert len(parts(some)) == sum(4 if path.name.startswith("batch") else 5 for path in some.glob("parts/*.sha256"))


def test_the_command_says_how_many_files_there_are(whole: Path) -> None:
    before = len(parts(whole))
    result = CliRunner().invoke(app, ["compact", str(whole)])
    assert (result.exit_code, result.stderr) == (0, f"5 files in {whole / 'parts'}; there were {before}\n")


def test_a_damaged_part_is_not_packed(whole: Path) -> None:
    (whole / "parts/flows-000000.parquet").write_bytes(b"PAR1")
    before = parts(whole)
    with pytest.raises(DatasetError, match=r"flows-000000\.parquet is damaged or missing"):
        Dataset(whole).pack()
    assert parts(whole) == before


def test_a_run_packs_many_batches_at_its_end_and_says_so(
    plan: Plan, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sawtooth.results.dataset.MANY", len(plan.batches) - 1)
    execute(plan, Dataset.create(tmp_path / "tidy", plan), reporter=LineReporter())
    assert capsys.readouterr().err.splitlines()[-1] == f"{len(parts(whole))} files of results are put together in 5"
    assert same(tmp_path / "tidy", whole)
    # What is packed is not many any more.
    assert execute(plan, Dataset.create(tmp_path / "tidy", plan), reporter=LineReporter()).runs == 0
    assert "put together" not in capsys.readouterr().err


def test_a_pack_has_no_more_rows_than_fit_into_memory(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [sum(pl.read_parquet(file).height for file in whole.glob(f"parts/*-{batch:06d}.parquet")) for batch in (0, 1)]
    monkeypatch.setattr(packs, "_ROWS", sum(rows))
    shutil.copytree(whole, tmp_path / "packed")
    Dataset(tmp_path / "packed").pack()
    assert (tmp_path / "packed/parts/pack-000000-000001.sha256").is_file()
    assert same(tmp_path / "packed", whole)
