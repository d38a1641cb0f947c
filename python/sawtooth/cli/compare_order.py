"""Which kinds of sides `sawtooth compare` takes, and in which order; what else is named is told what it is and where it fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sawtooth import foreign
from sawtooth.errors import DatasetError
from sawtooth.kinds import Kind, kind


def require(paths: Sequence[Path]) -> None:
    """Refuses what is measured or published beside a capture or before results, and studies where results are wanted.

    Raises:
        DatasetError: that says what the file is, and which order or command fits.

    """
    kinds = [kind(path) for path in paths]
    named = dict(zip(reversed(kinds), reversed(paths), strict=True))
    measured, study = named.get(Kind.JSON), named.get(Kind.STUDY)
    if measured is not None and (Kind.CAPTURE in kinds or measured == paths[0]):
        _require_read(measured)
    if Kind.CAPTURE in kinds:
        if measured is not None:
            raise DatasetError(
                f"{measured} is what {foreign.program(measured)} measured, and a capture is compared with a capture, results or a study",
                f"`sawtooth compare DIR {measured}` holds results against it, and `sawtooth analyze {measured}` tells what it has",
            )
        return
    if study is not None:
        others = " ".join("DIR" if path == study else str(path) for path in paths)
        raise DatasetError(
            f"{study} is a study, and only beside a capture is it simulated",
            f"`sawtooth run {study} --out DIR` makes results, which `sawtooth compare {others}` then takes",
        )
    if measured is not None and measured == paths[0]:
        others = " ".join(map(str, paths[1:])) or "DIR"
        raise DatasetError(
            f"{measured} is what {foreign.program(measured)} measured, and results are named before it",
            f"`sawtooth compare {others} {measured}`; `sawtooth import` makes results of such files",
        )


def _require_read(path: Path) -> None:
    """Refuses JSON of which nobody knows what it is.

    Raises:
        DatasetError: that says so.

    """
    if foreign.program(path) is None:
        raise DatasetError(
            f"{path} is JSON, and not as iperf3 or flent writes it",
            f"`sawtooth analyze {path}` says what is wrong with it; sides are results directories, captures and CSV files",
        )
