"""What Python asks of results: a measure of every run, a figure, a finding, a comparison; as study files and the command line ask for them.

What is asked is written as the block of a study file that would say the same, and read by the same readers: a mistake has its place in that text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sawtooth import _core, arguments
from sawtooth.errors import DatasetError, Place, StudyError
from sawtooth.hints import did_you_mean
from sawtooth.lines import lines
from sawtooth.results import dataset as results
from sawtooth.spoken import in_python
from sawtooth.study.assign import Tree
from sawtooth.study.document import Document
from sawtooth.study.written import written

if TYPE_CHECKING:
    import polars as pl

    from sawtooth.figures.spec import FigureSpec
    from sawtooth.measures import Measure, Samples
    from sawtooth.questions import Reader
    from sawtooth.references import Reference
    from sawtooth.report.answers import Answers
    from sawtooth.report.compared import Compared
    from sawtooth.report.document import Plot, Verdict

Found = TypeVar("Found")


class Dataset(results.Dataset):
    """A results directory, opened; `measure`, `figure`, `finding` and `compare` ask something of its runs."""

    @in_python()
    def __init__(self, directory: str | Path) -> None:
        super().__init__(directory)

    @classmethod
    def of(cls, dataset: results.Dataset) -> Dataset:
        """The same results, as what is asked in Python is asked of."""
        made = cls.__new__(cls)
        vars(made).update(vars(dataset))
        return made

    @in_python()
    def measure(
        self,
        metric: str,
        *,
        flows: str | None = None,
        of: str | Sequence[str] | None = None,
        arm: str | Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        window: Sequence[str] | None = None,
        warm_up: str | None = None,
        width: str | None = None,
        by: str | Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """A measure of every finished run.

        Args:
            metric: as a study file has it: a column such as `goodput_bps` or `links.dropped_packets`, or an expression, such as `p95(completion_ns)`.
            flows: how the flows of a block are taken together within a run: `mean` (if nothing is said), `sum`, `max`, `min`, or `each` by itself.
            of: these items only: flows, blocks of flows by their name, directions of links.
            arm: these arms only.
            where: levels of factors: which cells; values of columns of the measure's tables: which rows, also as `"< 100 kB"`.
            window: two times from the run's start, such as `["1 s", "5 s"]`: the part of each run that counts.
            warm_up: the time before which nothing counts, of samples also a share such as `10 %`, or `mser-5`, which finds it in each run.
            width: of the windows in which `series.throughput_bps` is taken, such as `100 ms`.
            by: columns that tell values apart besides run and item, such as `link` of `link_flows.dropped_packets`.

        Returns:
            One row per run and item: run, cell, factors, arm, replicate, seed, item, `by`, low, high, value. low and high are in the measure's unit,
            null where the run does not tell it; they differ where a run ended before the value was there, and value is null then, too.

        Raises:
            StudyError: with its place in what is asked, for what is no measure, arm, factor or column.
            DatasetError: if these results have not what it needs.

        """
        from sawtooth import reference_files
        from sawtooth.figures.read import telling
        from sawtooth.measures import Asked, Evaluator, View, factors
        from sawtooth.questions import require_items

        keys = {
            "metric": metric,
            "flows": flows,
            "of": of,
            "arm": arm,
            "where": where,
            "window": window,
            "warm_up": warm_up,
            "width": width,
        }
        # No column is none: nothing is told apart by it.
        keys["by"] = None if isinstance(by, list | tuple) and not by else by
        _require_planned(self)
        references = reference_files.of_results(self, factors(self))
        reader, tree = _reader(self, "measure", keys, references)
        path = "measure"
        measure = reader.measure(tree, path)
        _require_recorded(self, reader, [measure], path)
        columns = reader.names(tree, "by", path, "a column, or a list of columns")
        there = telling([measure])
        for at, column in enumerate(columns):
            if column not in there:
                place = f"{path}.by" if isinstance(tree["by"], str) else f"{path}.by[{at}]"
                hint = did_you_mean(column, there) if there else f"no column tells the rows of `{measure.name}` apart"
                raise reader.error(f"`by` cannot be `{column}`", place, hint)
        choice = reader.choice(tree, path, [measure])
        view = View(reader.how(tree, path), reader.rows(tree, path, [measure]), tuple(columns))
        found = Evaluator(self, references).observe(Asked(measure, view))
        require_items(found, choice.of, measure.name)
        return choice.select(found)

    @in_python()
    def figure(self, **keys: Any) -> Plot:
        """A figure.

        Args:
            keys: those of a `[[figures]]` block of a study file, such as `kind="levels", metric="goodput_bps", x="buffer"`. Without
                `name` it is called as its kind is.

        Returns:
            Its `figure` of matplotlib, its `numbers` as a frame and its `caption`; `save(path)` writes it, a notebook shows it.

        Raises:
            StudyError: with its place in what is asked; also if it would take together what are no replicates, and what to add then.
            DatasetError: if these results do not hold it.

        """
        from sawtooth.report.answers import Answers

        _require_planned(self)
        return drawn(Answers(self), keys)

    @in_python()
    def finding(self, **keys: Any) -> Verdict:
        """The verdict on a claim, decided by itself.

        Args:
            keys: those of a `[[findings]]` block of a study file, such as `claim="It is full", metric="goodput_bps", is_="above", than="9 Mbit/s"`:
                `is` is a word of Python, and is written `is_`. `all` and `any` are of findings of the study.

        Returns:
            Its `answer` (`yes`, `no`, `mixed` or `cannot distinguish`), the `numbers` in words, and the `evidence` of each cell.

        Raises:
            StudyError: with its place in what is asked; also if it would take together what are no replicates, and what to add then.
            DatasetError: if these results do not tell it.

        """
        from sawtooth.design import MixedError, advice
        from sawtooth.findings.read import finding, require_named
        from sawtooth.report.answers import Answers

        _require_planned(self)
        if {"is", "is_"} <= keys.keys():
            raise TypeError("`is_` is how Python writes `is`: both are given")
        answers = Answers(self)
        named = {("is" if key == "is_" else key): value for key, value in keys.items()}
        reader, tree = _reader(self, "findings", named, answers.shown.references)
        path = "findings[0]"
        spec = finding(reader, tree, path)
        _require_recorded(self, reader, [spec.measure] if spec.measure else [], path)
        others = [each for each in answers.shown.findings if each.name in spec.options.get("findings", [])]
        require_named(reader, spec, {each.name: each.kind for each in answers.shown.findings if each.name})
        try:
            claims = [*map(answers.claimed, others), answers.weighed(spec)]
        except MixedError as error:
            raise reader.error(f"the finding cannot be decided: {error}", path, advice(error, [])) from None
        # Its own name is nobody's: that of another must not hide that one.
        return answers.decided(claims, [*others, replace(spec, name="")])[-1]

    def compare(
        self,
        *others: results.Dataset | str | Path,
        metric: str | Sequence[str] = (),
        tolerance: str | float = 0.05,
        flows: str = "mean",
        of: str | Sequence[str] | None = None,
        arm: str | None = None,
        reference: str | Path | None = None,
        value: str | None = None,
        sd: str | None = None,
        ci: str | None = None,
        n: int | str | None = None,
        unit: str | None = None,
        digits: int | None = None,
        factors: Mapping[str, str] | None = None,
    ) -> Compared:
        """These results beside others of the same study, beside published numbers, or arm by arm; cell by cell, as `sawtooth compare` has it.

        Args:
            others: datasets, or their directories, each of which this one and those before it are held against; or one CSV file of published
                numbers. Without any, and without a reference, the arms are held against each other.
            metric: a measure or several; if nothing is said, completion times of transfers, else goodput.
            tolerance: ratios this near to 1 agree: a share, or a text such as `5 %`.
            flows: how the flows of a block are taken together: `mean`, `sum`, `max`, `min`, or `each` by itself.
            of: of these items only: flows, blocks of flows by their name, directions of links.
            arm: of this arm only.
            reference: a `[[references]]` table of the study by its name, or a CSV file of published numbers.
            value: the file's column of means.
            sd: of their standard deviations, over `n` observations.
            ci: of their 95 % half-widths.
            n: of how many observations there are; or that number.
            unit: of the means.
            digits: the decimals that they have.
            factors: the file's columns of factors, cell, arm and item by the names of those, where they are called otherwise.

        Returns:
            Its `numbers` as a frame, `verdicts` and `summary`; `report().write(directory)` makes a page with figures.

        Raises:
            DatasetError: says what cannot be compared, and what to do.

        """
        from sawtooth.report.compared import compared

        columns = {"value": value, "sd": sd, "ci": ci, "n": n, "unit": unit, "digits": digits}
        return compared(
            self,
            others,
            metric=metric,
            tolerance=tolerance,
            flows=flows,
            of=of,
            arm=arm,
            reference=reference,
            columns=columns,
            factors=factors,
        )


def drawn(answers: Answers, keys: Mapping[str, Any]) -> Plot:
    """The figure that the keys of a `[[figures]]` block ask for; see `Dataset.figure`.

    Args:
        answers: over the results that are asked.
        keys: of the block.

    """
    return laid_out(answers, keys, answers.plot)


def laid_out(answers: Answers, keys: Mapping[str, Any], use: Callable[[FigureSpec], Found]) -> Found:
    """What is made of a figure that is asked for by its keys.

    Args:
        answers: over the results that are asked.
        keys: of a `[[figures]]` block; without `name` it is called as its kind is.
        use: makes it.

    Raises:
        StudyError: with its place in what is asked; also if it would take together what are no replicates, and what to add then.
        DatasetError: if these results do not hold it.

    """
    from sawtooth import figures
    from sawtooth.design import MixedError, advice
    from sawtooth.figures.places import unused
    from sawtooth.figures.read import figure

    kind = keys.get("kind", "levels")
    named = {"name": kind if isinstance(kind, str) and kind in figures.KINDS else "figure", **_given(keys)}
    reader, tree = _reader(answers.dataset, "figures", named, answers.shown.references)
    path = "figures[0]"
    spec = figure(reader, tree, path)
    _require_recorded(answers.dataset, reader, spec.measures, path, answers.tables)
    try:
        return use(spec)
    except MixedError as error:
        free = unused(figures.kind(spec.kind), spec.places, spec.options)
        raise reader.error(f"the figure cannot be drawn: {error}", path, advice(error, free)) from None


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    """What is said: None says nothing."""
    return {key: value for key, value in keys.items() if value is not None}


def _reader(dataset: results.Dataset, block: str, keys: Mapping[str, Any], references: Mapping[str, Reference]) -> tuple[Reader, Tree]:
    """Reads what is asked as a study file would ask it: a block and its keys, in a text that errors show.

    Args:
        dataset: whose study it is asked of.
        block: `measure`, a table; else a list of such tables, of one.
        keys: of the table.
        references: of the study.

    """
    from sawtooth.questions import Reader

    tree = arguments.plain(_given(keys), what=f"what `{_METHODS[block]}` is asked")
    text = written({block: tree if block == "measure" else [tree]})
    name = f"<{_METHODS[block]}>"
    try:
        whole, spans = _core.parse_toml(text)
    except _core.TomlError as error:
        place = Place(name, error.line, error.column, error.column + 1, lines(text)[error.line - 1])
        raise StudyError(error.message, place, error.hint) from None
    study = replace(dataset.study, document=Document(name, text, spans), tree=whole)
    return Reader(study, references), whole[block] if block == "measure" else whole[block][0]


_METHODS = {"measure": "measure", "figures": "figure", "findings": "finding"}


def _require_planned(dataset: Dataset) -> None:
    """Refuses results that are of no study.

    Raises:
        DatasetError: that says so.

    """
    if not dataset.has_study:
        raise DatasetError(
            f"{dataset.directory} holds what was watched, and no study says of it what may be asked",
            "its tables are there, such as `dataset.series()`, and `sawtooth report` shows it",
        )


def _require_recorded(
    dataset: results.Dataset, reader: Reader, measures: Sequence[Measure | Samples], path: str, tables: Sequence[str] | None = None
) -> None:
    """Refuses what no run has recorded, if there are runs; what a study file asks for was refused before they were made."""
    from sawtooth.expected import require_recorded

    if tables := dataset.tables if tables is None else tables:
        require_recorded(reader.study, measures, tables, f"{path}.metric")
