"""The keys of a study file outside its scenario: what the reader accepts, and so what docs/reference/study.md tells.

A key that is not here is refused, so a new one begins here. Keys of the scenario are the core's: `sawtooth list key` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sawtooth.backends.registry import NAMES


@dataclass(frozen=True)
class Key:
    """A key of a table: its name, what its value is in words, the default as the file would have it, and what it means."""

    name: str
    kind: str
    default: str
    summary: str


@dataclass(frozen=True)
class Draw:
    """A distribution of draws: keys that it needs, and others that it may have."""

    summary: str
    needed: tuple[Key, ...]
    optional: tuple[Key, ...] = ()


def names(keys: Iterable[Key]) -> tuple[str, ...]:
    """The names of some keys, in order."""
    return tuple(key.name for key in keys)


def words(known: Iterable[str]) -> str:
    """Words of which one is to be written, as a reference writes them."""
    return ", ".join(f'`"{word}"`' for word in known)


ORDERS = ("cells", "blocks")

STUDY = (
    Key("name", "text", "the file's name", "names the results directory"),
    Key("question", "text", "", "heads the report"),
    Key(
        "backend", words(NAMES), '`"sim"`', "what runs the scenario: [a backend](#backends)"
    ),
    Key(
        "repeat", "whole number from 1, or [table](#replicates-by-a-rule)", "`1`",
        "replicates of every cell and arm: how many, or a rule that says when they suffice",
    ),
    Key("seed", "whole number from 0", "`1`", "of all random numbers"),
    Key(
        "order", words(ORDERS), '`"cells"`',
        "runs follow each other cell by cell, or replicate by replicate with the cells of each in a random order, so that what drifts meanwhile falls on all cells alike",
    ),
    Key("limits", "table of names and numbers", "", "[limits](limits.md) that this study means to exceed, by name"),
    Key("report", "[kind of report](#kinds-of-reports)", '`"generic"`', "what `sawtooth report` writes"),
    Key("vars", "table of names and numbers, quantities, expressions, or lists of them", "", "variables for expressions in the scenario; of a list, `NAME[1]` is the first"),
    Key("draws", "table of names and [draws](#draws)", "", "one random value per cell and replicate, a variable like the others"),
    Key("scenario", "table", "needed", "[the scenario](scenario.md)"),
    Key("sweep", "table of paths and lists, or list of blocks with `grid`, `grids`, `zip` or `cases`", "", "factors; see [the guide](../guides/sweeps.md)"),
    Key(
        "arms", "table of names and tables of paths and values; also `backends`, a list, and `repeat`, a whole number from 1", "all backends, and the study's `repeat`",
        "alternatives, compared in pairs; what can be run on some [backends](../guides/sweeps.md) only is left out on others, and one may have [replicates of its own](../guides/sweeps.md)",
    ),
    Key("short", "table of paths and values or lists", "", "the form that `--short` takes"),
    Key("references", "list of [references](#references)", "", "published or measured tables that measures, figures and findings may name"),
    Key("figures", "list of [figures](#figures)", "", "what the report shows first; see [the guide](../guides/figures-and-findings.md)"),
    Key("caveats", "list of texts", "", "what is to be known before any verdict, such as what was chosen with the outcome in sight; the report begins with it"),
    Key("analysis", "name of a file", "none", "Python beside the study that adds sections to its report; see [the guide](../guides/figures-and-findings.md#what-the-vocabulary-cannot-say)"),
    Key("lint", "table with `ignore`: a table of rules and why, or a list of rules", "none", "[rules](lint.md) that the study breaks on purpose, such as `ignore = { SW402 = \"small windows are the question\" }`"),
    Key("findings", "list of [findings](#findings)", "", "claims that the report answers with verdicts"),
)  # fmt: skip

REPEAT = (
    Key("until", "share", "needed", 'how far the ends of the interval may be from the mean, as a share of it, such as `"5 %"`'),
    Key("of", "[measure](measures.md)", "needed", "of whose mean; one number per run, such as `goodput_bps`"),
    Key("confidence", "share", '`"95 %"`', "of the interval"),
    Key("min", "whole number from 2", "`5`", "replicates before the first look"),
    Key("max", "whole number from 2", "`200`", "replicates after which a cell gets no more in any case"),
    Key("window", "list of two times", "the whole run", "the part of a run that counts"),
    Key("warm_up", 'time, or `"mser-5"`', "none", "what is left out at a run's beginning"),
)

_LOW = Key("low", "quantity or expression", "needed", "the least value")
_HIGH = Key("high", "quantity or expression", "needed", "what all values are below")
_COUNT = Key("count", "whole number from 1", "one value", "makes a list of that many independent values: `NAME[1]`, `NAME[2]` ...")

DRAWS = {
    "uniform_integer": Draw(
        "whole multiples of `unit` in [low, high)",
        (_LOW, _HIGH, Key("unit", "unit", "needed", "what the value is a multiple of")),
        (_COUNT,),
    ),
    "uniform": Draw("any value in [low, high)", (_LOW, _HIGH), (_COUNT,)),
    "table": Draw(
        "a value from a CSV file",
        (
            Key("file", "name of a file", "needed", "the CSV file, relative to the study"),
            Key("row", "name of a column", "needed", "the column that holds the cell's number"),
            Key("column", "name of a column", "needed", "where the value is; `{replicate}` is replaced"),
            Key("unit", "unit", "needed", "of the values"),
        ),
    ),
}
