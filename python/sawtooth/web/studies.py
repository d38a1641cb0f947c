"""Pages of studies: which there are and what has been run of them, their text, what the command line says of it, and saving it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth.errors import DatasetError, read_text
from sawtooth.measures import listed
from sawtooth.schema import study_schema
from sawtooth.storage import write_atomically, writing
from sawtooth.study import shipped
from sawtooth.web.folders import Folders, is_of_tests, is_shipped
from sawtooth.web.looking import called, look
from sawtooth.web.made import Kept, Made, Runs, changed, digest, state
from sawtooth.web.problems import NotAllowedError, problem
from sawtooth.web.requests import body, query
from sawtooth.web.settings import Settings
from sawtooth.web.sweeps import Sweeps


class Studies:
    """Answers what is asked of studies."""

    def __init__(self, settings: Settings, folders: Folders, sweeps: Sweeps) -> None:
        self._settings, self._folders, self._sweeps = settings, folders, sweeps
        self._runs = Runs(folders)
        self._sizes = Kept[dict[str, Any]]()
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
        made = self._runs.every()
        # In a clone of the program those that come along lie in a folder, too: they are listed once.
        theirs = {*shipped.studies().values()}
        listed = [each for each in found.addresses if is_shipped(each) or self._runs.named(each).path not in theirs]
        entries = [self._entry(address, made) | {"tests": is_of_tests(address)} for address in listed]
        return JSONResponse({"studies": entries, "complete": found.complete})

    def _entry(self, address: str, made: Sequence[Made]) -> dict[str, Any]:
        named = self._runs.named(address)
        wrong = None if named.error is None else self._folders.addressed(called(problem(named.error), named.path, address))
        own = [each for each in made if each.name == named.name]
        return {
            "address": address, "name": named.name, "question": named.question, "backend": named.backend, "problem": wrong, "isText": named.is_text,
            "state": state(own), "results": [asdict(each) | {"same": each.sha256 == named.sha256} for each in own],
        }  # fmt: skip

    async def size(self, request: Request) -> Response:
        """What a study would run, of a list: `problem`, or `runs`, `deliveries` and `seconds`, and how many `times` as much it is at most."""
        path = self._folders.path(query(request, "of"))

        def sized(path: Path) -> dict[str, Any]:
            found = self._look(read_text(path), path, query(request, "of"), short=False)
            plan: dict[str, Any] = found["plan"] or {}
            return {"problem": found["problem"], **{key: plan.get(key) for key in ("runs", "cells", "deliveries", "seconds", "times")}}

        return JSONResponse(await to_thread.run_sync(self._sizes, path, changed(path), sized, limiter=self._listing))

    # --- one of them

    def text(self, request: Request) -> Response:
        """The text of a study, with what tells whether it has been changed since."""
        address = query(request, "of")
        path = self._folders.path(address)
        if path.suffix != ".toml" or not path.is_file():
            raise DatasetError(f"`{address[:200]}` is no study", "studies are files whose names end in .toml")
        text = read_text(path)
        entry = self._entry(address, self._runs.every())
        return JSONResponse(entry | {"text": text, "digest": digest(text), "canSave": self._may_save(address)})

    def _may_save(self, address: str) -> bool:
        return self._settings.allow_run and not is_shipped(address)

    async def check(self, request: Request) -> Response:
        """What the command line says of a text that is being written: `of` is the address that it has or will have."""
        asked = await body(request)
        text, address = _text(asked), str(asked.get("of", ""))
        call = functools.partial(self._look, text, self._path(address), address, short=bool(asked.get("short")))
        return JSONResponse(await to_thread.run_sync(call, limiter=self._live))

    def _look(self, text: str, path: Path, address: str, *, short: bool) -> dict[str, Any]:
        """As `look`, with addresses where what is said has paths."""
        found = look(text, path, address, short=short, below=self.below)
        wrong = found["problem"]
        return found | {
            "problem": wrong and self._folders.addressed(wrong),
            "lint": [self._folders.addressed(each) for each in found["lint"]],
        }

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
        return JSONResponse({"address": address, "digest": digest(text)})

    def _save(self, address: str, text: str, seen: object) -> None:
        if not address.endswith(".toml"):
            raise DatasetError(f"`{address[:200]}` is no name of a study", "names of studies end in .toml")
        path = self._folders.new(address)
        if path.is_symlink():
            raise DatasetError(f"`{address}` is a link", "name the file itself")
        if seen is None and path.exists():
            raise DatasetError(f"`{address}` is there already", "open it, or name another")
        if seen is not None and (not path.is_file() or digest(read_text(path)) != seen):
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


def _text(asked: Mapping[str, Any]) -> str:
    text = asked.get("text")
    if not isinstance(text, str):
        raise DatasetError("what is asked has the `text` of a study")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DatasetError(
            f"line {line} has a character of code 0, which no text has", "it may have been copied from a file that is no text; delete it"
        )
    return text
