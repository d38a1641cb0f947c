"""An animation as one page: the drawing, its data, and the player, which asks nothing of anybody."""

from __future__ import annotations

import html
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sawtooth.animation import still
from sawtooth.animation.film import FATES, KINDS, Film, backlog, first_drop_ns
from sawtooth.animation.network import Line
from sawtooth.counted import counted

_CROSSING_SECS = 1.2
"""How long a packet is seen on the longest link."""
_FALL_SECS = 0.6
_STEPS = 2
_KEYS = (("Space", "play, pause"), ("← →", "a little back or on; with Shift ten times more"), (", .", "to the event before or after"),
         ("l", "to the next loss"), ("+ -", "faster, slower"), ("Home End", "to the begin or the end"))  # fmt: skip
_SAMPLE = '<svg viewBox="0 0 26 12" aria-hidden="true">{}</svg>'
_SIGNS = (
    ('<line class="packet c0" x1="3" y1="6" x2="23" y2="6" stroke-width="7"/>', "data, as long as its transmission"),
    ('<line class="packet c0" x1="9" y1="6" x2="15" y2="6" stroke-width="3.5"/>', "acknowledgement"),
    (
        '<line class="again" x1="3" y1="6" x2="23" y2="6" stroke-width="11"/><line class="packet c0" x1="3" y1="6" x2="23" y2="6" stroke-width="7"/>',
        "sent again",
    ),
    ('<rect class="fallen c0" x="9" y="2" width="8" height="8"/>', "dropped or lost"),
)


def speed_of(film: Film) -> float:
    """Seconds of the run that pass in one second, so that a packet is seen on its way; of 1, 2 and 5."""
    crossing = film.packets.select((pl.col("delivered_ns") - pl.col("started_ns")).quantile(0.95)).item()
    return _round((crossing or (film.end - film.begin) * 1e8) / 1e9 / _CROSSING_SECS)


def _round(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return power * min((1, 2, 5, 10), key=lambda digit: abs(math.log(value / (digit * power))))


def speeds(chosen: float) -> list[float]:
    """Those that the page offers, slowest first."""
    found = {chosen, *(_round(chosen * 2.0**step) for step in range(-2 * _STEPS, 2 * _STEPS + 1))}
    return sorted(found)


@dataclass(frozen=True)
class Parts:
    """What a player needs, whoever's page it is in.

    Attributes:
        body: elements: the drawing, its controls, its legend.
        data: the film, as the player reads it.
        said: of it, in words.

    """

    body: str
    data: dict[str, Any]
    said: str

    def facts(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def parts(film: Film, title: str, speed: float) -> Parts:
    """The drawing of a film, with what a player does with it; one second shows `speed` seconds of the run."""
    peak = still.peaks(film)
    moment = first_drop_ns(film)
    fall = _FALL_SECS * speed * 1e9
    # A moment after the loss, so that it is seen to fall.
    shown = moment + 0.3 * fall
    links = counted(len(film.network.lines), "link")
    inside = (
        f'<title id="what">{html.escape(title)}: packets on {links} at {shown / 1e9:.6g} s</title>'
        f'{still.standing(film.network, peak)}\n<g id="moving">{still.moving(film, shown, fall)}</g>'
    )
    said = [*film.left_out, f"{counted(film.packets.height, 'arrival')} of packets at links"]
    colours = [f'<li><svg viewBox="0 0 26 12" aria-hidden="true"><rect class="key c{at % still.COLOURS}" x="3" y="1" width="20" height="10"/></svg>{html.escape(name)}</li>'
               for at, name in enumerate(film.flows[:12])]  # fmt: skip
    more = [f"<li>... and {len(film.flows) - 12} more flows; colours come again</li>"] if len(film.flows) > 12 else []
    signs = [f"<li>{_SAMPLE.format(sign)}{words}</li>" for sign, words in _SIGNS]
    options = "".join(
        f'<option value="{value:g}"{" selected" if value == speed else ""}>1 s shows {_time(value)}</option>' for value in speeds(speed)
    )
    keys = "".join(f"<dt>{' '.join(f'<kbd>{key}</kbd>' for key in names.split())}</dt><dd>{does}</dd>" for names, does in _KEYS)
    body = f"""<div class="film"><div class="stage" tabindex="0" role="group" aria-label="the network">{still.picture(film, inside)}</div>
<div class="controls" data-live hidden>
<button type="button" id="play" aria-pressed="false">Play</button><button type="button" id="start">From the start</button><button type="button" id="back" aria-label="to the event before">&lt;</button><button type="button" id="next" aria-label="to the next event">&gt;</button><button type="button" id="loss">Next loss</button>
<label>Speed <select id="speed">{options}</select></label><output id="clock"></output>
</div>
<noscript><p class="faint">Without scripts this is a still.</p></noscript>
<div class="time">{_overview(film, peak)}<input id="scrub" data-live hidden type="range" min="0" max="1" step="any" value="0" aria-label="time"></div>
<ul class="legend">{"".join([*colours, *more, *signs])}</ul>
<details id="packets" data-live hidden><summary>The packets of this moment, as a table</summary><p id="listed" role="status"></p><div class="scroll" tabindex="0"><table><thead><tr><th>link</th><th>direction</th><th>flow</th><th>packet</th><th>number</th><th>size</th><th>where</th></tr></thead><tbody id="list"></tbody></table></div></details>
<details data-live hidden><summary>Keys</summary><dl>{keys}</dl></details></div>"""
    return Parts(body, _data(film, peak, speed, shown), f"{'; '.join(said)}. Data go above a link's line, what comes back below it.")


def page(film: Film, title: str, question: str, speed: float) -> str:
    """The whole file."""
    made = parts(film, title, speed)
    data = json.dumps(made.data, separators=(",", ":")).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{html.escape(title)}</title>
<style>
{_beside("player.css")}{_beside("film.css")}</style>
</head>
<body>
<h1>{html.escape(title)}</h1>
<p class="faint">{html.escape(question)}</p>
<p class="faint">{html.escape(made.said)}</p>
{made.body}
<script type="application/json" id="film">{data}</script>
<script type="module">
{_beside("player.js")}player(JSON.parse(document.getElementById("film").textContent), document, window);
</script>
</body>
</html>
"""


def _beside(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _time(secs: float) -> str:
    scale, unit = next(
        (scale, unit) for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if secs >= scale or scale == 1e-9
    )
    return f"{secs / scale:g} {unit}"


def _data(film: Film, peak: list[list[int]], speed: float, shown: float) -> dict[str, Any]:
    begin = round(film.begin * 1e9)
    packets = film.packets.with_columns(
        (pl.col("direction") == "reverse").cast(pl.Int64).alias("way"),
        pl.col("kind").replace_strict({kind: at for at, kind in enumerate(KINDS)}, return_dtype=pl.Int64),
        pl.col("fate").replace_strict({fate: at for at, fate in enumerate(FATES)}, return_dtype=pl.Int64),
        pl.col("arrived_ns") - begin,
        # What did not happen stays null: a number below 0 is of what happened before the film begins.
        *(pl.col(name) - begin for name in ("dropped_ns", "started_ns", "sent_ns", "delivered_ns")),
    )
    columns = (
        "line",
        "way",
        "of",
        "kind",
        "number",
        "bytes",
        "retransmission",
        "marked",
        "fate",
        "arrived_ns",
        "dropped_ns",
        "started_ns",
        "sent_ns",
        "delivered_ns",
    )
    return {
        "begin": begin,
        "end": round(film.end * 1e9) - begin,
        "still": shown - begin,
        "speed": speed,
        "flows": film.flows,
        "kinds": KINDS,
        "fates": FATES,
        "lines": [_line(film, at, line, peak[at]) for at, line in enumerate(film.network.lines)],
        "packets": [list(row) for row in packets.select(columns).iter_rows()],
        "sizes": {
            "lane": still.LANE,
            "queue_from": still.QUEUE_FROM,
            "queue_width": still.QUEUE_WIDTH,
            "shortest": still.SHORTEST,
            "fall": still.FALL,
            "thick": still.THICK,
            "rim": still.RIM,
            "colours": still.COLOURS,
        },
    }


def _line(film: Film, at: int, line: Line, peak: list[int]) -> dict[str, Any]:
    begin = round(film.begin * 1e9)
    rows = film.packets.filter((pl.col("line") == at) & (pl.col("fate") == "dropped") & (pl.col("dropped_ns") >= begin))
    told: list[tuple[float, float, str] | None] = []
    for way, held in enumerate(peak):
        x, y, up = still.queue_place(line, way)
        high = still.slice_height(line, held) * held
        beside = (x - 3, "end") if way else (x + still.QUEUE_WIDTH + 3, "start")
        told.append((beside[0], y + up * high + (4 if up > 0 else 8), beside[1]) if held > 1 and line.room >= 30 else None)
    return {
        "name": line.name,
        "x1": line.x1,
        "y1": line.y1,
        "x2": line.x2,
        "y2": line.y2,
        "delays": [delay * 1e9 for _, delay in line.ways],
        "queues": [still.queue_place(line, way) for way in (0, 1)],
        "slices": [still.slice_height(line, held) for held in peak],
        "drops": [sorted((rows.filter(direction=way)["dropped_ns"] - begin).to_list()) for way in ("forward", "reverse")],
        "told": told,
    }


def _overview(film: Film, peak: list[list[int]]) -> str:
    """The longest queue over the stretch of time, and when something was lost."""
    at, way = max(((at, way) for at in range(len(peak)) for way in (0, 1)), key=lambda which: peak[which[0]][which[1]])
    most, begin, span = max(peak[at][way], 1), film.begin * 1e9, (film.end - film.begin) * 1e9
    times, held = backlog(film.packets, at, ("forward", "reverse")[way])
    points, x, y = ["M0 40"], 0.0, 40.0
    for time, number in zip(times, held, strict=True):
        after = 1000 * max(0.0, min(1.0, (time - begin) / span))
        level = 40 - 30 * number / most
        # What cannot be seen beside the point before is left out, but for the highest.
        if after - x >= 0.5 or abs(level - y) >= 10:
            points.append(f"H{after:.1f}V{level:.1f}")
            x, y = after, level
    lost = film.packets.filter(pl.col("fate").is_in(["dropped", "lost"]))
    moments = lost.select(t=pl.coalesce("dropped_ns", "started_ns"))["t"]
    ticks = sorted({round(1000 * (time - begin) / span, 1) for time in moments.to_list() if begin <= time <= begin + span})
    marks = "".join(f"M{tick:g} 2V9" for tick in ticks)
    name = f"Queue of {film.network.lines[at].name}, at most {most} packets, over time; red: losses"
    return (
        f'<svg viewBox="0 0 1000 44" preserveAspectRatio="none" role="img" aria-label="{html.escape(name)}"><title>{html.escape(name)}</title>'
        f'<path class="curve" d="{"".join(points)}H1000"/><path class="lost" d="{marks}"/><line class="now" id="now" x1="0" y1="0" x2="0" y2="44"/></svg>'
    )
