"""What a loss episode is laid to: to what befell the flow's packets from the end of the episode before until its own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

import sawtooth
from sawtooth.web import causes
from tests.web.conftest import STUDY, asking
from tests.web.test_runs import asked


def _packets(*rows: tuple[str, str, str, int, int]) -> pl.DataFrame:
    """Of each the flow, link, fate, whether it was sent again, and when, s; what arrived is marked."""
    frame = pl.DataFrame(rows, schema=["flow", "link", "fate", "retransmission", "t"], orient="row")
    return frame.with_columns(kind=pl.lit("data"), sent_by_flow_ns=pl.col("t") * 1_000_000_000)


def _episode(flow: str, start: float, end: float | None, cause: str = "rack") -> dict[str, object]:
    return {"flow": flow, "start": start, "end": end, "cause": cause}


def test_each_loss_is_laid_to_the_episode_that_it_led_to() -> None:
    packets = _packets(
        ("a", "core", "dropped", 0, 1), ("a", "core", "dropped", 0, 2), ("a", "air", "lost", 0, 2), ("b", "core", "dropped", 0, 2),
        # Sent again while the first one lasts, it is found in it; new then, in the next one.
        ("a", "air", "lost", 1, 4), ("a", "core", "dropped", 0, 4),
        ("a", "core", "arrived", 0, 7), ("a", "core", "arrived", 0, 11), ("a", "air", "lost", 0, 13),
    )  # fmt: skip
    episodes = [_episode("a", 3, 5), _episode("a", 6, 7), _episode("b", 6, 7), _episode("a", 9, 10), _episode("a", 12, None, "ecn")]
    assert causes.told(episodes, packets) == [
        ["2 dropped by the queue of core", "2 lost on the wire of air"],
        ["1 dropped by the queue of core"],
        ["1 dropped by the queue of core"],
        ["nothing was lost"],
        ["1 marked by the queue of core"],
    ]
    assert causes.told(episodes, None) == [[], [], [], [], []]


@pytest.mark.parametrize("run", [1, 5, 9, 13])
def test_what_an_episode_is_laid_to_is_what_its_sender_found_lost(client: TestClient, run: int) -> None:
    head, columns = asked(client, run=run)
    first, *_ = episodes = head["episodes"]
    assert first["why"] == [f"{first['lost']:,} dropped by the queue of bottleneck"]
    # Each loss is of one episode, but for those that the run ended before they were found.
    told = sum(int(why.split()[0].replace(",", "")) for each in episodes for why in each["why"] if why != causes.NOTHING)
    dropped = columns["bulk dropped"]
    assert (dropped < episodes[-1]["start"] - 0.1).sum() <= told <= len(dropped)


def test_a_segment_is_sent_when_it_comes_to_its_flows_first_link() -> None:
    rows = [("access", 7, 100), ("core", 7, 200), ("access", 7, 900), ("core", 7, 1000)]
    packets = pl.DataFrame(
        [{"flow": "f", "kind": "data", "direction": "forward", "link": link, "number": number, "arrived_ns": t} for link, number, t in rows]
    )
    assert causes.sent(packets)["sent_by_flow_ns"].to_list() == [100, 100, 900, 900]


def test_a_wire_that_loses_packets_is_told_from_its_queue(tmp_path: Path) -> None:
    (tmp_path / "lossy.toml").write_text(
        STUDY.replace('delay = "10 ms"', 'delay = "10 ms", loss = 0.01').replace("repeat = 4", "repeat = 1")
    )
    sawtooth.run(tmp_path / "lossy.toml", tmp_path / "results")
    with asking(tmp_path) as client:
        found = client.get("/api/results", params={}).json()["results"][0]["address"]
        head, _ = asked(client, of=found, run="0")
        assert any("lost on the wire of bottleneck" in why for each in head["episodes"] for why in each["why"])
