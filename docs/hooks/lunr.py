"""The site's search, lunr, must not take two of its states for one.

Its set of words is a graph in which states that end alike are kept once. They are told apart by a text in which each edge's letter and the number of the state it leads to follow each
other without a mark between: where letters are digits, two states can have one text. Then words are found that no page has, and a search that comes upon one of them ends with an error.
Whether that happens hangs on every number of every page, the commits' names among them. With a mark after each number the text is of one state only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

AMBIGUOUS = "e=e+s+o.id}return e"
TOLD_APART = 'e=e+s+o.id+","}return e'


def corrected(script: str) -> str:
    """The search's script with states told apart.

    Raises:
        PluginError: if the script is not the one that is known: it may have been mended, or is written otherwise now.

    """
    if script.count(AMBIGUOUS) != 1:
        raise PluginError(f"the search's script does not hold `{AMBIGUOUS}` once: see whether docs/hooks/lunr.py is still needed")
    return script.replace(AMBIGUOUS, TOLD_APART)


def on_post_build(config: Any) -> None:
    """Writes it over the theme's."""
    for path in (Path(config.site_dir) / "assets/javascripts/workers").glob("search.*.js"):
        path.write_text(corrected(path.read_text(encoding="utf-8")), encoding="utf-8")
