"""The scenario behind a capture: what its bottleneck was, and which congestion control its sender had."""

from __future__ import annotations

from sawtooth.fitting.control import CONTROLS, Control
from sawtooth.fitting.drawn import figure
from sawtooth.fitting.path import Estimate, Path
from sawtooth.fitting.scenario import CannotFit, Fit, fit

__all__ = ["CONTROLS", "CannotFit", "Control", "Estimate", "Fit", "Path", "figure", "fit"]
