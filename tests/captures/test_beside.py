"""A capture beside another flow: numbers of the same transfer are the same whoever tells them, and what cannot be compared is refused in exact words."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sawtooth import captures, cli, taps
from sawtooth.api import simulate
from sawtooth.beside import Trace, beside, over_time
from sawtooth.beside.numbers import WHY_NO_VERDICT
from sawtooth.errors import DatasetError
from sawtooth.kinds import Kind, kind
from sawtooth.study import Study

TREE: dict[str, Any] = {
    "name": "asked",
    "scenario": {
        "duration": "6 s", "stack": "linux", "cc": "cubic", "sample": "20 ms",
        "links": {"l": {"rate": "8 Mbit/s", "delay": "20 ms", "loss": 0.003, "queue": {"name": "drop_tail", "limit": "40 packets"}}},
        "flows": [{"name": "long", "path": ["l"]}, {"name": "short", "path": ["l"], "start": "1 s", "source": {"name": "bulk", "size": "300 kB"}}],
    },
}  # fmt: skip
LONG = "10.0.0.1:32768 > 10.128.0.1:5001"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study, a capture of its run with seed 1 at both ends, and results of which the only run is captured, too."""
    directory = tmp_path_factory.mktemp("beside")
    (directory / "asked.toml").write_text(Study.of(TREE).document.text)
    scenario = {key: value for key, value in TREE["scenario"].items() if key != "sample"}
    (directory / "bare.toml").write_text(Study.of({**TREE, "scenario": scenario}).document.text)
    for point in ("sender", "receiver"):
        simulate(directory / "asked.toml", seed=1, captures=taps.wanted(directory / f"{point}.pcapng", [point]))
    call = {"path": ["l"], "transport": "udp", "source": {"name": "constant_rate", "rate": "1 Mbit/s"}}
    simulate({**scenario, "duration": "1 s", "flows": [call]}, captures=taps.wanted(directory / "datagrams.pcapng", ["sender"]))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(directory)
        for options in (["asked.toml", "--out", "results", "--pcap", "captured"], ["bare.toml", "--out", "bare"]):
            patched.setattr(sys, "argv", ["sawtooth", "run", *options])
            with pytest.raises(SystemExit) as raised:
                cli.main()
            assert raised.value.code == 0
    (captured,) = (directory / "captured").iterdir()
    captured.rename(directory / "run.pcapng")
    return directory


def values(numbers: pl.DataFrame) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {row["what"]: (row["first"], row["second"], row["ratio"]) for row in numbers.iter_rows(named=True)}


def test_a_capture_of_a_study_is_as_its_simulation(place: Path) -> None:
    made = beside(place / "sender.pcapng", place / "asked.toml")
    assert made.sides[0].row == made.sides[1].row
    assert {ratio for *_, ratio in values(made.numbers).values()} == {None, 1.0}
    assert made.notes == ["of a study the first run is simulated, with seed 1"]


@pytest.mark.parametrize("flow", ["long", "short"])
def test_a_capture_of_a_run_tells_what_its_records_tell(place: Path, flow: str) -> None:
    made = beside(place / "run.pcapng", place / "results", flows=("2" if flow == "short" else "1", flow))
    found = values(made.numbers)
    for what in ("of them sent again", "acknowledged", "round trip, least", "acknowledgements with SACK"):
        assert found[what][0] == found[what][1], what
    # The capture has the handshake's third packet, too, and of what is complete the answer to the receiver's FIN.
    sent, recorded, _ = found["segments sent"]
    assert sent is not None
    assert recorded is not None
    assert sent - recorded == (2 if flow == "short" else 1)
    for what in ("goodput over the lifetime", "limited by window, pacing and else"):
        assert found[what][2] == pytest.approx(1, rel=0.05), what


def test_what_a_capture_cannot_tell_is_not_known(place: Path) -> None:
    made = beside(place / "sender.pcapng", place / "receiver.pcapng")
    found = values(made.numbers)
    assert found["round trip, mean smoothed"][1:] == (None, None)
    assert found["limited by loss recovery"][1:] == (None, None)
    assert made.notes == [
        f"{LONG} of {place / 'receiver.pcapng'} was captured at its receiver: its round trips and limits are not those of a sender"
    ]
    assert found["acknowledged"][2] == pytest.approx(1, rel=0.01)


def test_it_says_which_flows_lie_beside_each_other_and_where_round_trips_are_from(place: Path) -> None:
    made = beside(place / "receiver.pcapng", place / "results", flows=("1", None))
    assert [(each.flow, each.taken, each.trips) for each in made.sides] == [
        (
            LONG,
            "named, of 2 flows",
            "captured at its receiver: of round trips at most the least is known, as what both ends took together",
        ),
        ("long", "the largest of 2 flows", "round trips are those that its sender measured"),
    ]
    assert beside(place / "run.pcapng", place / "run.pcapng").notes == [
        f"both are {LONG} of {place / 'run.pcapng'}, so nothing can be learnt of their agreement"
    ]
    assert beside(place / "run.pcapng", place / "run.pcapng", flows=("1", "2")).notes == []


def test_the_figure_has_both_over_their_own_time(place: Path) -> None:
    made = beside(place / "run.pcapng", place / "results", flows=("2", "short"))
    drawn = made.figure()
    assert [axis.get_ylabel() for axis in drawn.axes] == ["in flight (kB)", "smoothed RTT (ms)", "acknowledged (Mbit/s)"]
    for side, line in zip(made.sides, drawn.axes[0].get_lines(), strict=True):
        assert side.trace is not None
        assert np.max(np.asarray(line.get_ydata())) == pytest.approx(side.trace.flight.max() / 1e3)
    # Of the second flow, which starts after a second.
    assert made.sides[0].trace is not None
    assert 0 <= made.sides[0].trace.t[0] < 0.05


def test_results_without_samples_have_numbers_and_no_curve(place: Path) -> None:
    made = beside(place / "run.pcapng", place / "bare")
    assert values(made.numbers)["acknowledged"][2] == 1
    assert len(made.figure().axes[0].get_lines()) == 1
    assert made.notes[-1] == f"{place / 'bare'} has no samples, so the figure lacks it: give the scenario a `sample`, such as 100 ms"
    with pytest.raises(DatasetError) as refused:
        beside(place / "bare", place / "bare").figure()
    assert (
        str(refused.value)
        == "error: neither side has samples, so there is nothing to draw\nhint: give the scenarios a `sample`, such as 100 ms"
    )


def test_the_rate_of_a_steady_flow_is_steady_whatever_its_samples() -> None:
    t = np.arange(0, 20, 0.075)
    drawn = over_time([Trace("a", t, t, 1e6 * t)], "steady")
    rate = np.asarray(drawn.axes[-1].get_lines()[0].get_ydata(), dtype=float)
    assert np.allclose(rate, 8.0)


def test_a_file_is_a_capture_unless_it_is_called_otherwise(tmp_path: Path) -> None:
    (tmp_path / "dump").touch()
    (tmp_path / "table.csv").touch()
    names = {"dump": True, "table.csv": False, "gone.pcapng": True, "gone": False, "study.toml": False}
    assert {name: kind(tmp_path / name) is Kind.CAPTURE for name in names} == names


def said(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, list[str]]:
    monkeypatch.setattr(sys, "argv", ["sawtooth", "compare", *arguments])
    with pytest.raises(SystemExit) as raised:
        cli.main()
    told = capsys.readouterr()
    return int(str(raised.value.code)), told.out, told.err.splitlines()


def test_the_command_prints_numbers_without_a_verdict_and_writes_both(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    code, text, notes = said(["sender.pcapng", "asked.toml", "--out", str(tmp_path / "o")], monkeypatch, capsys)
    assert (code, notes) == (0, ["note: of a study the first run is simulated, with seed 1"])
    one, other, _, first, *rest = text.splitlines()
    told = f"{LONG}, the largest of 2 flows; captured at its sender: round trips are from data to its acknowledgement there"
    assert (one, other) == (f"sender.pcapng: {told}", f"asked.toml, simulated: {told}")
    assert first.split() == ["sender.pcapng", "asked.toml,", "simulated", "ratio"]
    assert WHY_NO_VERDICT in rest
    assert {path.name for path in (tmp_path / "o").iterdir()} == {"beside.svg", "beside.png", "beside.csv"}
    assert pl.read_csv(tmp_path / "o" / "beside.csv").columns == ["what", "unit", "first", "second", "ratio"]
    code, text, _ = said(["sender.pcapng", "results", "--flow", "1", "--flow", "short", "--json"], monkeypatch, capsys)
    told = json.loads(text)
    assert (code, told["verdict"], told["why_no_verdict"]) == (0, None, WHY_NO_VERDICT)
    assert [side["flow"] for side in told["sides"]] == [LONG, "short"]


def test_a_damaged_capture_is_compared_with_a_warning_and_exit_code_1(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = (place / "sender.pcapng").read_bytes()
    Path("cut.pcapng").write_bytes(whole[:-10])
    Path("whole.pcapng").write_bytes(whole)
    damage = captures.read("cut.pcapng").damage
    for order in (["cut.pcapng", "whole.pcapng"], ["whole.pcapng", "cut.pcapng"]):
        code, text, notes = said([*order, "--json"], monkeypatch, capsys)
        assert (code, notes) == (1, [f"warning: cut.pcapng is damaged, and what is told is of what was read before: {damage}"])
        assert {side["name"]: side["damage"] for side in json.loads(text)["sides"]} == {"cut.pcapng": damage, "whole.pcapng": None}


MEASURED = Path(__file__).parents[1] / "exchange" / "data" / "iperf3-tcp.json"
REFUSED: dict[str, tuple[list[str], str, str]] = {
    "nothing beside it": (
        ["sender.pcapng"], "a capture is compared with one other, and none is named",
        "name another capture, a results directory, or a study whose first run is simulated",
    ),
    "two beside it": (
        ["sender.pcapng", "results", "asked.toml"], "a capture is compared with one other, and 2 are named",
        "name another capture, a results directory, or a study whose first run is simulated",
    ),
    "three flows": (
        ["sender.pcapng", "results", "--flow", "a", "--flow", "b", "--flow", "c"], "--flow names a flow of each side, and 3 are named",
        "the first is of the first side, the second of the other",
    ),
    "an option for replicates": (
        ["sender.pcapng", "results", "--tolerance", "5 %"], "--tolerance is for results, whose replicates it tells of; a capture is one run", "leave it out",
    ),
    "a capture that is not there": (["gone.pcapng", "results"], "there is no file gone.pcapng", "name a capture, or `-` for standard input"),
    "a flow that a capture has not": (
        ["sender.pcapng", "results", "--flow", "7777"], "no flow of sender.pcapng is `7777`", "a number is that of a connection, as `sawtooth analyze` tells them; a port is named as in `:443`",
    ),
    "a flow that results have not": (
        ["sender.pcapng", "results", "--flow", "1", "--flow", "shrot"], "no flow of results is `shrot`", "did you mean `short`?",
    ),
    "a cell that is not there": (["sender.pcapng", "results", "--cell", "7"], "no finished run of results is of cell `7`", "known here: 1"),
    "two flows where no side is a capture": (
        ["results", "results", "--flow", "long", "--flow", "short"], "--flow is given more than once, and the page draws one window", "name one",
    ),
    "a capture without a flow of TCP": (["datagrams.pcapng", "results"], "datagrams.pcapng has no flow of TCP that sent data", "`sawtooth analyze` tells what it has"),
    "what iperf3 measured": (
        ["sender.pcapng", "measured.json"], "measured.json is what iperf3 measured, and a capture is compared with a capture, results or a study",
        "`sawtooth compare DIR measured.json` holds results against it, and `sawtooth analyze measured.json` tells what it has",
    ),
    "a study beside what iperf3 measured": (
        ["asked.toml", "measured.json"], "asked.toml is a study, and only beside a capture is it simulated",
        "`sawtooth run asked.toml --out DIR` makes results, which `sawtooth compare DIR measured.json` then takes",
    ),
    "results beside a study": (
        ["results", "asked.toml"], "asked.toml is a study, and only beside a capture is it simulated",
        "`sawtooth run asked.toml --out DIR` makes results, which `sawtooth compare results DIR` then takes",
    ),
    "what iperf3 measured before results": (
        ["measured.json", "results"], "measured.json is what iperf3 measured, and results are named before it", "`sawtooth compare results measured.json`; `sawtooth import` makes results of such files",
    ),
    "what iperf3 measured alone": (
        ["measured.json"], "measured.json is what iperf3 measured, and results are named before it", "`sawtooth compare DIR measured.json`; `sawtooth import` makes results of such files",
    ),
    "an arm where there are none": (["sender.pcapng", "results", "--arm", "a"], "no finished run of results is of arm `a`", "it has none"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.replace(" ", "_"))
def test_what_cannot_lie_beside_a_capture_is_refused_and_it_says_why(
    case: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, message, hint = REFUSED[case]
    monkeypatch.chdir(place)
    shutil.copy(MEASURED, "measured.json")
    code, _, told = said(arguments, monkeypatch, capsys)
    assert (code, told) == (2, [f"error: {message}", f"hint: {hint}"])
