"""Tables of reports that have very many rows."""

from __future__ import annotations

import polars as pl

from sawtooth.report import cells, many
from sawtooth.report.document import MOST_ROWS, Grid


def test_a_page_shows_the_first_rows_of_a_long_table_and_says_so() -> None:
    short, long = (Grid("rates", pl.DataFrame({"rate": range(rows)}), "All rates.") for rows in (MOST_ROWS, MOST_ROWS + 1))
    assert short.told == "All rates."
    assert long.told == f"All rates. The first {MOST_ROWS:,} of {MOST_ROWS + 1:,} rows: all are in the CSV file."
    assert [len(cells.columns(grid)[0].cells) for grid in (short, long)] == [MOST_ROWS, MOST_ROWS]


def test_rows_become_the_frame_that_they_are_all_at_once() -> None:
    rows = [{"cell": at, "low": None if at % 3 else at / 7, **({"unfinished": at} if at == 49_999 else {})} for at in range(50_000)]
    assert many.of_rows(iter(rows)).equals(pl.DataFrame(rows, infer_schema_length=None))
    assert many.of_rows([]).is_empty()
