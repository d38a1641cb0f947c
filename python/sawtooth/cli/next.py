"""What `sawtooth` alone says: what to do next in this folder."""

from __future__ import annotations

from pathlib import Path

from sawtooth.counted import counted, form
from sawtooth.study import shipped
from sawtooth.web.folders import Folders, is_of_tests, is_shipped
from sawtooth.web.made import Made, Runs, newest, state

_MOST = 5
"""Lines of a kind; the explorer shows all."""


def advice(folder: Path) -> list[str]:
    """Commands with what they do, those first that go on with what was begun."""
    folders = Folders([folder])
    runs = Runs(folders)
    made = runs.every()
    named = {address: runs.named(address) for address in folders.studies().addresses if not is_shipped(address)}

    def below(address: str) -> str:
        return address.partition("/")[2] or "."

    def called(address: str) -> str:
        """A study that comes along by its name, also where it lies in this folder: a clone of the program."""
        path = named[address].path
        return shipped.called(path) if path and path in shipped.studies().values() else below(address)

    lines: list[tuple[str, str]] = []
    # What is broken among a program's tests is so on purpose.
    if broken := [address for address, study in named.items() if study.error is not None and not is_of_tests(address)]:
        others = f", and so it is with {len(broken) - 1} more" if len(broken) > 1 else ""
        lines.append((f"sawtooth lint {called(broken[0])}", f"it cannot be read: this says where and why{others}"))
    by_name = {study.name: address for address, study in named.items()}
    for each in newest(made):
        place = below(each.address)
        if each.held:
            lines.append((f"sawtooth serve {place}", f"is being written: {_share(each)}"))
        elif each.done < each.planned and each.name in by_name:
            short = " --short" if each.short else ""
            lines.append((f"sawtooth run {called(by_name[each.name])}{short} --out {place}", f"goes on: {_share(each)}"))
        elif each.failed:
            lines.append((f"sawtooth report {place}", f"{each.failed:,} of {counted(each.planned, 'run')} failed: it says which"))
        elif each.done and not (folder / place / "report").exists():
            lines.append((f"sawtooth report {place}", f"its question, verdicts and figures, of {counted(each.planned, 'run')}"))
    if reported := [
        place for each in newest(made) if (place := Path(below(each.address), "report/report.html")) and (folder / place).is_file()
    ]:
        others = f"; there are {len(reported) - 1} more" if len(reported) > 1 else ""
        lines.append((str(reported[0]), f"a report to open in a browser{others}"))
    theirs = 0
    for address, study in named.items():
        if study.error is None and state([each for each in made if each.name == study.name]) == "never run":
            lines.append((f"sawtooth plan {called(address)}", f"then run: {study.question or study.name}"))
            # They come last; nobody has them to do.
            theirs += is_of_tests(address)
    if not lines and not named and not made:
        lines.append(("sawtooth run hstcp --short", "a study that comes along, in seconds; then sawtooth report results/hstcp-short"))
    more = len(lines) - theirs - _MOST
    others = f", {more} more {form(more, 'thing', 'things')} to do among them" if more > 0 else ""
    lines = [*lines[:_MOST], ("sawtooth serve", f"studies and results of this folder in a browser{others}")]
    width = max(len(command) for command, _ in lines)
    return [f"  {command:{width}}  {words}" for command, words in lines]


def _share(made: Made) -> str:
    return f"{made.done:,} of {counted(made.planned, 'run')} {form(made.done, 'is', 'are')} there"
