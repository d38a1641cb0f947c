"""What `pictures.py` and `session.py` show of the explorer: a folder with two studies and their results, and a server of it; and the page on which `explorer.py` and `explorer_zoom.py` measure."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, sync_playwright

import sawtooth
from sawtooth.study import shipped
from tests.web.conftest import Explorer, serving

QUEUES = """\
# How short may the queue of an access link be?
name = "queues"
question = "How much goodput does a short queue cost, and how much delay does a long one?"
repeat = 8

[scenario]
duration = "10 s"
stack = "linux"
links.bottleneck = { rate = "20 Mbit/s", delay = "15 ms", queue = { name = "drop_tail", limit = "1 bdp" } }

[[scenario.flows]]
name = "bulk"
path = ["bottleneck"]
start = "start * 1 s"

[draws]
start = { distribution = "uniform", low = "0", high = "1" }

[sweep]
"links.bottleneck.queue.limit" = ["0.1 bdp", "0.25 bdp", "0.5 bdp", "1 bdp", "2 bdp"]

[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }
bbr = { cc = "bbr" }

[[figures]]
name = "goodput"
metric = "goodput_bps"
x = "limit"

[[findings]]
claim = "BBR carries more than half of the link whatever the queue"
metric = "goodput_bps"
arm = "bbr"
is = "above"
than = "10 Mbit/s"
refuted_by = "A queue so short that BBR takes its losses for less capacity than there is."

[[findings]]
claim = "CUBIC waits for less than 60 ms behind any of these queues"
metric = "srtt_mean_ns"
arm = "cubic"
is = "below"
than = "60 ms"
refuted_by = "A long queue that CUBIC keeps full."
"""


def made(folder: Path) -> Path:
    """The folder `lab` with the studies and their results."""
    lab = folder / "lab"
    (lab / "studies").mkdir(parents=True)
    (lab / "studies" / "queues.toml").write_text(QUEUES)
    sawtooth.run(lab / "studies" / "queues.toml", lab / "results" / "queues")
    shutil.copyfile(shipped.studies()["gallery/bufferbloat"], lab / "studies" / "bufferbloat.toml")
    sawtooth.run(lab / "studies" / "bufferbloat.toml", lab / "results" / "bufferbloat")
    return lab


def changed(lab: Path) -> None:
    """Results of the one study as it was before its link became shorter, to be laid beside those of now."""
    before = lab / "before.toml"
    before.write_text(QUEUES.replace('delay = "15 ms"', 'delay = "25 ms"'))
    sawtooth.run(before, lab / "results" / "queues-before")
    before.unlink()


@contextmanager
def explored(folder: Path, *, before: bool = False) -> Iterator[Explorer]:
    """An explorer of such a folder, which may run studies; with `before`, also of results from before a change."""
    lab = made(folder)
    if before:
        changed(lab)
    with serving(lab, "--allow-run") as explorer:
        yield explorer


@contextmanager
def connection() -> Iterator[int]:
    """A connection of this machine that bytes go over, and its port: without it a quiet machine has none but the explorer's own to show."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender:
        receiver = server.accept()[0]

        def send() -> None:
            while not stop.wait(0.01):
                sender.sendall(b"x" * 20_000)

        def receive() -> None:
            with receiver:
                while receiver.recv(65_536):
                    pass

        threads = [threading.Thread(target=each) for each in (send, receive)]
        for thread in threads:
            thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            stop.set()
            threads[0].join()
            sender.shutdown(socket.SHUT_RDWR)
            threads[1].join()


@contextmanager
def page_of(folder: Path, patience: int, script: str = "") -> Iterator[tuple[Page, Explorer]]:
    """A page in Chromium of an explorer that has just been started, and the explorer.

    Args:
        folder: of the explorer.
        patience: milliseconds after which the page gives up waiting for anything.
        script: what each page runs before its own.

    """
    program = shutil.which("chromium")
    if program is None:
        sys.exit("there is no chromium: apt-get install chromium")
    with serving(folder) as explorer, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900}, base_url=explorer.url)
        page.set_default_timeout(patience)
        page.add_init_script(script)
        # The address sets the cookie; a page of its own needs no results.
        page.goto(explorer.opening.replace("/?", "/lessons?"))
        page.locator("main h1").wait_for()
        yield page, explorer
        browser.close()


def processor_ms(process: int) -> float:
    """What a process has had of processors, without its children, in steps of 10 ms."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return 1000 * (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
