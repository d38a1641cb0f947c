"""A study's own analysis: a file of Python beside it, for what figures and findings cannot say.

It is read and checked when the study is planned, and its text is kept with the results. Nothing here runs it: reports do, if they may.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from sawtooth import reading
from sawtooth.errors import Place, StudyError
from sawtooth.study import Study
from sawtooth.study.document import shown

ENTRY = "sections"
"""The function that a report calls."""
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Analysis:
    """The file's name as the study has it, and its text."""

    file: str
    text: str

    @property
    def kept(self) -> dict[str, str]:
        """As a manifest holds it."""
        return {"file": self.file, "sha256": hashlib.sha256(self.text.encode()).hexdigest(), "text": self.text}


def read(study: Study) -> Analysis | None:
    """The analysis that a study names; None if it names none.

    Raises:
        StudyError: with its place, for a file that cannot be read, is no Python, or has no function `sections`.

    """
    if "analysis" not in study.tree:
        return None

    def error(message: str, hint: str | None = None) -> StudyError:
        return study.document.error(message, "analysis", hint)

    path = study.folder.file(study.tree["analysis"], error, "analysis", "analysis.py")
    try:
        text = reading.read_text(path, _MOST_BYTES, "put tables into files of their own")
    except OSError as failed:
        raise error(f"cannot read {path}: {failed.strerror or failed}", "relative to the folder of the study") from None
    except reading.Unreadable as failed:
        raise error(failed.message, failed.hint or "a file of Python is needed") from None
    try:
        parsed = ast.parse(text, str(path))
    except (SyntaxError, ValueError) as failed:
        raise _no_python(failed, str(path), text) from None
    if not any(isinstance(each, ast.FunctionDef) and each.name == ENTRY for each in parsed.body):
        raise error(
            f"{path} has no function `{ENTRY}`", f"a report calls `{ENTRY}(dataset)`, which returns a list of sawtooth.report.Section"
        )
    return Analysis(str(study.tree["analysis"]), text)


def stored(manifest: Mapping[str, object]) -> Analysis | None:
    """The analysis that is kept with results."""
    entry = cast(dict[str, str] | None, manifest.get("analysis"))
    return None if entry is None else Analysis(entry["file"], entry["text"])


def caveats(study: Study) -> list[str]:
    """What is to be said before all verdicts of a study.

    Raises:
        StudyError: with its place, for what is no list of texts.

    """
    given = study.tree.get("caveats", [])
    such = 'such as caveats = ["The links are assumed."]'
    if not isinstance(given, list):
        raise study.document.error(f"`caveats` is a list of texts, found {shown(given)}", "caveats", such)
    for at, each in enumerate(cast(list[object], given)):
        if not isinstance(each, str) or not each.strip():
            raise study.document.error(f"a caveat is a sentence, found {shown(each)}", f"caveats[{at}]", such)
    return cast(list[str], given)


def _no_python(failed: SyntaxError | ValueError, name: str, text: str) -> StudyError:
    if not isinstance(failed, SyntaxError) or failed.lineno is None:
        return StudyError(f"{name} is no Python: {failed}", hint="a report runs it")
    lines = text.splitlines()
    line = lines[failed.lineno - 1] if failed.lineno <= len(lines) else ""
    column = max(failed.offset or 1, 1)
    end = failed.end_offset if failed.end_lineno == failed.lineno and (failed.end_offset or 0) > column else column + 1
    return StudyError(f"this is no Python: {failed.msg}", Place(name, failed.lineno, column, end or column + 1, line), "a report runs it")
