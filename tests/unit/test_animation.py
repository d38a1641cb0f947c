"""`sawtooth animate`: every packet of the records is on the page, and where it is at a moment is worked out by hand."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from sawtooth.animation import drawing, page, still
from sawtooth.animation.film import Choice, Film, Place, Span, backlog, place, take
from sawtooth.animation.network import lay_out
from sawtooth.backends import sim
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.plan import Plan, make_plan
from sawtooth.study import Study

STUDY = """
name = "two"
[scenario]
duration = "4 s"
links.access = { count = 2, rate = "10 Mbit/s", delay = "5 ms" }
links.core = { rate = "1 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "10 packets" } }
flows = [{ name = "f", count = 2, path = ["access[i]", "core"], cc = "reno" }]
"""
WAY = {"arrived_ns": 0, "dropped_ns": None, "started_ns": 10, "sent_ns": 18, "delivered_ns": 38, "fate": "arrived"}
ALL = Choice()
BOTH = [(1e6, 0.02), (1e6, 0.02)]


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    path = tmp_path_factory.mktemp("animation") / "two.toml"
    path.write_text(STUDY)
    return make_plan(Study.load(path))


def filmed(plan: Plan, begin: float = 0.0, end: float | None = None, choice: Choice = ALL, most: int = 20_000) -> Film:
    return take(plan, plan.runs[0], sim, Span(begin, end), choice, most)


def recorded(plan: Plan) -> pl.DataFrame:
    run = plan.runs[0]
    tables = sim.run_batch([json.dumps({**json.loads(run.scenario), "record": ["packets"]})], [run.seed]).tables
    return tables["packets"]


def embedded(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="film">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.mark.parametrize(
    ("now", "where"),
    [
        (-1, None),
        (0, Place("waits")),
        (9, Place("waits")),
        (15, Place("moves", 0.0, 0.25)),
        (18, Place("moves", 0.0, 0.4)),
        (28, Place("moves", 0.5, 0.9)),
        (37, Place("moves", 0.95, 1.0)),
        (38, None),
    ],
)
def test_a_packet_waits_is_sent_and_is_as_long_as_its_transmission(now: int, where: Place | None) -> None:
    # 8 ns to send and 20 to cross: the front leaves at 10 and is there at 30, the back leaves at 18 and is there at 38.
    assert place(WAY, now, 20, 5) == where


def test_what_is_dropped_falls_at_the_queue_and_what_is_lost_in_the_middle() -> None:
    dropped = {**WAY, "dropped_ns": 4, "started_ns": None, "sent_ns": None, "delivered_ns": None, "fate": "dropped"}
    assert [place(dropped, now, 20, 5) for now in (3, 5, 9)] == [Place("waits"), Place("falls", 0.0, 0.2), None]
    lost = {**WAY, "delivered_ns": None, "fate": "lost"}
    assert [place(lost, now, 20, 5) for now in (19, 21, 25)] == [Place("moves", 0.05, 0.45), Place("falls", 0.5, 0.2), None]


def test_a_bar_is_drawn_above_its_link_on_the_way_out_and_below_on_the_way_back() -> None:
    line = lay_out([("l", BOTH)], [("f", [0])]).lines[0]
    assert (line.x1, line.x2) == (70.0, 890.0)
    assert still.ends(line, 0, Place("moves", 0.25, 0.5)) == ((275.0, line.y1 - still.LANE), (480.0, line.y1 - still.LANE))
    assert still.ends(line, 1, Place("moves", 0.25, 0.5)) == ((685.0, line.y1 + still.LANE), (480.0, line.y1 + still.LANE))


def test_senders_are_left_receivers_right_and_a_later_flow_begins_before_its_link() -> None:
    links = [(name, BOTH) for name in ("a1", "a2", "core", "late", "out")]
    made = lay_out(links, [("f", [0, 4, 8]), ("g", [2, 4, 8]), ("h", [6, 8])])
    x = {line.name: (line.x1, line.x2) for line in made.lines}
    assert x["a1"] == x["a2"] and x["a1"][1] == x["core"][0] and x["late"] == x["core"] and x["out"][0] == x["core"][1]
    assert [node.label for node in made.nodes if node.x == 70.0] == ["f", "g"]
    # Whose data goes the other way has its sender at the right; ports of the way back are odd.
    back = lay_out(links, [("f", [0, 4, 8]), ("back", [9, 5])])
    right = max(node.x for node in back.nodes)
    assert [(node.sends, node.receives) for node in back.nodes if node.x == right] == [(["back"], ["f"])]
    # What goes round in circles is drawn, too.
    assert len(lay_out(links[:2], [("f", [0, 2]), ("g", [2, 0])]).lines) == 2


def test_every_packet_of_the_records_is_on_the_page_with_its_times(plan: Plan) -> None:
    rows = recorded(plan)
    data = embedded(page.page(filmed(plan), "t", "q", 0.02))
    assert len(data["packets"]) == rows.height > 1000
    names = [line["name"] for line in data["lines"]]
    found = [(names[row[0]], data["flows"][row[2]], *row[4:5], *row[9:14]) for row in data["packets"]]
    columns = ("link", "flow", "number", "arrived_ns", "dropped_ns", "started_ns", "sent_ns", "delivered_ns")
    assert sorted(found, key=str) == sorted(rows.select(columns).iter_rows(), key=str)
    drops = rows.filter(link="core", direction="forward", fate="dropped").height
    assert drops > 0 and len(data["lines"][names.index("core")]["drops"][0]) == drops


def test_a_stretch_of_time_has_what_is_on_links_in_it(plan: Plan) -> None:
    rows = recorded(plan)
    film = filmed(plan, 1.0, 1.5)
    gone = pl.max_horizontal("dropped_ns", "delivered_ns")
    assert film.packets.height == rows.filter((pl.col("arrived_ns") < 1.5e9) & (gone >= 1e9)).height
    assert film.left_out == ["1 to 1.5 s of 4 s are shown"]


@pytest.mark.parametrize("begin", [0.0, 1.0])
def test_the_player_has_each_packet_where_it_is_whenever_the_film_begins(browser: Any, plan: Plan, tmp_path: Path, begin: float) -> None:
    film = filmed(plan, begin, begin + 0.5)
    out = tmp_path / "film.html"
    out.write_text(page.page(film, "t", "q", 0.02))
    shown = browser.new_page()
    shown.goto(out.as_uri())
    shown.locator("#packets > summary").click()
    for share in (0.0, 0.004, 0.3, 0.9):
        shown.locator("#scrub").evaluate("(line, share) => { line.value = share; line.dispatchEvent(new Event('input')); }", share)
        now = begin * 1e9 + share * 0.5e9
        rows = [[cell.strip() for cell in row.split("\t")] for row in shown.locator("#list tr").all_inner_texts()]
        phases = Counter((row[0], row[1], row[6] if row[6] in ("waits", "dropped") else "moves") for row in rows)
        assert phases == Counter(_phases(film, now)) and phases.total() < 60
        waiting = phases["core", "forward", "waits"]
        shown.locator("#moving .count").get_by_text(re.compile(f"^{waiting} waits?(,|$)")).first.wait_for(state="attached")
    shown.close()


def _phases(film: Film, now: float) -> Iterator[tuple[str, str, str]]:
    """As film.py has them."""
    for row in film.packets.iter_rows(named=True):
        line = film.network.lines[row["line"]]
        found = place(row, now, line.ways[row["direction"] == "reverse"][1] * 1e9, 6e8 * 0.02)
        if found:
            yield line.name, row["direction"], {"falls": "dropped"}.get(found.phase, found.phase)


def test_the_backlog_is_what_waits(plan: Plan) -> None:
    film = filmed(plan)
    core = next(at for at, line in enumerate(film.network.lines) if line.name == "core")
    times, held = backlog(film.packets, core, "forward")
    # The limit is of ten packets, with the one in transmission.
    assert max(held) == 9 and min(held) == 0 and times == sorted(times)


def test_without_an_end_it_ends_where_there_are_as_many_packets_as_it_may_have(plan: Plan) -> None:
    film = filmed(plan, most=300)
    assert film.packets.height <= 300 and film.end < 4
    assert (
        film.left_out[1]
        == "it ends where there are 300 packets on links: --from and --to show another stretch, --flow and --link fewer of them"
    )


def test_flows_and_links_can_be_chosen(plan: Plan) -> None:
    film = filmed(plan, choice=Choice(flows=["f[2]"], links=["core"]))
    assert film.flows == ["f[2]"] and [line.name for line in film.network.lines] == ["core"]
    assert film.packets["flow"].unique().to_list() == ["f[2]"]


def test_the_drawing_moves_each_packet_that_crosses_a_link_once(plan: Plan) -> None:
    film = filmed(plan, 0.0, 1.0)
    text = drawing.drawing(film, "t", 0.05)
    crossing = film.packets.filter(
        pl.col("delivered_ns").is_not_null() & (pl.col("started_ns") < 1e9) & pl.col("dropped_ns").is_null()
    ).height
    assert text.count('class="packet ') == crossing


def run(*words: str) -> str:
    return CliRunner().invoke(app, ["animate", *words]).output


def test_a_page_asks_nothing_of_anybody_and_stands_still_without_scripts(tmp_path: Path) -> None:
    study, out = tmp_path / "two.toml", tmp_path / "a.html"
    study.write_text(STUDY)
    said = run(str(study), "--out", str(out))
    assert "arrivals of packets at 3 links" in said
    text = out.read_text()
    assert "default-src 'none'" in text and not re.search(r'(?:src|href)="', text)
    assert 'class="packet c' in text.split("<script", maxsplit=1)[0]


def refused(plan: Plan, begin: float = 0.0, end: float | None = None, choice: Choice = ALL, most: int = 20_000) -> tuple[str, str | None]:
    with pytest.raises(StudyError) as caught:
        filmed(plan, begin, end, choice, most)
    return caught.value.args[0], caught.value.hint


def test_mistakes_are_told(plan: Plan, tmp_path: Path) -> None:
    message, hint = refused(plan, 0.0, 4.0, most=100)
    assert re.fullmatch(r"from 0 to 4 s packets come to links [\d,]+ times, and 100 are shown", message)
    assert re.fullmatch(
        r"--to '[\d.]+ s' is as far as they fit; --flow and --link show fewer; --most \d+ shows all, if the browser bears it", str(hint)
    )
    assert refused(plan, choice=Choice(flows=["f[3]"])) == ("the run has no flow `f[3]`", "did you mean `f[2]`?")
    assert refused(plan, choice=Choice(links=["cor"])) == ("the run has no link `cor`", "did you mean `core`?")
    assert refused(plan, 0.0, 1e-9, Choice(flows=["f[2]"], links=["core"])) == (
        "no packet is on a link from 0 to 1e-09 s",
        "the run takes 4 s; --from and --to choose another stretch",
    )
    study = tmp_path / "two.toml"
    study.write_text(STUDY)
    result = CliRunner().invoke(app, ["animate", str(study), "--out", str(tmp_path / "a.gif")])
    assert isinstance(result.exception, StudyError)
    assert (result.exception.args[0], result.exception.hint) == ("`a.gif` is neither a page nor a drawing", "--out ends in .html or .svg")
    result = CliRunner().invoke(app, ["animate", str(study), "--speed", "0 s"])
    assert isinstance(result.exception, StudyError)
    assert (result.exception.args[0], result.exception.hint) == (
        "in one second `0 s` of the run cannot be shown",
        "such as --speed '50 ms'",
    )
