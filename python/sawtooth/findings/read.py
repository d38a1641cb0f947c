"""The findings that a study claims, read and checked when it is planned."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from sawtooth import findings
from sawtooth.findings import assumed
from sawtooth.findings.spec import COMMON, FindingSpec, Kind
from sawtooth.findings.verdict import Wanted
from sawtooth.hints import did_you_mean
from sawtooth.measures import View
from sawtooth.questions import Choice, Reader
from sawtooth.study.assign import Tree

BESIDE = ("caveat", "refuted_by")
"""What stands beside a verdict, as the study says it."""
_AT_LEAST = re.compile(r"at least (\d+)( ?%)?")


def read(reader: Reader) -> list[FindingSpec]:
    """The findings whose arms are for this backend.

    Raises:
        StudyError: with its place, for what is no name of the study or no measure.

    """
    found = [finding(reader, tree, path) for tree, path in reader.entries("findings")]
    names: dict[str, str] = {}
    for spec in found:
        if spec.name in names:
            raise reader.error(f"two findings are called `{spec.name}`", f"{spec.path}.name", "give this one another name")
        if spec.name:
            names[spec.name] = spec.kind
    for spec in found:
        require_named(reader, spec, names)
    told = [spec for spec in found if _is_told(reader, spec)]
    there = {spec.name for spec in told}
    return [spec for spec in told if all(name in there for name in spec.options.get("findings", []))]


def require_named(reader: Reader, spec: FindingSpec, kinds: Mapping[str, str]) -> None:
    """Refuses a finding that is made of others unless those are there and have evidence of their own.

    Args:
        reader: of the study.
        spec: the finding.
        kinds: name to kind of those that it may be made of.

    """
    for at, name in enumerate(spec.options.get("findings", [])):
        if name not in kinds or findings.kind(kinds[name]).measured is False:
            there = [each for each, kind in kinds.items() if findings.kind(kind).measured]
            raise reader.error(
                f"there is no finding `{name}` that has evidence of its own", f"{spec.path}.findings[{at}]",
                did_you_mean(name, there) if there else "give the others a `name`",
            )  # fmt: skip


def finding(reader: Reader, tree: Tree, path: str) -> FindingSpec:
    """One of them."""
    common = [key.name for key in COMMON]
    every = {key.name for kind in findings.table().values() for key in kind.keys}
    reader.known(tree, [*common, *every], path)
    claim = reader.text(tree, "claim", path)
    if not claim.strip():
        raise reader.error("`claim` says nothing", f"{path}.claim", 'such as claim = "CUBIC carries more than Reno"')
    name = reader.text(tree, "name", path, "")
    caveat, refuted_by = (reader.text(tree, key, path, "") for key in BESIDE)
    what = reader.one_of(tree, "is", path, findings.KINDS, None)
    if what not in findings.KINDS:
        raise reader.error(f"`is` cannot be `{what}`", f"{path}.is", did_you_mean(what, findings.KINDS))
    kind = findings.kind(what)
    known = [*(common if kind.measured else ("claim", "name", "is", *BESIDE)), *(key.name for key in kind.keys)]
    for key in tree:
        if key not in known:
            raise reader.error(f"a finding that something is `{what}` has no `{key}`", f"{path}.{key}", "leave it out", key=True)
    if not kind.measured:
        spec = FindingSpec(claim, name, what, path=path, caveat=caveat, refuted_by=refuted_by)
        return dataclasses.replace(spec, options=kind.read(reader, tree, path, spec))
    measure = reader.measure(tree, path)
    choice = reader.choice(tree, path, [measure])
    if len(choice.of) > 1 or len(choice.arms) > 1:
        key = "of" if len(choice.of) > 1 else "arm"
        raise reader.error(f"a finding speaks of one {'item' if key == 'of' else 'arm'}", f"{path}.{key}", "write one finding for each")
    spec = FindingSpec(
        claim, name, what, measure, View(reader.how(tree, path), reader.rows(tree, path, [measure])), choice,
        reader.statistic(tree, path), wanted(reader, tree, path, kind), path=path, unit=reader.shown_in(tree, path, measure),
        caveat=caveat, refuted_by=refuted_by,
    )  # fmt: skip
    spec = dataclasses.replace(spec, options=kind.read(reader, tree, path, spec))
    return dataclasses.replace(spec, assumptions=assumed.read(reader, tree, path, spec))


def wanted(reader: Reader, tree: Tree, path: str, kind: Kind) -> Wanted:
    """In how many cells it must hold, or whether on average over them."""
    text = reader.text(tree, "cells", path, "all")
    if text == "all":
        return Wanted()
    if text == "on average":
        if not kind.averages:
            whose = ", ".join(f"`{name}`" for name, each in findings.table().items() if each.averages)
            raise reader.error(f"`{tree['is']}` is not claimed of an average over cells", f"{path}.cells", f"{whose} can be")
        return Wanted(average=True)
    if text == "any":
        return Wanted(at_least=1)
    match = _AT_LEAST.fullmatch(text)
    if match is None or int(match[1]) < 1 or (match[2] and int(match[1]) > 100):
        raise reader.error(f"`cells` cannot be `{text}`", f"{path}.cells", '"all", "any", "at least 10", "at least 90 %" or "on average"')
    return Wanted(share=int(match[1]) / 100) if match[2] else Wanted(at_least=int(match[1]))


def _is_told(reader: Reader, spec: FindingSpec) -> bool:
    """Whether the arms that it speaks of are for this backend."""
    choices: list[Choice] = spec.choices
    return not any(arm in reader.study.other_arms for choice in choices for arm in choice.arms)
