"""What `sawtooth fit` says and writes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sawtooth import captures, outputs
from sawtooth.captures import Capture
from sawtooth.errors import StudyError
from sawtooth.fitting import MARK, Again, CannotFit, Cross, Estimate, Fit, figure
from sawtooth.plots import style

_MOST_STEPS = 8
"""Of the traffic of others, that are told."""


def chosen(capture: Capture, flow: str | None) -> str:
    """The flow that is meant: the one that has this name or number and sent most; by default the largest of all.

    Raises:
        StudyError: if there is none of that name.
        CannotFit: if the capture has no flow of TCP.

    """
    if flow is None:
        largest = captures.choose(capture, [])
        if not largest:
            raise CannotFit(f"{capture.name} has no flow of TCP that sent data", "`sawtooth analyze` tells what it has")
        return largest[0]
    datagrams = capture.flows.filter((capture.flows["transport"] != "tcp") & (capture.flows["flow"] == flow))
    if datagrams.height:
        # Which is then refused, with the reason.
        return flow
    found = captures.choose(capture, [flow])
    rows = capture.flows.filter(capture.flows["flow"].is_in(found)).sort("sent_bytes", descending=True, maintain_order=True)
    return str(rows["flow"][0])


def require_places(file: str, out: Path | None, drawn: Path | None, *, force: bool) -> None:
    """Refuses places where study or figure cannot be written, before anything is read.

    Raises:
        StudyError: if a name is none for such a file, or something is there that is not to be replaced.

    """
    if drawn is not None and drawn.suffix != ".svg":
        raise StudyError(f"a figure is written as SVG and PNG, and {drawn} is neither's name", hint=f"name {drawn.with_suffix('.svg')}")
    if drawn is not None:
        for picture in (drawn, drawn.with_suffix(".png")):
            outputs.require(picture, "a figure", [file])
    if out is not None:
        if drawn is not None and out.resolve() in (drawn.resolve(), drawn.with_suffix(".png").resolve()):
            raise StudyError(f"{out} is the name of the figure, too", hint="name another file for the study, such as fitted.toml")
        outputs.require(out, "a study", [file])
        if not force:
            outputs.require_own(out, "study that `sawtooth fit` wrote", MARK, "--force")


def write(found: Fit, file: str, out: Path | None, drawn: Path | None) -> None:
    """Writes the study and the figure, if they are wanted.

    Raises:
        StudyError: if something else is in their places.
        DatasetError: if they cannot be written.

    """
    if out is not None:
        outputs.write(out, found.study.encode(), "a study", [file])
    if drawn is not None:
        made = figure(found)
        outputs.write(drawn, style.svg(made).encode(), "a figure", [file])
        outputs.write(drawn.with_suffix(".png"), style.png(made), "a figure", [file])


def as_json(found: Fit, damage: str | None) -> dict[str, Any]:
    """For other programs: an end that is not bounded is null."""
    path, cross = found.path, found.cross
    return {
        "capture": found.name,
        "damage": damage,
        "flow": found.flow,
        "rate_bps": _plain(path.rate_bps),
        "delay_s": _plain(path.delay_s),
        "buffer_packets": _plain(path.buffer_packets),
        "loss": _plain(path.loss),
        "outages": [asdict(each) for each in found.silences],
        "overflowed_packets": path.overflowed,
        "not_drop_tail": path.not_drop_tail,
        "cross": {
            "rate_bps": _plain(cross.rate_bps),
            "kind": cross.kind.name or None,
            "why": cross.kind.why,
            "steps": [{"from_s": step.since_s, "until_s": step.until_s, "rate_bps": step.rate} for step in cross.steps],
        },
        "cc": {"name": found.control.name, "why": found.control.why, "distances": found.control.distances},
        "again": _again(found.again),
        "without_sack": found.seen.without_sack or None,
        "study": found.study,
    }


def _again(found: Again | None) -> dict[str, Any] | None:
    if found is None:
        return None
    apart = {name: far if far is None or math.isfinite(far) else None for name, far in found.apart.items()}
    return {"measured": asdict(found.measured), "simulated": asdict(found.simulated), "apart": apart, "is_far": found.is_far}


def lines(found: Fit, out: Path | None, drawn: Path | None) -> Iterator[str]:
    """The fit in words."""
    path = found.path
    yield f"{found.name}, {found.flow}"
    yield f"rate    {_told(path.rate_bps, 1e-6, 'Mbit/s')}"
    yield f"delay   {_told(path.delay_s, 1e3, 'ms')}, both ways"
    yield f"buffer  {_told(path.buffer_packets, 1, 'packets')}"
    yield f"loss    {_told(path.loss, 100, '%')}"
    for each in found.silences:
        yield f"outage  {each.began_s:.4g} s to {each.ended_s:.4g} s (ended {each.ended_low_s:.4g} to {each.ended_high_s:.4g} s): {each.words}"
    yield from _cross(found.cross)
    if lacks := found.seen.without_sack:
        yield f"sack    none: {lacks}; it is simulated with SACK all the same"
    yield f"cc      {found.control.name or ''}{': ' if found.control.name else ''}{found.why_control}"
    if found.control.distances:
        yield "        " + ", ".join(f"{name} {far:.1%}" for name, far in found.control.distances.items())
    if found.again is None:
        yield "study   could not be simulated: whether it behaves as the capture is not known"
    else:
        yield f"study   {'caveat: ' if found.again.is_far else ''}{found.again.words}"
    for file in (out, drawn):
        if file is not None:
            yield f"wrote {file}"


def _cross(cross: Cross) -> Iterator[str]:
    """The rate of others and their kind, and the steps if there are some."""
    rate = cross.rate_bps
    if not cross.steps:
        most = f" (at most {rate.high * 1e-6:.4g} Mbit/s)" if math.isfinite(rate.high) else ""
        yield f"others  {rate.why}{most}"
        return
    yield f"others  {_told(rate, 1e-6, 'Mbit/s')}"
    yield f"        {cross.kind.name}{': ' if cross.kind.name else ''}{cross.kind.why}"
    if len(cross.steps) > 1:
        shown = [f"{step.rate * 1e-6:.4g} from {step.since_s:.3g} s" for step in cross.steps[:_MOST_STEPS]]
        more = f", and {len(cross.steps) - _MOST_STEPS} more" if len(cross.steps) > _MOST_STEPS else ""
        yield f"        in steps, Mbit/s: {', '.join(shown)}{more}"


def _told(found: Estimate, factor: float, unit: str) -> str:
    ends = (
        f"{found.low * factor:.4g} to {found.high * factor:.4g} {unit}"
        if math.isfinite(found.high)
        else f"at least {found.low * factor:.4g} {unit}"
    )
    if found.value is None:
        return f"{found.why} ({ends})"
    return f"{found.value * factor:.4g} {unit} ({ends}): {found.why}"


def _plain(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high if math.isfinite(found.high) else None, "why": found.why}
