"""The records by the names of RFC 4898, the TCP Extended Statistics MIB, and of web100, from which it came.

    dataset.flows().select("flow", rfc4898("SegsRetrans"), rfc4898("SndLimTimeCwnd"))

Which columns a name stands for is a table of the core, in the reference under each result table. Units are the columns': nanoseconds and
bytes.
"""

from __future__ import annotations

import functools
from typing import Any

import polars as pl

from sawtooth import arguments
from sawtooth.errors import DatasetError
from sawtooth.hints import did_you_mean
from sawtooth.recorded import schema


def rfc4898(name: str, table: str = "flows") -> pl.Expr:
    """The column of `table` that RFC 4898 calls `name`, under that name.

    Args:
        name: with its group or without, as in `tcpEStatsPerfSegsRetrans` and `SegsRetrans`, or web100's own, as in `PktsRetrans`.
        table: `flows` for a connection's totals, `series` for what changes over its life.

    Returns:
        An expression over the table's columns: one of them, or a sum and difference of several. It is null where one of them is: of a
        real kernel that does not tell it.

    Raises:
        DatasetError: if the table has nothing of that name.

    """
    table = arguments.text(table, "a table is called by its name, such as flows")
    name = arguments.text(name, "a column is called by its name, such as SegsRetrans")
    if table not in schema():
        raise DatasetError(f"there is no table `{table}`", f"there are {', '.join(schema())}")
    names = {known: row for row in _names(table) for known in _known_as(row)}
    if name not in names:
        elsewhere = [other for other in schema() if any(name in _known_as(row) for row in _names(other))]
        hint = (
            f"it is in `{elsewhere[0]}`: rfc4898({name!r}, {elsewhere[0]!r})"
            if elsewhere
            else did_you_mean(name, [known for row in _names(table) for known in _known_as(row) if known != row["object"]])
        )
        raise DatasetError(f"`{table}` has nothing that RFC 4898 calls `{name}`", hint)
    row = names[name]
    total = functools.reduce(pl.Expr.add, [pl.col(column) for column in row["columns"]])
    return functools.reduce(pl.Expr.sub, [pl.col(column) for column in row["less"]], total).alias(name)


def _names(table: str) -> list[dict[str, Any]]:
    return schema().get(table, {}).get("rfc4898", [])


def _known_as(row: dict[str, Any]) -> list[str]:
    """By its object, without its group, and by web100's name if that is another."""
    return [name for name in (row["object"], row["name"], row["web100"]) if name]
