"""What `sawtooth advise` refuses, in exact words."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sawtooth import _core, cli

STUDY = """\
name = "asked"
[scenario]
duration = "2 s"
stack = "linux"
cc = "cubic"
[scenario.links.l]
rate = "10 Mbit/s"
delay = "10 ms"
loss = 0.001
[[scenario.flows]]
name = "a"
path = ["l"]
"""
ARMS = '[arms]\nreno = { cc = "reno" }\nbic = { cc = "bic" }\n'
TWO_FLOWS = '[[scenario.flows]]\nname = "b"\npath = ["l"]\n'
ARRIVING = STUDY.replace('path = ["l"]\n', 'path = ["l"]\narrivals = { rate = 5, size = "10 kB" }\n')
TWO_LINKS = STUDY.replace('path = ["l"]', 'path = ["l", "m"]').replace(
    'rate = "10 Mbit/s"', 'rate = "10 Mbit/s"\nchanges = [{ at = "1 s", rate = "5 Mbit/s" }]'
)
CASES: dict[str, tuple[str, list[str], str, str]] = {
    "a study of kernels": (
        'backend = "uml"\n' + STUDY, [],
        "advise compares in the simulator, and asked.toml runs on uml", "add --backend sim, if the scenario is meant for it, too",
    ),
    "an arm where there are none": (STUDY, ["--arm", "reno"], "asked.toml has no arms, so none is called `reno`", "leave out --arm"),
    "an arm that is none": (STUDY + ARMS, ["--arm", "rene"], "asked.toml has no arm `rene`", "did you mean `reno`?"),
    "no flow of TCP": (
        STUDY.replace('path = ["l"]', 'path = ["l"]\ntransport = "udp"\nsource = { name = "constant_rate", rate = "1 Mbit/s" }'), [],
        "no flow of asked.toml is of TCP, and others have no congestion control", "name a study that has some",
    ),
    "a flow that is none": (STUDY, ["--flow", "c"], "asked.toml has no flow of TCP called `c`", "known here: a"),
    "a link that is none": (STUDY, ["--link", "k"], "no flow that is advised crosses a link `k`", "known here: l"),
    "a sweep of the congestion control": (
        STUDY + '[sweep]\n"cc" = ["reno", "cubic"]\n', [],
        "the study varies the congestion control that is to be chosen: `cc`", "choose one level with --set cc=VALUE",
    ),
    "a sweep of the queue": (
        STUDY + '[sweep]\n"links.l.queue" = ["drop_tail", "codel"]\n', [],
        "the study varies the queue that is to be chosen: `links.l.queue`", "choose one level with --set links.l.queue=VALUE",
    ),
    "an unknown congestion control": (
        STUDY, ["--cc", "cubik"], "unknown congestion control `cubik`", "did you mean `cubic`?; `sawtooth list cc` shows all",
    ),
    "an unknown queue": (STUDY, ["--queue", "fqcodel"], "unknown queue `fqcodel`", "did you mean `fq_codel`?; `sawtooth list queue` shows all"),
    "a shaper as a queue": (
        STUDY, ["--queue", "token_bucket"], "unknown queue `token_bucket`",
        f"known here: {', '.join(row['name'] for row in _core.registry()['queue'] if row['name'] != 'token_bucket')}; `sawtooth list queue` shows all",
    ),
    "no table": (
        STUDY, ["--queue", "{ name = codel }"], "`{ name = codel }` is no table: string values must be quoted, expected literal string",
        "such as '{ name = \"codel\", target = \"15 ms\" }'",
    ),
    "a table without a name": (STUDY, ["--cc", "{ beta = 0.8 }"], "`{ beta = 0.8 }` has no name", "such as '{ name = \"cubic\", beta = 0.8 }'"),
    "a parameter that is none": (
        STUDY, ["--cc", "{ name = 'cubic', betta = 0.8 }"], "unknown parameter of cubic `betta`", "did you mean `beta`?",
    ),
    "nothing to compare": (
        STUDY, ["--cc", "cubic", "--queue", "drop_tail"], "there is nothing to compare with the present choice",
        "name another congestion control with --cc, or another queue with --queue",
    ),
    "completion of what does not end": (
        STUDY, ["--objective", "completion"], "`a` does not end, so it has no completion time",
        "name the flows that do with --flow, or another --objective",
    ),
    "fairness of one flow": (
        STUDY, ["--objective", "jain"], "a single flow shares with nobody, so there is no fairness", "name another --objective",
    ),
    "power of what arrives": (
        ARRIVING, ["--objective", "power"], "flows that arrive, such as `a`, have no round-trip time: they cannot be ranked by power",
        "--objective completion, goodput or delay can",
    ),
    "an objective that says itself what is better": (
        STUDY, ["--objective", "delay", "--least"], "--least is for a measure of yours: of delay it is known what is better", "leave out --least",
    ),
    "no measure": (
        STUDY, ["--objective", "goodputs"], "`goodputs` is neither an objective nor a measure: there is no measure `goodputs`",
        "did you mean `goodput_bps`?",
    ),
    "a measure of one of several": (
        STUDY + TWO_FLOWS, ["--objective", "retransmits", "--least"], "`retransmits` is of one block of flows, and advised are a, b",
        "name one of them with --flow",
    ),
    "a measure that no run tells": (
        STUDY, ["--objective", "stall_ns", "--least", "--cc", "reno", "--queue", "present", "--repeat", "2", "--fresh", "2"],
        "no run of the present choice tells stall_ns: `stall_ns`", "name another --objective, or a longer `duration`",
    ),
    "a bar that is none": (STUDY, ["--bar", "5"], "--bar is a share from 0 up to below 1, found `5`", "such as --bar '5 %'"),
    "no share to vary by": (STUDY, ["--vary", "much"], "--vary is a share from 0 up to below 1, found `much`", "such as --vary '5 %'"),
    "an unknown neighbour": (
        STUDY, ["--beside", "renno"], "unknown congestion control `renno`", "did you mean `reno`?; `sawtooth list cc` shows all",
    ),
    "a kept study that is no TOML": (STUDY, ["--study", "kept.txt"], "a study is a TOML file, and kept.txt is not called like one", "name kept.toml"),
    "a kept study in place of the one": (
        STUDY, ["--study", "asked.toml"], "asked.toml is the study that is asked about", "name another file with --study",
    ),
    "a choice that an arm makes again": (
        STUDY + ARMS, ["--set", "cc=vegas"],
        "`--set cc=...` says what the present choice has, and so does the arm `reno`: `cc`",
        "leave out --set, or name with --arm an arm that leaves it alone",
    ),
    "a kept study that somebody wrote": (
        STUDY, ["--study", "mine.toml"], "mine.toml is there, and is no study that `sawtooth advise` wrote",
        "name another file, or replace it with --force",
    ),
    "a cluster that is none": (
        STUDY, ["--dask", "localhost"], "`localhost` is no address of a Dask scheduler",
        "write tcp://HOST:8786, the scheduler's file such as scheduler.json, or local:4",
    ),
    "results of something else": (STUDY, ["--out", "there"], "there is not empty and is no results directory", "name another directory with --out"),
}  # fmt: skip


def said(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["sawtooth", "advise", *arguments])
    with pytest.raises(SystemExit) as raised:
        cli.main()
    assert raised.value.code == 2
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_what_cannot_be_advised_on_is_refused_and_it_says_why(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, arguments, message, hint = CASES[case]
    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(text)
    Path("mine.toml").write_text(STUDY)
    Path("there").mkdir()
    Path("there/of-others").touch()
    told = said(["asked.toml", *arguments], monkeypatch, capsys)
    first = next(at for at, line in enumerate(told) if line.startswith("error: "))
    assert (told[first], told[-1]) == (f"error: {message}", f"hint: {hint}")


def test_a_bottleneck_that_changes_has_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(TWO_LINKS + '[scenario.links.m]\nrate = "10 Mbit/s"\ndelay = "1 ms"\n')
    told = said(["asked.toml"], monkeypatch, capsys)
    assert told == ["error: which link is the bottleneck cannot be told, as rates change", "hint: name it with --link: l, m"]


def test_results_of_another_study_are_not_mixed_with_an_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(STUDY)
    monkeypatch.setattr(sys, "argv", ["sawtooth", "run", "asked.toml", "--out", "r"])
    with pytest.raises(SystemExit):
        cli.main()
    capsys.readouterr()
    told = said(["asked.toml", "--out", "r"], monkeypatch, capsys)
    assert told == ["error: r holds results of something else", "hint: name another directory with --out"]


def test_a_kept_study_has_to_find_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("elsewhere").mkdir()
    Path("starts.csv").write_text("cell,s1,s2\n1,100,200\n")
    draws = '[draws]\nS = { distribution = "table", file = "starts.csv", row = "cell", column = "s{replicate}", unit = "ms" }\n'
    Path("asked.toml").write_text(STUDY + draws)
    told = said(["asked.toml", "--repeat", "2", "--fresh", "2", "--study", "elsewhere/kept.toml"], monkeypatch, capsys)
    assert told == [
        "error: elsewhere/kept.toml would not find what the study names: cannot read elsewhere/starts.csv: No such file or directory",
        "hint: put it into .",
    ]


def test_a_part_of_a_sweep_has_no_numbers_for_a_table_of_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("starts.csv").write_text("cell,s1\n1,100\n2,200\n")
    draws = '[draws]\nS = { distribution = "table", file = "starts.csv", row = "cell", column = "s{replicate}", unit = "ms" }\n'
    Path("asked.toml").write_text(STUDY + draws + '[sweep]\n"links.l.rate" = ["5 Mbit/s", "10 Mbit/s"]\n')
    told = said(["asked.toml", "--set", "links.l.rate=10 Mbit/s"], monkeypatch, capsys)
    assert (told[0], told[-1]) == (
        "error: `S` is drawn from a table by the numbers of cells, and a part of the sweep would have others",
        "hint: leave out --short and --set of what is swept",
    )


def test_an_advice_of_another_kind_has_no_place_in_the_file_that_did_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(STUDY)
    arguments = ["asked.toml", "--cc", "reno", "--queue", "present", "--confirm", "1", "--fresh", "2", "--out", "there"]
    monkeypatch.setattr(sys, "argv", ["sawtooth", "advise", *arguments, "--repeat", "2"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    capsys.readouterr()
    assert said([*arguments, "--repeat", "4"], monkeypatch, capsys)[-2:] == [
        "error: there/ranking holds results of another version of this study: `repeat` was 2",
        "hint: name another directory with --out, or remove this one",
    ]
