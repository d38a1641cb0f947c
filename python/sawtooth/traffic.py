"""What the sources of a run sent, and the noise that they are made of, as arrays: a study that draws its traffic checks what it has drawn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sawtooth import _core, arguments
from sawtooth.errors import StudyError, wrong_type

_MOST = 1 << 28
"""Points of an array: 2 GiB."""


def noise(hurst: float, points: int, seed: int = 1, name: str = "noise") -> NDArray[np.float64]:
    """A path of fractional Gaussian noise with mean 0, variance 1 and exact autocovariance (Davies and Harte 1987), shape (points,).

    Args:
        hurst: above 0 and below 1.
        points: at least one.
        seed: of the random numbers; the same gives the same path on any machine.
        name: of the stream of random numbers.

    Raises:
        TypeError: if one of these is of another type.
        ValueError: if there is no such path.

    """
    parameter = arguments.number(hurst, "a Hurst parameter is a number above 0 and below 1")
    number = arguments.whole(points)
    if number is None or not 1 <= number <= _MOST:
        raise wrong_type(f"`points` is a whole number from 1 to {_MOST}", points)
    name = arguments.text(name, "`name` is a text")
    return np.frombuffer(_core.fractional_gaussian_noise(parameter, number, arguments.seed(seed), name), dtype="<f8").copy()


def departures(scenario: Mapping[str, Any] | str, seed: int, flow: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When the packets of a flow of UDP leave, seconds after its start, and their sizes, bytes of IP packets: shapes (packets,).

    These are the packets that a run of `scenario` with `seed` sends, on any backend; nothing is simulated.

    Args:
        scenario: its tree, or the JSON text of it (as `Run.scenario` has it).
        seed: of the run.
        flow: its name.

    Raises:
        StudyError: if the scenario cannot be run.
        TypeError: if one of these is of another type.
        ValueError: if it has no such flow.

    """
    if not isinstance(scenario, str | Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a scenario is a mapping, or the JSON text of one", scenario)
    flow = arguments.text(flow, "`flow` is the name of a flow")
    if isinstance(scenario, str):
        text = arguments.text(scenario, "a scenario is a mapping, or the JSON text of one")
    else:
        text = json.dumps(arguments.plain(scenario))
    try:
        times, sizes = _core.departures(text, arguments.seed(seed), flow)
    except _core.ScenarioError as error:
        raise StudyError(f"{error.message} (at `{error.path}`)", hint=error.hint) from None
    return np.frombuffer(times, dtype="<f8").copy(), np.frombuffer(sizes, dtype="<f8").copy()


def counts(times: NDArray[np.float64], period: float, duration: float) -> NDArray[np.float64]:
    """Packets in each whole period of `duration`, both seconds: shape (floor(duration / period),).

    Raises:
        TypeError: if these are no times.

    """
    length, whole = (
        arguments.number(value, f"`{name}` is a number of seconds") for name, value in (("period", period), ("duration", duration))
    )
    if not (length > 0 and 0 <= whole / length <= _MOST):
        raise wrong_type(f"`period` is above 0, and at most {_MOST} of them are in a `duration` of {whole:g}", period)
    what = "`times` is an array of seconds from 0 on"
    if not isinstance(times, np.ndarray) or times.ndim != 1 or times.dtype.kind not in "fiu":  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type(what, times)
    if not (np.isfinite(times).all() and (times >= 0).all()):
        raise wrong_type(what, times)
    periods = int(np.floor(whole / length + 1e-9))
    # A packet at the very beginning of a period belongs to it, whatever rounding says.
    numbers = np.floor(times / length + 1e-9).astype(np.int64)
    return np.bincount(numbers[numbers < periods], minlength=periods).astype(np.float64)
