"""`sawtooth doctor`: what this machine can run, and how near the simulator is to a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sawtooth.cli.options import AsJson, NoFiles, Options, Short


def doctor(
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed runs have left: guests and temporary files.")] = False,
    fidelity: Annotated[
        Path | None,
        typer.Option(
            "--fidelity",
            metavar="STUDY",
            help="Say instead how far the simulator was from a Linux kernel in scenarios like those of this study.",
            show_default=False,
        ),
    ] = None,
    short: Short = False,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Say what this machine can run, and how to get what is missing.

    With --fidelity: for each algorithm and link of a study, the nearest of the scenarios that were run on a kernel and in the simulator, and how far
    both were apart there. Nothing is run. --short, --set and --no-files are about that study.

    Example: sawtooth doctor --fidelity congestion-controls
    """
    if fidelity is not None:
        if clean:
            raise typer.BadParameter("--clean and --fidelity are two questions: ask one at a time")
        _fidelity(fidelity, short, options, no_files, as_json=as_json)
        return
    if short or options or no_files:
        raise typer.BadParameter(
            "--short, --set and --no-files are about the study of --fidelity, which is missing: `sawtooth doctor --fidelity STUDY`"
        )
    from sawtooth import doctor as examination
    from sawtooth.cli.output import print_json

    if clean:
        removed = examination.clean()
        if as_json:
            print_json(removed)
            return
        for line in removed:
            print(line)
        if not removed:
            print("nothing is left of killed runs")
        return
    findings = examination.examine()
    if as_json:
        print_json([finding.facts() for finding in findings])
        return
    width = max(len(finding.said) for finding in findings)
    for finding in findings:
        print(f"{finding.said:{width}}  {finding.what}: {finding.detail}")
        if finding.advice:
            print(f"{'':{width}}  {finding.advice}")


def _fidelity(study: Path, short: bool, options: list[str] | None, no_files: bool, *, as_json: bool) -> None:
    from sawtooth import fidelity
    from sawtooth.cli import fidelity_text, studies
    from sawtooth.cli.output import print_json
    from sawtooth.plan import make_plan

    found = fidelity.answer(studies.warn(make_plan(studies.load(study, short, options, None, no_files))))
    if as_json:
        print_json(found.facts())
        return
    for line in fidelity_text.lines(found):
        print(line)
