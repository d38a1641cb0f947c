"""`sawtooth doctor`: what this machine can run."""

from __future__ import annotations

from typing import Annotated

import typer

from sawtooth.cli.options import AsJson


def doctor(
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed runs have left: guests and temporary files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what this machine can run, and how to get what is missing."""
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
        print_json([vars(finding) for finding in findings])
        return
    for finding in findings:
        print(f"{'ok     ' if finding.ok else 'missing'}  {finding.what}: {finding.detail}")
        if finding.advice:
            print(f"         {finding.advice}")
