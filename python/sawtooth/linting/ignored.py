"""What a study says of rules that it breaks on purpose: `[lint]` with `ignore = { SW402 = "why" }`, or `ignore = ["SW402"]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.linting.table import RULES, near
from sawtooth.study import Study
from sawtooth.study.paths import quoted


def ignored(study: Study) -> Mapping[str, str]:
    """Codes that a study ignores, and why, as far as it says.

    Raises:
        StudyError: if it ignores what is no rule, or an error that nothing could run with.

    """
    table: Any = study.tree.get("lint", {})
    if not isinstance(table, dict):
        raise study.document.error("`lint` is a table", "lint", 'for example [lint] and below it ignore = { SW402 = "why" }')
    for key in cast(dict[str, Any], table):
        if key != "ignore":
            raise study.document.error(f"unknown key `{key}` in `lint`", f"lint.{quoted(key)}", did_you_mean(key, ["ignore"]), key=True)
    named: Any = cast(dict[str, Any], table).get("ignore", {})
    if isinstance(named, list):
        pairs = [(code, "", f"lint.ignore[{at}]", False) for at, code in enumerate(cast(list[Any], named))]
    elif isinstance(named, dict):
        pairs = [(code, why, f"lint.ignore.{quoted(code)}", True) for code, why in cast(dict[str, Any], named).items()]
    else:
        raise _wrong(study, "lint.ignore")
    found: dict[str, str] = {}
    for code, why, path, at_key in pairs:
        if not isinstance(code, str) or not isinstance(why, str):
            raise _wrong(study, path)
        if code not in RULES:
            raise study.document.error(f"there is no rule `{code}`", path, near(code, RULES), key=at_key)
        if code == "SW001":
            raise study.document.error("`SW001` cannot be ignored: no run could use such a study", path, "leave it out", key=at_key)
        found[code] = why
    return found


def _wrong(study: Study, path: str) -> StudyError:
    return study.document.error("`ignore` names rules", path, 'for example ignore = { SW402 = "why" }, or ignore = ["SW402"]')
