"""What the site makes of pages that are written to be read where they lie."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from docs.hooks import api, index, notebooks, sources, written

README = """# Home

Prose with [a link](prose.md).

## Start

- [Installing it](start/install.md): [a wheel](start/install.md), or from a clone

## How do I ...

### run it

- [run a `study`?](guides/run.md) [by SSH](guides/ssh.md), and [more](../CONTRIBUTING.md)
- [algorithms](reference/cc.md), [elsewhere](https://example.org), [here](#start)
"""


def repository(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_the_navigation_is_the_index(tmp_path: Path) -> None:
    names = ("prose", "start/install", "guides/run", "guides/ssh", "reference/cc", "reference/cc/bbr", "reference/cc/reno")
    repository(
        tmp_path, {"CONTRIBUTING.md": "", "docs/README.md": README, **{f"docs/{name}.md": f"# {Path(name).name}\n" for name in names}}
    )
    assert index.navigation(tmp_path / "docs") == [
        {"Start": ["README.md", {"Installing it": "start/install.md"}]},
        {
            "How do I ...": [
                {
                    "Run it": [
                        {"Run a study": "guides/run.md"},
                        {"By SSH": "guides/ssh.md"},
                        {
                            "Algorithms": [
                                {"cc": "reference/cc.md"},
                                {"bbr": "reference/cc/bbr.md"},
                                {"reno": "reference/cc/reno.md"},
                            ]
                        },
                    ]
                }
            ]
        },
    ]


def test_what_is_linked_to_outside_is_shown_with_what_that_links_to(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        {
            "studies/a/README.md": "[the file](study.toml), [guide](../../docs/guides/run.md#how)",
            "studies/a/study.toml": "name = 1\n",
            "docs/guides/run.md": "",
        },
    )
    page = "[a](../../studies/a/README.md), [gone](../../studies/b.md), [a](run.md)\n```\n[in code](../../studies/a/study.toml)\n```\n"
    found = sources.outside(root, {"docs/guides/run.md": page})
    assert list(found) == ["studies/a/README.md", "studies/a/study.toml"]
    assert sources.relinked(page, root, "docs/guides/run.md") == page.replace(
        "(../../studies/a/README.md)", "(../source/studies/a/README.md)"
    )
    text = sources.shown("studies/a/README.md", found["studies/a/README.md"])
    assert sources.relinked(text, root, "studies/a/README.md") == "[the file](study.toml.md), [guide](../../../guides/run.md#how)"
    assert sources.shown("studies/a/study.toml", "name = 1\n") == "# study.toml\n\n`studies/a/study.toml`\n\n``````toml\nname = 1\n``````\n"


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path, {"studies/a/study.toml": ""})
    with pytest.raises(ValueError, match=r"^docs/b\.md links to the folder studies/a: link to a file in it$"):
        sources.outside(root, {"docs/b.md": "[a](../studies/a)"})


def test_a_notebook_is_a_page_of_its_cells_and_of_what_they_show() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "\n", "Text.\n"]},
        {
            "cell_type": "code",
            "source": ["x"],
            "outputs": [
                {"output_type": "stream", "text": ["said\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["1"]}},
                {"output_type": "execute_result", "data": {"text/plain": ["1"], "text/html": ["<b>\n", "\n", "1</b>"]}},
            ],
        },
    ]
    assert notebooks.markdown({"cells": cells}, "a.ipynb") == (
        "# Title\n\n[The notebook itself](a.ipynb), for Jupyter.\n\nText.\n\n```python\nx\n```\n\n```text\nsaid\n```\n\n```text\n1\n```\n\n"
        '<div class="shown">\n<b>\n1</b>\n</div>\n'
    )


def test_what_stands_between_marks_of_the_interface_is_told_by_mkdocstrings() -> None:
    marks = (
        "## run\n\n<!-- api sawtooth.run -->\nshort\n<!-- /api -->\n\n<!-- api sawtooth.Plan members=size,cost -->\nshort\n<!-- /api -->\n"
    )
    assert api.on_page_markdown(marks, None, None, None) == (
        "## run\n\n::: sawtooth.run\n    options:\n      members: []\n\n"
        "::: sawtooth.Plan\n    options:\n      inherited_members: true\n      members: [size, cost]\n"
    )


def git(folder: Path, *words: str) -> None:
    names = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def test_a_page_of_validation_says_when_it_was_written(tmp_path: Path) -> None:
    page = repository(tmp_path, {"page.md": "<!-- a -->\n# Title\n\nText.\n"}) / "page.md"
    assert written.said(page) == ""
    git(tmp_path, "init", "-q")
    assert written.said(page) == ""
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one", "--date", "2026-01-02T12:00:00Z")
    done = subprocess.run(["git", "log", "-1", "--date=short", "--format=%cd %H"], cwd=tmp_path, text=True, capture_output=True, check=True)
    day, commit = done.stdout.split()
    sentence = written.said(page)
    assert sentence == f"This page was last written on {day}, in commit {commit[:8]}."
    assert written.dated(page.read_text(), sentence) == f"<!-- a -->\n# Title\n\n*{sentence}*\n\nText.\n"
    assert written.dated(page.read_text(), "") == page.read_text()
    page.write_text("# Other\n")
    assert written.said(page) == f"This page was last written on {day}, in commit {commit[:8]}, and changed since."
    # A copy without its history does not know.
    git(tmp_path, "commit", "-q", "-a", "-m", "two")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path}", str(tmp_path / "shallow"))
    assert written.said(tmp_path / "shallow/page.md") == ""


def test_every_notebook_of_the_documentation_begins_with_its_heading() -> None:
    for path in (Path(__file__).parents[2] / "docs").rglob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert "".join(cells[0]["source"]).startswith("# "), path
