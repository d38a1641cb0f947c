"""Results shown with the figures and findings of another version of their study: nothing is run again, if the runs are the same."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from sawtooth.errors import DatasetError, StudyError
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.results.provenance import plan_hash
from sawtooth.study import Study
from sawtooth.study.differs import difference


def shown_as(dataset: Dataset, path: Path) -> Dataset:
    """A dataset with what another version of its study shows.

    Raises:
        StudyError: if that cannot be read, or other runs would be made of it: with the place of what differs.
        DatasetError: if nothing was planned.

    """
    if dataset.files:
        study = Study.load(path)
        # What was measured is not planned anew: the factors and arms are to be the same.
        if difference(dataset.study.document.text, study.document):
            raise _difference(dataset, study)
        return dataset.shown_as(study)
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
    again = f"run it into another directory: `sawtooth run {now.path} --out DIR`; --study takes other figures, findings and references only"
    what = f"these are not the runs in {dataset.directory}"
    if found := difference(dataset.study.document.text, now.document):
        return StudyError(f"{what}: {found.words}", found.place, again)
    return StudyError(
        f"{what}, although the study says the same: a file that it names has changed, or they are of another version", None, again
    )
