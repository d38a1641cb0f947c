"""What ships are the pages that the sources give, to the byte, and few of them."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "python" / "sawtooth" / "web" / "static"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_pages_are_what_the_sources_give(tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("there is no node, which builds the pages")
    made = tmp_path / "static"
    subprocess.run(["node", "build.mjs", str(made)], cwd=ROOT / "web", check=True)
    assert files(made) == files(STATIC), "`make pages` builds them"


def test_all_pages_together_take_less_than_500_kb_compressed() -> None:
    assert sum(len(gzip.compress(content)) for content in files(STATIC).values()) < 500_000
