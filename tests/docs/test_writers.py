"""Programs that write pages say no more numbers than before that nothing fills: `writers.py`."""

from __future__ import annotations

from tests.docs import writers

PROGRAM = '''"""Writes 5 pages."""

SAID = "before that 194 of the 200 were named right"


def page(found):
    """What 3 runs say."""
    return f"in {found} of 260 cases it was the same, over 10 Mbit/s"
'''


def test_no_program_says_more_numbers_than_it_did() -> None:
    faults = writers.faults(writers.found(), writers.read(writers.TABLE.read_text(encoding="utf-8")))
    assert not faults, "\n".join(faults)


def test_a_number_in_prose_is_found_and_none_in_what_is_filled_or_tells_of_the_program() -> None:
    numbers = [each.split(": ")[1] for each in writers.unaccounted(PROGRAM)]
    assert numbers == ["194", "200", "260", "10"]


def test_a_table_only_falls() -> None:
    assert writers.faults({"a.py": 3, "b.py": 1}, {"a.py": 2, "c.py": 4}) == [
        "a.py has 3 numbers in its prose that nothing fills, and may have 2: `python -m tests.docs.writers` prints them",
        "b.py has 1 numbers in its prose that nothing fills, and may have 0: `python -m tests.docs.writers` prints them",
        "c.py has 0 numbers in its prose that nothing fills, no longer 4: keep it so with `python -m tests.docs.writers --lower`",
    ]
    assert writers.lowered({"a.py": 1, "b.py": 7}, {"a.py": 2, "c.py": 4}) == f"{writers.HEAD}   1 a.py\n"
