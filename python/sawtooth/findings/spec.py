"""What a finding is: the kinds are rows of a table, and a claim of a study is one of them with a measure and a choice of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sawtooth.findings.verdict import Evidence, Wanted
from sawtooth.measures import Measure, View
from sawtooth.questions import Choice, Reader
from sawtooth.stats import Centre
from sawtooth.study.keys import Key

if TYPE_CHECKING:
    from sawtooth.findings.data import Data

COMMON = (
    Key("claim", "text", "needed", "what the study finds, or does not"),
    Key("name", "text", "none", "what `all` and `any` of other findings call it"),
    Key("is", "[kind](#kinds-of-findings)", "needed", "what is claimed of the measure"),
    Key("metric", "[measure](measures.md)", "needed", "what it is about"),
    Key("flows", '`"mean"`, `"sum"`, `"max"`, `"min"`, `"each"`', '`"mean"`', "how the flows of a block are taken together within a run"),
    Key("of", "item", "needed if there are several", "a flow, the flows of a block by its name, or a direction of a link"),
    Key("arm", "arm", "each by itself", "of which alternative"),
    Key("where", "table of factors and levels, or columns and values", "all", "which cells; of a column which rows; of a factor also `\"<= 8 kB\"`, or another factor: `\"<= queue\"`"),
    Key("window", "list of two times", "the whole run", "the part of each run that counts, of measures of samples and events"),
    Key("warm_up", "time, share such as `\"10 %\"` of samples, or `\"mser-5\"`", "none", "the beginning that is left out"),
    Key("width", "time", "`\"1 s\"`", "of the windows in which `series.throughput_bps` is taken"),
    Key("statistic", '`"mean"`, `"median"`, `"geometric mean"`', '`"mean"`', "what of replicates is compared"),
    Key("unit", "unit", "what suits the values", "in which its numbers are told, such as `kB/s`"),
    Key("caveat", "text", "none", "what is to be known wherever its verdict is shown"),
    Key("refuted_by", "text", "none", "what would have made it `no`, in words; it stands beside its verdict"),
    Key(
        "assumptions", "factor or list of factors", "none",
        "what is assumed: the verdict is that where these have the levels that `where` gives, and how many other combinations of their levels say what stands beside it",
    ),
    Key("cells", '`"all"`, `"any"`, `"at least N"`, `"at least N %"`, `"on average"`', '`"all"`', "in how many of the cells it must hold, or whether of their mean"),
)  # fmt: skip
THAN = (
    Key("of", "item", "as above", "the item of the other side"),
    Key("arm", "arm", "as above", "the alternative of the other side"),
    Key("where", "table of factors and levels", "as above", "the cells of the other side; of several levels each by itself"),
    Key("times", "number above 0", "`1`", "what the other side is multiplied by"),
)  # fmt: skip


@dataclass(frozen=True)
class FindingSpec:
    """A claim.

    Attributes:
        claim: in words.
        name: that others call it by; empty for none.
        kind: which.
        measure: what it is about; None of one that is made of others.
        view: how rows become values.
        choice: which values.
        statistic: of replicates.
        wanted: in how many cells it must hold.
        options: what else the kind has read.
        path: where it is in the study.
        unit: that its numbers are told in, and what they are divided by for that; None for one that suits them.
        caveat: what stands beside its verdict; empty for nothing.
        refuted_by: what would have made it `no`; empty if that is not told.
        assumptions: factors of which a level is assumed.

    """

    claim: str
    name: str
    kind: str
    measure: Measure | None = None
    view: View = field(default_factory=View)
    choice: Choice = field(default_factory=Choice)
    statistic: Centre = "mean"
    wanted: Wanted = field(default_factory=Wanted)
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    path: str = ""
    unit: tuple[float, str] | None = None
    caveat: str = ""
    refuted_by: str = ""
    assumptions: tuple[str, ...] = ()

    @property
    def choices(self) -> list[Choice]:
        """All choices of values that it speaks of."""
        other = self.options.get("other")
        return [self.choice, *([other] if isinstance(other, Choice) else [])]


def no_options(_reader: Reader, _tree: Mapping[str, Any], _path: str, _spec: FindingSpec) -> dict[str, Any]:
    """Of a kind without keys of its own."""
    return {}


def nothing_to_say(_data: Data) -> str:
    """Of a kind whose evidence says all."""
    return ""


@dataclass(frozen=True)
class Kind:
    """A kind of finding.

    Attributes:
        words: what `is` says of it.
        summary: what is claimed.
        weigh: the evidence of each cell.
        keys: keys that it has besides the common ones.
        read: reads them.
        spans: names of options that hold a dimension along which cells are taken together: it is no dimension of cells.
        measured: whether it is about a measure.
        averages: whether it can be claimed of the mean over cells.
        bounds: whether it weighs the least and the most that a value may be.
        remark: what is to be said of the evidence as a whole, if anything.

    """

    words: Sequence[str]
    summary: str
    weigh: Callable[[Data], list[Evidence]]
    keys: Sequence[Key] = ()
    read: Callable[[Reader, Mapping[str, Any], str, FindingSpec], dict[str, Any]] = no_options
    spans: Sequence[str] = ()
    measured: bool = True
    averages: bool = False
    bounds: bool = False
    remark: Callable[[Data], str] = nothing_to_say
