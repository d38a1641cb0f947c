"""docs/development/tree.md is of the tree as it is, nearly, and its first half of the commit that it names."""

from __future__ import annotations

from pathlib import Path

from tests.docs import tree
from tests.docs.tree import Row

PAGE = tree.PAGE.read_text(encoding="utf-8")
REMEDY = "write the table anew: `python -m tests.docs.tree`"


def near(said: Row, found: Row) -> bool:
    return all(abs(one - other) <= max(0.1 * other, 2) for one, other in ((said.files, found.files), (said.lines, found.lines)))


def test_the_second_table_is_of_what_is_there() -> None:
    said, found = tree.read(PAGE, "after"), tree.rows(tree.now())
    assert said.keys() == found.keys(), REMEDY
    assert [name for name in said if not near(said[name], found[name])] == [], REMEDY


def test_both_tables_add_up() -> None:
    for half in ("before", "after"):
        *modules, everything = tree.read(PAGE, half).values()
        assert (sum(row.files for row in modules), sum(row.lines for row in modules)) == (everything.files, everything.lines)
        assert max(row.most for row in modules) == everything.most


def test_what_has_become_of_the_crates_is_what_the_tables_say() -> None:
    assert tree.grown(tree.read(PAGE, "before"), tree.read(PAGE, "after")) in PAGE


def test_modules_of_one_file_stand_together_and_a_file_belongs_to_the_folder_of_its_name(tmp_path: Path) -> None:
    core = tmp_path / "crates/sawtooth-core/src"
    for name, lines in (("lib.rs", 2), ("rng.rs", 4), ("cc.rs", 1), ("cc/reno.rs", 3), ("cc/cubic.rs", 8), ("cc/tests.rs", 9)):
        (core / name).parent.mkdir(parents=True, exist_ok=True)
        (core / name).write_text("// What it is.\n\n" + "fn f() {}\n" * lines)
    agent = tmp_path / "crates/sawtooth-agent/src/main.rs"
    agent.parent.mkdir(parents=True)
    agent.write_text("fn main() {}\n")
    rows = tree.rows(tree.now(tmp_path))
    assert rows == {
        "cc/": Row(3, 12, "cc/cubic.rs", 8, 3),
        tree.ALONE: Row(2, 6, "rng.rs", 4, 3),
        "sawtooth-agent": Row(1, 1, "main.rs", 1, 1),
        "**all**": Row(6, 19, "cc/cubic.rs", 8, 2.5),
    }
    assert tree.read(f"<!-- after -->\n{tree.table(rows)}<!-- end -->", "after") == rows
    assert not near(rows["cc/"], Row(3, 15, "", 8, 3)) and near(rows["cc/"], Row(4, 13, "", 8, 3))
