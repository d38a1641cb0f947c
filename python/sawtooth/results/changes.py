"""What was changed of a study's text after its runs were made: claims, figures, caveats and the like, which no run depends on.

Such a text may be shown with runs that are there, but whoever reads the verdicts must be able to see that it is not the one that was run. So a
manifest keeps an entry for every change, and all forms of a report say it at their head.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sawtooth import _core

SHOWN = ("study_sha256", "references", "analysis")
"""What a manifest has of a study's text: of the file, of the tables that it is held against, of its analysis."""


def now() -> str:
    """The time of a change, as manifests write times."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def change(was: Mapping[str, Any], text: str | None, new: Mapping[str, Any], now: str, when: str | None) -> dict[str, Any] | None:
    """The entry of a manifest for a change; None if nothing was changed.

    Args:
        was: the manifest before.
        text: of the study before; None if it is damaged.
        new: the manifest after it.
        now: the text of the study after it.
        when: time; None for a change that one report makes and the results do not keep.

    """
    # Older manifests leave out what there is none of.
    if all((was.get(key) or None) == (new.get(key) or None) for key in SHOWN):
        return None
    made: dict[str, Any] = {
        "time": when,
        "study": [was["study_sha256"], new["study_sha256"]],
        "analysis": [_sum(was), _sum(new)],
    }
    before = None if text is None else _tree(text)
    if before is not None:
        after = _tree(now) or {}
        parts = {key for key in {*before, *after} - {"findings"} if before.get(key) != after.get(key)}
        parts |= {key for key in ("references", "analysis") if (was.get(key) or None) != (new.get(key) or None)}
        made |= {"claims": _claims(before, after), "parts": sorted(parts)}
    return made


def words(changes: Sequence[Mapping[str, Any]]) -> str:
    """All changes in a sentence, with what the study was when it was first run; empty for none."""
    if not changes:
        return ""
    said = "; ".join(f"{_words(each)} ({_time(each['time'])})" for each in changes)
    study, analysis = (changes[0][key][0] for key in ("study", "analysis"))
    also = f", and its analysis {analysis}" if analysis and any(each["analysis"][1] != analysis for each in changes) else ""
    return f"The study's text was changed after its runs: {said}; the study as it was first run has SHA-256 {study}{also}."


def listed(changes: Sequence[Mapping[str, Any]]) -> str:
    """The claims that were changed, added and removed, by the time at which that was done; empty for none."""
    return "; ".join(
        f"{what} ({_time(each['time'])}): {', '.join(those)}"
        for each in changes
        for what, those in cast(dict[str, list[str]], each.get("claims", {})).items()
        if those
    )


def first(changes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The hashes of what was first run, and of the analysis now, where that is another."""
    if not changes:
        return {}
    was, now = changes[0]["analysis"][0], changes[-1]["analysis"][1]
    found = {"study file as it was first run": changes[0]["study"][0]}
    if any(each["analysis"][1] != was for each in changes):
        found |= {"analysis": now, "analysis as it was first run": was}
    return {name: each for name, each in found.items() if each}


def _claims(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[str]]:
    """Which were changed, added and removed: one is another if it says something else, and is changed if it is decided otherwise."""
    was, new = (_by_claim(tree) for tree in (before, after))
    return {
        "changed": [claim for claim in new if claim in was and was[claim] != new[claim]],
        "added": [claim for claim in new if claim not in was],
        "removed": [claim for claim in was if claim not in new],
    }


def _by_claim(tree: Mapping[str, Any]) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {}
    for each in cast(list[dict[str, Any]], tree.get("findings", [])):
        made.setdefault(str(each.get("claim")), []).append(each)
    return made


def _words(change: Mapping[str, Any]) -> str:
    if "claims" not in change:
        return "it is not known in what, for the text before was damaged"
    counted = [f"{len(those)} {what}" for what, those in cast(dict[str, list[str]], change["claims"]).items() if those]
    if counted:
        number, rest = counted[0].split(" ", 1)
        counted[0] = f"{number} {'claim' if number == '1' else 'claims'} {rest}"
    parts = cast(list[str], change["parts"])
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
    return "; ".join(filter(None, [", ".join(counted), f"{listed} changed" if parts else ""])) or "nothing that is shown"


def _time(when: str | None) -> str:
    """To the minute, as people write it."""
    return "for this report only" if when is None else f"{when[:16].replace('T', ' ')} UTC"


def _sum(manifest: Mapping[str, Any]) -> str | None:
    analysis = cast(dict[str, str] | None, manifest.get("analysis"))
    return analysis["sha256"] if analysis else None


def _tree(text: str) -> dict[str, Any] | None:
    """What a text says; None if it is none of a study any more."""
    try:
        return _core.parse_toml(text)[0]
    except _core.TomlError:
        return None
