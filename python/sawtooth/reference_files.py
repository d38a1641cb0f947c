"""The references that a study names: their files are read when it is planned, and kept with its results."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from sawtooth import _core, reading
from sawtooth.errors import StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.lines import lines
from sawtooth.measures import units
from sawtooth.recognise import unit_suffix
from sawtooth.references import Quantity, Reference, digest
from sawtooth.study import Study
from sawtooth.study.assign import Tree
from sawtooth.study.keys import Key

KEYS = (
    Key("name", "word", "needed", "what expressions call it: `references.NAME.COLUMN`, or `reference.COLUMN` if it is the only one"),
    Key("file", "name of a file", "needed", "a CSV file with a line of column names, relative to the study; lines that begin with `#` are comments"),
    Key("source", "text", "", "where the numbers are from; it stands below what shows them"),
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


def read(study: Study, stored: Mapping[str, str] | None, factors: Mapping[str, object]) -> dict[str, Reference]:
    """The references of a study by name.

    Args:
        study: which.
        stored: text of each file, of results that have them; None to read the files.
        factors: names of the study's factors.

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
        reference = _Reader(study, cast(Tree, entry), path, factors).reference(stored)
        if reference.name in found:
            raise study.document.error(f"two references are called `{reference.name}`", f"{path}.name", "give this one another name")
        found[reference.name] = reference
    return found


def texts(study: Study) -> dict[str, str]:
    """The text of the file of each reference, to be kept with results."""
    entries = cast(list[Tree], study.tree.get("references", []))
    return {str(entry["name"]): _Reader(study, entry, f"references[{at}]", {}).content() for at, entry in enumerate(entries)}


class _Reader:
    def __init__(self, study: Study, tree: Tree, path: str, factors: Mapping[str, object]) -> None:
        self.study = study
        self.tree = tree
        self.path = path
        self.factors = factors

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> StudyError:
        return self.study.document.error(message, f"{self.path}.{key}" if key else self.path, hint, key=at_key)

    def content(self) -> str:
        """What the file holds."""
        path = self.file()
        try:
            return reading.read_text(path, _MOST_BYTES, "leave out what is not compared", "utf-8-sig")
        except OSError as error:
            raise self.error(f"cannot read {path}: {error.strerror or error}", "file", "its name is relative to the study's file") from None
        except reading.Unreadable as error:
            raise self.error(error.message, "file", error.hint or "a CSV file is needed") from None

    def file(self) -> Path:
        return self.study.folder.file(self.tree.get("file"), lambda message: self.error(message, "file"))

    def reference(self, stored: Mapping[str, str] | None) -> Reference:
        for key in self.tree:
            if key not in (known := [row.name for row in KEYS]):
                raise self.error(f"unknown key `{key}`", key, did_you_mean(key, known), at_key=True)
        name = self.text(self.tree, "name", "")
        if not name.replace("_", "").isalnum() or name[:1].isdigit():
            raise self.error(f"`{cut(name)}` cannot be the name of a reference", "name", "letters, digits and `_`, a letter first")
        if "file" not in self.tree:
            raise self.error("a reference needs a `file`", hint="the name of a CSV file, relative to the study")
        path = Path(str(self.tree["file"])) if stored is not None else self.file()
        content = stored.get(name, "") if stored is not None else self.content()
        table = self.table(content, path)
        keys = self.keys(table)
        quantities = self.quantities(table, [column for column, _ in keys.values()], path)
        return Reference(name, path, digest(content.encode()), self.text(self.tree, "source", "", ""), keys, quantities, table)

    def table(self, content: str, path: Path) -> pl.DataFrame:
        """The rows, every cell as text."""
        head = next((line for line in lines(content) if line.strip() and not line.startswith("#")), "")
        try:
            names = [cell.strip() for row in csv.reader(io.StringIO(head)) for cell in row]
            twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
            if twice is not None:
                raise self.error(f"{path} has two columns `{cut(twice)}`", "file", "give each its own name")
            table = pl.read_csv(content.encode(), infer_schema=False, comment_prefix="#")
        except (pl.exceptions.PolarsError, csv.Error) as error:
            why: str = str(error.args[0]) if error.args else "it cannot be read"
            raise self.error(f"{path} is no table: {why.splitlines()[0]}", "file", "it needs a line of column names, then rows") from None
        table = table.rename({name: name.strip() for name in table.columns})
        for column, wanted in self.inner("where").items():
            self.require_column(column, table, f"where.{column}", path)
            texts = [str(each) for each in (cast("list[object]", wanted) if isinstance(wanted, list) else [cast("object", wanted)])]
            table = table.filter(pl.col(column).str.strip_chars().is_in(texts))
        return table

    def keys(self, table: pl.DataFrame) -> dict[str, tuple[str, str]]:
        """Factor, `arm` or `item` to column and the unit of its values."""
        known = [*self.factors, "arm", "item"]
        given = self.inner("keys")
        found: dict[str, tuple[str, str]] = {}
        for name, column in given.items():
            if name not in known:
                raise self.error(f"the study has no factor `{name}`", f"keys.{name}", did_you_mean(name, known), at_key=True)
            if not isinstance(column, str):
                raise self.error("a key is the name of a column", f"keys.{name}")
            self.require_column(column, table, f"keys.{name}", None)
            found[name] = (column, unit_suffix(column))
        for name in known:
            for column in table.columns:
                unit = unit_suffix(column)
                if name not in given and (column == name or (unit and column == f"{name}_{column.rpartition('_')[2]}")):
                    found[name] = (column, unit if column != name else "")
                    break
        return found

    def quantities(self, table: pl.DataFrame, taken: list[str], path: Path) -> dict[str, Quantity]:
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
            found[name] = self.quantity(inner, column, table, where, path)
        if not given:
            for column in table.columns:
                numbers = [cell for cell in table[column] if cell is not None and cell.strip()]
                if column not in taken and numbers and all(_is_number(cell) for cell in numbers):
                    found[column] = self.quantity({}, column, table, "", path)
        if not found:
            raise self.error(f"no column of {path} holds numbers that are no keys", "file", f"it has {', '.join(table.columns)}")
        return found

    def quantity(self, inner: Tree, column: str, table: pl.DataFrame, where: str, path: Path) -> Quantity:
        self.require_column(column, table, where, path)
        for key in ("sd", "ci"):
            if key in inner:
                self.require_column(self.text(inner, key, where), table, f"{where}.{key}", path)
        n = inner.get("n")
        if n is not None and not (isinstance(n, int) and not isinstance(n, bool) and n > 0) and n not in table.columns:
            raise self.error(f"`n` is a whole number or a column, found {n!r}", f"{where}.n", did_you_mean(str(n), table.columns))
        if "sd" in inner and n is None:
            raise self.error(
                "a standard deviation says how far a mean can be trusted only with its number of observations", where, "add n = 30"
            )
        digits = inner.get("digits")
        if digits is not None and (not isinstance(digits, int) or isinstance(digits, bool)):
            raise self.error("`digits` is a whole number", f"{where}.digits", "of decimals; -3 are thousands")
        for row, cell in enumerate(table[column]):
            if cell is not None and cell.strip() and not _is_number(cell):
                raise self.error(
                    f"row {row + 1} of {path}: `{cut(cell)}` in column `{column}` is no number",
                    where or "file",
                    "leave it empty if it is not known",
                )
        name = self.text(inner, "unit", where, unit_suffix(column))
        try:
            unit = units.PLAIN if not name else units.of_quantity(f"1 {name}")
        except _core.ScenarioError:
            raise self.error(
                f"unknown unit `{cut(name)}`", f"{where}.unit" if where else "file", "such as s, ms, bit/s, Mbit/s, kB, packets"
            ) from None
        if isinstance(unit, tuple):
            unit = units.Unit(unit[1].powers, unit[1].scale * unit[0])
        return Quantity(
            column, unit, name, self.text(inner, "sd", where, "") or None, self.text(inner, "ci", where, "") or None,
            None if n is None else str(n), digits,
        )  # fmt: skip

    # --- values

    def require_column(self, column: str, table: pl.DataFrame, where: str, path: Path | None) -> None:
        if column not in table.columns:
            raise self.error(
                f"{path or self.tree['file']} has no column `{cut(column)}`", where or "file", did_you_mean(column, table.columns)
            )

    def inner(self, key: str) -> Tree:
        given = self.tree.get(key, {})
        if not isinstance(given, dict):
            raise self.error(f"`{key}` is a table", key)
        return cast(Tree, given)

    def text(self, tree: Tree, key: str, where: str, default: str | None = None) -> str:
        value = tree.get(key, default)
        path = f"{where}.{key}" if where else key
        if value is None:
            raise self.error(f"a reference needs a `{key}`")
        if not isinstance(value, str):
            raise self.error(f"`{key}` must be a text", path)
        return value


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
