"""An explorer that is killed is said to be gone, and a page goes on when one is there again."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.conftest import PATIENCE
from tests.web.conftest import Explorer, serving

SLOW = """
name = "slow"
question = "Is it running still?"
repeat = 4000

[scenario]
duration = "60 s"
stack = "linux"
links.bottleneck = { rate = "50 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["bottleneck"], start = "start * 1 s" }]

[draws]
start = { distribution = "uniform", low = "0", high = "1" }
"""


@contextmanager
def again(folder: Path, gone: Explorer) -> Iterator[str]:
    """Another explorer in the place of one that is gone, and the address that opens it."""
    with serving(folder, "--port", gone.url.rpartition(":")[2]) as explorer:
        yield explorer.opening


@pytest.mark.xdist_group("real time")
def test_a_killed_explorer_is_gone_and_its_sweep_is_not_called_running(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "slow.toml").write_text(SLOW)
    with serving(folder, "--allow-run") as explorer:
        context = browser.new_context(base_url=explorer.url)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(explorer.opening)
        page.goto("/studies?of=lab/slow.toml")
        page.get_by_role("button", name="Start", exact=True).click()
        sweeps = page.get_by_role("list", name="Sweeps")
        expect(sweeps).to_contain_text("running", timeout=PATIENCE)
        os.kill(explorer.process.pid, signal.SIGKILL)
        gone = page.get_by_role("alert").filter(has_text="The explorer is gone")
        gone.wait_for()
        # It is seen wherever the page is scrolled to.
        page.set_viewport_size({"width": 390, "height": 400})
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(gone).to_be_in_viewport()
        expect(sweeps).to_contain_text("the explorer is gone, and this with it")
        expect(sweeps.get_by_role("button", name="Pause", exact=False)).to_have_count(0)
    with again(folder, explorer) as opening:
        other = context.new_page()
        other.goto(opening)
        # The new one knows of no sweep: those of the one before ended with it.
        expect(gone).to_have_count(0, timeout=PATIENCE)
        expect(sweeps).to_have_count(0)
        context.close()


@pytest.mark.xdist_group("real time")
@pytest.mark.parametrize(
    ("path", "there", "ask"),
    [
        ("/results?of=lab/before", ".plot svg", lambda page: page.get_by_role("combobox", name="arm").first.select_option("panels")),
        (
            "/compare?of=lab/before&beside=lab/after",
            ".plot svg",
            lambda page: page.get_by_role("button", name="The other way round").click(),
        ),
        ("/run?of=lab/before&run=0", ".uplot", lambda page: page.get_by_role("button", name="Show packets on their links").click()),
        ("/playground", '[data-done="true"]', lambda page: page.get_by_role("slider", name="Rate").press("ArrowRight")),
    ],
)
def test_any_page_says_so_once_it_asks_and_nobody_answers(
    browser: Any, sides: Path, path: str, there: str, ask: Callable[[Any], None]
) -> None:
    with serving(sides) as explorer:
        context = browser.new_context(base_url=explorer.url)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(explorer.opening)
        page.goto(path)
        page.locator(there).first.wait_for()
        page.wait_for_load_state("networkidle")
        os.kill(explorer.process.pid, signal.SIGKILL)
        explorer.process.wait()
        ask(page)
        gone = page.get_by_role("alert").filter(has_text="The explorer is gone")
        gone.wait_for()
        # What could not be had is had once there is one again.
        page.get_by_role("link", name="Lessons", exact=True).click()
        page.get_by_role("alert").get_by_text("the explorer does not answer").wait_for()
    with again(sides, explorer) as opening:
        context.new_page().goto(opening)
        expect(gone).to_have_count(0, timeout=PATIENCE)
        page.get_by_role("link", name="3. Bufferbloat").wait_for()
        expect(page.get_by_role("alert")).to_have_count(0)
        context.close()
