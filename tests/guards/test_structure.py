"""Types are small and stand in few files, names mean one thing, and files do not name each other in a circle: `structure.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.guards import structure
from tests.guards.structure import Row


def test_the_crates_keep_their_structure() -> None:
    faults = structure.faults(structure.found(ROOT), structure.read(structure.TABLE.read_text()))
    assert not faults, "\n".join(faults)


GROUP = (
    "group what belongs together into structs of their own (a row of records and the parameters of an algorithm are exempt);"
    " see docs/development/guards.md"
)
CORE = "crates/sawtooth-core/src"
CLEAN = {
    "lib.rs": "pub mod a;\npub mod record;\nuse a::A;",
    "record/mod.rs": "mod rows;",
    "record/rows.rs": "struct Row {" + "".join(f"f{n}: u8, " for n in range(17)) + "}",
    # A module and what is inside it may name each other.
    "a/mod.rs": "mod b;\nmod c;\nuse b::B;\npub struct A { b: B }\nimpl A { fn f(&self, b: u8, g: impl Fn((u8, u8))) {} }",
    "a/b.rs": "use super::A;\nimpl A { fn g(&self, parts: &[(u8, u8)], both: (impl Copy + Send)) {} }\npub struct B;",
    # What an `impl` gives a trait has the trait's name.
    "a/d.rs": "trait Each { type Item; }\nimpl Iterator for u8 { type Item = u8; }\nimpl Iterator for u16 { type Item = u16; }",
    "a/c.rs": """\
use crate::a::b::B;
struct RenoParameters {"""
    + "".join(f"f{n}: u8, " for n in range(17))
    + """}
fn f(b: B) {
    let pair = |(a, b): (u8, u8)| a + b;
}
#[cfg(test)]
mod tests {
    use super::super::A;
    impl A { fn only_in_tests((a, b): (u8, u8)) {} }
    struct Many {"""
    + "".join(f"f{n}: u8, " for n in range(17))
    + "}\n}",
}
PLANTED = {
    f"fields {CORE}/a/c.rs Many": ("a/c.rs", "struct Many {" + "".join(f"/// One.\npub f{n}: u8,\n" for n in range(17)) + "}", 17),
    f"files {CORE}/a/mod.rs A": ("a/c.rs", "impl crate::a::A { fn h(&self) {} }", 3),
    f"tuples {CORE}/a/c.rs g": ("a/c.rs", "fn g((a, b): (u8, u8), pair: (u8, u8)) {}", 2),
    f"tuples {CORE}/a/c.rs h": ("a/c.rs", "type Now = (u8, u8);\nfn h(now: &Now) {}", 1),
    f"tuples {CORE}/a/c.rs i": ("a/c.rs", "trait T { fn i(&self, pair: (u8, u8)); }", 1),
    "names RenoParameters": ("record/rows.rs", "trait RenoParameters { type Row; }", 2),
    "names Row": ("a/c.rs", "macro_rules! words { (enum $name:ident) => { enum $name {} } }\nwords! { enum Row }", 2),
    f"circles {CORE}/a/b.rs {CORE}/a/c.rs": ("a/b.rs", "fn g() -> u8 { super::c::f() }", 1),
}


def plant(root: Path, more: tuple[str, str, int] | None = None) -> None:
    for name, code in CLEAN.items():
        path = root / CORE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code + ("\n" + more[1] if more is not None and more[0] == name else "") + "\n")


def test_what_keeps_to_the_limits_is_not_said(tmp_path: Path) -> None:
    plant(tmp_path)
    assert structure.found(tmp_path) == {}


def test_a_circle_by_way_of_a_third_file_is_seen(tmp_path: Path) -> None:
    plant(tmp_path, ("a/b.rs", "fn g() -> u8 { super::d::h() }", 1))
    (tmp_path / CORE / "a/d.rs").write_text("pub fn h() -> u8 { super::c::f() }\n")
    assert structure.found(tmp_path) == {("circles", f"{CORE}/a/b.rs {CORE}/a/c.rs {CORE}/a/d.rs"): 1}


@pytest.mark.parametrize("place", PLANTED, ids=lambda place: place.split()[0])
def test_a_planted_fault_is_seen(tmp_path: Path, place: str) -> None:
    plant(tmp_path, PLANTED[place])
    rule, what = place.split(maxsplit=1)
    assert structure.found(tmp_path) == {(rule, what): PLANTED[place][2]}
    (said,) = structure.faults(structure.found(tmp_path), {})
    assert said.endswith(f"{structure.RULES[rule].remedy}; see docs/development/guards.md")
    if rule == "tuples":
        number = PLANTED[place][2]
        assert said.startswith(f"{what} takes {number} tuple{'s' if number > 1 else ''}: ")


MACROS = """\
macro_rules! whole { ($name:ident) => { pub struct $name(u64); impl $name { fn get(self) -> u64 { self.0 } } }; }
macro_rules! sums { ($($name:ident),*) => {$( impl Add for $name {} )*}; }
"""


def test_what_macros_make_counts_where_they_are_called_and_what_a_trait_lists_does_not(tmp_path: Path) -> None:
    plant(tmp_path, ("a/mod.rs", MACROS + "whole!(\n/// So many.\nCount);\nsums!(Count, A);", 1))
    for name, code in (("d", "use super::Count;\nsums!(Count);"), ("e", "use super::Count;\ntrait T {}\nimpl T for Count {}")):
        (tmp_path / CORE / f"a/{name}.rs").write_text(code)
    assert structure.found(tmp_path) == {}
    (tmp_path / CORE / "a/f.rs").write_text("use super::Count;\nimpl crate::a::e::T for Count {}")
    assert structure.found(tmp_path) == {("files", f"{CORE}/a/mod.rs Count"): 3}


def test_a_tuple_that_is_an_alias_of_another_file_is_seen(tmp_path: Path) -> None:
    plant(tmp_path, ("a/b.rs", "use super::c::Now;\nfn g(now: Now) {}", 1))
    with (tmp_path / CORE / "a/c.rs").open("a") as file:
        file.write("pub type Now = (u8, u8);\n")
    assert structure.found(tmp_path)["tuples", f"{CORE}/a/b.rs g"] == 1


@pytest.mark.parametrize(
    ("number", "row", "said"),
    [
        (None, None, []),
        (17, None, [f"a.rs A has 17 fields; 16 is the limit: {GROUP}"]),
        (17, Row(17, "why"), []),
        (
            18,
            Row(17, "why"),
            [f"a.rs A has 18 fields; 16 is the limit (it may have 17, and only fewer): {GROUP}"],
        ),
        (17, Row(18, "why"), ["a.rs A: fields fell from 18 to 17: keep it so with `python -m tests.guards structure`"]),
        (None, Row(17, "why"), ["a.rs A is within the limit of fields: remove its row with `python -m tests.guards structure`"]),
        (17, Row(17, ""), ["a.rs A: its row of fields lacks the reason"]),
    ],
)
def test_a_row_may_only_fall_and_has_its_reason(number: int | None, row: Row | None, said: list[str]) -> None:
    found = {} if number is None else {("fields", "a.rs A"): number}
    allowed = {} if row is None else {("fields", "a.rs A"): row}
    assert structure.faults(found, allowed) == said
    # Renewing mends what has become less, and nothing else.
    after = structure.faults(found, structure.read(structure.renewed(found, allowed)))
    assert after == [text for text in said if structure.RENEW not in text]
