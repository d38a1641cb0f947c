"""Paths of the repository that pages, comments and the mutants' arguments name are there."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import PurePosixPath

import pytest

from tests.conftest import ROOT

CORE, PACKAGE = "crates/sawtooth-core/src", "python/sawtooth"
PAGES = ("docs/**/*.md", "README.md", "CONTRIBUTING.md", "SECURITY.md", "bench/**/*.md", "tests/**/*.md")
TOP = ("bench", "crates", "docs", "python", "studies", "supply", "tests")
# What a run or a user writes, and not the repository.
WRITTEN = re.compile(r"(?:results|report|target)/")
# A file with its folder, and sources also alone; a folder with a slash at its end, or from the top.
_FILE = re.compile(r"((?:[\w.-]+/)+[\w.-]+\.(?:rs|py|pyi|md|toml|csv|json|sh|ipynb|txt|svg|png)|[\w-]+\.(?:rs|py))(?::[\d, :-]+)?")
_FOLDER = re.compile(rf"((?:[\w.-]+/)+)|((?:{'|'.join(TOP)})(?:/[\w-]+)+)")


def listed() -> set[str]:
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = {name for name in names.stdout.split("\0") if name and (ROOT / name).is_file()}
    return files | {parent.as_posix() for name in files for parent in PurePosixPath(name).parents}


def tails(paths: Iterable[str]) -> set[str]:
    """Every way to name a path by its end: `a/b/c.rs`, `b/c.rs` and `c.rs`."""
    return {"/".join(parts[start:]) for parts in (path.split("/") for path in paths) for start in range(len(parts))}


def named(text: str) -> list[str]:
    """What stands in backticks and is a path of the repository; a file that is said to be gone is not."""
    found: list[str] = []
    for word in re.findall(r"`([^`\n]+)`(?! \(gone\))", text):
        match = _FILE.fullmatch(word) or _FOLDER.fullmatch(word)
        path = next((group for group in match.groups() if group), "") if match else ""
        if not path or WRITTEN.match(path):
            continue
        # `cc/NAME.rs` stands for any: its folder has to be there.
        found.append(path.partition("NAME")[0].rstrip("/"))
    return found


def missing(text: str, known: set[str]) -> list[str]:
    return [path for path in named(text) if path and path not in known]


def test_every_path_that_a_page_names_is_there() -> None:
    known = tails(listed())
    pages = sorted(page for pattern in PAGES for page in ROOT.glob(pattern))
    assert len(pages) > 50
    faults = [f"{page.relative_to(ROOT)}: {path}" for page in pages for path in missing(page.read_text(encoding="utf-8"), known)]
    assert faults == [], "name what is there, or say `name` (gone)"


def test_every_path_that_a_comment_of_the_crates_names_is_there() -> None:
    known = tails(listed())
    faults: list[str] = []
    for source in sorted((ROOT / "crates").rglob("*.rs")):
        comments = "\n".join(re.findall(r"//.*", source.read_text(encoding="utf-8")))
        faults += [f"{source.relative_to(ROOT)}: {path}" for path in missing(comments, known)]
    assert faults == [], "name what is there"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("see `cc/reno.rs`, `reno.rs:12` and `crates/sawtooth-core/src/cc/NAME.rs`; `cc/`, `results/a/b.json`, `10 Mbit/s`", []),
        ("see `cc/renno.rs`", ["cc/renno.rs"]),
        ("see `renno.rs`, which is in `ccc/` or `tests/nowhere`", ["renno.rs", "ccc", "tests/nowhere"]),
        ("once `cc/renno.rs` (gone)", []),
    ],
)
def test_a_path_that_is_not_there_is_found(text: str, faults: list[str]) -> None:
    assert missing(text, tails(["crates/sawtooth-core/src/cc/reno.rs", "crates/sawtooth-core/src/cc"])) == faults


def arguments() -> list[str]:
    text = (ROOT / "tests/mutants/arguments.toml").read_text(encoding="utf-8")
    return [row["key"] for row in tomllib.loads(text)["argument"]]


def sources() -> dict[str, str]:
    """The text of every file that can have mutants, by the name that it has in theirs."""
    roots = (ROOT / CORE, ROOT / PACKAGE)
    files = [(root, path) for root in roots for path in root.rglob("*") if path.suffix in (".rs", ".py")]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for root, path in files}


def unfounded(key: str, texts: dict[str, str]) -> str:
    """What of the expression for a mutant's name, `FILE: replace A with B in FUNCTION #1`, is not there."""
    file, _, what = key.partition(": ")
    mine = [text for name, text in texts.items() if re.fullmatch(file, name)]
    if not mine:
        return f"no file is {file}"
    for function in re.findall(r" in (.*?)(?= #|\||$)", what):
        words = re.findall(r"\w+", function.partition(r"\.\(")[0].rpartition("::")[2])
        if not any(re.search(rf"\b(?:fn|def|const) \w*{word}\w*\b", text) for text in mine for word in words):
            return f"no function or constant there is {' or '.join(words)}"
    return ""


def test_every_mutant_that_is_argued_is_of_code_that_there_is() -> None:
    texts = sources()
    faults = [f"{key}: {said}" for key in arguments() if (said := unfounded(key, texts))]
    assert faults == [], "let the argument follow the code that has moved, or leave it out"


def test_an_argument_about_code_that_is_gone_is_found() -> None:
    texts = {"cc/a.rs": "impl A { fn grow(&self) {} }\nconst B: u8 = 1;"}
    for key in (
        r"cc/a\.rs: replace 1 with 2 in A::grow #1",
        r"cc/(a|b)\.rs: replace 1 with 2 in B #[12]",
        r".*: replace 1 with 2 in (grow|shrink) #1",
    ):
        assert unfounded(key, texts) == ""
    assert unfounded(r"cc/b\.rs: replace 1 with 2 in grow #1", texts) == r"no file is cc/b\.rs"
    assert unfounded(r"cc/a\.rs: replace 1 with 2 in A::shrink #1", texts) == "no function or constant there is shrink"


# `FILE:LINE` replace A with B in FUNCTION; what has `(gone)` behind it is not there any more.
_ROW = re.compile(r"`([\w/.]+?)(?::\d+)?`(?! \(gone\)) replace [^;\n]*? in ([^;\n]+)")


def vanished(page: str, texts: dict[str, str]) -> list[str]:
    """Of the mutants that a page names, those whose function is not in its file."""
    faults: list[str] = []
    for file, function in _ROW.findall(page):
        owner, _, name = function.partition(".(")[0].rpartition("::")
        there = re.search(rf"\b(?:fn|def|const) {name}\b", texts.get(file, ""))
        # `Type`, or `<impl Trait for Type>`.
        kind = owner.rpartition(" ")[2].strip("<>")
        trait = re.fullmatch(r"<impl (.*) for .*>", owner)
        known = re.search(rf"\bimpl.*\b{trait[1] + ' for ' if trait else ''}{kind}\b", texts.get(file, "")) if owner else there
        if not function.endswith(" (gone)") and not (there and known):
            faults.append(f"{file}: {function}")
    return faults


def test_every_function_that_the_page_of_mutants_names_is_there() -> None:
    page = (ROOT / "docs/validation/mutants.md").read_text(encoding="utf-8")
    assert len(_ROW.findall(page)) > 40
    assert vanished(page, sources()) == [], "say what it is called now, or `(gone)` behind it"


def test_a_function_that_the_page_of_mutants_names_and_is_gone_is_found() -> None:
    texts = {"cc/a.rs": "impl<T> Grow for A<T> { fn grow(&self) {} }\nimpl A { fn new() {} }"}
    rows = (
        "`cc/a.rs:7` replace 1 with 2 in <impl Grow for A>::grow; `cc/a.rs` replace < with <= in A::new; `cc/a.rs` replace 0 with 1 in new"
    )
    assert vanished(rows, texts) == []
    assert vanished("`cc/a.rs` replace 1 with 2 in A::shrink (gone); `cc/b.rs` (gone) replace 1 with 2 in b", texts) == []
    for row in ("cc/a.rs: A::shrink", "cc/a.rs: B::new", "cc/a.rs: <impl Shrink for A>::grow", "cc/b.rs: b"):
        file, _, function = row.partition(": ")
        assert vanished(f"`{file}` replace 1 with 2 in {function}", texts) == [row]
