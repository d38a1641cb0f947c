"""Reports: one self-contained page, figures as SVG and PNG, tables as CSV.

A study names its kind of report; `KINDS` is the table of them. The other names are what a study's own analysis makes its sections of.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from sawtooth.errors import DatasetError, wrong_type
from sawtooth.findings.verdict import Claimed, Evidence
from sawtooth.report.document import Grid, Plot, Section
from sawtooth.report.told import fact, held, rising
from sawtooth.results.dataset import Dataset

if TYPE_CHECKING:
    from sawtooth.plots.aside import Aside
    from sawtooth.report.document import Report

# Module and function of each kind; imported when used, because plotting takes a second to load.
KINDS = {
    "generic": ("generic", "build"),
    "live": ("live", "build"),
}

__all__ = ["KINDS", "Claimed", "Evidence", "Grid", "Plot", "Section", "fact", "held", "report", "rising"]


def report(dataset: Dataset, *, figures: bool = True, run_analysis: bool = False, aside: Aside | None = None) -> Report:
    """The report of a dataset, of the kind its study names.

    Args:
        dataset: of which.
        figures: whether it has any; without them nothing that draws is loaded. Kinds of report that shipped studies have always draw.
        run_analysis: whether the study's own analysis runs, which is code, if it is not one that comes along.
        aside: draws figures meanwhile; it is left after the report is written.

    Raises:
        DatasetError: if there is nothing to report yet, or no such kind of report.

    """
    if not isinstance(dataset, Dataset):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a report is made of a Dataset; `Dataset.open(directory)` opens one", dataset)
    kind = str(dataset.manifest.get("report", "generic"))
    if kind not in KINDS:
        raise DatasetError(f"there is no report called `{kind}`", f"there are {', '.join(KINDS)}")
    if dataset.status().filter(status="ok").is_empty():
        raise DatasetError(f"{dataset.directory} holds no finished run yet", "`sawtooth run` with the same --out makes them")
    module, function = KINDS[kind]
    build = getattr(import_module(f"sawtooth.report.{module}"), function)
    return cast("Report", build(dataset) if kind != "generic" else build(dataset, drawn=figures, run_analysis=run_analysis, aside=aside))
