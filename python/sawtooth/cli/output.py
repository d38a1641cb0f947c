"""What commands print: JSON for other programs, tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sawtooth import streams

if TYPE_CHECKING:
    import polars as pl


def print_json(value: Any) -> None:
    """Writes a value to standard output, indented."""
    print(json.dumps(value, indent=2))


def print_pairs(rows: Sequence[tuple[str, str]], *, title: str | None = None) -> None:
    """Writes names and what they mean in two columns. A terminal gets what fits it, a pipe whole lines without a fold."""
    if not sys.stdout.isatty():
        widest = max((len(name) for name, _ in rows), default=0)
        print("\n".join([*([title] if title else []), *(line for row in rows for line in _whole(row, widest))]))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, words in rows:
        table.add_row(Text(name), Text(words))
    streams.Console().print(table)


def _whole(row: tuple[str, str], widest: int) -> list[str]:
    first, *others = row[1].split("\n")
    return [f"{row[0]:{widest}}  {first}".rstrip(), *(f"{'':{widest}}  {line}" for line in others)]


def upright(frame: pl.DataFrame) -> pl.DataFrame:
    """One column per row, headed by what the rows are of."""
    import polars as pl

    name = frame.columns[0]
    rows = frame[name].cast(pl.String).to_list()
    if len(set(rows)) == frame.height:
        # A flow without a name is called "flow", as the column is; then the column goes without.
        return frame.drop(name).transpose(include_header=True, header_name="" if name in rows else name, column_names=rows)
    return frame.transpose(include_header=True, header_name="", column_names=[str(at) for at in range(1, frame.height + 1)])
