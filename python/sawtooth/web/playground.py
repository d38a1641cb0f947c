"""The playground: a setting is simulated as it is asked for, within bounds, and the newest of a page ends those before it. It names no files and needs no permission."""

from __future__ import annotations

import asyncio
import functools
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth import _core
from sawtooth.errors import DatasetError
from sawtooth.study import Study
from sawtooth.web.columns import TYPE, packed
from sawtooth.web.folders import Folders
from sawtooth.web.play import Played, makes_sense, play
from sawtooth.web.problems import NotAllowedError
from sawtooth.web.requests import body, query
from sawtooth.web.setting import LIMITS, MOST_FLOWS, MOST_GROUPS, MOST_LINKS, TOPOLOGIES, Setting, choices, parse

_LOOK = 0.1
"""Seconds between two looks whether the browser is still there."""
_MOST_PAGES = 100
"""Whose simulations are known."""


class Playground:
    """Answers what is asked of the playground."""

    def __init__(self, folders: Folders, *, allow_run: bool) -> None:
        self._folders, self._allow_run = folders, allow_run
        # A processor stays free for everything else that is asked.
        self._pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), "playground")
        self._running: OrderedDict[str, _core.StopRequest] = OrderedDict()

    def choices(self, _: Request) -> Response:
        """What can be chosen, and from what to what numbers may go."""
        limits = {name: asdict(limit) for name, limit in LIMITS.items()}
        most = {"links": MOST_LINKS, "groups": MOST_GROUPS, "flows": MOST_FLOWS}
        return JSONResponse({"topologies": TOPOLOGIES, "choices": choices(), "limits": limits, "most": most})

    def setting(self, request: Request) -> Response:
        """What an address says, also where that cannot be simulated: so that it can be mended. `study`: the study that it is, null if that could not be run."""
        setting = parse(query(request, "set"))
        return JSONResponse(setting.facts() | {"study": setting.text() if makes_sense(setting) else None})

    async def run(self, request: Request) -> Response:
        """What a setting does: `set` is its address, `page` who asks."""
        setting, page = parse(query(request, "set")), query(request, "page")[:40]
        stop = _core.StopRequest()
        self._take_place(page, stop)
        try:
            played = await self._simulated(request, setting, stop)
        finally:
            if self._running.get(page) is stop:
                del self._running[page]
        return Response(packed(played.head, played.columns), media_type=TYPE)

    async def _simulated(self, request: Request, setting: Setting, stop: _core.StopRequest) -> Played:
        """Simulates beside what else is asked; a browser that has gone wants nothing any more."""
        work = asyncio.get_running_loop().run_in_executor(self._pool, functools.partial(play, setting, stop))
        while not (await asyncio.wait({work}, timeout=_LOOK))[0]:
            if await request.is_disconnected():
                stop.set()
        return work.result()

    def _take_place(self, page: str, stop: _core.StopRequest) -> None:
        if before := self._running.pop(page, None):
            before.set()
        self._running[page] = stop
        while len(self._running) > _MOST_PAGES:
            self._running.popitem(last=False)[1].set()

    def study(self, request: Request) -> Response:
        """The study that a setting is, as a file."""
        text = parse(query(request, "set")).text()
        return Response(
            text, media_type="application/toml; charset=utf-8", headers={"Content-Disposition": 'attachment; filename="playground.toml"'}
        )

    async def save(self, request: Request) -> Response:
        """Writes the study that a setting is (`set`) to a new file (`to`), whose name is the study's."""
        if not self._allow_run:
            raise NotAllowedError("write studies")
        asked = await body(request)
        setting, address = asked.get("set"), asked.get("to")
        if not isinstance(setting, str) or not isinstance(address, str):
            raise DatasetError("what is saved is a setting, `set`, and where to, `to`: both texts")
        path = self._folders.new(address if address.endswith(".toml") else f"{address}.toml")
        # By the name of its file: two studies of one name would write to the same results.
        text = parse(setting).text(path.stem)
        Study.parse(text, path, files=False)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise DatasetError(f"there is `{address[:200]}` already", "choose another name") from None
        except OSError as error:
            raise DatasetError(f"cannot write `{address[:200]}`: {error.strerror}") from None
        return JSONResponse({"address": self._folders.address(path)})
