"""Tables of published numbers: those that a study names, read when it is planned and kept with its results; and those that `compare` is given."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from sawtooth import _core, reading
from sawtooth.errors import DatasetError, SawtoothError, StudyError, cut
from sawtooth.hints import did_you_mean
from sawtooth.lines import lines
from sawtooth.measures import units
from sawtooth.recognise import unit_suffix
from sawtooth.references import Quantity, Reference, digest
from sawtooth.study import Study
from sawtooth.study.assign import Tree
from sawtooth.study.keys import Key

if TYPE_CHECKING:
    from sawtooth.results.dataset import Dataset

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
    return read(dataset.study, {name: entry["text"] for name, entry in stored.items()}, dict.fromkeys(factors)) if stored else {}


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


def of_file(path: Path, columns: Columns, factors: Sequence[str]) -> Reference:
    """A table that no study names.

    Args:
        path: of the CSV file.
        columns: what is said of its columns.
        factors: names of the study's factors; `cell`, `arm` and `item` may be columns, too.

    Raises:
        DatasetError: says what of it cannot be used, and what to do.

    """
    reader = _OfFile(path, {"name": "table", "file": str(path), **columns.tree}, ["cell", *factors])
    found = reader.reference(None)
    if not found.keys:
        raise reader.no_keys(found.rows)
    return found


class _Reader:
    """Reads what is said of one table, and the table."""

    relative: str | None = None
    """What the name of a file that is not there is relative to, if that is not plain."""

    def __init__(self, tree: Tree, factors: Sequence[str]) -> None:
        self.tree = tree
        self.known = [*factors, "arm", "item"]
        self.numbers: list[str] = []

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> SawtoothError:
        """An error about what is said by `key`."""
        raise NotImplementedError

    def file(self) -> Path:
        """Where the table is."""
        raise NotImplementedError

    def content(self) -> str:
        """What the file holds."""
        path = self.file()
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
        table = self.table(content, path)
        keys = self.keys(table)
        quantities = self.quantities(table, [column for column, _ in keys.values()], path)
        found = Reference(name, path, digest(content.encode()), self.text(self.tree, "source", "", ""), keys, quantities, table)
        for quantity in quantities:
            self.require_one_row(found, quantity)
        return found

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
        self.numbers = _places(content, table.height)
        for column, wanted in self.inner("where").items():
            self.require_column(column, table, f"where.{column}", path)
            texts = [str(each) for each in (cast("list[object]", wanted) if isinstance(wanted, list) else [cast("object", wanted)])]
            kept = table[column].str.strip_chars().is_in(texts).fill_null(value=False)
            self.numbers = [number for number, keep in zip(self.numbers, kept, strict=True) if keep]
            table = table.filter(kept)
        return table

    def keys(self, table: pl.DataFrame) -> dict[str, tuple[str, str]]:
        """Factor, `arm` or `item` to column and the unit of its values."""
        known = self.known
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
            known = did_you_mean(str(n), table.columns) if isinstance(n, str) else "such as 30"
            raise self.error(f"`n` is a whole number or a column of {path}, found {n!r}", f"{where}.n", known)
        if "sd" in inner and n is None and "ci" not in inner:
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
        if digits is not None and (not isinstance(digits, int) or isinstance(digits, bool)):
            raise self.error("`digits` is a whole number", f"{where}.digits", "of decimals; -3 are thousands")
        self.require_numbers(table, column, where, path)
        for key in ("sd", "ci", "n"):
            if isinstance(inner.get(key), str):
                self.require_numbers(table, str(inner[key]), f"{where}.{key}", path)
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

    def no_keys(self, table: pl.DataFrame) -> SawtoothError:
        """The error about a table of which no column tells the cells apart."""
        return self.error(
            f"no column of {self.tree['file']} is a factor of the study", "file",
            f"its columns are {', '.join(table.columns)}; the study has {', '.join(self.known)}; `keys`, or `--factor NAME=COLUMN`, says which is which",
        )  # fmt: skip

    def require_one_row(self, found: Reference, quantity: str) -> None:
        """Raises for two rows that have a value of one cell: which of them holds is anybody's guess."""
        rows = found.table(quantity)
        if rows.height < 2:
            return
        names = list(found.keys)
        if not names:
            raise self.no_keys(found.rows)
        twice = rows.group_by(names, maintain_order=True).len().filter(pl.col("len") > 1)
        if twice.height:
            first = rows.join(twice.head(1), on=names, maintain_order="left")["label"][0]
            taken = {column for column, _ in found.keys.values()} | {quantity.column for quantity in found.quantities.values()}
            others = ", ".join(column for column in found.rows.columns if column not in taken) or "none"
            raise self.error(
                f"{found.path} has {twice['len'][0]} rows for {first}", "file",
                f"each cell needs one row; columns that are neither key nor value: {others}; `where` of a study's reference chooses rows by them",
            )  # fmt: skip

    def require_numbers(self, table: pl.DataFrame, column: str, where: str, path: Path) -> None:
        """Raises for what is no number, with its line."""
        for number, cell in zip(self.numbers, table[column], strict=True):
            if cell is not None and cell.strip() and not _is_number(cell):
                raise self.error(
                    f"{path}, {number}: `{cut(cell)}` in column `{column}` is no number",
                    where or "file",
                    "leave it empty if it is not known",
                )

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


class _OfStudy(_Reader):
    """What a study says."""

    relative = "its name is relative to the study's file"

    def __init__(self, study: Study, tree: Tree, path: str, factors: Mapping[str, object]) -> None:
        super().__init__(tree, list(factors))
        self.study = study
        self.path = path

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> StudyError:
        return self.study.document.error(message, f"{self.path}.{key}" if key else self.path, hint, key=at_key)

    def file(self) -> Path:
        return self.study.folder.file(self.tree.get("file"), lambda message: self.error(message, "file"))


class _OfFile(_Reader):
    """What the command line says."""

    def __init__(self, path: Path, tree: Tree, factors: Sequence[str]) -> None:
        super().__init__(tree, factors)
        self.named = path

    def error(self, message: str, key: str = "", hint: str | None = None, *, at_key: bool = False) -> DatasetError:  # noqa: ARG002
        return DatasetError(message, hint)

    def file(self) -> Path:
        return self.named


def _places(content: str, rows: int) -> list[str]:
    """Where each row is in its file, in words; by its number among the rows if they are not one to a line."""
    numbers = [number for number, line in enumerate(lines(content), 1) if line.strip() and not line.startswith("#")]
    return [f"line {number}" for number in numbers[1:]] if len(numbers) == rows + 1 else [f"row {row + 1}" for row in range(rows)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
