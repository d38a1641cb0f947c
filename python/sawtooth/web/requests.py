"""What requests say, and errors where they say something else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from sawtooth.errors import DatasetError

_MOST_BYTES = 4 * 2**20
"""Of a body: a study file is smaller."""


def query(request: Request, name: str) -> str:
    """A parameter of the address.

    Raises:
        DatasetError: if it is not there.

    """
    found = request.query_params.get(name)
    if found is None:
        raise DatasetError(f"the address has to say `{name}`")
    return found


def table(text: str) -> dict[str, Any]:
    """The keys of a figure, as an address has them.

    Raises:
        DatasetError: if they are none.

    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DatasetError("a figure is asked for by a table of keys, as JSON")
    return cast(dict[str, Any], found)


async def in_thread(answer: Callable[[], Response]) -> Response:
    """An answer that takes a while; others are answered meanwhile."""
    return await run_in_threadpool(answer)


async def body(request: Request) -> Mapping[str, Any]:
    """A table, as JSON.

    Raises:
        DatasetError: if it is none, or too large.

    """
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _MOST_BYTES:
            raise DatasetError(f"what is asked takes more than {_MOST_BYTES // 2**20} MiB")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DatasetError("what is asked is a table, as JSON")
    return cast(dict[str, Any], found)
