"""The door through which the files that a study names are found.

A study may name any file that its user can read, also by an absolute path or by `..`: fine of one's own, not of a stranger's. A folder that
is shut refuses every name before the file is looked at. Nothing else opens what a study names, and nothing but the study's own folder
makes a path of such a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth import _core
from sawtooth.errors import StudyError, hinted


@dataclass(frozen=True)
class Folder:
    """What names of files are relative to, whether a study may name any, and how many bytes one may have.

    Attributes:
        below: if it is given, the only folders of which a file may be; behind links, too.

    """

    path: Path
    shut: bool = False
    below: Sequence[Path] | None = None
    most: float = _core.limits("{}")["file"]

    def file(self, name: object, error: Callable[[str], StudyError], key: str = "file", such: str = "published.csv") -> Path:
        """The file of that name.

        Args:
            name: as the study has it.
            error: makes an error of a message, with the place of the name.
            key: that has it.
            such: a name as an example.

        Raises:
            StudyError: if that is no name of a file, or the folder is shut.

        """
        if not isinstance(name, str) or not name or "\0" in name:
            raise hinted(error(f"`{key}` must be the name of a file"), f'such as {key} = "{such}": from the folder of the study, in quotes')
        if self.shut:
            refused = error(f"this study names the file `{name}`, and may name none")
            hint = "write into the study what the file holds; or leave out `--no-files` (`files=False`), if you trust it with every file that you can read"
            raise StudyError(refused.message, refused.place, hint)
        path = self.path / name
        if self.below is not None and not any(path.resolve().is_relative_to(folder.resolve()) for folder in self.below):
            hint = f"put the file into {' or '.join(map(str, self.below))}"
            raise hinted(error(f"this study names the file `{name}`, which is elsewhere than it may name files"), hint)
        return path
