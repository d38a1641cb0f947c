"""Notebooks are pages of the site, made of their cells and of what these show; the notebook itself lies beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File


def on_files(files: Any, config: Any) -> Any:
    """A page for each notebook."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            path = Path(file.abs_src_path)
            page = f"{file.src_uri.removesuffix('.ipynb')}.md"
            files.append(File.generated(config, page, content=markdown(json.loads(path.read_text(encoding="utf-8")), path.name)))
    return files


def markdown(notebook: dict[str, Any], name: str) -> str:
    """A notebook's cells one after the other: text as it is, code, and what it shows as HTML where it has that."""
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [shown for output in cell["outputs"] if (shown := _shown(output))]
    # Below the heading, which is the first thing in it.
    first, _, rest = parts[0].partition("\n")
    return "\n\n".join([first, f"[The notebook itself]({name}), for Jupyter.", rest.strip(), *parts[1:]]) + "\n"


def _shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "text/html" in data:
        # Markdown ends a block of HTML at an empty line.
        lines = [line for line in "".join(data["text/html"]).splitlines() if line.strip()]
        return '<div class="shown">\n' + "\n".join(lines) + "\n</div>"
    return f"```text\n{''.join(data['text/plain'])}\n```"
