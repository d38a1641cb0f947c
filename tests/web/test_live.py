"""Live connections as a page shows them: what `sawtooth stall` says of connections on loopback that this test makes."""

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from tests.web.conftest import Explorer


@pytest.fixture
def port() -> Iterator[int]:
    """Where a connection is, over which bytes go for some seconds."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", number)) as sender, server.accept()[0] as receiver:

            def send() -> None:
                ending = time.monotonic() + 30
                while not stop.wait(0.01) and time.monotonic() < ending:
                    sender.sendall(b"x" * 20_000)

            def receive() -> None:
                while receiver.recv(65536):
                    pass

            threads = [threading.Thread(target=send), threading.Thread(target=receive)]
            for thread in threads:
                thread.start()
            yield number
            stop.set()
            threads[0].join()
            sender.shutdown(socket.SHUT_RDWR)
            threads[1].join()


def test_a_connection_is_seen_with_what_holds_it_back(page: Any, port: int) -> None:
    page.goto("/live")
    page.get_by_label("Port").fill(str(port))
    page.get_by_role("button", name="Watch").click()
    page.locator(".card", has_text=str(port)).first.wait_for()
    page.locator(".card .ribbon").first.wait_for()
    page.get_by_text(re.compile(r"^sent in each of the last \d+ intervals? of 1 s: at most [\d.,]+ [kMG]?bit/s$")).first.wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped: what was seen last stands below.").wait_for()
    assert page.locator(".card", has_text=str(port)).count() > 0 and page.get_by_role("button", name="Stop").count() == 0
    # It can be gone on with.
    page.get_by_role("button", name="Watch").click()
    page.get_by_text("Stopped", exact=False).wait_for(state="detached")
    page.get_by_role("button", name="Stop").click()


def test_a_recording_leads_on_to_its_results(running_page: Any, port: int) -> None:
    running_page.goto("/live")
    running_page.get_by_label("Port").fill(str(port))
    running_page.get_by_label("Record as").fill("lab/results/w1")
    running_page.get_by_role("button", name="Watch").click()
    running_page.locator(".card .ribbon").first.wait_for()
    running_page.get_by_role("button", name="Stop").click()
    stopped = running_page.get_by_role("status").filter(has_text="What was recorded is in lab/results/w1, to lay beside others.")
    assert stopped.get_by_role("link", name="lay beside others").get_attribute("href") == "/compare?of=lab%2Fresults%2Fw1"
    stopped.get_by_role("link", name="lab/results/w1").click()
    running_page.get_by_role("combobox", name="Table").wait_for()
    assert running_page.get_by_role("alert").count() == 0


def test_an_interval_that_is_none_is_told_as_other_mistakes_are(page: Any) -> None:
    page.goto("/live")
    page.get_by_label("Every").fill("abc")
    page.get_by_role("button", name="Watch").click()
    alert = page.get_by_role("alert")
    alert.get_by_text("abc is not a time: unknown variable abc", exact=True).wait_for()
    alert.get_by_text("such as '2.5 s' or '300 ms'", exact=True).wait_for()


def test_connections_of_the_explorer_itself_are_folded_away_below_the_others(page: Any, reading: Explorer, port: int) -> None:
    page.goto("/live")
    page.get_by_role("button", name="Watch").click()
    page.locator(".cards > .card", has_text=str(port)).first.wait_for()
    own = page.locator("details", has=page.get_by_text(re.compile(r"^Between this explorer and browsers \(\d+\)$")))
    mine = reading.url.rpartition(":")[2]
    own.locator("summary").first.wait_for()
    # Nobody else's are in it, and none of its own among the others.
    assert page.locator("section > .cards > .card", has_text=re.compile(rf":{mine}\b")).count() == 0
    own.locator("summary").first.click()
    expect(own.locator(".card", has_text=re.compile(rf":{mine}\b")).first).to_be_visible()
    assert own.locator(".card", has_text=re.compile(rf":{port}\b")).count() == 0
    page.get_by_role("button", name="Stop").click()


def test_what_is_no_port_is_told(client: TestClient) -> None:
    for port in ("abc", "99999", "0", "-1", "1" * 5000):
        for path in ("/api/live", "/api/live/check"):
            answer = client.get(path, params={"port": port})
            assert answer.status_code == 400
            assert answer.json()["error"] == {"message": f"`{port[:40]}` is no port", "hint": "a number from 1 to 65535", "place": None}


def test_what_the_command_refuses_is_told_in_its_words(client: TestClient) -> None:
    with client.stream("GET", "/api/live", params={"peer": "x"}) as answer:
        lines = list(answer.iter_lines())
    assert "event: problem" in lines
    (data,) = [line for line in lines if line.startswith("data: ")]
    told = json.loads(data.removeprefix("data: "))
    assert told["message"] == "`x` is no peer" and told["hint"] and told["place"] is None


@pytest.mark.parametrize("typed", ["abc", "99999"])
def test_a_port_that_is_none_is_told_at_its_field(page: Any, typed: str) -> None:
    page.goto("/live")
    page.get_by_label("Port").fill(typed)
    page.get_by_role("button", name="Watch").click()
    page.locator(".field", has=page.get_by_label("Port")).get_by_text(f"“{typed}” is no port: a number from 1 to 65535").wait_for()
    assert page.get_by_role("button", name="Stop").count() == 0


def test_what_is_typed_stays_when_what_the_explorer_may_do_arrives(running_page: Any) -> None:
    held: list[Any] = []
    running_page.route("**/api/session", lambda route: held.append(route))
    running_page.goto("/live")
    running_page.get_by_label("Port").fill("abc")
    assert running_page.get_by_label("Record as").count() == 0
    held.pop().continue_()
    running_page.get_by_label("Record as").wait_for()
    assert running_page.get_by_label("Port").input_value() == "abc"


def test_a_recording_that_cannot_be_is_refused_in_the_explorers_words(running_page: Any) -> None:
    running_page.goto("/live")
    running_page.get_by_label("Record as").fill("../x")
    running_page.get_by_role("button", name="Watch").click()
    running_page.get_by_role("alert").get_by_text("there is no .. in the folders").wait_for()


def test_recording_is_for_an_explorer_that_may_write(client: TestClient, made: Path) -> None:
    answer = client.get("/api/live", params={"record": "lab/results/watched"})
    assert answer.status_code == 403
    assert "--allow-run" in answer.json()["error"]["hint"]
    assert not (made / "results" / "watched").exists()
