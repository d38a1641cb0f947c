"""Files of the folders that an explorer was given, by their addresses: `NAME/path/below`. What is elsewhere does not exist."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse

from sawtooth import _core
from sawtooth.errors import DatasetError, SawtoothError
from sawtooth.study import keys, shipped
from sawtooth.web.problems import NotAllowedError, problem

SHIPPED = "shipped"
"""The studies that come along, beside the folders."""
_DEEPEST = 6
"""Levels below a folder that are looked through."""
_MOST_LOOKED = 20_000
"""Files and folders that are looked at: a folder of everything takes no minutes."""
_SCENARIO = re.compile(rb"^[ \t]*\[{0,2}[ \t]*[\"']?scenario[\"']?[ \t]*(?:[\].=]|\r?$)", re.MULTILINE)
"""A table or a key of that name, be it cut short: the word alone may be in any package's text."""
_OF_STUDIES = {key.name for key in keys.STUDY} - {"name"}
"""Keys of which a package's own files have one by chance at most: a file with two is a study that lacks its scenario."""
_MOST_READ = 2**20
"""Bytes of a file that are looked at."""
_NOT_ENTERED = {"node_modules", "target", "__pycache__", "parts"}
_TESTS = {"test", "tests", "corpus", "fixtures"}
"""Folders of a program's tests, whose studies are there for these, many of them with mistakes on purpose."""


@dataclass(frozen=True)
class Found:
    """What there is of a kind, and whether the folders were looked through to their end."""

    addresses: list[str]
    complete: bool


class _Pick(Protocol):
    """What of a directory is looked for."""

    def __call__(self, path: Path, files: Sequence[str]) -> list[Path]:
        """Those of its files, or itself."""
        ...


class Folders:
    """The folders, each by a name of its own."""

    def __init__(self, folders: Sequence[Path]) -> None:
        named: dict[str, Path] = {}
        for folder in folders:
            path = folder.resolve()
            if not path.is_dir():
                raise DatasetError(f"{folder} is no folder", "name one that holds studies or results; without any it is this one")
            name, number = path.name or "root", 2
            while name in named or name == SHIPPED:
                name, number = f"{path.name}-{number}", number + 1
            if path not in named.values():
                named[name] = path
        self.named: Mapping[str, Path] = named

    def path(self, address: str) -> Path:
        """The file or directory at an address.

        Raises:
            DatasetError: if there is none below the folders.

        """
        name, _, below = address.partition("/")
        if name == SHIPPED and below in (studies := shipped.studies()):
            return studies[below]
        root = self.named.get(name)
        missing = DatasetError(f"there is no `{address[:200]}` in the folders of this explorer", f"its folders are {', '.join(self.named)}")
        if root is None or "\0" in below:
            raise missing
        try:
            # Behind links, too: a link to elsewhere is no file of the folder.
            path = (root / below).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise missing from None
        if not path.is_relative_to(root):
            raise missing
        return path

    def new(self, address: str) -> Path:
        """Where a file of an address would be; its directory is there.

        Raises:
            DatasetError: if that is not below the folders.

        """
        parent, _, name = address.rpartition("/")
        if not parent or is_shipped(parent) or not name or name.startswith(".") or "\0" in name:
            raise DatasetError(f"nothing can be written as `{address[:200]}`", f"name a file in {', '.join(self.named)}")
        return self.path(parent) / name

    def inside(self, address: str) -> Path:
        """Where a directory of an address is, or would be made with those above it.

        Raises:
            DatasetError: if that is not below the folders.

        """
        name, _, below = address.partition("/")
        root, parts = self.named.get(name), below.split("/")
        if root is None or not below or "\0" in below or any(not part or part.startswith(".") for part in parts):
            raise DatasetError(f"nothing can be written as `{address[:200]}`", f"name a directory in {', '.join(self.named)}")
        try:
            path = (root / below).resolve()
        except (OSError, RuntimeError):
            path = Path("/")
        if not path.is_relative_to(root):
            raise DatasetError(
                f"`{address[:200]}` leads out of the folders of this explorer", f"name a directory in {', '.join(self.named)}"
            )
        return path

    def address(self, path: Path) -> str:
        """The address of a file below the folders."""
        for name, root in self.named.items():
            if path.is_relative_to(root):
                return "/".join([name, *path.relative_to(root).parts])
        raise DatasetError(f"{path} is not in the folders of this explorer")

    def said(self, text: str) -> str:
        """A text with addresses where it has paths below the folders, as pages call files."""
        for name, root in sorted(self.named.items(), key=lambda each: -len(each[1].parts)):
            if root != Path(root.anchor):
                text = re.sub(rf"(?<![\w/.-]){re.escape(str(root))}(?![\w-])", lambda _, name=name: name, text)
        return text

    def problem(self, error: SawtoothError) -> dict[str, Any]:
        """What is wrong, where, and what to do, with addresses where errors have paths."""
        return self.addressed(problem(error))

    def addressed(self, told: dict[str, Any]) -> dict[str, Any]:
        """A problem, or what lint says, with addresses where it has paths."""
        place = told["place"]
        return {
            **told,
            "message": self.said(told["message"]),
            "hint": told["hint"] and self.said(told["hint"]),
            "place": place and {**place, "name": self.said(place["name"])},
        }

    async def told(self, _: Request, error: Exception) -> JSONResponse:
        """The answer to what cannot be answered."""
        assert isinstance(error, SawtoothError)
        return JSONResponse({"error": self.problem(error)}, 403 if isinstance(error, NotAllowedError) else 400)

    def studies(self) -> Found:
        """Addresses of files that may be studies: TOML with a scenario, or what cannot be read as TOML; those that come along first, and those of a program's tests last."""

        def pick(path: Path, files: Sequence[str]) -> list[Path]:
            # Results have the text that they were made of: the study is elsewhere.
            own: Sequence[str] = () if _is_of_results(files) else files
            return [path / name for name in own if name.endswith(".toml") and _is_study(path / name)]

        found, complete = self._look(pick)
        return Found([*(f"{SHIPPED}/{name}" for name in shipped.studies()), *sorted(found, key=is_of_tests)], complete)

    def results(self) -> Found:
        """Addresses of results directories."""
        return Found(*self._look(lambda path, files: [path] if _is_of_results(files) else []))

    def _look(self, pick: _Pick) -> tuple[list[str], bool]:
        found: list[str] = []
        looked = 0
        for name, root in self.named.items():
            for path, files in _walk(root):
                looked += 1 + len(files)
                if looked > _MOST_LOOKED:
                    return found, False
                found += ["/".join([name, *each.relative_to(root).parts]) for each in pick(path, files)]
        return found, True


def is_shipped(address: str) -> bool:
    """Whether a study is one of those that come along, and not one of a folder."""
    return address.partition("/")[0] == SHIPPED


def is_of_tests(address: str) -> bool:
    """Whether a file is in a folder of a program's tests, which the folder that was given is not, whatever it is called."""
    return not _TESTS.isdisjoint(address.split("/")[1:-1])


def _is_of_results(files: Sequence[str]) -> bool:
    """Whether these are the files of results: also without the manifest, so that whoever lost it is told so, and takes the copy of a study for none."""
    return "manifest.json" in files or {"SHA256SUMS", "runs.parquet"} <= set(files)


def _walk(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """Directories below a folder with the names of their files, in the order of names; what is hidden, and parts of results, are not entered."""
    depth = len(root.parts)
    for directory, inner, files in os.walk(root):
        path = Path(directory)
        is_deep = len(path.parts) - depth >= _DEEPEST
        inner[:] = [] if is_deep else sorted(name for name in inner if not name.startswith(".") and name not in _NOT_ENTERED)
        yield path, sorted(files)


def _is_study(path: Path) -> bool:
    """Whether a TOML file has a scenario, or nobody can tell: it cannot be read, or is no TOML. Others, such as a package's own, are no studies; one with mistakes is a study all the same."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Nobody waits for what a pipe gives.
            return True
        with path.open("rb") as file:
            text = file.read(_MOST_READ)
    except OSError:
        return True
    if _SCENARIO.search(text) is not None:
        return True
    try:
        found, _ = _core.parse_toml(text.decode())
    except (ValueError, _core.TomlError):
        # What was cut off by the limit may be anything, and no study is as long.
        return len(text) < _MOST_READ
    return len(found.keys() & _OF_STUDIES) > 1
