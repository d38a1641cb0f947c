"""The files at the top of a results directory, and the list of their checksums, `SHA256SUMS`.

The list names the plan. It is written before the manifest: with the manifest the directory is complete.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from sawtooth.errors import DatasetError
from sawtooth.results.sums import Sums, digest
from sawtooth.storage import read_bytes, write_atomically

SUMS, MANIFEST, STUDY, RUNS, KERNELS = "SHA256SUMS", "manifest.json", "study.toml", "runs.parquet", "kernels.json"
_AGAIN = "run the study again into this directory: it makes anew what is damaged"
_LOST = "what was watched cannot be watched again: restore the file from a copy"


@dataclass(frozen=True)
class Head:
    """What these files hold; nothing for what is missing or not as it was written.

    Attributes:
        directory: where they are.
        owner: what the results are of: the hash of the plan.
        manifest: provenance.
        damaged: names of files that are missing or not as they were written.
        listed: the checksums.

    """

    directory: Path
    owner: str | None
    manifest: dict[str, Any] | None
    damaged: list[str]
    listed: Sums | None

    @classmethod
    def look(cls, directory: Path) -> Head:
        """Reads what can be read."""
        listed = _listed(directory)
        if listed is None:
            # Then it is the manifest that says what this is, if it is one.
            manifest = _as_manifest(read_bytes(directory / MANIFEST))
            owner = None if manifest is None else str(manifest["plan_hash"])
            return cls(directory, owner, manifest, [SUMS], None)
        damaged = [name for name in sorted(listed.files) if _digest(directory / name) not in listed.files[name]]
        manifest = None if MANIFEST in damaged else _as_manifest(read_bytes(directory / MANIFEST))
        if manifest is None and MANIFEST not in damaged:
            damaged.append(MANIFEST)
        if manifest is not None and STUDY not in damaged and manifest["study_sha256"] != _digest(directory / STUDY):
            damaged.append(STUDY)
        return cls(directory, listed.title.removeprefix(_TITLE), manifest, damaged, listed)

    def require_whole(self) -> None:
        """Raises `DatasetError` unless all is as it was written."""
        self.require_checksums()
        if self.damaged:
            are = "is missing or damaged" if len(self.damaged) == 1 else "are missing or damaged"
            planned = self.manifest is None or "batches" in self.manifest
            raise DatasetError(f"{', '.join(self.damaged)} in {self.directory} {are}", _AGAIN if planned else _LOST)

    def require_checksums(self) -> None:
        """Raises `DatasetError` for what was made without them."""
        if self.listed is None and not any((self.directory / "parts").glob("batch-*.sha256")):
            epoch = "an unknown results epoch" if self.manifest is None else f"results epoch {self.manifest.get('results_epoch')}"
            raise DatasetError(
                f"{self.directory} has no checksums ({SUMS}): it was made by an older version of Sawtooth, of {epoch}, or is damaged",
                "run the study again into another directory, or remove this one",
            )

    def without_kernels(self) -> Head:
        """The same, as if nothing had been damaged of what is known of kernels."""
        return dataclasses.replace(self, damaged=[name for name in self.damaged if name != KERNELS])

    @property
    def runs(self) -> pl.DataFrame:
        """The plan's table.

        Raises:
            DatasetError: if it cannot be read.

        """
        try:
            return pl.read_parquet(io.BytesIO(read_bytes(self.directory / RUNS)))
        except pl.exceptions.PolarsError:
            raise DatasetError(f"{RUNS} in {self.directory} is damaged", _AGAIN) from None

    @property
    def has_kernels(self) -> bool:
        """Whether kernels have been recorded."""
        return self.listed is not None and KERNELS in self.listed.files

    def kernels(self) -> list[dict[str, Any]]:
        """What was recorded of the real kernels; nothing of the simulator.

        Raises:
            DatasetError: if it is damaged.

        """
        if self.listed is None or not self.has_kernels:
            return []
        content = read_bytes(self.directory / KERNELS)
        if digest(content) not in self.listed.files[KERNELS]:
            raise DatasetError(f"{KERNELS} in {self.directory} is missing or damaged", _AGAIN)
        return cast(list[dict[str, Any]], json.loads(content))

    def is_kernels(self, content: bytes) -> bool:
        """Whether this is what was recorded of the real kernels, also if the file is damaged now."""
        return self.listed is not None and digest(content) in self.listed.files.get(KERNELS, ())

    def write(self, owner: str, contents: Mapping[str, bytes]) -> None:
        """Writes files that are not as they should be; what else was listed stays so. Killed at any moment, what is there is mended by another `write`."""
        before = Sums("", {}) if self.listed is None else self.listed
        listed = Sums(_TITLE + owner, {**before.files, **Sums.of("", contents).files})
        # The study first: until the list is there it says what this directory is going to be of.
        for name in sorted(contents.keys() - {MANIFEST}, key=lambda name: name != STUDY):
            _write(self.directory / name, contents[name])
        _write(self.directory / SUMS, listed.render())
        if MANIFEST in contents:
            _write(self.directory / MANIFEST, contents[MANIFEST])


_TITLE = "results of "


def _write(path: Path, content: bytes) -> None:
    if read_bytes(path) != content or path.is_symlink():
        write_atomically(path, content)


def _listed(directory: Path) -> Sums | None:
    try:
        sums = Sums.parse(read_bytes(directory / SUMS))
    except ValueError:
        return None
    return sums if sums.title.startswith(_TITLE) and {MANIFEST, STUDY, RUNS} <= sums.files.keys() else None


def _digest(path: Path) -> str:
    return digest(read_bytes(path))


def _as_manifest(content: bytes) -> dict[str, Any] | None:
    """A manifest, if that is one."""
    try:
        found = json.loads(content)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    manifest = cast(dict[str, Any], found)
    return manifest if {"name", "plan_hash", "study_sha256", "runs", "versions"} <= manifest.keys() else None
