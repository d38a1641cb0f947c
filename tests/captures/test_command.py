"""`sawtooth analyze`: what it says of captures, writes of them and draws; and of what is no capture, in exact words."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from sawtooth import captures, cli
from sawtooth.kinds import Kind, kind
from sawtooth.plots import style
from sawtooth.plots.time_sequence import ACKS, DATA
from tests.captures.made import ACK, FIN, SYN, pcap, segment, transfer


def said(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["sawtooth", "analyze", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, error = capsys.readouterr()
    return int(ended.value.code or 0), out, error


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    return lambda *arguments: said([str(each) for each in arguments], monkeypatch, capsys)


WRONG = {
    "an empty file": (b"", "is empty", "whoever captures writes the header first: has it begun?"),
    "a text": (
        b"hello, world",
        "is no capture: it begins with 68 65 6c 6c",
        "pcap (d4 c3 b2 a1, and its three relatives) and pcapng (0a 0d 0d 0a) are read; Wireshark's `editcap` makes pcapng of others",
    ),
    "a compressed capture": (gzip.compress(pcap([])), "is compressed (gzip)", "give what it holds: `zcat FILE | sawtooth analyze -`"),
    "half a header": (pcap([])[:10], "begins as pcap does, and ends within its header", "ask for another copy of it"),
    "another link": (
        pcap(transfer(1), link=105),
        "was captured on links of type 105",
        "link types that are read: 0 (null), 1 (Ethernet), 12 (raw IP), 14 (raw IP), 101 (raw IP), 108 (loopback), 113 (Linux cooked), "
        "228 (IPv4), 229 (IPv6), 276 (Linux cooked 2)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_capture_is_told_with_what_to_do(case: str, tmp_path: Path, told) -> None:
    content, message, hint = WRONG[case]
    file = tmp_path / "x.pcap"
    file.write_bytes(content)
    assert told(file) == (2, "", f"error: {file} {message}\nhint: {hint.replace('FILE', str(file))}\n")


def test_what_is_no_file_is_told(tmp_path: Path, told) -> None:
    missing = tmp_path / "none.pcap"
    assert told(missing) == (2, "", f"error: there is no file {missing}\nhint: name a capture, or `-` for standard input\n")
    assert told(tmp_path) == (2, "", f"error: {tmp_path} is a directory, not a capture\nhint: name the files in it\n")


def test_a_flow_or_time_that_is_not_there_is_told(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(5)))
    hint = "name a flow, a part of its name, or the number of its connection"
    assert told(file, "--flow", "9.9.9.9") == (2, "", f"error: no flow of {file} is `9.9.9.9`\nhint: {hint}\n")
    # A part of both ports and addresses, which a number is not meant as.
    number = "a number is that of a connection, as `sawtooth analyze` tells them; a port is named as in `:443`"
    for each in ("7", "0", "80"):
        assert told(file, "--flow", each) == (2, "", f"error: no flow of {file} is `{each}`\nhint: {number}\n")
    assert told(file, "--flow", ":80")[0] == 0
    code, _, error = told(file, "--from", "2 s", "--out", tmp_path / "out")
    assert (code, error) == (2, f"error: from 2 s to the end is no time of {file}\nhint: it takes 0.094 s\n")
    hint = "--from and --to count from the first frame, and --to is the later one"
    for times, words in (
        (("--from", "20 ms", "--to", "10 ms"), "from 20 ms to 10 ms"),
        (("--to", "0 s"), "from 0 s to 0 s"),
        (("--from", "-1 s"), "from -1 s to the end"),
    ):
        assert told(file, *times, "--out", tmp_path / "out") == (2, "", f"error: {words} is no stretch of time\nhint: {hint}\n")
    code, _, error = told(file, "--to", "late", "--out", tmp_path / "out")
    assert (code, error.splitlines()[-1]) == (2, "hint: such as '2.5 s' or '300 ms'")
    assert not (tmp_path / "out").exists()


def test_what_is_wrong_with_one_file_does_not_end_the_analysis_of_others(tmp_path: Path, told) -> None:
    good, empty, damaged = (tmp_path / f"{name}.pcap" for name in ("good", "empty", "damaged"))
    good.write_bytes(pcap(transfer(5)))
    empty.write_bytes(b"")
    damaged.write_bytes(pcap(transfer(5))[:-1])
    assert told(good)[0] == 0
    code, out, error = told(damaged)
    assert (code, error) == (1, "")
    assert "  damaged: it ends within the block that begins at byte 696; all before it was read\n" in out
    assert told(good, damaged)[0] == 1
    code, out, error = told(empty, good, tmp_path / "none.pcap", damaged, "--out", tmp_path / "out")
    assert code == 2
    assert [line for line in error.splitlines() if line.startswith("error")] == [
        f"error: {empty} is empty",
        f"error: there is no file {tmp_path}/none.pcap",
    ]
    assert out.startswith(f"{good}: pcap") and f"\n\n{damaged}: pcap" in out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["damaged", "good"]
    code, out, _ = told(empty, good, "--json")
    first, second = json.loads(out)
    assert code == 2 and first["file"] == str(empty) and first["error"].startswith(f"error: {empty} is empty\n")
    assert second["damage"] is None and len(second["flows"]) == 1


def test_standard_input_is_one_capture(told) -> None:
    assert told("-", "-") == (2, "", "error: standard input is one capture, and `-` is given twice\nhint: name it once\n")


def test_a_transfer_is_told_in_a_few_lines(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(1000, lost_every=100)))
    code, out, error = told(file)
    assert (code, error) == (0, "")
    assert (
        out
        == f"""\
{file}: pcap, microseconds, 2,013 frames in 1.1393 s
  1,010 frames cut by the snap length; lengths are taken from their headers

1. 10.0.0.1:5000 > 10.0.0.2:80: 1,000,000 B in 1.1393 s, 7.022 Mbit/s, not closed
   1,012 segments, 1,010 with data; 10 sent again (0.99%; 9 fast retransmits)
   acknowledgements: 450 duplicate, 0 with SACK, 0 of duplicates (DSACK)
   round trips: 40/40/40/40 ms (least/mean/95 %/most of 541); captured at the sender: the sender answers within 0.01 ms and the receiver answers within 40 ms
   limited by source idle 0.9%, loss recovery 35.1%, other: congestion window, pacing or a slow source 64.0%
"""
    )


def test_what_was_met_is_told_with_its_number(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    packets = transfer(3)
    fragment = bytearray(segment(0, 1, 1, ACK, 10))
    fragment[6] = 0x20
    icmp = bytearray(segment(0, 1, 1, ACK, 10))
    icmp[9] = 1
    file.write_bytes(pcap([*packets[3:], (0.01, bytes(fragment)), (0.2, bytes(icmp))])[:-1])
    _, out, _ = told(file)
    end = file.stat().st_size - 55
    assert out.splitlines()[1:6] == [
        f"  damaged: it ends within the block that begins at byte {end}; all before it was read",
        "  4 frames cut by the snap length; lengths are taken from their headers",
        "  1 fragments of IP packets, not analysed",
        "  1 frames with an earlier time than the one before them",
        "",
    ]
    assert "   note: no part of the handshake was seen: windows are not known\n" in out


def test_standard_input_and_pipes_are_read(tmp_path: Path) -> None:
    content = pcap(transfer(5))
    command = [sys.executable, "-m", "sawtooth.cli", "analyze", "-"]
    done = subprocess.run(command, input=content, capture_output=True, check=True)
    assert done.stdout.startswith(b"standard input: pcap, microseconds, 13 frames in 0.094 s\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    assert captures.read(pipe).facts["frames"] == 13
    writer.join()


def test_json_has_all_columns_and_null_for_what_no_capture_tells(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(200, lost_every=100)))
    _, out, _ = told(file, "--json")
    (capture,) = json.loads(out)
    (flow,) = capture["flows"]
    assert (flow["retransmits"], flow["delivered_bytes"], flow["min_rtt_ns"]) == (2, 200_000, 40_000_000)
    for unknown in ("cwnd_mean_bytes", "limited_cwnd_ns", "stall_ns", "congestion_signals", "limited_rwnd_ns"):
        # The handshake of this capture has no option, so windows are known and not shifted.
        assert flow[unknown] is None or unknown == "limited_rwnd_ns"
    assert [episode["retransmits"] for episode in capture["episodes"]] == [1, 1]
    assert capture["damage"] is None


def test_tables_and_figures_are_written(tmp_path: Path, told) -> None:
    files = [tmp_path / "one.pcap", tmp_path / "two.pcap"]
    for file in files:
        file.write_bytes(pcap(transfer(50, lost_every=25)))
    code, out, _ = told(*files, "--out", tmp_path / "out")
    assert code == 0
    for name in ("one", "two"):
        directory = tmp_path / "out" / name
        assert f"figure: {directory}/flow-1.svg\n" in out
        written = {path.name for path in directory.iterdir()}
        tables = {f"{table}.parquet" for table in captures.TABLES}
        assert written == {*tables, "flows.csv", "episodes.csv", "flow-1.svg", "flow-1.png"}
        assert pl.read_parquet(directory / "marks.parquet").filter(kind="retransmission").height == 2
        assert pl.read_csv(directory / "flows.csv")["retransmits"].to_list() == [2]


def test_a_figure_of_very_many_segments_is_small_and_has_every_retransmission(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(250_000, lost_every=50)))
    capture = captures.read(file, most_rows=20_000)
    assert capture.series.height <= 20_000
    assert capture.facts["series_stretch_ns"] > 0
    assert capture.series["new_to_bytes"].max() == 250_000_000
    made = captures.figure(capture, capture.flows["flow"][0])
    bars = [each for each in made.axes[0].collections if len(each.get_paths()) == 5000]
    assert len(bars) == 1, "each of the 5000 segments that were sent again"
    assert max(len(each.get_paths()) for each in made.axes[0].collections) <= 5000
    assert len(style.svg(made)) < 1_500_000


def said_beside(made: Figure) -> list[list[str]]:
    """What the panels of a figure say besides curves: names of the legend, and remarks."""
    names = [[text.get_text() for text in each.get_legend().get_texts()] if each.get_legend() else [] for each in made.axes]
    return [legend + [text.get_text() for text in each.texts] for legend, each in zip(names, made.axes, strict=True)]


def test_panels_say_what_their_curves_are_and_what_they_do_not_show(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(20)))
    capture = captures.read(file)
    made = captures.figure(capture, capture.flows["flow"][0])
    # 60 kB of window for at most 20 kB in flight: from its first acknowledgement on beyond both panels.
    assert said_beside(made) == [
        ["the edge of the window goes up to 80 kB, above this panel"],
        ["flight size", "the receiver's window goes up to 60 kB, above this panel"],
        ["each sample", "smoothed (RFC 6298)"],
    ]
    file.write_bytes(pcap(transfer(20)[3:23]))
    capture = captures.read(file)
    made = captures.figure(capture, capture.flows["flow"][0])
    assert said_beside(made) == [[], ["flight size", "the receiver's window is not known"], ["no round trip could be measured"]]


def test_in_an_overview_what_is_sent_is_a_broad_line_under_what_is_acknowledged(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(5000)))
    capture = captures.read(file)
    flow = capture.flows["flow"][0]
    for span, is_overview in ((None, True), ((1.0, 1.2), False)):
        axis = captures.figure(capture, flow, span).axes[0]
        broad = [line for line in axis.lines if line.get_color() == DATA and line.get_linewidth() > 2]
        thin = next(line for line in axis.lines if line.get_color() == ACKS)
        assert bool(broad) == is_overview
        assert all(line.get_zorder() < thin.get_zorder() for line in broad)


def test_a_connection_without_data_has_a_row_and_one_without_progress_a_figure(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap([(0, segment(0, 0, 0, SYN)), (1, segment(0, 0, 0, SYN)), (2, segment(0, 1, 0, FIN, 5))]))
    capture = captures.read(file)
    (row,) = capture.flows.to_dicts()
    assert (row["retransmits"], row["delivered_bytes"], row["handshake"]) == (1, None, "part")
    assert style.svg(captures.figure(capture, row["flow"]))


def test_progress_is_told_on_the_way() -> None:
    tell, error = captures.progress_lines("x", every=1 << 20), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", error)
        for done in (0, 1 << 19, 3 << 20, (3 << 20) + 1):
            tell(done, 10 << 20)
    assert error.getvalue() == "x: 3 of 10 MiB read\n"


def test_a_capture_is_known_by_its_bytes_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "cap.toml"
    file.write_bytes(pcap(transfer(3)))
    assert kind(file) is Kind.CAPTURE
    file.write_text("[scenario]\n")
    assert kind(file) is Kind.STUDY
