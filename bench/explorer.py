"""How fast the explorer shows results: in Chromium, of 23,040 runs, and of a table of a million rows.

    .venv/bin/python bench/explorer.py --results results/hstcp            (a directory of `sawtooth run hstcp`; without it that is run first)
    .venv/bin/python bench/explorer.py --results results/hstcp --rows results/cells        (the latter of `bench/million.py`, which says how)

Times are the browser's: of a page from the beginning of its navigation, of a change from the event at the control; both until the frame after which it is drawn. Beside those of changes stands what processors had to do for one, of the explorer (as the system counts it, in steps of 10 ms) and of the page's
thread: on a machine that does other things, too, that is what can be compared. `cold` is the first page of an explorer that has just been started, and its changes are made while verdicts are computed; `warm` is the median of several pages and changes later on. No change asks
for what was shown before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Error, Page

import sawtooth
from bench.pages import table
from bench.shown import page_of, processor_ms

# When the page has a heading, a figure and a verdict, each with the frame after it.
WATCH = """
window.shown = {};
new MutationObserver(() => {
  for (const [name, what] of [['question', 'main h1'], ['figure', '[aria-label=Workbench] .plot svg'], ['verdicts', '.verdict'], ['rows', 'td']]) {
    if (!(name in window.shown) && document.querySelector(what)) {
      window.shown[name] = 0;
      requestAnimationFrame(() => setTimeout(() => { window.shown[name] = performance.now(); }));
    }
  }
}).observe(document, {childList: true, subtree: true});
"""
LONGEST = 120
"""Seconds after which what was asked for is taken not to come."""
CHANGE = r"""async ([name, value, place]) => {
  const labels = [...document.querySelectorAll('label')];
  const label = labels.find((each) => each.textContent === name);
  if (!label) throw new Error(`the page has no control \`${name}\`; there are ${labels.map((each) => each.textContent).join(', ')}`);
  const control = document.getElementById(label.htmlFor);
  const offered = [...(control.options ?? [])].map((each) => each.value);
  if (control.options && !offered.includes(value)) throw new Error(`\`${name}\` has no choice \`${value}\`; there are ${offered.join(', ')}`);
  if (control.value === value) throw new Error(`\`${name}\` is \`${value}\` already`);
  const seen = new Promise((go, fail) => {
    setTimeout(() => fail(new Error(`nothing was drawn within LONGEST s after \`${name}\` had become \`${value}\``)), LONGEST * 1000);
    const wrong = () => document.querySelector('main .wrong')?.innerText.replace(/\s+/g, ' ');
    const before = wrong();
    const ended = (then) => { drawn.disconnect(); told.disconnect(); then(); };
    const drawn = new MutationObserver(() => ended(() => requestAnimationFrame(() => setTimeout(go))));
    drawn.observe(document.querySelector(place), {childList: true, subtree: true});
    const told = new MutationObserver(() => {
      if (!wrong() || wrong() === before) return;
      const known = [...(control.list?.options ?? [])].map((each) => each.value).join(', ');
      ended(() => fail(new Error(`\`${name}\` cannot be \`${value}\`: ${wrong()}${known && `; there are ${known}`}`)));
    });
    told.observe(document.querySelector('main'), {childList: true, subtree: true});
  });
  const begun = performance.now();
  control.value = value;
  control.dispatchEvent(new Event('change', {bubbles: true}));
  await seen;
  return performance.now() - begun;
}""".replace("LONGEST", str(LONGEST))
PRESS = r"""async (name) => {
  // A table says that it is busy until its next rows are there.
  const seen = new Promise((go, fail) => {
    setTimeout(() => fail(new Error(`no rows came within LONGEST s after \`${name}\` was pressed`)), LONGEST * 1000);
    const watch = new MutationObserver((changes) => {
      if (!changes.some((each) => each.oldValue === 'true')) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(go));
    });
    watch.observe(document.querySelector('section.scroll[aria-busy]'), {attributeFilter: ['aria-busy'], attributeOldValue: true});
  });
  const begun = performance.now();
  [...document.querySelectorAll('button')].find((each) => each.textContent === name).click();
  await seen;
  return performance.now() - begun;
}""".replace("LONGEST", str(LONGEST))
LEVELS = ["56 kbit/s", "128 kbit/s", "256 kbit/s", "1024 kbit/s", "512 kbit/s", "10240 kbit/s", "102400 kbit/s"]
MEASURE = "Measure, or an expression of some"
EARLY = ["delivered_bytes", "min_rtt_ns"]
MEASURES = ["retransmits", "srtt_mean_ns", "jain(goodput_bps)", "sum(throughput_bps)", "timeouts"]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="results of the study hstcp")
    parser.add_argument("--rows", type=Path, help="results with many rows")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as name:
        results = given.results and given.results.resolve()
        if results is None:
            results = Path(name) / "hstcp"
            sawtooth.run("hstcp", results)
        rows = of_results(results)
        if given.rows:
            rows += of_rows(given.rows.resolve())
    print(table(["What", "Milliseconds", "of processors"], rows, "lrr"))


class Watched:
    """A page, and what processors have done for it."""

    def __init__(self, page: Page, server: int) -> None:
        self.page = page
        self._server = server
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used(self) -> float:
        """Milliseconds of the explorer, without its children, and of the page's thread."""
        metrics = {each["name"]: each["value"] for each in self._session.send("Performance.getMetrics")["metrics"]}
        return processor_ms(self._server) + 1000 * metrics["TaskDuration"]

    def changed(self, name: str, value: str, place: str = "[aria-label=Workbench] .plot") -> Change:
        """How long a change at a control takes until the figure is drawn anew; ends with what there is, if it cannot be made."""
        before = self.used()
        try:
            wall = self.page.evaluate(CHANGE, [name, value, place])
        except Error as error:
            # What the page says, without the place in the script above.
            sys.exit(error.message.partition("Error: ")[2].partition("\n    at ")[0] or error.message)
        return Change(wall, self.used() - before)


@dataclass(frozen=True)
class Change:
    """Milliseconds of a change, and of processors."""

    wall: float
    used: float


@contextmanager
def explorer(folder: Path) -> Iterator[Watched]:
    """A page of an explorer that has just been started."""
    with page_of(folder, 600_000, WATCH) as (page, served):
        yield Watched(page, served.process.pid)


def shown(page: Page, address: str, *what: str) -> dict[str, float]:
    """When parts of a page were there, in milliseconds."""
    page.goto(address)
    for name in what:
        page.wait_for_function("(name) => window.shown[name] > 0", arg=name)
    return page.evaluate("window.shown")


def of_results(results: Path) -> list[list[str]]:
    """Pages and changes of the study's results."""
    with explorer(results.parent) as watched:
        page, changed = watched.page, watched.changed
        here = f"/results?of={results.parent.name}/{results.name}"
        cold = shown(page, here, "figure")
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        meanwhile = [changed("Bw", f"={level}") for level in LEVELS[:3]]
        early = [changed(MEASURE, measure) for measure in EARLY]
        is_judged = page.locator("summary", has_text="claims")
        if is_judged.count():
            sys.exit("verdicts were there before all changes that were to be made meanwhile")
        is_judged.wait_for()
        judged = page.evaluate("performance.now()")
        warm = [shown(page, here, "figure", "verdicts") for _ in range(5)]
        levels = [changed("Bw", f"={level}") for level in LEVELS[3:]]
        places = [
            changed("N", "curves"),
            changed("Tp", "x"),
            changed("D", "=100 ms"),
            changed("Bw", "panels"),
            changed("arm", "curves"),
        ]
        measures = [changed(MEASURE, measure) for measure in MEASURES]
    found: list[tuple[str, Any]] = [
        ("first page, cold: the browser's first paint", painted),
        ("first page, cold: the question is there", cold["question"]),
        ("first page, cold: the workbench's figure is drawn", cold["figure"]),
        ("first page, cold: verdicts are there", judged),
        ("page, warm: the question is there", statistics.median(each["question"] for each in warm)),
        ("page, warm: the workbench's figure is drawn", statistics.median(each["figure"] for each in warm)),
        ("page, warm: verdicts are there", statistics.median(each["verdicts"] for each in warm)),
        (f"another level of a factor, while verdicts are made: median of {len(meanwhile)}, and the longest", meanwhile),
        (f"another measure, while verdicts are made: median of {len(early)}, and the longest", early),
        (f"another level of a factor: median of {len(levels)}, and the longest", levels),
        (f"a factor to another place: median of {len(places)}, and the longest", places),
        (f"another measure, not asked for before: median of {len(measures)}, and the longest", measures),
    ]
    return [[name, *told(value)] for name, value in found]


def of_rows(results: Path) -> list[list[str]]:
    """Pages of a table of many rows."""
    with explorer(results.parent) as watched:
        page = watched.page
        here = f"/results?of={results.parent.name}/{results.name}"
        cold = shown(page, here, "question")
        opened = watched.changed("Table", "series" if "series" in page.content() else "flows", "main")
        page.locator("section.scroll[aria-busy] td").first.wait_for()
        later = [page.evaluate(PRESS, "Later") for _ in range(3)]
        by = [page.evaluate(PRESS, name) for name in ("cell", "cell ↑", "arm")]
        total = page.locator("span.faint", has_text=" of ").first.inner_text().rpartition(" ")[2]
    return [
        [f"page of results of {total} rows, cold: the question is there", *told(cold["question"])],
        ["their table, opened", *told(opened)],
        ["its next 100 rows: median of 3, and the longest", *told(later)],
        ["its rows sorted by another column: median of 3, and the longest", *told(by)],
    ]


def told(value: float | Change | list[float] | list[Change]) -> tuple[str, str]:
    """Milliseconds, and those of processors where they are known: one, or the median and the longest."""
    some = value if isinstance(value, list) else [value]
    walls = [each.wall if isinstance(each, Change) else each for each in some]
    return _of(walls), _of([each.used for each in some if isinstance(each, Change)])


def _of(values: list[float]) -> str:
    if len(values) < 2:
        return "".join(f"{value:.0f}" for value in values)
    return f"{statistics.median(values):.0f}, {max(values):.0f}"


if __name__ == "__main__":
    main()
