"""The page of robustness is made of what was tried."""

from __future__ import annotations

from pathlib import Path

from tests.robustness import page


def test_every_section_has_its_place_on_the_page() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    for name in page.SECTIONS:
        filled = page.fill(text, name, "figures")
        assert f"<!-- {name} -->\n\nfigures\n\n<!-- /{name} -->\n" in filled
        assert page.fill(filled, name, "figures") == filled


def test_pieces_are_summed_and_what_was_not_tried_is_left(tmp_path: Path) -> None:
    assert page.kills(tmp_path) is None
    assert page.flips(tmp_path) is None
    for seed, faults in ((1, []), (2, ["flows differs"])):
        page.write(f"kills-two-{seed}", {"seed": seed, "kills": 600, "stored": 3, "ends": 2, "faults": faults}, tmp_path)
    assert page.kills(tmp_path) == (
        "| killed | kills | batches stored at the time | ends compared | faults |\n|---|---:|---:|---:|---:|\n"
        "| one or both of two sweeps on one directory | 1,200 | 6 | 4 | 1 |"
    )


def test_silent_flips_are_told(tmp_path: Path) -> None:
    rows = [{"file": "log.jsonl", "flips": 7, "refused": 0, "noted": 6, "healed": 0, "left_out": 6}]
    page.write("flips", {"seed": 1, "rows": rows, "silent": ["bit 3"]}, tmp_path)
    assert page.flips(tmp_path) == (
        "With seed 1, 7 bits were flipped; 1 of them was silent.\n\n"
        "| file | flips | refused | noted | healed | left out |\n|---|---:|---:|---:|---:|---:|\n| log.jsonl | 7 | 0 | 6 | 0 | 6 |"
    )
