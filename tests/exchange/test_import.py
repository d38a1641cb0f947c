"""`sawtooth import`: measurements of iperf3 and flent as results, which are reported and compared as those of studies."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sawtooth import DatasetError, StudyError, importing
from sawtooth.importing import Given
from sawtooth.results.dataset import Dataset
from tests.exchange.test_commands import DATA, told

__all__ = ["told"]

Change = Callable[[dict[str, Any]], None]
BEGAN = 1_795_726_514
NAMES = [f"{cc}-{rtt}-{number}" for number in (1, 2, 3) for cc in ("cubic", "bbr") for rtt in ("10ms", "20ms")]


def measured(path: Path, cc: str = "cubic", rate: float = 1.0, begun: int = BEGAN, change: Change | None = None) -> Path:
    """A measurement of two streams in which some of what iperf3 told is another."""
    tree = json.loads((DATA / "iperf3-two-streams.json").read_text())
    tree["start"]["timestamp"]["timesecs"] = begun
    tree["start"]["cookie"] = path.name
    tree["end"]["sender_tcp_congestion"] = cc
    for stream in tree["end"]["streams"]:
        stream["receiver"]["bits_per_second"] *= rate
    if change is not None:
        change(tree)
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(json.dumps(tree))
    return path


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Three measurements each of two congestion controls over two paths, one after the other; BBR carries a tenth more."""
    for at, name in enumerate(NAMES):
        cc, rtt, number = name.split("-")
        rate = (1.1 if cc == "bbr" else 1.0) * (20 / int(rtt[:2])) * (1 + 0.001 * int(number) * (-1) ** at)
        measured(tmp_path / "lab" / f"{name}.json", cc, rate, BEGAN + 10 * at)
    return tmp_path / "lab"


def test_names_of_files_give_factors_and_files_of_the_same_are_replicates(told, lab: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, error = told("import", lab, "--out", out, "--pattern", "{cc}-{rtt}-*.json", "--arm", "cc")
    assert (code, error) == (0, "")
    assert said == (
        f"12 measurements in {out}: 4 settings, 3 of each\n  cc: bbr, cubic\n  rtt: 10ms, 20ms\n`sawtooth report {out}` shows them\n"
    )
    dataset = Dataset.open(out)
    runs = dataset.runs
    assert runs.select("cell", "arm", "replicate", "rtt", "rtt_value").rows()[:4] == [
        (1, "bbr", 1, "10ms", 0.01), (1, "bbr", 2, "10ms", 0.01), (1, "bbr", 3, "10ms", 0.01), (1, "cubic", 1, "10ms", 0.01),
    ]  # fmt: skip
    assert runs["seed"].n_unique() == 12
    assert [Path(entry["file"]).name for entry in dataset.files][:4] == [
        "bbr-10ms-1.json",
        "bbr-10ms-2.json",
        "bbr-10ms-3.json",
        "cubic-10ms-1.json",
    ]
    assert {*dataset.files[0]} == {"run", "file", "sha256", "program", "time"}
    assert dataset.flows().collect()["flow"].unique().sort().to_list() == ["upload[1]", "upload[2]"]


def test_what_files_differ_in_is_a_factor_and_no_more_of_it_than_tells_them_apart(told, tmp_path: Path) -> None:
    def slower(tree: dict[str, Any]) -> None:
        tree["start"]["test_start"] |= {"target_bitrate": 5_000_000, "blksize": 1000}

    for number in (1, 2):
        measured(tmp_path / "lab" / f"a{number}.json", begun=BEGAN + number)
        measured(tmp_path / "lab" / f"b{number}.json", begun=BEGAN + number, change=slower)
    out = tmp_path / "out"
    assert told("import", tmp_path / "lab", "--out", out)[1].splitlines()[1:3] == [
        "  target, as the files tell: 5 Mbit/s, 10 Mbit/s",
        "  set together with these: block",
    ]
    assert Dataset.open(out).runs["replicate"].to_list() == [1, 2, 1, 2]
    both = tmp_path / "both"
    assert told("import", tmp_path / "lab", "--out", both, "--ignore", "target", "--ignore", "block")[1].startswith(
        f"4 measurements in {both}: 1 setting, 4 of each\n"
    )


def test_a_table_gives_factors_by_patterns_and_set_gives_those_of_all(lab: Path, tmp_path: Path) -> None:
    table = tmp_path / "factors.toml"
    table.write_text('["*"]\nplace = "lab"\n["bbr-*"]\nplace = "roof"\nfloor = 3\n["lab/cubic-*.json"]\nfloor = 1\n')
    given = Given.of(["host=a"], "", table, ["cc"])
    runs = importing.import_files(importing.found([lab]), tmp_path / "out", given).dataset.runs
    assert runs.select("host", "place", "floor").unique(maintain_order=True).rows() == [("a", "roof", "3"), ("a", "lab", "1")]
    assert runs["floor_value"].unique().sort().to_list() == [1.0, 3.0]


def test_reports_compare_arms_and_figures_of_a_copy_of_the_study_are_drawn(told, lab: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert told("import", lab, "--out", out, "--pattern", "{cc}-{rtt}-*.json", "--arm", "cc")[0] == 0
    _, said, _ = told("compare", out, "--metric", "goodput_bps", "--json")
    rows = json.loads(said)["rows"]
    assert [(row["rtt"], row["verdict"]) for row in rows] == [("10ms", "differ"), ("20ms", "differ")]
    assert all(abs(row["ratio"] - 1 / 1.1) < 0.01 for row in rows)
    study = tmp_path / "shown.toml"
    asked = '\n[[figures]]\nname = "by-rtt"\nkind = "levels"\nmetric = "goodput_bps"\nx = "rtt"\n\n'
    asked += '[[findings]]\nclaim = "CUBIC carries less."\nmetric = "goodput_bps"\narm = "cubic"\nis = "below"\nthan = { arm = "bbr" }\n'
    study.write_text((out / "study.toml").read_text() + asked)
    code, said, error = told("report", out, "--study", study, "--format", "html,md")
    assert (code, error) == (0, "")
    assert "yes" in said
    assert (out / "report" / "figures" / "by-rtt.svg").is_file()
    text = (out / "report" / "report.md").read_text()
    assert "- measured by: iperf 3.12\n" in text
    assert "they share seeds" not in text
    study.write_text((out / "study.toml").read_text().replace("20ms", "40ms"))
    assert told("report", out, "--study", study)[0] == 2


def test_results_of_one_name_are_compared_with_simulated_ones(told, lab: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        'name = "lab"\nrepeat = 2\n[scenario]\nduration = "2 s"\nstack = "linux"\n'
        'links.l = { rate = "25 Mbit/s", delay = "5 ms", queue = { name = "drop_tail", limit = "100 kB" } }\n'
        '[[scenario.flows]]\nname = "upload"\npath = ["l"]\ncc = "cubic"\ncount = 2\n[sweep]\n"links.l.delay" = ["5 ms", "10 ms"]\n'
    )
    assert told("run", tmp_path / "study.toml", "--out", tmp_path / "sim")[0] == 0
    named = sorted(lab.glob("cubic-*.json"))
    table = tmp_path / "factors.toml"
    table.write_text('["*-10ms-*"]\ndelay = "5 ms"\n["*-20ms-*"]\ndelay = "10 ms"\n')
    assert told("import", *named, "--out", tmp_path / "real", "--name", "lab", "--factors", table)[0] == 0
    code, said, _ = told("compare", tmp_path / "real", tmp_path / "sim", "--metric", "goodput_bps", "--json")
    assert code == 0
    assert [(row["delay"], row["item"], row["paired"]) for row in json.loads(said)["rows"]] == [
        ("5 ms", "upload", False), ("10 ms", "upload", False),
    ]  # fmt: skip


def test_omitted_intervals_are_in_no_table_and_time_begins_after_them(tmp_path: Path) -> None:
    made = importing.import_files(importing.found([DATA / "iperf3-reverse-omit.json"]), tmp_path / "out")
    intervals = made.dataset.table("intervals").collect()
    assert intervals["omitted"].to_list() == [False, False]
    assert intervals["from_ns"].to_list() == [49_000, 1_000_990_000]
    series = made.dataset.series().collect()
    told = json.loads((DATA / "iperf3-reverse-omit.json").read_text())
    counted = [each["streams"][0]["bytes"] for each in told["intervals"] if not each["streams"][0]["omitted"]]
    assert series["delivered_bytes"].to_list() == [counted[0], sum(counted)]
    assert made.dataset.flows().collect()["delivered_bytes"].to_list() == [told["end"]["streams"][0]["receiver"]["bytes"]]


def test_datagrams_and_pings_have_their_tables(tmp_path: Path) -> None:
    files = [DATA / "iperf3-udp.json", DATA / "flent-tcp_nup.flent.gz"]
    dataset = importing.import_files(importing.found(files), tmp_path / "out").dataset
    assert dataset.table("datagrams").collect().select("flow", "lost_packets").rows() == [("upload", 0)]
    # UDP has no congestion control, and is not taken for a flow of TCP.
    assert set(dataset.flows().collect().filter(pl.col("cc") == "")["flow"]) == {"upload"}
    pings = dataset.table("exchanges").collect()
    assert pings["flow"].to_list() == ["Ping (ms) ICMP"]
    assert pings["completion_p50_ns"][0] == dataset.table("streams").collect()["rtt_median_ns"].drop_nulls()[0]


def test_a_measurement_that_did_not_end_is_a_failed_run(told, lab: Path, tmp_path: Path) -> None:
    lines = (DATA / "iperf3-stream.json").read_text().splitlines()
    cut = lab / "cut.json"
    cut.write_text("\n".join(line for line in lines if '"event":"end"' not in line.replace(" ", "")))
    code, _, error = told("import", lab, "--out", tmp_path / "out", "--set", "place=lab")
    assert code == 1
    assert f"warning: {cut} counts as a failed run: it ends before iperf3 told its totals\n" in error
    assert Dataset.open(tmp_path / "out").status().filter(status="failed")["message"].to_list() == [
        f"{cut}: it ends before iperf3 told its totals"
    ]


def test_the_same_command_makes_the_same_results_and_another_is_refused(told, lab: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hashes = set[str]()
    for _ in range(2):
        assert told("import", lab, "--out", out)[0] == 0
        hashes.add(Dataset.open(out).digest)
    assert len(hashes) == 1
    code, _, error = told("import", lab, "--out", out, "--set", "place=lab")
    assert (code, error) == (
        2,
        f"error: {out} holds other results, `measured`\nhint: name another directory with --out, or remove this one\n",
    )


def test_what_is_of_neither_is_left_out_of_a_directory_and_refused_by_name(told, lab: Path, tmp_path: Path) -> None:
    (lab / "notes.txt").write_text("notes")
    other = lab / "other.json"
    other.write_text('{"a": 1}')
    code, _, error = told("import", lab, "--out", tmp_path / "out")
    assert (code, error) == (0, f"note: left out, as they are of neither iperf3 nor flent: {lab / 'notes.txt'}, {other}\n")
    broken = lab / "broken.json"
    broken.write_text('{"start": {}, "intervals": [')
    code, _, error = told("import", other, broken, "--out", tmp_path / "other")
    assert code == 2
    assert error == (
        f"error: {other}:1:1: this is JSON, and of neither iperf3 nor flent\n"
        "hint: what `iperf3 -J`, `iperf3 --json-stream` and flent write is read\n"
        f"error: {broken}:1:29: the text ends in the middle of a value\n"
        "hint: the file was cut off, or is still being written\n"
    )
    assert not (tmp_path / "other").exists()


MISTAKES = {
    "nothing": (["--set", "rtt"], "`--set rtt` sets nothing", "write NAME=VALUE, such as --set rtt='20 ms'"),
    "twice": (["--set", "a=1", "--set", "a=2"], "`--set a=2` sets `a` a second time", "it is `1` already"),
    "a column": (
        ["--set", "cell=1"],
        "`--set cell=1`: 'cell' cannot name a factor, as it names a column of every plan",
        "a name has letters, digits, dots, dashes and underscores, and begins with a letter",
    ),
    "no hole": (["--pattern", "*.json"], "`--pattern *.json` names no factor", "write it in braces: '{cc}-{rtt}-*.json'"),
    "two holes": (["--pattern", "{a}-{a}.json"], "`--pattern {a}-{a}.json` names `a` twice", "write * for what is of no interest"),
    "a setting": (["--ignore", "titel"], "files tell no setting `titel`", "did you mean `title`?"),
    "no arm": (["--arm", "queue"], "there is no factor `queue` whose levels could be arms", "the factors are cc"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_what_to_do(case: str, told, lab: Path, tmp_path: Path) -> None:
    options, message, hint = MISTAKES[case]
    code, _, error = told("import", lab, "--out", tmp_path / "out", *options)
    assert (code, error) == (2, f"error: {message}\nhint: {hint}\n")
    assert not (tmp_path / "out").exists()


def test_a_pattern_that_does_not_fit_names_the_file(lab: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"bbr-10ms-1\.json is not called like the pattern `\{cc\}_\{rtt\}\.json`"):
        importing.import_files(importing.found([lab]), tmp_path / "out", Given.of(pattern="{cc}_{rtt}.json"))


def test_one_measurement_does_not_count_twice(lab: Path) -> None:
    (lab / "copy.json").write_bytes((lab / "bbr-10ms-1.json").read_bytes())
    with pytest.raises(DatasetError, match="are the same measurement: they hold the same"):
        importing.found([lab])
    # The other end of it has other numbers and the same cookie.
    tree = json.loads((lab / "copy.json").read_text())
    tree["start"]["accepted_connection"] = {"host": "10.0.0.1", "port": 5201}
    (lab / "copy.json").write_text(json.dumps(tree))
    with pytest.raises(DatasetError, match="iperf3 gives both one cookie, as its two ends do"):
        importing.found([lab])


def test_a_directory_without_a_measurement_is_told(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.gz", "wb") as file:
        file.write(b"no JSON")
    with pytest.raises(DatasetError, match="has no file of iperf3 or flent"):
        importing.found([tmp_path])
