"""Transfers of which some, or all, of one arm or both do not finish before their runs end."""

from __future__ import annotations

from pathlib import Path

import sawtooth
from sawtooth.analysis import Dataset

STUDY = """
repeat = 6
[draws]
start = {{ distribution = "uniform", low = "0", high = "1000" }}
[scenario]
duration = "3 s"
links.l = {{ rate = "5 Mbit/s", delay = "10 ms", queue = {{ name = "drop_tail", limit = "20 packets" }} }}
flows = [{{ name = "f", path = ["l"], start = "{start}", source = {{ name = "bulk", size = "1 MB" }} }}]
[arms]
a = {{ "flows[0].source.size" = "{a}" }}
b = {{ "flows[0].source.size" = "{b}" }}
"""
ALL, SOME, NONE = "1 MB", "1550 kB", "9 MB"
"""Sizes of which all runs, some, and no run finishes."""


def made(folder: Path, a: str, b: str, *, alike: bool = False) -> Dataset:
    """The runs of arms `a` and `b` with transfers of these sizes; `alike` without anything that is drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "s.toml").write_text(STUDY.format(a=a, b=b, start="0 s" if alike else "start * 1 ms"))
    return sawtooth.run(folder / "s.toml", folder / "out")
