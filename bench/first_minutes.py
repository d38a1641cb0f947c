"""From a clone to the first report: `make study` of two commits, one after the other, each with caches of its own that begin empty.

    python bench/first_minutes.py 8a01820d^            # and of what is checked out, committed

Nothing else should run meanwhile. It takes as long as both do, some minutes, and a gigabyte of a temporary directory.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from pages import table

ROOT = Path(__file__).resolve().parents[1]


def took(commit: str, below: Path) -> tuple[float, float]:
    """Seconds, and seconds of processors, until the report of a clone is there."""
    clone, caches = below / "clone", below / "caches"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    subprocess.run(["git", "-C", clone, "checkout", "--quiet", commit], check=True)
    homes = {"UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip", "CARGO_HOME": "cargo", "NPM_CONFIG_CACHE": "npm"}
    environment = {**os.environ, **{name: str(caches / home) for name, home in homes.items()}}
    environment.pop("CARGO_TARGET_DIR", None)
    # Programs of cargo's own home, and where its registries are, are the machine's.
    own = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    (caches / "cargo").mkdir(parents=True)
    for name in ("config.toml", "config", "credentials.toml"):
        if (own / name).exists():
            shutil.copy(own / name, caches / "cargo" / name)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(["make", "study"], cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    if not list(clone.glob("results/*/report*/*")):
        raise SystemExit(f"error: `make study` of {commit} left no report")
    return end - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", metavar="COMMIT", help="an earlier commit")
    options = parser.parse_args()
    rows: list[list[str]] = []
    for name, commit in (("before", options.before), ("after", "HEAD")):
        found = subprocess.run(
            ["git", "rev-parse", "--short=8", f"{commit}^{{commit}}"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        short = found.stdout.strip()
        with tempfile.TemporaryDirectory(prefix="sawtooth-first-minutes-") as below:
            seconds, processors = took(short, Path(below))
        rows.append([name, f"`{short}`", f"{seconds:.0f}", f"{processors:.0f}"])
    shares = [f"{float(rows[1][column]) / float(rows[0][column]):.0%}" for column in (2, 3)]
    print(table(["", "Commit", "s", "CPU s"], [*rows, ["after / before", "", *shares]], "llrr"))


if __name__ == "__main__":
    main()
