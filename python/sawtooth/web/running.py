"""Pages of running sweeps: starting, pausing and ending them, and how far they are, as it happens."""

from __future__ import annotations

import asyncio
import functools
import json
import os
from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio
from anyio import to_thread
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth.errors import DatasetError, read_text
from sawtooth.results.lock import is_held
from sawtooth.web.folders import SHIPPED, Folders
from sawtooth.web.looking import planned
from sawtooth.web.problems import NotAllowedError
from sawtooth.web.requests import body
from sawtooth.web.settings import Settings
from sawtooth.web.studies import Studies
from sawtooth.web.sweeps import Sweep, Sweeps

_EVERY = 0.2
"""Seconds between looks for news."""
_PING = 15
"""Seconds after which a browser that has vanished is noticed."""


class Running:
    """Answers what is asked of sweeps."""

    def __init__(self, settings: Settings, folders: Folders, studies: Studies, sweeps: Sweeps) -> None:
        self._settings, self._folders, self._studies, self._sweeps = settings, folders, studies, sweeps

    def every(self, _: Request) -> Response:
        """All sweeps of this explorer."""
        return JSONResponse(self._sweeps.news())

    def events(self, request: Request) -> Response:
        """The same as server-sent events, whenever something has changed: who is slow gets less often what is newest."""
        ending = anyio.Event()

        async def news() -> AsyncIterator[dict[str, str]]:
            seen = -1
            while not ending.is_set() and not await request.is_disconnected():
                if seen != self._sweeps.version:
                    told = self._sweeps.news()
                    seen = told["version"]
                    yield {"data": json.dumps(told)}
                await asyncio.sleep(_EVERY)

        return EventSourceResponse(news(), ping=_PING, shutdown_event=ending, shutdown_grace_period=2 * _EVERY)

    async def start(self, request: Request) -> Response:
        """Runs what is missing of a study.

        Raises:
            NotAllowedError: if this explorer only reads.
            StudyError: with its place, if the study cannot be run.
            DatasetError: if a sweep of it is running already, or its results cannot be where they are to be.

        """
        asked = await self._allowed(request)
        sweep = await to_thread.run_sync(functools.partial(self._start, asked))
        return JSONResponse(sweep.facts())

    def _start(self, asked: Mapping[str, Any]) -> Sweep:
        address, short = str(asked.get("study", "")), bool(asked.get("short"))
        path = self._folders.path(address)
        # What the command would refuse is told with its place in the text; and the study names no file elsewhere.
        plan = planned(read_text(path), path, short=short, below=self._studies.below)
        name, _, below = address.partition("/")
        home = next(iter(self._folders.named)) if name == SHIPPED else name
        folder = self._folders.named[home]
        out = str(asked.get("out") or f"{home}/results/{plan.study.name}{'-short' if short else ''}")
        directory = self._folders.inside(out)
        if is_held(directory) and not any(sweep["out"] == out for sweep in self._sweeps.told()):
            raise DatasetError(f"another command is writing to {out}", "wait for its end, or name another directory")
        study = below if name == SHIPPED else os.path.relpath(path, folder)
        command = [
            "run",
            study,
            "--out",
            os.path.relpath(directory, folder),
            "--progress",
            "json",
            "--no-wait",
            *(["--short"] if short else []),
        ]
        return self._sweeps.start(address, out, command, folder, directory, short=short)

    async def pause(self, request: Request) -> Response:
        """Stores what is done, and ends it until it is resumed."""
        self._sweeps.pause(_number(await self._allowed(request)))
        return self.every(request)

    async def resume(self, request: Request) -> Response:
        """Goes on with it."""
        self._sweeps.resume(_number(await self._allowed(request)))
        return self.every(request)

    async def cancel(self, request: Request) -> Response:
        """Ends it, and forgets it; what is stored stays."""
        await to_thread.run_sync(self._sweeps.cancel, _number(await self._allowed(request)))
        return self.every(request)

    async def _allowed(self, request: Request) -> Mapping[str, Any]:
        if not self._settings.allow_run:
            raise NotAllowedError("run studies")
        return await body(request)


def _number(asked: Mapping[str, Any]) -> int:
    number = asked.get("number")
    if not isinstance(number, int):
        raise DatasetError("what is asked has the `number` of a sweep")
    return number
