"""`dipping` and `smooth`: whether a curve along a factor has a dip, a level at which it is below a `share` of what it is before and behind.

A curve that rises, falls, or stays has none. Which levels are looked at the data decide, so intervals of levels are those of all of them together
(Bonferroni): a dip is shown where the upper end is below the share of a lower end at an earlier and at a later level, and
that there is none where no lower end is below the share of such upper ends. Against another curve `below` and `at least` hold it, level by level.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from sawtooth import stats
from sawtooth.findings.cells import Cell
from sawtooth.findings.data import Data
from sawtooth.findings.spec import FindingSpec, Kind
from sawtooth.findings.verdict import Evidence
from sawtooth.questions import Reader
from sawtooth.recognise import written
from sawtooth.scales import number
from sawtooth.stats import Interval, Vector
from sawtooth.stats.dips import surface
from sawtooth.study.keys import Key

ALONG = Key("along", "factor", "needed", "along which the curve runs, in the order of its levels")
SHARE = Key("share", 'share such as `"50 %"`', "needed", "below which part of what it is before and behind it is a dip")


def read(reader: Reader, tree: Mapping[str, Any], path: str, _spec: FindingSpec) -> dict[str, Any]:
    """The factor and the share."""
    given = dict(tree)
    along = reader.one_of(given, "along", path, list(reader.levels), None)
    if along in reader.levels and len(reader.levels[along]) < 3:
        raise reader.error(f"`{along}` has fewer than 3 levels", f"{path}.along", "a dip lies between two others")
    if "share" not in tree:
        raise reader.error(f"`{tree['is']}` needs a share", path, 'such as share = "50 %"')
    share = reader.share(tree["share"], f"{path}.share", "share")
    if share >= 1:
        raise reader.error("a dip is below its surroundings", f"{path}.share", 'a share below 100 %, such as share = "50 %"')
    return {"along": along, "share": share, "dipping": tree["is"] == "dipping"}


def weigh(data: Data) -> list[Evidence]:
    """Of each cell of the other factors, whether its curve dips."""
    return [_evidence(cell, data) if cell.values.height else cell.untold() for cell in data.groups()]


def _evidence(cell: Cell, data: Data) -> Evidence:
    along, share, dipping = str(data.spec.options["along"]), float(data.spec.options["share"]), bool(data.spec.options["dipping"])
    groups = list(cell.values.sort("cell", maintain_order=True).group_by(along, maintain_order=True))
    names = [written(str(key[0])) for key, _ in groups]
    if len(groups) < 3:
        return cell.untold(f"the runs have {len(groups)} levels of `{along}`: a dip lies between two others")
    bounds = [(group["low"].to_numpy(), group["high"].to_numpy()) for _, group in groups]

    @functools.cache
    def ends(level: float) -> tuple[Vector, Vector]:
        each = 1 - (1 - level) / len(groups)
        found = [stats.centre_between(*pair, data.spec.statistic, each) for pair in bounds]
        return np.array([least.low for least, _ in found]), np.array([most.high for _, most in found])

    def dips(level: float) -> bool:
        low, high = ends(level)
        return bool(np.any(high < share * surface(low)))

    def none(level: float) -> bool:
        low, high = ends(level)
        return bool(np.all(low >= share * surface(high)))

    middle = np.array([stats.centre_between(*pair, data.spec.statistic)[0].estimate for pair in bounds])
    around = surface(middle)
    part = np.divide(middle, around, out=np.ones_like(middle), where=around > 0)
    at, below = int(np.argmin(part)), int(np.sum(part < share))
    words = f"{below} of {len(groups)} levels of {along} are below {number(100 * share)} % of what is around them; least {number(100 * float(part[at]))} % at {names[at]}"
    limits = (0.0, share) if dipping else (share, np.inf)
    shown, denied = (dips, none) if dipping else (none, dips)
    return Evidence(cell.name, shown, denied, words, _interval(ends, part, at), limits, quantity="share of what is around it")


def _interval(ends: Any, part: Vector, at: int) -> Interval:
    """Of the deepest place, the least and the most that its share of what is around it may be."""
    low, high = ends(0.95)
    least, most, kind = surface(low)[at], surface(high)[at], "at 95 % for all levels together"
    if not (np.isfinite(low).all() and np.isfinite(high).all() and least > 0):
        return stats.unbounded(float(part[at]), part.size, "an interval of a level has no end")
    return Interval(float(part[at]), float(low[at] / most), float(high[at] / least), part.size, kind)


KIND = Kind(
    ("dipping", "smooth"), "that a curve along a factor has, or has not, a level far below what it is before and behind", weigh, (ALONG, SHARE), read,
    spans=("along",),
)  # fmt: skip
