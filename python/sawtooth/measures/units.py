"""Units of measures: what they are made of, so that an expression cannot add a time to a rate and its result is named.

A unit is seconds, bits and packets to some powers, times a scale: a nanosecond is 1e-9 s, a byte 8 bit. Values stay in the unit that their column
has until two of them meet, so that a column alone is read bit for bit as it was stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from sawtooth import _core

Powers = tuple[int, int, int]
"""Of seconds, bits and packets."""


@dataclass(frozen=True)
class Unit:
    """What one of it is: `scale` times seconds, bits and packets to their powers."""

    powers: Powers = (0, 0, 0)
    scale: float = 1.0

    def __mul__(self, other: Unit) -> Unit:
        first, second, third = (a + b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit((first, second, third), self.scale * other.scale)

    def __truediv__(self, other: Unit) -> Unit:
        first, second, third = (a - b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit((first, second, third), self.scale / other.scale)

    @property
    def plain(self) -> bool:
        """Whether it is that of a bare number."""
        return self.powers == PLAIN.powers

    @property
    def natural(self) -> Unit:
        """The unit in which values of its kind are kept: that of the columns."""
        return _NATURAL.get(self.powers, (Unit(self.powers), ""))[0]

    @property
    def name(self) -> str:
        """What its natural unit is called, in a form that can follow a number; empty for bare numbers."""
        if self.powers in _NATURAL:
            return _NATURAL[self.powers][1]
        return _product(self.powers)

    def factor(self, to: Unit) -> float:
        """What a value in this unit is multiplied by to be in another of its kind."""
        return self.scale / to.scale


PLAIN = Unit()
TIME = Unit((1, 0, 0), 1e-9)
RATE = Unit((-1, 1, 0))
DATA = Unit((0, 1, 0), 8.0)
PACKETS = Unit((0, 0, 1))
POWER = Unit((-2, 1, 0), 1e3)
"""A rate for each millisecond of a time: the power of a network (Giessler, Haenle, Koenig and Pade, Free Buffer Allocation, Computer Networks 1978)."""
_NATURAL: dict[Powers, tuple[Unit, str]] = {
    unit.powers: (unit, name)
    for unit, name in (
        (PLAIN, ""),
        (TIME, "ns"),
        (RATE, "bit/s"),
        (POWER, "bit/s per ms"),
        (DATA, "B"),
        (PACKETS, "packets"),
        (Unit((-1, 0, 0)), "1/s"),
    )
}
_OF_COLUMNS = {
    "": PLAIN,
    "ns": TIME,
    "bit/s": RATE,
    "B": DATA,
    "packet": PACKETS,
    "packets": PACKETS,
    "1/s": Unit((-1, 0, 0)),
    "s": Unit((1, 0, 0)),
}
_OF_QUANTITIES = {"number": PLAIN, "time": Unit((1, 0, 0)), "rate": RATE, "bytes": DATA, "packets": PACKETS}


def of_column(unit: str) -> Unit:
    """The unit that a column of the schema has."""
    return _OF_COLUMNS[unit]


def of_quantity(text: str) -> tuple[float, Unit]:
    """A number with a unit as study files write it, such as `15 ms`, or one unit per another, such as `3 packets/s`: its value and unit.

    Raises:
        _core.ScenarioError: if it is none.

    """
    try:
        return _of_one(text)
    except _core.ScenarioError:
        above, sign, below = text.partition("/")
        if not sign:
            raise
        try:
            (value, first), (per, second) = _of_one(above), _of_one(f"1 {below}")
        except _core.ScenarioError:
            pass
        else:
            return value / per, first / second
        raise


def _of_one(text: str) -> tuple[float, Unit]:
    value, kind = _core.evaluate(text, {})
    if kind not in _OF_QUANTITIES:
        raise _core.ScenarioError(f"a measure has no {kind}")
    return value, _OF_QUANTITIES[kind]


def _product(powers: Powers) -> str:
    """Such as `packets/s` or `bit s`."""

    def side(sign: int) -> list[str]:
        names = zip(("s", "bit", "packets"), powers, strict=True)
        return [name if power * sign == 1 else f"{name}^{power * sign}" for name, power in names if power * sign > 0]

    above, below = " ".join(side(1)) or "1", " ".join(side(-1))
    return f"{above}/{below}" if below else above
