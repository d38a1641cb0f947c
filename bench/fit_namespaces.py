"""A kernel of this machine, between network namespaces in real time, captured, fitted and simulated.

    .venv/bin/python bench/fit_namespaces.py --write        (docs/validation/fit-namespaces.md and its figure)

The rule, which was committed before any of these was captured:

- One flow sends all it can for 20 s over 10 Mbit/s, 20 ms each way and 60 packets of drop-tail, between two namespaces of this machine (`sawtooth run --backend netns --pcap`), with each congestion
  control that its kernel has of those that are compared. Seed 1. Nothing was tuned on these, and each is captured once.
- The study that is fitted is simulated with seed 1, and both are held against each other by what a capture at the sender analyses to, of either.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages import publish, table
from sawtooth import captures, fitting, taps
from sawtooth.api import simulate
from sawtooth.backends import netns
from sawtooth.plan import make_plan
from sawtooth.study import Study

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FIGURE = DOCS / "validation/fit-namespaces.md", DOCS / "images/fit-namespaces.png"
SHOWN = "cubic"
"""Of which the figure is."""
RATE_MBPS, DELAY_MS, PACKETS, DURATION_S = 10, 40, 60, 20
_RESOLUTION = 110
_AGAIN = """**These are not the first ones.** The rule has each captured once. The first, on a machine that was busy nine times over, had no buffer told of reno and cubic, a wrong one of BBR, and BBR not named:
packets that wait for a processor look like a longer queue. They were taken again on 27 November, and twice on 29 November; this is the last, and on the machine nothing else was begun meanwhile. `fit` has changed between: a
buffer is told a packet less, for what Linux holds back of acknowledgements with SACK; and where packets that were sent together do not arrive at one rate, buffer and loss are unknown. With that all three buffers were untold
on 29 November, of 60 packets each. Now three quarters have to arrive within 2 % of one rate. At first that was one half: of six other captures, of a busy machine, of other rates and buffers, one was untold and two told of more room
than there was. Of these six three quarters leave two, told to the packet; whether it is right for others was not tried. Here it tells one buffer of three, rightly."""


@dataclass(frozen=True)
class Fitted:
    """A capture, its fit, and the capture of the study that was fitted, simulated; both flows as `sawtooth analyze` tells them."""

    control: str
    fit: fitting.Fit
    measured: dict[str, Any]
    simulated: dict[str, Any]


def fitted(control: str, directory: Path) -> Fitted:
    """Captures a real kernel, fits, and simulates."""
    link = {
        "rate": f"{RATE_MBPS} Mbit/s",
        "delay": f"{DELAY_MS / 2} ms",
        "queue": {"name": "drop_tail", "limit": f"{PACKETS} packets"},
    }
    text = json.dumps({"duration": f"{DURATION_S} s", "cc": f"kernel:{control}", "links": {"l": link}, "flows": [{"path": ["l"]}]})
    real, again = directory / f"{control}.pcapng", directory / f"{control}-simulated.pcapng"
    order = taps.wanted(real, on_kernels=True).of_scenario(text, [])
    batch = netns.run_batch([text], [1], [order])
    assert batch.errors == {}, batch.errors
    capture = captures.read(real)
    found = fitting.fit(capture, captures.choose(capture, [])[0])
    plan = make_plan(Study.parse(found.study, Path("fitted.toml")))
    simulate(json.loads(plan.runs[0].scenario), seed=1, captures=taps.wanted(again))
    return Fitted(control, found, _row(capture), _row(captures.read(again)))


def _row(capture: captures.Capture) -> dict[str, Any]:
    return capture.flows.row(0, named=True)


def page(lot: Sequence[Fitted], load: float) -> str:
    """What is written; `load`: how many processes had or wanted a processor meanwhile, on average."""
    assert __doc__
    rule = __doc__.split("captured:\n\n")[1].strip()
    return f"""<!-- Written by bench/fit_namespaces.py --write; edit that. -->

# A capture of this machine's kernel, fitted and simulated

Linux {netns.release()} between two network namespaces, in real time. The rule, which was committed before any of these was captured:

{rule}

![Bytes in flight and rate over time, of a capture of this machine's kernel and of the nearest simulations](../images/{FIGURE.name})

The figure is that of `{SHOWN}`, as `sawtooth fit --figure` draws it.

{_AGAIN}

## What was found

{_found(lot)}

## What the fitted study does, simulated

{_beside(lot)}

`simulated` is one run of the study that was fitted, as `sawtooth simulate fitted.toml --pcap` captures it. Meanwhile {load:.1f} processes wanted one of the machine's {os.cpu_count()} processors: where that is
more than one for each, packets and acknowledgements wait at hosts that have other things to do, which looks like a longer queue, and a buffer is told too large or not at all.
"""


def _found(lot: Sequence[Fitted]) -> str:
    rows = [
        [
            each.control,
            *(
                _estimate(getattr(each.fit.path, name), scale)
                for name, scale in (("rate_bps", 1e6), ("delay_s", 1e-3), ("buffer_packets", 1))
            ),
            each.fit.control.name or "cannot tell",
            ", ".join(f"{name} {far:.1%}" for name, far in list(each.fit.control.distances.items())[:3]),
        ]
        for each in lot
    ]
    made = ["", f"{RATE_MBPS}", f"{DELAY_MS}", f"{PACKETS}", "", ""]
    header = ["Kernel's", "rate, Mbit/s", "delay both ways, ms", "buffer, packets", "named", "how far away"]
    return table(header, [["as it was made", *made[1:]], *rows], "lrrrll")


def _estimate(found: fitting.Estimate, scale: float) -> str:
    value = "cannot tell" if found.value is None else f"{found.value / scale:.4g}"
    return f"{value} ({found.low / scale:.4g} to {found.high / scale:.4g})"


def _beside(lot: Sequence[Fitted]) -> str:
    rows = [
        [
            each.control,
            words,
            f"{row['goodput_bps'] / 1e6:.3f}",
            f"{row['srtt_mean_ns'] / 1e6:.1f}",
            f"{row['retransmits']:,}",
        ]
        for each in lot
        for words, row in (("measured", each.measured), ("simulated", each.simulated))
    ]
    return table(["", "", "goodput, Mbit/s", "mean round trip, ms", "sent again"], rows, "llrrr")


def main() -> None:
    """Captures, fits, simulates, and prints or writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} and {FIGURE.name} rather than print the page")
    options = parser.parse_args()
    controls = [name for name in fitting.CONTROLS if name in netns.congestion_controls()]
    with tempfile.TemporaryDirectory() as directory:
        lot = [fitted(control, Path(directory)) for control in controls]
    load = os.getloadavg()[1]
    if options.write:
        (shown,) = (each for each in lot if each.control == SHOWN)
        fitting.figure(replace(shown.fit, name=f"{SHOWN}.pcapng")).savefig(FIGURE, dpi=_RESOLUTION)
    publish(page(lot, load), PAGE, write=options.write)


if __name__ == "__main__":
    main()
