"""The manual page, made of what the commands say of themselves."""

from __future__ import annotations

from typing import Any

import typer

from sawtooth import _core
from sawtooth.cli import app


def page() -> str:
    """`sawtooth(1)` in man's macros: each command with its arguments and options."""
    top = typer.main.get_command(app)
    lines = [f'.TH SAWTOOTH 1 "" "sawtooth {_core.version()}" "User Commands"', ".SH NAME", "sawtooth \\- a TCP performance laboratory"]
    lines += [".SH SYNOPSIS", ".B sawtooth", "COMMAND [OPTIONS] [ARGUMENTS]", ".SH DESCRIPTION", *_paragraphs(top.help or "")]
    lines.append(".SH COMMANDS")
    for name, command in _commands(top, ""):
        lines += [f".SS {_text(name)}", *_paragraphs(command.help or "")]
        for parameter in command.params:
            lines += _parameter(command, parameter)
    lines += [
        ".SH EXIT STATUS",
        "0, or 1 if something that was run or compared failed, 2 for a mistake in what was asked for, 130 after Ctrl-C.",
    ]
    return "\n".join(lines) + "\n"


def _commands(command: Any, name: str) -> list[tuple[str, Any]]:
    """All that can be run, and what it is called; commands of commands too."""
    below = getattr(command, "commands", None)
    if not below:
        return [(name, command)]
    return [found for word, one in below.items() for found in _commands(one, f"{name} {word}".strip())]


def _parameter(command: Any, parameter: Any) -> list[str]:
    if parameter.param_type_name == "argument":
        return [".TP", f".I {_text(str(parameter.metavar or parameter.human_readable_name))}", _text(parameter.help or "")]
    record = parameter.get_help_record(command.make_context("sawtooth", [], resilient_parsing=True))
    if record is None:
        return []
    return [".TP", f".B {_text(record[0])}", _text(" ".join(record[1].split()))]


def _paragraphs(text: str) -> list[str]:
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return [line for paragraph in paragraphs for line in (".PP", _text(paragraph))]


def _text(text: str) -> str:
    """Text in which nothing is a macro: a hyphen stays one, a line begins with no dot."""
    escaped = text.replace("\\", "\\\\").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in ".'" else escaped
