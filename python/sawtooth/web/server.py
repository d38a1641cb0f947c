"""Serving the explorer until Ctrl-C."""

from __future__ import annotations

import importlib
import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from sawtooth.errors import DatasetError
from sawtooth.web.app import application
from sawtooth.web.settings import LOOPBACK, Settings

_LEAVING = 1.0
"""Seconds that open connections, such as those of progress, have to end."""
_NEEDED = ("scipy.special", "sawtooth.figures", "sawtooth.findings")
"""What takes long to load, and nobody needs who looks at no results."""


def serve(settings: Settings, ready: Callable[[Settings], None]) -> None:
    """Listens at the settings' port of the loopback address, or at any that is free for 0, until SIGINT or SIGTERM.

    Args:
        settings: what it was started with.
        ready: is called when it listens, with the port that it has.

    Raises:
        DatasetError: if it cannot listen there, or a folder is none.

    """
    listening = _listening(settings.port)
    settings = replace(settings, port=listening.getsockname()[1])
    config = uvicorn.Config(
        application(settings), log_level="error", lifespan="on", timeout_graceful_shutdown=int(_LEAVING), server_header=False, ws="none"
    )
    _Server(config, lambda: ready(settings)).run([listening])


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """And then says so."""
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()
            threading.Thread(target=_load, name="loading", daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Leaves. That requests which take longer are given up then is no error."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)


def _load() -> None:
    """Loads what the first figure needs while the browser opens."""
    for name in _NEEDED:
        importlib.import_module(name)


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((LOOPBACK, port))
    except OSError as error:
        found.close()
        raise DatasetError(
            f"cannot listen at port {port}: {error.strerror}", "another explorer may be at it; choose one with --port N"
        ) from None
    return found
