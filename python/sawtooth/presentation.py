"""What a study shows: its figures and findings, as the study file names them, and the references that they are held against.

They are read and checked when a study is planned, so that a misspelt name is found before anything runs, and drawn and decided by reports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sawtooth import analyses, reference_files, stopping
from sawtooth.figures import read as figure_reader
from sawtooth.figures.spec import FigureSpec
from sawtooth.findings import read as finding_reader
from sawtooth.findings.spec import FindingSpec
from sawtooth.questions import Reader
from sawtooth.references import Reference
from sawtooth.stopping import Stopping
from sawtooth.study import Study
from sawtooth.study.sweep import axis_names, samples


@dataclass(frozen=True)
class Presentation:
    """Figures, findings and references of a study, the rule that ends its replicates, and what is said before all verdicts."""

    figures: Sequence[FigureSpec] = field(default_factory=list[FigureSpec])
    findings: Sequence[FindingSpec] = field(default_factory=list[FindingSpec])
    references: Mapping[str, Reference] = field(default_factory=dict[str, Reference])
    stopping: Stopping | None = None
    caveats: Sequence[str] = ()


def presentation(study: Study, stored: Mapping[str, str] | None = None) -> Presentation:
    """What the study shows.

    Args:
        study: which.
        stored: the text of each reference's file, of results that have it; None to read the files.

    Raises:
        StudyError: with its place, for what is no name of the study or no measure.

    """
    every = samples(study)
    factors = axis_names(list(dict.fromkeys(path for cell in every for path in cell.factors)))
    unset = {name: any(cell.factors.get(path) is None for cell in every) for path, name in factors.items()}
    references = reference_files.read(study, stored, unset)
    reader = Reader(study, references)
    if stored is None:
        analyses.read(study)
    shown = Presentation(
        figure_reader.read(reader), finding_reader.read(reader), references, stopping.read(reader), analyses.caveats(study)
    )
    forest = next((figure for figure in shown.figures if figure.kind == "forest"), None)
    if forest is not None and not study.tree.get("findings"):
        raise reader.error(
            "a forest is of verdicts, and the study has no findings", f"{forest.path}.kind", "write [[findings]], or leave it out"
        )
    return shown
