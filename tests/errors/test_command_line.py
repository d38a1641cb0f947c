"""Bad input of links, queues and traffic on the command line: exit code 2, file:line:column of what is to blame, and nothing begun."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sawtooth import cli

STUDY = """\
name = "wrong"
question = "What is wrong?"
[scenario]
duration = "2 s"
links.l = { LINK }
[[scenario.flows]]
path = ["l"]
FLOW
"""
RATE = 'rate = "10 Mbit/s", delay = "10 ms"'
UDP = 'transport = "udp"\n'


def queue(settings: str) -> str:
    return f"{RATE}, queue = {{ {settings} }}"


# The link, the flow, a file beside the study, what is told first, and where: the file, line and column, and the text there.
CASES: dict[str, tuple[str, str, dict[str, str], str, str, str]] = {
    "a load above 100 %": (
        RATE,
        "arrivals = { load = 1.01 }",
        {},
        "error: the offered load on `l` is 101.0000 %: no queue can hold that",
        "wrong.toml:8:21",
        "1.01 }",
    ),
    "a Hurst parameter of 1": (
        RATE,
        UDP + 'source = { name = "self_similar", hurst = 1.0 }',
        {},
        "error: with a Hurst parameter of 1 all periods have the same number of packets",
        "wrong.toml:9:43",
        "1.0 }",
    ),
    "a Hurst parameter of 0": (
        RATE,
        UDP + 'source = { name = "self_similar", hurst = 0 }',
        {},
        "error: a Hurst parameter is above 0 and below 1, found 0: no other stationary noise is self-similar",
        "wrong.toml:9:43",
        "0 }",
    ),
    "a Hurst parameter below 0": (
        RATE,
        UDP + 'source = { name = "self_similar", hurst = -0.2 }',
        {},
        "error: a Hurst parameter is above 0 and below 1, found -0.2: no other stationary noise is self-similar",
        "wrong.toml:9:43",
        "-0.2 }",
    ),
    "a trace with a bad line": (
        'delay = "10 ms", trace = { file = "up.trace" }',
        "",
        {"up.trace": "1\n2\nthree\n4\n"},
        "error: `three` is no time of a trace",
        "up.trace:3:1",
        "three",
    ),
    "changes with a bad line": (
        RATE + ', changes = { file = "wifi.csv" }',
        "",
        {"wifi.csv": "at,rate\n0 s,5 Mbit/s\n1 s,fast\n"},
        "error: ",
        "wifi.csv:3:5",
        "fast",
    ),
    "delays with a bad line": (
        RATE + ', jitter = { name = "table", file = "rtt.txt" }',
        "",
        {"rtt.txt": "1.5\nlong\n"},
        "error: `long` is no number of milliseconds",
        "rtt.txt:2:1",
        "long",
    ),
    "a distribution whose probabilities fall": (
        RATE,
        'arrivals = { rate = 5, size = { name = "empirical", file = "cdf.txt" } }',
        {"cdf.txt": "100 0.2\n300 0.1\n500 1\n"},
        "error: cumulative probabilities must ascend: 0.1 comes after 0.2",
        "cdf.txt:2:5",
        "0.1",
    ),
    "a distribution that does not end in 1": (
        RATE,
        'arrivals = { rate = 5, size = { name = "empirical", file = "cdf.txt" } }',
        {"cdf.txt": "100 0.2\n300 0.9\n"},
        "error: the last cumulative probability must be 1, found 0.9",
        "cdf.txt:2:1",
        "300 0.9",
    ),
    "points that are no distribution": (
        RATE,
        'arrivals = { rate = 5, size = { name = "empirical", points = [[1000, 0.7], [900, 1]] } }',
        {},
        "error: point 2: values must ascend: 900 comes after 1000",
        "wrong.toml:8:62",
        "[[1000",
    ),
    "thresholds that cross": (
        queue('name = "red", min_threshold = "20 packets", max_threshold = "10 packets"'),
        "",
        {},
        "error: `min_threshold` is 20 packets, and `max_threshold` is 10 packets: the thresholds cross",
        "wrong.toml:5:90",
        '"20 packets"',
    ),
    "a marking threshold at the limit": (
        queue('name = "step", limit = "9 packets", mark_above = "9 packets"'),
        "",
        {},
        "error: `mark_above` is 9 packets, and the queue drops above 9 packets: it would never mark",
        "wrong.toml:5:109",
        '"9 packets" }',
    ),
    "a limit below one packet": (
        queue('name = "drop_tail", limit = "1 kB"'),
        "",
        {},
        "error: `limit` is 1000 B, less than one packet of 1500 B: no packet would ever wait",
        "wrong.toml:5:88",
        '"1 kB"',
    ),
    "a limit of no packet": (
        queue('name = "codel", limit = "0 packets"'),
        "",
        {},
        "error: `limit` must be a whole number of packets above zero, found 0",
        "wrong.toml:5:84",
        '"0 packets"',
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_bad_input_ends_with_exit_code_2_and_its_place(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    link, flow, files, sentence, place, blamed = CASES[case]
    (tmp_path / "wrong.toml").write_text(STUDY.replace("LINK", link).replace("FLOW", flow))
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "argv", ["sawtooth", "run", str(tmp_path / "wrong.toml"), "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as raised:
        cli.main()
    assert raised.value.code == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(sentence)
    assert told[1].strip() == f"--> {tmp_path / place}"
    # The line is shown, and the carets stand under what is to blame.
    shown, carets = told[3], told[4]
    assert shown[carets.index("^") :].startswith(blamed)
    assert not (tmp_path / "out").exists()
