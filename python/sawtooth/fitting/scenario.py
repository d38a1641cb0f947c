"""From a capture to a scenario."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, cast

import polars as pl

from sawtooth.captures import Capture
from sawtooth.errors import PlainError
from sawtooth.fitting.again import SEED, Again, again
from sawtooth.fitting.control import CONTROLS, FLOW, Control, control
from sawtooth.fitting.cross import Cross, shared
from sawtooth.fitting.doubted import doubted
from sawtooth.fitting.others import repeated, sources
from sawtooth.fitting.packets import Numbers, Packets, packets
from sawtooth.fitting.path import FEWEST_PACKETS, Estimate, Path, path
from sawtooth.fitting.silence import Silence, silences, unheard
from sawtooth.fitting.steps import Kind

MARK = "# Fitted to "
"""How its studies begin."""
_SHORTEST_S = 2.0
_ENDLESS = 100_000
"""Packets of a queue that drops nothing."""
_USUAL = "cubic"
"""The congestion control of a study of which it could not be told: that of most systems."""
_LINK, _OWN, _AT_ONCE = "bottleneck", "own", "100 Gbit/s"


class CannotFit(PlainError):
    """A capture does not show what a scenario is made of."""


@dataclass(frozen=True)
class Fit:
    """A scenario that explains a flow.

    Attributes:
        name: of the capture. flow: of the flow.
        seen, path, cross, control: what was measured and found.
        silences: when the path was down.
        title: the name of the study.
        again: what the study does when it is simulated once; None if it was not.

    """

    name: str
    flow: str
    seen: Packets
    path: Path
    cross: Cross
    control: Control
    silences: Sequence[Silence] = ()
    title: str = "fitted"
    again: Again | None = None

    @property
    def study(self) -> str:
        """A study in TOML that simulates it. What could not be told has a comment, and is among its caveats."""
        return _study(self)

    @property
    def simulated(self) -> str:
        """The congestion control of the study: the nearest where it could not be told, the usual one where nothing was near."""
        return self.control.name or next(iter(self.control.distances), _USUAL)

    @property
    def why_control(self) -> str:
        """Why it is this congestion control; that the simulations which tell it do not say how near the study is, where that is far."""
        if self.control.name is None or self.again is None or not self.again.is_far:
            return self.control.why
        return f"{self.control.why}; these lose the packets that the capture lost, and the study, which has chance instead, is farther away"

    @property
    def untold(self) -> list[str]:
        """What the capture could not tell and the study assumes, in sentences."""
        said: list[str] = []
        if self.control.name is None:
            said.append(f"The congestion control is a guess, {self.simulated}: {self.control.why}.")
        parts = (("rate", self.path.rate_bps), ("delay", self.path.delay_s), ("buffer", self.path.buffer_packets), ("loss", self.path.loss))
        said += [f"The {name} is assumed: {found.why}." for name, found in parts if found.value is None]
        said += [
            f"The path was silent: {each.words}. An outage from {each.began_s:.4g} s to {each.ended_s:.4g} s is assumed."
            for each in self.silences
        ]
        if lacks := self.seen.without_sack:
            said.append(f"The sender is simulated with SACK, which it did not have: {lacks}.")
        rate, kind = self.cross.rate_bps, self.cross.kind
        if rate.value is None:
            said.append(f"Traffic of others is left out: {rate.why}.")
        elif not kind.name:
            said.append(f"Of what kind traffic of others is, is assumed: {kind.why}.")
        if self.again is not None and (caveat := self.again.caveat):
            said.append(caveat)
        return said


def title_of(file: str) -> str:
    """The name of a study that is written to a file, or is of a capture: its stem, of what can name a directory."""
    return re.sub(r"[^\w.+-]+", "-", PurePath(file).stem).lstrip(".+-") or "fitted"


def fit(capture: Capture, flow: str, controls: Sequence[str] = CONTROLS, *, title: str | None = None) -> Fit:
    """The scenario of a flow of a capture, whose study is simulated once.

    Args:
        capture: that has it.
        flow: its name.
        controls: the congestion controls that are compared.
        title: the name of the study; by default the capture's.

    Raises:
        CannotFit: if the capture does not show it: was not made at the sender, is of UDP, too short, or without round trips.
        StudyError: if there is no such congestion control.

    """
    row = capture.flows.row(by_predicate=pl.col("flow") == flow, named=True)
    _require(row, capture.name)
    seen = packets(capture, flow)
    if seen.asked.size < FEWEST_PACKETS // 4:
        raise CannotFit(
            f"{flow} in {capture.name} has {seen.asked.size} round trips, too few to fit",
            "capture a longer transfer, from its first packet on",
        )
    silent = silences(seen)
    heard, unheard_numbers = unheard(seen, silent)
    found, cross = _beside(heard, silent)
    if row["handshake"] == "whole":
        again_so = replays(heard, _with(found, unheard_numbers), cross)
        for each in again_so:
            # What is lost has a number; what waited has to wait.
            each["links"][_LINK]["outages"] = [silence.outage for silence in silent if silence.waited]
        told = control(seen, found.floor_s, again_so, controls)
    else:
        # Simulations begin where connections do.
        told = Control(None, "cannot tell: the connection's beginning was not captured", {}, {})
    path_of_study = doubted(heard, found) if cross.contradicted else found
    made = Fit(capture.name, flow, seen, path_of_study, cross, told, silent, title or title_of(capture.name))
    return replace(made, again=again(made.study, row))


def _beside(heard: Packets, silent: Sequence[Silence]) -> tuple[Path, Cross]:
    """The bottleneck and the traffic of others at it, which cannot be told from a link that stood still while packets waited."""
    alone = path(heard)
    if not any(each.waited for each in silent):
        return shared(heard, alone)
    why = "cannot tell: packets waited while the path was silent, as they do behind others"
    assert alone.rate_bps.value is not None
    return alone, Cross(Estimate(None, 0.0, alone.rate_bps.value, why), Kind("", why))


def _with(found: Path, silent: Numbers) -> Path:
    """The path of a simulation in which what was lost while it was silent is lost by its number, as all else is."""
    lost, strays = (tuple(sorted({*numbers, *silent.tolist()})) for numbers in (found.lost, found.strays))
    return replace(found, lost=lost, strays=strays)


def replays(seen: Packets, found: Path, cross: Cross) -> list[dict[str, Any]]:
    """Scenarios without a congestion control in which losses, and the traffic of others, come where they came, whatever chance had done.

    In the first every loss comes by its number, over a buffer without end. In the others, if the buffer is known within a packet, those of a full queue come by themselves.
    """
    others = repeated(cross)
    made = [_scenario(seen, found, _ENDLESS, others, found.lost)]
    limit = found.buffer_packets.value
    if limit is not None:
        made += [_scenario(seen, found, max(1, round(limit) + by), others, found.strays) for by in (-1, 0, 1)]
    return made


def scenario(seen: Packets, found: Path, cross: Cross, silent: Sequence[Silence] = ()) -> dict[str, Any]:
    """The scenario without a congestion control, with losses by chance. A buffer that was never full is twice what was seen in it, unless something else is assumed."""
    limit = found.buffer_packets.value or found.assumed_packets or 2 * found.buffer_packets.low
    made = _scenario(seen, found, max(1, round(limit)), sources(cross), ())
    made["links"][_LINK]["loss"] = float(f"{found.loss.value or 0:.3g}")
    if silent:
        made["links"][_LINK]["outages"] = [each.outage for each in silent]
    return made


def _scenario(seen: Packets, found: Path, limit: int, others: Sequence[dict[str, Any]], lost: Sequence[int]) -> dict[str, Any]:
    link: dict[str, Any] = {
        "rate": f"{found.rate_bps.value:.0f} bit/s",
        "delay": f"{(found.delay_s.value or 0) / 2 * 1e9:.0f} ns",
        "queue": {"name": "drop_tail", "limit": f"{limit} packets"},
    }
    drop = [number + seen.before for number in lost]
    links, way = {_LINK: link}, [_LINK]
    if drop and others:
        # The numbers of what is dropped are the flow's, so others do not come that way.
        links, way = {_OWN: {"rate": _AT_ONCE, "drop": drop}, **links}, [_OWN, _LINK]
    elif drop:
        link["drop"] = drop
    flows = [{"name": FLOW, "path": way}, *({**each, "path": [_LINK]} for each in others)]
    return {"duration": f"{seen.since[-1]:.6f} s", "stack": "linux", "links": links, "flows": flows}


def _require(row: dict[str, Any], name: str) -> None:
    flow = row["flow"]
    if row["transport"] != "tcp":
        raise CannotFit(
            f"{flow} in {name} is UDP, which has no acknowledgements", "fit takes flows of TCP; `sawtooth analyze` tells what UDP did"
        )
    if row["vantage"] == "" and row["handshake"] != "whole":
        raise CannotFit(
            f"{flow} in {name} has no handshake, and nothing else by which it could be told where it was captured",
            "capture at the sender, from the connection's first packet on",
        )
    if row["vantage"] != "sender":
        where = {
            "near_sender": "was captured behind a queue near its sender",
            "receiver": "was captured at its receiver",
            "middle": "was captured between its ends",
        }.get(row["vantage"], "was captured at an unknown place")
        raise CannotFit(
            f"{flow} in {name} {where}, where no queue on its way is seen", "capture at the sender, where round trips are the path's"
        )
    if (row["data_packets"] or 0) < FEWEST_PACKETS or row["lifetime_ns"] < _SHORTEST_S * 1e9:
        raise CannotFit(
            f"{flow} in {name} is too short to fit: {row['data_packets']} packets with data in {row['lifetime_ns'] / 1e9:.3g} s",
            f"at least {FEWEST_PACKETS} packets and {_SHORTEST_S:g} s are needed, and 20 s are better",
        )


def _study(made: Fit) -> str:
    tree = scenario(made.seen, made.path, made.cross, made.silences)
    link = tree["links"][_LINK]
    found, cross = made.path, made.cross
    caveats = [f"caveats = {json.dumps(made.untold, indent=4, ensure_ascii=False)}"] if made.untold else []
    return "\n".join(
        [
            f"{MARK}{json.dumps(made.flow)} of {json.dumps(made.name)} by `sawtooth fit`.",
            *([f"# {made.again.words[0].upper()}{made.again.words[1:]} (seed {SEED})."] if made.again else []),
            f"name = {json.dumps(made.title, ensure_ascii=False)}",
            *caveats,
            "",
            "[scenario]",
            f'duration = "{tree["duration"]}"',
            f'stack = "{tree["stack"]}"',
            f"cc = {json.dumps(made.simulated)}  # {made.why_control}",
            "",
            "[scenario.links.bottleneck]",
            f'rate = "{link["rate"]}"  # {found.rate_bps.low:.0f} to {found.rate_bps.high:.0f}: {found.rate_bps.why}',
            f'delay = "{link["delay"]}"  # one way, half of {found.delay_s.low * 1e3:.4g} to {found.delay_s.high * 1e3:.4g} ms: {found.delay_s.why}',
            f'queue = {{ name = "drop_tail", limit = "{link["queue"]["limit"]}" }}  # {found.buffer_packets.low:.0f} to {found.buffer_packets.high:.0f}: {found.buffer_packets.why}',
            f"loss = {link['loss']:.3g}  # {found.loss.low:.2g} to {found.loss.high:.2g}: {found.loss.why}",
            *(
                [f"outages = [{', '.join(map(_toml, link['outages']))}]  # {'; '.join(each.words for each in made.silences)}"]
                if made.silences
                else []
            ),
            "",
            "[[scenario.flows]]",
            f'name = "{FLOW}"',
            'path = ["bottleneck"]',
            "",
            *_others(cross, tree["flows"][1:]),
        ]
    )


def _others(cross: Cross, entries: Sequence[Mapping[str, Any]]) -> list[str]:
    rate = cross.rate_bps
    if not entries:
        return [f"# Traffic of others: {rate.why}.", ""]
    kind = f"{cross.kind.name}: {cross.kind.why}" if cross.kind.name else cross.kind.why
    lines = [f"# Traffic of others: {rate.value:.0f} bit/s ({rate.low:.0f} to {rate.high:.0f}): {rate.why}.", f"# {kind}.", ""]
    for entry in entries:
        lines += ["[[scenario.flows]]", *(f"{key} = {_toml(value)}" for key, value in entry.items()), ""]
    return lines


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in cast("Mapping[str, object]", value).items()) + " }"
    return json.dumps(value)
