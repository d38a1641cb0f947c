"""Sweeps that an explorer runs: several at once, paused, resumed and ended; whoever vanishes, nothing is lost."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from starlette.testclient import TestClient

from sawtooth.results.dataset import Dataset
from tests.web.conftest import STUDY, Explorer, serving

# Batches of some tenths of a second, several of them.
LONG = (
    STUDY.replace('name = "queues"', 'name = "long"')
    .replace("repeat = 4", "repeat = 400")
    .replace('duration = "4 s"', 'duration = "100 s"')
)
ADDRESS = "lab/studies/long.toml"


def until(true: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What is true in the end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := true():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come to that")


def sweep(client: TestClient, out: str) -> dict[str, Any]:
    return next((each for each in client.get("/api/sweeps").json()["sweeps"] if each["out"] == out), {})


def stored(folder: Path, name: str = "long") -> int:
    return Dataset(folder / "results" / name).status().height


def has_stored(client: TestClient) -> bool:
    return ((sweep(client, "lab/results/long").get("progress") or {}).get("runs") or 0) > 0


@pytest.fixture
def long(folder: Path) -> Path:
    (folder / "studies" / "long.toml").write_text(LONG)
    return folder


def test_a_sweep_is_paused_resumed_and_loses_nothing(writing: TestClient, long: Path) -> None:
    started = writing.post("/api/sweeps/start", json={"study": ADDRESS}).json()
    assert started["command"] == "sawtooth run studies/long.toml --out results/long --progress json --no-wait"
    until(lambda: has_stored(writing))
    writing.post("/api/sweeps/pause", json={"number": started["number"]})
    until(lambda: sweep(writing, "lab/results/long")["state"] == "paused")
    had = stored(long)
    assert 0 < had < 2400
    listed = writing.get("/api/studies").json()["studies"]
    assert next(each for each in listed if each["address"] == ADDRESS)["state"] == "part done"
    writing.post("/api/sweeps/resume", json={"number": started["number"]})
    progress = until(lambda: sweep(writing, "lab/results/long")["progress"])
    assert progress["runs"] >= had
    number = sweep(writing, "lab/results/long")["number"]
    assert writing.post("/api/sweeps/cancel", json={"number": number}).json()["sweeps"] == []
    assert stored(long) >= had


@pytest.mark.usefixtures("long")
def test_two_starts_of_the_same_study_are_one_and_two_studies_run_side_by_side(writing: TestClient) -> None:
    writing.post("/api/sweeps/start", json={"study": ADDRESS})
    answer = writing.post("/api/sweeps/start", json={"study": ADDRESS})
    assert "a sweep is writing to lab/results/long already" in answer.json()["error"]["message"]
    writing.post("/api/sweeps/start", json={"study": "lab/studies/queues.toml", "out": "lab/results/again"})
    writing.post("/api/sweeps/start", json={"study": "shipped/gallery/l4s", "short": True})
    until(lambda: sweep(writing, "lab/results/again")["state"] == "done")
    done = until(lambda: (found := sweep(writing, "lab/results/l4s-short"))["state"] == "done" and found)
    assert done["progress"]["runs"] == done["progress"]["planned"]
    assert sweep(writing, "lab/results/long")["state"] == "running"


def test_what_cannot_be_run_is_told_before_anything_starts(writing: TestClient, folder: Path) -> None:
    (folder / "studies" / "long.toml").write_text(LONG.replace('"reno"', '"renoo"'))
    error = writing.post("/api/sweeps/start", json={"study": ADDRESS}).json()["error"]
    assert error["place"]["text"].startswith("reno = ")
    assert "unknown congestion control" in error["message"]
    for out in ("elsewhere/x", "lab/../x", "lab/.hidden", "lab", "lab//x"):
        answer = writing.post("/api/sweeps/start", json={"study": "lab/studies/queues.toml", "out": out})
        assert "nothing can be written as" in answer.json()["error"]["message"]
    assert writing.get("/api/sweeps").json()["sweeps"] == []
    assert "no such sweep" in writing.post("/api/sweeps/pause", json={"number": 99}).json()["error"]["message"]


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize(
    ("out", "words"), [("lab/studies/queues.toml/x", "cannot write"), ("lab/studies", "no results directory"), ("lab/results/queues", "")]
)
def test_a_child_that_cannot_write_says_why(writing: TestClient, out: str, words: str) -> None:
    writing.post("/api/sweeps/start", json={"study": ADDRESS, "out": out})
    failed = until(lambda: (found := sweep(writing, out))["state"] == "failed" and found)
    assert any("error: " in line and words in line for line in failed["said"])


def asked(explorer: Explorer, path: str, body: dict[str, Any] | None = None) -> Any:
    token = explorer.opening.partition("token=")[2]
    request = Request(explorer.url + path, json.dumps(body).encode() if body else None, {"Authorization": f"Bearer {token}"})
    return urlopen(request, timeout=30)


def test_a_server_that_is_killed_takes_its_sweeps_along_and_they_go_on_from_there(long: Path) -> None:
    out = long / "results" / "long"
    with serving(long, "--allow-run") as explorer:
        asked(explorer, "/api/sweeps/start", {"study": ADDRESS}).close()
        until(lambda: out.is_dir() and any(out.glob("parts/batch-*")))
        explorer.process.send_signal(signal.SIGKILL)
        explorer.process.wait()
    from sawtooth.results.lock import is_held

    until(lambda: not is_held(out), 10)
    had = stored(long)
    assert 0 < had < 2400
    with serving(long, "--allow-run") as explorer:
        listed = json.load(asked(explorer, "/api/studies"))["studies"]
        assert next(each for each in listed if each["address"] == ADDRESS)["state"] == "part done"
        asked(explorer, "/api/sweeps/start", {"study": ADDRESS}).close()
        progress = until(lambda: json.load(asked(explorer, "/api/sweeps"))["sweeps"][0]["progress"])
        assert progress["runs"] >= had
    # It was ended in order this time, and its child with it.
    assert not is_held(out)


def test_a_hundred_tabs_follow_and_vanish(long: Path) -> None:
    with serving(long, "--allow-run") as explorer:
        tabs = [asked(explorer, "/api/sweeps/events") for _ in range(100)]
        asked(explorer, "/api/sweeps/start", {"study": "lab/studies/queues.toml", "out": "lab/results/again"}).close()
        for tab in (tabs[0], tabs[-1]):
            states = []
            while "done" not in states:
                line = tab.readline().decode()
                if line.startswith("data: "):
                    states += [each["state"] for each in json.loads(line[6:])["sweeps"]]
            assert "running" in states
        for tab in tabs:
            tab.close()
        assert json.load(asked(explorer, "/api/sweeps"))["sweeps"][0]["state"] == "done"
