"""What `sawtooth list` prints."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from sawtooth import listing
from sawtooth.cli import app


@pytest.mark.parametrize("kind", ["cc", "limit", "column"])
def test_a_pipe_gets_a_line_for_each_row_and_each_parameter_whatever_its_length(kind: str) -> None:
    printed = CliRunner(env={"COLUMNS": "60"}).invoke(app, ["list", kind]).output.splitlines()
    rows = listing.table(kind)
    widest = max(len(row["name"]) for row in rows)
    wanted = [
        line for row in rows for line in (f"{row['name']:{widest}}  {listing.words(row)}").replace("\n", f"\n{'':{widest}}  ").splitlines()
    ]
    assert printed == [line.rstrip() for line in wanted]
    assert max(map(len, printed)) > 100


def test_all_tables_come_with_their_names_as_titles() -> None:
    printed = CliRunner().invoke(app, ["list"]).output.splitlines()
    assert [line for line in printed if line in listing.KINDS] == list(listing.KINDS)
