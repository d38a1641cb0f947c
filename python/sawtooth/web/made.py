"""What has been run of studies: results below the folders, by the studies that they are of."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from sawtooth.errors import DatasetError, SawtoothError, read_text
from sawtooth.report.origin import counts
from sawtooth.results.dataset import Dataset
from sawtooth.results.lock import is_held
from sawtooth.study import Study
from sawtooth.web.folders import Folders
from sawtooth.web.opened import state_of

_T = TypeVar("_T")
_MOST_KEPT = 512
"""Answers that are remembered."""


@dataclass(frozen=True)
class Named:
    """What a study's file says of itself.

    Attributes:
        sha256: of its text.
        error: why it cannot be used.
        path: where it is; None of a link that leads nowhere, or out of the folders.
        is_text: whether there is a text that can be mended.

    """

    name: str
    question: str
    backend: str
    sha256: str
    error: SawtoothError | None = None
    path: Path | None = None
    is_text: bool = False


@dataclass(frozen=True)
class Made:
    """Results of a study.

    Attributes:
        address: below the folders. name: of the study. sha256: of the text that was run.
        short: whether they are of its short form. backend: that made them. written: when something was last written to them, s.
        planned, done, failed: numbers of runs.
        held: whether somebody is writing to them.

    """

    address: str
    name: str
    sha256: str
    short: bool
    backend: str
    written: float
    planned: int
    done: int
    failed: int
    held: bool = False


class Kept(OrderedDict[tuple[Path, object], _T]):
    """What was found of files, as long as they are as they were."""

    def __call__(self, path: Path, state: object, find: Callable[[Path], _T]) -> _T:
        """What was found of a file, or is found now."""
        found = self.get((path, state))
        if found is None:
            found = self[path, state] = find(path)
            while len(self) > _MOST_KEPT:
                self.popitem(last=False)
        return found


class Runs:
    """Results of studies below folders, and the studies."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._named, self._results = Kept[Named](), Kept[Made | None]()

    def named(self, address: str) -> Named:
        """What a study's file says of itself, or why it says nothing."""
        try:
            path = self._folders.path(address)
        except DatasetError:
            error = DatasetError(
                f"`{address}` is a link that leads nowhere, or out of the folders of this explorer",
                "put the file itself there, or `sawtooth serve` the folder that it is in",
            )
            return Named(PurePosixPath(address).stem, "", "", "", error)
        return self._named(path, changed(path), _named)

    def every(self) -> list[Made]:
        """All results that are of studies; of what cannot be read the page of results says why."""
        found: list[Made] = []
        for address in self._folders.results().addresses:
            path = self._folders.path(address)
            if made := self._results(path, state_of(path), _of):
                found.append(replace(made, address=address, held=is_held(path)))
        return found


def state(own: list[Made]) -> str:
    """Of a study, by its results: one that runs says more than one that is done."""
    if any(each.held for each in own):
        return "running"
    if any(each.done >= each.planned for each in own if not each.short):
        return "done"
    if any(each.done > 0 for each in own):
        return "part done"
    return "never run"


def newest(found: list[Made]) -> list[Made]:
    """Of results of one study, its form and backend those that were written last, and those that are being written: a study that was run again elsewhere goes on there."""
    last: dict[tuple[str, bool, str], Made] = {}
    for each in sorted(found, key=lambda each: each.written):
        last[each.name, each.short, each.backend] = each
    return [each for each in found if each.held or each is last[each.name, each.short, each.backend]]


def modified(path: Path) -> float:
    """When something was last written to results, in seconds; 0 if that cannot be told."""
    try:
        return max((path / name).stat().st_mtime for name in ("SHA256SUMS", "parts", "log.jsonl") if (path / name).exists())
    except (OSError, ValueError):
        return 0.0


def changed(path: Path) -> tuple[int, ...]:
    """What changes with a file, and with who may read it."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ctime_ns


def digest(text: str) -> str:
    """By which a text is known again."""
    return hashlib.sha256(text.encode()).hexdigest()


def _named(path: Path) -> Named:
    try:
        text = read_text(path)
    except SawtoothError as error:
        return Named(path.stem, "", "", "", error, path)
    try:
        study = Study.parse(text, path, files=False)
    except SawtoothError as error:
        return Named(path.stem, "", "", digest(text), error, path, is_text=True)
    return Named(study.name, study.question, study.backend, digest(text), None, path, is_text=True)


def _of(path: Path) -> Made | None:
    """How far results are; nothing of what is none of a study, or cannot be read."""
    try:
        dataset = Dataset(path)
        if not dataset.planned:
            return None
        manifest, numbers = dataset.manifest, counts(dataset)
        sha256, short = str(manifest.get("study_sha256")), bool(manifest.get("short"))
        backend = str(manifest.get("backend", ""))
        return Made(
            "", str(manifest["name"]), sha256, short, backend, modified(path), numbers["planned"], numbers["done"], numbers["failed"]
        )
    except (SawtoothError, KeyError):
        return None
