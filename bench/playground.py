"""How long a redraw of the playground takes: 10 flows over 100 Mbit/s for 30 s, with the rate moved step by step.

    .venv/bin/python bench/playground.py [--steps 30]

Apart: the simulation; the server's answer, which is also reading the setting and making tables and columns, as time of its processor and by the clock; the page, from the answer to when the four
plots are drawn; and from the key to there, in Chromium. The last is what a user waits. It is meant for a machine that does nothing else: its load is printed, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, sync_playwright

from bench.shown import processor_ms
from sawtooth.web.play import play
from sawtooth.web.setting import parse
from tests.web.conftest import serving

SETTING = "v=1&d=30&l={rate}&f=cubic,10"
FIRST_MBPS = 100
GOAL_MS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30, help="how often the rate is moved")
    steps = parser.parse_args().steps
    print(f"load of the machine: {os.getloadavg()[0]:.1f} over {os.cpu_count()} processors; goal {GOAL_MS} ms")
    tell("server: processor", processor(steps))
    for name, times in in_browser(steps).items():
        tell(name, times)


def tell(name: str, times: Sequence[float]) -> None:
    print(f"{name:28} median {statistics.median(times):6.1f} ms, least {min(times):6.1f}, most {max(times):6.1f}, of {len(times)}")


def processor(steps: int) -> list[float]:
    """Milliseconds of the processor for an answer; each time another rate, as while one drags."""
    play(parse(SETTING.format(rate=FIRST_MBPS)))
    times: list[float] = []
    for step in range(steps):
        began = time.process_time()
        play(parse(SETTING.format(rate=FIRST_MBPS - step)), seconds=60)
        times.append((time.process_time() - began) * 1e3)
    return times


def in_browser(steps: int) -> dict[str, list[float]]:
    """Milliseconds of each part, in a real browser: a key moves the slider, and the next follows when all is drawn."""
    found: dict[str, list[float]] = {
        name: [] for name in ("server: simulation", "server: answer, both ways", "page: drawing", "from key to drawn")
    }
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as explorer, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(base_url=explorer.url, viewport={"width": 1200, "height": 900})
        page.goto(explorer.opening)
        page.goto(f"/playground?{SETTING.format(rate=FIRST_MBPS)}")
        page.locator('[data-done="true"]').wait_for()
        # What a figure needs is loaded in the explorer's first seconds; who drags has read the page by then.
        _settled(explorer.process.pid)
        page.get_by_role("slider", name="Rate").focus()
        for _ in range(steps):
            for name, value in zip(found, _step(page), strict=True):
                found[name].append(value)
        browser.close()
    return found


def _settled(process: int) -> None:
    """Waits until the explorer has had nothing to do for a second."""
    before = None
    while (used := processor_ms(process)) != before:
        before = used
        time.sleep(1)


def _step(page: Page) -> list[float]:
    """One step of the slider, seen from within the page: waiting for it from outside would count, too."""
    return page.evaluate(
        """() => new Promise((done) => {
            const slider = document.querySelector(".controls input[type=range]");
            const began = performance.now();
            new PerformanceObserver((list, observer) => {
                observer.disconnect();
                const drawn = list.getEntriesByName("redraw").at(-1);
                requestAnimationFrame(() => {
                    const told = document.querySelector("[data-done]");
                    const simulated = Number(told.dataset.simulated), answered = Number(told.dataset.milliseconds);
                    done([simulated, answered, drawn.duration, drawn.startTime + drawn.duration - began]);
                });
            }).observe({ type: "measure" });
            slider.value = Number(slider.value) - 1;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        })"""
    )


if __name__ == "__main__":
    main()
