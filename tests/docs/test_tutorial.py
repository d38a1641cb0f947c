"""The tutorial does what it shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs import notebook
from tests.conftest import ROOT

SCRIPT = ROOT / "docs/notebook.py"
TUTORIAL: dict[str, Any] = json.loads((ROOT / "docs/start/tutorial.ipynb").read_text(encoding="utf-8"))


def test_every_cell_shows_what_the_notebook_has_of_it() -> None:
    checked = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def cell(source: str, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "id": "x", "metadata": {}, "source": [source], "outputs": [], "execution_count": None}


def test_what_a_cell_shows_is_what_it_prints_and_the_value_at_its_end(tmp_path: Path) -> None:
    cells = [cell("text", "markdown"), cell("from pathlib import Path\nx = 1\nprint(x)\nPath.cwd().name"), cell("x + 1;"), cell("y = x")]
    made = notebook.shown({"cells": cells, "nbformat": 4}, tmp_path)["cells"]
    assert made[0] == cells[0]
    assert [output.get("text", output.get("data")) for output in made[1]["outputs"]] == [["1\n"], {"text/plain": [repr(tmp_path.name)]}]
    assert made[2]["outputs"][0]["data"] == {"text/plain": ["2"]}
    assert made[3]["outputs"] == []


def test_a_cell_that_fails_says_which_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        notebook.shown({"cells": [cell("1"), cell("a = 2\n1 / 0")]}, tmp_path)
    assert any(str(entry.path) == "cell 2 of tutorial.ipynb" for entry in caught.traceback)


def test_links_of_the_tutorial_lead_somewhere_and_nothing_names_a_place_of_one_machine() -> None:
    text = "".join(line for cell in TUTORIAL["cells"] for line in cell["source"])
    for target in re.findall(r"\]\(([^)#:\s]+)\)", text):
        assert (ROOT / "docs/start" / target).exists(), target
    assert not re.search(r'[" ]/(?:home|work|tmp|root|usr)/', json.dumps(TUTORIAL))
