"""What `sawtooth trace --layers` draws and prints."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from sawtooth import called
from sawtooth import layers as ways
from sawtooth.cli.output import print_json
from sawtooth.plan import Plan, Run
from sawtooth.plots import style, swim_lanes


def show(
    made: Plan, run: Run, flows: list[str] | None, message: int | None, span: tuple[float, float] | None, directory: Path, *, as_json: bool
) -> None:
    """Draws a message of a run on its way through all layers, and prints its packets and stalls."""
    view = ways.view(*ways.take(made, run, flows), message, span)
    number = view.message["message"] if view.message else 1
    name = f"layers-{called.name(made, run)}" + (f"-message-{number}" if number != 1 else "")
    title = [called.title(made, run), view.title]
    drawn = swim_lanes.layers(view.events, view.packets, view.waits, (view.begin, view.end), view.origin, title, view.message)
    style.write(drawn, directory, name)
    times = view.times()
    view.write(directory, name, f"layers-{called.name(made, run)}-messages")
    if as_json:
        print_json({"run": run.index, "figure": str(directory / f"{name}.svg"), "origin_ns": view.origin, "message": view.message,
                     "stalls": view.stalls().to_dicts(), "packets": times.to_dicts()})  # fmt: skip
        return
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_width_chars=250,
                   fmt_str_lengths=100, tbl_formatting="NOTHING", tbl_cell_numeric_alignment="RIGHT"):  # fmt: skip
        if view.message:
            print(f"{view.title}\n")
        if view.message and view.message["copied"] is not None:
            print("Its last byte, us since the write:")
            percent = (pl.col("share") * 100).map_elements(lambda share: f"{share:.1f} %", return_dtype=pl.String)
            print(_tenths(view.parts().with_columns(share=percent.fill_null(""))))
            print()
        since = "the write" if view.message else "the run began"
        if view.waits.height:
            print(f"Stalls of the sending socket, us since {since}:")
            print(_tenths(view.stalls()))
            print()
        print(f"Packets, us since {since}:")
        print(_tenths(times))
    print(f"figure: {directory / name}.svg")


def _tenths(table: pl.DataFrame) -> pl.DataFrame:
    """Its numbers as text with one decimal; what is not known is empty."""
    text = pl.col(pl.Float64).map_elements(lambda value: f"{value:.1f}", return_dtype=pl.String).fill_null("")
    return table.with_columns(text.str.pad_start(text.str.len_chars().max()))
