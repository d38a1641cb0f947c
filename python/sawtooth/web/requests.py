"""What requests say, and errors where they say something else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from starlette.requests import Request

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
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise DatasetError("what is asked is a table, as JSON")
    return cast(dict[str, Any], found)
