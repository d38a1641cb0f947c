"""A small study with all that a results directory can hold, done without guests, and what is compared of directories."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from sawtooth import _core
from sawtooth.backends import registry, sim
from sawtooth.backends.batch import Batch
from sawtooth.execute import Summary, execute
from sawtooth.plan import Plan, make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

_PRETENDED = "tests.robustness.pretended"
# Three batches. A kernel's backend, as only those have `kernels.json`: see `pretended`.
STUDY = """\
name = "small"
question = "Who gets more?"
backend = "uml"
repeat = 36
seed = 7

[draws]
S = { distribution = "uniform", low = "0 ms", high = "30 ms" }

[scenario]
duration = "300 ms"
sample = "50 ms"
links.l = { rate = "1 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"], count = 2, start = "S * i" }]

[sweep]
"links.l.delay" = ["5 ms", "20 ms"]

[arms]
reno = { "cc" = "reno" }
cubic = { "cc" = "cubic" }
"""

"""The module: the package has a function of that name."""

Run = Callable[[Sequence[str], Sequence[int]], Batch]


@contextlib.contextmanager
def pretended(run_batch: Run = sim.run_batch) -> Generator[None]:
    """The backend `uml` is the simulator, or whatever else."""

    def provenance(_scenarios: Sequence[str]) -> list[dict[str, Any]]:
        return [{"backend": "uml", "release": "6.1.0", "sysctls": {"net.ipv4.tcp_sack": "1"}}]

    def parallel(_scenarios: Sequence[str]) -> int:
        return 2

    def run(scenarios: Sequence[str], seeds: Sequence[int], _captures: Sequence[_core.CaptureRequest] = ()) -> Batch:
        return run_batch(scenarios, seeds)

    backend: Any = SimpleNamespace(run_batch=run, provenance=provenance, parallel=parallel)
    row = registry.BACKENDS["uml"]
    sys.modules[_PRETENDED] = backend
    registry.BACKENDS["uml"] = dataclasses.replace(row, module=_PRETENDED)
    try:
        yield
    finally:
        registry.BACKENDS["uml"] = row


def plan(seed: int = 7) -> Plan:
    return make_plan(Study.parse(STUDY, Path("small.toml"), options=[f"seed={seed}"] if seed != 7 else []))


def do(made: Plan, directory: Path, *, retry_failed: bool = False) -> tuple[Dataset, Summary]:
    dataset = Dataset.create(directory, made)
    return dataset, execute(made, dataset, jobs=2, retry_failed=retry_failed)


def contents(directory: Path) -> dict[str, bytes]:
    """Every file whose bytes are the same on every machine and at every time."""
    paths = (path for path in directory.rglob("*") if path.is_file() and path.relative_to(directory).parts[0] not in VARY)
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


def differences(found: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    """The files that are missing, too many or not the same, and in which columns and runs tables part."""
    return [
        f"{name} {_how(found.get(name), expected.get(name))}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]


def _how(found: bytes | None, expected: bytes | None) -> str:
    if found is None or expected is None:
        return "is missing" if found is None else "is one too many"
    if not found.startswith(b"PAR1") or not expected.startswith(b"PAR1"):
        return "differs"
    one, other = pl.read_parquet(found), pl.read_parquet(expected)
    if one.shape != other.shape or one.columns != other.columns:
        return f"differs: {one.shape} instead of {other.shape}"
    apart = {name: one.filter(one[name].ne_missing(other[name])) for name in one.columns}
    where = {name: sorted(set(rows["run"])) for name, rows in apart.items() if not rows.is_empty()}
    return f"differs in {', '.join(f'{name} of runs {runs}' for name, runs in where.items()) or 'bytes alone'}"


VARY = ("manifest.json", "SHA256SUMS", "log.jsonl", ".lock", "report")
"""The manifest tells when and where, and with it its checksum differs."""


def tables(dataset: Dataset) -> dict[str, pl.DataFrame]:
    """Everything that is read of results."""
    return {
        "runs": dataset.runs,
        "status": dataset.status(),
        **{name: dataset.table(name).collect() for name in ("flows", "links", "series")},
    }
