"""`all` and `any` of other findings: a claim that follows from theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.questions import Reader
from sawtooth.study.keys import Key

OF = Key("findings", "list of names", "needed", "the findings that it follows from")


def read(reader: Reader, tree: Mapping[str, Any], path: str, _spec: FindingSpec) -> dict[str, Any]:
    """The names of the others."""
    names = reader.names(dict(tree), "findings", path, "a list of names of other findings")
    if not names:
        raise reader.error(f"`{tree['is']}` needs the names of other findings", path, 'findings = ["first", "second"]')
    return {"findings": names, "every": tree["is"] == "all"}


def weigh(_data: Data) -> list[Evidence]:
    """None of its own."""
    return []


KIND = Kind(("all", "any"), "that all, or any, of other findings hold", weigh, (OF,), read, measured=False)
