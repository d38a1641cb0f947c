"""`sawtooth calibrate`: how exactly this machine makes links."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from sawtooth.cli.options import AsJson


def calibrate(
    backends: Annotated[
        list[str] | None, typer.Option("--backend", metavar="B", help="uml, qemu or netns. May be repeated.", show_default="all")
    ] = None,
    shaper: Annotated[str, typer.Option(metavar="simulator|kernel", help="What makes the links.")] = "simulator",
    as_json: AsJson = False,
) -> None:
    """Measure how exactly this machine makes links, and the fastest it reaches; runs with faster ones are marked from then on.

    Example: sawtooth calibrate --backend netns
    """
    from sawtooth import calibration
    from sawtooth.cli.output import print_json
    from sawtooth.errors import BackendUnavailable, StudyError

    if shaper not in calibration.SHAPERS:
        raise StudyError(f"there is no shaper `{shaper}`", hint=f"there are {', '.join(calibration.SHAPERS)}")
    for name in backends or ():
        if name not in calibration.LAUNCHERS:
            raise StudyError(f"there is no backend `{name}` to calibrate", hint=f"there are {', '.join(calibration.LAUNCHERS)}")
    made: list[dict[str, Any]] = []
    for name in backends or calibration.LAUNCHERS:
        for clock in ("real",) if name == "netns" else ("virtual", "real"):
            try:
                one = calibration.measure(name, shaper, clock=clock)
            except BackendUnavailable as missing:
                if backends:
                    raise
                print(f"{name}: {missing.message}", file=sys.stderr)
                break
            made.append(one.to_json())
            for what, why in one.errors.items():
                print(f"{name}, {clock} time: {what} was not measured: {why}", file=sys.stderr)
            if not as_json:
                print(f"{name}, {clock} time, kernel {one.release}: TCP reaches {one.reached_bps / 1e6:,.0f} Mbit/s")
    if as_json:
        print_json(made)
    if any(one["errors"] for one in made):
        raise typer.Exit(1)
