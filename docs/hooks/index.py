"""The site's navigation is the index of `docs/README.md`: its headings are sections, its links pages, in its order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_HEADING = re.compile(r"(##+) (.*)")
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:\s]+)\)")
INDEX = "README.md"


def on_config(config: Any) -> Any:
    """Navigation is not written twice."""
    config.nav = navigation(Path(config.docs_dir))
    return config


def navigation(docs: Path) -> list[Any]:
    """What `nav` of `mkdocs.yml` would say.

    A page that has a folder of its name beside it (`cc.md`, `cc/`) has that folder's pages below it. Links to what is no page of the
    documentation, and a second one to the same page, are none of the navigation.
    """
    sections: list[Any] = []
    # What entries go to, by the depth of its heading.
    places: dict[int, list[Any]] = {1: sections}
    seen = {INDEX}
    for line in (docs / INDEX).read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.fullmatch(line):
            depth = len(heading[1])
            places = {level: place for level, place in places.items() if level < depth}
            entries: list[Any] = []
            places[max(places)].append({heading[2][0].upper() + heading[2][1:]: entries})
            places[depth] = entries
        # Prose links to what is no entry.
        for text, target in _LINK.findall(line) if line.startswith(("- ", "  ")) else ():
            if target in seen or not _is_page(docs, target):
                continue
            seen.add(target)
            places[max(places)].append({_title(text): _below(docs, target)})
    first = next(iter(sections[0].values()))
    first.insert(0, INDEX)
    return sections


def _is_page(docs: Path, target: str) -> bool:
    path = (docs / target).resolve()
    return path.suffix in (".md", ".ipynb") and path.is_relative_to(docs.resolve()) and path.is_file()


def _below(docs: Path, target: str) -> Any:
    """The page, or a section of it and of its folder's pages."""
    page = Path(target).with_suffix(".md").as_posix()
    folder = docs / Path(target).with_suffix("")
    if not folder.is_dir():
        return page
    return [{_heading(docs / page): page}, *({_heading(path): path.relative_to(docs).as_posix()} for path in sorted(folder.glob("*.md")))]


def _heading(page: Path) -> str:
    """What a page calls itself."""
    (first, *_) = re.findall(r"(?m)^# (.*)$", page.read_text(encoding="utf-8"))
    return first


def _title(text: str) -> str:
    """A link's words as a title, without marks of code."""
    words = text.replace("`", "").rstrip(" ?.:")
    return words[0].upper() + words[1:]
