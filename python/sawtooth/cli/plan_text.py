"""What `sawtooth plan` prints."""

from __future__ import annotations

from rich.table import Table

from sawtooth import forecast, streams
from sawtooth.cli.output import print_json
from sawtooth.plan import Plan


def show(made: Plan, *, as_json: bool) -> None:
    """Prints runs, axes, cost and time of a plan."""
    if as_json:
        print_json(forecast.facts(made))
        return
    # What the study calls things is text: nothing in it is a style.
    console = streams.Console(markup=False, emoji=False, highlight=False)
    console.print(f"{made.study.name}: {made.study.question}" if made.study.question else made.study.name)
    table = Table("axis", "levels", box=None, pad_edge=False)
    for name, levels in forecast.axes(made).items():
        table.add_row(name, ", ".join(levels))
    if made.study.arms:
        table.add_row("arm", ", ".join(made.study.arms))
    for arm, backends in made.study.other_arms.items():
        table.add_row("left out", f"{arm}: only for {', '.join(backends)}")
    console.print(table)
    until = [f"replicates: {made.study.until.words}"] if made.study.until else []
    console.print("\n".join([f"{made.size}; {forecast.amount(made)}", *until, str(made.demand), *forecast.notes(made)]))
