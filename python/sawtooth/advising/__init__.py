"""Which congestion control and queue suit a study: a ranking of many, and verdicts on the best in runs that did not choose them."""

from __future__ import annotations

from sawtooth.advising.advice import Advice, advise, prepare, require_free
from sawtooth.advising.choices import Choice
from sawtooth.advising.experiment import Experiment, Rule, share_of
from sawtooth.advising.results import Judged, Pair, Ranked

__all__ = ["Advice", "Choice", "Experiment", "Judged", "Pair", "Ranked", "Rule", "advise", "prepare", "require_free", "share_of"]
