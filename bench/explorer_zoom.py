"""How fast the explorer's page of a run zooms over a million points: a run of 1 Gbit/s in Chromium, without a graphics card.

    .venv/bin/python bench/explorer_zoom.py

The page is zoomed at each frame, in and out about a moment, by the wheel. Printed are points of the run, how long the page took to show them, and the frames: how many a second
there were, and how long all panels took to be drawn, median and 95th percentile.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import sawtooth
from bench.shown import page_of

STUDY = """
name = "million"
question = "Does a run of a million points zoom without lag?"

[scenario]
duration = "{seconds} s"
stack = "linux"
links.l = {{ rate = "1 Gbit/s", delay = "5 ms", queue = {{ name = "drop_tail", limit = "0.5 bdp" }} }}
flows = [{{ path = ["l"], cc = "cubic" }}]
"""
COLUMNS = """async () => {
  const content = await (await fetch('/api/run/series?of=lab/results&run=0')).arrayBuffer();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, new DataView(content).getUint32(0, true)))).columns;
}"""
ZOOM = """async (frames) => {
  const plot = document.querySelector('.panel .u-over');
  const box = plot.getBoundingClientRect();
  const drawn = [], times = [];
  for (let at = 0; at <= frames; at++) {
    const deltaY = Math.floor(at / 40) % 2 ? 1 : -1;
    plot.dispatchEvent(new WheelEvent('wheel', {deltaY, ctrlKey: true, clientX: box.left + box.width * 0.6, bubbles: true, cancelable: true}));
    // The page draws in the frame that it asked for first; what is asked for now comes behind it.
    const begun = await new Promise((go) => requestAnimationFrame(go));
    await Promise.resolve();
    await new Promise((go) => setTimeout(go, 0));
    drawn.push(performance.now() - begun);
    times.push(begun);
  }
  return {drawn, times};
}"""


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=26, help="of the run")
    parser.add_argument("--frames", type=int, default=160)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sawtooth-") as name:
        folder = Path(name) / "lab"
        folder.mkdir()
        (folder / "million.toml").write_text(STUDY.format(seconds=given.seconds))
        sawtooth.run(folder / "million.toml", folder / "results")
        with page_of(folder, 120_000) as (page, _):
            begun = time.perf_counter()
            page.goto("/run?of=lab/results&run=0")
            page.locator(".panel canvas").first.wait_for()
            shown = time.perf_counter() - begun
            columns = page.evaluate(COLUMNS)
            found = page.evaluate(ZOOM, given.frames)
    drawn, times = sorted(found["drawn"]), found["times"]
    numbers = sum(count for _, count in columns.values())
    acks = columns["flow t"][1]
    print(f"{acks:,} acknowledgements, {numbers:,} numbers in {len(columns)} columns; shown after {shown:.1f} s")
    rate = (len(times) - 1) / (times[-1] - times[0]) * 1000
    print(
        f"{len(drawn)} frames, {rate:.0f} a second; drawn in {drawn[len(drawn) // 2]:.1f} ms (95 %: {drawn[int(0.95 * len(drawn))]:.1f} ms)"
    )


if __name__ == "__main__":
    main()
