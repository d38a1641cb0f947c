"""The structure of the crates: types are small and stand in few files, names mean one thing, and files do not import each other in a circle.

Five limits, of what is not only compiled for tests:

- fields: a struct has at most 16. Rows of records (`record/rows`) and the parameters of an algorithm (`CopaParameters`) are lists by nature, and are apart.
- files: at most two files have an `impl` of a type. What a macro makes counts where it is called. A trait's own file may implement it for types of others: that is
  a list of the trait's.
- tuples: no parameter of a function is a tuple, under whatever pattern or alias: two arguments are two parameters, or a struct that names them.
  What a function returns may be one.
- names: no two types of the crates have one name, whatever their modules. Types of a trait (`type Output`) have the trait's names, and tests their own.
- circles: no files of the core name each other, directly or by way of others. A module and one inside it may: a table names its rows, and rows name the trait of the table.

`structure.txt` has what is beyond a limit, with a number that may only fall and the reason. What it costs to add a row is an edit by hand, which a reviewer sees.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

from tests.guards.rust import Crate, Source, name_of_type, text

TABLE = Path(__file__).with_name("structure.txt")
RENEW = "python -m tests.guards structure"
PAGE = "docs/development/guards.md"
HEAD = f"""\
# What is beyond a limit of the crates' structure, how far, and why: see {PAGE}. A number may only fall: `{RENEW}`.
"""
FIELDS, FILES, MEANINGS = 16, 2, 1
CORE = "sawtooth-core"


@dataclass(frozen=True)
class Rule:
    """A limit.

    Attributes:
        limit: what needs no row.
        says: what is wrong, of a place and a number.
        remedy: what to do.

    """

    limit: int
    says: str
    remedy: str


RULES = {
    "fields": Rule(
        FIELDS,
        "{what} has {number} fields; {limit} is the limit",
        "group what belongs together into structs of their own (a row of records and the parameters of an algorithm are exempt)",
    ),
    "files": Rule(
        FILES,
        "{what} has an `impl` in {number} files; {limit} is the limit",
        "move methods to parts that it owns, or make functions of them",
    ),
    "tuples": Rule(0, "{what} takes {number} tuple{s}", "make two parameters of each, or a struct that names its fields"),
    "names": Rule(
        MEANINGS,
        "{what} is the name of {number} types; {limit} is the limit",
        "name each for what it is, in the field's words, so that it is understood without its module",
    ),
    "circles": Rule(0, "{what} name each other", "move what both need below them, or what names the other out of one"),
}

Numbers = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Row:
    """What may be beyond a limit, and why."""

    number: int
    why: str


def found(root: Path) -> dict[tuple[str, str], int]:
    """What is beyond a limit: by rule and place."""
    numbers: dict[tuple[str, str], int] = {}
    types: Counter[str] = Counter()
    for folder in sorted((root / "crates").iterdir()):
        if not (folder / "src").is_dir():
            continue
        crate = Crate(root, folder.name)
        for rule, count in (("fields", _fields), ("files", _files), ("tuples", _tuples)):
            numbers |= {(rule, what): number for what, number in count(crate) if number > RULES[rule].limit}
        if folder.name == CORE:
            numbers |= {("circles", what): number for what, number in _circles(crate)}
        types.update(_names(crate))
    return numbers | {("names", what): number for what, number in types.items() if number > RULES["names"].limit}


def _fields(crate: Crate) -> Iterator[tuple[str, int]]:
    for source in crate.sources.values():
        if source.module[:2] == ("record", "rows"):
            continue
        for name, node in source.types.items():
            body = node.child_by_field_name("body")
            if node.type == "struct_item" and body is not None and not name.endswith("Parameters"):
                yield f"{source.path} {name}", sum(child.type == "field_declaration" for child in body.named_children)


def _files(crate: Crate) -> Iterator[tuple[str, int]]:
    files: dict[str, set[str]] = defaultdict(set)
    makers, implementers = crate.macros("(?:struct|enum)"), crate.macros("impl")
    for source in crate.sources.values():
        traits = {text(node.child_by_field_name("name")) for node in source.of("trait_item")}
        for node in source.of("impl_item"):
            owner = _owner(crate, source, node.child_by_field_name("type"))
            is_listed = name_of_type(node.child_by_field_name("trait")) in traits
            if owner is not None and not (is_listed and not owner.startswith(f"{source.path} ")):
                files[owner].add(source.path)
        for macro, names in source.calls:
            if macro in implementers:
                owners = [(source.path, name) for name in names] if macro in makers else [_named(crate, source, (name,)) for name in names]
                for path, name in owners:
                    if _is_type(crate, path, name):
                        files[f"{path} {name}"].add(source.path)
    yield from ((what, len(paths)) for what, paths in files.items())


def _owner(crate: Crate, source: Source, node: Node | None) -> str | None:
    """The type that is implemented, by the file that defines it; nothing of a type that is not the crate's."""
    name = name_of_type(node)
    path = tuple(text(node).partition("<")[0].split("::")) if "::" in text(node).partition("<")[0] else (name,)
    place, name = _named(crate, source, path)
    return f"{place} {name}" if _is_type(crate, place, name) else None


def _named(crate: Crate, source: Source, path: tuple[str, ...]) -> tuple[str, str]:
    """The file that defines a type, or would, and its name."""
    home = source if path[-1:] == path and _is_type(crate, source.path, path[-1]) else crate.defining(source, path)
    return (home.path if home is not None else "", path[-1])


def _is_type(crate: Crate, path: str, name: str) -> bool:
    return (path, name) in crate.made or any(source.path == path and name in source.types for source in crate.sources.values())


def _tuples(crate: Crate) -> Iterator[tuple[str, int]]:
    aliases = {
        (source.path, text(node.child_by_field_name("name")))
        for source in crate.sources.values()
        for node in source.of("type_item")
        if _is_tuple(node.child_by_field_name("type"))
    }
    for source in crate.sources.values():
        tuples: Counter[str] = Counter()
        for function in source.of("function_item", "function_signature_item"):
            parameters = function.child_by_field_name("parameters")
            nodes = [] if parameters is None else [node for node in parameters.named_children if node.type == "parameter"]
            tuples[text(function.child_by_field_name("name"))] += sum(_hides(crate, source, node, aliases) for node in nodes)
        # Methods of one name in one file are counted together.
        yield from ((f"{source.path} {name}", number) for name, number in tuples.items())


def _hides(crate: Crate, source: Source, node: Node, aliases: set[tuple[str, str]]) -> bool:
    """Whether a parameter is a tuple."""
    pattern, kind = node.child_by_field_name("pattern"), node.child_by_field_name("type")
    while kind is not None and kind.type == "reference_type":
        kind = kind.child_by_field_name("type")
    if (pattern is not None and pattern.type == "tuple_pattern") or _is_tuple(kind):
        return True
    name = name_of_type(kind)
    home = source if (source.path, name) in aliases else crate.defining(source, (name,)) if name else None
    return home is not None and (home.path, name) in aliases


def _is_tuple(node: Node | None) -> bool:
    """Two types or more in parentheses; `(impl A + B)` and `()` are none."""
    return node is not None and node.type == "tuple_type" and node.named_child_count > 1


def _names(crate: Crate) -> Iterator[str]:
    """The names of the types that a crate defines, those that macros make among them."""
    for source in crate.sources.values():
        for node in source.of("struct_item", "enum_item", "union_item", "trait_item", "type_item"):
            if not _is_of_an_impl(node):
                yield text(node.child_by_field_name("name"))
    yield from (name for _, name in crate.made)


def _is_of_an_impl(node: Node) -> bool:
    """Whether it is what an `impl` gives a trait as its `type Output`."""
    return node.parent is not None and node.parent.parent is not None and node.parent.parent.type == "impl_item"


def _circles(crate: Crate) -> Iterator[tuple[str, int]]:
    modules = {source.path: source.module for source in crate.sources.values()}

    def apart(one: str, other: str) -> bool:
        shorter, longer = sorted((modules[one], modules[other]), key=len)
        return longer[: len(shorter)] != shorter

    names = {source.path: [other for other in crate.named(source) if apart(source.path, other)] for source in crate.sources.values()}
    reached = {path: _reached(names, path) for path in names}
    circles = {tuple(sorted(other for other in those if path in reached[other])) for path, those in reached.items() if path in those}
    yield from ((" ".join(circle), 1) for circle in sorted(circles))


def _reached(names: Mapping[str, list[str]], path: str) -> set[str]:
    """The files that a file names, that these name, and so on."""
    reached: set[str] = set()
    waiting = list(names[path])
    while waiting:
        if (other := waiting.pop()) not in reached:
            reached.add(other)
            waiting += names[other]
    return reached


def read(table: str) -> dict[tuple[str, str], Row]:
    """The rows of the table: `fields 20 FILE TYPE: why`."""
    rows: dict[tuple[str, str], Row] = {}
    for line in table.splitlines():
        if line and not line.startswith("#"):
            place, _, why = line.partition(": ")
            rule, number, what = place.split(maxsplit=2)
            rows[rule, what] = Row(int(number), why.strip())
    return rows


def renewed(numbers: Numbers, allowed: Mapping[tuple[str, str], Row]) -> str:
    """The table that fits: numbers that fell are lowered, rows that are not needed go; none rises and none comes."""
    kept = {place: row for place, row in allowed.items() if place in numbers}
    lines = [f"{rule} {min(row.number, numbers[rule, what])} {what}: {row.why}\n" for (rule, what), row in sorted(kept.items())]
    return HEAD + "".join(lines)


def faults(numbers: Numbers, allowed: Mapping[tuple[str, str], Row]) -> list[str]:
    """What is wrong, one sentence for each."""
    said: list[str] = []
    for (rule, what), number in numbers.items():
        row, of = allowed.get((rule, what)), RULES[rule]
        if row is None or number > row.number:
            named = what.replace(" ", " and ") if rule == "circles" else what
            beyond = of.says.format(what=named, number=number, limit=of.limit, s="" if number == 1 else "s")
            may = "" if row is None else f" (it may have {row.number}, and only fewer)"
            said.append(f"{beyond}{may}: {of.remedy}; see {PAGE}")
        elif number < row.number:
            said.append(f"{what}: {rule} fell from {row.number} to {number}: keep it so with `{RENEW}`")
        elif not row.why:
            said.append(f"{what}: its row of {rule} lacks the reason")
    said += [
        f"{what} is within the limit of {rule}: remove its row with `{RENEW}`" for rule, what in allowed if (rule, what) not in numbers
    ]
    return said
