"""Runs as data files of flent: their structure by its documentation, their numbers beside the run's, and flent itself where it is installed."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sawtooth import StudyError, foreign, trace
from sawtooth.backends.registry import BACKENDS
from sawtooth.exports import flent_file
from sawtooth.plan import make_plan
from sawtooth.study import Study
from sawtooth.trace import Trace
from tests.exchange.test_commands import STUDY, told

__all__ = ["told"]

BOTH = """\
name = "both"
question = "Do downloads and uploads stay apart?"
seed = 1

[scenario]
duration = "10 s"
stack = "linux"
links.up = { rate = "20 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "100 kB" } }
links.down = { rate = "50 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "200 kB" } }

[[scenario.flows]]
name = "upload"
path = ["up"]
cc = { name = "cubic" }
count = 2

[[scenario.flows]]
name = "download"
path = ["down"]
cc = { name = "cubic" }
start = "2 s"
"""


def taken(text: str, folder: Path) -> Trace:
    (folder / "study.toml").write_text(text)
    plan = make_plan(Study.load(folder / "study.toml"))
    return trace.take(plan, plan.runs[0], BACKENDS["sim"].load())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return taken(BOTH, tmp_path_factory.mktemp("both"))


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return taken(STUDY, tmp_path_factory.mktemp("uploads"))


def test_a_file_has_what_flents_documentation_says(uploads: Trace, tmp_path: Path) -> None:
    assert flent_file.write(uploads, "two uploads", tmp_path / "x.flent.gz") == "tcp_nup"
    whole = json.loads(gzip.decompress((tmp_path / "x.flent.gz").read_bytes()))
    assert set(whole) == {"version", "x_values", "results", "metadata", "raw_values"}
    assert whole["version"] == 4
    assert all(len(values) == len(whole["x_values"]) for values in whole["results"].values())
    assert whole["x_values"] == sorted(whole["x_values"])
    assert whole["metadata"]["NAME"] == "tcp_nup"
    assert whole["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "2"}
    # Names of series are those that flent itself gave them in a test of the same kind.
    theirs = json.loads(gzip.decompress((Path(__file__).parent / "data" / "flent-tcp_nup.flent.gz").read_bytes()))
    assert set(whole["results"]) == set(theirs["results"])
    assert set(whole["raw_values"]) == set(theirs["raw_values"])
    for name, meta in theirs["metadata"]["SERIES_META"].items():
        ours = whole["metadata"]["SERIES_META"][name]
        assert ours["RUNNER"] == meta["RUNNER"]
        assert name == "TCP upload fairness" or ours["UNITS"] == meta["UNITS"]
    assert set(whole["metadata"]) >= {
        "TITLE",
        "HOSTS",
        "LOCAL_HOST",
        "LENGTH",
        "TOTAL_LENGTH",
        "STEP_SIZE",
        "TIME",
        "NOTE",
        "FLENT_VERSION",
        "IP_VERSION",
    }


def test_a_run_has_one_file(uploads: Trace, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        flent_file.write(uploads, "t", tmp_path / name / "x.flent.gz")
    assert (tmp_path / "a" / "x.flent.gz").read_bytes() == (tmp_path / "b" / "x.flent.gz").read_bytes()


def of(run: Trace) -> dict[str, Any]:
    return flent_file.document(run, "t", "x.flent.gz")


def test_the_steps_of_a_flow_add_up_to_what_was_delivered(both: Trace) -> None:
    whole = of(both)
    step = whole["metadata"]["STEP_SIZE"]
    assert step == 0.2
    for name, flow in (("TCP upload BE::1", "upload[1]"), ("TCP upload BE::2", "upload[2]"), ("TCP download BE::1", "download")):
        told = sum(value for value in whole["results"][name] if value is not None) * step * 1e6 / 8
        assert told == pytest.approx(both.series.filter(flow=flow)["delivered_bytes"].max(), rel=1e-9)


def test_before_a_flow_begins_there_is_nothing(both: Trace) -> None:
    whole = of(both)
    there = [t for t, value in zip(whole["x_values"], whole["results"]["TCP download BE::1"], strict=True) if value is not None]
    assert there[0] == pytest.approx(2.2)


def test_flows_of_both_directions_are_of_the_test_that_has_both(both: Trace) -> None:
    whole = of(both)
    assert whole["metadata"]["NAME"] == "rrul_be_nflows"
    assert whole["metadata"]["TEST_PARAMETERS"] == {"download_streams": "1", "upload_streams": "2"}
    sums = whole["results"]["TCP upload sum"]
    parts = zip(whole["results"]["TCP upload BE::1"], whole["results"]["TCP upload BE::2"], strict=True)
    assert sums[1:] == pytest.approx([first + second for first, second in list(parts)[1:]])


def test_what_comes_against_the_path_is_a_download_unless_its_name_says_otherwise(tmp_path: Path) -> None:
    text = (
        BOTH.replace('"upload"', '"there"')
        .replace('"download"', '"back"')
        .replace('path = ["down"]', 'path = ["up"]\ndirection = "reverse"')
    )
    assert text.count('direction = "reverse"') == 1
    whole = of(taken(text, tmp_path))
    assert whole["metadata"]["NAME"] == "rrul_be_nflows"
    assert whole["metadata"]["TEST_PARAMETERS"] == {"download_streams": "1", "upload_streams": "2"}
    assert whole["metadata"]["SERIES_META"]["TCP download BE::1"]["FLOW"] == "back"
    named = of(taken(text.replace('"back"', '"upwards"').replace('"there"', '"downwards"'), tmp_path))
    assert named["metadata"]["TEST_PARAMETERS"] == {"download_streams": "2", "upload_streams": "1"}


def test_fairness_is_jains_index(uploads: Trace) -> None:
    results = of(uploads)["results"]
    first, second = results["TCP upload::1"][20], results["TCP upload::2"][20]
    assert results["TCP upload fairness"][20] == pytest.approx((first + second) ** 2 / (2 * (first**2 + second**2)))


def test_what_is_written_is_read_back(uploads: Trace, tmp_path: Path) -> None:
    flent_file.write(uploads, "t", tmp_path / "x.flent.gz")
    flows = foreign.read(tmp_path / "x.flent.gz").flows.filter(direction="upload")
    assert flows["goodput_bps"].to_list() == pytest.approx(uploads.flows["goodput_bps"].to_list(), rel=1e-12)
    assert flows["delivered_bytes"].to_list() == uploads.flows["delivered_bytes"].to_list()
    assert flows["retransmits"].to_list() == uploads.flows["retransmits"].to_list()


def test_what_cannot_be_is_told(uploads: Trace, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as refused:
        flent_file.require_file(Path("x.json"))
    assert (
        str(refused.value)
        == "error: `x.json` is no name for a data file of flent\nhint: name a file that ends in .flent.gz, or in .flent to have it as text"
    )
    with pytest.raises(StudyError, match="the run has no flow `x`"):
        flent_file.write(uploads, "t", tmp_path / "x.flent", ["x"])


def test_the_command_says_what_it_wrote(told, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    path = tmp_path / "run.flent.gz"
    code, _, error = told("trace", tmp_path / "study.toml", "--flent", path, "--out", tmp_path)
    assert (code, error) == (0, f"flent: {path}, test tcp_nup\n")
    assert path.is_file()


@pytest.mark.skipif(shutil.which("flent") is None, reason="flent is not installed")
def test_flent_itself_opens_and_plots_it(both: Trace, uploads: Trace, tmp_path: Path) -> None:
    for run, plots in ((both, ("all_scaled", "totals", "ping")), (uploads, ("totals", "upload_with_ping_and_tcp_rtt"))):
        flent_file.write(run, "t", tmp_path / "x.flent.gz")
        for plot in plots:
            picture = tmp_path / f"{plot}.png"
            done = subprocess.run(
                ["flent", "-i", str(tmp_path / "x.flent.gz"), "-p", plot, "-o", str(picture)],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert (done.returncode, "rror" in done.stderr) == (0, False), done.stderr
            assert picture.read_bytes().startswith(b"\x89PNG")
