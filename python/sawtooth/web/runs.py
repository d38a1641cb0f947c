"""Pages of single runs: what one did over time, done again for the question, also as it would have been if something else had happened."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, cast

import polars as pl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sawtooth import _core, called, fates, trace
from sawtooth.animation import film, page
from sawtooth.errors import DatasetError
from sawtooth.quantities import seconds
from sawtooth.web import causes, curves, numbers, sequence, whatif
from sawtooth.web.bounded import Bounded
from sawtooth.web.columns import TYPE, packed
from sawtooth.web.folders import Folders
from sawtooth.web.opened import Opened, Shelf
from sawtooth.web.replays import Replay, Replays
from sawtooth.web.requests import query

_MOST_IN_FILM = 20_000
"""Packets at links: as many as `sawtooth animate` puts into a page."""


_ADVICE = film.Advice(
    "zoom to another stretch of time above, and show its packets",
    "zoom to a later stretch above, and show its packets",
    "`sawtooth animate` shows some of them, such as",
)
"""What who looks at a page can do about a stretch that is not shown whole."""


class Runs:
    """Answers what is asked of single runs."""

    def __init__(self, folders: Folders, shelf: Shelf, *, allow_run: bool) -> None:
        self._folders, self._shelf = folders, shelf
        self._replays = Replays(allow_run=allow_run)

    def _opened(self, request: Request) -> Opened:
        return self._shelf.open(self._folders.path(query(request, "of")))

    def _taken(self, request: Request) -> tuple[Opened, Replay, whatif.Change | None]:
        opened = self._opened(request)
        number = query(request, "run")
        _, run = self._replays.found(opened, number)
        change = _change(request, trace.duration_of(run))
        return opened, self._replays.taken(opened, number, change, again="again" in request.query_params), change

    def series(self, request: Request) -> Response:
        """A run over time, or that run with a change: what is said of it, and its columns."""
        opened, replay, change = self._taken(request)
        taken = replay.trace
        flows = _flows(request, taken)
        said, columns = curves.of_flows(taken, flows)
        queues, of_links = curves.of_links(taken)
        packets, why_not = self._told_packets(opened, replay)
        marks = {} if packets is None else curves.of_marks(packets, flows)
        for episode, why in zip(said["episodes"], causes.told(said["episodes"], packets), strict=True):
            episode["why"] = why
        study = replay.plan.study
        head = {
            "title": called.title(replay.plan, replay.run),
            "run": replay.run.index,
            "change": replay.change,
            "differs": None if change is None else trace.differs_from(self._replays.taken(opened, query(request, "run")).trace, taken),
            "duration": taken.duration,
            "active": curves.active(taken),
            "backend": study.backend,
            "again": replay.again,
            "kernel": None if replay.kernel is None else asdict(replay.kernel),
            "sequences": not study.on_kernels or replay.sequences is not None,
            "same": replay.same,
            "sampled": trace.sampling(replay.run),
            "flows": taken.flows["flow"].to_list(),
            "shown": flows,
            "cc": dict(zip(taken.flows["flow"].to_list(), taken.flows["cc"].to_list(), strict=True)),
            "summary": trace.summary(taken, flows),
            "numbers": numbers.of_run(taken, flows, queues),
            **_network(replay),
            "queues": queues,
            "variables": curves.variables(taken, flows),
            "unmarked": why_not,
            **said,
        }
        return Response(packed(head, columns | of_links | marks), media_type=TYPE)

    def _told_packets(self, opened: Opened, replay: Replay) -> tuple[pl.DataFrame | None, str | None]:
        """The packets that were dropped, lost or marked, as far as there is anything to look for; or why that is not told."""
        links = replay.trace.links
        if replay.plan.study.on_kernels:
            return None, "single packets of real kernels are not told"
        befell = [name for name in ("dropped_packets", "lost_packets", "marked_packets") if name in links.columns]
        if not any(links[name].sum() for name in befell) and not replay.trace.recorded.get("episodes", pl.DataFrame()).height:
            return None, None
        packets = self._befell(opened, replay)
        if packets is None:
            return None, "there are too many packets to tell when single ones were dropped, lost or marked: samples of queues tell of drops"
        return packets, None

    def _befell(self, opened: Opened, replay: Replay) -> pl.DataFrame | None:
        """The packets of a simulated run that were dropped, lost or marked; None if it has too many to look."""
        run, duration = replay.run, replay.trace.duration
        if fates.packets_until(run, duration) > fates.MOST_PACKETS:
            return None
        some = (pl.col("fate").is_in(["dropped", "lost"])) | (pl.col("marked") == 1)
        return self._replays.once(
            opened, run, "fates", lambda: causes.sent(fates.recorded_packets(run, 0.0, duration, Bounded())).filter(some)
        )

    def variable(self, request: Request) -> Response:
        """One of the algorithms' own variables over time."""
        _, replay, _ = self._taken(request)
        name = query(request, "name")
        flows = _flows(request, replay.trace)
        return Response(packed({"variable": name}, curves.of_variable(replay.trace, flows, name)), media_type=TYPE)

    def sequence(self, request: Request) -> Response:
        """The time-sequence graph of a flow."""
        opened, replay, _ = self._taken(request)
        lost: pl.DataFrame | None = None
        if replay.plan.study.on_kernels:
            if replay.sequences is None:
                raise DatasetError("packets of real kernels were not stored", "`sawtooth trace --pcap FILE` captures a run")
            found = replay.sequences
        else:
            found = self._replays.once(opened, replay.run, "sequence", lambda: sequence.taken(replay.run))
            lost = self._befell(opened, replay)
        head = {"flow": query(request, "flow"), "kinds": sequence.MARKS}
        return Response(packed(head, sequence.columns(found, query(request, "flow"), lost)), media_type=TYPE)

    def film(self, request: Request) -> Response:
        """The packets of a stretch of a run, where they are at any moment, for the player that pages of `sawtooth animate` have."""
        opened, replay, _ = self._taken(request)
        begin, end = (_seconds(request, name) for name in ("from", "to"))
        span = film.Span(begin or 0.0, end)
        choice = film.Choice(request.query_params.getlist("flow"), request.query_params.getlist("link"))
        make = lambda: film.take(replay.plan, replay.run, Bounded(), span, choice, _MOST_IN_FILM, _ADVICE)  # noqa: E731
        found = self._replays.once(opened, replay.run, ("film", span, tuple(choice.flows), tuple(choice.links)), make)
        title = called.title(replay.plan, replay.run)
        return JSONResponse(page.parts(found, title, page.speed_of(found)).facts())


def _flows(request: Request, taken: trace.Trace) -> list[str]:
    """The flows that are asked for; a run of other results that is laid beside one has what it has of `prefer`."""
    asked = request.query_params
    return curves.shown(taken, asked.getlist("flow"), asked.getlist("prefer"))


def _network(replay: Replay) -> dict[str, Any]:
    """The links that can do something else; of each flow whose data goes forward the first, where a packet is dropped by its number; and the rate (Mbit/s) of the slowest link of each, null where it is not one over the whole run."""
    if replay.plan.study.on_kernels:
        return {"links": [], "first": {}, "rates": {}}
    scenario = replay.run.scenario
    links, paths = _core.network(scenario)
    # Under `links` a table of keys for each; a name alone is one without any.
    change = [name for name, keys in json.loads(scenario).get("links", {}).items() if isinstance(keys, dict) and "changes" in keys]
    rates = {
        flow: None if any(links[port // 2][0] in change for port in path) else min(links[port // 2][1][port % 2][0] for port in path) / 1e6
        for flow, path in paths
        if path
    }
    first = {flow: links[path[0] // 2][0] for flow, path in paths if path and path[0] % 2 == 0}
    return {"links": [name for name, _ in links], "first": first, "rates": rates}


def _change(request: Request, duration: float) -> whatif.Change | None:
    text = request.query_params.get("change")
    if text is None:
        return None
    try:
        keys = json.loads(text)
    except ValueError:
        keys = None
    if not isinstance(keys, dict):
        raise DatasetError("a change is asked for by a table of keys, as JSON")
    return whatif.read(cast(dict[str, Any], keys), duration)


def _seconds(request: Request, name: str) -> float | None:
    text = request.query_params.get(name)
    return None if text is None else seconds(text)
