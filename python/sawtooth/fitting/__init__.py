"""The scenario behind a capture: what its bottleneck was, and which congestion control its sender had."""

from __future__ import annotations

from sawtooth.fitting.again import Again
from sawtooth.fitting.control import CONTROLS, Control
from sawtooth.fitting.cross import Cross
from sawtooth.fitting.drawn import figure
from sawtooth.fitting.path import Estimate, Path
from sawtooth.fitting.scenario import MARK, CannotFit, Fit, fit, title_of
from sawtooth.fitting.steps import Kind, Step

__all__ = [
    "CONTROLS",
    "MARK",
    "Again",
    "CannotFit",
    "Control",
    "Cross",
    "Estimate",
    "Fit",
    "Kind",
    "Path",
    "Step",
    "figure",
    "fit",
    "title_of",
]
