"""What pages link to and lies outside `docs`, such as a study, is a page of the site too, so that no link leads out of it.

Text is shown as it is, Markdown as a page with its own links; a page of the site that is made of such a file lies below `source/`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

FOLDER = "source"
# A link or image to a file, with its anchor; fences are left alone.
_TARGET = re.compile(r"(?s)(```.*?```)|(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")
_LANGUAGES = {".py": "python", ".rs": "rust", ".toml": "toml", ".csv": "text", ".config": "ini", ".json": "json", ".sh": "sh"}


def on_files(files: Any, config: Any) -> Any:
    """A page for each file that a page links to and that is not in `docs`, and for each that those link to."""
    docs = Path(config.docs_dir)
    pages = {_repository(docs, file.src_uri): file.content_string for file in files.documentation_pages()}
    for path, text in outside(docs.parent, pages).items():
        made = File.generated(config, f"{page_of(path)}", content=shown(path, text), inclusion=InclusionLevel.NOT_IN_NAV)
        files.append(made)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Links as they are within the site."""
    docs = Path(config.docs_dir)
    return relinked(markdown, docs.parent, _repository(docs, page.file.src_uri), docs.name)


def outside(root: Path, pages: dict[str, str], docs: str = "docs") -> dict[str, str]:
    """The text of each file outside that is linked to, by its path from the root of the repository.

    Raises:
        ValueError: if one is a folder, which has nothing to show.

    """
    found: dict[str, str] = {}
    open_pages = list(pages.items())
    while open_pages:
        path, text = open_pages.pop()
        for target in _targets(path, text):
            if target in found or target.startswith((f"{docs}/", "../")) or not (root / target).exists():
                continue
            if (root / target).is_dir():
                raise ValueError(f"{path} links to the folder {target}: link to a file in it")
            found[target] = (root / target).read_text(encoding="utf-8")
            if target.endswith(".md"):
                open_pages.append((target, found[target]))
    return found


def page_of(path: str) -> str:
    """The page of the site that shows a file of the repository, from `docs`."""
    return f"{FOLDER}/{path}" if path.endswith(".md") else f"{FOLDER}/{path}.md"


def shown(path: str, text: str) -> str:
    """The page of a file: where it is, and what is in it."""
    if path.endswith(".md"):
        return text
    fence = "`" * 6
    return f"# {posixpath.basename(path)}\n\n`{path}`\n\n{fence}{_LANGUAGES.get(posixpath.splitext(path)[1], 'text')}\n{text.rstrip()}\n{fence}\n"


def relinked(text: str, root: Path, path: str, docs: str = "docs") -> str:
    """A page's text whose links lead to pages of the site.

    Args:
        text: of the page.
        root: the repository.
        path: of the page's file in it.
        docs: where the site's pages are.

    """
    here = posixpath.dirname(_in_site(path, docs))

    def led(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[3]))
        if not (root / target).exists():
            return found[0]
        return f"{found[2]}{posixpath.relpath(_in_site(target, docs), here or '.')}{found[4]}"

    return _TARGET.sub(led, text)


def _in_site(path: str, docs: str) -> str:
    """Where a file of the repository is in the site, from its pages' root."""
    if not path.startswith(f"{docs}/"):
        return page_of(path)
    inside = path.removeprefix(f"{docs}/")
    # `notebooks.py` makes a page of each; only a page may be linked to as the thing itself.
    return f"{inside.removesuffix('.ipynb')}.md" if inside.endswith(".ipynb") else inside


def _targets(path: str, text: str) -> Iterable[str]:
    for fence, _, target, _ in _TARGET.findall(text):
        if not fence:
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def _repository(docs: Path, src_uri: str) -> str:
    """The file of the repository that a page of the site is made of."""
    if src_uri.startswith(f"{FOLDER}/"):
        path = src_uri.removeprefix(f"{FOLDER}/")
        return path if (docs.parent / path).is_file() else path.removesuffix(".md")
    return f"{docs.name}/{src_uri}"
