"""`sawtooth trace`: one run, drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson, Backend, NoFiles, Options, Pcap, PcapAt, Short, Snap, StudyPath

_START = "0 s"


def trace(
    study: StudyPath,
    number: Annotated[int | None, typer.Option("--run", min=0, help="Run by its number in the plan.", show_default="the first")] = None,
    cell: Annotated[int | None, typer.Option(min=1, help="The first run of this cell.", show_default=False)] = None,
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="The first run of this arm.", show_default=False)] = None,
    replicate: Annotated[int | None, typer.Option(min=1, help="The first run that is this replicate.", show_default=False)] = None,
    flows: Annotated[
        list[str] | None, typer.Option("--flow", metavar="NAME", help="May be repeated.", show_default="the first six")
    ] = None,
    links: Annotated[
        list[str] | None, typer.Option("--link", metavar="NAME", help="May be repeated.", show_default="those with the longest queues")
    ] = None,
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="Draw from here on.")] = _START,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Draw up to here.", show_default="the end")] = None,
    layers: Annotated[
        bool, typer.Option("--layers", help="A message of a flow with hosts through all layers, as a table and as swim lanes.")
    ] = False,
    message: Annotated[
        int | None, typer.Option(min=1, help="With --layers: which message of the flow, by its number.", show_default="the first")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where trace-run-N.svg and .png go.", show_default="results/NAME/trace")
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what senders sent, got and knew as qlog: FILE.qlog for qvis (qlog 0.3), FILE.sqlog as the newest draft has it.",
            show_default=False,
        ),
    ] = None,
    flent: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write rates and round-trip times over time for flent: FILE.flent.gz.", show_default=False),
    ] = None,
    pcap: Pcap = None,
    pcap_at: PcapAt = None,
    snap: Snap = None,
    short: Short = False,
    backend: Backend = None,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Do one run of a study once more and draw its windows, round-trip times and queues over time.

    Nothing is stored but the figure. `sawtooth simulate --set sample='100 ms' --table series` prints such numbers, of the first run.

    Example: sawtooth trace hstcp --cell 193 --arm highspeed --to '30 s'

    Example: sawtooth trace hstcp --short --qlog /tmp/hstcp.qlog
    """
    from sawtooth import called, fates
    from sawtooth import trace as traces
    from sawtooth.backends.registry import BACKENDS
    from sawtooth.cli import captured, layers_text, studies
    from sawtooth.cli.output import print_json
    from sawtooth.counted import counted
    from sawtooth.errors import StudyError
    from sawtooth.exports import flent_file
    from sawtooth.exports import qlog as qlogs
    from sawtooth.plan import make_plan
    from sawtooth.plots import style

    made = make_plan(studies.load(study, short, options, backend, no_files))
    if qlog is not None:
        qlogs.require_file(qlog, made.study.backend, made.study.path)
    if flent is not None:
        flent_file.require_file(flent, made.study.path)
    wanted = captured.wanted(pcap, pcap_at, snap, made)
    run = traces.choose(made, traces.Which(number, cell, arm, replicate))
    span = traces.span(begin, end, run)
    directory = out or made.study.directory() / "trace"
    if layers:
        if wanted:
            raise StudyError("--layers captures nothing", hint="leave out --pcap")
        if qlog is not None or flent is not None:
            raise StudyError("--layers writes nothing for other programs", hint=f"leave out {'--flent' if qlog is None else '--qlog'}")
        if links:
            raise StudyError("--layers draws no links", hint="leave out --link")
        layers_text.show(made, run, flows, message, span if begin != _START or end is not None else None, directory, as_json=as_json)
        return
    if message is not None:
        raise StudyError("--message is for --layers", hint="a message's way through the layers is shown with both")
    backend_of_study = BACKENDS[made.study.backend].load()
    taken = traces.take(made, run, backend_of_study, wanted)
    captured.tell(wanted)
    if qlog is not None:
        events = qlogs.write(made, run, qlog, flows or ())
        print(f"qlog: {qlog}, {counted(events, 'event')}", file=sys.stderr)
    if flent is not None:
        test = flent_file.write(taken, called.title(made, run), flent, flows or ())
        print(f"flent: {flent}, test {test}", file=sys.stderr)
    lost = None if made.study.on_kernels else fates.lost_on_wires(taken, span, backend_of_study)
    if lost is None and not made.study.on_kernels:
        print("note: the run has too many packets to tell when single ones were lost on the wire", file=sys.stderr)
    drawn = traces.figure(taken, called.title(made, run), flows or (), links or (), span, lost=lost)
    name = f"trace-{called.name(made, run)}"
    style.write(drawn, directory, name)
    for line in traces.untold(taken, flows or (), span):
        print(f"note: {line}", file=sys.stderr)
    if as_json:
        print_json({"run": run.index, "cell": run.cell, "arm": run.arm, "replicate": run.replicate, "seed": run.seed,
                     "figure": str(directory / f"{name}.svg"), "flows": taken.flows.to_dicts()})  # fmt: skip
        return
    for line in traces.summary(taken, flows or ()):
        print(line)
    stretch = (
        f", from {span[0]:.6g} s to {span[1]:.6g} s; the numbers above are of the whole run" if begin != _START or end is not None else ""
    )
    print(f"figure: {directory / name}.svg{stretch}")
