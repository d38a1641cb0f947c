"""`sawtooth analyze` and `sawtooth compare` with files of iperf3 and flent, and studies that name them as references."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from sawtooth import cli
from sawtooth.cli import foreign_text
from sawtooth.plots.trace import Curve, Panel

DATA = Path(__file__).parent / "data"
STUDY = """\
name = "loop"
question = "Is the simulated link as fast as the measured one?"
repeat = 2
seed = 1

[scenario]
duration = "2 s"
stack = "linux"
links.bottleneck = { rate = "20 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "100 kB" } }

[[scenario.flows]]
path = ["bottleneck"]
cc = { name = "cubic" }
count = 2
"""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sawtooth", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, error = capsys.readouterr()
        return int(ended.value.code or 0), out, error

    return run


@pytest.fixture
def results(tmp_path: Path, told) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    assert told("run", tmp_path / "study.toml", "--out", tmp_path / "results")[0] == 0
    return tmp_path / "results"


def test_analyze_tells_the_flows_of_iperf3(told) -> None:
    code, out, error = told("analyze", DATA / "iperf3-two-streams.json")
    assert (code, error) == (0, "")
    assert out.splitlines()[0] == f"{DATA / 'iperf3-two-streams.json'}: iperf 3.12, tcp, client, 2 s, 2 flows, 4 rows over time"
    assert "1. stream 1 (upload): 2,621,440 B in 2.00021 s, 10.4847 Mbit/s received; 0 sent again" in out


def test_analyze_writes_tables_and_a_figure_of_flent(told, tmp_path: Path) -> None:
    assert told("analyze", DATA / "flent-tcp_nup.flent.gz", "--out", tmp_path / "out")[0] == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "flows.csv", "flows.parquet", "series.csv", "series.parquet", "series.png", "series.svg",
    ]  # fmt: skip
    assert pl.read_parquet(tmp_path / "out" / "flows.parquet")["flow"].to_list() == ["Ping (ms) ICMP", "TCP upload::1", "TCP upload::2"]


def test_throughput_is_drawn_over_the_interval_in_which_it_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: list[tuple[str, Curve]] = []

    def kept(panels: Sequence[Panel], *_: object, **__: object) -> Figure:
        drawn.extend((panel.label, curve) for panel in panels for curve in panel.curves)
        return Figure()

    monkeypatch.setattr(foreign_text, "over_time", kept)
    foreign_text.told(str(DATA / "iperf3-tcp.json"), (), (None, None), tmp_path)
    streams = [each["streams"][0] for each in json.loads((DATA / "iperf3-tcp.json").read_text())["intervals"]]
    curves = dict(drawn)
    found = curves["throughput (Mbit/s)"]
    # A curve holds each value until the next: the first from 0 on, the last to its end.
    assert found.t == pytest.approx([*(each["start"] for each in streams), *[streams[-1]["end"]] * 2])
    assert found.y[:-1] == pytest.approx([*(each["bits_per_second"] / 1e6 for each in streams), streams[-1]["bits_per_second"] / 1e6])
    # What is known of a moment stays at it.
    assert curves["cwnd (kB)"].t == pytest.approx([each["end"] for each in streams])


def test_between_intervals_no_throughput_is_drawn() -> None:
    t, y = foreign_text.stretches(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.array([5.0, 7.0]))
    assert t.tolist() == [0.0, 1.0, 1.0, 2.0, 3.0, 3.0]
    assert [None if np.isnan(each) else each for each in y] == [5.0, 5.0, None, 7.0, 7.0, None]


def test_analyze_tells_other_programs_the_same(told) -> None:
    code, out, _ = told("analyze", DATA / "iperf3-udp.json", "--flow", "stream 1", "--json")
    (whole,) = json.loads(out)
    assert (code, whole["format"], whole["damage"], len(whole["flows"]), len(whole["series"])) == (0, "iperf3", None, 1, 2)


def test_analyze_refuses_what_is_for_captures(told) -> None:
    file = DATA / "iperf3-tcp.json"
    assert told("analyze", file, "--from", "1 s") == (
        2, "", f"error: --from and --to are for captures, and {file} is none\nhint: leave them out: its figure shows all of it\n",
    )  # fmt: skip
    assert told("analyze", file, "--flow", "stream 7")[2].startswith(f"error: no flow of {file} is `stream 7`\nhint: ")


def test_compare_holds_results_against_what_iperf3_measured(told, results: Path) -> None:
    code, out, _ = told("compare", results, DATA / "iperf3-two-streams.json", "--json")
    rows = {row["metric"]: row for row in json.loads(out)["rows"]}
    assert code == 0
    assert set(rows) >= {"goodput_bps", "retransmits", "srtt_mean_ns"}
    rates = [each["receiver"]["bits_per_second"] for each in json.loads((DATA / "iperf3-two-streams.json").read_text())["end"]["streams"]]
    assert rows["goodput_bps"]["second"] == pytest.approx(sum(rates) / 2)


def test_compare_wants_to_know_which_of_two_directions(told, results: Path) -> None:
    file = DATA / "iperf3-bidirectional.json"
    assert told("compare", results, file)[2] == (
        f"error: {file} tells of both directions, and one is compared\n"
        'hint: a study\'s [[references]] chooses by `where = { direction = "upload" }`, or "download"\n'
    )


def test_a_study_names_a_file_of_iperf3_or_flent_as_its_reference(told, tmp_path: Path) -> None:
    shutil.copy(DATA / "iperf3-bidirectional.json", tmp_path / "measured.json")
    shutil.copy(DATA / "flent-tcp_nup.flent.gz", tmp_path)
    (tmp_path / "study.toml").write_text(
        STUDY
        + '\n[[references]]\nname = "up"\nfile = "measured.json"\nwhere = { direction = "upload" }\n'
        + '\n[[references]]\nname = "nup"\nfile = "flent-tcp_nup.flent.gz"\ncolumns = { sum_bps = { column = "sum_goodput_bps", digits = 0 } }\n'
    )
    out = tmp_path / "results"
    assert told("run", tmp_path / "study.toml", "--out", out)[0] == 0
    # What was measured is kept with the results.
    (tmp_path / "measured.json").unlink()
    code, told_of, _ = told("compare", out, "--reference", "up", "--json")
    second = next(row["second"] for row in json.loads(told_of)["rows"] if row["metric"] == "goodput_bps")
    assert code == 0
    assert second == pytest.approx(json.loads((DATA / "iperf3-bidirectional.json").read_text())["end"]["sum_received"]["bits_per_second"])
    code, told_of, _ = told(
        "compare", out, "--reference", "nup", "--metric", "goodput_bps", "--value", "sum_bps", "--flows", "sum", "--json"
    )
    assert json.loads(told_of)["rows"][0]["second"] == pytest.approx(6563.68e6)


def test_a_reference_that_was_cut_off_is_told_with_both_places(told, tmp_path: Path) -> None:
    (tmp_path / "measured.json").write_text((DATA / "iperf3-tcp.json").read_text()[:800])
    (tmp_path / "study.toml").write_text(STUDY + '\n[[references]]\nname = "up"\nfile = "measured.json"\n')
    code, _, error = told("plan", tmp_path / "study.toml")
    assert code == 2
    assert error.startswith(f"error: {tmp_path / 'measured.json'}:39:2: the text ends in the middle of a value\n")
    assert "study.toml:18:8" in error


def test_a_file_of_another_kind_is_called_what_it_is(told, results: Path, tmp_path: Path) -> None:
    table, measured = tmp_path / "a.csv", DATA / "iperf3-tcp.json"
    table.write_text("a,b\n")
    study, capture = tmp_path / "study.toml", tmp_path / "run.pcapng"
    capture.write_bytes(b"\x0a\x0d\x0d\x0a")
    for words, message in (
        (("analyze", study), f"{study} is a study, and no capture"),
        (("fit", table), f"{table} is a table of numbers, and no capture"),
        (("fit", measured), f"{measured} is JSON, and no capture"),
        (("advise", capture), f"{capture} is meant as a capture, and no study"),
        (("plan", measured), f"{measured} is JSON, and no study"),
        (("advise", study, "--out", table), f"{table} is a file, and results go to a directory"),
        (("compare", results, "--arm", "x"), f"{results} has no arms, so none is called `x`"),
    ):
        code, _, error = told(*words)
        assert (code, error.splitlines()[0]) == (2, f"error: {message}")


def test_compare_says_which_program_wrote_a_file_and_refuses_json_of_others(told, results: Path, tmp_path: Path) -> None:
    file = DATA / "flent-tcp_nup.flent.gz"
    assert told("compare", file, results)[2].splitlines()[0] == f"error: {file} is what flent measured, and results are named before it"
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}')
    assert told("compare", other, results)[2] == (
        f"error: {other} is JSON, and not as iperf3 or flent writes it\n"
        f"hint: `sawtooth analyze {other}` says what is wrong with it; sides are results directories, captures and CSV files\n"
    )
