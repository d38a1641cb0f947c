"""All mistakes of a study that cannot be used. Reading it ends at the first one: that is put right as its hint says, or what has it is left out, and the study is read again.

What is so put right is a guess, so no more is told than would be so with any guess: nothing of a value that was put right, and of what holds a key that was left out, which may lack it now, and nothing that was told before.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from sawtooth import _core
from sawtooth.errors import Place, StudyError, read_text
from sawtooth.plan import check_short, make_plan
from sawtooth.presentation import presentation
from sawtooth.study import Document, Study, shipped
from sawtooth.study.assign import Tree
from sawtooth.study.paths import quoted

_MOST = 100
"""Mistakes that are told."""
_MEANT = re.compile(r"did you mean `([^`]+)`\?")
_OF_FINDINGS = ("forest", "assumptions")
"""Kinds of figures that are made of verdicts."""
_ENTRY = re.compile(r"(figures|findings)\[(\d+)\]")


def every(study: Study) -> list[StudyError]:
    """The mistakes of a study of which no plan can be made, in the order in which they are found."""

    def again(document: Document, tree: Tree) -> Study:
        return study.reread(document, tree)

    return _every(_Written(study.document, study.tree), again)


def every_of(path: Path, text: str | None, *, short: bool, options: Sequence[str], files: bool) -> list[StudyError]:
    """The mistakes of a study that cannot be read: of its text, if there is one, or of what is in its file."""
    path = shipped.find(path) if text is None else path
    try:
        text = read_text(path) if text is None else text
        tree, spans = _core.parse_toml(text)
    except (StudyError, _core.TomlError):
        return []

    def again(document: Document, tree: Tree) -> Study:
        return Study.made_of(document, path, tree, short=short, files=files)

    return _every(_Written(Document(str(path), text, spans, tuple(options)), tree), again)


@dataclasses.dataclass(frozen=True)
class _Written:
    """A study's tree, and where it is written."""

    document: Document
    tree: Tree
    left_out: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict[str, Sequence[int]])
    """Of figures and findings those that are left out, by their numbers in the file."""

    def told(self, error: StudyError) -> StudyError:
        """An error with the numbers that entries have in the file."""

        def as_written(found: re.Match[str]) -> str:
            kept = (number for number in itertools.count() if number not in self.left_out.get(found[1], ()))
            return f"{found[1]}[{next(itertools.islice(kept, int(found[2]), None))}]"

        return StudyError(_ENTRY.sub(as_written, error.message), error.place, error.hint)

    def at(self, place: Place | None) -> tuple[str, bool] | None:
        """The path of what a place is about, and whether it is its key; None of what is in no such file."""
        if place is None or place.name != self.document.name:
            return None
        around = [
            (start, path)
            for path, (line, column, end_line, end_column) in self.document.spans.items()
            if (start := (line, column)) <= (place.line, place.column) < (end_line, end_column)
        ]
        path = max(around)[1] if around else ""
        return path.removesuffix("#key"), path.endswith("#key")


def _every(written: _Written, again: Callable[[Document, Tree], Study]) -> list[StudyError]:
    # Figures and findings are read by themselves if the scenario has what cannot be put right.
    found = [*_found(written, lambda each: _look(again(each.document, each.tree)))]
    last = found[-1] if found else written
    if isinstance(last, _Written):
        found += _found(last, lambda each: presentation(again(each.document, each.tree)))
    errors = {str(each): each for each in found if isinstance(each, StudyError)}
    return list(errors.values())


def _look(study: Study) -> None:
    make_plan(study)
    check_short(study)


def _found(written: _Written, look: Callable[[_Written], object]) -> Iterator[StudyError | _Written]:
    """Mistakes, one after the other; and in the end, if it is one that cannot be put right, the study as far as it was."""
    before, told = "-", set[str]()
    for _ in range(_MOST):
        try:
            look(written)
            return
        except StudyError as error:
            at = written.at(error.place)
            if str(error) in told or (at is not None and (before == at[0] or before.startswith((f"{at[0]}.", f"{at[0]}[")))):
                break
            told.add(str(error))
            yield written.told(error)
            mended = None if at is None else _mended(written, *at, error)
            if mended is None:
                break
            written, before = mended, at[0] if at and not _ENTRY.match(at[0]) else "-"
    yield written


def _mended(written: _Written, path: str, at_key: bool, error: StudyError) -> _Written | None:
    """The study without a mistake; None if nobody knows what was meant."""
    if entry := _ENTRY.match(path):
        return _without_entry(written, entry[1], int(entry[2]))
    tree = copy.deepcopy(written.tree)
    holder = _holder(tree, path)
    if holder is None:
        return None
    table, key = holder
    meant = _MEANT.match(error.hint or "")
    if not at_key:
        place, value = error.place, table[key]
        wrong = place.text[place.column - 1 : place.end_column - 1].strip("\"'") if place else ""
        if meant is None or not isinstance(value, str) or wrong not in value:
            return None
        table[key] = value.replace(wrong, meant[1])
        return dataclasses.replace(written, tree=tree) if table[key] != value else None
    value = table.pop(key)
    if meant is None or meant[1] in table or "." in f"{key}{meant[1]}":
        return dataclasses.replace(written, tree=tree)
    table[meant[1]] = value
    moved = _moved(written.document, path, f"{path[: len(path) - len(quoted(key))]}{meant[1]}")
    return dataclasses.replace(written, document=moved, tree=tree)


def _without_entry(written: _Written, kind: str, at: int) -> _Written:
    """Without a figure or a finding. What findings are made of, and figures of, may be just this one: so these go, too."""
    written = _without(written, kind, lambda index, _: index == at)
    if kind == "figures":
        return written
    written = _without(written, kind, lambda _, entry: "findings" in entry)
    return _without(written, "figures", lambda _, entry: entry.get("kind") in _OF_FINDINGS)


def _without(written: _Written, kind: str, leave: Callable[[int, Tree], bool]) -> _Written:
    """Without some figures or findings."""
    there, document = written.tree.get(kind), written.document
    entries = list(cast(list[Any], there)) if isinstance(there, list) else []
    if not entries:
        return written
    gone = [*written.left_out.get(kind, ())]
    kept = [number for number in range(len(entries) + len(gone)) if number not in gone]
    for index in reversed(range(len(entries))):
        if not isinstance(entries[index], dict) or not leave(index, entries[index]):
            continue
        del entries[index]
        gone.append(kept[index])
        spans = {path: span for path, span in document.spans.items() if not path.startswith(f"{kind}[{index}]")}
        document = dataclasses.replace(document, spans=spans)
        for later in range(index + 1, len(entries) + 1):
            document = _moved(document, f"{kind}[{later}]", f"{kind}[{later - 1}]")
    tree = {key: entries if key == kind else value for key, value in written.tree.items() if key != kind or entries}
    return _Written(document, tree, {**written.left_out, kind: gone})


def _moved(document: Document, old: str, new: str) -> Document:
    """The same text, in which what is at a path is at another one now."""
    spans = {
        new + path[len(old) :] if path == old or path.startswith((f"{old}.", f"{old}[", f"{old}#")) else path: span
        for path, span in document.spans.items()
    }
    return dataclasses.replace(document, spans=spans)


def _holder(tree: Any, path: str, walked: str = "") -> tuple[Tree, str] | None:
    """The table that has what is at a path, and the key."""
    items: Any = cast(Tree, tree).items() if isinstance(tree, dict) else enumerate(cast(list[Any], tree)) if isinstance(tree, list) else ()
    for key, value in items:
        here = f"{walked}[{key}]" if isinstance(key, int) else f"{walked}.{quoted(key)}" if walked else quoted(key)
        if here == path:
            return (cast(Tree, tree), key) if isinstance(key, str) else None
        if path.startswith((f"{here}.", f"{here}[")):
            return _holder(value, path, here)
    return None
