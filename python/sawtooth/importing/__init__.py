"""Measurements of other programs as results: a file is a run, files of the same settings are replicates of each other."""

from __future__ import annotations

from sawtooth.importing.files import Found, found
from sawtooth.importing.results import Imported, import_files
from sawtooth.importing.settings import Given

__all__ = ["Found", "Given", "Imported", "found", "import_files"]
