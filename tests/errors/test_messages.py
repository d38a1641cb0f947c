"""The exact text of every user's mistake."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sawtooth
from sawtooth.cli import app
from sawtooth.errors import SawtoothError, StudyError
from sawtooth.plan import make_plan
from sawtooth.results import folder
from sawtooth.study import Study
from tests.conftest import STUDY


def message(text: str, options: tuple[str, ...] = (), *, short: bool = False) -> str:
    with pytest.raises(SawtoothError) as raised:
        make_plan(Study.parse(text, Path("pair.toml"), short=short, options=options))
    return str(raised.value)


def changed(old: str, new: str) -> str:
    assert old in STUDY
    return STUDY.replace(old, new, 1)


CASES = {
    "misspelt key of the study": (
        changed("repeat = 2", "repeats = 2"),
        """\
error: unknown key `repeats`
 --> pair.toml:3:1
  |
3 | repeats = 2
  | ^^^^^^^
hint: did you mean `repeat`?""",
    ),
    "misspelt key of the scenario": (
        changed('duration = "3 s"', 'durations = "3 s"'),
        """\
error: unknown key `durations`
  --> pair.toml:14:1
   |
14 | durations = "3 s"
   | ^^^^^^^^^
hint: did you mean `duration`?""",
    ),
    "misspelt name": (
        changed('cc = { name = "reno" }', 'cc = { name = "highsped" }'),
        """\
error: unknown congestion control `highsped`
  --> pair.toml:22:15
   |
22 | cc = { name = "highsped" }
   |               ^^^^^^^^^^
hint: did you mean `highspeed`? `sawtooth list cc` shows all""",
    ),
    "parameters that cross": (
        changed('cc = { name = "reno" }', 'cc = { name = "highspeed", high_window = 30 }'),
        """\
error: `low_window` is 38, and has to be below `high_window`, which is 30
  --> pair.toml:22:42
   |
22 | cc = { name = "highspeed", high_window = 30 }
   |                                          ^^
hint: set `low_window` below `high_window`""",
    ),
    "bounds that cross": (
        changed('cc = { name = "reno" }', 'cc = { name = "htcp", beta_max = 0.4 }'),
        """\
error: `beta_min` is 0.5, and cannot be above `beta_max`, which is 0.4
  --> pair.toml:22:34
   |
22 | cc = { name = "htcp", beta_max = 0.4 }
   |                                  ^^^
hint: set `beta_min` to no more than `beta_max`""",
    ),
    "wrong unit": (
        changed('rate = "1 Mbit/s"', 'rate = "1 ms"'),
        """\
error: expected a rate such as `10 Mbit/s`, found a time
  --> pair.toml:16:29
   |
16 | links.bottleneck = { rate = "1 ms", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }
   |                             ^^^^^^
hint: `rate`: rate of each direction (rate); such as rate = "10 Mbit/s\"""",
    ),
    "negative rate": (
        changed('rate = "1 Mbit/s"', 'rate = "-1 Mbit/s"'),
        """\
error: a link's rate must be above zero, found -1000000 bit/s
  --> pair.toml:16:29
   |
16 | links.bottleneck = { rate = "-1 Mbit/s", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }
   |                             ^^^^^^^^^^^
hint: `rate`: rate of each direction (rate); such as rate = "10 Mbit/s\"""",
    ),
    "zero rate": (
        changed('rate = "1 Mbit/s"', 'rate = "0 bit/s"'),
        """\
error: a link's rate must be above zero, found 0 bit/s
  --> pair.toml:16:29
   |
16 | links.bottleneck = { rate = "0 bit/s", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }
   |                             ^^^^^^^^^
hint: `rate`: rate of each direction (rate); such as rate = "10 Mbit/s\"""",
    ),
    "empty path": (
        changed('path = ["bottleneck"]', "path = []"),
        """\
error: a path needs at least one link
  --> pair.toml:19:8
   |
19 | path = []
   |        ^^
hint: list the links in the order data crosses them""",
    ),
    "unknown link": (
        changed('path = ["bottleneck"]', 'path = ["botleneck"]'),
        """\
error: unknown link `botleneck`
  --> pair.toml:19:9
   |
19 | path = ["botleneck"]
   |         ^^^^^^^^^^^
hint: did you mean `bottleneck`?""",
    ),
    "zero flows through a sweep axis": (
        changed('"vars.N" = [1, 2]', '"vars.N" = [1, 0]'),
        """\
error: a scenario needs at least one flow, and the count of every block is 0
  --> pair.toml:20:9
   |
20 | count = "N"
   |         ^^^
hint: leave one block with a count of 1 or more; `N` is 0 here, from pair.toml:26:16""",
    ),
    "a sweep over a path that does not exist": (
        changed('"vars.Tp" = ["10 ms", "40 ms"]', '"links.botleneck.rate" = ["1 Mbit/s"]'),
        """\
error: `links.botleneck.rate` does not exist: there is no `links.botleneck` in the scenario
  --> pair.toml:25:1
   |
25 | "links.botleneck.rate" = ["1 Mbit/s"]
   | ^^^^^^^^^^^^^^^^^^^^^^
hint: did you mean `bottleneck`?""",
    ),
    "a misspelt number of replicates of an arm": (
        changed("sack = { ", "sack = { repeet = 3, "),
        """\
error: unknown key `repeet`
  --> pair.toml:30:10
   |
30 | sack = { repeet = 3, "tcp.recovery" = "sack" }
   |          ^^^^^^
hint: did you mean `repeat`?""",
    ),
    "an unknown word in an arm": (
        changed("sack = { ", "sack = { zzz = 3, "),
        """\
error: unknown key `zzz`
  --> pair.toml:30:10
   |
30 | sack = { zzz = 3, "tcp.recovery" = "sack" }
   |          ^^^
hint: known here: repeat, backends, duration, sample, record, record_from, record_until, stack, cc, receiver_cc, tcp, vars, links, flows, hosts, host, receiver_host, kernel, limits, shortcuts""",
    ),
    "a bad value of a sweep axis": (
        changed('"vars.Tp" = ["10 ms", "40 ms"]', '"links.bottleneck.rate" = ["1 Mbit/s", "2 mbit/s"]'),
        """\
error: unknown unit `mbit/s`
  --> pair.toml:25:43
   |
25 | "links.bottleneck.rate" = ["1 Mbit/s", "2 mbit/s"]
   |                                           ^^^^^^
hint: did you mean `Mbit/s`?""",
    ),
    "division by zero in an expression": (
        changed('start = "S / N * i"', 'start = "S / (N - N) * i"'),
        """\
error: division by zero: `(N - N)` is 0
  --> pair.toml:21:14
   |
21 | start = "S / (N - N) * i"
   |              ^^^^^^^
hint: `N` is 1 here, from pair.toml:26:13""",
    ),
    "a bad value of an arm": (
        changed('{ "tcp.recovery" = "sack" }', '{ "tcp.recovery" = "sak" }'),
        """\
error: unknown recovery `sak`
  --> pair.toml:30:27
   |
30 | sack = { "tcp.recovery" = "sak" }
   |                           ^^^^^
hint: did you mean `sack`? known are tahoe, reno, newreno, sack, fack, rack""",
    ),
    "a name that leads out of the results": (
        changed('name = "pair"', 'name = "../pair"'),
        """\
error: `../pair` cannot name a directory
 --> pair.toml:1:8
  |
1 | name = "../pair"
  |        ^^^^^^^^^
hint: use letters, digits, `-`, `_`, `.` and `+`""",
    ),
    "bounds the wrong way round": (
        changed('stack = "ns2"', 'stack = "ns2"\ntcp = { rto_min = "10 s", rto_max = "1 s" }'),
        """\
error: `rto_min` is 10 s, above `rto_max`, which is 1 s
  --> pair.toml:16:19
   |
16 | tcp = { rto_min = "10 s", rto_max = "1 s" }
   |                   ^^^^^^
hint: `rto_min`: lower bound of the retransmission timeout (RFC 6298 §2.4); with stack = "linux" it is rto_granularity, the least variance, that bounds it: set both (time; by default 1 s)""",
    ),
    "a buffer above its limit": (
        changed('stack = "ns2"', 'stack = "linux"\ntcp = { receive_buffer_max = "64 kB" }'),
        """\
error: `receive_buffer_default` is 131072 B, above `receive_buffer_max`, which is 64000 B
  --> pair.toml:16:30
   |
16 | tcp = { receive_buffer_max = "64 kB" }
   |                              ^^^^^^^
hint: set both, or the first to "none" for a buffer without limits""",
    ),
    "variables that need each other": (
        changed('Tp = "20 ms"', 'Tp = "20 ms"\nA = "2 * B"\nB = "A"').replace('"S / N * i"', '"S / N * i * A"'),
        """\
error: variable `B` is defined by itself
 --> pair.toml:8:10
  |
8 | A = "2 * B"
  |          ^
hint: a variable is a number, a quantity such as "20 ms", an expression of other variables, or a list of these""",
    ),
    "a draw from an empty range": (
        changed('high = "12 * Tp"', 'high = "0 ms"'),
        """\
error: the range of `S` is empty: from 0 to 0
  --> pair.toml:11:62
   |
11 | S = { distribution = "uniform_integer", low = "0 ms", high = "0 ms", unit = "ms" }
   |                                                              ^^^^^^
hint: let `high` be above `low`""",
    ),
    "axes of different lengths zipped": (
        changed(
            '[sweep]\n"vars.Tp" = ["10 ms", "40 ms"]\n"vars.N" = [1, 2]',
            '[[sweep]]\nzip = { "vars.Tp" = ["10 ms", "40 ms"], "vars.N" = [1] }',
        ),
        """\
error: axes that are zipped must be of one length: vars.Tp has 2, vars.N has 1
  --> pair.toml:25:7
   |
25 | zip = { "vars.Tp" = ["10 ms", "40 ms"], "vars.N" = [1] }
   |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: the first values go together, then the second; a grid has all combinations""",
    ),
    "a table that cannot be asked for": (
        changed('stack = "ns2"', 'stack = "ns2"\nrecord = ["episodes", "variable"]'),
        """\
error: `variable` is no table that can be asked for
  --> pair.toml:16:23
   |
16 | record = ["episodes", "variable"]
   |                       ^^^^^^^^^^
hint: did you mean `variables`?""",
    ),
    "variables without samples": (
        changed('stack = "ns2"', 'stack = "ns2"\nrecord = ["variables"]'),
        """\
error: variables are taken with the samples, and there are none
  --> pair.toml:16:11
   |
16 | record = ["variables"]
   |           ^^^^^^^^^^^
hint: add sample = "100 ms", or "ack\"""",
    ),
    "a share in per cent": (
        changed('delay = "Tp"', 'delay = "Tp", loss = "2 %"'),
        """\
error: the expression ends where a value was expected
  --> pair.toml:16:66
   |
16 | links.bottleneck = { rate = "1 Mbit/s", delay = "Tp", loss = "2 %", queue = { name = "drop_tail", limit = "10 packets" } }
   |                                                                  ^
hint: per cent are written as a share: 0.02 is 2 %""",
    ),
    "a comma for a point": (
        changed('rate = "1 Mbit/s"', 'rate = "0,5 Mbit/s"'),
        """\
error: unexpected `,`
  --> pair.toml:16:31
   |
16 | links.bottleneck = { rate = "0,5 Mbit/s", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }
   |                               ^
hint: numbers have a point: 0.5""",
    ),
    "flows outside of the scenario": (
        changed("[[scenario.flows]]", "[[flows]]"),
        """\
error: `flows` is a key of the scenario
  --> pair.toml:18:3
   |
18 | [[flows]]
   |   ^^^^^
hint: write [[scenario.flows]]""",
    ),
    "a duration outside of the scenario": (
        changed("seed = 7", 'seed = 7\nduration = "3 s"'),
        """\
error: `duration` is a key of the scenario
 --> pair.toml:5:1
  |
5 | duration = "3 s"
  | ^^^^^^^^
hint: write scenario.duration, or duration below [scenario]""",
    ),
    "no TOML": (
        "name =\n",
        """\
error: a value was expected
 --> pair.toml:1:7
  |
1 | name =
  |       ^
hint: write what it is after the =""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str) -> None:
    text, expected = CASES[name]
    assert message(text) == expected


def test_set_points_at_the_command_line() -> None:
    expected = """\
error: expected a rate such as `10 Mbit/s`, found a time
 --> --set:1:23
  |
1 | links.bottleneck.rate=1 ms
  |                       ^^^^
hint: `rate`: rate of each direction (rate); such as rate = "10 Mbit/s\""""
    assert message(STUDY, ("links.bottleneck.rate=1 ms",)) == expected


def test_set_says_what_it_can_set() -> None:
    expected = """\
error: `arms.sack.tcp.recovery` is of the study, not of the scenario
 --> --set:1:1
  |
1 | arms.sack.tcp.recovery=sack
  | ^^^^^^^^^^^^^^^^^^^^^^
hint: --set changes values of the scenario, and repeat, seed, backend and limits; for all else change the file"""
    assert message(STUDY, ("arms.sack.tcp.recovery=sack",)) == expected


def test_a_backend_that_is_not_there_is_told_before_anything_is_written(
    study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sawtooth.backends import uml
    from sawtooth.errors import BackendUnavailable

    def missing() -> None:
        raise BackendUnavailable("no guest here", "`make guest` builds it")

    monkeypatch.setattr(uml, "require", missing)
    text = STUDY.replace('"newreno" }', '"newreno" }'.replace("newreno", "sack")).replace('stack = "ns2"\n', "")
    text = text.replace('{ "tcp.recovery" = "sack" }', "{}").replace("newreno = {}\nsack = {}", 'a = {}\nb = { "tcp.smss" = "1000 B" }')
    study_file.write_text(text)
    out = tmp_path / "out"
    outcome = CliRunner().invoke(app, ["run", str(study_file), "--backend", "uml", "--out", str(out)])
    assert str(outcome.exception) == "error: no guest here\nhint: `make guest` builds it"
    assert not out.exists()
    planned = CliRunner().invoke(app, ["plan", str(study_file), "--backend", "uml"])
    # What would run is told all the same.
    assert "runs; at most about" in planned.stdout
    assert str(planned.exception) == str(outcome.exception)


@pytest.mark.parametrize("command", [["list"], ["list", "--json"], ["list", "cc"], ["--help"]], ids=" ".join)
def test_a_reader_that_goes_is_no_mistake(command: list[str]) -> None:
    import subprocess
    import sys

    code = "import time; time.sleep(1); from sawtooth.cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", code, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", "error: `5` is 500 % without a sign of it\nhint: write `5 %` or 0.05, or `500 %`"),
        ("1", "error: `1` is 100 % without a sign of it\nhint: write `1 %` or 0.01, or `100 %`"),
        ("-0.1", "error: `-0.1` is no tolerance: it is above 0\nhint: such as 5 %, or 0.05"),
        ("nan", "error: `nan` is no tolerance: it is above 0\nhint: such as 5 %, or 0.05"),
        ("inf %", "error: `inf %` is no tolerance: it is above 0\nhint: such as 5 %, or 0.05"),
        ("much", "error: `much` is no tolerance\nhint: such as 5 %, or 0.05"),
    ],
)
def test_a_tolerance_is_a_share(text: str, expected: str) -> None:
    from sawtooth.report import compare

    with pytest.raises(SawtoothError) as raised:
        compare.tolerance(text)
    assert str(raised.value) == expected
    assert [compare.tolerance(fine) for fine in ("5 %", "5%", "0.05", "500 %")] == [0.05, 0.05, 0.05, 5.0]


def test_a_results_directory_of_another_study(study_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sawtooth.run(study_file, out, short=True)
    other = tmp_path / "other.toml"
    other.write_text(STUDY.replace('name = "pair"', 'name = "other"'))
    with pytest.raises(SawtoothError) as raised:
        sawtooth.run(other, out, short=True, options=["seed=8"])
    assert str(raised.value) == (
        f"error: {out} holds results of another study: of `pair`, not of `other`\n"
        "hint: name another directory with `out`, or remove this one; if `other` is that study with another name, what makes other runs of it is that "
        "options were none"
    )


def test_a_directory_that_is_no_results_directory(tmp_path: Path) -> None:
    with pytest.raises(SawtoothError) as raised:
        sawtooth.Dataset.open(tmp_path)
    assert str(raised.value) == f"error: {tmp_path} is no results directory\nhint: `sawtooth.run(study, out)` makes one"


def test_a_full_disk(study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    plan = make_plan(Study.load(study_file))
    made = sawtooth.Dataset.create(out, plan)

    def full(path: Path, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(folder, "write_atomically", full)
    from sawtooth.execute import execute

    with pytest.raises(SawtoothError) as raised:
        execute(plan, made)
    assert str(raised.value) == (
        f"error: no space left for results in {out}\n"
        "hint: nothing that was stored is lost: make room and run the same command again, it goes on from here"
    )
    monkeypatch.undo()
    execute(plan, made)
    assert made.complete


def test_a_misspelt_kind_of_report_is_found_before_anything_runs(tmp_path: Path) -> None:
    study = tmp_path / "pair.toml"
    study.write_text(STUDY.replace("seed = 7", 'seed = 7\nreport = "genric"'))
    outcome = CliRunner().invoke(app, ["run", str(study), "--out", str(tmp_path / "out")])
    assert (
        str(outcome.exception)
        == f"""\
error: unknown kind of report `genric`
 --> {study}:5:10
  |
5 | report = "genric"
  |          ^^^^^^^^
hint: did you mean `generic`?"""
    )
    assert not (tmp_path / "out").exists()


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    missing, binary, empty = tmp_path / "missing.toml", tmp_path / "binary.toml", tmp_path / "empty"
    binary.write_bytes(b"name = \xff")
    empty.mkdir()
    results = tmp_path / "results"
    results.mkdir()
    (results / "manifest.json").touch()
    expected = {
        missing: f"error: there is no file {missing}\nhint: `sawtooth list study` shows the studies that come along",
        tmp_path: f"error: {tmp_path} is a directory, not a study file\nhint: name a file in it: binary.toml",
        empty: f"error: {empty} is a directory, not a study file\nhint: name a file; `sawtooth list study` shows the studies that come along",
        results: f"error: {results} is a directory, not a study file\nhint: it holds results; the study that they are of is {results / 'study.toml'}",
        binary: f"error: {binary} is no text: byte 7 is not UTF-8\n --> {binary}:1:8\n  |\n1 | name = \ufffd\n  |        ^\nhint: a study is a text in UTF-8: save it as one",
    }
    for path, text in expected.items():
        with pytest.raises(SawtoothError) as raised:
            Study.load(path)
        assert str(raised.value) == text


KERNEL = """\
name = "fetch"
backend = "uml"
[scenario]
duration = "3 s"
cc = "kernel:cubic"
tcp = { smss = "1000 B", recovery = "sack" }
kernel = { time = "real" }
links.l = { rate = "10 Mbit/s", delay = "20 ms" }
flows = [{ path = ["l"] }]
"""

KERNEL_CASES = {
    "what a kernel cannot be told": (
        KERNEL,
        """\
error: a real kernel cannot be told `recovery`: it has its own
 --> pair.toml:6:26
  |
6 | tcp = { smss = "1000 B", recovery = "sack" }
  |                          ^^^^^^^^
hint: leave it out, or put it into an arm with `backends = ["sim"]`; a kernel can be told smss, mss_from_mtu, window_limit, initial_window, rto_min, \
dup_thresh, receive_buffer_default, receive_buffer_max, receive_auto_tuning, adv_win_scale, window_scaling, send_buffer_default, \
send_buffer_max, ecn, metrics_cache, partial, autocorking, ack_every, restart_after_idle""",
    ),
    "how many segments a kernel acknowledges at once": (
        KERNEL.replace('recovery = "sack"', "ack_every = 3"),
        """\
error: a real kernel cannot be told `ack_every = 3`
 --> pair.toml:6:38
  |
6 | tcp = { smss = "1000 B", ack_every = 3 }
  |                                      ^
hint: it has 2, and 1 where no acknowledgement is delayed""",
    ),
    "what a kernel does not tell": (
        KERNEL.replace(', recovery = "sack"', "").replace("kernel =", 'record = ["episodes"]\nkernel ='),
        """\
error: a real kernel does not tell its episodes
 --> pair.toml:7:10
  |
7 | record = ["episodes"]
  |          ^^^^^^^^^^^^
hint: leave `episodes` out, or put it into an arm with `backends = ["sim"]`""",
    ),
    "an algorithm of a kernel in the simulator": (
        KERNEL.replace('"uml"', '"sim"'),
        """\
error: `kernel:cubic` is of a real kernel, not of the simulator
 --> pair.toml:5:6
  |
5 | cc = "kernel:cubic"
  |      ^^^^^^^^^^^^^^
hint: run it with `--backend uml`, or name one of `sawtooth list cc`""",
    ),
    "a kernel's algorithm without a name": (
        KERNEL.replace("kernel:cubic", "kernel:"),
        """\
error: `kernel:` lacks the name of a congestion control
 --> pair.toml:5:6
  |
5 | cc = "kernel:"
  |      ^^^^^^^^^
hint: for example "kernel:cubic\"""",
    ),
    "parameters of a kernel's algorithm": (
        KERNEL.replace('"kernel:cubic"', '{ name = "kernel:cubic", beta = 0.5 }'),
        """\
error: a kernel's algorithm has no parameter `beta`
 --> pair.toml:5:31
  |
5 | cc = { name = "kernel:cubic", beta = 0.5 }
  |                               ^^^^
hint: leave it out: parameters of modules are the kernel's own""",
    ),
    "a misspelt setting of a kernel": (
        KERNEL.replace("time =", "tme ="),
        """\
error: unknown setting of a kernel `tme`
 --> pair.toml:7:12
  |
7 | kernel = { tme = "real" }
  |            ^^^
hint: did you mean `time`?""",
    ),
    "a link that the kernel's shaper cannot make": (
        KERNEL.replace(', recovery = "sack"', "")
        .replace('time = "real"', 'shaper = "kernel"')
        .replace('"20 ms" }', '"20 ms", drop = [3] }'),
        """\
error: the kernel's shaper cannot make the loss of chosen packets
 --> pair.toml:7:21
  |
7 | kernel = { shaper = "kernel" }
  |                     ^^^^^^^^
hint: leave out kernel.shaper: the simulator's own links can do it""",
    ),
    "a file without a size": (
        KERNEL.replace(', recovery = "sack"', "").replace('time = "real"', 'application = "http"'),
        """\
error: a file has a size, and flow `flow` is endless
 --> pair.toml:7:26
  |
7 | kernel = { application = "http" }
  |                          ^^^^^^
hint: for example source = { name = "bulk", size = "1 MB" }""",
    ),
    "an unknown order": (
        KERNEL.replace('backend = "uml"', 'order = "random"'),
        """\
error: unknown order `random`
 --> pair.toml:2:9
  |
2 | order = "random"
  |         ^^^^^^^^
hint: there are cells and blocks""",
    ),
}


@pytest.mark.parametrize("case", KERNEL_CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_mistake_about_kernels_is_told_with_place_and_remedy(case: str) -> None:
    text, expected = KERNEL_CASES[case]
    assert message(text) == expected


def test_who_names_flows_where_it_is_said_how_they_are_taken_together_is_told_of_the_key_that_chooses() -> None:
    text = STUDY + '\n[[figures]]\nname = "g"\nmetric = "goodput_bps"\nflows = "bulk"\n'
    assert message(text).endswith('hint: known here: mean, sum, max, min, each; only some flows are chosen by `of`, such as of = "bulk"')
    assert message(text.replace('"bulk"', '"men"')).endswith("hint: did you mean `mean`?")


@pytest.mark.parametrize(
    ("content", "line", "column"), [('name = "a"\nquestion = "Größe"\n'.encode("latin-1"), 2, 15), ('name = "a"\n'.encode("utf-16"), 1, 1), (b"a = 1\r\nb = '\xc3\xa4\xff'", 2, 7)]
)  # fmt: skip
def test_what_is_no_text_is_told_with_its_line_and_column(content: bytes, line: int, column: int, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(content)
    with pytest.raises(StudyError, match="is no text: byte ") as caught:
        Study.load(path)
    assert caught.value.place is not None and (caught.value.place.line, caught.value.place.column) == (line, column)
    assert caught.value.hint == "a study is a text in UTF-8: save it as one"
    (told,) = sawtooth.lint(path)
    assert (told.rule.code, told.place) == ("SW001", caught.value.place)


def test_a_study_that_may_not_be_read_is_told_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.toml"
    path.write_text("[scenario]\n")

    def refused(*_arguments: object, **_options: object) -> int:
        raise PermissionError(13, "Permission denied")

    # Whoever runs this may be allowed to read all.
    monkeypatch.setattr("os.access", lambda *_arguments: False)
    monkeypatch.setattr("sawtooth.reading.os.open", refused)
    for command in ("plan", "lint"):
        told = CliRunner().invoke(app, [command, str(path)])
        assert isinstance(told.exception, StudyError) and told.exception.message == f"cannot read {path}: Permission denied"
        assert told.exception.hint == "name another, or see what `ls -ld` says of it"
