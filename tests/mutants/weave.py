"""All mutants of the core in one program, of which an environment variable switches one on.

A mutant that is compiled by itself costs a minute, its tests a tenth of a second. So a copy of the core gets every mutant at once: where
`cargo mutants --list` has `replace + with - in f`, the copy has `(if crate::mutants::on(17) { a - b } else { a + b })`. cargo-mutants says
which mutants there are; numeric constants, which it leaves alone, are added here: a float is multiplied by 1.05 (0 becomes 1), an integer is
one more. Both kinds stand in the syntax tree of the file, so that what is nested stays nested.

Constants that the compiler evaluates cannot ask which mutant is on. Of a parameter's default the copy's `Params::defaults` asks; of another
constant a second one with the mutated value is added, and whoever uses the first asks. Mutants that do not compile are `unviable`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter
import tree_sitter_rust

from tests.mutants.outcome import Mutant

AREAS = ("cc", "queue", "tcp")
CORE = Path("crates/sawtooth-core/src")

# Tables of bounds and names: what a study may say is tested by the texts of errors, in tests/errors.
_NO_VALUES = re.compile(r"\b(Entry|Param|Kind)\b")
_LITERALS = ("float_literal", "integer_literal")
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


class Weaver:
    """Collects mutants and writes sources that have them all."""

    def __init__(self, listed: list[dict], root: Path, left_out: set[str]) -> None:
        self.root = root
        self.mutants: list[Mutant] = []
        self.left_out = left_out
        self.unviable: list[Mutant] = []
        self.unwoven: list[str] = []
        self._defaults: list[tuple[str, str, int, str]] = []
        self._alike: Counter[tuple[str, str]] = Counter()
        self._listed: dict[str, list[dict]] = {}
        for each in listed:
            self._listed.setdefault(each["file"], []).append(each)

    def write(self) -> None:
        """Rewrites the tree at `root`."""
        files = sorted(path for path in (self.root / CORE).rglob("*.rs"))
        sources = {path: path.read_bytes() for path in files}
        roots = {path: _PARSER.parse(source).root_node for path, source in sources.items()}
        constants: dict[str, list[_Constant]] = {}
        files_of_constants = [path for path in files if path.relative_to(self.root / CORE).parts[0] in AREAS and path.name != "testing.rs"]
        edits = {path: _Edits(sources[path]) for path in files}
        for path in files_of_constants:
            for constant in self._constants(path, roots[path], edits[path]):
                constants.setdefault(constant.name, []).append(constant)
        for path in files:
            _use(constants, path, roots[path], edits[path])
            if path in files_of_constants:
                self._weave(path, roots[path], edits[path])
        for path in files:
            # Whoever uses a constant must come to its mutants, also past a re-export.
            path.write_bytes(re.sub(rb"(?m)^mod (\w+;)", rb"pub(crate) mod \1", edits[path].render(roots[path])))
        self._write_switch()

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.root / CORE))

    def _number(self, path: Path, node: tree_sitter.Node, kind: str, what: str) -> int | None:
        """Of a new mutant; nothing if it is one that does not compile."""
        name = self._name(path)
        self._alike[name, what] += 1
        mutant = Mutant(name.split("/")[0], name, node.start_point[0] + 1, kind, what, self._alike[name, what])
        if mutant.key in self.left_out:
            self.unviable.append(mutant)
            return None
        self.mutants.append(mutant)
        return len(self.mutants)

    def _weave(self, path: Path, root: tree_sitter.Node, edits: _Edits) -> None:
        source = edits.source
        lines = source.decode().split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()) + 1)
        for each in self._listed.get(str(path.relative_to(self.root)), []):
            start = each["span"]["start"]
            at = starts[start["line"] - 1] + len(lines[start["line"] - 1][: start["column"] - 1].encode())
            token = root.descendant_for_byte_range(at, at + 1)
            node = _target(token, each["genre"])
            what = each["name"].split(": ", 1)[1]
            # A function that returns an `impl Trait` returns one type; constants are no code.
            returns = (each["function"] or {}).get("return_type", "")
            if node is None or _fixed(node) or _in_tests(node) or (each["genre"] == "FnValue" and returns.startswith("-> impl ")):
                self.unwoven.append(each["name"])
                continue
            number = self._number(path, token, each["genre"], what)
            if number is None:
                continue
            edits.add(node, each["genre"], number, each["replacement"])
        for node in _walk(root):
            if node.type in _LITERALS and _woven(node):
                function = _above(node, "function_item")
                inside = f" in {_name_of(function)}" if function else ""
                mutated = _mutated(node)
                number = self._number(path, node, "Literal", f"replace {_text(node)} with {mutated}{inside}")
                if number is not None:
                    edits.add(node, "Literal", number, f"({mutated})")

    def _constants(self, path: Path, root: tree_sitter.Node, edits: _Edits) -> list[_Constant]:
        found = []
        for item in _walk(root):
            if item.type == "struct_expression" and _text(item.child_by_field_name("name")) == "Param" and not _in_tests(item):
                self._default(path, item)
            if item.type != "const_item" or item.parent.type != "source_file":
                continue
            if _NO_VALUES.search(_text(item.child_by_field_name("type"))):
                continue
            value, name = item.child_by_field_name("value"), _text(item.child_by_field_name("name"))
            head = edits.source[item.start_byte : value.start_byte].decode()
            public = "" if head.startswith("pub") else "pub(crate) "
            numbers = []
            for node in _walk(value):
                if node.type not in _LITERALS:
                    continue
                mutated = _mutated(node)
                number = self._number(path, node, "Literal", f"replace {_text(node)} with {mutated} in {name}")
                if number is None:
                    continue
                numbers.append(number)
                before = edits.source[value.start_byte : node.start_byte].decode()
                after = edits.source[node.end_byte : item.end_byte].decode()
                second = re.sub(rf"\b{name}\b", f"{name}_M{number}", head, count=1)
                edits.append(f"\n/*<{number}*/{public}{second}{before}({mutated}){after}/*{number}>*/")
            if numbers:
                found.append(_Constant(name, path, _module(self._name(path)), numbers))
        return found

    def _default(self, path: Path, item: tree_sitter.Node) -> None:
        fields = {
            _text(field.child_by_field_name("field")): field.child_by_field_name("value")
            for field in item.child_by_field_name("body").named_children
            if field.type == "field_initializer"
        }
        if not {"name", "summary", "default"} <= set(fields):
            return
        default = fields["default"]
        name, summary = _text(fields["name"]), _text(fields["summary"])
        for node in _walk(default):
            if node.type not in _LITERALS:
                continue
            mutated = _mutated(node)
            number = self._number(path, node, "Literal", f"replace {_text(node)} with {mutated} in the default of {name}")
            if number is not None:
                text = _text(default)
                at = node.start_byte - default.start_byte
                value = f"{text[:at]}({mutated}){text[at + len(_text(node)) :]}"
                self._defaults.append((name, summary, number, value))

    def _write_switch(self) -> None:
        core = self.root / CORE
        rows = "".join(f"    /*<{n}*/({name}, {summary}, {n}, {value}),/*{n}>*/\n" for name, summary, n, value in self._defaults)
        (core / "mutants.rs").write_text(_SWITCH.replace("/*rows*/", rows))
        library = core / "lib.rs"
        text = library.read_text()
        at = text.index("\npub mod ") if "\npub mod " in text else text.index("\nmod ")
        library.write_text(text[:at] + "\npub mod mutants;" + text[at:])
        registry = core / "registry/mod.rs"
        text = registry.read_text()
        old = ".map(|param| (param.name, param.default))"
        if old not in text:
            raise SystemExit(f"registry/mod.rs: `{old}` is not there any more; {__file__} knows defaults by it")
        registry.write_text(text.replace(old, ".map(|param| (param.name, crate::mutants::default(param)))"))


@dataclass(frozen=True)
class _Constant:
    name: str
    path: Path
    module: str
    numbers: list[int]


class _Edits:
    """What is to be changed in one file, by node of its tree."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self._at: dict[tuple[int, int, str], list[tuple[str, int, str]]] = {}
        self._words: dict[int, str] = {}
        self._appended: list[str] = []

    def add(self, node: tree_sitter.Node, kind: str, number: int, replacement: str) -> None:
        self._at.setdefault((node.start_byte, node.end_byte, node.type), []).append((kind, number, replacement))

    def replace(self, node: tree_sitter.Node, text: str) -> None:
        self._words[node.start_byte] = text

    def append(self, text: str) -> None:
        self._appended.append(text)

    def render(self, root: tree_sitter.Node) -> bytes:
        return (self._render(root) + "".join(self._appended) + "\n").encode()

    def _plain(self, node: tree_sitter.Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def _render(self, node: tree_sitter.Node) -> str:
        inner = self._words.get(node.start_byte) if node.type in ("identifier", "scoped_identifier") else None
        if inner is None:
            parts, at = [], node.start_byte
            for child in node.children:
                parts += [self.source[at : child.start_byte].decode(), self._render(child)]
                at = child.end_byte
            inner = "".join([*parts, self.source[at : node.end_byte].decode()])
        mutants = self._at.get((node.start_byte, node.end_byte, node.type), [])
        # A guard that is an operator has mutants of both: the operator's are inside.
        for guard in (False, True):
            of_kind = [each for each in mutants if (each[0] == "MatchArmGuard") == guard]
            inner = self._switch(node, inner, of_kind) if of_kind else inner
        return inner

    def _switch(self, node: tree_sitter.Node, inner: str, mutants: list[tuple[str, int, str]]) -> str:
        opened = "".join(f"/*<{number}*/" for _, number, _ in mutants)
        closed = "".join(f"/*{number}>*/" for _, number, _ in mutants)
        kind = mutants[0][0]
        if kind == "FnValue":
            returns = "".join(f" /*<{n}*/if crate::mutants::on({n}) {{ return {value}; }}/*{n}>*/" for _, n, value in mutants)
            return inner[0] + returns + inner[1:]
        if kind == "MatchArm":
            number = mutants[0][1]
            return f"{inner} {opened}if !crate::mutants::on({number}){closed}"
        if kind == "MatchArmGuard":
            always, never = mutants[0][1], mutants[1][1] if len(mutants) > 1 else 0
            return f"{opened}crate::mutants::on({always}) || (!crate::mutants::on({never}) && ({inner})){closed}"
        if kind == "StructField":
            base = next(each for each in node.parent.named_children if each.type == "base_field_initializer")
            name = self._plain(node).split(":")[0].strip()
            value = inner.split(":", 1)[1] if ":" in inner else inner
            instead = f"{{ let base = {self._plain(base)[2:]}; base.{name} }}"
            return f"{opened}{name}: if crate::mutants::on({mutants[0][1]}) {instead} else {{ {value} }}{closed}"
        chain = "".join(f"if crate::mutants::on({n}) {{ {self._instead(node, kind, value)} }} else " for kind, n, value in mutants)
        return f"{opened}({chain}{{ {inner} }}){closed}"

    def _instead(self, node: tree_sitter.Node, kind: str, replacement: str) -> str:
        if kind == "Literal":
            return replacement
        if kind == "UnaryOperator":
            return self._plain(node)[1:]
        left, right = (self._plain(node.child_by_field_name(side)) for side in ("left", "right"))
        if node.type == "compound_assignment_expr":
            return f"{left} {replacement} {right};"
        return f"(({left}) {replacement} ({right}))"


def _use(constants: dict[str, list[_Constant]], path: Path, root: tree_sitter.Node, edits: _Edits) -> None:
    """Lets whoever uses a constant ask which one."""
    text = edits.source.decode()
    here = {}
    for name, found in constants.items():
        local = [each for each in found if each.path == path]
        imported = len(found) == 1 and re.search(rf"\buse [^;]*\b{name}\b", text)
        if local or imported:
            here[name] = local[0] if local else found[0]
    for node in _walk(root):
        if node.type == "scoped_identifier":
            name = _text(node.child_by_field_name("name"))
            qualifier = _text(node).split("::")[-2]
            match = [each for each in constants.get(name, []) if qualifier in (*each.module.split("::"), "super")]
            constant = match[0] if len(match) == 1 else None
        elif node.type == "identifier" and node.parent.type != "scoped_identifier":
            constant = here.get(_text(node))
        else:
            continue
        if constant is None or _fixed(node) or _above(node, "use_declaration"):
            continue
        plain = _text(node)
        chain = "".join(
            f"/*<{n}*/if crate::mutants::on({n}) {{ &{constant.module}::{constant.name}_M{n} }} else /*{n}>*/" for n in constant.numbers
        )
        edits.replace(node, f"(*({chain}{{ &{plain} }}))")


def _target(token: tree_sitter.Node, genre: str) -> tree_sitter.Node | None:
    """The part of the tree that a mutant of cargo-mutants concerns, from the first token of its span."""
    if genre == "FnValue":
        function = _above(token, "function_item")
        return function.child_by_field_name("body") if function else None
    if genre == "BinaryOperator":
        return token.parent if token.parent.type in ("binary_expression", "compound_assignment_expr") else None
    if genre == "UnaryOperator":
        return token.parent if token.parent.type == "unary_expression" else None
    if genre == "MatchArm":
        pattern = next((each for each in _ancestors(token) if each.type == "match_pattern"), None)
        arms = [_text(arm.child_by_field_name("pattern")) for arm in pattern.parent.parent.named_children if arm.type == "match_arm"]
        return pattern if "_" in arms else None
    if genre == "MatchArmGuard":
        pattern = _above(token, "match_pattern")
        return pattern.child_by_field_name("condition") if pattern else None
    return next((each for each in _ancestors(token) if each.type in ("field_initializer", "shorthand_field_initializer")), None)


def _woven(node: tree_sitter.Node) -> bool:
    """Whether a literal stands where the program, while it runs, can ask."""
    if _in_tests(node) or _fixed(node) or _above(node, "function_item") is None:
        return False
    for each in _ancestors(node):
        if each.type.endswith("_pattern") and not (each.type == "match_pattern" and _inside(node, each.child_by_field_name("condition"))):
            return False
        if each.type in ("token_tree", "attribute_item", "array_type"):
            return False
        part = {"field_expression": "field", "array_expression": "length"}.get(each.type)
        if part and _inside(node, each.child_by_field_name(part)):
            return False
        if each.type == "function_item":
            return not any(_text(child).startswith("const") for child in each.children if child.type == "function_modifiers")
    return True


def _fixed(node: tree_sitter.Node) -> bool:
    """Whether it is part of what the compiler evaluates, or of a pattern."""
    return any(each.type in ("const_item", "static_item", "match_pattern", "array_type") for each in _ancestors(node)[1:]) and not any(
        each.type == "match_pattern" and _inside(node, each.child_by_field_name("condition")) for each in _ancestors(node)
    )


def _in_tests(node: tree_sitter.Node) -> bool:
    for each in _ancestors(node):
        before = each.prev_named_sibling
        while before is not None and before.type == "attribute_item":
            if "test" in _text(before):
                return True
            before = before.prev_named_sibling
    return False


def _mutated(literal: tree_sitter.Node) -> str:
    text = _text(literal)
    if literal.type == "float_literal":
        value = float(re.sub(r"_?f(32|64)$", "", text).replace("_", ""))
        return f"{text} + 1.0" if value == 0 else f"{text} * 1.05"
    return f"{text} + 1"


def _module(file: str) -> str:
    return "crate::" + file.removesuffix(".rs").removesuffix("/mod").replace("/", "::")


def _text(node: tree_sitter.Node) -> str:
    return node.text.decode()


def _name_of(function: tree_sitter.Node) -> str:
    return _text(function.child_by_field_name("name"))


def _inside(node: tree_sitter.Node, whole: tree_sitter.Node | None) -> bool:
    return whole is not None and whole.start_byte <= node.start_byte and node.end_byte <= whole.end_byte


def _ancestors(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    found = []
    at: tree_sitter.Node | None = node
    while at is not None:
        found.append(at)
        at = at.parent
    return found


def _above(node: tree_sitter.Node, kind: str) -> tree_sitter.Node | None:
    return next((each for each in _ancestors(node)[1:] if each.type == kind), None)


def _walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.children:
        yield from _walk(child)


_SWITCH = """//! Which mutant is on, and which have been reached.
use crate::registry::{Param, Value};
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ON: LazyLock<u32> = LazyLock::new(|| {
    std::env::var("SAWTOOTH_MUTANT").map_or(0, |text| text.parse().expect("a number"))
});
static TELL: LazyLock<Option<std::path::PathBuf>> = LazyLock::new(|| std::env::var_os("SAWTOOTH_REACHED").map(Into::into));
static REACHED: [AtomicBool; 40_000] = [const { AtomicBool::new(false) }; 40_000];

pub fn on(mutant: u32) -> bool {
    if *ON == 0 {
        tell(mutant);
    }
    *ON == mutant
}

fn tell(mutant: u32) {
    if let Some(path) = &*TELL && !REACHED[mutant as usize].swap(true, Ordering::Relaxed) {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("opens");
        writeln!(file, "{mutant}").expect("writes");
    }
}

const DEFAULTS: &[(&str, &str, u32, Value)] = &[
/*rows*/];

pub fn default(param: &Param) -> Value {
    for (name, summary, mutant, value) in DEFAULTS {
        if param.name == *name && param.summary == *summary && on(*mutant) {
            return *value;
        }
    }
    param.default
}
"""
