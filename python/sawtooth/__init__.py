"""Sawtooth: a TCP performance laboratory.

    import sawtooth

    records = sawtooth.simulate("study.toml", seed=1)     # one run: records.flows is a polars data frame
    dataset = sawtooth.run("hstcp")                       # all runs of a study; dataset.flows(factors=True) is a lazy frame
    dataset.measure("p95(completion_ns)")                 # of each run; `figure`, `finding` and `compare` show, decide and hold against

Names of columns carry their units: `_bps` bit/s, `_bytes`, `_ns`, `_packets`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sawtooth.analysis import Dataset
    from sawtooth.api import lint, run, simulate
    from sawtooth.errors import BackendUnavailable, DatasetError, Place, RunFailed, SawtoothError, StudyError
    from sawtooth.mib import rfc4898
    from sawtooth.plan import Plan, make_plan
    from sawtooth.results.records import Records
    from sawtooth.study import Study

    __version__: str

__all__ = [
    "BackendUnavailable",
    "Dataset",
    "DatasetError",
    "Place",
    "Plan",
    "Records",
    "RunFailed",
    "SawtoothError",
    "Study",
    "StudyError",
    "lint",
    "make_plan",
    "rfc4898",
    "run",
    "simulate",
]

# Module of each name, imported when it is used: the package itself imports nothing of its own, so that whoever needs the compiled
# core in it needs nothing else.
_HOMES = {
    "analysis": ("Dataset",),
    "api": ("lint", "run", "simulate"),
    "errors": ("BackendUnavailable", "DatasetError", "Place", "RunFailed", "SawtoothError", "StudyError"),
    "mib": ("rfc4898",),
    "plan": ("Plan", "make_plan"),
    "results.records": ("Records",),
    "study": ("Study",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return import_module("sawtooth._core").version()
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"sawtooth.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]
