"""The studies that come along with the package, and how a study is found by what a user calls it.

Each is a folder: `study.toml`, variants beside it, what it is held against, and a page about it. Its name is that of the folder, below
`studies`: `hstcp`; a variant's has the file's behind it: `hstcp/random`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sawtooth.errors import DatasetError, StudyError

DIRECTORY = Path(__file__).resolve().parent.parent / "studies"
"""Where they are."""
MAIN = "study.toml"
"""The file of a folder that is meant if none is named."""
_ADVICE = "`sawtooth list study` shows the studies that come along"
# Of a directory with results, which holds a study, too: the one that was run.
_OF_RESULTS = "manifest.json"


@cache
def studies() -> Mapping[str, Path]:
    """The file of every study, by its name."""
    return {_name(path): path for path in sorted(DIRECTORY.rglob("*.toml"), key=_name)}


def of_text(text: str) -> Path | None:
    """The file of the study that comes along with just this text: what it names comes along, too, and is no stranger's."""
    return next((path for path in studies().values() if path.read_text(encoding="utf-8") == text), None)


def find(path: Path) -> Path:
    """The file of a study: itself; the main one of a folder; or, where there is neither, of the one that comes along under this name.

    What cannot be a name is left to whoever reads it, who says what is wrong with it.

    Raises:
        StudyError: if there is no such file, and no study of a name like that.

    """
    try:
        if (path / MAIN).is_file() and not (path / _OF_RESULTS).exists():
            return path / MAIN
        there, folder = os.path.lexists(path), path.is_dir()
    except OSError:
        return path
    name = path.as_posix()
    if name in studies() and (folder or not there):
        return studies()[name]
    if there or path.is_absolute() or name == "-":
        return path
    near = _near(name.removeprefix("studies/").removesuffix(".toml"))
    if path.suffix != ".toml":
        raise StudyError(
            f"there is no file {path}, and no study of that name comes along", hint=f"did you mean `{near}`?" if near else _ADVICE
        )
    if near:
        raise StudyError(f"there is no file {path}", hint=f"did you mean `{near}`, which comes along?")
    return path


def called(path: Path) -> str:
    """What a study's file is called in a command: the name of one that comes along, else its path."""
    return next((name for name, file in studies().items() if file == path), str(path))


def group(path: Path) -> Path | None:
    """The folder of studies that come along under a name, such as `gallery`."""
    folder = DIRECTORY / path
    return folder if not path.is_absolute() and ".." not in path.parts and path.parts and folder.is_dir() else None


def members(folder: Path) -> list[Path]:
    """The study files in a folder: its own, and the main ones of the folders in it."""
    inner = (each / MAIN for each in sorted(folder.iterdir()) if not (each / _OF_RESULTS).exists())
    return [*sorted(folder.glob("*.toml")), *(each for each in inner if each.is_file())]


def table(study: str, name: str) -> Path:
    """A table beside a study, such as the published one it is held against.

    Raises:
        DatasetError: if this installation lacks it.

    """
    path = DIRECTORY / study / name
    if not path.is_file():
        raise DatasetError(f"the table {study}/{name} is not among the studies of this installation", f"it belongs to {DIRECTORY}")
    return path


def _name(path: Path) -> str:
    inside = path.relative_to(DIRECTORY)
    return (inside.parent if inside.name == MAIN else inside.with_suffix("")).as_posix()


def _near(name: str) -> str | None:
    """The study that may be meant: by its name, by the last part of it, or with its parts joined as files are called."""
    called = {said: study for study in studies() for said in (study.rpartition("/")[2], study.replace("/", "-"), study)}
    found = difflib.get_close_matches(name, called, 1, 0.6)
    return called[found[0]] if found else None
