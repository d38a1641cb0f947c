"""The playground: a setting is its address and a study, is simulated within bounds, and the page redraws as one slides."""

import asyncio
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect
from starlette.testclient import TestClient

import sawtooth
from sawtooth import _core
from sawtooth.errors import DatasetError
from sawtooth.web import play
from sawtooth.web.playground import Playground
from sawtooth.web.setting import MOST_LINKS, TOPOLOGIES, Setting, choices, parse
from tests.web.test_pages import violations

TEN = "v=1&d=30&l=100&f=cubic,10"
"""The setting whose redraw is measured: 10 flows, 100 Mbit/s, 30 s."""


def ran(client: TestClient, setting: str, page: str = "p") -> Any:
    return client.get("/api/playground/run", params={"set": setting, "page": page})


def unpacked(content: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Head and columns of an answer."""
    size = int.from_bytes(content[:4], "little")
    head, numbers = json.loads(content[4 : 4 + size]), np.frombuffer(content[4 + size :], "<f8")
    return head, {name: numbers[start : start + length] for name, (start, length) in head["columns"].items()}


@pytest.mark.parametrize(
    "address",
    [
        *TOPOLOGIES.values(),
        "v=1&d=10&l=100,0,50p,0.1,codel&l=20&f=bbr,3,0-1,40,5,1000&f=reno,1,2-0&f=bbr,1,1-2",
        "v=1&d=0.5&l=10&f=reno,1,0-1,0,0,35&stack=rfc&ecn=classic&partial=nagle&window=32&memory=64&seed=7",
    ],
)
def test_an_address_is_a_setting_is_an_address(address: str) -> None:
    setting = parse(address)
    assert parse(setting.address()) == setting
    assert setting.address() == address


def test_what_stands_at_the_end_and_is_usual_is_left_out() -> None:
    assert parse("v=1&d=30&l=10,20,1bdp,0,drop_tail&f=cubic,1,0-1,0,0,&stack=linux&seed=1").address() == "v=1&d=30&l=10&f=cubic"
    assert parse("") == Setting()


@pytest.mark.parametrize(
    ("address", "said", "hint"),
    [
        ("d=30", "the address of a playground says no version, and this explorer reads version 1", "it begins with v=1"),
        ("v=2&d=30", "the address of a playground says version `2`, and this explorer reads version 1", "it begins with v=1"),
        ("v=1&q=1", "the address of a playground has no `q`", "known here: v, d, l, f, stack, ecn, partial, window, memory, seed, lesson"),
        ("v=1&d=x", "`x` is no duration of a playground (at `d` of the address)", "a number from 0.1 to 120 s"),
        ("v=1&d=1e999", "`1e999` is no duration of a playground (at `d` of the address)", "a number from 0.1 to 120 s"),
        ("v=1&d=nan", "`nan` is no duration of a playground (at `d` of the address)", "a number from 0.1 to 120 s"),
        ("v=1&d=-1", "`-1` is no duration of a playground (at `d` of the address)", "a number from 0.1 to 120 s"),
        ("v=1&l=10,20,1bd", "`1bd` is no buffer of a playground (at `l` of the address)", "such as 1bdp, in products of rate and round-trip time, or 50p, in packets"),
        ("v=1&l=10,20,1bdp,0,codle", "there is no `codle` for queue (at `l` of the address)", "did you mean `codel`?"),
        ("v=1&l=10,20,1bdp,0,codel,9", "`l=10,20,1bdp,0,codel,9` has 6 parts", "a link is RATE,DELAY,BUFFER,LOSS,QUEUE, such as l=100,20,1bdp,0,drop_tail"),
        ("v=1&f=cubik", "there is no `cubik` for cc (at `f` of the address)", "did you mean `cubic`?"),
        ("v=1&f=kernel:cubic", "there is no `kernel:cubic` for cc (at `f` of the address)", f"known here: {', '.join(choices()['cc'])}"),
        ("v=1&f=cubic,1,0-2", "`0-2` is no way through the links (in `f=cubic,1,0-2`)", "nodes are 0 to 1, such as 0-1"),
        ("v=1&f=cubic,1,1-1", "`1-1` is no way through the links (in `f=cubic,1,1-1`)", "nodes are 0 to 1, such as 0-1"),
        ("v=1&f=cubic,1.5", "`1.5` is no whole number of flows (in `f=cubic,1.5`)", None),
        ("v=1&f=cubic,40&f=reno,40", "a playground has 64 flows at most, and the address has 80", "a study may have as many as you like"),
        ("v=1" + "&l=10" * 5, "a playground has 4 links at most, and the address has 5", None),
        ("v=1" + "&f=bbr" * 9, "a playground has 8 groups of flows at most, and the address has 9", None),
        ("v=1&l=" + "/".join(["1"] * 31), "a lap of a wireless link has 30 seconds at most, and the address has 31", None),
        ("v=1&" + "x" * 2000, "the address of a playground has 2000 characters at most", "it may have been pasted twice"),
    ],
)  # fmt: skip
def test_a_malformed_address_is_told_with_what_is_expected(client: TestClient, address: str, said: str, hint: str | None) -> None:
    answer = ran(client, address)
    assert answer.status_code == 400
    assert (answer.json()["error"]["message"], answer.json()["error"]["hint"]) == (said, hint)


PARTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "d=",
            "l=",
            "f=",
            "v=1",
            "seed=",
            "10",
            "0-1",
            "1-0",
            "9-9",
            "1bdp",
            "50p",
            "cubic",
            "codel",
            ",",
            "/",
            "&",
            "-1",
            "1e9",
            "nan",
            "٣",
            "%00",
        ]
    ),
)


@given(st.lists(PARTS, max_size=12))
def test_any_address_is_a_setting_or_told(parts: list[str]) -> None:
    try:
        setting = parse("v=1&" + "".join(parts))
    except DatasetError as error:
        assert error.message
        return
    assert parse(setting.address()) == setting


def test_a_setting_is_simulated_as_the_study_that_is_shown_beside_it(client: TestClient) -> None:
    head, columns = unpacked(ran(client, "v=1&d=3&l=10&f=cubic,2&f=bbr").content)
    from sawtooth.plan import make_plan

    run = make_plan(sawtooth.Study.parse(head["study"], Path("playground.toml"))).runs[0]
    records = sawtooth.simulate(json.loads(run.scenario), seed=run.seed)
    goodput = records.flows["goodput_bps"].to_list()
    assert head["numbers"]["goodput_mbps"] == pytest.approx(sum(goodput) / 1e6)
    assert head["numbers"]["jain"] == pytest.approx(sum(goodput) ** 2 / (3 * sum(each**2 for each in goodput)))
    assert head["links"][0]["wait_ms"] == pytest.approx(records.links.filter(direction="forward")["wait_mean_ns"].item() / 1e6)
    curve = next(each for each in head["curves"] if each["kind"] == "cwnd" and each["name"] == "bbr")
    assert (head["step_ms"], head["sample_ms"]) == (10, 5)
    wanted = (records.series.filter(pl.col("flow") == "bbr").sort("t_ns")["cwnd_bytes"] / 1e3).to_list()
    shown = columns[curve["column"]]
    # Of the first step there is one sample, and of each other the mean of two.
    assert len(columns["t"]) == len(shown) == 301
    assert shown[1:].tolist() == pytest.approx([(wanted[at - 1] + wanted[at]) / 2 for at in range(2, 602, 2)])
    assert columns["t"][-1] == pytest.approx(3)


def test_goodput_of_all_is_no_more_than_the_link_has_where_flows_start_late() -> None:
    late = play.play(parse("v=1&d=30&l=100,20,2bdp&f=cubic,2&f=bbr,1,0-1,40,5")).head
    each = [group["rate_mbps"] for group in late["groups"]]
    # Of the group that starts at 5 s, 25 of 30 s.
    assert late["numbers"]["goodput_mbps"] == pytest.approx(2 * each[0] + each[1] * 25 / 30)
    assert late["numbers"]["goodput_mbps"] < 100
    back = play.play(parse("v=1&d=10&l=10&f=cubic,1,1-0&f=cubic,1,1-0,0,8")).head
    assert back["numbers"]["goodput_mbps"] < 10


@pytest.mark.parametrize("way", ["0-1", "1-0"])
def test_goodput_of_a_transfer_is_over_the_time_until_it_is_done(way: str) -> None:
    short, long = (play.play(parse(f"v=1&d={seconds}&l=10,10,1bdp&f=cubic,2,{way},0,0.5,500")).head for seconds in (5, 20))
    done = short["groups"][0]
    # However long the run goes on, which is nothing of the transfer's. Of two that share the link each has about half of it.
    assert done["rate_mbps"] == long["groups"][0]["rate_mbps"]
    assert 500e3 * 8e-6 / (done["completion_ms"] * 1e-3) <= done["rate_mbps"] < 10
    assert done["rate_mbps"] > 4


def test_goodput_over_time_comes_to_what_was_delivered(client: TestClient) -> None:
    head, columns = unpacked(ran(client, "v=1&d=3&l=10&f=cubic,2").content)
    step = columns["t"][1] - columns["t"][0]
    rates = [columns[each["column"]] for each in head["curves"] if each["kind"] == "goodput"]
    # The last sample stands before the run's end.
    assert sum(np.nansum(rate) * step for rate in rates) / 3 == pytest.approx(head["numbers"]["goodput_mbps"], rel=0.02)


def test_curves_of_a_fast_link_are_no_waves_that_samples_make(client: TestClient) -> None:
    head, columns = unpacked(ran(client, "v=1&d=30&l=1000&f=cubic,2&f=reno").content)
    curves = {kind: [columns[each["column"]] for each in head["curves"] if each["kind"] == kind] for kind in ("goodput", "queue")}
    # Send buffers bound all flows from the second second on: each sends its burst once in a round trip.
    later = columns["t"] > 2
    assert all(np.ptp(each[later]) < 0.02 * np.mean(each[later]) for each in curves["goodput"])
    (queue,) = curves["queue"]
    assert np.ptp(queue[later]) < 0.3 * queue[later].max()
    # What was between samples is in it, too.
    assert head["links"][0]["peak_packets"] == queue.max()


def test_traffic_both_ways_uses_less_of_a_link_than_traffic_one_way() -> None:
    played = play.play(parse(TOPOLOGIES["two-way"]))
    t = played.columns["t"]
    curves = {(each["kind"], each["name"]): played.columns[each["column"]] for each in played.head["curves"]}
    goodput, there, back = (curves[of] for of in (("goodput", "cubic"), ("queue", "link 1"), ("queue", "link 1, back")))
    alone, both = (t > 1) & (t < 10), t > 11
    assert np.nanmean(goodput[alone]) > 9 > 7.5 > np.nanmean(goodput[both])
    # Both directions are seen: they are not the same, packet for packet.
    assert (there != back)[both].mean() > 0.5


def test_what_limits_senders_most_is_told_with_its_share_of_their_time() -> None:
    def told(setting: str) -> list[tuple[str | None, float | None]]:
        return [(each["limit"], each["limit_percent"]) for each in play.play(parse(setting)).head["groups"]]

    ((buffered, share), *_) = told("v=1&d=10&l=1000&f=cubic,2&f=reno")
    assert buffered == "send_buffer" and share is not None and 90 < share < 100
    assert [limit for limit, _ in told("v=1&d=5&l=10&f=cubic&window=20")] == ["rwnd"]
    # Who sends against the chain is bound by what whoever sends along it is bound by.
    assert told("v=1&d=5&l=10&f=cubic,1,1-0") == told("v=1&d=5&l=10&f=cubic")


def test_a_queue_has_whole_packets_and_no_colour_of_a_flow(page: Any) -> None:
    page.add_init_script(
        """
        window.written = [];
        const fill = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { written.push(text); return fill.call(this, text, ...rest); };
        """
    )
    # Congestion windows of so few packets have no half kilobytes, and goodput of 100 Mbit/s no half megabits.
    page.goto("/playground?v=1&d=4&l=100,20,1p&l=100,20,1p&l=100,20,1p&f=cubic&f=reno&f=bbr,1,2-3")
    shown(page)
    queue = page.locator("figure", has=page.get_by_role("heading", name="Queue, packets"))
    expect(queue).to_contain_text("The packet in transmission counts, too, which does not wait any more.")
    looks = [
        set(each.locator(".u-series:not(:first-child) .u-marker").evaluate_all("all => all.map((one) => one.style.background)"))
        for each in (queue, page.locator("figure", has_text="Goodput"))
    ]
    colours = [set(re.findall(r"rgb.*?\)", " ".join(look))) for look in looks]
    assert len(looks[0]) == 3 and len(colours[0]) == 1 and not colours[0] & colours[1]
    ticks = page.evaluate("written")
    assert "1" in ticks and not {"0.25", "0.5", "0.75"} & set(ticks)


def test_of_a_group_the_least_and_the_most_are_told_beside_the_mean(page: Any) -> None:
    starving = "v=1&d=10&l=10,20,1bdp&f=cubic,10&f=bbr,10&f=reno"
    bbr = next(each for each in play.play(parse(starving)).head["groups"] if each["name"] == "bbr")
    assert bbr["rate_least_mbps"] < bbr["rate_mbps"] / 2 and bbr["rate_most_mbps"] > 2 * bbr["rate_mbps"]
    page.goto(f"/playground?{starving}")
    shown(page)
    rows = page.get_by_role("region", name="Flows").get_by_role("row")
    expect(rows.filter(has_text="bbr").get_by_role("cell").first).to_have_text(re.compile(r"^[\d.]+ \([\d.]+ to [\d.]+\)$"))
    expect(rows.filter(has_text="reno").get_by_role("cell").first).to_have_text(re.compile(r"^[\d.]+$"))


def test_who_uploads_fills_the_way_back(client: TestClient) -> None:
    head, _ = unpacked(ran(client, "v=1&d=5&l=10&f=cubic,1,1-0").content)
    links = {each["direction"]: each for each in head["links"]}
    assert links["reverse"]["utilisation"] > 0.8 > 0.2 > links["forward"]["utilisation"]
    forth, _ = unpacked(ran(client, "v=1&d=5&l=10&f=cubic").content)
    assert head["groups"] == forth["groups"]
    assert {each["name"] for each in head["curves"]} == {"cubic", "link 1", "link 1, back"}


def test_the_wait_is_of_the_direction_in_which_data_wait(client: TestClient) -> None:
    head = unpacked(ran(client, "v=1&d=30&l=10,20,1bdp&f=cubic,1,1-0").content)[0]
    waits = {each["direction"]: each["wait_ms"] for each in head["links"]}
    assert head["numbers"]["wait_ms"] == waits["reverse"] > 20 > 1 > waits["forward"]
    assert head["numbers"]["wait_back"] == 1
    forth = unpacked(ran(client, "v=1&d=30&l=10,20,1bdp&f=cubic").content)[0]
    assert (forth["numbers"]["wait_ms"], forth["numbers"]["wait_back"]) == (forth["links"][0]["wait_ms"], 0)


def test_what_cannot_be_simulated_here_is_a_study_if_it_only_takes_too_long(client: TestClient) -> None:
    def told(setting: str) -> Any:
        return client.get("/api/playground/setting", params={"set": setting}).json()

    assert told("v=1&d=30&l=10,0&f=cubic")["study"] is None
    # It cannot hold a packet; with the least delay that the page offers it can.
    assert told("v=1&d=30&l=10,0.59&f=cubic")["study"] is None
    assert told("v=1&d=30&l=10,0.6&f=cubic")["study"] == parse("v=1&d=30&l=10,0.6&f=cubic").text()
    assert told("v=1&d=120&l=1000&f=cubic,64")["study"]


def test_a_trace_is_followed_second_by_second(client: TestClient) -> None:
    head, columns = unpacked(ran(client, "v=1&d=8&l=10/1,5,1bdp&f=cubic").content)
    (goodput,) = (columns[each["column"]] for each in head["curves"] if each["kind"] == "goodput")
    second = columns["t"].astype(int)
    fast, slow = (np.nanmean(goodput[(second >= 2) & (second % 2 == parity)]) for parity in (0, 1))
    assert fast > 4 * slow
    assert slow < 1.5


@pytest.mark.parametrize("kind", ["cc", "queue"])
def test_everything_that_can_be_chosen_runs(kind: str) -> None:
    for name in choices()[kind]:
        address = f"v=1&d=0.5&l=5,5,1bdp,0,{name}" if kind == "queue" else f"v=1&d=0.5&l=5,5&f={name}"
        assert play.play(parse(address)).head["numbers"]["goodput_mbps"] > 0, name


def test_settings_beyond_the_budget_are_cut_off_with_a_clear_word(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(play._LIMITS, "events", 10_000)
    error = ran(client, TEN).json()["error"]
    assert error["message"].startswith("cut off: stopped at ")
    assert error["message"].endswith("after 10,001 events: the limit is 10,000")
    assert error["hint"] == "make it shorter, slower, or of fewer flows; or save it as a study, which may take as long as it likes"


def test_the_guide_tells_the_bounds_that_hold() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/explorer-playground.md").read_text()
    assert f"A simulation ends after {play.MOST_SECONDS:g} s, or {play._LIMITS['events'] / 1e6:g} million events" in guide
    assert MOST_LINKS == 4
    assert "A chain of up to four links" in guide
    address = guide.partition("`/playground?")[2].partition("`")[0]
    assert parse(address).address() == address


def test_what_takes_too_long_is_cut_off() -> None:
    with pytest.raises(play.BeyondError, match=r"it took longer than the 0\.001 s that the playground gives a simulation"):
        play.play(parse("v=1&d=120&l=100&f=cubic,10"), seconds=0.001)


def test_what_nobody_waits_for_is_ended() -> None:
    stop = _core.StopRequest()
    stop.set()
    with pytest.raises(play.SupersededError):
        play.play(parse(TEN), stop)


def test_the_newest_of_a_page_ends_those_before_it_and_none_of_another() -> None:
    playground = Playground(None, allow_run=False)
    old, other, new = _core.StopRequest(), _core.StopRequest(), _core.StopRequest()
    for page, stop in (("a", old), ("b", other), ("a", new)):
        playground._take_place(page, stop)
    assert [each.is_set for each in (old, other, new)] == [True, False, False]


def test_a_long_simulation_blocks_nobody(client: TestClient) -> None:
    long = threading.Thread(target=ran, args=(client, "v=1&d=120&l=1000&f=cubic,8", "long"))
    long.start()
    assert client.get("/api/session").status_code == 200
    blocked = not long.is_alive()
    long.join()
    assert not blocked


def test_a_browser_that_has_gone_wants_nothing_any_more() -> None:
    class Gone:
        async def is_disconnected(self) -> bool:
            return True

    playground = Playground(None, allow_run=False)
    stop = _core.StopRequest()
    asked = playground._simulated(Gone(), parse("v=1&d=120&l=1000&f=cubic,8"), stop)
    # In a thread of its own: that of the tests has the browser's loop.
    with ThreadPoolExecutor(1) as pool, pytest.raises(play.SupersededError):
        pool.submit(asyncio.run, asked).result()
    assert stop.is_set


def test_a_hundred_tabs_are_all_answered(client: TestClient) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda tab: ran(client, f"v=1&d=1&l={tab + 1}&f=cubic", str(tab)), range(100)))
    assert {answer.status_code for answer in answers} == {200}
    assert [unpacked(answer.content)[0]["setting"]["links"][0]["rates"] for answer in answers] == [[tab + 1] for tab in range(100)]


def test_a_setting_is_downloaded_as_a_study_that_lint_takes(client: TestClient) -> None:
    for address in TOPOLOGIES.values():
        answer = client.get("/api/playground/study", params={"set": address})
        assert answer.headers["content-disposition"] == 'attachment; filename="playground.toml"'
        assert [each.message for each in sawtooth.lint(answer.text) if each.severity == "error"] == []


def test_reading_writes_no_study(client: TestClient, made: Path) -> None:
    answer = client.post("/api/playground/save", json={"set": TEN, "to": "lab/mine"})
    assert answer.status_code == 403
    assert answer.json()["error"]["hint"] == "start it with `sawtooth serve --allow-run`"
    assert not (made / "mine.toml").exists()


@pytest.fixture
def writing(folder: Path) -> TestClient:
    from sawtooth.web.app import application
    from sawtooth.web.settings import Settings

    settings = Settings([folder], port=8321, allow_run=True)
    return TestClient(application(settings), base_url="http://127.0.0.1:8321", headers={"Authorization": f"Bearer {settings.token}"})


def test_a_setting_is_saved_once_below_the_folders(writing: TestClient, folder: Path) -> None:
    answer = writing.post("/api/playground/save", json={"set": TEN, "to": "lab/mine"})
    assert answer.json() == {"address": "lab/mine.toml"}
    assert (folder / "mine.toml").read_text() == parse(TEN).text("mine")
    again = writing.post("/api/playground/save", json={"set": TEN, "to": "lab/mine"})
    assert again.json()["error"]["message"] == "there is `lab/mine` already"
    for to in ("lab/../mine", "elsewhere/mine", "/etc/mine", "shipped/mine", "lab/no-such/mine", ""):
        assert writing.post("/api/playground/save", json={"set": TEN, "to": to}).status_code == 400
    unnamed = writing.post("/api/playground/save", json={"set": TEN, "to": "lab/my own"}).json()["error"]
    assert (unnamed["message"], unnamed["hint"]) == (
        "`my own` cannot name a directory",
        "use letters, digits, `-`, `_`, `.` and `+`",
    )
    assert not (folder / "my own.toml").exists()
    assert writing.post("/api/playground/save", json={"set": "v=9", "to": "lab/other"}).status_code == 400
    assert writing.post("/api/playground/save", json={"set": 1}).status_code == 400
    assert not (folder / "other.toml").exists()


def test_of_a_single_flow_there_is_no_fairness(client: TestClient) -> None:
    head, _ = unpacked(ran(client, "v=1&d=3&l=10&f=cubic").content)
    assert head["numbers"]["jain"] is None


def test_of_transfers_that_are_all_done_is_told_how_long_that_took() -> None:
    def told(flows: str) -> Any:
        return play.play(parse(f"v=1&d=2&l=100,10,10bdp&{flows}")).head

    one = told("f=reno,1,0-1,0,0,500")
    assert one["numbers"]["completion_ms"] == one["groups"][0]["completion_ms"] > 100
    # From the start of the first until the last byte of all.
    late = told("f=reno,1,0-1,0,0.5,500&f=cubic,1,0-1,0,1,500")
    assert late["numbers"]["completion_ms"] == pytest.approx(500 + late["groups"][1]["completion_ms"])
    back = told("f=reno,1,1-0,0,0,500")
    assert back["numbers"]["completion_ms"] == back["groups"][0]["completion_ms"]
    # One that sends without end, and one that is not done.
    for other in ("f=cubic", "f=cubic,1,0-1,0,0,100000", "f=cubic,1,1-0"):
        assert told(f"f=reno,1,0-1,0,0,500&{other}")["numbers"]["completion_ms"] is None


# --- in a browser


def shown(page: Any) -> None:
    """Waits until what was asked for last is shown."""
    page.locator('[data-done="true"]').wait_for()


def test_a_drag_redraws_and_the_address_follows(page: Any) -> None:
    page.goto("/playground")
    shown(page)
    slider = page.get_by_role("slider", name="Rate")
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for part in range(1, 9):
        page.mouse.move(box["x"] + box["width"] * (0.5 + part / 40), y)
    page.mouse.up()
    page.wait_for_url(lambda url: "l=10&" not in url and "l=" in url)
    shown(page)
    rate = page.get_by_label("Rate, typed").input_value()
    # The address follows when the slider rests.
    page.wait_for_url(lambda url: f"l={rate}" in url)
    assert f'rate = "{rate} Mbit/s"' in page.locator("pre.study").inner_text()


def test_a_topology_is_clicked_together(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=cubic")
    shown(page)
    page.get_by_role("button", name="Add a link").click()
    # The flow crosses what was added, too: a link that nothing crosses would be a mistake until there is something.
    page.wait_for_url("**&l=10&l=10&f=cubic")
    shown(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Add flows").click()
    page.get_by_role("combobox", name="From node").select_option("1")
    page.get_by_role("combobox", name="Algorithm").select_option("bbr")
    page.wait_for_url("**&l=10&l=10&f=cubic&f=bbr,1,1-2")
    shown(page)
    page.get_by_role("button", name="Link 1").click()
    page.get_by_role("button", name="Remove this link").click()
    page.wait_for_url("**&l=10&f=cubic&f=bbr")


@pytest.mark.parametrize("name", list(TOPOLOGIES))
def test_a_link_is_added_to_any_topology_without_a_mistake(page: Any, name: str) -> None:
    page.goto(f"/playground?{TOPOLOGIES[name]}")
    shown(page)
    links = TOPOLOGIES[name].count("&l=")
    page.get_by_role("button", name="Add a link").click()
    expect(page.get_by_role("button", name=f"Link {links + 1}")).to_have_count(1)
    page.wait_for_url(lambda url: url.count("&l=") == links + 1)
    shown(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_is_typed_beyond_the_bounds_is_told_at_the_field(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=cubic")
    shown(page)
    page.get_by_label("Rate, typed").fill("5000")
    page.keyboard.press("Enter")
    expect(page.get_by_text("5,000 is beyond the bounds: at most 1,000 Mbit/s")).to_be_visible()
    expect(page.get_by_label("Rate, typed")).to_have_value("1000")
    # Once more: what is taken is what was there, and the field shows it all the same.
    page.get_by_label("Rate, typed").fill("7000")
    page.keyboard.press("Enter")
    expect(page.get_by_text("7,000 is beyond the bounds")).to_be_visible()
    expect(page.get_by_label("Rate, typed")).to_have_value("1000")
    page.get_by_label("Rate, typed").fill("20")
    page.keyboard.press("Enter")
    expect(page.get_by_text("beyond the bounds")).to_have_count(0)
    page.locator("summary", has_text="TCP and hosts").click()
    page.get_by_label("Receive window, kB").fill("0.1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("0.1 is beyond the bounds: at least 1 kB")).to_be_visible()
    expect(page.get_by_label("Receive window, kB")).to_have_value("1")


def test_columns_whose_names_say_little_and_peaks_after_a_recovery_are_explained(page: Any) -> None:
    page.goto("/playground?v=1&d=60&l=10,10,20bdp&f=cubic")
    shown(page)
    expect(page.get_by_text("from a flow's start until its last byte has arrived", exact=False)).to_be_visible()
    expect(page.get_by_role("columnheader", name="Stall, ms")).to_have_attribute("title", re.compile("how long data waited"))
    expect(page.locator("figure", has_text="Goodput").get_by_text("Peaks above the link\u2019s rate")).to_be_visible()
    page.goto("/playground?v=1&d=3&l=10&f=cubic&window=20")
    shown(page)
    expect(page.get_by_text("Peaks above the link\u2019s rate")).to_have_count(0)


def test_what_a_point_of_a_curve_is_of_is_said(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=1000&f=cubic,2&f=reno")
    shown(page)
    expect(page.get_by_role("region", name="Flows").get_by_role("row", name="reno").get_by_role("cell").last).to_have_text(
        re.compile(r"^send buffer \d\d %$")
    )
    expect(page.get_by_text("A point of a curve is of 10 ms: the mean", exact=False)).to_contain_text("sampled every 5 ms")
    expect(page.get_by_text("Of a queue it is the longest that it was in that time.", exact=False)).to_be_visible()


def test_names_of_curves_show_the_lines_that_they_are_drawn_with(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=cubic,2&f=reno")
    shown(page)
    marks = page.locator("#curves .over-time").first.locator(".u-series:not(:first-child) .u-marker")
    expect(marks).to_have_count(3)
    lines = marks.evaluate_all("all => all.map((each) => each.style.background.replace(/rgba?\\(.*?\\)/g, 'colour'))")
    # Also to whoever sees no colours: the first is whole, and each other is broken in its own way.
    assert lines[0] == "colour" and all("gradient" in each for each in lines[1:]) and len(set(lines)) == 3
    assert all(box["width"] > 20 > 4 > box["height"] for box in (mark.bounding_box() for mark in marks.all()))


def test_flows_that_come_from_farther_say_so_in_the_drawing(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=highspeed&f=highspeed,16,0-1,500")
    shown(page)
    drawing = page.get_by_role("group", name="Topology")
    expect(drawing.get_by_role("button", name="Flows highspeed-1, from node 0 to 1")).to_have_count(1)
    farther = drawing.get_by_role("button", name="Flows 16 \N{MULTIPLICATION SIGN} highspeed-2, +500 ms, from node 0 to 1").locator("text")
    expect(farther).to_have_text("16 \N{MULTIPLICATION SIGN} highspeed-2, +500 ms")
    inner, outer = farther.bounding_box(), drawing.bounding_box()
    assert outer["x"] <= inner["x"] and inner["x"] + inner["width"] <= outer["x"] + outer["width"]


def test_what_is_said_of_a_queue_or_an_algorithm_says_of_which(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10,20,1bdp,0,codel&f=bbr")
    shown(page)
    expect(page.get_by_text(f"codel: {choices()['queue']['codel']}")).to_be_visible()
    page.get_by_role("button", name="Flows bbr").click()
    expect(page.get_by_text(f"bbr: {choices()['cc']['bbr']}")).to_be_visible()


def test_a_link_is_chosen_and_set_with_the_keyboard_alone(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&l=20&f=cubic,1,0-2")
    shown(page)
    page.get_by_role("button", name="Link 2").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Link 2").wait_for()
    page.get_by_role("slider", name="Buffer").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "l=10&l=20,20," in url)


def test_a_malformed_address_is_told_on_the_page_and_another_topology_mends_it(page: Any) -> None:
    page.goto("/playground?v=1&f=cubik")
    page.get_by_role("alert").get_by_text("there is no cubik").wait_for()
    page.get_by_role("link", name="dumbbell").click()
    shown(page)
    assert page.get_by_role("alert").count() == 0


def test_a_setting_that_makes_no_sense_is_told_with_its_place_and_mended_with_the_controls(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10,0&f=cubic")
    page.get_by_role("alert").get_by_text("a limit in bdp needs a flow with a delay across this link").wait_for()
    assert "playground.toml:" in page.get_by_role("alert").inner_text()
    page.get_by_role("slider", name="Delay, one way", exact=False).first.focus()
    page.keyboard.press("End")
    shown(page)
    assert page.get_by_role("alert").count() == 0


def test_a_setting_is_saved_from_the_page(running_page: Any, folder: Path) -> None:
    running_page.goto("/playground?v=1&d=3&l=10&f=cubic")
    shown(running_page)
    running_page.get_by_role("button", name="Save as study").click()
    running_page.get_by_text("Saved as lab/playground.toml").wait_for()
    assert (folder / "playground.toml").read_text() == parse("v=1&d=3&l=10&f=cubic").text()


def test_two_settings_that_are_saved_have_results_of_their_own(writing: TestClient, folder: Path) -> None:
    for name, setting in (("pg1", "v=1&d=1&f=cubic"), ("pg2", "v=1&d=1&f=reno")):
        assert writing.post("/api/playground/save", json={"set": setting, "to": f"lab/{name}"}).status_code == 200
        assert (
            sawtooth.run(folder / f"{name}.toml", folder / "results" / sawtooth.Study.load(folder / f"{name}.toml").name).directory.name
            == name
        )


def test_flows_against_the_chain_are_drawn_as_others(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10,20,1bdp&f=cubic,1,1-0")
    shown(page)
    expect(page.get_by_text("Mean wait in queues, back")).to_be_visible()
    expect(page.locator("figure", has_text="Goodput, Mbit/s").locator("canvas")).to_be_visible()


def test_nothing_is_taken_along_of_a_setting_that_is_refused(running_page: Any, folder: Path) -> None:
    page = running_page
    page.goto("/playground?v=1&d=3&l=10&f=cubic")
    shown(page)
    page.goto("/playground?v=1&d=3&l=10&f=cubic&f=bbr")
    shown(page)
    # Within the page, so that what was shown before stays.
    page.evaluate(
        """() => { const link = document.createElement("a"); link.href = "/playground?v=1&d=3&l=10,0&f=cubic"; document.querySelector("main").append(link); link.click(); }"""
    )
    page.get_by_role("alert").get_by_text("a limit in bdp needs a flow with a delay").wait_for()
    expect(page.locator("dl.figures.stale")).to_have_count(1)
    for name in ("Save as study", "Download the study", "Copy the address"):
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Save as study").click(force=True)
    expect(page.get_by_text("The study that it was, before this setting")).to_be_visible()
    assert not (folder / "playground.toml").exists()
    # The slider's least delay is one with which a packet can wait.
    page.get_by_role("slider", name="Delay, one way", exact=False).first.press("End")
    page.get_by_role("slider", name="Delay, one way", exact=False).first.press("Home")
    shown(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_label("Delay, one way, typed").first).to_have_value("0.6")


def test_a_link_that_is_followed_as_the_address_comes_to_rest_is_not_undone(running_page: Any) -> None:
    page = running_page
    # What the page does once it rests is kept until it is asked for: that is when a slow machine may do it.
    page.add_init_script(
        """{ const later = setTimeout; window.resting = []; window.setTimeout = (what, ms, ...more) => ms === 200 ? resting.push(what) : later(what, ms, ...more); }"""
    )
    page.goto("/playground?v=1&d=3&l=10&f=cubic&f=bbr")
    shown(page)
    page.wait_for_function("resting.length > 0")
    page.evaluate(
        """() => {
            const link = document.createElement("a");
            link.href = "/playground?v=1&d=3&l=10,0&f=cubic";
            document.querySelector("main").append(link);
            link.click();
            for (const what of resting) what();
        }"""
    )
    page.get_by_role("alert").get_by_text("a limit in bdp needs a flow with a delay").wait_for()


def test_that_a_setting_was_saved_is_not_said_of_another(running_page: Any) -> None:
    running_page.goto("/playground?v=1&d=3&l=10&f=cubic")
    shown(running_page)
    running_page.get_by_role("button", name="Save as study").click()
    running_page.get_by_text("Saved as").wait_for()
    running_page.get_by_role("link", name="wireless").click()
    shown(running_page)
    expect(running_page.get_by_text("Saved as")).to_have_count(0)


def test_a_lesson_that_there_is_not_is_told(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=cubic&lesson=nonsuch")
    shown(page)
    page.get_by_role("alert").get_by_text("nonsuch").wait_for()


def test_the_first_number_of_transfers_that_are_done_is_how_long_they_took(page: Any) -> None:
    page.goto("/playground?v=1&d=2&l=100,10,10bdp&f=reno,1,0-1,0,0,500")
    shown(page)
    first = page.locator(".figures div").first
    done = page.get_by_role("region", name="Flows").get_by_role("row").last.get_by_role("cell").nth(4).inner_text()
    expect(first).to_have_text(re.compile(rf"All done after\s*{done} ms"))
    page.goto("/playground?v=1&d=2&l=100,10,10bdp&f=reno")
    shown(page)
    expect(first).to_have_text(re.compile(r"Goodput of all\s*[\d.]+ Mbit/s"))
    expect(page.locator(".figures div").nth(1)).to_have_text("Fairness (Jain's index)\N{EN DASH} ")


WRITTEN = """
window.written = new Map();
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
  if (!window.written.has(this.canvas)) window.written.set(this.canvas, new Set());
  window.written.get(this.canvas).add(text);
  return fill.call(this, text, ...where);
};
"""
"""What stands at the axes of each canvas."""


@pytest.mark.parametrize(("duration", "last"), [("2", "2 s"), ("0.5", "0.5 s"), ("30", "30 s")])
def test_the_axis_of_time_ends_where_the_setting_does_and_says_so(page: Any, duration: str, last: str) -> None:
    page.add_init_script(WRITTEN)
    page.goto(f"/playground?v=1&d={duration}&l=10&f=cubic")
    shown(page)
    page.wait_for_function(
        """(last) => {
            const canvases = [...document.querySelectorAll(".over-time canvas")];
            return canvases.length === 4 && canvases.every((each) => window.written.get(each)?.has(last));
        }""",
        arg=last,
    )


def test_times_on_the_axis_of_a_run_of_an_odd_length_are_round(page: Any) -> None:
    page.add_init_script(WRITTEN)
    page.goto("/playground?v=1&d=7.3&l=10&f=cubic")
    shown(page)
    page.wait_for_function(
        """() => [...document.querySelectorAll(".over-time canvas")].some((each) => window.written.get(each)?.has("7 s"))"""
    )
    written = page.evaluate(
        """() => [...document.querySelectorAll(".over-time canvas")].flatMap((each) => [...window.written.get(each)])"""
    )
    assert {each for each in written if each.endswith(" s")} == {f"{second} s" for second in range(8)}


def test_names_of_curves_have_values_only_while_one_points(page: Any) -> None:
    page.goto("/playground?v=1&d=3&l=10&f=cubic,2")
    shown(page)
    plot = page.locator("#curves .over-time").first
    moment, values = plot.locator(".u-series").first, plot.locator(".u-series:not(:first-child) .u-value")
    expect(plot.locator(".u-label", has_text="cubic[1]")).to_be_visible()
    expect(moment).to_be_hidden()
    expect(values.first).to_be_hidden()
    plot.locator(".u-over").hover()
    expect(moment).to_be_visible()
    expect(values.first).to_have_text(re.compile(r"^[\d.]+$"))
    page.get_by_role("heading", name="Playground").hover()
    expect(moment).to_be_hidden()


DRAWN = """
window.looks = new Map();
const stroke = CanvasRenderingContext2D.prototype.stroke;
CanvasRenderingContext2D.prototype.stroke = function (path) {
  if (path instanceof Path2D) {
    if (!window.looks.has(this.canvas)) window.looks.set(this.canvas, new Set());
    window.looks.get(this.canvas).add(`${this.strokeStyle} ${this.getLineDash()}`);
  }
  return stroke.apply(this, path ? [path] : []);
};
"""
"""What curves look like: colour and dashes of all paths that are drawn on each canvas; axes and grids are no paths of their own."""


@pytest.mark.parametrize(("flows", "curves", "colours"), [("f=cubic,2", 2, 2), ("f=cubic,2&f=reno,3", 5, 5), ("f=cubic,6&f=bbr,5", 11, 2)])
def test_curves_of_flows_of_one_algorithm_are_told_apart(page: Any, flows: str, curves: int, colours: int) -> None:
    page.add_init_script(DRAWN)
    page.goto(f"/playground?v=1&d=5&l=20&{flows}")
    shown(page)
    # An answer is there before what is drawn of it.
    page.wait_for_function(
        """(curves) => {
            const canvases = [...document.querySelectorAll(".over-time canvas")];
            return canvases.length === 4 && canvases.slice(0, 3).every((each) => window.looks.get(each)?.size >= curves);
        }""",
        arg=curves,
    )
    looks = page.evaluate("[...document.querySelectorAll('.over-time canvas')].map((each) => [...window.looks.get(each)])")
    for look in looks[:3]:
        assert len(look) == curves and len({each.rpartition(" ")[0] for each in look}) == colours
    note = page.get_by_text("Flows of a group have its colour, and differ by their lines.")
    expect(note).to_have_count(1 if curves > 8 else 0)


def test_where_controls_stand_above_all_plots_a_chosen_one_stays_in_sight(page: Any) -> None:
    page.goto("/playground")
    shown(page)
    watched = page.get_by_role("region", name="In sight while a value is changed")
    # Beside the plots there is no need of it.
    expect(watched).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    watched.get_by_role("combobox", name="In sight").select_option("Queue, packets")
    last = page.get_by_role("slider", name="Duration")
    last.scroll_into_view_if_needed()
    drawn = watched.get_by_role("img", name="Queue, packets over time")
    expect(drawn).to_be_in_viewport(ratio=1)
    expect(last).to_be_in_viewport(ratio=1)
    # Between the numbers, without a gap in which something would show, and the control.
    numbers, plot, control = (each.bounding_box() for each in (page.locator(".figures"), watched, last))
    assert numbers["y"] + numbers["height"] - 2 <= plot["y"] and plot["y"] + plot["height"] <= control["y"]
    before = drawn.get_attribute("aria-label")
    page.get_by_label("Buffer, typed").fill("4")
    page.get_by_label("Buffer, typed").press("Enter")
    expect(drawn).not_to_have_attribute("aria-label", before)
    # Past the controls all plots follow.
    page.get_by_role("heading", name="Queue, packets").scroll_into_view_if_needed()
    page.mouse.wheel(0, 900)
    expect(drawn).not_to_be_in_viewport()
    # A screen without the height for both keeps it where it is.
    page.set_viewport_size({"width": 800, "height": 390})
    expect(watched).to_have_css("position", "static")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_with_a_plot_in_sight_the_page_is_accessible(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/playground")
    shown(page)
    page.get_by_role("img", name="over time").first.wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
