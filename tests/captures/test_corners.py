"""What users came upon: cut options, two files of one name, a port, a size that no packet has."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import captures, taps
from sawtooth.cli import analyze_text, app
from sawtooth.errors import StudyError

STUDY = """
[scenario]
duration = "3 s"
stack = "linux"
links.l = { rate = "5 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [{ path = ["l"], cc = "cubic" }]
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("capture")
    (place / "study.toml").write_text(STUDY, encoding="utf-8")
    ended = CliRunner().invoke(app, ["simulate", str(place / "study.toml"), "--pcap", str(place / "whole.pcapng")])
    assert ended.exit_code == 0, ended.output
    return place / "whole.pcapng"


@pytest.mark.skipif(shutil.which("editcap") is None, reason="editcap is not installed (Debian package wireshark-common)")
def test_what_stood_in_options_that_were_cut_is_not_known(capture: Path) -> None:
    cut = capture.with_name("cut.pcapng")
    subprocess.run(["editcap", "-s", "54", capture, cut], check=True)
    whole, less = (captures.read(path).flows.row(0, named=True) for path in (capture, cut))
    assert whole["sacks_in"] > 0 and whole["window_scale"] is not None
    assert [less[name] for name in ("sacks_in", "sack_blocks", "dsacks_in", "window_scale", "limited_rwnd_ns")] == [None] * 5
    told = CliRunner().invoke(app, ["analyze", str(cut)]).output
    assert "segments cut within their options: SACK blocks are not counted, and windows only where the SYNs are whole" in " ".join(
        told.split()
    )


def test_files_of_one_name_go_to_folders_of_their_own() -> None:
    assert analyze_text.places(["a/x.pcap", "b/x.pcap", "x.pcapng", "y.pcap"], Path("out")) == [
        Path("out/x"), Path("out/x-2"), Path("out/x-3"), Path("out/y"),
    ]  # fmt: skip
    assert analyze_text.places(["a/x.pcap"], Path("out")) == [Path("out")]


def test_a_flow_is_named_by_a_port_too(capture: Path) -> None:
    read = captures.read(capture)
    assert captures.choose(read, [":5001"]) == read.flows["flow"].to_list()[:1]


@pytest.mark.parametrize(
    ("where", "snap", "message"),
    [
        ("-", 96, "captures go to files, and `-` names none"),
        ("", 96, "captures go to files, and `` names none"),
        ("x", 99999999999, "no packet has 99999999999 bytes"),
    ],
)
def test_a_place_or_size_of_captures_that_is_none_is_told(where: str, snap: int, message: str) -> None:
    with pytest.raises(StudyError, match=message.replace("`", "`")):
        taps.wanted(where, (), snap)
