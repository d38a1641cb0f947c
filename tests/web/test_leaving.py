"""An explorer that is ended while somebody waits for an answer says nothing of it."""

import socket
import threading
import time
import urllib.request
from contextlib import suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from sawtooth.web.server import _Server


def test_requests_that_are_given_up_at_the_end_are_no_errors(capfd: pytest.CaptureFixture[str]) -> None:
    import anyio

    asked, listens = threading.Event(), threading.Event()

    async def slow(_: Request) -> PlainTextResponse:
        asked.set()
        await anyio.sleep(3600)
        return PlainTextResponse("never")

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Starlette(routes=[Route("/slow", slow)]), log_level="error", timeout_graceful_shutdown=1)
    server = _Server(config, listens.set)
    serving = threading.Thread(target=server.run, args=([listening],))
    serving.start()
    assert listens.wait(60)

    def ask() -> None:
        with suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{listening.getsockname()[1]}/slow", timeout=60)

    asking = threading.Thread(target=ask)
    asking.start()
    assert asked.wait(60)
    time.sleep(0.1)
    server.should_exit = True
    serving.join(60)
    asking.join(60)
    assert not serving.is_alive()
    assert capfd.readouterr().err == ""
