"""What holds a connection back is said in sentences, of one byte as of many."""

from __future__ import annotations

from typing import Any

import pytest

from sawtooth.live.causes import CAUSES, size

SAYS = {cause.name: cause.says for cause in CAUSES}


def measured(amount: int) -> dict[str, Any]:
    return {"rqueue": amount, "bytes_received": 10, "bytes_acked": 0, "notsent_bytes": amount, "mss_bytes": 1448, "device_bytes": amount}


@pytest.mark.parametrize(
    ("name", "one", "many"),
    [
        ("source", "it receives, and 1 byte waits for this machine's application to read", "it receives, and 2 bytes wait for"),
        ("nagle", "1 byte, less than a segment of 1448, is held back for more (Nagle or TCP_CORK)", "2 bytes, less than a segment of 1448, are held"),
        ("device", "1 byte is in this machine's own queue or network card", "2 bytes are in this machine's own"),
    ],
)  # fmt: skip
def test_one_byte_is_one(name: str, one: str, many: str) -> None:
    assert SAYS[name](measured(1)) == one
    assert SAYS[name](measured(2)).startswith(many)


def test_where_nothing_waits_just_now_it_is_writes_that_are_held_back() -> None:
    assert SAYS["nagle"](measured(0)) == "writes of less than a segment of 1448 are held back for more (Nagle or TCP_CORK)"


def test_sizes_have_the_unit_in_which_they_are_short() -> None:
    assert [size(amount) for amount in (1, 9999, 12_345, 12_345_678)] == ["1 byte", "9999 bytes", "12 kB", "12 MB"]
