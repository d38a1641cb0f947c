"""What the report of one study needs of results: the arms and factors that it has words for."""

from __future__ import annotations

from collections.abc import Collection

from sawtooth.errors import DatasetError
from sawtooth.results.dataset import Dataset

_ANY = '`report = "generic"` takes any'


def require(dataset: Dataset, kind: str, arms: Collection[str], base: str, factors: Collection[str]) -> None:
    """Raises `DatasetError` unless a dataset has these factors, no other arms, and the one that all are compared with."""
    missing = [factor for factor in factors if factor not in dataset.runs.columns]
    if missing:
        raise DatasetError(f"the report `{kind}` needs the factors {', '.join(factors)}; there is no {', '.join(missing)}", _ANY)
    there = set(dataset.runs["arm"])
    unknown = sorted(there - set(arms))
    if unknown:
        raise DatasetError(f"the report `{kind}` knows the arms {', '.join(arms)}, and not `{unknown[0] or 'none'}`", _ANY)
    if base not in there:
        raise DatasetError(f"the report `{kind}` compares with the arm `{base}`, which this study does not have", _ANY)
