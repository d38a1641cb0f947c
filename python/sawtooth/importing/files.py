"""The files of an import: which are meant, and that none of them is there twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sawtooth import foreign, reading
from sawtooth.errors import DatasetError, FileUnreadable
from sawtooth.foreign import Measured, jsontext


@dataclass(frozen=True)
class Source:
    """A measurement.

    Attributes:
        path: the file, as it was named, or below the directory that was named.
        measured: what it holds.
        sha256: of its bytes.

    """

    path: Path
    measured: Measured
    sha256: str


@dataclass(frozen=True)
class Found:
    """What was found.

    Attributes:
        sources: measurements, in the order of their names.
        others: files in directories that are none.
        failed: files that cannot be read, and why.

    """

    sources: Sequence[Source]
    others: Sequence[Path]
    failed: Sequence[FileUnreadable]


def found(paths: Sequence[Path]) -> Found:
    """The measurements that some files hold, and those in directories and below them; hidden ones are left alone.

    Args:
        paths: files and directories.

    Raises:
        DatasetError: if nothing is there, or one measurement is there twice.

    """
    named: dict[Path, bool] = {}
    for path in paths:
        if path.is_dir():
            below = (each for each in sorted(path.rglob("*")) if each.is_file() and not _hidden(each.relative_to(path)))
            named |= {each: named.get(each, False) for each in below}
        else:
            named[path] = True
    sources: list[Source] = []
    others: list[Path] = []
    failed: list[FileUnreadable] = []
    for path, is_named in named.items():
        if not is_named and not jsontext.is_json(path):
            others.append(path)
            continue
        try:
            measured = foreign.read(path)
        except foreign.Unknown as error:
            # A directory may well hold JSON of something else.
            if is_named:
                failed.append(error)
            else:
                others.append(path)
        except FileUnreadable as error:
            failed.append(error)
        else:
            sources.append(Source(path, measured, hashlib.sha256(reading.read(path, jsontext.MOST_BYTES)).hexdigest()))
    if gone := [path for path in paths if not path.exists()]:
        raise DatasetError(f"there is no {gone[0]}", "name files of iperf3 or flent, or directories with such")
    if not sources and not failed:
        what = f"{', '.join(map(str, paths))} {'has' if len(paths) == 1 else 'have'} no file of iperf3 or flent"
        raise DatasetError(what, "what `iperf3 -J`, `iperf3 --json-stream` and flent write is read")
    _require_once(sources)
    return Found(sources, others, failed)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _require_once(sources: Sequence[Source]) -> None:
    """Refuses what would count as two replicates and is one measurement."""
    by_content: dict[str, Path] = {}
    by_cookie: dict[str, Source] = {}
    for source in sources:
        if (other := by_content.setdefault(source.sha256, source.path)) is not source.path:
            raise DatasetError(f"{other} and {source.path} are the same measurement: they hold the same", "name one of them")
        # Both ends of an iperf3 test know it by a text of the client's.
        facts = source.measured.facts
        end = by_cookie.setdefault(facts["cookie"], source) if facts.get("cookie") else source
        if end.measured.facts.get("role") != facts.get("role"):
            raise DatasetError(
                f"{end.path} and {source.path} are the same measurement: iperf3 gives both one cookie, as its two ends do",
                "name one of them: the client's, unless what the server alone knows is wanted",
            )
