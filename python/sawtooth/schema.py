"""The JSON Schema of study files: what an editor needs to complete keys, to show what they mean, and to mark those that do not exist.

It is made of the tables that the readers use, so it cannot lag behind them. A value is described as far as a schema can tell: that it is a number or an expression, one of
some words, a table with these keys. What an expression means, and whether names are known, only `sawtooth lint` says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sawtooth import _core, figures, findings, reference_files
from sawtooth.figures import spec as figure_spec
from sawtooth.findings import spec as finding_spec
from sawtooth.report import KINDS as REPORTS
from sawtooth.study import keys
from sawtooth.study.keys import Key

Schema = dict[str, Any]

DIALECT = "http://json-schema.org/draft-07/schema#"
"""The newest one that editors of TOML read."""

_FLAG: Schema = {"type": "boolean"}
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": ["number", "string"]}
"""A quantity with its unit, or an expression, is a text."""
_WORD = re.compile(r'"([^"`]+)"')


def study_schema() -> Schema:
    """The schema of a whole study file."""
    tables = _core.registry()
    scenario = _Scenario(tables)
    properties = _properties(keys.STUDY) | {
        "report": {"enum": list(REPORTS)},
        "repeat": {"anyOf": [{"type": "integer"}, _closed(_properties(keys.REPEAT), keys.REPEAT)]},
        "limits": _parameters(tables["limit"]),
        "draws": {"type": "object", "additionalProperties": {"anyOf": [_draw(name, draw) for name, draw in keys.DRAWS.items()]}},
        "scenario": scenario.table(""),
        "sweep": scenario.sweep(),
        "arms": {"type": "object", "additionalProperties": {"type": "object", "propertyNames": scenario.paths("backends", "repeat")}},
        "short": {"type": "object"},
        "references": {"type": "array", "items": _reference()},
        "figures": {"type": "array", "items": _figure()},
        "findings": {"type": "array", "items": _finding()},
        "lint": _closed({"ignore": {"type": ["object", "array"]}}),
    }
    described = {name: _described(properties[name], key.summary) for key in keys.STUDY for name in [key.name]}
    return {
        "$schema": DIALECT,
        "title": "Sawtooth study",
        **_closed(described, keys.STUDY),
        "definitions": scenario.definitions,
    }


class _Scenario:
    """Schemas of a scenario's tables, as the core has them; parts that occur often are definitions."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.definitions: dict[str, Schema] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        for row in tables["key"]:
            self.rows.setdefault(row["table"], []).append(row)
        # A link's other direction has its keys but two.
        link = self.table("links.NAME")["properties"]
        reverse = {name: value for name, value in link.items() if name not in ("count", "reverse")}
        link["reverse"] = _described(_closed(reverse), link["reverse"]["description"])
        self.definitions["link"] = _closed(link)
        self.definitions["flow"] = self.flow()
        self.definitions["host"] = self.table("hosts.NAME")

    def table(self, table: str) -> Schema:
        """A table's keys, and the parameters that are its keys, too."""
        rows = self.rows[table]
        properties = {row["key"]: _described(self.value(row), row["summary"]) for row in rows}
        parameters = rows[0]["parameters"]
        if parameters and parameters in self.tables and parameters != "distribution":
            properties = _parameters(self.tables[parameters])["properties"] | properties
        needed = [row["key"] for row in rows if row["needed"] and not table]
        return {**_closed(properties), **({"required": needed} if needed else {})}

    def sweep(self) -> Schema:
        """Factors by their paths, or blocks of them."""
        axes: Schema = {"type": "object", "propertyNames": self.paths()}
        listed = {"type": "array", "items": axes}
        block = _closed({"grid": axes, "grids": listed, "zip": axes, "cases": listed})
        return _any(axes, {"type": "array", "items": block})

    def paths(self, *words: str) -> Schema:
        """Where a value of a scenario may be put, as far as that does not depend on the scenario; or one of `words`."""
        keys = [row["key"] for row in self.rows[""]]
        tables = {
            r"links\.NAME": self.definitions["link"]["properties"],
            r"flows\[(\d+|\*)\]": self.definitions["flow"]["properties"],
            r"hosts\.NAME": self.definitions["host"]["properties"],
            "tcp": {row["name"]: row for row in self.tables["tcp"]},
        }
        places = [*(rf"{place}\.({_either(names)})" for place, names in tables.items()), *(rf"{place}(?=$)" for place in tables)]
        places.append(_either(name for name in [*keys, "vars"] if name not in ("links", "flows", "tcp")))
        inside = "|".join(places).replace("NAME", r"""("[^"]*"|[^."]+)""")
        return {"pattern": rf"^((scenario\.)?({inside})([.\[].*)?|{_either(words) or '(?!)'})$"}

    def flow(self) -> Schema:
        """A flow of any kind: what kind it is, only its reader says."""
        merged: dict[str, Schema] = {}
        for table in self.rows:
            if table.startswith("flows[]") and "." not in table:
                for name, value in self.table(table)["properties"].items():
                    merged[name] = value if name not in merged or merged[name] == value else _any(merged[name], value)
        return _closed(merged)

    def value(self, row: Mapping[str, Any]) -> Schema:
        """What a key takes."""
        match row["key"], row["of"], row["table"]:
            case "links", _, _:
                return {"type": "object", "additionalProperties": _ref("link")}
            case "hosts", _, _:
                return {"type": "object", "additionalProperties": _ref("host")}
            case "flows", _, _:
                return {"type": "array", "items": _ref("flow")}
            case "outages" | "changes" | "trace" as key, _, "links.NAME":
                entries = {"outages": "outages[]", "changes": "changes.rows[]"}
                listed = self.table(f"links.NAME.{entries[key]}") if key in entries else _NUMBER
                whole = [] if key == "outages" else [self.table(f"links.NAME.{key}")]
                return _any({"type": "array", "items": listed}, *whole)
            case "rows", _, _:
                return {"type": "array", "items": self.table("links.NAME.changes.rows[]")}
            case "loss", _, "links.NAME":
                return _any(_NUMBER, self.part("loss"))
            case "shortcuts", _, _:
                return _any(_FLAG, self.table("shortcuts"))
            case "jitter", _, _:
                return _any(self.part("jitter"), self.named("table", self.table("links.NAME.jitter")["properties"]))
            case "arrivals", _, _:
                return self.table("flows[].arrivals")
            case "kernel", _, _:
                return self.table("kernel")
            case "limits", _, _:
                return _parameters(self.tables["limit"])
            case _, None, _:
                return _of_words(row["kind"])
            case _, "stack", _:
                return {"enum": [stack["name"] for stack in self.tables["stack"]]}
            case _, str(of), _ if str(row["kind"]).startswith("table of"):
                return self.defined(of, _parameters(self.tables[of]))
            case _, of, _:
                return self.defined(f"{of} part", self.part(str(of)))

    def part(self, of: str) -> Schema:
        """The name of a part, or a table with its name and parameters."""
        rows = self.tables[of]
        names = {"enum": [row["name"] for row in rows]}
        # The congestion control of a kernel goes by that kernel's name.
        kernels = [{"type": "string", "pattern": "^kernel:"}] if of == "cc" else []
        return _any(names, *kernels, *(self.named(row["name"], _parameters(row["params"])["properties"], row["summary"]) for row in rows))

    def named(self, name: str, properties: Mapping[str, Schema], summary: str = "") -> Schema:
        """A table that names its part."""
        return _described({**_closed({"name": {"const": name}, **properties}), "required": ["name"]}, summary)

    def defined(self, name: str, schema: Schema) -> Schema:
        """A definition, wherever it is needed."""
        self.definitions.setdefault(name, schema)
        return _ref(name)


def _draw(name: str, draw: keys.Draw) -> Schema:
    both = (*draw.needed, *draw.optional)
    return _described(_closed({"distribution": {"const": name}, **_properties(both)}, draw.needed, ("distribution",)), draw.summary)


def _reference() -> Schema:
    columns = {"type": ["object"], "additionalProperties": _any(_TEXT, _closed(_properties(reference_files.COLUMN)))}
    return _closed(_properties(reference_files.KEYS) | {"columns": columns}, reference_files.KEYS)


def _figure() -> Schema:
    own = [key for kind in figures.TABLE.values() for key in kind.keys]
    common = (*figure_spec.COMMON, *figure_spec.PLACES.values(), figure_spec.STATISTIC, figure_spec.SCALE)
    properties = _properties((*common, *own))
    properties["kind"] = {"enum": list(figures.TABLE), "description": "how it is shown"}
    return {**_closed(properties), "required": ["name"]}


def _finding() -> Schema:
    kinds = findings.table()
    properties = _properties((*finding_spec.COMMON, *(key for kind in kinds.values() for key in kind.keys)))
    properties["is"] = {
        "enum": sorted({word for kind in kinds.values() for word in kind.words}),
        "description": "what is claimed of the measure",
    }
    properties["than"] = _any(_NUMBER, _closed(_properties(finding_spec.THAN)))
    return {**_closed(properties), "required": ["claim", "is"]}


def _properties(rows: Iterable[Key]) -> dict[str, Schema]:
    """Of keys that are told in words; of two that are called alike, what either may be."""
    found: dict[str, Schema] = {}
    for row in rows:
        value = _described(_of_words(row.kind), row.summary)
        found[row.name] = value if row.name not in found or found[row.name] == value else _any(found[row.name], value)
    return found


def _parameters(params: Sequence[Mapping[str, Any]]) -> Schema:
    return _closed(
        {param["name"]: _described(_of_words(param["kind"]), f"{param['summary']} (default {param['default']})") for param in params}
    )


def _quantity(*dimensions: str) -> Schema:
    """A number, an expression, or a number with a unit: of that one can tell whether the unit is known and of the right kind."""
    number = r"\s*[+-]?[0-9_]*\.?[0-9_]+([eE][+-]?[0-9]+)?\s*"
    units = _either(row["name"] for row in _core.registry()["unit"] if row["summary"] in dimensions)
    known = {"pattern": rf"^{number}({units})\s*$"}
    return {
        "anyOf": [{"type": "number"}, {"type": "string", "not": {"pattern": rf"^{number}[A-Za-zµ%/]+\s*$"}}, {"type": "string", **known}]
    }


def _either(names: Iterable[str]) -> str:
    """A pattern of any of these names."""
    return "|".join(map(re.escape, names))


_QUANTITIES = {
    "time": _quantity("time"),
    "rate": _quantity("rate"),
    "rate, or packets": _quantity("rate", "packets"),
    "bytes": _quantity("bytes"),
    "packets": _quantity("packets"),
    "packets or bytes": _quantity("packets", "bytes"),
    "packets, bytes or bdp": _quantity("packets", "bytes", "bdp"),
}
"""What a whole phrase says of units."""

_TYPES: Sequence[tuple[str, Schema]] = (
    ("true or false", _FLAG),
    ("number or table", {"type": ["number", "string", "object"]}),
    ("table", {"type": "object"}),
    ("list", {"type": "array"}),
    ("whole number", _NUMBER),
    ("number", _NUMBER),
    ("text", _TEXT),
    ("name", _TEXT),
    ("word", _TEXT),
    ("one of", _TEXT),
)
"""What the beginning of a phrase says of a type."""


def _of_words(kind: str) -> Schema:
    """What a phrase such as "one of drop, delay" says of a value; anything if it says nothing that a schema could hold."""
    if kind in _QUANTITIES:
        return _QUANTITIES[kind]
    words = _WORD.findall(kind)
    if any(word != word.lower() for word in words):
        # `"at least N"` stands for many words.
        return _TEXT
    if kind.startswith("list of `"):
        return {"type": "array", "items": {"enum": words} if words else {}}
    if words and not _WORD.sub("", kind).replace("`", "").replace("one of", "").strip(" ,"):
        return {"enum": words}
    if kind.startswith("one of "):
        return {"enum": kind.removeprefix("one of ").split(", ")}
    if (" or " in kind.split(" of ")[0] and kind != "true or false") or ", or " in kind or "[" in kind:
        return {}
    anything: Schema = {}
    return next((schema for start, schema in _TYPES if kind.startswith(start)), anything)


def _closed(properties: Mapping[str, Schema], needed: Iterable[Key] = (), also: Iterable[str] = ()) -> Schema:
    """A table with these keys and no others."""
    required = [*also, *(key.name for key in needed if key.default == "needed")]
    return {
        "type": "object", "additionalProperties": False, "properties": dict(properties), **({"required": required} if required else {}),
    }  # fmt: skip


def _described(schema: Schema, summary: str) -> Schema:
    return {**schema, "description": summary} if summary else schema


def _any(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def _ref(name: str) -> Schema:
    # A reference has no neighbours in this dialect.
    return {"allOf": [{"$ref": f"#/definitions/{name}"}]}
