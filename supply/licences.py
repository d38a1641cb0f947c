"""Licences of the Python distributions of the lock file, as their metadata say, and of the packages that are in the explorer's pages.

What runs with Sawtooth is permissive, by the list of `deny.toml`, as crates are. What only checks it (the group `dev`) is not passed on, and may
be under the Mozilla Public License besides, which asks for nothing but its own files.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ALSO_FOR_DEVELOPMENT = {"MPL-2.0"}
# Metadata from before License-Expression (PEP 639) say it in words.
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# What metadata leave out, as the file LICENSE of the distribution has it.
BY_FILE = {"cargo-zigbuild": "MIT"}
# And some in words of their own.
WORDS = {"BSD": "BSD-3-Clause", "BSD 3-Clause": "BSD-3-Clause"}


@dataclass(frozen=True)
class Distribution:
    """One of the lock file: whether it runs with Sawtooth, and its licence as an SPDX expression; empty if it is not installed here."""

    name: str
    version: str
    runs: bool
    licence: str


PAGES = ROOT / "python/sawtooth/web/static/licenses.txt"
"""What is in the pages, as `web/build.mjs` lists it: name, version, licence, and the licence's text."""


def pages() -> list[Distribution]:
    """The packages that are in the explorer's pages."""
    told = re.findall(r"^(\S+) (\S+) \(([^()]+)\)\n\n", PAGES.read_text(encoding="utf-8"), re.MULTILINE)
    return [Distribution(name, version, True, licence) for name, version, licence in told]


def permissive() -> set[str]:
    """The licences that `deny.toml` allows."""
    return set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])


def distributions() -> list[Distribution]:
    """All distributions of the lock file but Sawtooth itself, each name once."""
    packages = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in packages:
        by_name.setdefault(package["name"], []).append(package)
    runs = set(_needed("sawtooth", by_name))
    found: list[Distribution] = []
    for name in sorted(by_name.keys() - {"sawtooth"}):
        try:
            told = metadata(name)
        except PackageNotFoundError:
            # Of another platform, or of another version of Python.
            found.append(Distribution(name, str(by_name[name][-1]["version"]), name in runs, ""))
        else:
            found.append(Distribution(name, told["Version"], name in runs, BY_FILE.get(name) or licence(told)))
    return found


def _needed(name: str, by_name: dict[str, list[dict[str, Any]]], seen: set[str] | None = None) -> Iterator[str]:
    """What a distribution needs, and what that needs; Sawtooth's extras are passed on, too, and groups for development are no dependencies."""
    seen = set() if seen is None else seen
    for package in by_name[name]:
        optional = (each for extra in package.get("optional-dependencies", {}).values() for each in extra) if name == "sawtooth" else ()
        for dependency in (*package.get("dependencies", ()), *optional):
            if dependency["name"] not in seen:
                seen.add(dependency["name"])
                yield dependency["name"]
                yield from _needed(dependency["name"], by_name, seen)


def licence(told: PackageMetadata) -> str:
    """The licence that metadata tell, as an SPDX expression; the words themselves if that cannot be read."""
    if "License-Expression" in told:
        return str(told["License-Expression"])
    words = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line.startswith("License :: ")]
    if words and all(word in CLASSIFIERS for word in words):
        return " AND ".join(CLASSIFIERS[word] for word in words)
    written = str(told["License"]).strip().splitlines()[0] if "License" in told else "unknown"
    return WORDS.get(written, written)


def is_allowed(expression: str, allowed: Collection[str]) -> bool:
    """Whether an SPDX expression can be met with these licences; `AND` binds closer than `OR` (SPDX 3.0.1, annex B)."""
    tokens = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+\S+)?", expression)

    def alternatives() -> bool:
        met = conjunction()
        while tokens and tokens[0].upper() == "OR":
            tokens.pop(0)
            met = conjunction() or met
        return met

    def conjunction() -> bool:
        met = one()
        while tokens and tokens[0].upper() == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        if not tokens:
            return False
        token = tokens.pop(0)
        if token != "(":
            return " ".join(token.split()) in allowed
        met = alternatives()
        return bool(tokens) and tokens.pop(0) == ")" and met

    return alternatives() and not tokens


def refused() -> list[Distribution]:
    """Distributions and packages whose licence is not among those that are allowed."""
    allowed = permissive()
    return [
        each
        for each in (*distributions(), *pages())
        if each.licence and not is_allowed(each.licence, allowed if each.runs else allowed | ALSO_FOR_DEVELOPMENT)
    ]
