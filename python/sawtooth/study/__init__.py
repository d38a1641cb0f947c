"""Study files: what they say, and where they say it.

A study is a scenario (a tree that the core interprets), and around it variables, random draws, sweeps, arms and replicates.
Python substitutes values in the tree and never interprets it. Every substituted value remembers where it was written, so that
an error of the core can point there.
"""

from __future__ import annotations

from sawtooth.study.assign import Assignment
from sawtooth.study.document import Document
from sawtooth.study.model import Study

__all__ = ["Assignment", "Document", "Study"]
