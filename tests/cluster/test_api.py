"""Clusters and shards from Python: what the command line does with the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

import sawtooth
from sawtooth.errors import ClusterError, PlainError
from sawtooth.execute import WorkersGone
from sawtooth.results.merge import merge
from tests.cluster.dask_processes import processes
from tests.conftest import parts

pytestmark = pytest.mark.xdist_group("real time")


def test_a_cluster_makes_what_this_process_makes(study_file: Path, tmp_path: Path) -> None:
    with processes(tmp_path / "dask", workers=1) as found:
        sawtooth.run(study_file, tmp_path / "there", dask=found.address)
    sawtooth.run(study_file, tmp_path / "here")
    assert parts(tmp_path / "there") == parts(tmp_path / "here")


def test_shards_are_merged(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sawtooth.plan._SIMULATED_WORK", 1e4)
    for shard in ("1/2", "2/2"):
        sawtooth.run(study_file, shard=shard)
    merged = merge([tmp_path / "results/pair-1-of-2", tmp_path / "results/pair-2-of-2"], tmp_path / "merged")
    assert (merged.runs, merged.missing) == (16, [])
    sawtooth.run(study_file, tmp_path / "whole")
    assert parts(tmp_path / "merged") == parts(tmp_path / "whole")


def test_what_is_no_address_and_no_shard_is_said_and_nothing_is_written(study_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="`head` is no address of a Dask scheduler"):
        sawtooth.run(study_file, tmp_path / "out", dask="head")
    with pytest.raises(PlainError, match="`3` is no shard"):
        sawtooth.run(study_file, tmp_path / "out", shard="3")
    with pytest.raises(TypeError, match="a shard is a text such as 3/10"):
        sawtooth.run(study_file, tmp_path / "out", shard=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_is_gone_is_said(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object, **__: object) -> None:
        raise WorkersGone

    monkeypatch.setattr("sawtooth.api.execute", gone)
    with processes(tmp_path / "dask", workers=0) as found, pytest.raises(ClusterError) as caught:
        sawtooth.run(study_file, tmp_path / "out", dask=found.address)
    assert str(caught.value) == (
        f"error: the scheduler at {found.address} is gone\nhint: what was stored stays: the same call goes on from there"
    )
