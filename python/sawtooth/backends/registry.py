"""The backends: what may run the runs of a study. A row is all that the rest of the package knows of one, and nothing else lists their names.

What a backend is made of is in the module of its row, which is imported when it is used: a study can be read, and help be shown, without
any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from sawtooth import _core

if TYPE_CHECKING:
    from sawtooth.backends.batch import Batch
    from sawtooth.backends.launcher import Launcher


class Simulator(Protocol):
    """What the module of every backend has."""

    def run_batch(self, scenarios: Sequence[str], seeds: Sequence[int], captures: Sequence[_core.CaptureRequest] = ()) -> Batch:
        """Does runs: scenarios (JSON text), and as many seeds. A run that fails is reported; the others go on. `captures`: what is captured of the first of them."""
        ...


class Divisible(Simulator, Protocol):
    """What the module of a backend has besides whose batches several threads can do together."""

    def run_share(
        self, scenarios: Sequence[str], seeds: Sequence[int], stop: _core.StopRequest, captures: Sequence[_core.CaptureRequest] = ()
    ) -> Any:
        """Does some of a batch's runs; None comes of it if it is told to stop meanwhile. `captures`: what is captured of each, or of none anything."""
        ...

    def gather(self, outcomes: Sequence[Any]) -> Batch:
        """The batch of which these shares are, in the order of its runs."""
        ...


class Kernels(Simulator, Protocol):
    """What the module of a backend with real kernels has besides."""

    LAUNCHER: Launcher

    def require(self) -> None:
        """Raises `BackendUnavailable` if it cannot be used on this machine."""
        ...

    def provenance(self, scenarios: Sequence[str]) -> list[dict[str, Any]]:
        """The kernels that run these scenarios."""
        ...

    def parallel(self, scenarios: Sequence[str]) -> int:
        """How many batches of these scenarios may be done side by side."""
        ...

    def release(self, image: str = "", *, fetch: bool = True) -> str:
        """The release of its kernel, or of one made by `sawtooth kernel build`.

        Raises:
            BackendUnavailable: if there is none; or none without fetching it, and that is not wanted.

        """
        ...


@dataclass(frozen=True)
class Backend:
    """One row.

    Attributes:
        name: as studies and the command line have it.
        summary: what it is, in a line.
        module: where it is.
        clocks: those that its kernels may have, `virtual` and `real`; none if it has no kernels.
        boundless: of those, the ones by which its processor is infinitely fast, so that no link is too fast for it.

    """

    name: str
    summary: str
    module: str
    clocks: tuple[str, ...] = ()
    boundless: tuple[str, ...] = ()

    def load(self) -> Simulator:
        """What does its runs."""
        return cast(Simulator, import_module(self.module))

    def kernels(self) -> Kernels | None:
        """What runs its kernels, if it has any."""
        return cast(Kernels, import_module(self.module)) if self.clocks else None

    def clock(self, asked: str) -> str:
        """The clock that its kernels have where a study asks for one."""
        return asked if asked in self.clocks else self.clocks[0]


TABLE = (
    Backend("sim", "the simulator, in simulated time", "sawtooth.backends.sim"),
    Backend(
        "uml", "user-mode Linux, a kernel as a process, without root: the distribution's, or one that `sawtooth kernel build` made",
        "sawtooth.backends.uml", ("virtual", "real"), boundless=("virtual",),
    ),
    Backend("qemu", "the distribution's cloud kernel in a virtual machine", "sawtooth.backends.qemu", ("virtual", "real")),
    Backend("netns", "the kernel that this machine runs, in namespaces of its own", "sawtooth.backends.netns", ("real",)),
)  # fmt: skip
BACKENDS = {row.name: row for row in TABLE}
NAMES = tuple(BACKENDS)
WITH_KERNELS = tuple(row.name for row in TABLE if row.clocks)
"""Names of those that run real kernels."""


def kernels(backend: str) -> Kernels | None:
    """What runs the kernels of a backend, if it has any."""
    return BACKENDS[backend].kernels()


def divisible(backend: str) -> Divisible | None:
    """What does a backend's batches share by share, if it can."""
    module = BACKENDS[backend].load()
    return cast(Divisible, module) if hasattr(module, "run_share") else None


def require(backend: str) -> None:
    """Raises `BackendUnavailable` if this machine cannot run a backend; before anything is written for it."""
    if (found := kernels(backend)) is not None:
        found.require()
