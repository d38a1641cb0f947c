"""The table of rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.linting import buffers, cost, design, faults, file, path, results, statistics, traffic
from sawtooth.linting.rule import GROUPS, Rule

RULES: Mapping[str, Rule] = {
    rule.code: rule for module in (file, design, statistics, path, faults, buffers, traffic, cost, results) for rule in module.RULES
}
"""All rules by code, in the order of codes."""

GENERAL = "SW002"
"""Of warnings that no other rule says."""


def rule_of(message: str) -> Rule:
    """The rule of a warning of the core or of the plan."""
    return next((rule for rule in RULES.values() if any(words in message for words in rule.says)), RULES[GENERAL])


def rule(code: str) -> Rule:
    """The rule with a code, or a name.

    Raises:
        StudyError: if there is none.

    """
    found = RULES.get(code.upper()) or next((each for each in RULES.values() if each.name == code), None)
    if found is None:
        raise StudyError(f"there is no rule `{code}`", hint=near(code, [each.name for each in RULES.values()]))
    return found


def near(code: str, known: Iterable[str]) -> str:
    """A hint for a code that there is not: of one with another number every rule is as near as the next, and which kinds there are helps more."""
    kinds = ", ".join(f"{begins} ({group})" for begins, group in GROUPS.items())
    return f"codes begin with {kinds}; `sawtooth list rule` shows all" if re.match(r"(?i)sw\d", code) else did_you_mean(code, known)


def chosen(codes: str) -> set[str]:
    """The codes that a list such as `SW4,SW101` names: whole codes, names, or how codes begin.

    Raises:
        StudyError: if nothing is called so.

    """
    found: set[str] = set()
    for part in filter(None, (each.strip() for each in codes.split(","))):
        begun = {code for code in RULES if code.startswith(part.upper())}
        found |= begun or {rule(part).code}
    return found
