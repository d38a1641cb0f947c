"""Pages of studies: which there are and what has been run of them, their text, what the command line says of it, and saving it."""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth.errors import DatasetError, SawtoothError, read_text
from sawtooth.measures import listed
from sawtooth.report.origin import counts
from sawtooth.results.dataset import Dataset
from sawtooth.results.lock import is_held
from sawtooth.schema import study_schema
from sawtooth.storage import write_atomically, writing
from sawtooth.study import Study, shipped
from sawtooth.web.folders import SHIPPED, Folders
from sawtooth.web.looking import look
from sawtooth.web.opened import state_of
from sawtooth.web.problems import NotAllowedError, problem
from sawtooth.web.requests import body, query
from sawtooth.web.settings import Settings
from sawtooth.web.sweeps import Sweeps

_T = TypeVar("_T")
_MOST_KEPT = 512
"""Answers that are remembered."""


class Studies:
    """Answers what is asked of studies."""

    def __init__(self, settings: Settings, folders: Folders, sweeps: Sweeps) -> None:
        self._settings, self._folders, self._sweeps = settings, folders, sweeps
        self._named = _Kept[dict[str, Any]]()
        self._sizes = _Kept[dict[str, Any]]()
        self._results = _Kept[dict[str, Any]]()
        # Plans of large studies take seconds: those of a list wait for each other, and hold nobody up who is typing.
        self._listing, self._live = anyio.CapacityLimiter(1), anyio.CapacityLimiter(2)

    @property
    def below(self) -> list[Path]:
        """The folders of which a study may name files."""
        return [*self._folders.named.values(), shipped.DIRECTORY]

    # --- which there are

    def every(self, _: Request) -> Response:
        """All studies: what each asks, and what has been run of it."""
        found = self._folders.studies()
        results = self._all_results()
        return JSONResponse({"studies": [self._entry(address, results) for address in found.addresses], "complete": found.complete})

    def _entry(self, address: str, results: list[dict[str, Any]]) -> dict[str, Any]:
        path = self._folders.path(address)
        entry = {"address": address, **self._named(path, _changed(path), _name)}
        own = [each | {"same": each["sha256"] == entry["sha256"]} for each in results if each["name"] == entry["name"]]
        return entry | {"results": own, "state": _state(own)}

    def _all_results(self) -> list[dict[str, Any]]:
        """Results below the folders, by study: how far they are, and whether somebody is writing to them."""
        found: list[dict[str, Any]] = []
        for address in self._folders.results().addresses:
            path = self._folders.path(address)
            facts = self._results(path, state_of(path), _of_results)
            if facts.get("name"):
                found.append({"address": address, **facts, "held": is_held(path)})
        return found

    async def size(self, request: Request) -> Response:
        """What a study would run, of a list: `problem`, or `runs`, `deliveries` and `seconds`."""
        path = self._folders.path(query(request, "of"))

        def sized(path: Path) -> dict[str, Any]:
            found = look(read_text(path), path, short=False, below=self.below)
            plan: dict[str, Any] = found["plan"] or {}
            return {"problem": found["problem"], **{key: plan.get(key) for key in ("runs", "cells", "deliveries", "seconds")}}

        return JSONResponse(await to_thread.run_sync(self._sizes, path, _changed(path), sized, limiter=self._listing))

    # --- one of them

    def text(self, request: Request) -> Response:
        """The text of a study, with what tells whether it has been changed since."""
        address = query(request, "of")
        path = self._folders.path(address)
        text = read_text(path)
        entry = self._entry(address, self._all_results())
        return JSONResponse(entry | {"text": text, "digest": _digest(text), "canSave": self._may_save(address)})

    def _may_save(self, address: str) -> bool:
        return self._settings.allow_run and address.partition("/")[0] != SHIPPED

    async def check(self, request: Request) -> Response:
        """What the command line says of a text that is being written: `of` is the address that it has or will have."""
        asked = await body(request)
        text, path = _text(asked), self._path(str(asked.get("of", "")))
        call = functools.partial(look, text, path, short=bool(asked.get("short")), below=self.below)
        return JSONResponse(await to_thread.run_sync(call, limiter=self._live))

    def _path(self, address: str) -> Path:
        """Where a text is, or would be: files that it names are found from there."""
        try:
            return self._folders.path(address)
        except DatasetError:
            return self._folders.new(address)

    async def save(self, request: Request) -> Response:
        """Writes a text: over the file whose digest the page has seen, or as a new one.

        Raises:
            NotAllowedError: if this explorer only reads.
            DatasetError: if the file has changed since, is there already, or cannot be written.

        """
        if not self._settings.allow_run:
            raise NotAllowedError("write studies")
        asked = await body(request)
        text, address = _text(asked), str(asked.get("of", ""))
        await to_thread.run_sync(self._save, address, text, asked.get("digest"), limiter=self._live)
        return JSONResponse({"address": address, "digest": _digest(text)})

    def _save(self, address: str, text: str, digest: object) -> None:
        if not address.endswith(".toml"):
            raise DatasetError(f"`{address[:200]}` is no name of a study", "names of studies end in .toml")
        path = self._folders.new(address)
        if path.is_symlink():
            raise DatasetError(f"`{address}` is a link", "name the file itself")
        if digest is None and path.exists():
            raise DatasetError(f"`{address}` is there already", "open it, or name another")
        if digest is not None and (not path.is_file() or _digest(read_text(path)) != digest):
            raise DatasetError(
                f"`{address}` has been changed since it was opened here",
                "open it again, or save this text under another name: nothing is lost",
            )
        with writing(path, resumes=False):
            write_atomically(path, text.encode())

    @staticmethod
    def words(_: Request) -> Response:
        """What an editor completes: the schema of study files, and the names of measures."""
        measures = [{"name": name, "unit": unit, "summary": summary} for name, (unit, summary) in listed().items()]
        return JSONResponse({"schema": _schema(), "measures": measures}, headers={"Cache-Control": "private, max-age=3600"})


@functools.cache
def _schema() -> dict[str, Any]:
    return study_schema()


class _Kept(OrderedDict[tuple[Path, object], _T]):
    """What was found of files, as long as they are as they were."""

    def __call__(self, path: Path, state: object, find: Callable[[Path], _T]) -> _T:
        found = self.get((path, state))
        if found is None:
            found = self[path, state] = find(path)
            while len(self) > _MOST_KEPT:
                self.popitem(last=False)
        return found


def _changed(path: Path) -> tuple[int, int]:
    """What changes with a file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _name(path: Path) -> dict[str, Any]:
    """A study's name and question; of one that cannot be read, why not."""
    try:
        text = read_text(path)
    except SawtoothError as error:
        return {"name": path.stem, "question": "", "backend": "", "sha256": "", "problem": problem(error)}
    try:
        study = Study.parse(text, path, files=False)
    except SawtoothError as error:
        return {"name": path.stem, "question": "", "backend": "", "sha256": _digest(text), "problem": problem(error)}
    return {"name": study.name, "question": study.question, "backend": study.backend, "sha256": _digest(text), "problem": None}


def _of_results(path: Path) -> dict[str, Any]:
    """How far results are; nothing of what is none of a study, or cannot be read: the page of results says why."""
    try:
        dataset = Dataset(path)
        if not dataset.planned:
            return {}
        manifest = dataset.manifest
        return {
            "name": str(manifest["name"]),
            "sha256": manifest.get("study_sha256"),
            "short": bool(manifest.get("short")),
            **counts(dataset),
        }
    except (SawtoothError, KeyError):
        return {}


def _state(own: list[dict[str, Any]]) -> str:
    """Of a study, by its results: one that runs says more than one that is done."""
    if any(each["held"] for each in own):
        return "running"
    if any(each["done"] >= each["planned"] for each in own if not each["short"]):
        return "done"
    if any(each["done"] > 0 for each in own):
        return "part done"
    return "never run"


def _text(asked: Mapping[str, Any]) -> str:
    text = asked.get("text")
    if not isinstance(text, str) or "\0" in text:
        raise DatasetError("what is asked has the `text` of a study")
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
