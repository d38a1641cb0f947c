"""Pictures of every page of the explorer at three widths, light and dark, to be looked at: what overlaps, is cut off or stands apart is seen by nobody else.

    .venv/bin/python bench/pictures.py OUT [--page run] [--width 390] [--scheme dark] [--sheets]

OUT gets `PAGE-WIDTH-SCHEME.png`, each of a whole page. It says which pages are wider than the screen, what the browser complains of, and which pages were not there in time; it goes on with the
others then, and ends with exit code 1. With `--sheets` it also makes, of each page of which all are there, the sheet that docs/guides/explorer-pictures.md shows: desktop and phone, light and dark.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

from bench.shown import connection, explored
from tests.web.conftest import PATIENCE, Explorer

WIDTHS = {1200: 900, 820: 1100, 390: 800}
"""Of a desktop, a tablet and a phone, with their heights."""
SCHEMES = ("light", "dark")
SHEETS = Path(__file__).resolve().parents[1] / "docs/images/explorer"
_SHOWN = {1200: 0.55, 390: 0.62}
"""The widths that a sheet has, and how much smaller they are there."""
_HIGHEST, _GAP = 900, 12
"""Of a sheet, pixels: what is below is left out; and between two pictures."""
_MOST_BYTES = 150_000
_FORK = quote('{"kind": "rate", "at": "5 s", "link": "bottleneck", "value": "8 Mbit/s"}')


def _run(page: Page) -> None:
    page.get_by_text("both futures are equal to the bit", exact=False).wait_for()
    page.get_by_label("Look at moment (s)").fill("5.5")
    page.keyboard.press("Enter")
    page.get_by_label("The algorithms' own variables").select_option(index=1)
    page.get_by_label("Time-sequence graph", exact=True).get_by_role("combobox").select_option(index=1)
    page.locator("summary", has_text="Loss episodes").click()
    page.get_by_role("button", name="Show packets on their links", exact=False).first.click()
    page.get_by_role("button", name="Next loss").wait_for()


def _study(page: Page) -> None:
    page.locator(".cm-content").wait_for()
    page.get_by_text("120 runs", exact=True).wait_for()


def _lesson(page: Page) -> None:
    page.get_by_text("What the simulation shows").click()


def _live(page: Page) -> None:
    page.get_by_role("button", name="Watch").click()
    page.locator(".card .ribbon").first.wait_for()


def _results(page: Page) -> None:
    page.locator(".plot svg").first.wait_for()
    page.get_by_text("All verdicts in one figure").wait_for()


def _compare(page: Page) -> None:
    page.locator(".plot svg").first.wait_for()
    page.get_by_text("not decided", exact=False).first.wait_for()


PAGES: dict[str, tuple[str, Callable[[Page], None] | str]] = {
    "studies": ("/studies", ".card, table"),
    "study": ("/studies?of=lab/studies/queues.toml", _study),
    "results-list": ("/results", ".card"),
    "results": ("/results?of=lab/results/queues", _results),
    "run": (f"/run?of=lab/results/queues&run=12&beside=0&besideOf=lab/results/bufferbloat&change={_FORK}", _run),
    "run-none": ("/run", "h1"),
    "compare": ("/compare?of=lab/results/queues-before&beside=lab/results/queues", _compare),
    "playground": ("/playground", "[data-done=true]"),
    "playground-many": ("/playground?v=1&d=20&l=50&l=20,10,1bdp&f=cubic,4,0-2&f=bbr,3,0-1&f=reno,3,1-2&lesson=bufferbloat", "[data-done=true]"),
    "lessons": ("/lessons", ".card"),
    "lesson": ("/lessons?lesson=bufferbloat", _lesson),
    "live": ("/live?port={port}", _live),
    "mistake": ("/results?of=lab/nothing", "[role=alert]"),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the directory for the pictures; it is made")
    parser.add_argument("--page", action="append", choices=PAGES, help="one of the pages; all if none is named")
    parser.add_argument("--width", action="append", type=int, choices=WIDTHS, help="one of the widths; all if none is named")
    parser.add_argument("--scheme", action="append", choices=SCHEMES, help="light or dark; both if neither is named")
    parser.add_argument("--sheets", action="store_true", help="also the sheets of the documentation")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    missing: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        connection() as port,
        explored(Path(folder), before=True) as explorer,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in asked.scheme or SCHEMES:
            for width in asked.width or WIDTHS:
                for name in asked.page or PAGES:
                    path = asked.out / f"{name}-{width}-{scheme}.png"
                    try:
                        complaints = take(browser, explorer, name, port, (width, scheme), path)
                    except BrowserError as error:
                        complaints = [f"it was not there in time: {error.message.splitlines()[0]}"]
                        missing.append(path.name)
                    for complaint in complaints:
                        print(f"{path.name}: {complaint}", flush=True)
        browser.close()
    print(f"pictures are in {asked.out}")
    if asked.sheets:
        for name in asked.page or PAGES:
            sheet(asked.out, name)
    if missing:
        sys.exit(f"{len(missing)} are missing: {', '.join(missing)}")


def sheet(folder: Path, name: str) -> None:
    """One picture of a page, of the top of it, desktop and phone, light and dark; nothing if not all are there."""
    paths = [folder / f"{name}-{width}-{scheme}.png" for width in _SHOWN for scheme in SCHEMES]
    if not all(path.is_file() for path in paths):
        return
    shown: list[Image.Image] = []
    for path, share in zip(paths, [share for share in _SHOWN.values() for _ in SCHEMES], strict=True):
        image = Image.open(path).convert("RGB")
        image = image.resize((round(image.width * share), round(image.height * share)), Image.Resampling.LANCZOS)
        shown.append(image.crop((0, 0, image.width, min(image.height, _HIGHEST))))
    whole = Image.new("RGB", (sum(each.width + _GAP for each in shown) - _GAP, max(each.height for each in shown)), "#8a9299")
    left = 0
    for each in shown:
        whole.paste(each, (left, 0))
        left += each.width + _GAP
    SHEETS.mkdir(exist_ok=True)
    for quality in (72, 60, 50, 40):
        whole.save(SHEETS / f"{name}.webp", quality=quality, method=6)
        if (SHEETS / f"{name}.webp").stat().st_size <= _MOST_BYTES:
            return


def take(browser: Browser, explorer: Explorer, name: str, port: int, screen: tuple[int, str], path: Path) -> list[str]:
    """Takes a picture of a page, and says what is wrong with it as far as a program sees that; `port` is that of a connection to be seen."""
    width, scheme = screen
    address, ready = PAGES[name]
    context = browser.new_context(viewport={"width": width, "height": WIDTHS[width]}, color_scheme=scheme, base_url=explorer.url)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(explorer.opening)
    page.goto(address.replace("{port}", str(port)))
    if isinstance(ready, str):
        page.locator(ready).first.wait_for()
    else:
        ready(page)
    # What follows sweeps never rests, so nothing tells when all is drawn.
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(700)
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        complaints.append(f"it is {wide} pixels wide")
    page.screenshot(path=path, full_page=True)
    context.close()
    return complaints


if __name__ == "__main__":
    main()
