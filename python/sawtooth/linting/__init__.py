"""What is wrong with a study before it runs, and with results after: a table of rules, each with a code, and what applies them.

sawtooth.lint("study.toml")          # diagnostics of a study
sawtooth.linting.marks(dataset)     # marks of cells of its results
"""

from __future__ import annotations

from sawtooth.linting.engine import Diagnostic, lint, lint_planned, lint_unread, marks, unusable
from sawtooth.linting.ignored import ignored
from sawtooth.linting.rule import GROUPS, Hit, Rule
from sawtooth.linting.table import RULES, chosen, rule, rule_of

__all__ = [
    "GROUPS",
    "RULES",
    "Diagnostic",
    "Hit",
    "Rule",
    "chosen",
    "ignored",
    "lint",
    "lint_planned",
    "lint_unread",
    "marks",
    "rule",
    "rule_of",
    "unusable",
]
