"""Tables of published numbers: those that a study names, read when it is planned and kept with its results; and those that `compare` is given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from sawtooth import _core, foreign, reading, sheets
from sawtooth.design import NOT_SET
from sawtooth.errors import DatasetError, FileUnreadable, Place, SawtoothError, StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.kinds import Kind, kind
from sawtooth.measures import ExpressionError, measure, resolve, units
from sawtooth.measures import unit as units_of
from sawtooth.recognise import unit_suffix
from sawtooth.references import PUBLISHED, Quantity, Reference, digest
from sawtooth.sheets import Sheet, number
from sawtooth.study import Study, mistakes
from sawtooth.study.assign import Tree
from sawtooth.study.document import shown
from sawtooth.study.keys import Key
from sawtooth.study.mistakes import Said
from sawtooth.study.paths import quoted

if TYPE_CHECKING:
    from sawtooth.results.dataset import Dataset

KEYS = (
    Key("name", "word", "needed", "what expressions call it: `references.NAME.COLUMN`, or `reference.COLUMN` if it is the only one"),
    Key("file", "name of a file", "needed", "a CSV file with a line of column names, relative to the study; lines that begin with `#` are comments. Or what iperf3 or flent measured: [which columns that has](../guides/exchange.md)"),
    Key("source", "text", "", "where the numbers are from; it stands below what shows them"),
    Key("called", "text", "`\"published\"`", "what figures call its numbers, such as the name of another simulator"),
    Key("keys", "table of factors, `arm` or `item` and columns", "columns that are called like factors", "which column says of which cell a row is"),
    Key("columns", "table of names and columns, or tables of [these](#columns)", "all others that hold numbers", "what expressions may ask for"),
    Key("where", "table of columns and texts", "all rows", "which rows count"),
)  # fmt: skip
COLUMN = (
    Key("column", "name of a column", "the name", "what it is called in the file"),
    Key("unit", "unit", "what the column's name ends in", "of its values"),
    Key("sd", "name of a column", "", "its standard deviation, over `n` observations"),
    Key("ci", "name of a column", "", "the half-width of its 95 % confidence interval"),
    Key("n", "whole number, or name of a column", "", "how many observations it is the mean of"),
    Key("digits", "whole number", "as the file has them", "decimals that are given"),
)  # fmt: skip
_MOST_BYTES = 16_000_000
_UNIT = re.compile(r"%|1/s|[^\W\d_]+(/s)?")
_MOST_RUNS = 10**15
_MOST_DIGITS = 30
_MOST_TOLD = 8
"""Texts of a column that an error names."""


def read(study: Study, stored: Mapping[str, str] | None, factors: Mapping[str, bool]) -> dict[str, Reference]:
    """The references of a study by name.

    Args:
        study: which.
        stored: text of each file, of results that have them; None to read the files.
        factors: names of the study's factors, and whether some cell leaves it as it is in the scenario.

    Raises:
        StudyError: with its place, for a file that cannot be read or has not what is named.

    """
    entries = study.tree.get("references", [])
    if not isinstance(entries, list):
        raise study.document.error("`references` is a list of tables", "references", "write [[references]] above each")
    found: dict[str, Reference] = {}
    for at, entry in enumerate(cast(list[Any], entries)):
        path = f"references[{at}]"
        if not isinstance(entry, dict):
            raise study.document.error("`references` is a list of tables", path, "write [[references]] above each")
        reader = _OfStudy(study, cast(Tree, entry), path, factors)
        reference = reader.reference(None if stored is None else stored.get(str(cast(Tree, entry).get("name")), ""))
        if reference.name in found:
            raise study.document.error(f"two references are called `{reference.name}`", f"{path}.name", "give this one another name")
        found[reference.name] = reference
    return found


def texts(study: Study) -> dict[str, str]:
    """The text of the file of each reference, to be kept with results."""
    entries = cast(list[Tree], study.tree.get("references", []))
    return {str(entry["name"]): _OfStudy(study, entry, f"references[{at}]", {}).content() for at, entry in enumerate(entries)}


def of_results(dataset: Dataset, factors: Sequence[str]) -> dict[str, Reference]:
    """The references of the study that results are of, as they were kept with them."""
    stored = cast(dict[str, dict[str, str]], dataset.manifest.get("references", {}))
    return read(dataset.study, {name: entry["text"] for name, entry in stored.items()}, dict.fromkeys(factors, True)) if stored else {}


@dataclass(frozen=True)
class Columns:
    """What is said of a table's columns on the command line.

    Attributes:
        value: column of the mean; None if it is the only one that can be.
        sd, ci: columns of its standard deviation over `n` observations, or of its 95 % confidence half-width.
        n: number of observations, or the column that has it.
        unit: of the values; by default what the column's name ends in.
        digits: decimals that are given; by default as the file has them.
        factors: factor, `cell`, `arm` or `item` to column, where they are not called alike.

    """

    value: str | None = None
    sd: str | None = None
    ci: str | None = None
    n: str | None = None
    unit: str | None = None
    digits: int | None = None
    factors: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def tree(self) -> Tree:
        """As a study says it."""
        told = {"sd": self.sd, "ci": self.ci, "unit": self.unit, "digits": self.digits}
        one: Tree = {key: value for key, value in told.items() if value is not None}
        if self.n is not None:
            one["n"] = int(self.n) if self.n.isascii() and self.n.isdigit() else self.n
        return {
            **({"columns": {self.value: one}} if self.value is not None else {}),
            **({"keys": dict(self.factors)} if self.factors else {}),
        }


def of_file(path: Path, columns: Columns, factors: Sequence[str], unset: Sequence[str] = ()) -> Reference:
    """A table that no study names.

    Args:
        path: of the CSV file.
        columns: what is said of its columns.
        factors: names of the study's factors; `cell`, `arm` and `item` may be columns, too.
        unset: those of them that some cell leaves as it is in the scenario, and `arm` where there is none: a row may be of that.

    Raises:
        DatasetError: says what of it cannot be used, and what to do.

    """
    measured = kind(path) is Kind.JSON
    reader = _OfFile(path, {"name": "table", "file": str(path), **columns.tree}, ["cell", *factors], unset)
    found = reader.reference(None)
    # What another program measured is of no cell in particular: its one row is held against each.
    if not found.keys and not measured:
        raise reader.no_keys(found.sheet)
    return found


class _Reader:
    """Reads what is said of one table, and the table."""

    relative: str | None = None
    """What the name of a file that is not there is relative to, if that is not plain."""

    def __init__(self, tree: Tree, factors: Sequence[str], unset: Sequence[str]) -> None:
        self.tree = tree
        self.known = [*factors, "arm", "item"]
        self.unset = unset

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> SawtoothError:
        """An error about what is said by `key`."""
        raise NotImplementedError

    def file(self) -> Path:
        """Where the table is."""
        raise NotImplementedError

    def content(self) -> str:
        """What the file holds, as CSV."""
        path = self.file()
        if kind(path) is Kind.JSON:
            try:
                return foreign.as_csv(foreign.read(path))
            except FileUnreadable as error:
                raise self.error(error.message, "file", error.hint) from None
        try:
            return reading.read_text(path, _MOST_BYTES, "leave out what is not compared", "utf-8-sig")
        except OSError as error:
            raise self.error(f"cannot read {path}: {error.strerror or error}", "file", self.relative) from None
        except reading.Unreadable as error:
            raise self.error(error.message, "file", error.hint or "a CSV file is needed") from None

    def reference(self, stored: str | None) -> Reference:
        """The table; of `stored`, if its text was kept, else of the file."""
        for key in self.tree:
            if key not in (known := [row.name for row in KEYS]):
                raise self.error(f"unknown key `{key}`", key, did_you_mean(key, known), at_key=True)
        name = self.text(self.tree, "name", "")
        if not name.replace("_", "").isalnum() or name[:1].isdigit():
            raise self.error(f"`{cut(name)}` cannot be the name of a reference", "name", "letters, digits and `_`, a letter first")
        if "file" not in self.tree:
            raise self.error("a reference needs a `file`", hint="the name of a CSV file, relative to the study")
        path = Path(str(self.tree["file"])) if stored is not None else self.file()
        content = stored if stored is not None else self.content()
        sheet = self.sheet(content, path)
        keys = self.keys(sheet)
        quantities = self.quantities(sheet, [column for column, _ in keys.values()])
        source, called = self.text(self.tree, "source", "", ""), self.text(self.tree, "called", "", PUBLISHED)
        found = Reference(name, digest(content.encode()), source, keys, quantities, sheet, called)
        for quantity in quantities:
            self.require_one_row(found, quantity)
        return found

    def sheet(self, content: str, path: Path) -> Sheet:
        """The rows that count."""
        try:
            found = sheets.read(content, path)
        except sheets.NoSheetError as error:
            raise self.error(error.message, "file", error.hint) from None
        for column, wanted in self.inner("where").items():
            self.require_column(column, found, f"where.{quoted(column)}")
            if wanted == []:
                raise self.wrong(mistakes.nothing_chosen(column), f"where.{quoted(column)}")
            found = self.chosen(found, column, mistakes.listed(wanted))
        return found

    def chosen(self, sheet: Sheet, column: str, wanted: Sequence[object]) -> Sheet:
        """The rows in which a column has one of some texts, each of which some row has."""
        where = f"where.{quoted(column)}"
        texts = [each if isinstance(each, str) else json.dumps(each) for each in wanted if isinstance(each, str | int | float)]
        if len(texts) < len(wanted) or not texts:
            raise self.error(f"`where` says no text of column `{cut(column)}`", where, 'such as "reno", or a list of texts')
        there = sheet.texts(column)
        lacking = next((text for text in texts if text not in there), None)
        if lacking is not None:
            shown = ", ".join(map(cut, there[:_MOST_TOLD])) + (", ..." if len(there) > _MOST_TOLD else "")
            raise self.error(
                f"no row of {sheet.path} has `{cut(lacking)}` in column `{cut(column)}`", where, f"it has {shown or 'nothing'}"
            )
        return sheet.only(column, texts)

    def keys(self, sheet: Sheet) -> dict[str, tuple[str, str]]:
        """Factor, `arm` or `item` to column and the unit of its values."""
        known = self.known
        given = self.inner("keys")
        found: dict[str, tuple[str, str]] = {}
        for name, column in given.items():
            if name not in known:
                raise self.error(f"the study has no factor `{name}`", f"keys.{name}", did_you_mean(name, known), at_key=True)
            if not isinstance(column, str):
                raise self.error(f"a key is the name of a column, found {shown(column)}", f"keys.{name}", did_you_mean("", sheet.columns))
            self.require_column(column, sheet, f"keys.{name}")
            found[name] = (column, unit_suffix(column))
        for name in known:
            for column in sheet.columns:
                unit = unit_suffix(column)
                if name not in given and (column == name or (unit and column == f"{name}_{column.rpartition('_')[2]}")):
                    found[name] = (column, unit if column != name else "")
                    break
        for name, (column, unit) in found.items():
            self.require_key(sheet, name, column, unit)
        return found

    def require_key(self, sheet: Sheet, name: str, column: str, unit: str) -> None:
        """Raises for a row that does not say of which level it is."""
        where = f"keys.{name}" if name in self.inner("keys") else "file"
        for record in sheet.records:
            text = record.cells[column]
            if text in ("", NOT_SET) and name not in self.unset:
                raise self.error(
                    f"{sheet.place(record, column)}: the row does not say of which `{name}` it is: column `{column}` is empty", where,
                    "write its level, or leave the row out; every cell has one",
                )  # fmt: skip
            if text not in ("", NOT_SET) and unit and number(text) is None:
                raise self.error(
                    f"{sheet.place(record, column)}: `{cut(text)}` in column `{column}` is no number of {unit}", where,
                    "the column's name ends in the unit of its cells",
                )  # fmt: skip

    def quantities(self, sheet: Sheet, taken: list[str]) -> dict[str, Quantity]:
        """Names in expressions to columns."""
        given = self.inner("columns")
        found: dict[str, Quantity] = {}
        for name, value in given.items():
            where = f"columns.{name}"
            inner: Tree = (
                {"column": value} if isinstance(value, str) else cast(Tree, value) if isinstance(value, dict) else {"column": value}
            )
            for key in inner:
                if key not in (known := [row.name for row in COLUMN]):
                    raise self.error(f"unknown key `{key}`", f"{where}.{key}", did_you_mean(key, known), at_key=True)
            column = self.text(inner, "column", where, name)
            found[name] = self.quantity(inner, column, sheet, where)
            self.require_kind(name, found[name], f"{where}.unit" if "unit" in inner else where)
        if not given:
            for column in sheet.columns:
                if column not in taken and _holds_numbers(column, sheet.texts(column)):
                    found[column] = self.quantity({}, column, sheet, "")
        if not found:
            raise self.error(f"no column of {sheet.path} holds numbers that are no keys", "file", f"it has {', '.join(sheet.columns)}")
        return found

    def quantity(self, inner: Tree, column: str, sheet: Sheet, where: str) -> Quantity:
        self.require_column(column, sheet, f"{where}.column" if where else where)
        for key in ("sd", "ci"):
            if key in inner:
                self.require_column(self.text(inner, key, where), sheet, f"{where}.{key}")
        n = inner.get("n")
        if n is not None and not (isinstance(n, int) and not isinstance(n, bool) and 0 < n < _MOST_RUNS) and n not in sheet.columns:
            known = did_you_mean(str(n), sheet.columns) if isinstance(n, str) else "such as 30"
            raise self.error(f"`n` is a whole number or a column of {sheet.path}, found {cut(repr(n))}", f"{where}.n", known)
        if "sd" in inner and "ci" in inner:
            raise self.error("`sd` and `ci` both say how far a mean can be trusted", f"{where}.ci", "leave one of them out")
        if "sd" in inner and n is None:
            raise self.error(
                "a standard deviation says how far a mean can be trusted only with its number of observations", where,
                "say of how many by `n` (`--n`): a number, or a column",
            )  # fmt: skip
        if n is not None and "sd" not in inner and "ci" not in inner:
            raise self.error(
                "a number of observations says how far a mean can be trusted only with its standard deviation or interval", f"{where}.n",
                "name the column of it by `sd` (`--sd`) or `ci` (`--ci`); without `n` the means are taken as exact",
            )  # fmt: skip
        digits = inner.get("digits")
        if digits is not None and (not isinstance(digits, int) or isinstance(digits, bool) or abs(digits) > _MOST_DIGITS):
            raise self.error(
                f"`digits` is a whole number from -{_MOST_DIGITS} to {_MOST_DIGITS}", f"{where}.digits", "of decimals; -3 are thousands"
            )
        self.require_numbers(sheet, column, where)
        if not sheet.texts(column):
            raise self.error(
                f"column `{column}` of {sheet.path} is empty", where or "file", "leave it out, or choose other rows by `where`"
            )
        for key in _SPREADS:
            if isinstance(inner.get(key), str):
                self.require_numbers(sheet, str(inner[key]), f"{where}.{key}", key)
        name = self.text(inner, "unit", where, unit_suffix(column))
        at = (f"{where}.unit" if "unit" in inner else where) or "file"
        try:
            # What is more than a name would be worked out: of `* 0 s` every value would be 0.
            if name and not _UNIT.fullmatch(name):
                raise _core.ScenarioError(name)
            unit = units.PLAIN if not name else (0.01, units.PLAIN) if name == "%" else units.of_quantity(f"1 {name}")
        except _core.ScenarioError:
            raise self.error(f"unknown unit `{cut(name)}`", at, "such as s, ms, bit/s, Mbit/s, kB, packets, %") from None
        if isinstance(unit, tuple):
            unit = units.Unit(unit[1].powers, unit[1].scale * unit[0])
        sd, ci = (self.text(inner, key, where, "") or None for key in ("sd", "ci"))
        return Quantity(column, unit, name, sd, ci, n, digits, self.place(at))

    # --- values

    def require_kind(self, name: str, quantity: Quantity, key: str) -> None:
        """Raises for a column that is called like a measure and is of another kind: it would be held against that."""
        # To say what else an unknown word may mean takes longer than all else about a column.
        if not quantity.unit_name or (name.isidentifier() and name not in resolve.names()):
            return
        try:
            known = measure(name)
        except ExpressionError:
            return
        if quantity.unit.powers != units_of(known).powers:
            whence = "" if key.endswith(".unit") else f", as the name of its column `{quantity.column}` ends in"
            raise self.error(
                f"`{name}` is in {quantity.unit_name}{whence}, and the measure `{name}` in {known.unit or 'plain numbers'}", key,
                f"`unit` says what {Path(str(self.tree['file'])).name} has; what is of another kind than the measure is called otherwise",
            )  # fmt: skip

    def place(self, key: str) -> Place | None:
        """Where a study says something of its table; None if none does."""
        raise NotImplementedError

    def no_keys(self, sheet: Sheet) -> SawtoothError:
        """The error about a table of which no column tells the cells apart."""
        if kind(sheet.path) is Kind.JSON:
            return self.error(
                f"{sheet.path} tells of both directions, and one is compared", "file",
                'a study\'s [[references]] chooses by `where = { direction = "upload" }`, or "download"',
            )  # fmt: skip
        return self.error(
            f"no column of {self.tree['file']} is a factor of the study", "file",
            f"its columns are {', '.join(sheet.columns)}; the study has {', '.join(self.known)}; `keys`, or `--factor NAME=COLUMN`, says which is which",
        )  # fmt: skip

    def require_one_row(self, found: Reference, quantity: str) -> None:
        """Raises for two rows that have a value of one cell: which of them holds is anybody's guess."""
        rows = found.table(quantity)
        if rows.height < 2:
            return
        names = list(found.keys)
        if not names:
            raise self.no_keys(found.sheet)
        twice = rows.group_by(names, maintain_order=True).agg(pl.len(), pl.col("label").first(), pl.col("place")).filter(pl.col("len") > 1)
        if twice.height:
            first = twice.row(0, named=True)
            taken = {column for column, _ in found.keys.values()} | {quantity.column for quantity in found.quantities.values()}
            others = ", ".join(column for column in found.sheet.columns if column not in taken) or "none"
            raise self.error(
                f"{first['place'][1]}: {first['len']} rows are of {first['label']}, the first in line {first['place'][0].split(':')[-2]}", "file",
                f"each cell needs one row; columns that are neither key nor value: {others}; `where` of a study's reference chooses rows by them",
            )  # fmt: skip

    def require_numbers(self, sheet: Sheet, column: str, where: str, key: str = "") -> None:
        """Raises for what is no number, or none that it can be, with its place."""
        for record in sheet.records:
            text = record.cells[column]
            value = number(text)
            wrong = "is no number" if value is None else _SPREADS[key](value) if key else ""
            if text and wrong:
                wanted = {"n": "a whole number from 1 on is needed; ", "sd": "0 or more is needed; ", "ci": "0 or more is needed; "}.get(
                    key, ""
                )
                raise self.error(
                    f"{sheet.place(record, column)}: `{cut(text)}` in column `{column}` {wrong}", where or "file",
                    f"{wanted}leave it empty if it is not known",
                )  # fmt: skip

    def require_column(self, column: str, sheet: Sheet, where: str) -> None:
        if column not in sheet.columns:
            raise self.error(f"{sheet.path} has no column `{cut(column)}`", where or "file", did_you_mean(column, sheet.columns))

    def inner(self, key: str) -> Tree:
        given = self.tree.get(key, {})
        if not isinstance(given, dict):
            raise self.wrong(mistakes.no_table(key, given), key)
        if key in self.tree and not given:
            raise self.wrong(mistakes.nothing_chosen(key), key)
        return cast(Tree, given)

    def wrong(self, said: Said, key: str = "") -> SawtoothError:
        """An error of a message and a hint."""
        message, hint = said
        return self.error(message, key, hint)

    def text(self, tree: Tree, key: str, where: str, default: str | None = None) -> str:
        value = tree.get(key, default)
        path = f"{where}.{key}" if where else key
        if value is None:
            _, hint = mistakes.lacks("", key)
            raise self.error(f"a reference needs a `{key}`", hint=hint)
        if not isinstance(value, str):
            raise self.wrong(mistakes.no_text(key, value), path)
        return value


class _OfStudy(_Reader):
    """What a study says."""

    relative = "its name is relative to the study's file"

    def __init__(self, study: Study, tree: Tree, path: str, factors: Mapping[str, bool]) -> None:
        arms = [*study.arms, *study.other_arms]
        super().__init__(tree, list(factors), [*(name for name, unset in factors.items() if unset), *([] if arms else ["arm"])])
        self.study = study
        self.path = path

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> StudyError:
        return self.study.document.error(message, f"{self.path}.{key}" if key else self.path, hint, key=at_key)

    def place(self, key: str) -> Place | None:
        return self.study.document.place(f"{self.path}.{key}")

    def file(self) -> Path:
        return self.study.folder.file(self.tree.get("file"), lambda message: self.error(message, "file"))


class _OfFile(_Reader):
    """What the command line says."""

    def __init__(self, path: Path, tree: Tree, factors: Sequence[str], unset: Sequence[str]) -> None:
        super().__init__(tree, factors, unset)
        self.named = path

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> DatasetError:  # noqa: ARG002
        return DatasetError(message, hint)

    def place(self, key: str) -> None:  # noqa: ARG002
        return None

    def file(self) -> Path:
        return self.named


def _below_0(value: float) -> str:
    return "is below 0" if value < 0 else ""


def _no_count(value: float) -> str:
    return "" if value.is_integer() and 1 <= value < _MOST_RUNS else "is no number of observations"


_SPREADS: Mapping[str, Callable[[float], str]] = {"sd": _below_0, "ci": _below_0, "n": _no_count}
"""What tells how far a mean can be trusted, and what is wrong with a number of it."""


def _holds_numbers(column: str, texts: Sequence[str]) -> bool:
    """Whether a column of which nothing is said is one of numbers, be some of them misspelt: all that it has are, or its name ends in a unit."""
    meant = [_is_float(text) for text in texts]
    return any(meant) and (all(meant) or bool(unit_suffix(column)))


def _is_float(text: str) -> bool:
    """Whether it is a number to programs: `nan` and `inf`, too, that no table of numbers can be compared by."""
    try:
        float(text)
    except ValueError:
        return False
    return True
