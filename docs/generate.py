"""Writes the reference pages that follow from tables: `python docs/generate.py [--check]`.

What a study can name, its parameters and defaults, and the columns of results are tables of the core; the command line describes
itself. A test runs this with --check, so the pages cannot lag behind.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from sawtooth import _core
from sawtooth.cli import app

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py from the tables; edit those. -->\n"
ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "crates/sawtooth-core/src"
AGREEMENT = ROOT / "docs/validation/linux.csv"
KINDS = {
    "queue": ("Queue disciplines", 'What `queue = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
    "loss": ("Losses of links", 'What `loss = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
    "jitter": ("Jitter of links", 'What `jitter = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
    "reorder": ("Reordering by links", 'What `reorder = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
    "medium": ("Media of links", 'What `medium = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
    "forwarding": (
        "Forwarding from link to link",
        'What `forwarding = { name = "NAME", PARAMETER = VALUE }` of a link can say of the node at its end.',
    ),
    "source": ("Traffic sources", 'What `source = { name = "NAME", PARAMETER = VALUE }` of a flow can say.'),
    "packet_source": (
        "Sources of packets",
        'What `source = { name = "NAME", PARAMETER = VALUE }` of a flow with `transport = "udp"` can say.',
    ),
    "distribution": (
        "Distributions",
        'What a key that takes a distribution can say: `{ name = "NAME", PARAMETER = VALUE }`, or one quantity. "A quantity of what is drawn" is a time or a '
        "number of bytes, as the key is.",
    ),
    "recovery": ("Loss recoveries", 'What `tcp = { recovery = "NAME" }` can say.'),
    "partial": ("Policies of partial packets", 'What `tcp = { partial = "NAME" }` can say.'),
}


def pages() -> dict[str, str]:
    """All generated pages by file name."""
    tables = _core.registry()
    made = {f"{kind}.md": _parts(title, lead, tables[kind]) for kind, (title, lead) in KINDS.items()}
    made["cc.md"] = _congestion_controls(tables["cc"])
    for row in tables["cc"]:
        made[f"cc/{row['name']}.md"] = _congestion_control(row)
    made["tcp.md"] = _tcp(tables["tcp"], tables["stack"])
    made["walk.md"] = (
        f"# Random walks of links\n\nWhat `walk = {{ PARAMETER = VALUE }}` of a link can say.\n\n{_parameters(tables['walk'])}"
    )
    made["arrivals.md"] = _arrivals(tables["arrivals"])
    lead = "What `[scenario.hosts.NAME]` can say of a machine, besides `count`; [what it means](../concepts/host.md)."
    made["host.md"] = f"# Hosts\n\n{lead}\n\n{_parameters(tables['host'])}"
    made["kernel.md"] = _kernel(tables["kernel"])
    made["records.md"] = _records(_core.schema())
    made["command-line.md"] = _command_line()
    return {name: NOTE + text for name, text in made.items()}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def _parameters(params: Sequence[dict[str, Any]]) -> str:
    rows = ((f"`{param['name']}`", param["kind"], f"`{param['default']}`", param["summary"]) for param in params)
    return _table(("Parameter", "Value", "Default", "Meaning"), rows)


def _parts(title: str, lead: str, rows: Sequence[dict[str, Any]]) -> str:
    text = f"# {title}\n\n{lead}\n"
    for row in rows:
        text += f"\n## {row['name']}\n\n{row['summary'][0].upper()}{row['summary'][1:]}.\n"
        if row["specification"]:
            text += f"\nSpecification: {', '.join(row['specification'])}.\n"
        if row["params"]:
            text += "\n" + _parameters(row["params"])
    return text


def _arrivals(params: Sequence[dict[str, Any]]) -> str:
    text = "# Flows that arrive and leave\n\n"
    text += "What `arrivals = { PARAMETER = VALUE }` of a flow can say; `rate` or `load` is needed. Besides these, `link` names the link of the flow's path "
    text += "that a `load` is a share of; left out, it is the slowest. [How to use it](../guides/traffic.md).\n\n"
    return text + _parameters(params)


def _congestion_controls(rows: Sequence[dict[str, Any]]) -> str:
    """One line each, with how near it is to the kernel's of the same name."""
    text = "# Congestion controls\n\n"
    text += 'What `cc = "NAME"` or `cc = { name = "NAME", PARAMETER = VALUE }` can say. Each name leads to its model, parameters, figure and agreement.\n\n'
    cells = (
        (f"[{row['name']}](cc/{row['name']}.md)", row["summary"], ", ".join(row["specification"]), *_distance(row["name"])) for row in rows
    )
    text += _table(("Name", "What it is", "Specification", "Goodput beside Linux", "cwnd beside Linux"), cells)
    return text + "\nThe last columns are medians over the scenarios of [the comparison](../validation/linux.md), without sign.\n"


def _congestion_control(row: dict[str, Any]) -> str:
    """Its file's header, parameters, figure and agreement."""
    name = row["name"]
    text = f"# {name}\n\n{row['summary'][0].upper()}{row['summary'][1:]}.\n\n" + _header(SOURCES / f"cc/{name}.rs")
    if row["params"]:
        text += "\n## Parameters\n\n" + _parameters(row["params"])
    text += f"\n## Alone, and when a second flow comes\n\n![window, round-trip time and queue](../../images/cc/{name}.svg)\n\n"
    text += "*`studies/congestion-controls.toml`: 10 Mbit/s, 40 ms, a queue of 50 packets, stack `linux`; where the algorithm needs marks, the queue gives them.*\n"
    text += "\n## Agreement with Linux\n\n"
    found = _agreement(name)
    if not found:
        return text + "The kernel that [the comparison](../../validation/linux.md) runs on does not have it.\n"
    text += "Simulator less kernel, as shares of the kernel's; [how it is measured](../../validation/linux.md).\n\n"
    keys = ("goodput", "completion", "rtt", "cwnd")
    return text + _table(
        ("Scenario", "Flow", "Goodput", "Completion", "Mean RTT", "cwnd (NRMSE)", "Retransmissions, kernel / simulator"),
        (
            (line["case"], line["flow"], *(_share(line[key], key) for key in keys), f"{line['kernel_retransmits']} / {line['retransmits']}")
            for line in found
        ),
    )


def _header(source: Path) -> str:
    """The documentation at the head of a file, its parts as sections."""
    lines = [
        line[3:].strip() if line.startswith("//! ") else "" for line in source.read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    ]
    text = "\n".join(lines[1:] if not lines[0] else lines)
    paragraphs = re.split(r"\n{2,}", text.strip())
    made: list[str] = []
    for paragraph in paragraphs:
        heading = re.match(r"(Specification|Model[^:\n]*|Deviations|Kernel equivalent): ?\n?", paragraph)
        if heading is None:
            made.append(paragraph)
            continue
        made += [f"## {heading[1]}", paragraph[heading.end() :]]
    return "\n\n".join(made) + "\n"


def _agreement(name: str) -> list[dict[str, str]]:
    with AGREEMENT.open(encoding="utf-8", newline="") as file:
        return [line for line in csv.DictReader(file) if line["cc"] == name]


def _distance(name: str) -> tuple[str, str]:
    """The medians of goodput and window."""
    found = _agreement(name)
    medians = [
        statistics.median(values) if (values := [abs(float(line[key])) for line in found if line[key]]) else None
        for key in ("goodput", "cwnd")
    ]
    goodput, cwnd = ("" if median is None else f"{median:.1%}" for median in medians)
    return goodput, cwnd


def _share(text: str, key: str) -> str:
    if not text:
        return ""
    return f"{float(text):.0%}" if key == "cwnd" else f"{float(text):+.1%}"


def _tcp(params: Sequence[dict[str, Any]], stacks: Sequence[dict[str, Any]]) -> str:
    names = [stack["name"] for stack in stacks]
    text = "# TCP parameters and stacks\n\n"
    text += "`stack` sets all parameters at once; each can be overridden under `tcp`, for the scenario or for a flow.\n\n"
    for stack in stacks:
        text += f"- `{stack['name']}`: {stack['summary']} ({', '.join(stack['specification'])})\n"
    rows = (
        (
            f"`{param['name']}`",
            param["kind"],
            *(f"`{stack['values'].get(param['name'], param['default'])}`" for stack in stacks),
            param["summary"],
        )
        for param in params
    )
    return text + "\n" + _table(("Parameter", "Value", *(f"`{name}`" for name in names), "Meaning"), rows)


def _kernel(settings: Sequence[dict[str, Any]]) -> str:
    text = "# Settings of a real kernel\n\n"
    text += "What `[scenario.kernel]` can say, for `--backend uml`, `qemu` and `netns`. The simulator reads none of it.\n\n"
    text += _parameters(settings)
    text += (
        "\nBesides, `image` names a kernel made by `sawtooth kernel build`, and the table `sysctl` holds settings of both hosts by name:\n"
    )
    text += '`sysctl = { "net.ipv4.tcp_sack" = 0 }`.\n'
    return text


def _records(schema: dict[str, Any]) -> str:
    text = (
        "# Result tables\n\nEvery table of a dataset has a column `run` besides, which joins it to `runs`. -1 stands for `not measured`.\n"
    )
    for name, table in schema.items():
        text += f"\n## {name}\n\n{table['summary'][0].upper()}{table['summary'][1:]}.\n\n"
        rows = ((f"`{column['name']}`", column["type"], column["unit"], column["summary"]) for column in table["columns"])
        text += _table(("Column", "Type", "Unit", "Meaning"), rows)
        if table["rfc4898"]:
            text += "\nIn [RFC 4898](https://www.rfc-editor.org/rfc/rfc4898), the TCP Extended Statistics MIB, or web100:\n\n"
            text += _table(("Name", "Object", "Columns", "Remark"), (_rfc4898(row) for row in table["rfc4898"]))
    return text


def _rfc4898(row: dict[str, Any]) -> tuple[str, str, str, str]:
    terms = " + ".join(f"`{column}`" for column in row["columns"]) + "".join(f" - `{column}`" for column in row["less"])
    names = " or ".join(f"`{name}`" for name in (row["name"], row["web100"]) if name)
    return names, f"`{row['object']}`", terms, row["remark"]


def _command_line() -> str:
    text = "# Command line\n\nExit codes: 0 done; 1 a run failed; 2 a mistake, told on standard error; 130 after Ctrl-C.\n"
    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    groups = [(group.name or "", group.typer_instance) for group in app.registered_groups]
    for prefix, typer_app in [("", app), *groups]:
        for command in typer_app.registered_commands if typer_app else ():
            name = command.name or (command.callback.__name__ if command.callback else "")
            words = [word for word in (prefix, name) if word]
            helped = runner.invoke(app, [*words, "--help"], prog_name="sawtooth")
            text += f"\n## sawtooth {' '.join(words)}\n\n```\n{helped.output.rstrip()}\n```\n"
    return text


def main() -> int:
    """Writes the pages, or with --check says which are out of date."""
    stale = [name for name, text in pages().items() if not _same(REFERENCE / name, text)]
    if "--check" in sys.argv[1:]:
        for name in stale:
            print(f"docs/reference/{name} is out of date: run `make docs`", file=sys.stderr)
        return 1 if stale else 0
    for name, text in pages().items():
        (REFERENCE / name).parent.mkdir(parents=True, exist_ok=True)
        (REFERENCE / name).write_text(text, encoding="utf-8")
    return 0


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
