"""Cells without a value: a claim about all of them is not shown by the others, and is said to be open for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.report.answers import Answers
from sawtooth.report.document import Verdict
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study
from tests.unit.figure_runs import made

STUDY = """
repeat = 4
[draws]
start = { distribution = "uniform", low = "0", high = "300" }
[scenario]
duration = "6 s"
stack = "linux"
record = ["episodes"]
links.l = { rate = "4 Mbit/s", delay = "14 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ path = ["l"], name = "f", start = "start * 1 ms" }]
[sweep]
"links.l.queue.limit" = ["10 packets", "20 packets", "9000 packets"]
[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
"""
LOST = 'metric = "mean(episodes.lost_packets)"\nof = "f"\n'
"""Of a queue that holds all there is no value: nothing is lost."""

CLAIMS = {
    "a bound": ('arm = "reno"\nis = "above"\nthan = "0 packets"', "limit 9000 packets: none of 4 runs has a value"),
    "the other arm": ('arm = "reno"\nis = "above"\nthan = { arm = "cubic", times = 0.001 }', "limit 9000 packets: no replicate has values of both sides"),
    "other levels": (
        'arm = "reno"\nwhere = { limit = "10 packets" }\nis = "above"\nthan = { where = { limit = ["20 packets", "9000 packets"] }, times = 0.001 }',
        "against limit 9000 packets: no replicate has values of both sides",
    ),
    "the average": ('arm = "reno"\nis = "above"\nthan = "0 packets"\ncells = "on average"', "1 of 3 cells have no value (limit 9000 packets)"),
    "a ranking": ('is = "ranked"\norder = ["reno", "cubic"]', "limit 9000 packets: none of 8 runs has a value"),
    "a crossing": (
        'arm = "reno"\nis = "crossing"\nalong = "limit"\nbetween = ["10 packets", "9000 packets"]\nthan = "0 packets"',
        "no replicate tells it at limit 9000 packets",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return made(tmp_path_factory.mktemp("untold"), STUDY)


@pytest.fixture
def verdict(results: Dataset, tmp_path: Path) -> Callable[[str], Verdict]:
    def decided(claim: str) -> Verdict:
        path = tmp_path / "s.toml"
        path.write_text(f'{STUDY}\n[[findings]]\nclaim = "c"\n{LOST}{claim}\n')
        (found,) = Answers(results.shown_as(Study.load(path))).verdicts()
        return found

    return decided


@pytest.mark.parametrize(("claim", "said"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_open_where_some_cells_have_no_value(verdict: Callable[[str], Verdict], claim: str, said: str) -> None:
    found = verdict(claim)
    assert found.answer == "cannot distinguish"
    assert said in found.numbers


def test_the_others_may_still_show_that_it_holds_of_so_many(verdict: Callable[[str], Verdict]) -> None:
    found = verdict(CLAIMS["a bound"][0] + '\ncells = "at least 2"')
    assert found.answer == "yes"
    assert "limit 9000 packets: none of 4 runs has a value" in found.numbers
    assert verdict(CLAIMS["a bound"][0] + '\nwhere = { limit = ["10 packets", "20 packets"] }').answer == "yes"


def test_runs_without_a_value_are_counted(verdict: Callable[[str], Verdict]) -> None:
    found = verdict('where = { limit = "20 packets" }\nwindow = ["0 s", "0.3 s"]\narm = "cubic"\nis = "above"\nthan = "0 packets"')
    assert "; 1 of 4 runs has no value to compare" in found.numbers


def test_a_cell_without_the_item_is_not_spoken_of(tmp_path: Path) -> None:
    text = STUDY.replace("flows = [", 'flows = [{ path = ["l"], name = "other", count = 1, start = "start * 1 ms" }, ').partition(
        "[sweep]"
    )[0]
    text += '[sweep]\n"flows[0].count" = [0, 1]\n[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\nof = "other"\nis = "above"\nthan = "1 kbit/s"\n'
    (found,) = Answers(made(tmp_path, text)).verdicts()
    assert found.answer == "yes"


@pytest.mark.parametrize(
    "claim", ['arm = "reno"\nis = "above"\nthan = "0 bit/s"', 'is = "above"\nthan = "0 bit/s"'], ids=["of an arm", "of all"]
)
def test_a_claim_of_more_cells_than_there_are_is_refused(tmp_path: Path, claim: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f'{STUDY}\n[[findings]]\nclaim = "c"\nmetric = "goodput_bps"\n{claim}\ncells = "at least 9"\n')
    with pytest.raises(StudyError) as error:
        make_plan(Study.load(path))
    cells = 3 if "arm" in claim else 6
    assert error.value.message == f"it is claimed of at least 9 of {cells} cells"
    assert error.value.hint == f"the finding speaks of {cells} cells: of how many must it hold?"
    line = path.read_text().splitlines().index('cells = "at least 9"') + 1
    assert f"s.toml:{line}:9" in str(error.value)
