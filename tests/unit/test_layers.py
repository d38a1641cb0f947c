"""A message through all layers: `sawtooth trace --layers`."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from typer.testing import CliRunner

from sawtooth.cli import app

STUDY = """
name = "way"
[scenario]
duration = "1 s"
stack = "rfc"
tcp = { handshake = false, smss = "1000 B", header = "40 B" }
links.lan = { rate = "8 Mbit/s", delay = "1 ms" }
flows = [{ path = ["lan"], source = { name = "messages", size = "2000 B", count = 1 } }]
"""
HOST = """
[scenario.hosts.pc]
send_packet_cost = "20 us"
driver_send_cost = "10 us"
receive_packet_cost = "30 us"
"""


def write(directory: Path, text: str) -> Path:
    path = directory / "way.toml"
    path.write_text(text)
    return path


def test_a_packet_s_times_add_up_to_what_each_layer_takes(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"') + HOST)
    ran = CliRunner().invoke(app, ["trace", str(study), "--layers", "--out", str(tmp_path)])
    assert ran.exit_code == 0, ran.output
    assert "figure:" in ran.output
    assert (tmp_path / "layers-run-0.png").stat().st_size > 1000
    first = pl.read_csv(tmp_path / "layers-run-0.csv").row(0, named=True)
    # 20 us of TCP, 10 us of the driver; 1040 bytes at 8 Mbit/s are 1040 us; 1 ms of way; 30 us of TCP on the other side.
    assert first["kind"] == "data"
    assert first["bytes"] == 1000
    assert [first[name] for name in ("driver_send", "handed", "wire_begin", "wire_end", "arrive", "tcp_receive")] == [20, 30, 30, 1070, 2070, 2100]  # fmt: skip


def test_without_hosts_there_is_nothing_to_show(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["trace", str(write(tmp_path, STUDY)), "--layers"])
    assert ran.exit_code != 0
    assert "no layers" in ran.output + str(ran.exception)


def test_a_flow_that_is_not_there_is_an_error_with_the_one_that_is(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace('stack = "rfc"', 'stack = "rfc"\nhost = "pc"') + HOST)
    ran = CliRunner().invoke(app, ["trace", str(study), "--layers", "--flow", "flov"])
    assert ran.exit_code != 0
    assert "there is no flow `flov` with a host" in ran.output + str(ran.exception)
