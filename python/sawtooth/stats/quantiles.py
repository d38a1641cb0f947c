"""Quantiles and tails of the distributions that intervals are made of. SciPy is loaded by the first that is asked for."""

from __future__ import annotations

from typing import Any, cast


def t_quantile(p: float, freedom: float) -> float:
    """Student's t: what it stays below with probability p; of infinite freedom, the normal distribution."""
    from scipy import special

    return float(cast(Any, special.stdtrit(freedom, p)))


def t_tail(value: float, freedom: float) -> float:
    """The probability that Student's t is above `value`."""
    from scipy import special

    return float(cast(Any, special.stdtr(freedom, -value)))


def normal_quantile(p: float) -> float:
    """What a standard normal variable stays below with probability p."""
    from scipy import special

    return float(cast(Any, special.ndtri(p)))


def f_tail(value: float, first: float, second: float) -> float:
    """The probability that F with these degrees of freedom is above `value`."""
    from scipy import special

    return float(cast(Any, special.fdtrc(first, second, value)))
