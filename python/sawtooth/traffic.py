"""What the sources of a run sent, and the noise that they are made of, as arrays: a study that draws its traffic checks what it has drawn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sawtooth import _core
from sawtooth.errors import StudyError


def noise(hurst: float, points: int, seed: int = 1, name: str = "noise") -> NDArray[np.float64]:
    """A path of fractional Gaussian noise with mean 0, variance 1 and exact autocovariance (Davies and Harte 1987), shape (points,).

    Args:
        hurst: above 0 and below 1.
        points: at least one.
        seed: of the random numbers; the same gives the same path on any machine.
        name: of the stream of random numbers.

    Raises:
        ValueError: if there is no such path.

    """
    return np.frombuffer(_core.fractional_gaussian_noise(hurst, points, seed, name), dtype="<f8").copy()


def departures(scenario: Mapping[str, Any] | str, seed: int, flow: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When the packets of a flow of UDP leave, seconds after its start, and their sizes, bytes of IP packets: shapes (packets,).

    These are the packets that a run of `scenario` with `seed` sends, on any backend; nothing is simulated.

    Args:
        scenario: its tree, or the JSON text of it (as `Run.scenario` has it).
        seed: of the run.
        flow: its name.

    Raises:
        StudyError: if the scenario cannot be run.
        ValueError: if it has no such flow.

    """
    text = scenario if isinstance(scenario, str) else json.dumps(scenario)
    try:
        times, sizes = _core.departures(text, seed, flow)
    except _core.ScenarioError as error:
        raise StudyError(f"{error.message} (at `{error.path}`)", hint=error.hint) from None
    return np.frombuffer(times, dtype="<f8").copy(), np.frombuffer(sizes, dtype="<f8").copy()


def counts(times: NDArray[np.float64], period: float, duration: float) -> NDArray[np.float64]:
    """Packets in each whole period of `duration`, both seconds: shape (floor(duration / period),)."""
    periods = int(np.floor(duration / period + 1e-9))
    # A packet at the very beginning of a period belongs to it, whatever rounding says.
    numbers = np.floor(times / period + 1e-9).astype(np.int64)
    return np.bincount(numbers[numbers < periods], minlength=periods).astype(np.float64)
