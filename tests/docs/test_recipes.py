"""What is added by CONTRIBUTING's recipes costs what they say, and works.

Each has an example, `tests/recipes/NAME.toml`: new files, lines that are put into files, and commands with the files that they renew. The files and
lines of all of them are applied to one copy of the sources.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sawtooth import _core

# What is built for all of it is built once.
pytestmark = pytest.mark.xdist_group("recipes")

ROOT = Path(__file__).resolve().parents[2]
RECIPES: dict[str, dict[str, Any]] = {
    path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "tests/recipes").glob("*.toml"))
}
SCENARIO = {
    "duration": "5 s", "cc": "halfway", "tcp": {"lone_acks": True},
    "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": "last_in"}},
    "flows": [
        {"name": "a", "path": ["l"], "source": "twice"},
        {"name": "b", "path": ["l"], "arrivals": {"rate": 1, "size": {"name": "always", "mean": "10 kB"}}},
        {"name": "c", "path": ["l"], "transport": "udp", "source": "one_packet"},
    ],
}  # fmt: skip
STUDY = """
name = "recipes"
question = "Does what was added work?"
repeat = 2
backend = "again"

[scenario]
duration = "2 s"
links.l = { rate = "10 Mbit/s", delay = "10 ms", loss = 0.001 }
flows = [{ name = "a", path = ["l"] }]

[[figures]]
name = "f"
kind = "ranked"
metric = "least_goodput_bps"

[[findings]]
claim = "It carries something"
is = "positive"
metric = "goodput_bps"
"""


def cost(recipe: dict[str, Any]) -> str:
    """What a recipe costs, in the words of CONTRIBUTING."""
    new, lines = len(recipe.get("new", {})), Counter(edit["file"] for edit in recipe.get("lines", []))
    said = ["1 new file"] if new == 1 else [f"{new} new files"] if new else []
    if lines:
        said.append(f"{lines.total()} places in {len(lines)} file{'s' if len(lines) > 1 else ''}" if lines.total() > 1 else "1 place")
    if count := len(renewed(recipe)):
        said.append(f"{count} file{'s' if count > 1 else ''} renewed")
    return ", ".join(said)


def renewed(recipe: dict[str, Any]) -> set[str]:
    """The files that commands write anew, so that all tests pass."""
    patterns = [pattern for patterns in recipe.get("renewed", {}).values() for pattern in patterns]
    found = {pattern: {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)} for pattern in patterns}
    assert all(found.values()), found
    return set().union(*found.values())


def apply(recipe: dict[str, Any], root: Path) -> None:
    """Does what a recipe's example says."""
    for name, file in recipe.get("new", {}).items():
        assert not (root / name).exists()
        (root / name).write_text(file["text"].lstrip("\n"))
    for edit in recipe.get("lines", []):
        path = root / edit["file"]
        lines = path.read_text().splitlines()
        anchor = edit.get("after") or edit.get("before") or edit["instead_of"]
        from_line = lines.index(edit["first_after"]) if "first_after" in edit else 0
        at = lines.index(anchor, from_line)
        assert "first_after" in edit or lines.count(anchor) == 1, f"{edit['file']} has more than one line {anchor!r}"
        begin, end = (at + 1, at + 1) if "after" in edit else (at, at) if "before" in edit else (at, at + 1)
        path.write_text("\n".join([*lines[:begin], *edit["text"].strip("\n").splitlines(), *lines[end:]]) + "\n")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with all that the recipes add."""
    root = tmp_path_factory.mktemp("recipes")
    for name in ("crates", "python", ".cargo"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "guest"))
    for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "clippy.toml"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, root / name)
    for recipe in RECIPES.values():
        for edit in recipe.get("lines", []):
            if not (path := root / edit["file"]).exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / edit["file"], path)
        apply(recipe, root)
    return root


def test_contributing_says_what_each_recipe_costs() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    told = re.findall(r"^### \d+\. (.+) \(([^()]+)\)$", text, flags=re.MULTILINE)
    assert dict(told) == {recipe["what"]: cost(recipe) for recipe in RECIPES.values()}
    numbers = re.findall(r"^### (\d+)\. ", text, flags=re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(RECIPES) + 1)]


def test_every_file_of_a_recipe_is_named_in_it() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    parts = dict(re.findall(r"^### \d+\. ([^\n(]+) \([^()]+\)\n(.*?)(?=^#|\Z)", text, flags=re.MULTILINE | re.DOTALL))
    for recipe in RECIPES.values():
        names = [re.sub(r"/\w+\.(rs|py)$", r"/NAME.\1", new) for new in recipe.get("new", {})]
        missing = {*names, *(edit["file"] for edit in recipe.get("lines", []))} - set(re.findall(r"`([\w/.-]+)`", parts[recipe["what"]]))
        assert not missing, f"recipe {recipe['what']} does not name {missing}"
        unsaid = [command for command in recipe.get("renewed", {}) if f"`{command}`" not in parts[recipe["what"]]]
        assert not unsaid, f"recipe {recipe['what']} does not say to run {unsaid}"


TABLES = {
    "A congestion control": "cc", "A queue": "queue", "A source of a connection": "source", "A source of packets": "packet_source",
    "A distribution": "distribution",
}  # fmt: skip
# Prose, which no test holds to have every row, and values that tests try.
FREE = (
    "CHANGELOG.md",
    "docs/guides/",
    "docs/validation/",
    "crates/sawtooth-core/tests/it/random.rs",
    "tests/recipes/",
    "tests/errors/test_udp.py",
    "bench/",
)


@pytest.mark.parametrize("what", TABLES)
def test_a_file_that_names_every_row_of_a_table_is_a_file_of_its_recipe(what: str) -> None:
    rows = {row["name"] for row in _core.registry()[TABLES[what]]}
    (recipe,) = (recipe for recipe in RECIPES.values() if recipe["what"] == what)
    known = {edit["file"] for edit in recipe["lines"]} | renewed(recipe)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.splitlines()
    texts = [name for name in tracked if name.endswith((".rs", ".py", ".md", ".toml", ".txt")) and not name.startswith(FREE)]
    naming = {name for name in texts if rows <= set(re.findall(r"[a-z]\w*", (ROOT / name).read_text(encoding="utf-8", errors="replace")))}
    assert naming, "not even the reference"
    assert not naming - known, f"recipe {what} does not count {sorted(naming - known)}"


def cargo(copy: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    target = os.environ.get("CARGO_TARGET_DIR") or str(ROOT / "target")
    command, *rest = words
    return subprocess.run(
        ["cargo", command, "--quiet", "--locked", "--offline", "-p", "sawtooth-core", *rest],
        cwd=copy, input=given, text=True, capture_output=True, check=False, env={**os.environ, "CARGO_TARGET_DIR": target},
    )  # fmt: skip


def test_what_the_recipes_add_to_the_core_works(copy: Path) -> None:
    done = cargo(copy, "run", "--example", "simulate", given=json.dumps(SCENARIO))
    assert done.returncode == 0, done.stderr
    header, first, *_ = (line.split(",") for line in done.stdout.splitlines())
    row = dict(zip(header, first, strict=True))
    assert (row["flow"], row["cc"], row["smss_bytes"], row["delivered_bytes"]) == ("a", "halfway", "1460", "2000000")


def test_the_guide_to_congestion_controls_runs_its_example(copy: Path) -> None:
    guide = (ROOT / "docs/guides/write-a-congestion-control.md").read_text()
    (command, scenario) = re.findall(r"(?s)```sh\n(cargo run [^\n]*) <<'JSON'\n(.*?)\nJSON\n```", guide)[0]
    assert command == "cargo run --quiet -p sawtooth-core --example simulate"
    done = cargo(copy, "run", "--example", "simulate", given=scenario)
    assert done.returncode == 0, done.stderr
    header, row = (line.split(",") for line in done.stdout.splitlines())
    assert dict(zip(header, row, strict=True))["cc"] == "halfway"


@pytest.mark.long
def test_what_the_recipes_add_to_the_core_passes_lints_and_the_tests_that_go_through_the_tables(copy: Path) -> None:
    done = cargo(copy, "clippy", "--", "-D", "warnings")
    assert done.returncode == 0, done.stderr
    modules = ("every_queue::", "every_cc::", "conservation::", "shortcuts::records")
    done = cargo(copy, "test", "--test", "it", "--", *modules)
    assert done.returncode == 0, done.stdout[-3000:]


def test_what_the_recipes_add_to_the_package_works(copy: Path, tmp_path: Path) -> None:
    def sawtooth(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "sawtooth.cli", *words],
            cwd=tmp_path, text=True, capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(copy / "python")},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "congestion controls" in sawtooth("greet")
    (tmp_path / "recipes.toml").write_text(STUDY)
    sawtooth("run", "recipes.toml", "--out", "out")
    said = sawtooth("report", "out")
    assert "yes" in said and "It carries something" in said
    assert (tmp_path / "out/report/figures/f.svg").is_file()
