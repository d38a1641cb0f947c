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

from sawtooth import _core, figures, findings, reference_files
from sawtooth.backends.registry import BACKENDS, WITH_KERNELS
from sawtooth.cli import app
from sawtooth.figures import spec as figure_spec
from sawtooth.findings import spec as finding_spec
from sawtooth.linting import GROUPS, RULES
from sawtooth.measures import expression, functions
from sawtooth.measures import tables as measure_tables
from sawtooth.measures.computed import COMPUTED
from sawtooth.report import KINDS as REPORTS
from sawtooth.study import keys

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import examples
import interface
import kinds
import manual
import models

REFERENCE = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py from the tables; edit those. -->\n"
ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "crates/sawtooth-core/src"
README = ROOT / "README.md"
MODELLED_PAGE = ROOT / "docs/concepts/modelled.md"
# A wheel's data: it goes below the prefix of the environment, where `man` looks.
MANUAL = ROOT / "supply/data/data/share/man/man1/sawtooth.1"
AGREEMENT = ROOT / "docs/validation/linux.csv"
KINDS = {
    "queue": ("Queue disciplines", 'What `queue = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
    "loss": ("Packet losses of links", 'What `loss = { name = "NAME", PARAMETER = VALUE }` of a link can say.'),
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
    "delayed_ack": ("Policies of delayed acknowledgements", 'What `tcp = { delayed_ack = "NAME" }` can say.'),
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
    lead = (
        'How much a study may ask for without saying that it is meant, so that a slip of the pen (`sample = "1 ns"`) is refused and not run. A study '
        "raises what it means to exceed at its top, `limits = { events = 1e11 }`, or the command line does, `--set limits.events=1e11`. Limits "
        "decide whether something runs, never what comes out. `sawtooth plan` estimates runs, segments, events, rows and memory beforehand."
    )
    made["limits.md"] = f"# Limits\n\n{lead}\n\n{_parameters(tables['limit'])}"
    made["kernel.md"] = _kernel(tables["kernel"])
    made["scenario.md"] = _scenario(tables)
    made["study.md"] = _study()
    made["figures.md"] = kinds.of_figures(_table)
    made["findings.md"] = kinds.of_findings(_table)
    made["measures.md"] = _measures()
    made["records.md"] = _records(_core.schema())
    made["captures.md"] = _captures(_core.capture_schema())
    made["lint.md"] = _lint()
    made["command-line.md"] = _command_line()
    made["python.md"] = interface.page(_table)
    return {name: NOTE + text for name, text in made.items()}


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def _parameters(params: Sequence[dict[str, Any]]) -> str:
    rows = ((f"`{param['name']}`", param["kind"], f"`{param['default']}`", param["summary"]) for param in params)
    return _table(("Parameter", "Value", "Default", "Meaning"), rows)


# What the simulator has, in the order in which the README tells it: tables of parts, and what those are.
MODELLED = {
    "queue": "Queues of links",
    "loss": "Losses, besides single ones",
    "jitter": "Jitter",
    "reorder": "Reordering",
    "medium": "Frames and cells",
    "forwarding": "Nodes between links",
    "stack": "TCP",
    "recovery": "Loss recoveries",
    "source": "Applications over TCP",
    "packet_source": "Packets of UDP",
}
# What it has not. The words would be in the names of a part, parameter or key that did it: a test looks whether one is there.
NOT_MODELLED = {
    "routing, and routes that change: a path is fixed": ("route", "routing", "router"),
    "media that stations contend for, such as Wi-Fi; what they do to a link can be given as a trace, a table or a walk": (
        "wifi",
        "csma",
        "contention",
        "station",
    ),
    "middleboxes that rewrite or split connections": ("nat", "proxy", "firewall", "middlebox"),
    "fragments of IP packets": ("fragment", "fragments", "fragmentation"),
    "multicast": ("multicast", "multicasts"),
    "TCP Fast Open, keep-alives, urgent data, Multipath TCP": ("fastopen", "tfo", "keepalive", "urgent", "mptcp", "multipath"),
    "QUIC, SCTP and TLS": ("quic", "sctp", "tls"),
}


def readme(text: str) -> str:
    """The README with its section about what is modelled as the tables have it."""
    before, _, rest = text.partition("<!-- modelled -->\n")
    _, _, after = rest.partition("<!-- /modelled -->\n")
    return f"{before}<!-- modelled -->\n{modelled(_core.registry())}<!-- /modelled -->\n{after}"


def modelled(tables: dict[str, Any], reference: str = "docs/reference") -> str:
    """What the simulator has by its tables, and the list of what it has not; reference is the way to its pages."""
    rows = [
        (what, ", ".join(f"`{row['name']}`" for row in tables[kind]), "tcp" if kind == "stack" else kind) for kind, what in MODELLED.items()
    ]
    of_links = [row["key"] for row in tables["key"] if row["table"] == "links.NAME"]
    rows.append(("All that a link can have", ", ".join(f"`{key}`" for key in of_links), "scenario"))
    text = _table(
        ("In the simulator", "There are", "More"), ((what, found, f"[{page}]({reference}/{page}.md)") for what, found, page in rows)
    )
    return text + "\nNot there:\n\n" + "".join(f"- {what}\n" for what in NOT_MODELLED)


QUANTITIES = """
## Quantities and expressions

**Quantities** are numbers with units; k is 1000, Ki is 1024, and `bit/s` and `B/s` are different units:

{units}

**Expressions** may stand wherever a number or quantity may: `+ - * /`, brackets, variables, `i`; dimensions are checked:
`"S / N * i"`, `"(i - 1) * D"`, `"10000 packets * scale"`.
"""
# Pages that explain more than a reference does, by table.
MORE = {
    "": "What the [tables of results](records.md) are; all [TCP parameters](tcp.md).",
    "links.NAME": "What each does exactly: [links as they are in the world](../guides/links.md). `reverse` has the same keys without `count` and `reverse`.",
    "links.NAME.trace": "[Traces of mahimahi](../guides/links.md).",
    "flows[] of UDP": "[What it is for](../guides/background.md).",
    "flows[].arrivals": "[How to use it](../guides/traffic.md).",
    "hosts.NAME": "[What it means](../concepts/host.md).",
    "kernel": "[Real kernels](../guides/kernels.md).",
    "shortcuts": "[Why they are exact](../concepts/speed.md).",
}


def _scenario(tables: dict[str, Any]) -> str:
    """The keys of every table of a scenario."""
    text = (
        "# The scenario\n\nWhat `[scenario]` of a [study](study.md) can say. `NAME` stands for any name, `[]` for each entry of a list.\n"
    )
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in tables["key"]:
        rows.setdefault(row["table"], []).append(row)
    for table, found in rows.items():
        about = found[0]["about"]
        text += f"\n## {f'`{table}`' if table else 'Its keys'}\n\n"
        text += f"{about[0].upper()}{about[1:]}. {MORE.get(table, '')}".rstrip() + "\n\n"
        cells = ((f"`{row['key']}`", _takes(row), row["default"], row["summary"], f"`{row['example']}`") for row in found)
        text += _table(("Key", "Value", "Default", "Meaning", "Example"), cells)
        parameters = found[0]["parameters"]
        if parameters:
            text += f"\nAnd [parameters of {parameters}]({parameters}.md).\n"
    units: dict[str, list[str]] = {}
    for row in tables["unit"]:
        units.setdefault(row["summary"], []).append(f"`{row['name']}`")
    return text + QUANTITIES.format(units=_table(("Of", "Units"), ((of, " ".join(names)) for of, names in units.items())))


def _takes(row: dict[str, Any]) -> str:
    parts = row["of"]
    if parts is None:
        return str(row["kind"])
    page = "tcp" if parts == "stack" else parts
    return f"{row['kind']} [{parts}]({page}.md)"


def _study() -> str:
    """The keys of a study outside its scenario."""
    text = "# The study file\n\nTOML. All keys but `scenario` may be left out.\n\n" + _keys(keys.STUDY)
    text += "\n## Replicates by a rule\n\nWhat `repeat` has as a table; [the guide](../guides/sweeps.md) shows one.\n\n" + _keys(
        keys.REPEAT
    )
    text += "\n## Draws\n\n`distribution` is one of\n\n"
    text += _table(("Distribution", "Meaning"), ((f"[`{name}`](#{name})", draw.summary) for name, draw in keys.DRAWS.items()))
    for name, draw in keys.DRAWS.items():
        text += f"\n### {name}\n\n" + _keys((*draw.needed, *draw.optional))
    text += "\n## References\n\n" + _keys(reference_files.KEYS) + "\n### columns\n\n" + _keys(reference_files.COLUMN)
    text += "\n## Figures\n\n" + _keys((*figure_spec.COMMON, *figure_spec.PLACES.values(), figure_spec.STATISTIC, figure_spec.SCALE))
    text += "\n### Kinds of figures\n\n"
    text += _table(
        ("Kind", "What it shows", "Places", "Keys of its own"),
        (
            (
                f'[`"{name}"`](figures.md#{name})',
                kind.summary,
                " ".join(f"`{place}`" for place in kind.places),
                " ".join(f"`{key.name}`" for key in kind.keys),
            )
            for name, kind in figures.TABLE.items()
        ),
    )
    text += "\nKeys that only some kinds have:\n\n" + _keys(_own(figures.TABLE.values()))
    text += "\n## Findings\n\n" + _keys(finding_spec.COMMON)
    text += "\n### Kinds of findings\n\n"
    text += _table(
        ("`is`", "What is claimed", "Keys of its own"),
        (
            (f'[`"{name}"`](findings.md#{name.replace(" ", "-")})', kind.summary, " ".join(f"`{key.name}`" for key in kind.keys))
            for name, kind in findings.table().items()
        ),
    )
    text += "\nKeys that only some kinds have:\n\n" + _keys(_own(findings.table().values()))
    text += "\n### than\n\nWhere it is a table:\n\n" + _keys(finding_spec.THAN)
    text += "\n## Backends\n\n"
    text += _table(
        ("Backend", "What it is", "Time"),
        ((f'`"{row.name}"`', row.summary, " or ".join(row.clocks) or "simulated") for row in BACKENDS.values()),
    )
    text += "\n## Kinds of reports\n\n"
    text += _table(("Kind", "What it is"), ((f'`"{kind}"`', _first_sentence(module)) for kind, (module, _) in REPORTS.items()))
    return (
        text
        + """
## Paths

Written as in TOML, below the scenario: `links.bottleneck.rate`, `tcp.rto_min`, `flows[0].cc.name`; `vars.N` is a variable;
`flows[*]` means all entries of a list. A path that leads nowhere is an error.
"""
    )


def _own(kinds: Iterable[figure_spec.Kind | finding_spec.Kind]) -> list[keys.Key]:
    """The keys that kinds have of their own, each meaning once."""
    return list(dict.fromkeys(key for kind in kinds for key in kind.keys))


def _measures() -> str:
    """What expressions are made of."""
    text = "# Measures\n\nWhat [figures](study.md#figures) and [findings](study.md#findings) can ask of a run: a column, or an expression.\n\n```\n"
    text += (expression.__doc__ or "").split("\n\n")[1].replace("\n    ", "\n").removeprefix("    ") + "\n```\n\n"
    text += (
        "A name is a column of `flows`, `TABLE.COLUMN`, or a measure that is computed. `arms.NAME.X` is X, a name or a function such as `p95(completion_ns)`, in another arm, of the same cell and "
        "replicate; `items.NAME.X` is X of another flow, block of flows or direction of a link, of the same run; `references.NAME.COLUMN` is what "
        "a [reference](study.md#references) has of the cell, `reference.COLUMN` if there is only one. A name with other letters is quoted: "
        '`arms."BBR v1".goodput_bps`, and in it `\\"` is a quote: `arms."a \\"b\\"".goodput_bps`. Units are kept: times are added to times, and `delivered_bytes / lifetime_ns` is a rate. '
        "Rows in which a value is infinite, such as a slow-start threshold before the first loss, count as if they had none.\n\n"
        "A measure is one number per run and item. A table with many rows per run needs a function that takes them together. What a run did not "
        "bring to an end is known to be at least what it had come to.\n\n## Functions\n\n"
    )
    text += _table(
        ("Function", "What it makes of the rows of a run and item"),
        ((f"`{name}(x)`", row.said) for name, row in (*functions.AGGREGATES.items(), ("p95", functions.aggregate("p95"))) if row),
    )
    text += (
        "\n`p50`, `p9`, `p999` and so on are percentiles, `quantile(x, 0.9)` is one of any share: the least value that so large a share does not exceed. "
        "`share_above(x, 100 ms)` is the share of rows in which x is above that, 0 if none is. "
        "`at_min(x, y)` is x of the row in which y is least, `at_max(x, y)` of that in which it is largest, such as "
        "`at_min(goodput_bps, start_ns)` of the flow of a block that starts first. `log2`, `log10` and `ln` are of single values.\n"
    )
    for table, shape in measure_tables.SHAPES.items():
        said = "series.throughput_bps" if table == measure_tables.WINDOWS else table
        rows = "many rows for each" if shape.many else "one row for each"
        text += (
            f"\n## {said}\n\nOf {'flows' if shape.item == 'flow' else 'directions of links' if shape.item == 'link' else 'hosts'}, {rows}"
        )
        text += f", told apart by {' and '.join(f'`{key}`' for key in shape.keys)}" if shape.keys else ""
        text += "".join(
            f"; a figure tells them apart by `{name}`, too: 1 has the least `{column}`" for name, column in shape.orders.items()
        )
        text += f"; recorded with {shape.needs}.\n\n" if shape.needs else ".\n\n"
        stored = measure_tables.stored(table)
        if stored:
            text += "; ".join(
                f"`{quantity}` is known as {', '.join(f'`{how}({table}.{quantity})`' for how in hows)}" for quantity, hows in stored.items()
            )
            text += ".\n\n"
        text += _table(
            ("Column", "Unit", "Meaning"),
            ((f"`{name}`", unit, summary) for name, (unit, summary) in measure_tables.numeric_columns(table).items()),
        )
    text += "\n## Computed\n\n"
    return text + _table(
        ("Measure", "Unit", "Meaning"),
        ((f"`{name}`", row.unit, f"{row.summary}{'; needs samples' if row.samples else ''}") for name, row in COMPUTED.items()),
    )


def _keys(rows: Sequence[keys.Key]) -> str:
    return _table(("Key", "Value", "Default", "Meaning"), ((f"`{row.name}`", row.kind, row.default, row.summary) for row in rows))


def _first_sentence(module: str) -> str:
    """What a report's module says that it is, without "The report of"."""
    lines = (ROOT / f"python/sawtooth/report/{module}.py").read_text(encoding="utf-8").removeprefix('"""').split('"""')[0]
    return " ".join(lines.split("\n\n")[0].split()).removeprefix("The report of ")


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


def _algorithm(name: str) -> Path:
    """The file that an algorithm's own page is made of: the one with its row, or the head of its folder."""
    has_row = [
        path
        for path in (SOURCES / "cc").rglob("*.rs")
        if f'ENTRY: Entry<Algorithm> = Entry {{\n    name: "{name}",' in path.read_text(encoding="utf-8")
    ]
    (path,) = has_row
    return path.with_name("mod.rs") if path.name == "params.rs" else path


def _congestion_control(row: dict[str, Any]) -> str:
    """Its file's header, parameters, figure and agreement."""
    name = row["name"]
    text = f"# {name}\n\n{row['summary'][0].upper()}{row['summary'][1:]}.\n\n" + _header(_algorithm(name))
    if row["params"]:
        text += "\n## Parameters\n\n" + _parameters(row["params"])
    text += f"\n## Alone, and when a second flow comes\n\n![window, round-trip time and queue](../../images/cc/{name}.svg)\n\n"
    text += "*`congestion-controls`: 10 Mbit/s, 40 ms, a queue of 50 packets, stack `linux`; where the algorithm needs marks, the queue gives them.*\n"
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
    # Not every reader of Markdown begins a list without an empty line before it.
    return re.sub(r"(?m)^(?!- )(.+:)\n(?=- )", r"\1\n\n", "\n\n".join(made)) + "\n"


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
    backends = ", ".join(f"`{name}`" for name in WITH_KERNELS)
    text += f"What `[scenario.kernel]` can say, for the backends {backends}. The simulator reads none of it.\n\n"
    text += _parameters(settings)
    text += (
        "\nBesides, `image` names a kernel made by `sawtooth kernel build`, and the table `sysctl` holds settings of both hosts by name:\n"
    )
    text += '`sysctl = { "net.ipv4.tcp_sack" = 0 }`.\n'
    return text


def _records(schema: dict[str, Any]) -> str:
    text = "# Result tables\n\nEvery table of a dataset has a column `run` besides, which joins it to `runs`. What is unknown, or was not measured, is null.\n"
    for name, table in schema.items():
        text += _columns(name, table)
        if table["rfc4898"]:
            text += "\nIn [RFC 4898](https://www.rfc-editor.org/rfc/rfc4898), the TCP Extended Statistics MIB, or web100:\n\n"
            text += _table(("Name", "Object", "Columns", "Remark"), (_rfc4898(row) for row in table["rfc4898"]))
    return text


def _captures(schema: dict[str, Any]) -> str:
    text = (
        "# Tables of captures\n\nWhat [`sawtooth analyze`](../guides/analyze.md) makes of a capture. `flows` has the other columns of "
        "[a run's flows](records.md#flows) as well, null throughout: no capture tells them.\n"
    )
    return text + "".join(_columns(name, table) for name, table in schema.items())


def _columns(name: str, table: dict[str, Any]) -> str:
    rows = (
        (f"`{column['name']}`", f"{column['type']}{' or null' if column['nullable'] else ''}", column["unit"], column["summary"])
        for column in table["columns"]
    )
    head = f"\n## {name}\n\n{table['summary'][0].upper()}{table['summary'][1:]}.\n\n"
    return head + _table(("Column", "Type", "Unit", "Meaning"), rows)


def _rfc4898(row: dict[str, Any]) -> tuple[str, str, str, str]:
    terms = " + ".join(f"`{column}`" for column in row["columns"]) + "".join(f" - `{column}`" for column in row["less"])
    names = " or ".join(f"`{name}`" for name in (row["name"], row["web100"]) if name)
    return names, f"`{row['object']}`", terms, row["remark"]


def _lint() -> str:
    text = (
        "# Rules of the linter\n\nWhat `sawtooth lint STUDY` says of a study before it runs, and which marks cells of its results get. An error stops a study, "
        "a warning is told, a note only by `sawtooth lint`. A study names what it means, with a reason, and is not told of it again: `[lint]`, and "
        'below it `ignore = { SW402 = "small windows are the question" }`.\n'
    )
    for start, group in GROUPS.items():
        rows = [rule for rule in RULES.values() if rule.code.startswith(start)]
        text += f"\n## {group[0].upper()}{group[1:]}\n\n"
        text += _table(("Code", "Name", "", "Finds"), ((f"[{r.code}](#{r.code.lower()})", r.name, r.severity, r.summary) for r in rows))
        for rule in rows:
            text += f"\n### {rule.code}\n\n`{rule.name}` finds {rule.summary}.\n\n{rule.why}\n\n{rule.advice}\n"
    return text


def _command_line() -> str:
    text = "# Command line\n\nExit codes: 0 done; 1 a run failed; 2 a mistake, or what the machine lacks or refuses, told on standard error; 130 after Ctrl-C. What 1 says beside that stands with the command.\n\n"
    text += (
        "Files that a command is to write, such as those of `--out`, `--csv`, `--study`, `--qlog`, `--flent` and `--pcap`: folders on the way to them are made. A file of that name is replaced, and behind a link the file that it leads to, once the new one is whole; a study that "
        "another than the command wrote only with `--force`. What is read, and a directory, a pipe, a device or a link to nothing is left alone, and told.\n"
    )
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
    made = {REFERENCE / name: text for name, text in pages().items()}
    made[README] = readme(README.read_text(encoding="utf-8"))
    made[MODELLED_PAGE] = NOTE + models.page(_core.registry(), modelled(_core.registry(), "../reference"), _table)
    made[MANUAL] = manual.page()
    made |= examples.pages()
    stale = [path for path, text in made.items() if not _same(path, text)]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run `make docs`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
    return 0


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
