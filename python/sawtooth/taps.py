"""Captures of runs, simulated or of real kernels: where packets are seen, and which files they go to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from sawtooth import _core, outputs
from sawtooth.called import overrides
from sawtooth.errors import StudyError
from sawtooth.hints import did_you_mean
from sawtooth.plan import Plan, Run

SUFFIX = ".pcapng"
SNAP = 96
"""Bytes of a packet that are captured unless it is said: all headers, which take at most 80, and what Ethernet would have before them."""
_LEAST_SNAP = 80
_MOST_SNAP = 65_535
_HOSTS = ("sender", "receiver")
_POINTS = "it is sender, receiver, link:NAME for the beginning of a link or link:NAME:far for its end"
_OVERHEAD = 40
"""Bytes of a file that a packet takes besides its own."""


@dataclass(frozen=True)
class Capture:
    """What is captured of one run.

    Attributes:
        points: of each file where its packets are seen: `sender`, `receiver`, or `near` or `far` with the name of a link.
        paths: the files.
        snap: bytes of each packet, from its IP header on; 0: all.
        comments: what the files say of themselves.

    """

    points: list[tuple[str, str | None]]
    paths: list[str]
    snap: int
    comments: list[str]


@dataclass(frozen=True)
class Wanted:
    """What the user wants to be captured.

    Attributes:
        where: a file, or a directory with a file for each point.
        points: as they were said.
        snap: see `Capture`.
        on_kernels: whether it is of runs on real kernels.
        files: that were to be written so far, each with what stood there before: its place on the disk and its time, if one did.

    """

    where: Path
    points: tuple[str, ...] = ("sender",)
    snap: int = SNAP
    on_kernels: bool = False
    files: dict[Path, tuple[int, int] | None] = field(default_factory=dict[Path, tuple[int, int] | None])

    def of_scenario(self, scenario: str, comments: Sequence[str]) -> Capture:
        """What is captured of the only run: its file, or those of its points in the directory.

        Raises:
            StudyError: for a link that there is not, a directory that cannot be written to, or what is there and is no file.

        """
        points = self._points(scenario)
        is_file = self.where.suffix == SUFFIX
        _make(self.where.parent if is_file else self.where)
        paths = [self.where] if is_file else [self.where / f"{_label(point)}{SUFFIX}" for point in points]
        for path in paths:
            outputs.require(path, "a capture")
        return self._capture(points, paths, comments)

    def of_run(self, plan: Plan, run: Run) -> Capture:
        """What is captured of a run of a study: files named by its cell, arm and replicate.

        Raises:
            StudyError: for a link that there is not.

        """
        arm = [quote(run.arm, safe=" ").replace(" ", "_")] if run.arm else []
        name = "-".join([f"cell-{run.cell}", *arm, f"replicate-{run.replicate}"])
        points = self._points(run.scenario)
        paths = [self.where / f"{name}.{_label(point)}{SUFFIX}" for point in points]
        return self._capture(points, paths, comments(plan, run))

    def prepare(self, plan: Plan) -> str | None:
        """Makes the directory for the runs of a plan, before any of them; a warning if there may be too little room.

        Raises:
            StudyError: for a link that a run does not have, for one file, or a directory that cannot be written to.

        """
        if self.where.suffix == SUFFIX:
            raise StudyError(f"{self.where} is one file, and `sawtooth run` captures every run in its own", hint="name a directory")
        # Only names of links can be wrong in one run and right in another.
        for scenario in dict.fromkeys(run.scenario for run in plan.runs) if self._has_links else [plan.runs[0].scenario]:
            self._points(scenario)
        _make(self.where)
        # A packet of data at each point, and half as many acknowledgements.
        most = 1.5 * plan.cost * len(self.points) * (_OVERHEAD + (self.snap or 1500))
        free = shutil.disk_usage(self.where).free
        return f"captures may take {size(most)} at most, and {size(free)} are free there" if most > free else None

    @property
    def _has_links(self) -> bool:
        return any(point not in _HOSTS for point in self.points)

    def written(self) -> list[Path]:
        """Those of its files that have been written."""
        return [path for path, before in self.files.items() if _state(path) not in (None, before)]

    def _capture(self, points: list[tuple[str, str | None]], paths: list[Path], comments: Sequence[str]) -> Capture:
        for path in paths:
            self.files.setdefault(path, _state(path))
        return Capture(points, [str(path) for path in paths], self.snap, list(comments))

    def _points(self, scenario: str) -> list[tuple[str, str | None]]:
        return [_point(point, self._links(scenario) if self._has_links else []) for point in self.points]

    def _links(self, scenario: str) -> list[str]:
        if self.on_kernels:
            return _core.kernel_settings(scenario)["links"]
        return [name for name, _ in _core.network(scenario)[0]]


def wanted(where: str | os.PathLike[str], points: Sequence[str] = (), snap: int = SNAP, *, on_kernels: bool = False) -> Wanted:
    """What is to be captured.

    Args:
        where: a file NAME.pcapng for one point, or a directory.
        points: `sender` (if none is said), `receiver`, `link:NAME`, `link:NAME:far`; each may hold several, with commas between them.
        snap: bytes of each packet, from its IP header on; 0: all.
        on_kernels: of runs on real kernels.

    Raises:
        StudyError: if that cannot be.

    """
    if str(where) in ("", "-"):
        raise StudyError(f"captures go to files, and `{where}` names none", hint=f"name a file such as run{SUFFIX}, or a directory")
    path = Path(where)
    each = [point.strip() for text in points for point in text.split(",") if point.strip()]
    unique = tuple(dict.fromkeys(each)) or ("sender",)
    if path.suffix in {".pcap", ".cap", ".dmp"}:
        raise StudyError(
            f"captures are written as pcapng, and {path} is the name of an older format",
            hint=f"name {path.with_suffix(SUFFIX)}, or a directory; `editcap -F pcap` makes the older format of it",
        )
    if path.suffix == SUFFIX and len(unique) > 1:
        raise StudyError(f"{path} is one file, and each point has its own: {', '.join(unique)}", hint="name a directory")
    if snap > _MOST_SNAP:
        raise StudyError(f"no packet has {snap} bytes", hint="0 captures whole packets")
    if snap and snap < _LEAST_SNAP:
        raise StudyError(
            f"{snap} bytes of a packet do not hold its headers", hint=f"they take up to {_LEAST_SNAP}; 0 captures whole packets"
        )
    return Wanted(path, unique, snap, on_kernels)


def comments(plan: Plan, run: Run) -> list[str]:
    """What a file says of its run."""
    cell = next(cell for cell in plan.cells if cell.number == run.cell)
    factors = ", ".join(f"{path} = {value}" for path, value in cell.factors.items())
    named = [f"study {plan.study.name}, cell {run.cell}{f' ({factors})' if factors else ''}"]
    if run.arm:
        named.append(f"arm {run.arm}")
    named.append(f"replicate {run.replicate}, seed {run.seed}")
    if altered := overrides(plan.study):
        named.append(f"with {altered}")
    return [", ".join(named), _said(run.scenario, plan.study.backend)]


def of_seed(scenario: str, seed: int) -> list[str]:
    """What a file says of a run that is of no study."""
    return [f"seed {seed}", _said(scenario)]


def size(count: float) -> str:
    """So many bytes, in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def lines(paths: Sequence[Path]) -> list[str]:
    """What was written, a line for each file, or for all if they are many."""
    if len(paths) > 6:
        total = sum(path.stat().st_size for path in paths)
        return [f"captures: {len(paths):,} files in {paths[0].parent}, {size(total)}"]
    return [f"capture: {path}, {size(path.stat().st_size)}" for path in paths]


def _said(scenario: str, backend: str = "sim") -> str:
    tree = json.loads(scenario)
    made = "simulated" if backend == "sim" else f"real kernels ({backend}), times by their clock"
    return f"{made}; time 0 of the run is 2000-01-01T00:00:00Z, and it takes {tree.get('duration')}"


def _point(text: str, links: Sequence[str]) -> tuple[str, str | None]:
    if text in _HOSTS:
        return text, None
    word, colon, name = text.partition(":")
    if word != "link" or not colon:
        raise StudyError(f"`{text}` is no point to capture at", hint=_POINTS)
    end = "near"
    if name not in links:
        for suffix, what in ((":near", "near"), (":far", "far")):
            if name.endswith(suffix):
                name, end = name.removesuffix(suffix), what
    if name not in links:
        raise StudyError(f"there is no link `{name}` to capture at", hint=did_you_mean(name, links))
    return end, name


def _label(point: tuple[str, str | None]) -> str:
    """A point as a part of the name of a file."""
    word, link = point
    if link is None:
        return word
    return f"link-{quote(link, safe='[] ')}{'-far' if word == 'far' else ''}"


def _state(path: Path) -> tuple[int, int] | None:
    """A file that is written anew is another one, and has another time."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        raise StudyError(f"captures cannot be written to {directory}: {error.strerror}", hint="name another directory") from None
