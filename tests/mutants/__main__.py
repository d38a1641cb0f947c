"""`python -m tests.mutants`: runs all mutants and writes docs/validation/mutants.md."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.mutants import outcome, report

WORK = Path("target/mutants")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("what", nargs="*", help="rust, stats, metrics, page; by default all")
    parser.add_argument("--when", default="now", help="the row of the scores that is written (now)")
    parser.add_argument(
        "--outside", nargs="*", default=[""], metavar="PART", help="of the tests from outside those whose names have one of these; all"
    )
    parser.add_argument(
        "--sample", type=int, help="so many of each half of each area, drawn by lot, and those that nobody has read; by default all"
    )
    parser.add_argument("--again", metavar="WHEN", help="take over what was seen then, and run the others")
    options = parser.parse_args()
    chosen = options.what or ["rust", "stats", "metrics", "page"]
    WORK.mkdir(parents=True, exist_ok=True)
    for name in ("rust", "stats", "metrics"):
        if name not in chosen:
            continue
        book = outcome.Book(WORK / f"{name}-{options.when}.jsonl")
        seen = [each for each in _outcomes(name, options.again) if each.fate in outcome.SEEN] if options.again else []
        for each in seen:
            book.write(each)
        known = {each.mutant.key for each in seen}
        if name == "rust":
            from tests.mutants import rust

            rust.run(book, options.sample, known, options.outside)
        else:
            from tests.mutants import python

            python.run(book, options.sample, known, name)
    if "page" in chosen:
        report.count([each for name in ("rust", "stats", "metrics") for each in _outcomes(name, options.when)], options.when)
        report.PAGE.write_text(report.page([each for name in ("rust", "stats", "metrics") for each in _outcomes(name, options.when)]))


def _outcomes(name: str, when: str) -> list[outcome.Outcome]:
    path = WORK / f"{name}-{when}.jsonl"
    return outcome.load(path) if path.exists() else []


if __name__ == "__main__":
    # Threads of libraries do not survive a fork.
    threads = {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    if threads.items() <= os.environ.items():
        main()
    else:
        os.execve(sys.executable, [sys.executable, "-m", "tests.mutants", *sys.argv[1:]], {**os.environ, **threads})
