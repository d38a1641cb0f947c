"""Fills what the guides to captures show, of a capture that is simulated for them: `python -m docs.captured [--check]`.

With --check nothing is written, and the pages must already be so. It takes some seconds.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from docs.blocks import console, filled, said

GUIDES = Path(__file__).parent / "guides"
TRANSFER = """
name = "transfer"
seed = 3

[scenario]
duration = "30 s"
stack = "linux"
links.line = { rate = "8 Mbit/s", delay = "20 ms", loss = 0.0005, queue = { name = "drop_tail", limit = "60 kB" } }

[[scenario.flows]]
path = ["line"]
cc = "cubic"
source = { name = "bulk", size = "20 MB" }
"""
OTHERS = """
[[scenario.flows]]
path = ["line"]
transport = "udp"
source = { name = "constant_rate", rate = "3 Mbit/s", size = "1200 B" }
"""
# What `fit` says of each property begins with its name; other lines are about files and about what else was near.
FITTED = ("rate", "delay", "buffer", "loss", "others", "cc", "study")


def blocks() -> dict[str, Mapping[str, str]]:
    """What each page shows; files are in the directory that this is called in."""
    _capture("transfer", TRANSFER)
    _capture("shared", TRANSFER + OTHERS)
    fitted = said("fit", "transfer.pcapng", "--out", "fitted.toml")
    shared = said("fit", "shared.pcapng", "--out", "shared.toml", "--force").splitlines()
    (at,) = (at for at, line in enumerate(shared) if line.startswith("others"))
    return {
        "analyze": {"analyze": console("", said("analyze", "transfer.pcapng"))},
        "fit": {
            "fit": console("", "\n".join(line for line in fitted.splitlines() if line.startswith(FITTED))),
            "others": console("", "\n".join(shared[at : at + 2])),
        },
        "compare": {"beside": console("", said("compare", "transfer.pcapng", "fitted.toml").partition("\n\n")[0])},
        "advise": {"advise": console("", said("advise", "fitted.toml").partition("\ntimes: ")[0])},
    }


def _capture(name: str, study: str) -> None:
    Path(f"{name}.toml").write_text(study.lstrip(), encoding="utf-8")
    said("simulate", f"{name}.toml", "--pcap", f"{name}.pcapng")


def main() -> None:
    """Fills the pages, or says which are not as the capture is."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        made = blocks()
    for name, its in made.items():
        page = GUIDES / f"{name}.md"
        before = page.read_text(encoding="utf-8")
        after = filled(before, its)
        if "--check" not in sys.argv[1:]:
            page.write_text(after, encoding="utf-8")
        elif after != before:
            sys.exit(f"docs/guides/{name}.md is not what the capture shows: run `python -m docs.captured`")


if __name__ == "__main__":
    main()
