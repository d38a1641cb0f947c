"""`sawtooth animate`: one run, in motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson, NoFiles, Options, Short, StudyPath

_START = "0 s"
_MOST, _MOST_IN_SVG = 20_000, 2_000


def animate(
    study: StudyPath,
    number: Annotated[int | None, typer.Option("--run", min=0, help="Run by its number in the plan.", show_default="the first")] = None,
    cell: Annotated[int | None, typer.Option(min=1, help="The first run of this cell.", show_default=False)] = None,
    arm: Annotated[str | None, typer.Option(metavar="NAME", help="The first run of this arm.", show_default=False)] = None,
    replicate: Annotated[int | None, typer.Option(min=1, help="The first run that is this replicate.", show_default=False)] = None,
    flows: Annotated[list[str] | None, typer.Option("--flow", metavar="NAME", help="May be repeated.", show_default="all")] = None,
    links: Annotated[
        list[str] | None, typer.Option("--link", metavar="NAME", help="May be repeated.", show_default="all that packets cross")
    ] = None,
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="Show from here on.")] = _START,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Show up to here.", show_default="as far as packets fit")] = None,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How much of the run one second shows; the page can change it.",
            show_default="so that packets are seen on their way",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(min=1, help="Packets at links that the file may have.", show_default=f"{_MOST}, in a drawing {_MOST_IN_SVG}"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A page (.html) with a player, or a drawing (.svg) that moves by itself.",
            show_default="results/NAME/trace/run-N.html",
        ),
    ] = None,
    short: Short = False,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Do one run of a study once more and show its packets on their links, in the queues and as they are lost: a page for the browser.

    The page has all it needs in it and can be sent to anybody. Keys: space plays and pauses, arrows move, l goes to the next loss.

    Example: sawtooth animate tahoe-vs-reno --cell 12 --from '2 s' --to '4 s'
    """
    from sawtooth import called, outputs
    from sawtooth import trace as traces
    from sawtooth.animation import drawing, film, page
    from sawtooth.backends.registry import BACKENDS
    from sawtooth.cli import studies
    from sawtooth.cli.output import print_json
    from sawtooth.counted import counted
    from sawtooth.errors import StudyError
    from sawtooth.plan import make_plan
    from sawtooth.quantities import seconds

    made = make_plan(studies.load(study, short, options, None, no_files))
    run = traces.choose(made, traces.Which(number, cell, arm, replicate))
    first, last = traces.span(begin, end, run)
    path = out or made.study.directory() / "trace" / f"{called.name(made, run)}.html"
    if path.suffix not in (".html", ".svg"):
        raise StudyError(f"`{path.name}` is neither a page nor a drawing", hint="--out ends in .html or .svg")
    outputs.require(path, "an animation", [made.study.path])
    pace = None if speed is None else seconds(speed)
    if pace is not None and not pace > 0:
        raise StudyError(f"in one second `{speed}` of the run cannot be shown", hint="such as --speed '50 ms'")
    drawn = path.suffix == ".svg"
    taken = film.take(
        made,
        run,
        BACKENDS[made.study.backend].load(),
        film.Span(first, None if end is None else last),
        film.Choice(flows or (), links or ()),
        most or (_MOST_IN_SVG if drawn else _MOST),
    )
    title, pace = called.title(made, run), pace or page.speed_of(taken)
    text = drawing.drawing(taken, title, pace) if drawn else page.page(taken, title, made.study.question, pace)
    outputs.write(path, text.encode(), "an animation", [made.study.path])
    fates = {fate: taken.packets.filter(fate=fate).height for fate in ("dropped", "lost")}
    again = int(taken.packets["retransmission"].sum())
    if as_json:
        print_json({"run": run.index, "cell": run.cell, "arm": run.arm, "replicate": run.replicate, "seed": run.seed, "file": str(path),
                    "from_s": taken.begin, "to_s": taken.end, "packets": taken.packets.height, **fates, "speed": pace, "left_out": taken.left_out})  # fmt: skip
        return
    print(
        f"{counted(taken.packets.height, 'arrival')} of packets at {counted(len(taken.network.lines), 'link')}; {fates['dropped']} dropped, {fates['lost']} lost, {again} retransmitted"
    )
    for line in taken.left_out:
        print(line)
    print(f"{'drawing' if drawn else 'page'}: {path} ({len(text.encode()) / 1e6:.1f} MB)")
