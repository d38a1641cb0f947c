"""Records a session in the explorer as a picture that moves, the README's: docs/images/explorer.webp, and explorer.png, one moment of it.

    .venv/bin/python bench/session.py [--keep DIR]

What is shown is what happens: an explorer on a folder with results, and Chromium without a screen. Verdicts; the workbench with another measure and another place for the arms; a point, and one of its
runs over time; a stretch of it; what would be if the link were slower from a moment on; packets in motion. Only the pointer, its ring at a click and the line of text
below are drawn by this script. `--keep` leaves the frames as PNG, to be looked at one by one.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from bench.shown import explored
from tests.web.conftest import PATIENCE

IMAGES = Path(__file__).resolve().parents[1] / "docs/images"
WIDTH, HEIGHT = 900, 620
_PER_SECOND = 12
"""Frames while something moves."""
_MOST_BYTES = 1_500_000
_QUALITY = 56
SPEED = "0.05"
"""Of packets in motion: so many seconds of the run in one."""

# The pointer, its ring and the caption; the page's policy lets no style in, but those that scripts set.
_OVERLAY = """() => {
    const put = (tag, style, parent = document.documentElement) => {
        const made = document.createElement(tag);
        for (const [name, value] of Object.entries(style)) made.style.setProperty(name, value);
        parent.append(made);
        return made;
    };
    const above = { position: "fixed", "z-index": "99", "pointer-events": "none" };
    window.ring = put("div", { ...above, width: "34px", height: "34px", margin: "-17px", "border-radius": "50%", border: "3px solid #d1495b", opacity: "0" });
    window.pointer = put("div", { ...above, filter: "drop-shadow(0 0 1px #fff) drop-shadow(0 0 1px #fff)" });
    put("div", { width: "17px", height: "24px", background: "#111",
                 "clip-path": "polygon(0 0, 0 82%, 27% 64%, 46% 100%, 62% 93%, 44% 58%, 78% 58%)" }, window.pointer);
    window.caption = put("div", { ...above, left: "0", right: "0", bottom: "0", padding: "9px 18px", background: "#10222e", color: "#fff", font: "600 17px system-ui, sans-serif" });
    document.body.style.setProperty("padding-bottom", "60px");
}"""
_PLACE = """([x, y, ring]) => {
    for (const each of [window.pointer, window.ring]) { each.style.left = `${x}px`; each.style.top = `${y}px`; }
    window.ring.style.opacity = ring;
}"""


@dataclass
class Session:
    """A page that is recorded: frames, each with the milliseconds for which it is seen; where the pointer is; and the moment that stands still."""

    page: Page
    frames: list[tuple[Image.Image, int]] = field(default_factory=list[tuple[Image.Image, int]])
    at: tuple[float, float] = (WIDTH * 0.62, HEIGHT * 0.55)
    still: Image.Image | None = None

    def frame(self, milliseconds: float) -> None:
        """What is seen now; what is the same as before is seen longer."""
        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if self.frames and self.frames[-1][0].tobytes() == image.tobytes():
            self.frames[-1] = (image, self.frames[-1][1] + round(milliseconds))
        else:
            self.frames.append((image, round(milliseconds)))

    def hold(self, seconds: float) -> None:
        """Shows what there is for a while."""
        self.frame(seconds * 1000)

    def begin(self, address: str, ready: str) -> None:
        """Another page, with the pointer where it was."""
        self.page.goto(address)
        self.page.locator(ready).first.wait_for()
        self.overlay()

    def overlay(self) -> None:
        """The pointer and the caption, where the page does not have them."""
        if not self.page.evaluate("!!window.pointer"):
            self.page.evaluate(_OVERLAY)
        self.page.evaluate(_PLACE, [*self.at, "0"])

    def say(self, text: str) -> None:
        """What happens, in a line below."""
        self.page.evaluate("(text) => { window.caption.textContent = text; }", text)

    def scroll(self, target: Any, above: float = 12) -> None:
        """Scrolls until something is at the top."""
        begin = self.page.evaluate("scrollY")
        end = begin + target.bounding_box()["y"] - above
        end = max(0.0, min(end, self.page.evaluate("document.documentElement.scrollHeight - innerHeight")))
        steps = max(1, min(6, round(abs(end - begin) / 60)))
        for step in range(1, steps + 1):
            self.page.evaluate("(y) => scrollTo(0, y)", begin + (end - begin) * _eased(step / steps))
            self.frame(1000 / _PER_SECOND)

    def go(self, x: float, y: float) -> None:
        """Moves the pointer."""
        (begin_x, begin_y), steps = self.at, 4
        for step in range(1, steps + 1):
            share = _eased(step / steps)
            self.at = (begin_x + (x - begin_x) * share, begin_y + (y - begin_y) * share)
            self.page.mouse.move(*self.at)
            self.page.evaluate(_PLACE, [*self.at, "0"])
            self.frame(1000 / _PER_SECOND)

    def over(self, target: Any) -> None:
        """Moves the pointer to the middle of something."""
        box = target.bounding_box()
        self.go(box["x"] + min(box["width"] / 2, 120), box["y"] + box["height"] / 2)

    def ring(self) -> None:
        """A ring about the pointer for a moment."""
        self.page.evaluate(_PLACE, [*self.at, "0.9"])
        self.frame(200)
        self.page.evaluate(_PLACE, [*self.at, "0"])

    def click(self, target: Any) -> None:
        """Moves there, and clicks."""
        self.over(target)
        self.ring()
        self.page.mouse.click(*self.at)

    def choose(self, target: Any, value: str) -> None:
        """Moves to a list, and chooses of it: lists that are open are drawn by no page."""
        self.over(target)
        self.ring()
        target.select_option(value)

    def type(self, target: Any, text: str) -> None:
        """Moves to a field, and types."""
        self.click(target)
        target.fill(text)
        self.frame(250)

    def drag(self, target: Any, begin: float, end: float) -> None:
        """Drags over a part of something's width."""
        box = target.bounding_box()
        y = box["y"] + box["height"] / 2
        self.go(box["x"] + begin * box["width"], y)
        self.page.mouse.down()
        self.go(box["x"] + end * box["width"], y)
        self.page.mouse.up()
        self.page.wait_for_timeout(200)

    def film(self, seconds: float) -> None:
        """What moves by itself, as it does."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            image = self.page.screenshot()
            self.frames.append((Image.open(io.BytesIO(image)).convert("RGB"), max(60, round((time.monotonic() - now) * 1000))))


def _eased(share: float) -> float:
    return share * share * (3 - 2 * share)


def play(session: Session) -> None:
    """The session."""
    page = session.page
    session.begin("/results?of=lab/results/queues", ".verdict .plot svg")
    page.locator("[aria-label=Workbench] .plot svg").wait_for()
    session.say("A study's claims, with verdicts and their evidence")
    session.hold(1.8)
    workbench = page.locator("section[aria-label=Workbench]")
    session.scroll(workbench)
    session.say("The workbench: any measure over any factor")
    session.hold(1.0)
    session.type(workbench.get_by_label("Measure, or an expression of some"), "srtt_mean_ns")
    page.keyboard.press("Enter")
    page.wait_for_timeout(700)
    session.hold(1.0)
    session.choose(workbench.get_by_role("combobox", name="arm"), "panels")
    page.wait_for_timeout(700)
    session.hold(1.2)
    session.say("A point opens its runs")
    _point(session)
    table = page.get_by_role("region", name="Table runs").get_by_role("link").first
    table.wait_for()
    session.scroll(page.get_by_role("region", name="Runs of a point"))
    session.hold(0.8)
    session.click(table)
    page.locator(".panel canvas").first.wait_for()
    page.wait_for_timeout(600)
    session.overlay()
    session.say("One of them over time, done once more: equal to the bit")
    session.scroll(page.locator(".over-time"), above=0)
    session.hold(1.6)
    session.drag(page.locator(".panel .u-over").first, 0.42, 0.72)
    session.hold(1.2)
    page.evaluate("scrollTo(0, 0)")
    form = page.get_by_role("form", name="What if")
    session.say("What if the link were slower from a moment on?")
    session.choose(form.get_by_label("what happens to it"), "rate")
    session.type(form.get_by_label("New rate"), "8 Mbit/s")
    form.get_by_label("It happens at (s)", exact=True).fill("5 s")
    session.click(form.get_by_role("button", name="See both futures"))
    page.get_by_text("both futures are equal to the bit", exact=False).wait_for()
    page.wait_for_timeout(400)
    session.scroll(page.locator(".over-time"), above=0)
    session.hold(2.2)
    session.still = session.frames[-1][0]
    session.click(page.get_by_role("toolbar").get_by_role("button", name="All"))
    session.drag(page.locator(".panel .u-over").first, 0.115, 0.3)
    session.say("And its packets, on their links")
    film = page.get_by_role("button", name="Show packets on their links", exact=False).first
    session.scroll(film)
    session.click(film)
    page.get_by_role("button", name="Next loss").wait_for()
    session.scroll(film)
    session.choose(page.get_by_label("Speed"), SPEED)
    page.get_by_role("button", name="From the start").click()
    session.click(page.get_by_role("button", name="Play", exact=True))
    session.film(2.4)
    session.hold(0.6)


def _point(session: Session) -> None:
    """Clicks on the point of the most delay: CUBIC's behind the longest queue."""
    dots = session.page.locator("[aria-label=Workbench] .plot svg g[stroke] > path[transform]")
    boxes = [dots.nth(at).bounding_box() for at in range(dots.count())]
    highest = min((box for box in boxes if box and min(box["width"], box["height"]) > 5), key=lambda box: box["y"])
    session.go(highest["x"] + highest["width"] / 2, highest["y"] + highest["height"] / 2)
    session.ring()
    session.page.mouse.click(*session.at)


def written(session: Session) -> int:
    """Writes both pictures; the bytes of the one that moves."""
    images, durations = [image for image, _ in session.frames], [milliseconds for _, milliseconds in session.frames]
    path = IMAGES / "explorer.webp"
    (session.still or images[-1]).save(IMAGES / "explorer.png", optimize=True)
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=durations, loop=0, quality=_QUALITY, method=6, minimize_size=True
    )
    return path.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a directory for the frames")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, explored(Path(folder)) as explorer, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, base_url=explorer.url, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(explorer.opening)
        session = Session(page)
        play(session)
        browser.close()
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
        for at, (image, milliseconds) in enumerate(session.frames):
            image.save(asked.keep / f"{at:03}-{milliseconds}.png")
    size = written(session)
    seconds = sum(milliseconds for _, milliseconds in session.frames) / 1000
    print(f"{len(session.frames)} frames, {seconds:.1f} s, {size:,} bytes")
    if size > _MOST_BYTES:
        sys.exit(f"that is more than {_MOST_BYTES:,} bytes: make it shorter, or of less quality")


if __name__ == "__main__":
    main()
