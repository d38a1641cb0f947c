"""`heatmap`: what replicates are together in each cell of a grid of two dimensions, as a colour and, where there is room, as a number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from sawtooth import estimates
from sawtooth.design import NOT_SET
from sawtooth.estimates import Estimate, counted
from sawtooth.figures import shown
from sawtooth.figures.data import Data, Panel
from sawtooth.figures.levels import row
from sawtooth.figures.spec import Drawn, Kind
from sawtooth.measures import Measure
from sawtooth.questions import Reader
from sawtooth.study.keys import Key

CENTRE = Key(
    "centre",
    "quantity",
    "none",
    "what colours are symmetrical around: `0` of differences, `1` of ratios, whose colours are then logarithmic",
)


def read(reader: Reader, tree: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The centre, and whether colours are of logarithms by themselves."""
    if "centre" not in tree:
        return {}
    measure: Measure = reader.measure(dict(tree), path)
    # Nothing is nothing in all units.
    centre = 0.0 if str(tree["centre"]) in ("0", "0.0") else reader.in_unit(tree["centre"], measure, f"{path}.centre")
    # Twice and half are equally far from 1.
    ratio = centre == 1 and not measure.unit and "scale" not in tree
    if (ratio or tree.get("scale") == "log") and centre <= 0:
        raise reader.error("a logarithmic scale has no centre at 0 or below", f"{path}.centre", 'leave out scale = "log"')
    return {"centre": centre, "ratio": ratio}


def draw(data: Data) -> Drawn:
    """The figure."""
    from sawtooth.plots import heatmap

    divisor, unit = data.unit
    x, y = data.places["x"], data.places["y"]
    levels = data.order(x), data.order(y)
    panels = data.panels()
    rows: list[dict[str, object]] = []
    grids: list[list[list[Estimate | None]]] = []
    for panel in panels:
        grid: list[list[Estimate | None]] = []
        for upwards in levels[1]:
            line: list[Estimate | None] = []
            for across in levels[0]:
                group = panel.frame.filter((pl.col(x) == across) & (pl.col(y) == upwards))
                found = data.estimate(group)
                line.append(found and found.over(divisor))
                if found is not None:
                    rows.append({**shown.place(data, panel, ""), x: across, y: upwards, **row(found)})
            grid.append(line)
        grids.append(grid)
    cells = [cell for grid in grids for line in grid for cell in line]
    known = [cell for cell in cells if cell is not None and cell.n > cell.unknown]
    ratio = bool(data.spec.options.get("ratio"))
    scale, note = shown.scale(data, [value for cell in known for value in cell.values], log=ratio)
    centre = data.spec.options.get("centre")
    picture = partial(
        heatmap.estimates, grids, shown.titles(panels), levels,
        (data.x_label, y, data.label(data.spec.label, data.measure, unit)),
        heatmap.Colours(scale, None if centre is None else centre / divisor),
    )  # fmt: skip
    signs = " or ".join(dict.fromkeys(heatmap.SIGNS[cell.bound].strip() for cell in known if cell.bound in heatmap.SIGNS))
    said = estimates.said(known, data.spec.statistic, mark=f"Hatched thinly, with {signs}")
    text = shown.sentences(
        said,
        _centred(known, centre, divisor, unit, logs=scale == "log"),
        _missing(data, panels, levels, len(cells) - len(known)),
        note,
        shown.pooling(data),
    )
    return Drawn(picture, text, shown.in_units(pl.DataFrame(rows, infer_schema_length=None), unit=data.measure.unit))


def _centred(known: list[Estimate], centre: float | None, divisor: float, unit: str, *, logs: bool) -> str:
    """What colours are around, and what brackets mean."""
    if centre is None:
        return ""
    at = f"{centre / divisor:g} {unit}".strip() if centre else "0"
    held = sum(not cell.interval.excludes(centre / divisor) for cell in known)
    brackets = f" In brackets: {held} of {len(known)} cells whose interval holds {at}, or that have none." if held else ""
    return f"Colours are symmetrical around {at}{', in logarithms' if logs else ''}.{brackets}"


def _missing(data: Data, panels: list[Panel], levels: tuple[list[str], list[str]], missing: int) -> str:
    """How many cells have no value, and what lacks: runs, or rows of a reference."""
    if not missing:
        return ""
    references = sorted({found for found in re.findall(r"\breferences?\.(\w+)", data.measure.name) if found in data.references})
    references = references or sorted(data.references) if re.search(r"\breferences?\.", data.measure.name) else []
    x, y = data.places["x"], data.places["y"]
    plan = data.evaluator.plan.with_columns(pl.col(name).fill_null(NOT_SET) for name in data.factors)
    without_row = 0
    if references and x in plan.columns and y in plan.columns:
        plan = replace(data.spec.choice, of=()).select(plan)
        for panel in panels:
            there = plan
            for place in ("rows", "panels"):
                dimension = data.places.get(place)
                if dimension in plan.columns and panel.frame.height:
                    there = there.filter(pl.col(dimension) == panel.frame[dimension][0])
            ran, told = (set(frame.select(x, y).unique().iter_rows()) for frame in (there, panel.frame))
            without_row += len({cell for cell in ran - told if cell[0] in levels[0] and cell[1] in levels[1]})
    parts = [
        (without_row, f"of which {' or '.join(f'`{name}`' for name in references)} has no row"),
        (missing - without_row, "of which no run tells it"),
    ]
    told = " and ".join(f"{counted({n}, 'cell')} {why}" for n, why in parts if n > 0)
    return f"Grey and hatched: {told}."


KIND = Kind(
    "heatmap", "what replicates are together in each cell of `x` by `y`, as a colour and a number; with a `centre` for differences and ratios",
    ("x", "y", "panels", "rows"), draw, (CENTRE,), read,
)  # fmt: skip
