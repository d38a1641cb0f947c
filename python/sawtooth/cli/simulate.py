"""`sawtooth simulate`: one run, once."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson, NoFiles, Options, Pcap, PcapAt, Short, Snap, StudyPath


def simulate(
    study: StudyPath,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**64 - 1, help="Seed of the run; by default the one that `sawtooth run` gives it.")
    ] = None,
    table: Annotated[str, typer.Option(help="flows, links or another that the run has.")] = "flows",
    pcap: Pcap = None,
    pcap_at: PcapAt = None,
    snap: Snap = None,
    short: Short = False,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Run the first run of a study once and print a table of it: in units that are easy to read on a terminal, as it is recorded elsewhere.

    Example: sawtooth simulate hstcp --set vars.Bw='1 Mbit/s'

    Example: sawtooth simulate hstcp --short --pcap /tmp/hstcp.pcapng
    """
    import polars as pl

    from sawtooth import api
    from sawtooth.arguments import encodable
    from sawtooth.cli import captured, simulate_text, studies
    from sawtooth.cli.output import print_json, upright
    from sawtooth.errors import RunFailed, StudyError
    from sawtooth.plan import make_plan

    wanted = captured.wanted(pcap, pcap_at, snap)
    made = studies.warn(make_plan(studies.load(study, short, options, None, no_files)))
    first = made.runs[0]
    records = api.simulate(json.loads(first.scenario), seed=first.seed if seed is None else seed, captures=wanted)
    captured.tell(wanted)
    try:
        # What is no text is no table's name either.
        frame = records.table(table if encodable(table) else ascii(table))
    except RunFailed as error:
        # Whoever asks for a table of a study that does not run has made a mistake in the command.
        hint = error.hint or ""
        here = ", or --set sample='100 ms' to this command" if hint.startswith("add sample") else ""
        raise StudyError(error.message, hint=f"{hint}{here}") from None
    if as_json:
        print_json(frame.to_dicts())
        return
    if sys.stdout.isatty():
        simulate_text.show(table, frame)
        return
    with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_width_chars=200,
                   tbl_formatting="NOTHING", fmt_str_lengths=40):  # fmt: skip
        print(upright(frame) if frame.height <= simulate_text.MOST_UPRIGHT else frame)
    if {"throughput_bps", "goodput_bps"} <= {*frame.columns}:
        print(
            "From a flow's start to the end of the run: throughput_bps of whole segments that were acknowledged, goodput_bps of all that was delivered."
        )
