"""`sawtooth plan`: what a study would run."""

from __future__ import annotations

from sawtooth.cli.options import AsJson, Backend, NoFiles, Options, Short, StudyPath


def plan(
    study: StudyPath,
    short: Short = False,
    backend: Backend = None,
    options: Options = None,
    no_files: NoFiles = False,
    as_json: AsJson = False,
) -> None:
    """Show what a study would run: how many runs, of what, and about how long it takes.

    Exit code 2 if this machine lacks what would run it, as `run` has it.

    Example: sawtooth plan hstcp
    """
    from sawtooth.backends.registry import require
    from sawtooth.cli import plan_text, studies

    made = studies.planned(studies.load(study, short, options, backend, no_files))
    plan_text.show(made, as_json=as_json)
    # What would run can be said without what runs it; that it cannot be run here is said as `run` says it.
    require(made.study.backend)
