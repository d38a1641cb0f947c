"""A study, as a file says it: a question and how to answer it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sawtooth import _core, arguments
from sawtooth.backends.registry import BACKENDS
from sawtooth.counted import form
from sawtooth.display import Card, few
from sawtooth.errors import StudyError, as_path, cut, read_text, wrong_type
from sawtooth.study import shipped, spelling
from sawtooth.study.advice import advice
from sawtooth.study.assign import Assignment, Tree
from sawtooth.study.document import Document
from sawtooth.study.folder import Folder
from sawtooth.study.paths import parent, quoted, tokens
from sawtooth.study.reader import read
from sawtooth.study.until import Until
from sawtooth.study.written import written

_LEVEL = re.compile(r"\[\d+\]$")


@dataclass(frozen=True, repr=False)
class Study:
    """A question and how to answer it.

    Attributes:
        scenario: the tree, with the study's variables under `vars`, before sweeps and arms.
        sweep: blocks, each a list of levels, each a list of assignments; blocks are crossed, the last varying fastest.
        arms: alternatives that are compared in pairs under the same random numbers.
        other_arms: those that are for other backends than this, and which.
        full_sweep: the sweep of the long form; it numbers the cells.
        order: `cells`: all replicates of a cell together; `blocks`: each replicate of all cells together, in random order, so that
            what drifts in the meantime falls on all cells alike.
        base: assignments that hold in every run (`[short]`, `--set`).
        folder: where the files are that it names, if it may name any.
        limits: how much may be asked for, by name (`sawtooth list limit`); raised: those that the study sets itself, as it writes them.
        repeat: replicates of each cell and arm; with `until`, those before the first look.
        own_repeats: those of arms that say it themselves.
        short: whether it is the `[short]` form.
        until: the rule by which cells get more.
        repeat_origin: where `repeat` is written.

    """

    document: Document
    path: Path
    folder: Folder
    name: str
    question: str
    backend: str
    repeat: int
    seed: int
    order: str
    report: str
    scenario: Tree
    draws: Mapping[str, Tree]
    sweep: Sequence[Sequence[Sequence[Assignment]]]
    full_sweep: Sequence[Sequence[Sequence[Assignment]]]
    arms: Mapping[str, Sequence[Assignment]]
    other_arms: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    base: Sequence[Assignment] = ()
    tree: Tree = field(default_factory=dict[str, Any])
    limits: Mapping[str, float] = field(default_factory=lambda: _core.limits("{}"))
    raised: Mapping[str, Any] = field(default_factory=dict[str, Any])
    repeat_origin: str = "repeat"
    until: Until | None = None
    own_repeats: Mapping[str, int] = field(default_factory=dict[str, int])
    short: bool = False

    @classmethod
    def load(cls, path: str | Path, *, short: bool = False, options: Sequence[str] = (), files: bool = True) -> Study:
        """Reads a study file.

        Args:
            path: the file; or its folder, if the file is called `study.toml`; or the name of a study that comes along, such as `hstcp/random`.
            short: take the `[short]` form.
            options: `PATH=VALUE` settings that override the file.
            files: whether it may name files; not one that nobody has read who trusts its author.

        Raises:
            StudyError: with file, line, column and a hint.

        """
        path = as_path(path, "`Study.load` takes the path of a study file")
        path = shipped.find(path)
        return cls.parse(read_text(path), path, short=short, options=options, files=files)

    @classmethod
    def parse(
        cls,
        text: str,
        path: Path = Path("<study>"),
        *,
        short: bool = False,
        options: Sequence[str] = (),
        files: bool | Sequence[Path] = True,
    ) -> Study:
        """Reads a study from its text; `path` is for messages and for files it names: any, none, or those of some folders, as `files` says."""
        text = arguments.text(text, "`Study.parse` takes the text of a study")
        path = as_path(path, "the path of a study is a path")
        # A text is a sequence of texts, too: its letters.
        if isinstance(options, str) or not isinstance(options, Sequence) or not all(isinstance(option, str) for option in options):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise wrong_type('`options` is a list such as ["vars.N=2"]', options)
        for option in options:
            if not arguments.encodable(option):
                raise StudyError(f"{cut(ascii(option))} is no text: its bytes are not UTF-8", hint="write it in UTF-8")
        try:
            tree, spans = _core.parse_toml(text)
        except _core.TomlError as error:
            raise spelling.error_of(error, text, str(path)) from None
        return cls.made_of(Document(str(path), text, spans, tuple(options)), path, tree, short=short, files=files)

    @classmethod
    def made_of(cls, document: Document, path: Path, tree: Tree, *, short: bool, files: bool | Sequence[Path]) -> Study:
        """Reads a study from its tree, as `parse` does."""
        folder = Folder(path.parent, shut=files is False, below=None if isinstance(files, bool) else files)
        return read(cls, document, path, tree, folder, short=short)

    def __repr__(self) -> str:
        """What it asks, and what it varies."""
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        varied: dict[str, list[Any]] = {}
        for block in self.sweep:
            for level in block:
                for each in level:
                    levels = varied.setdefault(each.path.removeprefix("vars."), [])
                    if each.value not in levels:
                        levels.append(each.value)
        return Card("Study", self.name, self.question, {
            "file": str(self.path), **{name: few(levels) for name, levels in varied.items()}, "arms": few(self.arms),
            "replicates": self.until.words if self.until else self.replicates, "backend": self.backend, "options": ", ".join(self.document.options),
        })  # fmt: skip

    @classmethod
    def of(cls, tree: Mapping[str, Any], *, short: bool = False, options: Sequence[str] = (), files: bool = True) -> Study:
        """Makes a study of a mapping, whose keys are those of a file; files that it names are found from this directory.

        Args:
            tree: of tables, lists, texts and numbers, also numpy's. Without `scenario` it is one.
            short: take the `[short]` form.
            options: `PATH=VALUE` settings that override the mapping.
            files: whether it may name files.

        Raises:
            StudyError: with the place in the text that the mapping would be as a file.
            TypeError: if it is no mapping.

        """
        return cls.parse(text_of(tree), short=short, options=options, files=files)

    def shortened(self) -> Study | None:
        """The `[short]` form of a long one that nothing was set of; None if there is none.

        Raises:
            StudyError: if that cannot be read.

        """
        if self.short or self.document.options or "short" not in self.tree:
            return None
        return self.reread(self.document, self.tree, short=True)

    def reread(self, document: Document, tree: Tree, *, short: bool | None = None) -> Study:
        """The study of another tree in its place; or the short form of one."""
        return read(type(self), document, self.path, tree, self.folder, short=self.short if short is None else short)

    def repeat_of(self, arm: str) -> int:
        """Replicates of each cell of an arm; with `until`, those before the first look."""
        return self.own_repeats.get(arm, self.repeat)

    @property
    def planned(self) -> int:
        """Replicates of the arm that has most; with `until`, those before the first look."""
        return max(map(self.repeat_of, self.arms or [""]))

    @property
    def most(self) -> int:
        """Replicates that a cell may come to."""
        return self.until.most if self.until else self.planned

    @property
    def replicates(self) -> str:
        """How many, in words."""
        return count_of_arms({arm: self.repeat_of(arm) for arm in self.arms or [""]})

    @property
    def counted(self) -> str:
        """As `replicates`, with the word: `2 replicates (8 of sack)`."""
        number, brace, others = self.replicates.partition(" (")
        return f"{number} {form(number, 'replicate', 'replicates')}{brace}{others}"

    @property
    def repeat_origins(self) -> Mapping[str, int]:
        """Where numbers of replicates are written that count, and which."""
        shared = {self.repeat_origin: self.repeat} if {*(self.arms or [""])} - {*self.own_repeats} else {}
        return {**shared, **{f"arms.{quoted(arm)}.repeat": number for arm, number in self.own_repeats.items()}}

    def directory(self, part: str = "") -> Path:
        """Where its results go unless it is said; those of the short form are other runs, and have a directory of their own."""
        return Path("results") / f"{self.name}{'-short' if self.short else ''}{part}"

    @property
    def on_kernels(self) -> bool:
        """Whether its runs are on real kernels."""
        return bool(BACKENDS[self.backend].clocks)

    def located(self, error: _core.ScenarioError, assignments: Iterable[Assignment]) -> StudyError:
        """The core's error about a tree, at the place where the offending value was written."""
        best: Assignment | None = None
        for assignment in assignments:
            covers = error.path == assignment.path or error.path.startswith((assignment.path + ".", assignment.path + "["))
            if covers and (best is None or len(assignment.path) >= len(best.path)):
                best = assignment
        if best is not None:
            rest = error.path[len(best.path) :]
            within = _at(best.value, parent(rest)) if rest else _at(self.scenario, parent(error.path))
            hint = advice(error.path, _at(best.value, rest), within, error.hint)
            # A path that leads nowhere is wrong itself, not the levels that are set by it.
            origin = _LEVEL.sub("", best.origin) if error.at_key and not rest else best.origin + rest
            at_key = error.at_key and not (rest and best.origin.startswith("--set"))
            return StudyError(error.message, self.document.place(origin, key=at_key, within=error.span), hint)
        origins = self._origins(error, assignments)
        # Where a variable's value is from is what to do, if nothing else is said.
        found, within = (_at(self.scenario, path) for path in (error.path, parent(error.path)))
        advised = advice(error.path, found, within, error.hint) if error.hint or not origins else None
        hint = "; ".join(part for part in (advised, origins) if part) or None
        return StudyError(error.message, self.document.place(self._written(error.path), key=error.at_key, within=error.span), hint)

    def _written(self, path: str) -> str:
        """The path in the file of what is at `path` in the tree and was not assigned: variables are written in three places."""
        scenario = cast(Tree, self.tree["scenario"])
        for origin, table in (("draws", self.draws), ("scenario.vars", scenario.get("vars", {})), ("vars", self.tree.get("vars", {}))):
            for name in table:
                if path == f"vars.{name}" or path.startswith(f"vars.{name}["):
                    return f"{origin}.{quoted(name)}{path[len(f'vars.{name}') :]}"
        return f"scenario.{path}" if path else "scenario"

    def locator(self, assignments: Sequence[Assignment]) -> Callable[[str, str], StudyError]:
        """Makes errors about a tree of a message and a path in it."""

        def located(message: str, path: str) -> StudyError:
            error = _core.ScenarioError(message)
            error.path, error.message = path, message
            error.at_key, error.hint, error.span = False, None, None
            return self.located(error, assignments)

        return located

    def _origins(self, error: _core.ScenarioError, assignments: Iterable[Assignment]) -> str:
        """Where the variables of an offending expression got their values, if from a sweep, an arm or an option."""
        value = _at(self.scenario, error.path)
        names = set(re.findall(r"[^\W\d]\w*", value)) if isinstance(value, str) else set[str]()
        notes: dict[str, str] = {}
        for assignment in assignments:
            name = assignment.path.removeprefix("vars.")
            place = self.document.place(assignment.origin)
            if name in names and assignment.path != name and place is not None:
                notes[name] = f"`{name}` is {assignment.value} here, from {place}"
        return "; ".join(notes.values())


def count_of_arms(counts: Mapping[str, int]) -> str:
    """How many replicates arms have, in words: what most of them have, and which have others."""
    numbers = list(counts.values())
    usual = max(dict.fromkeys(numbers), key=numbers.count, default=1)
    others: dict[int, list[str]] = {}
    for arm, number in counts.items():
        if number != usual:
            others.setdefault(number, []).append(arm)
    rest = "; ".join(f"{number:,} of {', '.join(arms)}" for number, arms in others.items())
    return f"{usual:,} ({rest})" if rest else f"{usual:,}"


def _at(value: Any, path: str) -> Any:
    """What is at a path within a value; None if nothing is."""
    for step in tokens(path):
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def text_of(tree: Mapping[str, Any]) -> str:
    """The text that a mapping would be as a study file; without `scenario` it is one."""
    if not isinstance(tree, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise wrong_type("a study is made of a mapping", tree)
    plain = arguments.plain(tree)
    return written(plain if "scenario" in plain else {"scenario": plain})
