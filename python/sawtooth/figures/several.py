"""Several measures of one figure: a list of them, a table of names and measures, or percentiles of what rows have a value of."""

from __future__ import annotations

from typing import Any, cast

from sawtooth import measures
from sawtooth.errors import StudyError
from sawtooth.figures.spec import Kind
from sawtooth.measures import ExpressionError, Measure
from sawtooth.questions import Reader
from sawtooth.study.assign import Tree
from sawtooth.study.keys import Key

PERCENTILES = Key("percentiles", "list of numbers from 1 to below 100", "`[50, 95, 99]`", "which percentiles of `metric` within each run")
_USUAL = (50, 95, 99)


def several(reader: Reader, tree: Tree, path: str, kind: Kind) -> dict[str, Measure]:
    """The measures of a figure by their names; empty if it is one measure, without a name.

    Raises:
        StudyError: if they are no measures, or have no unit in common.

    """
    if kind.percentiles:
        return _percentiles(reader, tree, path)
    given = tree.get("metric")
    if not kind.several or not isinstance(given, list | dict):
        return {}
    place = f"{path}.metric"
    if not given:
        raise reader.error("`metric` has no measure", place, 'such as metric = ["limited_cwnd_ns", "limited_rwnd_ns"]')
    found: dict[str, Measure] = {}
    if isinstance(given, list):
        entries = cast(list[Any], given)
        read = [reader.measure({f"metric[{at}]": text}, path, f"metric[{at}]") for at, text in enumerate(entries)]
        words = [measure.words for measure in read]
        found = {(measure.words if words.count(measure.words) == 1 else measure.name): measure for measure in read}
        if len(found) < len(read):
            raise reader.error("a measure stands in `metric` twice", place, "once is enough")
    else:
        for name, text in cast(dict[str, Any], given).items():
            found[name] = reader.measure({name: text}, place, name)
    _require_one_unit(reader, found, place)
    return found


def _require_one_unit(reader: Reader, found: dict[str, Measure], place: str) -> None:
    """Refuses measures that cannot be held against each other."""
    (first, unit), *rest = [(name, measures.unit(measure)) for name, measure in found.items()]
    for name, other in rest:
        if other.powers != unit.powers:
            said = f"`{first}` is in {unit.natural.name or 'plain numbers'} and `{name}` in {other.natural.name or 'plain numbers'}"
            raise reader.error(f"the measures of a figure have one unit: {said}", place, "make a figure of each")


def _percentiles(reader: Reader, tree: Tree, path: str) -> dict[str, Measure]:
    """Percentiles of what rows have a value of."""
    given = tree.get("percentiles", list(_USUAL))
    place = f"{path}.percentiles"
    if not isinstance(given, list) or not given or not all(_is_percentile(each) for each in cast(list[Any], given)):
        raise reader.error(
            "`percentiles` is a list of numbers in per cent, from 1 to below 100", place, "such as percentiles = [50, 95, 99]"
        )
    if any(each < 1 for each in cast(list[float], given)):
        raise reader.error("percentiles are in per cent: 50, 95", place, "such as percentiles = [50, 95, 99]")
    # What is no expression is told as it stands, not as what the percentiles make of it.
    reader.expression(tree, path)
    found: dict[str, Measure] = {}
    for number in sorted(set(cast(list[float], given))):
        whole, _, rest = f"{number:g}".partition(".")
        function = f"p{int(whole):02d}{rest}"
        text = f"{function}({reader.text(tree, 'metric', path)})"
        try:
            found["median" if number == 50 else f"{number:g}th percentile"] = measures.measure(text, reader.context)
        except ExpressionError as error:
            start, end = (each - len(function) - 1 for each in error.span)
            length = len(text) - len(function) - 2
            if start < 0:
                # It is the function that is not there, and no mistake of what it is of.
                raise StudyError(error.message, reader.study.document.place(place), error.hint) from None
            within = (start, max(min(end, length), start + 1))
            raise StudyError(error.message, reader.study.document.place(f"{path}.metric", within=within), error.hint) from None
    return found


def _is_percentile(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and 0 < given < 100
