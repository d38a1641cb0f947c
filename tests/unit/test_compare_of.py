"""Of a measure with several items `of` chooses: links, flows, and blocks of flows by their name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.errors import DatasetError
from sawtooth.report import compare as side_by_side
from sawtooth.report.compare import Question

STUDY = """\
name = "two"
repeat = 2
[draws]
S = { distribution = "uniform", low = "0 ms", high = "300 ms" }
[scenario]
duration = "1 s"
links.a = { rate = "10 Mbit/s", delay = "10 ms" }
links.b = { rate = "8 Mbit/s", delay = "10 ms" }
flows = [{ name = "x", path = ["a", "b"], count = 2, start = "S" }, { name = "y", path = ["b"], start = "S" }]
[sweep]
"links.a.delay" = ["5 ms", "20 ms"]
"""


@pytest.fixture
def both(once: Callable[[str, Callable[[Path], None]], Path]) -> tuple[Path, Path]:
    def fill(made: Path) -> None:
        for name in ("a", "b"):
            sawtooth.run(STUDY, made / name)

    made = once("compare-of", fill)
    return made / "a", made / "b"


def items(first: Path, others: Sequence[Path], of: Sequence[str], *metrics: str, **asked: Any) -> list[str]:
    found = side_by_side.compare(first, others, Question(metrics, of=of, **asked))
    return list(dict.fromkeys(row.item for row in found.rows))


def test_a_measure_of_several_items_has_rows_of_those_that_are_chosen(both: tuple[Path, Path]) -> None:
    first, *others = both
    assert items(first, others, (), "links.arrived_packets") == ["a forward", "a reverse", "b forward", "b reverse"]
    assert items(first, others, ("b forward",), "links.arrived_packets") == ["b forward"]
    assert items(first, others, ("b forward", "a forward"), "links.arrived_packets") == ["b forward", "a forward"]
    assert items(first, others, ("y",)) == ["y"]
    # A block by its name is all its flows, as in figures and findings.
    assert items(first, others, ("x",), how="each") == ["x[1]", "x[2]"]
    assert items(first, others, ("x[2]",), how="each") == ["x[2]"]
    assert side_by_side.compare(first, others, Question(of=["y"])).notes[0] == "only of y"


def test_an_item_that_nothing_has_is_refused_with_those_that_there_are(both: tuple[Path, Path]) -> None:
    first, *others = both
    with pytest.raises(DatasetError) as raised:
        items(first, others, ("b",), "links.arrived_packets", "goodput_bps")
    assert str(raised.value) == (
        "error: no run has an item `b` of `links.arrived_packets`\nhint: there are a forward, a reverse, b forward, b reverse"
    )
    with pytest.raises(DatasetError) as raised:
        items(first, others, ("b forward",))
    assert str(raised.value) == "error: no run has an item `b forward` of `completion_ns, goodput_bps`\nhint: there are x, y"


def test_one_published_number_of_a_cell_is_not_held_against_several_items(both: tuple[Path, Path], tmp_path: Path) -> None:
    table = tmp_path / "drops.csv"
    table.write_text("delay_ms,arrived\n5,30\n20,40\n")
    published = side_by_side.published("arrived", unit="packet", factors=["delay=delay_ms"])
    with pytest.raises(DatasetError) as raised:
        items(both[0], [table], (), "links.arrived_packets", published=published)
    assert str(raised.value) == (
        "error: `links.arrived_packets` is of 4 items (a forward, a reverse, b forward, b reverse), and a number of `drops` is of a whole cell\n"
        "hint: --of ITEM says which of them it is of; if the table has a column of items, --factor item=COLUMN does"
    )
    assert items(both[0], [table], ("b forward",), "links.arrived_packets", published=published) == ["b forward"]


def test_the_command_line_and_python_take_it(both: tuple[Path, Path]) -> None:
    first, second = map(str, both)
    told = CliRunner().invoke(
        app, ["compare", first, second, "--metric", "links.arrived_packets", "--of", "a forward", "--of", "b forward"]
    )
    assert told.exit_code == 0, told.output
    assert "a forward" in told.output and "a reverse" not in told.output
    dataset = sawtooth.Dataset.open(both[0])
    assert set(dataset.compare(both[1], of="y").numbers["item"]) == {"y"}
    assert set(dataset.compare(both[1], metric="links.arrived_packets", of=["a forward", "b forward"]).numbers["item"]) == {
        "a forward",
        "b forward",
    }
    with pytest.raises(TypeError, match="an item is called by its name, and several by a list of them, found an int: 3"):
        dataset.compare(both[1], of=3)  # type: ignore[arg-type]
