"""What a study's own analysis adds to its report.

It is code, so it runs only if it comes along with this installation, word for word, or if whoever makes the report says so: results may be
a stranger's.
"""

from __future__ import annotations

import sys
import traceback
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from sawtooth.analyses import ENTRY, Analysis
from sawtooth.errors import DatasetError, SawtoothError
from sawtooth.report.document import Section
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped
from sawtooth.study.document import shown

TITLE = "The study's own analysis"
OPTION = "--run-analysis"


def sections(dataset: Dataset, analysis: Analysis, *, run: bool) -> list[Section]:
    """Its sections; in their place one that says why there are none, if it may not run.

    Raises:
        DatasetError: if it fails, with the line at which it does, or returns something else.

    """
    if not run and not comes_along(analysis):
        return [
            Section(
                TITLE,
                [f"The study has an analysis of its own, {analysis.file} (SHA-256 {analysis.kept['sha256']}), which was not run: it is code, and not "
                 f"of this installation. `sawtooth report {OPTION}` runs it, with all that you may do yourself; it is kept in manifest.json."],
            )
        ]  # fmt: skip
    module = ModuleType("sawtooth_analysis")
    module.__file__ = analysis.file
    # Data classes and the like look their module up.
    sys.modules[module.__name__] = module
    # The public name of results, of which report may not know how it is made.
    public: Any = import_module("sawtooth").Dataset
    try:
        exec(compile(analysis.text, analysis.file, "exec"), module.__dict__)
        found: Any = getattr(module, ENTRY)(public.of(dataset))
    except SawtoothError as error:
        raise _failed(analysis, str(error), error) from error
    except Exception as error:
        raise _failed(analysis, f"{type(error).__name__}: {error}", error) from error
    finally:
        del sys.modules[module.__name__]
    if not isinstance(found, list):
        raise _no_list(analysis, found)
    for each in cast(list[object], found):
        if not isinstance(each, Section):
            raise _no_list(analysis, each)
    return cast(list[Section], found)


def comes_along(analysis: Analysis) -> bool:
    """Whether it is, word for word, one of a study that comes along."""
    return analysis.text in _shipped()


@cache
def _shipped() -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8") for path in shipped.DIRECTORY.rglob("*.py"))


def _no_list(analysis: Analysis, found: object) -> DatasetError:
    return DatasetError(f"`{ENTRY}` of {analysis.file} returned {shown(found)}", "it returns a list of sawtooth.report.Section")


def _failed(analysis: Analysis, what: str, error: Exception) -> DatasetError:
    """Its own last line is where to look, whatever it called there."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == analysis.file]
    place = f"{analysis.file}:{own[-1].lineno}: " if own and own[-1].lineno else f"{analysis.file}: "
    return DatasetError(
        f"{place}the study's own analysis failed: {what}", f"mend it, and `sawtooth report --study FILE {OPTION}` takes it as it then is"
    )
