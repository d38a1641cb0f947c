"""The application: which address is answered by what."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sawtooth import _core
from sawtooth.errors import SawtoothError
from sawtooth.web import lessons
from sawtooth.web.comparing import Comparing
from sawtooth.web.folders import SHIPPED, Folders
from sawtooth.web.guard import Guard
from sawtooth.web.judging import Judge
from sawtooth.web.live import Live
from sawtooth.web.opened import Shelf
from sawtooth.web.playground import Playground
from sawtooth.web.results import Results
from sawtooth.web.running import Running
from sawtooth.web.runs import Runs
from sawtooth.web.settings import Settings
from sawtooth.web.studies import Studies
from sawtooth.web.sweeps import Sweeps

STATIC = Path(__file__).parent / "static"
"""The pages, as they were built from `web/`."""


def application(settings: Settings) -> Starlette:
    """The explorer.

    Raises:
        DatasetError: for what is no folder.

    """
    folders = Folders(settings.folders)
    live = Live(folders, settings)
    playground = Playground(folders, allow_run=settings.allow_run)
    shelf = Shelf()
    judge = Judge()
    results = Results(folders, shelf, judge)
    comparing = Comparing(folders, shelf)
    runs = Runs(folders, shelf, allow_run=settings.allow_run)
    sweeps = Sweeps()
    studies = Studies(settings, folders, sweeps)
    running = Running(settings, folders, studies, sweeps)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        judge.end()
        await to_thread.run_sync(sweeps.end)

    def session(_: Request) -> Response:
        return JSONResponse({"version": _core.version(), "allowRun": settings.allow_run, "folders": [*folders.named], "shipped": SHIPPED})

    routes = [
        Route("/api/session", session),
        Route("/api/results", results.every),
        Route("/api/results/head", results.head),
        Route("/api/results/verdicts", results.verdicts),
        Route("/api/results/weighed", results.weighed),
        Route("/api/results/forest", results.forest),
        Route("/api/results/validity", results.validity),
        Route("/api/results/measures", results.measures),
        Route("/api/results/figure", results.figure, methods=["POST"]),
        Route("/api/results/export", results.export),
        Route("/api/results/run", results.run),
        Route("/api/results/table", results.rows),
        Route("/api/compare", comparing.summary),
        Route("/api/compare/rows", comparing.rows),
        Route("/api/compare/csv", comparing.csv),
        Route("/api/compare/plots", comparing.plots),
        Route("/api/compare/plot", comparing.plot),
        Route("/api/compare/export", comparing.export),
        Route("/api/compare/figure", comparing.figure, methods=["POST"]),
        Route("/api/live", live.watch),
        Route("/api/live/check", live.check),
        Route("/api/playground/choices", playground.choices),
        Route("/api/playground/setting", playground.setting),
        Route("/api/playground/run", playground.run),
        Route("/api/playground/study", playground.study),
        Route("/api/playground/save", playground.save, methods=["POST"]),
        Route("/api/lessons", lessons.every),
        Route("/api/lessons/lesson", lessons.one),
        Route("/api/run/series", runs.series),
        Route("/api/run/variable", runs.variable),
        Route("/api/run/sequence", runs.sequence),
        Route("/api/run/film", runs.film),
        Route("/api/studies", studies.every),
        Route("/api/studies/size", studies.size),
        Route("/api/studies/text", studies.text),
        Route("/api/studies/words", studies.words),
        Route("/api/studies/check", studies.check, methods=["POST"]),
        Route("/api/studies/save", studies.save, methods=["POST"]),
        Route("/api/sweeps", running.every),
        Route("/api/sweeps/events", running.events),
        Route("/api/sweeps/start", running.start, methods=["POST"]),
        Route("/api/sweeps/pause", running.pause, methods=["POST"]),
        Route("/api/sweeps/resume", running.resume, methods=["POST"]),
        Route("/api/sweeps/cancel", running.cancel, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/{path:path}", _page),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={SawtoothError: folders.told},
        lifespan=lifespan,
    )


def _page(request: Request) -> Response:
    """The one page, whose scripts show what its address says; what asks for data at an unknown address is told so."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": {"message": f"there is nothing at {request.url.path[:200]}", "hint": None, "place": None}}, 404)
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace("NONCE", request.state.nonce))
