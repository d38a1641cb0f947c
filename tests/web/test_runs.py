"""Single runs: what is answered is what was stored, both futures are equal to the bit until they part, and what cannot be is told."""

import json
import re
import shutil
import struct
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

import sawtooth
from sawtooth import fates, trace
from sawtooth.backends import sim
from sawtooth.errors import DatasetError, RunFailed
from sawtooth.plan import make_plan
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study, shipped
from sawtooth.web import curves, replays, whatif
from sawtooth.web.bounded import Bounded
from tests.web.conftest import serving, showing
from tests.web.test_pages import violations

OF = {"of": "lab/results/queues"}


def unpacked(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    (length,) = struct.unpack_from("<I", content)
    head = json.loads(content[4 : 4 + length])
    numbers = np.frombuffer(content, "<f8", offset=4 + length)
    return head, {name: numbers[at : at + count] for name, (at, count) in head["columns"].items()}


def asked(client: TestClient, what: str = "series", **query: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    answer = client.get(f"/api/run/{what}", params={**OF, "run": 9, **query})
    assert answer.status_code == 200, answer.text
    return unpacked(answer.content)


def refused(client: TestClient, what: str = "series", **query: Any) -> dict[str, Any]:
    answer = client.get(f"/api/run/{what}", params={**OF, "run": 9, **query})
    assert answer.status_code == 400, answer.text
    return answer.json()["error"]


def test_runs_of_a_study_that_comes_along_may_name_what_comes_along(tmp_path: Path) -> None:
    """The starts of `hstcp` are in a file. The same study with another word in it may name none: it could be a stranger's."""
    shutil.copytree(shipped.studies()["hstcp"].parent, own := tmp_path / "own")
    with (own / "study.toml").open("a") as text:
        text.write("# mine\n")
    for study, out in (("hstcp", "known"), (own / "study.toml", "strange")):
        made = sawtooth.run(study, tmp_path / out, short=True, options=["duration=1 s"])
        with pytest.raises(DatasetError, match="may name none") if out == "strange" else nullcontext():
            assert len(replays._plan(Dataset(tmp_path / out)).runs) == len(made.runs)  # pyright: ignore[reportPrivateUsage]


def test_a_mistake_in_the_short_form_keeps_no_run_from_being_done_again(tmp_path: Path) -> None:
    study = Study.parse("""
[scenario]
duration = "1 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms" }
flows = [{ path = ["l"] }]
[short]
duratoin = "1 s"
""")
    made = Dataset.create(tmp_path / "results", make_plan(study))
    assert len(replays._plan(made).runs) == 1  # pyright: ignore[reportPrivateUsage]


def test_a_run_is_done_once_more_and_is_what_was_stored(client: TestClient, made: Path) -> None:
    head, columns = asked(client)
    assert head["same"] is True and head["again"] is True
    assert head["shown"] == ["bulk"] and head["queues"] == ["bottleneck"]
    stored = Dataset(made / "results" / "queues").flows().filter(pl.col("run") == 9).collect().to_dicts()[0]
    t, cwnd = columns["bulk t"], columns["bulk cwnd"]
    assert len(t) == len(cwnd) > 500 and (np.diff(t) >= 0).all()
    # Goodput in steps sums to what was delivered until the last of them.
    assert float(columns["bulk goodput"].sum() * head["step"] * 1e6 / 8) == pytest.approx(stored["delivered_bytes"], rel=0.02)
    limits = dict.fromkeys(head["limits"], 0.0)
    begin, by = columns["bulk limited from"], columns["bulk limited by"]
    for start, end, which in zip(begin, begin[1:], by, strict=False):
        limits[head["limits"][int(which)]] += end - start
    for name, spent in limits.items():
        assert spent == pytest.approx(stored[f"limited_{name}_ns"] * 1e-9, abs=1e-6)
    assert {"dupack", "sack", "rack", "rto", "tail_loss_probe"} >= {episode["cause"] for episode in head["episodes"]} != set()
    assert len(columns["bulk dropped"]) > 0


def test_an_algorithms_own_variables_are_told(client: TestClient) -> None:
    head, _ = asked(client, run=13)
    assert head["cc"] == {"bulk": "cubic"} and head["variables"]
    name = next(iter(head["variables"]))
    _, columns = asked(client, "variable", run=13, name=name)
    assert len(columns["bulk t"]) == len(columns["bulk value"]) > 100
    assert "no flow has a variable" in refused(client, "variable", run=13, name="nothing")["message"]


def test_the_time_sequence_graph_has_every_segment_and_what_was_sent_again(client: TestClient, made: Path) -> None:
    head, columns = asked(client, "sequence", flow="bulk")
    stored = Dataset(made / "results" / "queues").flows().filter(pl.col("run") == 9).collect().to_dicts()[0]
    again = columns["marks kind"] == head["kinds"].index("retransmission")
    assert int(again.sum()) == stored["retransmits"] > 0
    sizes = columns["sent to"] - columns["sent from"]
    assert (sizes > 0).all() and int(sizes.sum()) == int(columns["sent to"][-1])
    assert columns["acked to"][-1] <= columns["sent to"][-1]
    assert columns["sent t"][0] >= stored["start_ns"] * 1e-9
    assert "sends no data" in refused(client, "sequence", flow="other")["message"]


def test_the_time_sequence_graph_has_each_segment_that_a_queue_dropped_or_that_was_lost_on_the_wire_as_it_was_sent(
    client: TestClient, made: Path
) -> None:
    change = {"kind": "loss", "at": "2 s", "link": "bottleneck", "value": "0.05"}
    head, columns = asked(client, "sequence", flow="bulk", change=json.dumps(change))
    _, other = futures(made, change)
    rows = fates.recorded_packets(other, 0.0, 4.0, sim).filter(direction="forward", kind="data", flow="bulk").sort("arrived_ns")
    for fate in ("dropped", "lost"):
        gone = rows.filter(fate=fate)
        drawn = columns["marks kind"] == head["kinds"].index(fate)
        assert gone.height > 0
        assert np.rint(columns["marks t"][drawn] * 1e9).astype(int).tolist() == gone["arrived_ns"].to_list()
        assert columns["marks number"][drawn].astype(int).tolist() == gone["number"].to_list()
        assert (columns["marks to"][drawn] > columns["marks from"][drawn]).all()
    assert (np.diff(columns["marks t"]) >= 0).all()


CHANGES = [
    {"kind": "drop", "at": "2 s", "link": "bottleneck"},
    {"kind": "drop", "at": "2 s", "link": "bottleneck", "flow": "bulk"},
    {"kind": "rate", "at": "2 s", "link": "bottleneck", "value": "2 Mbit/s"},
    {"kind": "delay", "at": "2 s", "link": "bottleneck", "value": "30 ms"},
    {"kind": "loss", "at": "2 s", "link": "bottleneck", "value": "0.05"},
    {"kind": "outage", "at": "2 s", "link": "bottleneck", "value": "300 ms"},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change["kind"] + change.get("flow", ""))
def test_both_futures_are_equal_to_the_bit_until_the_moment_and_then_differ(client: TestClient, made: Path, change: dict[str, str]) -> None:
    _, was = asked(client)
    head, would = asked(client, change=json.dumps(change))
    if change["kind"] == "drop":
        # Also where anybody's packet would do, whose it is.
        assert re.search(r"which is number [\d,]+ of those that come to it and segment [\d,]+ of bulk$", head["change"])
    assert 2.0 <= head["differs"] < 3.0
    before = was["bulk t"] < head["differs"]
    for curve in ("t", "cwnd", "ssthresh", "flight", "rtt", "pacing"):
        if f"bulk {curve}" in was:
            assert was[f"bulk {curve}"][before].tobytes() == would[f"bulk {curve}"][: before.sum()].tobytes()
    # And so is every packet, at its link, with all its times, that is gone by then.
    run, other = futures(made, change)
    packets = [fates.recorded_packets(each, 0.0, 4.0, sim).sort("arrived_ns", maintain_order=True) for each in (run, other)]
    early = [frame.filter(pl.max_horizontal("dropped_ns", "delivered_ns") < 2_000_000_000) for frame in packets]
    assert early[0].equals(early[1], null_equal=True) and early[0].height > 500
    assert not packets[0].equals(packets[1], null_equal=True)


def futures(made: Path, change: dict[str, Any]) -> tuple[Any, Any]:
    plan = make_plan(Study.load(made / "studies" / "queues.toml"))
    run = next(each for each in plan.runs if each.index == 9)
    asked_for = whatif.read(change, 4.0)
    packet = replays.packet_at(run, asked_for).place if change["kind"] == "drop" else None
    text = whatif.changed(run.scenario, asked_for, packet)
    return run, run.written_as(text)


def test_the_packet_that_is_dropped_is_the_first_from_the_moment_on(made: Path) -> None:
    run, other = futures(made, CHANGES[0])
    was, would = (fates.recorded_packets(each, 1.9, 2.2, sim).filter(direction="forward") for each in (run, other))
    first = was.filter(pl.col("arrived_ns") >= 2_000_000_000).sort("arrived_ns", maintain_order=True).row(0, named=True)
    lost = would.filter(arrived_ns=first["arrived_ns"], number=first["number"]).row(0, named=True)
    assert first["fate"] == "arrived"
    assert lost["fate"] == "lost"


def test_the_very_segment_of_the_graph_is_lost(client: TestClient, made: Path) -> None:
    head, columns = asked(client, "sequence", flow="bulk")
    again = np.flatnonzero(columns["marks kind"] == head["kinds"].index("retransmission"))[0]
    for what, at in (("sent", 700), ("marks", again)):
        time, number = columns[f"{what} t"][at], int(columns[f"{what} number"][at])
        change = {"kind": "drop", "at": f"{time:.9f} s", "link": "bottleneck", "flow": "bulk", "number": number}
        _, other = futures(made, change)
        rows = fates.recorded_packets(other, 0.0, 4.0, sim).filter(direction="forward", kind="data", number=number).sort("arrived_ns")
        ours = rows.filter(pl.col("arrived_ns") == round(time * 1e9)).row(0, named=True)
        assert (ours["fate"], ours["retransmission"]) == ("lost", int(what == "marks"))
    assert "named by its flow" in refused(client, change=json.dumps({**change, "flow": ""}))["message"]


def test_a_change_of_later_times_gives_way() -> None:
    scenario = {
        "duration": "4 s",
        "links": {
            "l": {"rate": "1 Mbit/s", "changes": [{"at": "1 s", "rate": "2 Mbit/s"}, {"at": "3 s", "rate": "3 Mbit/s", "delay": "5 ms"}]}
        },
        "flows": [{"path": ["l"]}],
    }
    text = whatif.changed(json.dumps(scenario), whatif.Change("rate", 2.0, "l", "9 Mbit/s"))
    assert json.loads(text)["links"]["l"]["changes"] == [
        {"at": "1 s", "rate": "2 Mbit/s"},
        {"at": "2.000000000 s", "rate": "9 Mbit/s"},
        {"at": "3 s", "delay": "5 ms"},
    ]


def test_a_film_of_a_stretch_is_for_the_player(client: TestClient) -> None:
    found = client.get("/api/run/film", params={**OF, "run": 9, "from": "1 s", "to": "1.2 s"}).json()
    assert "<svg" in found["body"] and 'style="' not in found["body"]
    assert found["data"]["flows"] == ["bulk"] and len(found["data"]["packets"]) > 50
    assert "1 to 1.2 s of 4 s are shown" in found["said"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("x", "a change is asked for by a table of keys"),
        ("[]", "a change is asked for by a table of keys"),
        ('{"kind": "colour", "at": "1 s", "link": "bottleneck"}', "`colour` is nothing that can change"),
        ('{"kind": "rate", "at": "1 s", "link": "bottelneck", "value": "1 Mbit/s"}', "no single link of the run is `bottelneck`"),
        ('{"kind": "rate", "at": "1 s", "link": "bottleneck", "value": "fast"}', "bottleneck has rate fast from 1 s: "),
        ('{"kind": "rate", "at": "1 s", "link": "bottleneck"}', "the new rate of `bottleneck` is not said"),
        ('{"kind": "loss", "at": "1 s", "link": "bottleneck", "value": "much"}', "`much` is no probability of losses"),
        ('{"kind": "rate", "at": "9 s", "link": "bottleneck", "value": "1 Mbit/s"}', "9 s is no moment of the run"),
        ('{"kind": "rate", "at": "soon", "link": "bottleneck", "value": "1 Mbit/s"}', "`soon` is not a time"),
        ('{"kind": "outage", "at": "1 s", "link": "bottleneck", "value": "0 s"}', "an outage lasts longer than no time"),
        ('{"kind": "drop", "at": "3.9999999 s", "link": "bottleneck"}', "no packet comes to bottleneck"),
    ],
)
def test_what_cannot_happen_is_told(client: TestClient, change: str, message: str) -> None:
    error = refused(client, change=change)
    assert error["message"].startswith(message)
    assert error["hint"] or change in ("x", "[]")


def test_runs_and_flows_that_there_are_not_are_told(client: TestClient) -> None:
    for number in ("99", "-1", "one", "9" * 30):
        assert "runs 0 to 23" in refused(client, run=number)["hint"]
    assert "the run has no flow `bulb`" in refused(client, flow="bulb")["message"]


def test_a_run_that_takes_too_long_is_ended() -> None:
    scenario = {"duration": "3000 s", "stack": "linux", "links": {"l": {"rate": "10 Gbit/s", "delay": "1 ms"}}, "flows": [{"path": ["l"]}]}
    with pytest.raises(RunFailed, match=r"takes longer than 0\.2 s"):
        Bounded(0.2).run_batch([json.dumps(scenario)], [1])


def test_traces_that_are_equal_do_not_differ(made: Path) -> None:
    run, _ = futures(made, CHANGES[2])
    plan = make_plan(Study.load(made / "studies" / "queues.toml"))
    one, other = (trace.take(plan, run, sim) for _ in range(2))
    assert trace.differs_from(one, other) is None


KERNEL = """
name = "kernels"
question = "What did a real kernel do?"
backend = "uml"

[scenario]
duration = "4 s"
stack = "linux"
links.bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ name = "bulk", path = ["bottleneck"], cc = "kernel:cubic" }]
"""


@pytest.fixture
def of_kernel(folder: Path) -> Path:
    """Results of a real kernel, as they would be: their series are the simulator's."""
    run, _ = futures(folder, CHANGES[2])
    batch = sim.run_batch([json.dumps({**json.loads(run.scenario), "sample": "50 ms"})], [1])
    study = Study.parse(KERNEL.replace('stack = "linux"', 'sample = "50 ms"'), Path("kernels.toml"))
    made = Dataset.create(folder / "results" / "kernels", make_plan(study))
    schema = {"run": pl.UInt32, "status": pl.String, "message": pl.String}
    tables = {name: batch.tables[name] for name in ("flows", "links", "series")}
    # A kernel's last sample is one step before the end.
    tables["series"] = tables["series"].filter(pl.col("t_ns") < 4_000_000_000)
    made.write_batch(0, tables, pl.DataFrame({"run": [0], "status": ["ok"], "message": [None]}, schema=schema))
    return folder


def test_a_run_on_a_real_kernel_is_told_by_what_was_stored(of_kernel: Path, asked: Any) -> None:
    client = asked(of_kernel)
    query = {"of": "lab/results/kernels", "run": "0"}
    head, columns = unpacked(client.get("/api/run/series", params=query).content)
    assert head["again"] is False and head["same"] is None
    assert len(columns["bulk cwnd"]) == len(columns["bulk t"]) > 50
    change = {"kind": "outage", "at": "2 s", "link": "bottleneck", "value": "1 s"}
    for more, status, message in (
        ({"change": json.dumps(change)}, 400, "a run on a real kernel has no other futures"),
        ({"again": "1"}, 403, "this explorer may not do a run on a real kernel again"),
    ):
        answer = client.get("/api/run/series", params={**query, **more})
        assert (answer.status_code, answer.json()["error"]["message"]) == (status, message)
    answer = client.get("/api/run/sequence", params={**query, "flow": "bulk"})
    assert answer.json()["error"]["message"] == "packets of real kernels were not stored"


def test_results_that_cannot_be_done_again_are_told(folder: Path, asked: Any) -> None:
    answer = asked(folder).get("/api/run/series", params={"of": "lab/studies", "run": 0})
    assert answer.status_code == 400
    assert answer.json()["error"]["message"]


def test_many_that_ask_at_once_are_told_that_it_is_busy(made: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    from sawtooth.web.opened import Shelf

    several, opened = replays.Replays(allow_run=False), Shelf().open(made / "results" / "queues")
    _, run = several.found(opened, "9")
    goes_on = Event()
    with ThreadPoolExecutor(12) as pool:
        waiting = [pool.submit(several.once, opened, run, number, lambda: goes_on.wait(30)) for number in range(12)]
        # Those that were first all wait: one for its run, the others for it.
        while several._waiting.acquire(blocking=False):  # pyright: ignore[reportPrivateUsage]
            several._waiting.release()  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(RunFailed, match="busy with other runs"):
            several.found(opened, "9")
        goes_on.set()
        assert all(each.result() for each in waiting)
    assert several.found(opened, "9")[1] == run


def test_results_of_another_form_and_with_options_are_done_again_as_they_were(folder: Path, asked: Any) -> None:
    study = folder / "studies" / "queues.toml"
    options = ['scenario.links.bottleneck.rate="3 Mbit/s"']
    sawtooth.run(Study.load(study, options=options), folder / "results" / "slow")
    client = asked(folder)
    head, _ = unpacked(client.get("/api/run/series", params={"of": "lab/results/slow", "run": 5}).content)
    assert head["same"] is True


def test_a_study_with_files_beside_it_is_told(folder: Path, asked: Any) -> None:
    (folder / "up.trace").write_text("1\n3\n5\n")
    text = 'name = "filed"\nquestion = "?"\n[scenario]\nduration = "1 s"\nlinks.l = { trace = { file = "up.trace" }, delay = "5 ms" }\nflows = [{ path = ["l"] }]'
    (folder / "filed.toml").write_text(text)
    sawtooth.run(folder / "filed.toml", folder / "results" / "filed")
    error = asked(folder).get("/api/run/series", params={"of": "lab/results/filed", "run": 0}).json()["error"]
    assert error["message"].startswith("from what was stored these runs cannot be done again: this study names the file `up.trace`")
    assert "sawtooth trace" in error["hint"]


def test_every_packet_that_was_marked_or_dropped_has_its_moment() -> None:
    scenario = {
        "duration": "2 s",
        "stack": "linux",
        "cc": "dctcp",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "2 ms", "queue": {"name": "step", "limit": "12 packets", "mark_above": "3 packets"}}},
        "flows": [{"name": "marked", "path": ["l"]}, {"name": "dropped", "path": ["l"], "cc": "reno", "tcp": {"ecn": "off"}}],
        "record": ["packets"],
    }
    tables = sim.run_batch([json.dumps(scenario)], [1]).tables
    found = curves.of_marks(tables["packets"], ["marked", "dropped"])
    forward = tables["links"].filter(direction="forward").row(0, named=True)
    assert len(found["marked marked"]) == forward["marked_packets"] > 0
    assert sum(len(found[f"{flow} dropped"]) for flow in ("marked", "dropped")) == forward["dropped_packets"]


def test_goodput_of_stored_samples_is_taken_together_over_whole_samples(of_kernel: Path, asked: Any) -> None:
    head, columns = unpacked(asked(of_kernel).get("/api/run/series", params={"of": "lab/results/kernels", "run": "0"}).content)
    # Samples are 50 ms apart: in shorter steps there would be nothing, and then all at once.
    assert head["step"] / 0.05 == pytest.approx(round(head["step"] / 0.05)) and head["step"] >= 0.05
    running = columns["bulk goodput"][columns["bulk goodput t"] > 1.5]
    assert (running > 0).all() and 4 < float(np.median(running)) < 5
    # The last sample is one step before the run's end: of what came then nothing is known, which is not 0.
    assert columns["bulk goodput t"][-1] + 2 * head["step"] == pytest.approx(head["duration"])


def test_a_kernels_run_and_results_are_laid_beside_a_simulators(of_kernel: Path, browser: Any) -> None:
    sampled = KERNEL.replace('stack = "linux"', 'stack = "linux"\nsample = "50 ms"').replace("kernel:", "").replace('"uml"', '"sim"')
    (of_kernel / "kernels.toml").write_text(sampled)
    sawtooth.run(of_kernel / "kernels.toml", of_kernel / "results" / "simulated")
    with serving(of_kernel) as explorer, showing(browser, explorer) as page:
        page.goto("/run?of=lab/results/simulated&run=0&beside=0&besideOf=lab/results/kernels")
        dropped = page.get_by_role("region", name="Numbers beside each other").get_by_role("row", name="bottleneck dropped (packets)")
        stored = [
            Dataset(of_kernel / "results" / name).links().filter(pl.col("direction") == "forward").collect()
            for name in ("simulated", "kernels")
        ]
        numbers = [str(links["dropped_packets"][0]) for links in stored]
        expect(dropped.get_by_role("cell").nth(1)).to_have_text(numbers[0])
        expect(dropped.get_by_role("cell").nth(2)).to_have_text(numbers[1])
        # What only the simulator tells is said to be of its run, and offered of it alone.
        page.get_by_text("nothing tells it of bulk, run 0 of kernels").wait_for()
        page.get_by_text("none is told of run 0 of kernels").wait_for()
        expect(page.get_by_role("button", name="Show packets on their links")).to_have_text(
            ["Show packets on their links, run 0 of simulated"]
        )
        assert violations(page) == []
        page.goto("/compare?of=lab/results/simulated&beside=lab/results/kernels")
        curves = page.get_by_role("list", name="Curves").get_by_role("listitem")
        expect(curves).to_have_count(2)
        expect(curves.nth(0)).to_contain_text("sim")
        expect(curves.nth(1)).to_contain_text("uml")
        page.get_by_text("each is the ratio of means", exact=False).wait_for()
