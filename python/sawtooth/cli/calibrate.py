"""`sawtooth calibrate`: how exactly this machine makes links."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from sawtooth.backends.registry import BACKENDS, WITH_KERNELS
from sawtooth.cli.options import AsJson, alternatives


def calibrate(
    backends: Annotated[
        list[str] | None, typer.Option("--backend", metavar="B", help=f"{alternatives(WITH_KERNELS)}. May be repeated.", show_default="all")
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
        if name not in WITH_KERNELS:
            raise StudyError(f"there is no backend `{name}` to calibrate", hint=f"there are {', '.join(WITH_KERNELS)}")
    made: list[dict[str, Any]] = []
    for name in backends or WITH_KERNELS:
        for clock in BACKENDS[name].clocks:
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
