"""Writes what the studies of the gallery find into its guide: `python -m docs.gallery [--check] [DIRECTORY...]`.

Results directories in the order of the names of the studies; what is not given is run first, all of it a minute or two. With --check nothing is written, and the
page must already be so.

The guide's picture, docs/images/gallery.png, is the contact sheet of the same results: `python -m docs.pictures gallery` draws it anew when verdicts change.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs.blocks import verdicts, write
from sawtooth.results.dataset import Dataset
from sawtooth.study import shipped

GUIDE = Path(__file__).parent / "guides/gallery.md"
STUDIES = sorted(name for name in shipped.studies() if name.startswith("gallery/"))


def blocks(*datasets: Dataset) -> dict[str, str]:
    """Each study's question, and its verdicts."""
    parts = [f"**{dataset.study.question}** (`{name}`)\n\n{verdicts(dataset)}" for name, dataset in zip(STUDIES, datasets, strict=True)]
    return {"verdicts": "\n".join(parts)}


if __name__ == "__main__":
    write(GUIDE, [[name] for name in STUDIES], blocks, sys.argv[1:])
