"""Which kinds of sides `sawtooth compare` takes, and in which order; what else is named is told what it is and where it fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sawtooth.beside import is_capture
from sawtooth.errors import DatasetError
from sawtooth.foreign import is_json


def require(paths: Sequence[Path]) -> None:
    """Refuses what is measured or published beside a capture or before results, and studies where results are wanted.

    Raises:
        DatasetError: that says what the file is, and which order or command fits.

    """
    measured = next((path for path in paths if is_json(path)), None)
    if any(map(is_capture, paths)):
        if measured is not None:
            raise DatasetError(
                f"{measured} is what iperf3 or flent measured, and a capture is compared with a capture, results or a study",
                f"`sawtooth compare DIR {measured}` holds results against it, and `sawtooth analyze {measured}` tells what it has",
            )
        return
    study = next((path for path in paths if path.is_file() and path.suffix == ".toml"), None)
    if study is not None:
        others = " ".join("DIR" if path == study else str(path) for path in paths)
        raise DatasetError(
            f"{study} is a study, and only beside a capture is it simulated",
            f"`sawtooth run {study} --out DIR` makes results, which `sawtooth compare {others}` then takes",
        )
    if measured is not None and measured == paths[0]:
        others = " ".join(map(str, paths[1:])) or "DIR"
        raise DatasetError(
            f"{measured} is what iperf3 or flent measured, and results are named before it",
            f"`sawtooth compare {others} {measured}`",
        )
