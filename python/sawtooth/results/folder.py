"""Where files of results are written: a directory, which workers on other machines see as well, or a URL of an object store.

Either is pickled small and opened where it is used. A file is there whole or not at all: in a directory it is renamed into its place, and object stores
put objects so.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, cast

from sawtooth.errors import DatasetError
from sawtooth.storage import read_bytes, write_atomically, writing


class Folder(Protocol):
    """Files by their names."""

    def __str__(self) -> str: ...

    def read(self, name: str) -> bytes:
        """What a file holds; nothing if there is none."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Puts a file there, whole or not at all."""
        ...

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        ...


@dataclass(frozen=True)
class Directory:
    """The folder `parts` of a results directory of this machine, or of one that several machines share."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes:
        """See `Folder`."""
        return read_bytes(self.path / name)

    def write(self, name: str, content: bytes) -> None:
        """See `Folder`."""
        with writing(self.path.parent):
            write_atomically(self.path / name, content)

    def remove(self, name: str) -> None:
        """See `Folder`."""
        with writing(self.path.parent):
            (self.path / name).unlink(missing_ok=True)


_MARKS = ("ETag", "LastModified", "mtime", "created", "size")
"""What stores say of a file that changes when it does."""
_TIMES = ("LastModified", "mtime", "updated", "last_modified", "created")
"""What stores call when it was written."""


@dataclass(frozen=True)
class Objects:
    """What has a common beginning of its names at a URL of fsspec: `s3://bucket/results`."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> Objects:
        return Objects(f"{self.url.rstrip('/')}/{name}")

    def read(self, name: str) -> bytes:
        """See `Folder`."""
        return self.read_many([name]).get(name, b"")

    def read_many(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """What those of these files hold that are there, fetched side by side."""
        system, root = self._opened
        with _using(self.url):
            # One that is gone meanwhile is no reason to have none.
            found = cast(dict[str, Any], system.cat([f"{root}/{name}" for name in names], on_error="return")) if names else {}
        contents: dict[str, bytes] = {}
        for name in names:
            content = found.get(f"{root}/{name}")
            if isinstance(content, FileNotFoundError) or content is None:
                continue
            if isinstance(content, Exception):
                with _using(self.url):
                    raise content
            contents[name] = content
        return contents

    def marks(self) -> dict[str, str]:
        """The files that are there, without those of folders within, each with what changes when it does."""
        return {name: str({key: each.get(key) for key in _MARKS}) for name, each in self._listed().items()}

    def times(self) -> dict[str, float]:
        """The files that are there, each with when it was written by the store's clock, in seconds; 0 where a store does not say."""
        told = {name: next((each[key] for key in _TIMES if each.get(key)), 0.0) for name, each in self._listed().items()}
        return {name: at.timestamp() if isinstance(at, datetime) else float(at) for name, at in told.items()}

    def _listed(self) -> dict[str, dict[str, Any]]:
        system, root = self._opened
        with _using(self.url):
            system.invalidate_cache()
            try:
                found = cast(list[dict[str, Any]], system.ls(root, detail=True))
            except FileNotFoundError:
                return {}
        named = {str(each["name"]).removeprefix(f"{root}/"): each for each in found if each.get("type") == "file"}
        return {name: each for name, each in sorted(named.items()) if "/" not in name}

    def write(self, name: str, content: bytes) -> None:
        """See `Folder`."""
        system, root = self._opened
        with _using(self.url):
            try:
                system.pipe_file(f"{root}/{name}", content)
            except FileNotFoundError:
                raise DatasetError(f"cannot write to {self.url}: there is no such bucket", "make it, or name another with --out") from None

    def remove(self, name: str) -> None:
        """See `Folder`."""
        system, root = self._opened
        with _using(self.url), contextlib.suppress(FileNotFoundError):
            system.rm_file(f"{root}/{name}")

    @property
    def _opened(self) -> tuple[Any, str]:
        return _open(self.url, os.getpid())


@functools.lru_cache(maxsize=64)
def _open(url: str, _process: int) -> tuple[Any, str]:
    """The file system of a URL and the path there; of each process its own, as connections are not shared."""
    try:
        from fsspec.core import url_to_fs  # pyright: ignore[reportUnknownVariableType]
    except ImportError:
        raise DatasetError(
            f"results at {url} need the package `fsspec`, which is not installed", 'install it: pip install "$(ls sawtooth-*.whl)[cluster]"'
        ) from None
    try:
        system, root = cast(tuple[Any, str], url_to_fs(url))
    except ImportError as error:
        raise DatasetError(
            f"cannot use {url}: {error}", 'install what it names; s3:// is in: pip install "$(ls sawtooth-*.whl)[cluster]"'
        ) from None
    except ValueError as error:
        raise DatasetError(f"cannot use {url}: {error}", "name a directory, or a URL such as s3://bucket/results") from None
    return system, root.rstrip("/")


@contextlib.contextmanager
def _using(url: str) -> Generator[None]:
    """Turns what an object store refuses into errors that say what to do."""
    try:
        yield
    except (FileNotFoundError, DatasetError):
        raise
    except PermissionError as error:
        raise DatasetError(f"{url} refuses access: {error}", "ask its owner for permission to read, write, list and delete there") from None
    except Exception as error:  # each store has errors of its own
        raise DatasetError(
            f"cannot use {url}: {str(error) or type(error).__name__}",
            "see that the bucket is there, and that its address and credentials are right",
        ) from None


def url_of(place: str | os.PathLike[str]) -> str | None:
    """The URL that a place is, if it is one; a path that was made of it has lost a slash."""
    if found := re.fullmatch(r"file:/+(?P<rest>.*)", os.fspath(place)):
        raise DatasetError(f"{place} is a directory of this machine", f"write it without file://: /{found['rest']}")
    found = re.fullmatch(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.+)", os.fspath(place))
    return f"{found['scheme']}://{found['rest'].rstrip('/')}" if found else None


def named(place: str | os.PathLike[str]) -> str:
    """A place as who named it did."""
    return url_of(place) or os.fspath(place)
