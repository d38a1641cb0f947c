"""What the guards read in Rust's sources: items, implementations, parameters, and which file names which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import tree_sitter
import tree_sitter_rust

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
_PATHS = ("scoped_identifier", "scoped_type_identifier")

Names = tuple[str, ...]


def text(node: tree_sitter.Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def below(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """A node and all that it has, without what is only compiled for tests."""
    yield node
    is_test = False
    for child in node.children:
        if child.type == "attribute_item":
            is_test = is_test or text(child).replace(" ", "") in ("#[cfg(test)]", "#[test]")
        elif child.type not in ("line_comment", "block_comment"):
            if not is_test:
                yield from below(child)
            is_test = False


def name_of_type(node: tree_sitter.Node | None) -> str:
    """`Port` of `&mut Port<Q>`, `port::Port` and `Port`; nothing of what has no name."""
    while node is not None and node.type in ("reference_type", "generic_type"):
        node = node.child_by_field_name("type")
    if node is not None and node.type == "scoped_type_identifier":
        node = node.child_by_field_name("name")
    return text(node) if node is not None and node.type == "type_identifier" else ""


@dataclass(eq=False)
class Source:
    """One file.

    Attributes:
        module: its path from the root of its crate.

    """

    path: str
    module: Names
    root: tree_sitter.Node
    imported: dict[str, Names] = field(default_factory=dict[str, Names])

    @cached_property
    def nodes(self) -> list[tree_sitter.Node]:
        return list(below(self.root))

    def of(self, *types: str) -> list[tree_sitter.Node]:
        return [node for node in self.nodes if node.type in types]

    @cached_property
    def types(self) -> dict[str, tree_sitter.Node]:
        """The structs and enums that it defines."""
        return {text(node.child_by_field_name("name")): node for node in self.of("struct_item", "enum_item", "union_item")}

    @cached_property
    def calls(self) -> list[tuple[str, list[str]]]:
        """The macros that are called between items, each with the names that it is handed, in order."""
        found: list[tuple[str, list[str]]] = []
        for node in self.of("macro_invocation"):
            above = node.parent
            if above is not None and above.type == "expression_statement":
                above = above.parent
            if above is not None and above.type == "source_file":
                tokens = [
                    text(each) for each in below(node.children[-1]) if each.type in ("identifier", "primitive_type", "struct", "enum")
                ]
                found.append((text(node.child_by_field_name("macro")), tokens))
        return found


class Crate:
    """All files of one crate that are not only of its tests."""

    def __init__(self, root: Path, crate: str) -> None:
        folder = root / "crates" / crate / "src"
        self.sources: dict[Names, Source] = {}
        for path in sorted(folder.rglob("*.rs")):
            if path.name in ("tests.rs", "testing.rs") or "tests" in path.relative_to(folder).parts:
                continue
            *above, last = path.relative_to(folder).with_suffix("").parts
            module = (*above, *([] if last in ("mod", "lib", "main") else [last]))
            tree = _PARSER.parse(path.read_bytes()).root_node
            self.sources[module] = Source(path.relative_to(root).as_posix(), module, tree)
        for source in self.sources.values():
            for use in source.of("use_declaration"):
                for name, whole in _leaves(use.child_by_field_name("argument"), ()):
                    source.imported[name] = self._absolute(source, whole, in_use=True)

    def macros(self, word: str) -> set[str]:
        """The macros that write a word of Rust before a name that they are handed, such as `struct`."""
        definitions = [node for source in self.sources.values() for node in source.of("macro_definition")]
        return {text(node.child_by_field_name("name")) for node in definitions if re.search(rf"\b{word}\b[^;{{]*?\$", text(node))}

    @cached_property
    def made(self) -> dict[tuple[str, str], str]:
        """The types that macros make, by file and name, each with the macro: the name behind `struct` or `enum`, or the first one."""
        makers = self.macros("(?:struct|enum)")
        found: dict[tuple[str, str], str] = {}
        for source in self.sources.values():
            for macro, names in source.calls:
                if macro in makers:
                    words = [at for at, name in enumerate(names[:-1]) if name in ("struct", "enum")]
                    for name in [names[at + 1] for at in words] or names[:1]:
                        found[source.path, name] = macro
        return found

    def defining(self, source: Source, path: Names) -> Source | None:
        """The file that defines what is named by a path there; nothing of another crate's."""
        return self._resolve(self._absolute(source, path, in_use=False), 0)

    def named(self, source: Source) -> set[str]:
        """Paths of the other files of the crate whose items a file names."""
        found = {self._resolve(path, 0) for path in source.imported.values()}
        for node in source.of(*_PATHS):
            if node.parent is None or node.parent.type not in (*_PATHS, "use_declaration", "scoped_use_list", "use_list", "use_as_clause"):
                found.add(self.defining(source, tuple(text(node).replace(" ", "").split("::"))))
        return {one.path for one in found if one is not None and one is not source}

    def _absolute(self, source: Source, path: Names, *, in_use: bool) -> Names:
        first, *rest = path
        if first == "crate":
            return tuple(rest)
        if first in ("self", "super"):
            module = source.module
            while path and path[0] in ("self", "super"):
                module, path = (module[:-1] if path[0] == "super" else module), path[1:]
            return (*module, *path)
        if (*source.module, first) in self.sources:
            return (*source.module, *path)
        if not in_use and first in source.imported:
            return (*source.imported[first], *rest)
        # Another crate's, or a name of this file.
        return ("", *path)

    def _resolve(self, path: Names, depth: int) -> Source | None:
        module: Names = ()
        for at, name in enumerate(path):
            if (*module, name) in self.sources:
                module = (*module, name)
                continue
            source = self.sources.get(module)
            if source is not None and depth < 9 and name in source.imported and source.imported[name] != path:
                return self._resolve((*source.imported[name], *path[at + 1 :]), depth + 1)
            return source if module or name in _defined(source) else None
        return self.sources.get(module)


def _defined(source: Source | None) -> set[str]:
    return set() if source is None else {text(node.child_by_field_name("name")) for node in source.root.children}


def _leaves(node: tree_sitter.Node | None, prefix: Names) -> Iterator[tuple[str, Names]]:
    """Each name that a `use` brings in, with its path."""
    if node is None:
        return
    if node.type == "scoped_use_list":
        path = node.child_by_field_name("path")
        inner = (*prefix, *(text(path).split("::") if path is not None else ()))
        for child in node.named_children:
            if child.type == "use_list":
                yield from _leaves(child, inner)
    elif node.type == "use_list":
        for child in node.named_children:
            yield from _leaves(child, prefix)
    elif node.type == "use_as_clause":
        path = (*prefix, *text(node.child_by_field_name("path")).split("::"))
        yield text(node.child_by_field_name("alias")), path
    elif node.type == "use_wildcard":
        yield "*", (*prefix, *text(node).removesuffix("::*").split("::"))
    elif node.type == "self":
        yield prefix[-1], prefix
    else:
        path = (*prefix, *text(node).split("::"))
        yield path[-1], path
