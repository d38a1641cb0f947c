"""Findings: one file per kind, `KINDS` is the table of them; one function decides all verdicts (`sawtooth.findings.verdict`)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from sawtooth.findings.spec import Kind

_HOMES = {
    "above": ("compare", "KIND"), "below": ("compare", "KIND"),
    "at least": ("compare", "NO_LESS"), "at most": ("compare", "NO_LESS"), "within": ("compare", "WITHIN"),
    "rising": ("trend", "KIND"), "falling": ("trend", "KIND"),
    "dipping": ("dips", "KIND"), "smooth": ("dips", "KIND"),
    "crossing": ("crossing", "KIND"), "ranked": ("ranking", "KIND"), "alike": ("alike", "KIND"), "reproduced": ("reproduction", "KIND"),
    "all": ("together", "KIND"), "any": ("together", "KIND"),
}  # fmt: skip
KINDS = tuple(_HOMES)
"""What `is` may say."""


def kind(name: str) -> Kind:
    """The kind of finding called so.

    Raises:
        KeyError: if there is none.

    """
    module, row = _HOMES[name]
    found = getattr(import_module(f"sawtooth.findings.{module}"), row)
    assert isinstance(found, Kind)
    return found


def table() -> Mapping[str, Kind]:
    """All kinds by what `is` says of them."""
    return {name: kind(name) for name in KINDS}
