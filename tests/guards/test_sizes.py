"""Source files stay small: `sizes.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.guards import sizes


def test_no_file_is_longer_than_it_may_be() -> None:
    faults = sizes.faults(sizes.found(ROOT), sizes.read(sizes.TABLE.read_text()))
    assert not faults, "\n".join(faults)


FREE = "blank lines, comments and tests are not counted; see docs/development/guards.md"
RUST = """\
//! What it is.

use crate::a; // said

/// What it does.
fn f() {
    // Why.
    g();
}

#[cfg(test)]
use crate::only_for_tests;

#[cfg(test)]
#[expect(
    clippy::float_cmp,
    reason = "exact"
)]
pub(super) mod helpers {
    fn h() {
    }
}

fn i() {}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod more {
    fn j() {
    }
}
"""
PYTHON = '''\
"""What it is."""

import a  # said


class B:
    """What it is,

    at length.
    """

    c = """a text

of three lines"""
    """What `c` is."""

    # Why.
    d = 1
'''


def test_what_explains_and_what_tests_is_not_counted() -> None:
    assert sizes.rust_lines(RUST) == 7
    assert sizes.python_lines(PYTHON) == 6


@pytest.mark.parametrize(
    ("size", "row", "said"),
    [
        (600, None, []),
        (601, None, [f"a.rs has 601 lines of implementation; 600 is the limit: split it ({FREE})"]),
        (700, 700, []),
        (701, 700, [f"a.rs has 701 lines of implementation; it may have 700 and only shrink: move what is new elsewhere ({FREE})"]),
        (699, 700, ["a.rs has shrunk from 700 to 699 lines: keep it so with `python -m tests.guards sizes`"]),
        (20, 601, ["a.rs has shrunk from 601 to 20 lines: keep it so with `python -m tests.guards sizes`"]),
        (None, 700, ["a.rs is gone: remove its row with `python -m tests.guards sizes`"]),
    ],
)
def test_a_row_may_only_fall(size: int | None, row: int | None, said: list[str]) -> None:
    found = {} if size is None else {"a.rs": size}
    allowed = {} if row is None else {"a.rs": row}
    assert sizes.faults(found, allowed) == said
    # Renewing mends what has shrunk, and nothing else.
    after = sizes.faults(found, sizes.read(sizes.renewed(found, allowed)))
    assert after == [text for text in said if "shrunk" not in text and "gone" not in text]


def test_a_planted_long_file_is_seen(tmp_path: Path) -> None:
    planted = tmp_path / "crates/sawtooth-core/src/cc/long.rs"
    planted.parent.mkdir(parents=True)
    planted.write_text("fn f() {}\n" * 601)
    assert sizes.faults(sizes.found(tmp_path), {}) == [
        f"crates/sawtooth-core/src/cc/long.rs has 601 lines of implementation; 600 is the limit: split it ({FREE})"
    ]
