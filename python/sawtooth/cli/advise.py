"""`sawtooth advise`: which congestion control and queue suit a study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sawtooth.arguments import MOST_JOBS
from sawtooth.cli.options import AsJson, Backend, Dask, NoFiles, Options, Short, StudyPath


def advise(
    study: StudyPath,
    controls: Annotated[
        list[str] | None,
        typer.Option(
            "--cc", metavar="NAME", help="Compare this congestion control; `present` is the study's. May be repeated.", show_default="eight"
        ),
    ] = None,
    queues: Annotated[
        list[str] | None,
        typer.Option(
            "--queue",
            metavar="NAME",
            help="Compare this queue at the bottleneck; `present` is the study's. May be repeated.",
            show_default="the present one and five",
        ),
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Rank by power, goodput, delay, rtt, completion, jain, or any measure.",
            show_default="by the kind of traffic",
        ),
    ] = None,
    least: Annotated[bool, typer.Option("--least", help="Of such a measure less is better.")] = False,
    flows: Annotated[
        list[str] | None, typer.Option("--flow", metavar="NAME", help="Advise on these flows. May be repeated.", show_default="all of TCP")
    ] = None,
    link: Annotated[
        str | None, typer.Option(metavar="NAME", help="The link whose queue is chosen.", show_default="the bottleneck of the first flow")
    ] = None,
    arm: Annotated[
        str | None, typer.Option(metavar="NAME", help="The arm of the study that is the present choice.", show_default="the first")
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Put a flow of this congestion control beside, and tell what harm it takes.", show_default="none"
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(min=2, help="Replicates of each choice in the ranking.")] = 10,
    confirm: Annotated[int, typer.Option(min=1, help="How many of the best are run again.")] = 3,
    fresh: Annotated[
        int, typer.Option(min=2, help="Replicates with other random numbers in which they are, which give the verdicts.")
    ] = 20,
    bar: Annotated[str, typer.Option(metavar="SHARE", help="How far from the present choice is better or worse.")] = "5 %",
    vary: Annotated[
        str, typer.Option(metavar="SHARE", help="Draw rates and delays of links anew in each replicate, so far from what they are.")
    ] = "0 %",
    kept: Annotated[
        Path | None,
        typer.Option("--study", metavar="FILE", help="Write both experiments as studies: FILE, and FILE-verdict.", show_default=False),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Results directory.", show_default="results/NAME-advice")] = None,
    short: Short = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the files of --study even if `sawtooth advise` did not write them.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, max=MOST_JOBS, help="Threads.", show_default="one per processor")] = None,
    dask: Dask = None,
    backend: Backend = None,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Rank congestion controls and queues for a study, with verdicts against what it has.

    All choices are run under common random numbers, and ranked. The best are run again, with other random numbers, beside the present choice:
    of these runs alone the verdicts are made. The rule is shown before anything runs. Ctrl-C ends it, and the same command goes on from there.

    Examples: sawtooth advise fitted.toml

    sawtooth advise fitted.toml --cc present --cc bbr --queue present --objective goodput --beside cubic
    """
    from sawtooth import advising, clusters
    from sawtooth.cli import advise_text, studies, work
    from sawtooth.cli.output import print_json
    from sawtooth.plan import Plan
    from sawtooth.results.dataset import Dataset

    made = advising.prepare(
        studies.load(study, short, options, backend, no_files),
        controls=controls or (),
        queues=queues or (),
        flows=flows or (),
        link=link,
        arm=arm,
        by=objective,
        least=least,
        repeat=repeat,
        confirm=confirm,
        fresh=fresh,
        bar=advising.share_of(bar, "--bar"),
        beside=beside,
        vary=advising.share_of(vary, "--vary"),
    )
    if dask is not None:
        clusters.require_address(dask)
    directory = out or Path("results") / f"{made.setting.study.name}-advice"
    advising.require_free(directory)
    if kept is not None:
        advise_text.require_kept(made, kept, force=force)
    for each in made.setting.caveats:
        print(f"caveat: {each}", file=sys.stderr)
    for line in made.rule.words(len(made.others)):
        print(line, file=sys.stderr)

    def do(plan: Plan, place: Path) -> Dataset:
        dataset, summary = work.do(plan, place, jobs, dask=dask)
        print(work.done(place, summary), file=sys.stderr)
        return dataset

    found = advising.advise(made, directory, do)
    files = advise_text.keep(found, kept) if kept is not None else []
    page = advise_text.report(found)
    if as_json:
        print_json(
            {**advise_text.as_json(found), "directory": str(directory), "report": str(page), "studies": [str(file) for file in files]}
        )
        return
    advise_text.show(found)
    for file in files:
        print(f"wrote {file}")
    print(f"report: {page}")
