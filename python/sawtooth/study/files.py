"""Files that a scenario names. The core reads none: what they hold is put into the scenario's tree, so all that a run depends on is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sawtooth.errors import StudyError
from sawtooth.study import distributions, linkfiles
from sawtooth.study.folder import Folder


def inline(tree: dict[str, Any], folder: Folder, locate: Callable[[str, str], StudyError]) -> None:
    """Puts what files hold into the tree that names them.

    Args:
        tree: a scenario's tree, which is changed.
        folder: where the files are.
        locate: makes an error of a message and the path of the offending value in the tree.

    Raises:
        StudyError: for a file that may not be named or cannot be read, or a line of it that cannot be used, with file, line and column.

    """
    linkfiles.inline(tree, folder, locate)
    distributions.inline_files(tree, folder, locate)
