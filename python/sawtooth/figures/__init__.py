"""Figures: one file per kind, `KINDS` is the table of them.

A figure has a measure, a choice of values, and a place for every dimension of them: x, curves, panels. What has no place and is no replicate is an
error (`sawtooth.design`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from sawtooth.figures.spec import Kind

KINDS = (
    "levels", "cells", "plane", "cdf", "time", "difference",
    "heatmap", "shares", "scatter", "paired", "box", "violin", "latency_under_load", "lanes", "forest", "effects", "assumptions",
)  # fmt: skip
"""The kinds, each in the module of its name, which is imported when it is asked for."""


def kind(name: str) -> Kind:
    """The kind of figure called so.

    Raises:
        KeyError: if there is none.

    """
    if name not in KINDS:
        raise KeyError(name)
    found = import_module(f"sawtooth.figures.{name}").KIND
    assert isinstance(found, Kind)
    return found


class _Kinds(Mapping[str, Kind]):
    """All kinds by name."""

    def __getitem__(self, name: str) -> Kind:
        return kind(name)

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)


TABLE: Mapping[str, Kind] = _Kinds()
