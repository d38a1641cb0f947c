"""How far the simulator was from a kernel in scenarios like those of a study: a map of what was compared, and what is near."""

from sawtooth.fidelity.answer import Answer, answer
from sawtooth.fidelity.compared import MEASURES, Compared, compared
from sawtooth.fidelity.nearest import REACH, RULE, K, Neighbour, distance, nearest
from sawtooth.fidelity.situation import Asked, Situation, asked

__all__ = [
    "MEASURES", "REACH", "RULE", "Answer", "Asked", "Compared", "K", "Neighbour", "Situation", "answer", "asked", "compared", "distance",
    "nearest",
]  # fmt: skip
