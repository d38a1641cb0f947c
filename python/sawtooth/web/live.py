"""The page of live connections: what `sawtooth stall --json` says, interval by interval, as events (server-sent events, HTML Living Standard §9.2).

A watch is a process of its own, so that one ends without the others, and without this server. It ends with the page that asked for it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth.errors import DatasetError
from sawtooth.web.folders import Folders
from sawtooth.web.problems import NotAllowedError
from sawtooth.web.settings import Settings

_MOST_WATCHES = 4
"""At a time: each takes up to a hundredth of a processor."""
_KINDS = ("port", "pid", "peer")
_NUMBERS = {"port": ("port", 65_535), "pid": ("process", 2**31 - 1)}
"""Kinds that are numbers: of what, and the largest."""
_LONGEST_LINE = 2**20


class Live:
    """Watches connections of this machine for pages."""

    def __init__(self, folders: Folders, settings: Settings) -> None:
        self._folders, self._settings = folders, settings
        self._watches = 0

    async def watch(self, request: Request) -> Response:
        """Events `interval`, each a list of what its connections did, and whether they are the explorer's `own`, until nobody listens; `problem` with what is wrong, and `end`."""
        return EventSourceResponse(self._events(self._allowed(request), request.scope["server"]), ping=15)

    async def check(self, request: Request) -> Response:
        """Why it may not be watched what is asked for, if so: who reads events sees no such answer."""
        self._allowed(request)
        return JSONResponse({})

    def _allowed(self, request: Request) -> list[str]:
        command = self._command(request)
        if self._watches >= _MOST_WATCHES:
            raise DatasetError(f"{_MOST_WATCHES} pages watch connections already", "close one of them")
        return command

    def _command(self, request: Request) -> list[str]:
        asked = request.query_params
        for kind, (what, most) in _NUMBERS.items():
            for value in asked.getlist(kind):
                digits = value.strip()
                if not (digits.isdecimal() and len(digits) <= len(str(most)) and 1 <= int(digits) <= most):
                    raise DatasetError(f"`{value[:40]}` is no {what}", f"a number from 1 to {most}")
        chosen = [word for kind in _KINDS for value in asked.getlist(kind) for word in (f"--{kind}", value)]
        command = [
            sys.executable,
            "-m",
            "sawtooth.cli",
            "stall",
            "--json",
            *(chosen or ["--all"]),
            "--interval",
            asked.get("interval", "1 s"),
        ]
        if record := asked.get("record"):
            if not self._settings.allow_run:
                raise NotAllowedError("write recordings")
            command += ["--record", str(self._folders.new(record))]
        return command

    async def _events(self, command: list[str], server: tuple[str, int]) -> AsyncIterator[dict[str, str]]:
        mine = "{}:{}".format(*server)
        self._watches += 1
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            cwd=Path.cwd(),
        )
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            async for interval in _intervals(process.stdout):
                told = [each | {"own": mine in (each.get("local"), each.get("remote"))} for each in interval]
                yield {"event": "interval", "data": json.dumps(told)}
            said = (await process.stderr.read()).decode(errors="replace").strip()
            code = await process.wait()
            ended = code in (0, 1)
            yield {
                "event": "end" if ended else "problem",
                "data": json.dumps({"said": said} if ended else self._folders.addressed(_told(said))),
            }
        finally:
            self._watches -= 1
            if process.returncode is None:
                process.terminate()
                await process.wait()


def _told(said: str) -> dict[str, Any]:
    """What a command says that is refused, as pages get errors."""
    found = re.search(r"(?s)^error: (.*?)(?:\nhint: (.*))?\Z", said)
    return {"message": found[1] if found else said or "it ended without a word", "hint": found and found[2], "place": None}


async def _intervals(lines: asyncio.StreamReader) -> AsyncIterator[list[dict[str, Any]]]:
    """Lines of one time together: all of an interval are written at once."""
    found: list[dict[str, Any]] = []
    while True:
        try:
            line = await asyncio.wait_for(lines.readline(), 0.05 if found else None)
        except TimeoutError:
            yield found
            found = []
            continue
        if not line:
            break
        each = cast(dict[str, Any], json.loads(line))
        if found and each.get("time") != found[0].get("time"):
            yield found
            found = []
        found.append(each)
    if found:
        yield found
