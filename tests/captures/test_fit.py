"""`sawtooth fit`: what it finds in captures of known scenarios, what a real kernel's come to, and what it refuses, in exact words."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from sawtooth import captures, cli, fitting, taps
from sawtooth.api import simulate
from sawtooth.cli import fit_text
from sawtooth.fitting import control
from sawtooth.fitting.packets import Packets, packets
from sawtooth.fitting.path import path as path_of
from sawtooth.plan import make_plan
from sawtooth.study import Study
from tests.captures.made import ACK, SYN, pcap, segment, transfer
from tests.captures.network import Path2, need_network
from tests.captures.network import transfer as kernel_transfer

ENDS = "10.0.0.1:32768 > 10.128.0.1:5001"


def captured(
    directory: Path,
    cc: str,
    loss: float,
    point: str = "sender",
    duration: str = "20 s",
    queue: int = 30,
    recovery: str = "rack",
    rate: str = "8 Mbit/s",
) -> Path:
    link = {"rate": rate, "delay": "20 ms", "queue": {"name": "drop_tail", "limit": f"{queue} packets"}, "loss": loss}
    scenario: dict[str, Any] = {"duration": duration, "stack": "linux", "cc": cc, "links": {"l": link}, "flows": [{"path": ["l"]}]}
    scenario["tcp"] = {"recovery": recovery}
    file = directory / "x.pcapng"
    simulate(scenario, seed=3, captures=taps.wanted(file, [point]))
    return file


def fitted(file: Path) -> fitting.Fit:
    capture = captures.read(file)
    return fitting.fit(capture, captures.choose(capture, [])[0])


@pytest.mark.parametrize(("cc", "loss"), [("cubic", 0.0), ("reno", 0.002)])
def test_the_scenario_of_a_simulated_capture_is_found(cc: str, loss: float, tmp_path: Path) -> None:
    found = fitted(captured(tmp_path, cc, loss))
    path = found.path
    assert path.rate_bps.value == pytest.approx(8e6, rel=0.02)
    assert path.delay_s.value == pytest.approx(0.04, rel=0.02)
    assert path.buffer_packets.value == pytest.approx(30, rel=0.1)
    assert path.rate_bps.low <= 8e6 <= path.rate_bps.high
    assert path.delay_s.low <= 0.04 <= path.delay_s.high
    assert path.buffer_packets.low <= 30 <= path.buffer_packets.high
    assert path.loss.low <= loss <= path.loss.high
    assert found.control.name == cc


@pytest.mark.parametrize(("cc", "rate", "queue"), [("reno", "10 Mbit/s", 60), ("cubic", "10 Mbit/s", 25), ("bbr", "12 Mbit/s", 70)])
def test_a_buffer_is_told_to_the_packet_though_linux_holds_acknowledgements_with_sack_back(
    cc: str, rate: str, queue: int, tmp_path: Path
) -> None:
    """It holds those back for 1.1 ms, which is about a packet at these rates."""
    capture = captures.read(captured(tmp_path, cc, 0.0, queue=queue, rate=rate))
    seen = packets(capture, capture.flows["flow"][0])
    assert path_of(seen).buffer_packets.value == queue
    longest = seen.took[seen.first].max(), seen.took[seen.alone & ~seen.first].max()
    # Both bounds are known: the first never wait, and others wait for the timer, or as long as a packet besides.
    assert longest[0] < longest[1]


def test_a_connection_without_sack_is_told(tmp_path: Path) -> None:
    found = fitted(captured(tmp_path, "cubic", 0.002))
    assert found.seen.without_sack == "" and "SACK" not in found.study
    found = fitted(captured(tmp_path, "cubic", 0.002, recovery="newreno"))
    lacks = f"none of {found.seen.row['dupacks_in']:,} duplicate acknowledgements has SACK"
    assert f"sack    none: {lacks}; it is simulated with SACK all the same" in list(fit_text.lines(found, None, None))
    assert f"The sender is simulated with SACK, which it did not have: {lacks}." in tomllib.loads(found.study)["caveats"]
    assert fit_text.as_json(found, None)["without_sack"] == lacks


def test_a_buffer_that_was_never_full_cannot_be_told(tmp_path: Path) -> None:
    found = fitted(captured(tmp_path, "reno", 0.02, queue=300)).path.buffer_packets
    assert found.value is None
    assert (
        found.why == "cannot tell: no losses crowd where the queue was longest, so it was never seen full; it has room for what was queued"
    )
    assert 1 < found.low <= 300 < found.high


def test_the_study_that_is_proposed_runs_as_what_was_captured(tmp_path: Path) -> None:
    file = captured(tmp_path, "cubic", 0.0)
    plan = make_plan(Study.parse(fitted(file).study, Path("fitted.toml")))
    flows = simulate(json.loads(plan.runs[0].scenario)).tables["flows"]
    measured = captures.read(file).flows["acked_bytes"][0]
    assert flows["acked_bytes"][0] == pytest.approx(measured, rel=0.02)


@pytest.mark.xdist_group("real time")
def test_the_path_of_a_real_kernels_capture_is_found(tmp_path: Path) -> None:
    need_network()
    kernel_transfer(tmp_path, Path2(delay_s=0.02, rate_bps=10e6, queue=40, loss=0, late=0, twice=0), 6_000_000)
    path = fitted(tmp_path / "sender.pcap").path
    # The path is a process, which is late where the machine is busy.
    assert path.rate_bps.value == pytest.approx(10e6, rel=0.05)
    assert path.delay_s.value == pytest.approx(0.04, rel=0.1)


def said(arguments: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["sawtooth", "fit", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    out, error = capsys.readouterr()
    return int(ended.value.code or 0), out, error


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    return lambda *arguments: said(list(arguments), monkeypatch, capsys)


def test_the_command_writes_study_and_figure_and_says_what_it_found(tmp_path: Path, told) -> None:
    file = captured(tmp_path, "cubic", 0.0)
    study, figure = tmp_path / "mine.toml", tmp_path / "fitted.svg"
    code, out, error = told(file, "--out", study, "--figure", figure, "--cc", "cubic", "--cc", "reno")
    assert (code, error) == (0, "")
    assert out.splitlines()[0] == f"{file}, {ENDS}"
    assert [line.split()[0] for line in out.splitlines()[1:7]] == ["rate", "delay", "buffer", "loss", "others", "cc"]
    assert out.splitlines()[-3].startswith("study   simulated once, beside the capture: goodput ")
    assert out.splitlines()[-2:] == [f"wrote {study}", f"wrote {figure}"]
    assert Study.load(study).name == "mine"
    assert figure.read_text().startswith("<svg")
    code, out, _ = told(file, "--json", "--cc", "cubic", "--flow", "1")
    values = json.loads(out)
    assert (code, values["flow"], values["cc"]["name"], list(values["cc"]["distances"])) == (0, ENDS, "cubic", ["cubic"])
    assert set(values["rate_bps"]) == {"value", "low", "high", "why"}


def test_what_was_captured_at_the_receiver_is_refused(tmp_path: Path, told) -> None:
    file = captured(tmp_path, "reno", 0.0, "receiver")
    assert told(file) == (
        2,
        "",
        f"error: {ENDS} in {file} was captured at its receiver, where no queue on its way is seen\n"
        "hint: capture at the sender, where round trips are the path's\n",
    )


def test_what_is_too_short_is_refused(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(transfer(50)))
    assert told(file) == (
        2,
        "",
        f"error: 10.0.0.1:5000 > 10.0.0.2:80 in {file} is too short to fit: 50 packets with data in 0.139 s\n"
        "hint: at least 100 packets and 2 s are needed, and 20 s are better\n",
    )


def test_what_was_captured_between_the_ends_is_refused(tmp_path: Path, told) -> None:
    links = {"near": {"rate": "100 Mbit/s", "delay": "15 ms"}, "far": {"rate": "8 Mbit/s", "delay": "20 ms"}}
    file = tmp_path / "x.pcapng"
    simulate({"duration": "5 s", "links": links, "flows": [{"path": ["near", "far"]}]}, captures=taps.wanted(file, ["link:far"]))
    assert told(file) == (
        2,
        "",
        f"error: {ENDS} in {file} was captured between its ends, where no queue on its way is seen\n"
        "hint: capture at the sender, where round trips are the path's\n",
    )


def test_a_flow_of_udp_is_refused(tmp_path: Path, told) -> None:
    link = {"rate": "8 Mbit/s", "delay": "20 ms"}
    scenario = {"duration": "3 s", "links": {"l": link}, "flows": [{"path": ["l"], "transport": "udp", "source": "poisson"}]}
    file = tmp_path / "x.pcapng"
    simulate(scenario, captures=taps.wanted(file))
    name = captures.read(file).flows["flow"][0]
    assert told(file, "--flow", name) == (
        2,
        "",
        f"error: {name} in {file} is UDP, which has no acknowledgements\n"
        "hint: fit takes flows of TCP; `sawtooth analyze` tells what UDP did\n",
    )


def test_too_few_round_trips_are_refused(tmp_path: Path, told) -> None:
    packets = [(0.0, segment(0, 0, 0, SYN)), (0.04, segment(1, 0, 1, SYN | ACK)), (0.04001, segment(0, 1, 1, ACK))]
    for number in range(120):
        at = 0.05 + number * 0.02
        packets.append((at, segment(0, 1 + number * 1000, 1, ACK, 1000, ip_id=number + 1)))
        if number % 10 == 9:
            packets.append((at + 0.04, segment(1, 1, 1 + (number + 1) * 1000, ACK)))
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap(sorted(packets, key=lambda each: each[0])))
    assert told(file) == (
        2,
        "",
        f"error: 10.0.0.1:5000 > 10.0.0.2:80 in {file} has 12 round trips, too few to fit\n"
        "hint: capture a longer transfer, from its first packet on\n",
    )


def test_without_a_handshake_and_timestamps_it_is_not_known_where_it_was_captured(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap([packet for packet in transfer(2500) if packet[0] > 0.045]))
    assert told(file) == (
        2,
        "",
        f"error: 10.0.0.1:5000 > 10.0.0.2:80 in {file} has no handshake, and nothing else by which it could be told where it was captured\n"
        "hint: capture at the sender, from the connection's first packet on\n",
    )


def test_without_a_handshake_the_path_is_told_and_the_congestion_control_is_not(tmp_path: Path) -> None:
    whole = captured(tmp_path, "cubic", 0.0)
    part = tmp_path / "part.pcap"
    editcap = shutil.which("editcap")
    if editcap is None:
        pytest.skip("editcap is not installed")
    subprocess.run([editcap, "-F", "nsecpcap", whole, part, "1-2000"], check=True)
    found = fitted(part)
    assert found.path.rate_bps.value == pytest.approx(8e6, rel=0.02)
    assert found.path.delay_s.low == 0
    assert found.path.delay_s.why.endswith("; without the connection's beginning it is not known that the queue was ever empty")
    assert (found.control.name, found.control.why) == (None, "cannot tell: the connection's beginning was not captured")
    study = Study.parse(found.study, Path("fitted.toml"))
    assert study.name == "part"
    # What could not be told goes with the study, to its report and to an advice.
    assert study.tree["caveats"] == found.untold
    assert study.tree["caveats"][0] == "The congestion control is a guess, cubic: cannot tell: the connection's beginning was not captured."


def test_a_fit_says_of_all_that_it_could_not_tell_what_it_assumes_instead() -> None:
    sure, unsure = fitting.Estimate(1.0, 1.0, 1.0, "measured"), fitting.Estimate(None, 0.0, 9.0, "cannot tell: this")
    path = fitting.Path(sure, sure, unsure, unsure, (), (), 0, 0.0, None)
    near = fitting.Control(None, "cannot tell: illinois, cubic are about as near", {"illinois": 0.1, "cubic": 0.1}, {})
    seen = cast(Packets, SimpleNamespace(without_sack=""))
    nothing = fitting.Cross(unsure, fitting.Kind("", unsure.why, even=False, began_s=0.0))
    assert fitting.Fit("x", "f", seen, path, nothing, near).untold == [
        "The congestion control is a guess, illinois: cannot tell: illinois, cubic are about as near.",
        "The buffer is assumed: cannot tell: this.",
        "The loss is assumed: cannot tell: this.",
        "Traffic of others is left out: cannot tell: this.",
    ]
    some = fitting.Cross(sure, fitting.Kind("", "cannot tell: that", even=False, began_s=0.0))
    assert fitting.Fit("x", "f", seen, path, some, near).untold[-1] == "Of what kind traffic of others is, is assumed: cannot tell: that."


def test_a_capture_without_data_of_tcp_is_refused(tmp_path: Path, told) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap([(0.0, segment(0, 0, 0, 2))]))
    assert told(file) == (2, "", f"error: {file} has no flow of TCP that sent data\nhint: `sawtooth analyze` tells what it has\n")


def test_a_flow_that_there_is_not_and_a_figure_of_another_kind_are_mistakes(tmp_path: Path, told) -> None:
    file = captured(tmp_path, "reno", 0.0, duration="3 s")
    assert told(file, "--flow", "nobody") == (
        2,
        "",
        f"error: no flow of {file} is `nobody`\nhint: name a flow, a part of its name, or the number of its connection\n",
    )
    assert told(file, "--figure", "x.jpg", "--cc", "reno") == (
        2,
        "",
        "error: a figure is written as SVG and PNG, and x.jpg is neither's name\nhint: name x.svg\n",
    )


def test_a_congestion_control_that_there_is_not_is_a_mistake(tmp_path: Path, told) -> None:
    code, out, error = told(captured(tmp_path, "reno", 0.0, duration="3 s"), "--cc", "cubik")
    assert (code, out) == (2, "")
    assert error == "error: unknown congestion control `cubik` (at `cc`)\nhint: did you mean `cubic`? `sawtooth list cc` shows all\n"


def test_a_damaged_capture_is_fitted_with_a_warning_and_exit_code_1(tmp_path: Path, told) -> None:
    file = captured(tmp_path, "cubic", 0.0)
    file.write_bytes(file.read_bytes()[:-10])
    damage = captures.read(file).damage
    assert damage is not None
    warning = f"warning: {file} is damaged, and what is told is of what was read before: {damage}\n"
    code, out, error = told(file, "--cc", "cubic")
    assert (code, out.splitlines()[0], error) == (1, f"{file}, {ENDS}", warning)
    code, out, error = told(file, "--cc", "cubic", "--json")
    assert (code, json.loads(out)["damage"], error) == (1, damage, warning)


@pytest.mark.parametrize(
    ("distances", "name", "why"),
    [
        ({"cubic": 0.02, "reno": 0.3}, "cubic", "its simulation is 2.0% away, reno 30.0%"),
        (
            {"cubic": 0.226},
            "cubic",
            "its simulation is 22.6% away, which is far: another congestion control than those compared may be nearer",
        ),
        (
            {"cubic": 0.226, "reno": 0.28},
            "cubic",
            "its simulation is 22.6% away, which is far: another congestion control than those compared may be nearer; reno 28.0%",
        ),
        ({"cubic": 0.05, "reno": 0.051}, None, "cannot tell: cubic, reno are about as near; capture more"),
        ({"cubic": 0.2, "reno": 0.21}, None, "cannot tell: cubic, reno are about as near, 20.0% away, which is far; capture more"),
        ({"cubic": 0.4}, None, "cannot tell: the nearest, cubic, is 40% away"),
    ],
)
def test_how_far_the_nearest_is_is_told(distances: dict[str, float], name: str | None, why: str) -> None:
    found = control.named(distances, {}, 1.1, "capture more")
    assert (found.name, found.why) == (name, why)


@pytest.mark.parametrize(
    ("losses", "window", "words"),
    [
        (4, 100.0, "4 packets were lost, and what a loss leaves tells most: capture until 5 or more are"),
        (5, 29.4, "with 29 packets in flight they do nearly the same: capture where more are, over a longer path or a larger buffer"),
        (5, 30.0, "capture another transfer from its first packet on: each beginning tells anew"),
    ],
)
def test_what_capture_would_tell_more_is_told(losses: int, window: float, words: str) -> None:
    assert control.more_capture(losses, window) == words


def run(flight: list[float], acked: list[float], beginning: int) -> control.Run:
    return control.Run(np.arange(len(flight), dtype=float), np.array(flight), np.array(acked), beginning)


def test_runs_are_held_against_each_other_in_three_ways() -> None:
    one = run([10, 20, 10, 20], [0, 10, 20, 30], 2)
    # The same bytes in flight, a sample later and with other bytes acknowledged.
    other = run([20, 10, 20, 10], [0, 10, 20, 30], 2)
    assert control.distances(one, one).tolist() == [0, 0, 0]
    assert control.distances(one, other) == pytest.approx([2 / 3, 0, 2 / 3])
    # The same where as many bytes were acknowledged, but twice as slow.
    slow = run([10, 10, 20, 20, 10, 10, 20, 20], [0, 0, 10, 10, 20, 20, 30, 30], 2)
    fast = run([10, 20, 10, 20, 20, 20, 20, 20], [0, 10, 20, 30, 30, 30, 30, 30], 2)
    assert control.distances(slow, fast)[2] == 0 < control.distances(slow, fast)[0]


def test_the_distance_of_runs_is_the_geometric_mean_and_that_of_the_same_run_is_nothing() -> None:
    assert control.mean_distance(np.array([0.1, 0.2, 0.4])) == pytest.approx(0.2, rel=0.01)
    assert control.mean_distance(np.zeros(3)) == pytest.approx(0, abs=1e-12)
