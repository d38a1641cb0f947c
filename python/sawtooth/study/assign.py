"""Values put into the tree of a scenario, each with the place where it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.study.document import Document, shown
from sawtooth.study.paths import tokens

Tree: TypeAlias = dict[str, Any]

# Tables that an assignment may create when the scenario does not have them yet.
OPTIONAL_TABLES = {
    "arrivals", "cc", "forwarding", "jitter", "kernel", "loss", "medium", "queue", "receiver_cc", "reorder", "reverse", "shortcuts", "source", "sysctl", "tcp",
    "vars", "walk",
}  # fmt: skip


@dataclass(frozen=True)
class Assignment:
    """One value put into the scenario's tree.

    Args:
        path: where in the tree, such as `links.bottleneck.rate`.
        value: what.
        origin: path of the value in the study file, or `--set N` for the Nth option of the command line.

    """

    path: str
    value: Any
    origin: str


def expand(tree: Tree, path: str, document: Document, origin: str) -> list[str]:
    """The paths that `path` stands for: one, or with `[*]` one for each item."""
    if "[*]" not in path:
        return [path]
    head, _, tail = path.partition("[*]")
    items: Any = tree
    for step in tokens(head):
        items = cast(Tree, items).get(str(step)) if isinstance(items, dict) else None
    if not isinstance(items, list) or not items:
        hint = f"`{head}[*]` is each of a list, such as flows[*]; what is in a table is told by its name"
        raise document.error(f"there is no list `{head}` in the scenario", origin, hint, key=True)
    return [
        concrete for index in range(len(cast(list[Any], items))) for concrete in expand(tree, f"{head}[{index}]{tail}", document, origin)
    ]


def assign(tree: Tree, assignment: Assignment, document: Document, origin: str | None = None) -> None:
    """Puts a value into the tree.

    Raises:
        StudyError: if the path leads nowhere.

    """
    origin = origin or assignment.origin
    steps = tokens(assignment.path)
    here: Any = tree
    walked = ""
    for step, following in zip(steps[:-1], [*steps[1:]], strict=True):
        if isinstance(step, int):
            if not isinstance(here, list) or step >= len(cast(list[Any], here)):
                raise _no_such_path(document, origin, walked, f"[{step}]", assignment, cast(object, here))
            here = cast(list[Any], here)[step]
            walked += f"[{step}]"
            continue
        if not isinstance(here, dict):
            raise _no_table(document, origin, walked, here, assignment)
        table = cast(Tree, here)
        if step not in table:
            if step not in OPTIONAL_TABLES or isinstance(following, int):
                raise _no_such_path(document, origin, walked, step, assignment, table)
            table[step] = {}
        elif isinstance(table[step], str) and step in OPTIONAL_TABLES:
            # `cc = "reno"` is short for `cc = { name = "reno" }`.
            table[step] = {"name": table[step]}
        here = table[step]
        walked += f".{step}" if walked else str(step)
    last = steps[-1]
    if isinstance(last, int) and isinstance(here, list) and last < len(cast(list[Any], here)):
        here[last] = assignment.value
    elif isinstance(last, str) and isinstance(here, dict):
        if walked == "vars" and last not in here:
            raise _no_such_path(document, origin, walked, last, assignment, cast(Tree, here))
        here[last] = assignment.value
    elif isinstance(last, str):
        raise _no_table(document, origin, walked, here, assignment)
    else:
        raise _no_such_path(document, origin, walked, f"[{last}]", assignment, cast(object, here))


def _no_table(document: Document, origin: str, walked: str, found: Any, assignment: Assignment) -> StudyError:
    place = document.place(f"scenario.{walked}")
    where = f", at {place}" if place else ""
    message = f"`{assignment.path}` does not exist: `{walked}` is {shown(found)}, not a table{where}"
    return document.error(message, origin, _instead(walked, found, assignment), key=True)


def _instead(walked: str, found: Any, assignment: Assignment) -> str:
    """What to write instead of a path through something that is no table: of a list its items have numbers, and names that may have been meant."""
    if not isinstance(found, list) or not found:
        return f"write `{walked}` as a table in the scenario, or name what is there"
    items = cast("list[object]", found)
    rest = assignment.path.removeprefix(f"{walked}.")
    meant, _, inner = rest.partition(".")
    names = [cast(Tree, item).get("name") if isinstance(item, dict) else None for item in items]
    at = names.index(meant) if meant in names else int(meant) if meant.isdecimal() and int(meant) < len(items) else None
    if at is None:
        last = len(items) - 1
        return f"`{walked}` is a list, whose items have numbers: `{walked}[0]`{f' to `{walked}[{last}]`' if last else ''}"
    return f"write `{walked}[{at}]{f'.{inner}' if inner else ''}`: `{walked}` is a list, and its items go by their numbers"


def _no_such_path(document: Document, origin: str, walked: str, step: str, assignment: Assignment, here: object) -> StudyError:
    what = f"{walked}.{step}" if walked and not step.startswith("[") else walked + step
    if isinstance(here, list):
        last = len(cast("list[object]", here)) - 1
        hint = f"they are counted from 0: the last one is `{walked}[{last}]`" if last >= 0 else f"`{walked}` is an empty list"
    else:
        hint = did_you_mean(step, cast(Tree, here)) if isinstance(here, dict) else f"`{walked}` is no list"
    return document.error(f"`{assignment.path}` does not exist: there is no `{what}` in the scenario", origin, hint, key=True)
