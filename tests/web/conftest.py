"""An explorer on a folder with a study and its results: asked without a network, as a server of its own, and by a browser."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import sawtooth
from tests.conftest import PATIENCE

STUDY = """
name = "queues"
question = "Does a short queue cost goodput?"
repeat = 4

[scenario]
duration = "4 s"
sample = "50 ms"
stack = "linux"
links.bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }

[[scenario.flows]]
name = "bulk"
path = ["bottleneck"]
start = "start * 1 s"

[draws]
start = { distribution = "uniform", low = "0", high = "1" }

[sweep]
"links.bottleneck.queue.limit" = ["0.25 bdp", "1 bdp", "4 bdp"]

[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }

[[figures]]
name = "goodput"
metric = "goodput_bps"
x = "limit"

[[findings]]
claim = "CUBIC carries more than a tenth of the link"
metric = "goodput_bps"
arm = "cubic"
is = "above"
than = "500 kbit/s"
"""


MANY = """
name = "many"
question = "Does the explorer keep up with 23,040 runs?"
repeat = 30
seed = 7

[vars]
Tp = "20 ms"
R = "1 Mbit/s"

[scenario]
duration = "44 us"
sample = "1 us"
links.bottleneck = { rate = "R", delay = "Tp", queue = { name = "drop_tail", limit = "10 packets" } }

[[scenario.flows]]
path = ["bottleneck"]
start = "start * 40 us"

[draws]
start = { distribution = "uniform", low = "0", high = "1" }

[sweep]
"vars.Tp" = ["1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms", "200 ms"]
"vars.R" = ["1 Mbit/s", "2 Mbit/s", "5 Mbit/s", "10 Mbit/s", "20 Mbit/s", "50 Mbit/s", "100 Mbit/s", "200 Mbit/s"]
"links.bottleneck.queue.limit" = ["10 packets", "20 packets", "50 packets", "100 packets"]

[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
bbr = { cc = "bbr" }

[[findings]]
claim = "Flows start before the run ends"
metric = "start_ns"
is = "below"
than = "1 ms"
"""
"""23,040 runs that end before a packet arrives, with more than a million samples."""


@pytest.fixture(scope="session")
def many(once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A folder with results of 23,040 runs and more than a million rows, made in seconds."""

    def fill(folder: Path) -> None:
        folder.mkdir()
        (folder / "many.toml").write_text(MANY)
        sawtooth.run(folder / "many.toml", folder / "results")

    return once("explorer-many", fill)


@pytest.fixture(scope="session")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results of a study from before and after a change: of the link's delay, and of one of its queues."""
    folder = tmp_path_factory.mktemp("sides") / "lab"
    folder.mkdir()
    after = STUDY.replace('delay = "10 ms"', 'delay = "60 ms"').replace('"4 bdp"]', '"8 bdp"]')
    for name, text in (("before", STUDY), ("after", after)):
        (folder / f"{name}.toml").write_text(text.replace('duration = "4 s"', 'duration = "2 s"'))
        sawtooth.run(folder / f"{name}.toml", folder / name)
    (folder / "other.toml").write_text(STUDY.replace('name = "queues"', 'name = "others"').replace("repeat = 4", "repeat = 1"))
    sawtooth.run(folder / "other.toml", folder / "other")
    return folder


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study, and with its results."""
    folder = tmp_path_factory.mktemp("explorer") / "lab"
    (folder / "studies").mkdir(parents=True)
    (folder / "studies" / "queues.toml").write_text(STUDY)
    sawtooth.run(folder / "studies" / "queues.toml", folder / "results" / "queues")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """The same folder, for one test alone."""
    return Path(shutil.copytree(made, tmp_path / "lab"))


@pytest.fixture
def asked() -> Callable[..., TestClient]:
    """Makes who may ask an explorer of any folder."""

    def made(folder: Path, *, allow_run: bool = False) -> TestClient:
        return _client(folder, allow_run=allow_run)

    return made


def _client(folder: Path, *, allow_run: bool) -> TestClient:
    from sawtooth.web.app import application
    from sawtooth.web.settings import Settings

    settings = Settings([folder], port=8321, allow_run=allow_run)
    return TestClient(application(settings), base_url="http://127.0.0.1:8321", headers={"Authorization": f"Bearer {settings.token}"})


@contextmanager
def asking(folder: Path, *, allow_run: bool = False) -> Iterator[TestClient]:
    """Who may ask an explorer of a folder."""
    with _client(folder, allow_run=allow_run) as client:
        yield client


@pytest.fixture
def client(made: Path) -> Iterator[TestClient]:
    """Who may ask, of an explorer that only reads."""
    with asking(made) as client:
        yield client


@pytest.fixture
def writing(folder: Path) -> Iterator[TestClient]:
    """Who may ask, of an explorer of a folder of this test's, which may write studies and run them."""
    with asking(folder, allow_run=True) as client:
        yield client


@dataclass
class Explorer:
    """A running `sawtooth serve`.

    Attributes:
        url: without the token. opening: with it.

    """

    url: str
    opening: str
    process: subprocess.Popen[str]


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Explorer]:
    """An explorer of a folder, as long as it is needed."""
    command = [sys.executable, "-m", "sawtooth.cli", "serve", str(folder), "--port", "0", "--no-browser", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            assert process.stdout
            opening = process.stdout.readline().strip()
            yield Explorer(opening.partition("/?")[0], opening, process)
        finally:
            process.terminate()
            process.wait(PATIENCE / 1000)


@pytest.fixture(scope="session")
def reading(made: Path) -> Iterator[Explorer]:
    """An explorer that only reads, for all tests that change nothing."""
    with serving(made) as explorer:
        yield explorer


@pytest.fixture
def running(folder: Path) -> Iterator[Explorer]:
    """An explorer of a folder of this test's, which may write studies and run them."""
    with serving(folder, "--allow-run") as explorer:
        yield explorer


@contextmanager
def showing(browser: Any, explorer: Explorer) -> Iterator[Any]:
    """A page of an explorer, 1200 pixels wide; whatever the browser complains of fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, base_url=explorer.url)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    # What the server refuses is told on the page, and by the browser, too.
    told = ("error", "warning")
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in told and "status of 4" not in message.text else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(explorer.opening)
    yield page
    context.close()
    assert complaints == []


@pytest.fixture
def page(browser: Any, reading: Explorer) -> Iterator[Any]:
    """A page of the explorer that only reads."""
    with showing(browser, reading) as page:
        yield page


@pytest.fixture
def running_page(browser: Any, running: Explorer) -> Iterator[Any]:
    """A page of the explorer that may run studies."""
    with showing(browser, running) as page:
        yield page
