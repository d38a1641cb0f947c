"""The files of the crates, module by module, for docs/development/tree.md: `python -m tests.docs.tree` writes what is there now into the page, and with the id of a commit prints the same of it."""

from __future__ import annotations

import io
import re
import statistics
import subprocess
import sys
import tarfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from docs.blocks import filled
from tests.guards import sizes

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/development/tree.md"
CORE = "crates/sawtooth-core/src/"
HEAD = "| Module | Files | Lines | Longest file | Its lines | Median |\n|---|---:|---:|---|---:|---:|\n"
ALONE = "modules of one file"


@dataclass(frozen=True)
class Row:
    """A module: its files, and their lines of implementation as `tests/guards/sizes.py` counts them."""

    files: int
    lines: int
    longest: str
    most: int
    median: float

    @staticmethod
    def of(found: dict[str, int]) -> Row:
        longest = max(found, key=lambda path: (found[path], path))
        return Row(len(found), sum(found.values()), longest.rpartition("/src/")[2], found[longest], statistics.median(found.values()))


def now(root: Path = ROOT) -> dict[str, int]:
    """Lines of every file of the crates, by its path."""
    return sizes.found(root, (sizes.CRATES,))


def at(commit: str) -> dict[str, int]:
    """The same of a commit."""
    archive = subprocess.run(["git", "archive", commit, "crates"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        paths = [name for name in files.getnames() if re.fullmatch(r"crates/[^/]+/src/.*\.rs", name) and not name.endswith("/tests.rs")]
        contents = {path: file.read().decode() for path in paths if (file := files.extractfile(path)) is not None}
    return {path: sizes.rust_lines(text) for path, text in contents.items()}


def rows(found: dict[str, int]) -> dict[str, Row]:
    """Of each module of the core that has several files, of those that have one together, of each other crate, and of all."""
    modules: dict[str, dict[str, int]] = defaultdict(dict)
    for path, lines in found.items():
        first = path.removeprefix(CORE).partition("/")[0].removesuffix(".rs")
        modules[f"{first}/" if path.startswith(CORE) else path.split("/")[1]][path] = lines
    alone = {name for name, files in modules.items() if name.endswith("/") and len(files) == 1}
    grouped = {name: files for name, files in sorted(modules.items()) if name not in alone}
    grouped[ALONE] = {path: lines for name in alone for path, lines in modules[name].items()}
    # The core first.
    order = sorted(grouped, key=lambda name: (not name.endswith("/"), name != ALONE))
    return {name: Row.of(grouped[name]) for name in order if grouped[name]} | {"**all**": Row.of(found)}


def table(rows: dict[str, Row]) -> str:
    return HEAD + "".join(
        f"| {name} | {row.files} | {row.lines} | {row.longest} | {row.most} | {row.median:g} |\n" for name, row in rows.items()
    )


def grown(before: dict[str, Row], after: dict[str, Row]) -> str:
    """What has become of the crates, in a table of modules that were there."""
    was, now = before["**all**"], after["**all**"]
    lines = [
        f"The longest file had {was.most} lines and has {now.most}; the median was {was.median:g} and is {now.median:g}, the files were {was.files} and are {now.files}.\n\n"
    ]
    lines.append("| Module | Lines, before and after | Longer by | Files, before and after |\n|---|---:|---:|---:|\n")
    for name in ("cc/", "queue/", "tcp/", "**all**"):
        old, new = before[name], after[name]
        lines.append(
            f"| {name} | {old.lines}, {new.lines} | {new.lines / old.lines - 1:+.0%} | {old.files}, {new.files} |\n".replace("%", " %")
        )
    return "".join(lines)


def read(page: str, half: str) -> dict[str, Row]:
    """The rows between a half's markers."""
    _, begun, rest = page.partition(f"<!-- {half} -->\n")
    assert begun, half
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in rest.partition("<!-- end -->")[0].splitlines()[2:] if line]
    return {name: Row(int(files), int(lines), longest, int(most), float(median)) for name, files, lines, longest, most, median in cells}


def main() -> None:
    if sys.argv[1:]:
        print(table(rows(at(sys.argv[1]))), end="")
        return
    page = PAGE.read_text(encoding="utf-8")
    before, marker, rest = page.partition("<!-- after -->\n")
    made = before + marker + table(rows(now())) + rest[rest.index("<!-- end -->") :]
    PAGE.write_text(filled(made, {"grown": grown(read(made, "before"), read(made, "after"))}), encoding="utf-8")


if __name__ == "__main__":
    main()
