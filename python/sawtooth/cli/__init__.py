"""The command line. Every command teaches by its `--help`; output meant for other programs comes with `--json`.

A command's file declares what it takes, and wires it to the modules that do it. Those are imported when the command runs: `--help` waits
for none of them.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from sawtooth import _core, arguments, memory, streams
from sawtooth.cli import (
    advise,
    analyze,
    animate,
    calibrate,
    compact,
    compare,
    conform,
    doctor,
    fit,
    gallery,
    import_,
    kernel,
    lint,
    merge,
    plan,
    report,
    run,
    schema,
    serve,
    simulate,
    stall,
    trace,
)
from sawtooth.cli import list as listing
from sawtooth.cli.options import STUDY

app = typer.Typer(
    name="sawtooth",
    help="A TCP performance laboratory: one study file, a very fast packet simulator, honest statistics.\n\n"
    "Start with `sawtooth run hstcp --short`, then `sawtooth report results/hstcp-short`.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

# In the order of `sawtooth --help`.
_COMMANDS = {
    "run": run.run,
    "merge": merge.merge,
    "compact": compact.compact,
    "plan": plan.plan,
    "lint": lint.lint,
    "report": report.report,
    "gallery": gallery.gallery,
    "serve": serve.serve,
    "compare": compare.compare,
    "list": listing.list_parts,
    "schema": schema.schema,
    "simulate": simulate.simulate,
    "trace": trace.trace,
    "animate": animate.animate,
    "analyze": analyze.analyze,
    "import": import_.import_files,
    "fit": fit.fit,
    "advise": advise.advise,
    "calibrate": calibrate.calibrate,
    "stall": stall.stall,
    "conform": conform.conform,
    "doctor": doctor.doctor,
}


class _Command(TyperCommand):
    """A command that says what there is to name, if a study is missing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            # Of what is missing no message is given.
            if not error.message and error.param and error.param.metavar == STUDY:
                error.message = "`sawtooth list study` shows those that come along; a file of your own is named by its path."
            raise


for _name, _command in _COMMANDS.items():
    app.command(_name, cls=_Command)(_command)
app.add_typer(kernel.app, name="kernel")


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"sawtooth {_core.version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from sawtooth.cli.next import advice

        print("\n".join(["What to do next here:", *advice(Path()), "`sawtooth --help` shows all commands, and what each is for."]))


def main() -> NoReturn:
    """Runs the command line; a user's mistake ends in its message and exit code 2, without a traceback."""
    if not sys.warnoptions:
        # What libraries warn of is for developers, who ask for it with -W.
        warnings.simplefilter("ignore")
    memory.keep()
    sys.exit(streams.command(_run))


def _run() -> None:
    arguments.require_words(sys.argv[1:])
    app()
