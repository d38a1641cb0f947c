"""`sawtooth schema`: what editors need to know of study files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def schema(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where it goes.", show_default="printed")] = None,
) -> None:
    """Print the JSON Schema of study files, by which an editor completes keys and shows what they mean.

    Editors with taplo, such as Visual Studio Code with Even Better TOML, read it if a study begins with the line `#:schema FILE`.

    Example: sawtooth schema --out sawtooth.schema.json
    """
    import json

    from sawtooth import outputs
    from sawtooth.errors import StudyError
    from sawtooth.schema import study_schema

    text = json.dumps(study_schema(), indent=1, ensure_ascii=False) + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    if out.suffix == ".toml":
        raise StudyError(f"{out} would be a study's name", hint=f"the schema is JSON: name {out.with_suffix('.schema.json')}")
    outputs.write(out, text.encode(), "a schema")
    print(f"{out} is written; a study beside it begins with the line\n#:schema {out.name}")
