"""What figures and findings name, held against what runs will have; so that hours of runs are not followed by a report that cannot be made."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from sawtooth import _core, coverage, figures, findings
from sawtooth.design import NOT_SET, MixedError, advice, require_unmixed, varying
from sawtooth.errors import StudyError, StudyWarning
from sawtooth.figures.against import ApartError, of_side, paired
from sawtooth.figures.places import MEASURE, placed, unused, without_base
from sawtooth.figures.spec import FigureSpec
from sawtooth.findings.spec import FindingSpec
from sawtooth.hints import did_you_mean
from sawtooth.measures import Measure, Rows, Samples, tables
from sawtooth.measures.blocks import name_of_block
from sawtooth.measures.computed import COMPUTED, TOGETHER
from sawtooth.measures.resolve import Pooled, Referred
from sawtooth.presentation import Presentation
from sawtooth.questions import Choice
from sawtooth.recognise import level
from sawtooth.references import Reference
from sawtooth.stopping import Stopping
from sawtooth.study import Study
from sawtooth.study.effects import Built
from sawtooth.study.sweep import Cell, axis_names
from sawtooth.study.sweep import cells as cells_of

_MOST_ROWS = 4
_MOST = 12
"""So many names are told."""


def check(study: Study, shown: Presentation, cells: Sequence[Cell], built: Built) -> list[StudyWarning]:
    """Refuses figures and findings that no run could fill, and those that take together what is no replicate.

    Returns:
        What of references is of no cell, and of which cells that are spoken of they have no number.

    Raises:
        StudyError: with its place.

    """
    expected = _Expected(study, shown, cells, built)
    strange = [
        warning for at, reference in enumerate(shown.references.values()) for warning in expected.reference(reference, f"references[{at}]")
    ]
    if shown.stopping:
        expected.stopping(shown.stopping)
    for figure in shown.figures:
        expected.figure(figure)
    for finding in shown.findings:
        expected.finding(finding)
    return [*strange, *dict.fromkeys(expected.lacking)]


class _Expected:
    """What the runs of one study will have."""

    def __init__(self, study: Study, shown: Presentation, cells: Sequence[Cell], built: Built) -> None:
        self.study, self.cells, self.built = study, cells, built
        self.references = shown.references
        self.lacking: list[StudyWarning] = []
        self.names = axis_names(list(dict.fromkeys(path for cell in cells for path in cell.factors)))
        self.factors = list(self.names.values())
        # Most figures and findings ask for the same.
        self.items, self.frames, self.block = functools.cache(self._items), functools.cache(self._frame), functools.cache(name_of_block)

    # --- replicates

    def stopping(self, stopping: Stopping) -> None:
        """Raises if no run tells what the rule for replicates looks at."""
        measure, place = stopping.measure, f"{stopping.rule.origin}.of"
        self.require_table(measure, place)
        if self.built and not any(self.of(at, arm, measure, stopping.asked.view.flows) for at, arm in self.built):
            raise self.study.document.error(f"no run tells `{measure.name}`", place, "`sawtooth list metric` says what each needs")
        if self.built:
            self.published(
                coverage.terms([measure], {}), self.frame(measure, stopping.asked.view.flows, ()), place, "the rule for replicates"
            )

    # --- figures

    def figure(self, spec: FigureSpec) -> None:
        """Raises if a figure cannot be drawn."""
        if spec.measure is None:
            return
        for measure in spec.measures:
            self.require_table(measure, f"{spec.path}.metric")
        self.require_begun(spec.view.rows, spec.path)
        if spec.several:
            frame = pl.concat(
                self.frame(measure, spec.view.flows, spec.view.by).with_columns(pl.lit(name).alias(MEASURE))
                for name, measure in spec.several.items()
            )
        else:
            frame = self.frame(spec.measure, spec.view.flows, spec.view.by)
        if frame.is_empty():
            return
        if figures.TABLE[spec.kind].percentiles:
            self.require_several(spec)
        against = spec.options.get("against", spec.options.get("second"))
        for number, item in enumerate(spec.choice.of):
            if isinstance(against, Measure) and self.has(item, against, spec.view.flows):
                continue
            for measure in spec.measures:
                self.require_item(item, measure, spec.view.flows, f"{spec.path}.of", number)
                if isinstance(against, Measure):
                    break
        if spec.options.get("along") == "item" and spec.options.get("to"):
            self.require_item(str(spec.options["to"]), spec.measure, spec.view.flows, f"{spec.path}.to", None)
        chosen = self.against(spec, frame, against) if isinstance(against, Measure) else self.chosen(frame, spec.needed)
        if chosen.is_empty():
            return
        kind = figures.TABLE[spec.kind]
        chosen, _ = without_base(spec, kind, chosen)
        if chosen.is_empty():
            key = {"arm": "arm", "item": "of"}.get(str(spec.options["along"]), "where")
            message = f"the figure `{spec.name}` cannot be drawn: there is nothing to hold against `{spec.options['to']}`"
            raise self.study.document.error(
                message, f"{spec.path}.{key}", "choose something else than it, or nothing; it is there by itself"
            )
        try:
            placed(spec, kind, chosen, self.factors)
        except MixedError as error:
            free = unused(kind, spec.places, spec.options)
            raise self.study.document.error(f"the figure `{spec.name}` cannot be drawn: {error}", spec.path, advice(error, free)) from None
        self.published(coverage.terms(spec.measures, spec.options), chosen, self.naming(spec.path), f"the figure `{spec.name}`")

    def require_several(self, spec: FigureSpec) -> None:
        """Refuses percentiles of what a run has one value of: all of them are that value."""
        assert spec.measure is not None
        for measure in spec.several.values():
            if not isinstance(measure.term, Pooled) or tables.SHAPES[measure.term.table].many or tables.SHAPES[measure.term.table].keys:
                return
            for at, arm in self.built:
                items = [(item, item.partition("[")[0]) for item in self.of(at, arm, measure, "each")]
                blocks = [name for item, name in items if not spec.choice.of or {item, name} & {*spec.choice.of}]
                if len(blocks) > len(set(blocks)):
                    return
        of = next(iter(spec.several.values())).name.partition("(")[2].rstrip(")")
        raise self.study.document.error(
            f"a run has one value of `{of}`, so that all its percentiles are the same", f"{spec.path}.metric",
            'take what a run has many of, such as datagrams.delay_ns; how runs differ is told by kind = "box", "cdf"',
        )  # fmt: skip

    def against(self, spec: FigureSpec, frame: pl.DataFrame, against: Measure) -> pl.DataFrame:
        """What is left of a figure of two measures: values that stand against some of the other."""
        assert spec.measure is not None
        theirs = self.frame(against, spec.view.flows, spec.view.by)
        if theirs.is_empty():
            return self.chosen(frame, spec.choice)
        mine, other = (self.chosen(each, of_side(spec.choice, each)) for each in (frame, theirs))
        try:
            return paired(mine, other.select("cell", "arm", "item"), ["cell", "arm"], (), (spec.measure, against))
        except ApartError as error:
            raise self.study.document.error(
                f"the figure `{spec.name}` cannot be drawn: {error}",
                f"{spec.path}.{'against' if 'against' in spec.options else 'second'}",
                error.hint,
            ) from None

    # --- findings

    def finding(self, spec: FindingSpec) -> None:
        """Raises if there is nothing that a finding could be about."""
        if spec.measure is None:
            return
        self.require_table(spec.measure, f"{spec.path}.metric")
        self.require_begun(spec.view.rows, spec.path)
        frame = self.frame(spec.measure, spec.view.flows, ())
        if frame.is_empty():
            return
        other = spec.options.get("other")
        for choice, path in ((spec.choice, spec.path), *([(other, f"{spec.path}.than")] if isinstance(other, Choice) else [])):
            for item in choice.of:
                own = f"{path}.of" if self.study.document.spans.get(f"{path}.of") else f"{spec.path}.of"
                self.require_item(item, spec.measure, spec.view.flows, own, None, choice)
        if spec.options.get("along") == "item":
            for place, items in enumerate(spec.options.get("order", ())):
                for number, item in enumerate(items):
                    path = (f"{spec.path}.order", place) if len(items) == 1 else (f"{spec.path}.order[{place}]", number)
                    self.require_item(item, spec.measure, spec.view.flows, *path)
        chosen = self.chosen(frame, spec.choice)
        if chosen.is_empty():
            return
        kind = findings.kind(spec.kind)
        spans = [str(spec.options[name]) for name in kind.spans]
        told = [name for name in varying(chosen, [*self.factors, "arm"]) if name not in spans]
        if "item" not in spans and not spec.choice.of and chosen["item"].n_unique() > 1:
            items = _some(chosen["item"].unique(maintain_order=True).to_list())
            raise self.study.document.error(
                f"a finding about `{spec.measure.name}` must say of what",
                f"{spec.path}.metric",
                f"{_of_all(spec.measure.name)}add of = one of {items}",
            )
        try:
            require_unmixed(chosen, [*self.factors, "arm", "item"], [*told, *spans])
        except MixedError as error:
            raise self.study.document.error(f"the finding cannot be decided: {error}", spec.path, advice(error, [])) from None
        for choice in spec.choices:
            self.published(coverage.terms([spec.measure], spec.options), self.chosen(frame, choice), self.naming(spec.path), "the finding")
        self.require_cells(spec, chosen.select(told).n_unique() if told else 1)

    def require_cells(self, spec: FindingSpec, cells: int) -> None:
        """Refuses a claim about more cells than there are, each of which may be held against several others; the short form may have fewer."""
        other, wanted = spec.options.get("other"), spec.wanted.at_least
        if isinstance(other, Choice):
            cells *= math.prod(len(levels) for name, levels in other.where.items() if spec.choice.where.get(name) != levels)
        if wanted is not None and wanted > cells and self.study.sweep == self.study.full_sweep:
            there = "one cell" if cells == 1 else f"{cells} cells"
            raise self.study.document.error(
                f"it is claimed of {spec.wanted.words(cells)}",
                f"{spec.path}.cells",
                f"the finding speaks of {there}: of how many must it hold?",
            )

    # --- what there will be

    def frame(self, measure: Measure | Samples, flows: str, by: Sequence[str]) -> pl.DataFrame:
        """One row per cell, arm and item: cell, factors, arm, item; columns that tell rows apart are not known before there are any."""
        # One level of each is enough to know that it has a place.
        return self.frames(_told_by(measure), flows).with_columns(pl.lit("").alias(name) for name in by if name not in self.factors)

    def _frame(self, told_by: tuple[str, ...] | None, flows: str) -> pl.DataFrame:
        texts = [{name: _level(cell.factors.get(path)) for path, name in self.names.items()} for cell in self.cells]
        rows = [
            {"cell": self.cells[at].number, **texts[at], "arm": arm, "item": item}
            for at, arm in self.built
            for item in self.items_of(at, arm, told_by, flows)
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def of(self, at: int, arm: str, measure: Measure | Samples, flows: str) -> list[str]:
        """The items of a run of which a measure is."""
        return self.items_of(at, arm, _told_by(measure), flows)

    def items_of(self, at: int, arm: str, told_by: tuple[str, ...] | None, flows: str) -> list[str]:
        """The items of a run of which each of some tables has rows; without tables the one that all flows together are."""
        if told_by is None:
            return [TOGETHER]
        there = self.items(at, arm)
        found: list[str] | None = None
        for table in told_by:
            mine = there.get(table, there["links" if tables.SHAPES[table].item == tables.LINK else "flows"])
            found = list(mine) if found is None else [item for item in found if item in mine]
        return list(found or ()) if flows == "each" else list(dict.fromkeys(self.block(item) for item in found or ()))

    def _items(self, at: int, arm: str) -> dict[str, list[str]]:
        """The items of the rows of each table that not every flow has, of one run."""
        text = self.built[at, arm]
        found: dict[str, list[str]] = _core.items(text, kernel=self.study.backend != "sim")
        entries: list[dict[str, Any]] = json.loads(text)["flows"]
        udp = {entry["name"] for entry in entries if entry.get("transport") == "udp"}
        arriving = [str(entry["name"]) for entry in entries if "arrivals" in entry]

        def of_block(names: Iterable[str], blocks: set[str]) -> list[str]:
            return [name for name in names if name.partition("[")[0] in blocks]

        of_udp = of_block(found["flows"], udp)
        return {
            **found, "datagrams": of_udp, "sources": of_udp, "arrivals": arriving, "completions": arriving, "transfers": arriving,
            "link_flows": [*found["flows"], *arriving],
        }  # fmt: skip

    def chosen(self, frame: pl.DataFrame, choice: Choice) -> pl.DataFrame:
        """Those that a choice speaks of; of the full form's levels the short form may have none."""
        return choice.select(frame)

    # --- what is needed

    def require_table(self, measure: Measure | Samples, place: str) -> None:
        """Refuses what no run records."""
        for table in measure.tables:
            needs = tables.SHAPES[table].needs
            if needs and self.built and not any(self.records(table, at, arm) for at, arm in self.built):
                raise self.study.document.error(*_lacks(measure, table, place))
        for item, of in measure.items if isinstance(measure, Measure) else ():
            self.require_item(item, of, "mean", place, None, within=item)
        for name, row in measure.computed.items():
            if row.samples and self.built and not any("sample" in json.loads(text) for text in self.built.values()):
                raise self.study.document.error(*_lacks_samples(name, place))

    def require_begun(self, rows: Rows, path: str) -> None:
        """Refuses a part of the run that begins when every run has ended."""
        if rows.start_ns is None or not self.built:
            return
        texts = {str(json.loads(text).get("duration", "")) for text in self.built.values()}
        if not all(texts):
            return
        try:
            longest = max(_core.evaluate(text, {})[0] for text in texts)
        except _core.ScenarioError:
            # A duration of the scenario's own variables.
            return
        if rows.start_ns >= longest * 1e9 * (1 - 1e-12):
            key = "warm_up" if self.study.document.spans.get(f"{path}.warm_up") else "window"
            message = f"nothing is left of a run: it ends at {longest:g} s, and counts from {rows.start_ns / 1e9:g} s"
            raise self.study.document.error(message, f"{path}.{key}", "let it begin earlier")

    def records(self, table: str, at: int, arm: str) -> bool:
        """Whether a run records a table."""
        scenario: Mapping[str, Any] = json.loads(self.built[at, arm])
        asked = scenario.get("record", [])
        if table in ("series", "queues", tables.WINDOWS):
            return "sample" in scenario
        if table == "variables":
            return "sample" in scenario and table in asked
        if table == "counters":
            return self.study.backend != "sim"
        if table in ("exchanges", "datagrams", "sources", "arrivals", "completions"):
            return bool(self.items(at, arm)[table])
        if table == tables.MESSAGES:
            return tables.RECORDED[table] in asked
        return table in asked and (table != "transfers" or bool(self.items(at, arm)[table]))

    def has(self, item: str, measure: Measure, flows: str) -> bool:
        """Whether some run has an item of a measure."""
        return any(item in (*self.of(at, arm, measure, "each"), *self.of(at, arm, measure, flows)) for at, arm in self.built)

    def require_item(
        self,
        item: str,
        measure: Measure | Samples,
        flows: str,
        path: str,
        number: int | None,
        choice: Choice | None = None,
        within: str = "",
    ) -> None:
        """Refuses an item that no run has."""
        known: dict[str, None] = {}
        for at, arm in self.built:
            if choice is not None and choice.arms and arm not in choice.arms:
                continue
            items = self.of(at, arm, measure, "each")
            if flows != "each":
                items = [*items, *self.of(at, arm, measure, flows)]
            if item in items or item in self.of(at, arm, measure, "mean"):
                return
            known.update(dict.fromkeys(items))
        if not known:
            return
        listed = self.study.document.spans.get(f"{path}[{number}]") if number is not None else None
        hint = did_you_mean(item, known) if len(known) < _MOST else f"there are {_some(list(known))}"
        if list(known) == [TOGETHER]:
            hint = "it is one number of all flows together: leave the item out"
        start = measure.name.find(within)
        place = self.study.document.place(f"{path}[{number}]" if listed else path, within=(start, start + len(within)) if within else None)
        raise StudyError(f"no run has an item `{item}` of `{measure.name}`", place, hint)

    # --- references

    def naming(self, path: str) -> str:
        """Where a figure or finding names a reference."""
        return f"{path}.reference" if self.study.document.spans.get(f"{path}.reference") else f"{path}.metric"

    def published(self, terms: Iterable[Referred], asked: pl.DataFrame, path: str, who: str) -> None:
        """Raises if a reference has no number of any cell that it is asked of; of what some lack, there is a warning."""
        for lack in coverage.lacks(terms, self.references, asked.drop("cell")):
            file = self.references[lack.term.reference].path.name
            # The short form need not have a cell that was published.
            if len(lack.labels) == lack.asked and self.study.sweep == self.study.full_sweep:
                message = f"`{lack.term.reference}` has no `{lack.term.column}` of any cell that {who} speaks of"
                raise self.study.document.error(
                    message, path, f"the first is {lack.labels[0]}; `where` and `arm` choose others, and {file} may have more rows"
                )
            hint = f"{who} is of the others then, and says so; `where` and `arm` choose cells, and {file} may have more rows"
            if path.endswith(".of"):
                hint = f"{who} leaves them at the least number; {file} may have more rows"
            self.lacking.append(StudyWarning(lack.words, self.study.document.place(path), hint))

    def reference(self, found: Reference, path: str) -> list[StudyWarning]:
        """Rows of a table that are of no cell that the study has, in its short form or the other; raises if none is of one."""
        named = [name for name in found.keys if name not in ("arm", "item")]
        rows = [row for quantity in found.quantities for row in found.table(quantity).to_dicts()]
        every = [*self.cells, *cells_of(replace(self.study, sweep=self.study.full_sweep))]
        texts = [{name: _level(cell.factors.get(place)) for place, name in self.names.items()} for cell in every]
        arms = [*self.study.arms, *self.study.other_arms] or [""]
        if not found.keys:
            return self.keyless(found, len({tuple(text.values()) for text in texts}) * len(arms), path)
        there = {tuple("" if text[name] == NOT_SET else level(text[name]) for name in named) for text in texts}
        items = self.every_item() if "item" in found.keys else set[str]()

        def strange(row: Mapping[str, Any]) -> bool:
            if tuple(row[name] for name in named) not in there or row.get("arm", arms[0]) not in arms:
                return True
            return bool(items) and row["item"] not in items

        lost = list(dict.fromkeys(row["label"] for row in rows if strange(row)))
        if not lost:
            return []
        if len(lost) < len({row["label"] for row in rows}):
            some = "; ".join(lost[:_MOST_ROWS]) + ("; ..." if len(lost) > _MOST_ROWS else "")
            what = f"{len(lost)} {'row' if len(lost) == 1 else 'rows'} of {found.path.name} {'is' if len(lost) == 1 else 'are'} of no cell of this study: {some}"
            hint = "nothing is held against them; `where` of the reference chooses rows"
            return [StudyWarning(what, self.study.document.place(f"{path}.file"), hint)]
        told = [*(f"{name} {texts[0][name]}" for name in named), *([f"arm {arms[0]}"] if "arm" in found.keys else [])]
        wanted = ", ".join([*told, *([f"item {min(items)}"] if items else [])])
        raise self.study.document.error(
            f"no row of {found.path} is of a cell of this study", f"{path}.keys" if self.study.document.spans.get(f"{path}.keys") else f"{path}.file",
            f"the first cell is {wanted}; the first row {rows[0]['label']}; `keys` says which column is which factor, and a column's name may end in its unit",
        )  # fmt: skip

    def keyless(self, found: Reference, cells: int, path: str) -> list[StudyWarning]:
        """What is said of a table that does not tell the cells apart."""
        if cells == 1:
            return []
        factors = ", ".join([*self.factors, *(["arm"] if self.study.arms else [])])
        what = f"{found.path.name} does not say of which cell its row is: it stands for all {cells} cells and arms alike"
        return [StudyWarning(what, self.study.document.place(f"{path}.file"), f"`keys` says which column is {factors}")]

    def every_item(self) -> set[str]:
        """The names that items of some measure may have."""
        found = {item for at, arm in self.built for items in self.items(at, arm).values() for item in items}
        return {TOGETHER, *found, *(item.partition("[")[0] for item in found)} if found else set[str]()


def _told_by(measure: Measure | Samples) -> tuple[str, ...] | None:
    """The tables that have a row of each item that a measure is of; none if it is of all flows together."""
    if measure.kind == TOGETHER:
        return None
    return (*measure.tables, *(["flows"] if measure.computed else []))


def _level(value: Any) -> str:
    """A level of a factor, as plans have it."""
    return NOT_SET if value is None else value if isinstance(value, str) else json.dumps(value)


def require_recorded(study: Study, measures: Iterable[Measure | Samples], recorded: Collection[str], place: str) -> None:
    """Refuses what results have no table for; one without rows is there.

    Args:
        study: whose document has the place.
        measures: what is asked for.
        recorded: names of the tables that there are.
        place: where they are asked for.

    Raises:
        StudyError: that says what would have recorded it.

    """
    for measure in measures:
        for table in measure.tables:
            if tables.SHAPES[table].needs and _said(table) not in recorded:
                raise study.document.error(*_lacks(measure, table, place))
        for name, row in measure.computed.items():
            if row.samples and "series" not in recorded:
                raise study.document.error(*_lacks_samples(name, place))


def _lacks(measure: Measure | Samples, table: str, place: str) -> tuple[str, str, str]:
    """The error about a table that no run has: what, where, and what to do."""
    needs = tables.SHAPES[table].needs
    return f"no run has `{measure.name}`: the table `{_said(table)}` needs {needs}", place, _how(table)


def _lacks_samples(name: str, place: str) -> tuple[str, str, str]:
    return f"`{name}` needs samples", place, 'write sample = "100 ms" in [scenario]'


def _how(table: str) -> str:
    if table in ("series", "queues", tables.WINDOWS):
        return 'write sample = "100 ms" in [scenario]'
    if table in ("exchanges", "datagrams", "sources", "arrivals", "completions"):
        return "take another measure, or give it to a flow"
    return f'write record = ["{_said(table)}"] in [scenario]' + (', and sample = "100 ms"' if table == "variables" else "")


def _said(table: str) -> str:
    """The table that is recorded."""
    return tables.RECORDED.get(table, table)


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_MOST]) + (f" and {len(items) - _MOST} more" if len(items) > _MOST else "")


def _of_all(name: str) -> str:
    """What is of all items together, where an expression about each was meant so: its function is a measure, too."""
    function = name.partition("(")[0]
    return (
        f"of all together it is the measure `{function}`; else "
        if "(" in name and function in COMPUTED and COMPUTED[function].together
        else ""
    )
