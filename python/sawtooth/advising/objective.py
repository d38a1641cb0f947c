"""What choices are ranked by. Each objective is a measure, and whether more of it is better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sawtooth import measures
from sawtooth.advising.setting import Setting
from sawtooth.errors import StudyError
from sawtooth.linting.setup import Flow
from sawtooth.study.written import text_of


@dataclass(frozen=True)
class Asked:
    """A measure as a figure or a finding asks for it.

    Attributes:
        metric: the measure.
        flows: how the flows of a block are taken together.
        of: the item; None where the measure has only one.

    """

    metric: str
    flows: str = "mean"
    of: str | None = None

    @property
    def keys(self) -> dict[str, str]:
        """Of a block of a study file."""
        return {"metric": self.metric, "flows": self.flows, **({"of": self.of} if self.of is not None else {})}


@dataclass(frozen=True)
class Objective:
    """What choices are ranked by.

    Attributes:
        name: as `--objective` has it.
        words: what it is.
        more: whether more of it is better.
        asked: its measure.

    """

    name: str
    words: str
    more: bool
    asked: Asked

    @property
    def sense(self) -> str:
        """What is better, in words."""
        return "more is better" if self.more else "less is better"


def goodput(setting: Setting) -> Asked:
    """What the advised flows carry together."""
    return _together([_carried(flow, setting) for flow in setting.flows], setting, "sum")


def delay(setting: Setting) -> Asked:
    """The 95th percentile of what packets wait at the bottleneck, of all that cross it."""
    return Asked("p95(waits.wait_ns)", of=f"{setting.label} forward")


def delay_beside(setting: Setting) -> str:
    """The same as a measure that stands beside one of flows."""
    return f"items.{text_of(f'{setting.label} forward')}.p95(waits.wait_ns)"


def _carried(flow: Flow, setting: Setting) -> str:
    return f"arrivals.delivered_bytes / {setting.duration_s:g} s" if "arrivals" in flow.tree else "goodput_bps"


def _round_trip(setting: Setting) -> Asked:
    _refuse_arrivals(setting, "rtt", "no round-trip time")
    return _together(["srtt_mean_ns" for _ in setting.flows], setting, "mean")


def _power(setting: Setting) -> Asked:
    _refuse_arrivals(setting, "power", "no round-trip time")
    rate, trip = (_together([column for _ in setting.flows], setting, "mean") for column in ("goodput_bps", "srtt_mean_ns"))
    return Asked(f"({rate.metric}) / ({trip.metric})", "mean", rate.of)


def _completion(setting: Setting) -> Asked:
    terms: list[str] = []
    for flow in setting.flows:
        if "arrivals" in flow.tree:
            terms.append("p95(arrivals.completion_ns)")
        elif flow.source["name"] == "request_response":
            terms.append("p95(exchanges.completion_ns)")
        elif flow.finite:
            terms.append("completion_ns")
        else:
            raise StudyError(
                f"`{flow.name}` does not end, so it has no completion time",
                hint="name the flows that do with --flow, or another --objective",
            )
    return _together(terms, setting, "mean")


def _fairness(setting: Setting) -> Asked:
    if setting.sharing < 2:
        raise StudyError("a single flow shares with nobody, so there is no fairness", hint="name another --objective")
    return Asked("jain")


def _together(columns: Sequence[str], setting: Setting, how: str) -> Asked:
    """One column of each block: of one block as it is, of several their sum or mean."""
    if len(columns) == 1:
        return Asked(columns[0], how, setting.names[0])
    total = " + ".join(_of(name, column) for name, column in zip(setting.names, columns, strict=True))
    return Asked(total if how == "sum" else f"({total}) / {len(columns)}", how)


def _of(name: str, column: str) -> str:
    item = f"items.{text_of(name)}."
    return f"({item}{column})" if "/" in column else f"{item}{column}"


def _refuse_arrivals(setting: Setting, name: str, lacks: str) -> None:
    for flow in setting.flows:
        if "arrivals" in flow.tree:
            raise StudyError(
                f"flows that arrive, such as `{flow.name}`, have {lacks}: they cannot be ranked by {name}",
                hint="--objective completion, goodput or delay can",
            )


_TABLE: dict[str, tuple[str, bool, Callable[[Setting], Asked]]] = {
    "power": ("goodput for each millisecond of round-trip time, of the average flow", True, _power),
    "goodput": ("goodput of all advised flows together", True, goodput),
    "delay": ("95th percentile of the wait at the bottleneck", False, delay),
    "rtt": ("mean smoothed round-trip time", False, _round_trip),
    "completion": ("completion time: of transfers the mean, of what arrives or is asked for the 95th percentile", False, _completion),
    "jain": ("Jain's index of the goodputs of all flows of TCP", True, _fairness),
}

NAMES = tuple(_TABLE)
"""The objectives that have names."""


def objective(setting: Setting, name: str | None, *, least: bool = False) -> Objective:
    """What choices are ranked by.

    Args:
        setting: of which study.
        name: one of `NAMES`, or any measure; by default what suits the traffic (`default`).
        least: whether less of such a measure is better.

    Raises:
        StudyError: if the flows have no such thing, or it is no measure.

    """
    chosen = default(setting) if name is None else name
    if chosen in _TABLE:
        words, more, asked = _TABLE[chosen]
        if least:
            raise StudyError(f"--least is for a measure of yours: of {chosen} it is known what is better", hint="leave out --least")
        return Objective(chosen, words, more, asked(setting))
    return Objective(chosen, f"`{chosen}`", not least, _own(setting, chosen))


def default(setting: Setting) -> str:
    """By the traffic of the first block: completion of what ends, power of what sends as much as it can, else what its packets wait."""
    first = setting.flows[0]
    if first.finite or "arrivals" in first.tree or first.source["name"] == "request_response":
        return (
            "completion"
            if all(each.finite or "arrivals" in each.tree or each.source["name"] == "request_response" for each in setting.flows)
            else "delay"
        )
    return "power" if all(each.endless for each in setting.flows) else "delay"


def _own(setting: Setting, name: str) -> Asked:
    """A measure of the user's."""
    try:
        found = measures.measure(name)
    except measures.ExpressionError as error:
        raise StudyError(
            f"`{name}` is neither an objective nor a measure: {error.message}", hint=error.hint or f"objectives are {', '.join(NAMES)}"
        ) from None
    if found.kind == "link":
        return Asked(name, of=f"{setting.label} forward")
    if found.kind == "flow" and not name.startswith("items.") and len(setting.flows) > 1:
        raise StudyError(
            f"`{name}` is of one block of flows, and advised are {', '.join(setting.names)}", hint="name one of them with --flow"
        )
    return Asked(name, of=setting.names[0] if found.kind == "flow" else None)
