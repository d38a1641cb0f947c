"""Whether what the explorer is served with is installed: it is an extra, as most who run studies on a cluster need none."""

from __future__ import annotations

from importlib.util import find_spec

from sawtooth.errors import PlainError


class NotInstalledError(PlainError):
    """A library of the extra is missing."""


def require_installed() -> None:
    """Raises `NotInstalledError` if the extra `web` is not installed."""
    if missing := [name for name in ("starlette", "uvicorn", "sse_starlette") if find_spec(name) is None]:
        raise NotInstalledError(f"the explorer needs {', '.join(missing)}", 'pip install "$(ls sawtooth-*.whl)[web]"')
