"""Results shown with the figures and findings of another version of their study: nothing is run again, if the runs are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from sawtooth.errors import DatasetError, StudyError
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.results.provenance import plan_hash
from sawtooth.study import Study
from sawtooth.study.document import shown
from sawtooth.study.paths import quoted

# What no run depends on.
_SHOWN = ("figures", "findings", "references", "question", "report")


def shown_as(dataset: Dataset, path: Path) -> Dataset:
    """A dataset with what another version of its study shows.

    Raises:
        StudyError: if that cannot be read, or other runs would be made of it: with the place of what differs.
        DatasetError: if nothing was planned.

    """
    if not dataset.planned:
        raise DatasetError(f"{dataset.directory} holds what was watched: no study says what it shows", "leave out --study")
    options = cast(list[str], dataset.manifest.get("options", []))
    study = Study.load(path, options=options)
    forms = [study, *([Study.load(path, short=True, options=options)] if "short" in study.tree else [])]
    for form in forms:
        if plan_hash(make_plan(form)) == dataset.manifest["plan_hash"]:
            return dataset.shown_as(form)
    raise _difference(dataset, study)


def _difference(dataset: Dataset, now: Study) -> StudyError:
    """What differs first between the study that was run and another."""
    ran, new = (dict(_leaves(study.tree, "")) for study in (dataset.study, now))
    again = f"run it into another directory: `sawtooth run {now.path} --out DIR`; --study takes other figures, findings and references only"
    what = f"these are not the runs in {dataset.directory}"
    for place, value in new.items():
        if place not in ran:
            return now.document.error(f"{what}: `{place}` was not set", place, again, key=True)
        if value != ran[place]:
            return now.document.error(f"{what}: `{place}` was {shown(ran[place])}", place, again)
    for place, value in ran.items():
        if place not in new:
            return now.document.error(f"{what}: `{place}` was {shown(value)} and is not set", place, again)
    return StudyError(
        f"{what}, although the study says the same: a file that it names has changed, or they are of another version", None, again
    )


def _leaves(tree: Mapping[str, Any], above: str) -> Iterator[tuple[str, Any]]:
    """The places of a study's values that runs depend on, and the values."""
    for key, value in tree.items():
        if not above and key in _SHOWN:
            continue
        yield from _within(value, f"{above}.{quoted(key)}" if above else quoted(key))


def _within(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from _leaves(cast(dict[str, Any], value), place)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in cast(list[Any], value)):
        for at, each in enumerate(cast(list[Any], value)):
            yield from _within(each, f"{place}[{at}]")
    else:
        yield place, value
