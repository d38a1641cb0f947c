"""The same for the statistics: every mutant at once in the modules' syntax trees, and one switched on in a forked process per mutant.

Mutants are: a comparison's opposite and its neighbour, another arithmetic operator, `and` for `or`, a dropped sign or `not`, a float times 1.05
(0 becomes 1), an integer plus 1, True for False, and `return None`. Texts, annotations and names of columns are left alone.

What is evaluated while a module is imported (its constants, defaults of arguments) is switched on before that.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib.abc
import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.mutants.outcome import Book, Mutant, Outcome, drawn

SOURCES = Path("python/sawtooth")
TESTS = {
    "stats": ("test_stats", "test_stats_rule", "test_stats_designs"),
    "metrics": (
        "test_dips",
        "test_over_time",
        "test_layers",
        "test_compare",
        "test_traffic",
        "test_hurst",
        "test_fetches",
        "test_hosts",
    ),
}

# A test that takes longer, in seconds, is left out.
SHORT = 1.0
# These work in threads while they are imported, and threads do not survive a fork.
_NOT_AHEAD: tuple[str, ...] = ()
# What tests import at length; a mutant that is on while sawtooth is imported is forked after these.
_LIBRARIES = ("jinja2", "matplotlib.pyplot", "numpy", "polars", "rich", "scipy.stats", "typer")

# What mutants stand in.
_PACKAGES = ("sawtooth.stats", "sawtooth.metrics")

_COMPARISONS: dict[type, list[type]] = {
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Lt: [ast.GtE, ast.LtE], ast.LtE: [ast.Gt, ast.Lt], ast.Gt: [ast.LtE, ast.GtE], ast.GtE: [ast.Lt, ast.Gt],
    ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.In: [ast.NotIn], ast.NotIn: [ast.In],
}  # fmt: skip
_OPERATORS: dict[type, list[type]] = {
    ast.Add: [ast.Sub, ast.Mult], ast.Sub: [ast.Add], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult], ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Mult], ast.Pow: [ast.Mult], ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd], ast.MatMult: [],
}  # fmt: skip


def run(book: Book, sample: int | None, known: set[str], area: str) -> None:
    """Mutants of an area, stats or metrics, but for those `known`, against their unit tests."""
    weaver = Weaver()
    vars(builtins)["__mutant__"] = _on
    # Read anew in every process; these tests need none of them.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    modules = [path for name in ("stats", "metrics") for path in sorted((SOURCES / name).glob("*.py"))]
    sys.meta_path.insert(0, _Finder({_module(path): weaver.weave(path) for path in modules}))
    for name in _LIBRARIES:
        importlib.import_module(name)
    files = [f"tests/unit/{name}.py" for name in TESTS[area] if Path(f"tests/unit/{name}.py").exists()]
    recorded = _record(files)
    weaver.early |= recorded.pop(_IMPORTING)[1]
    tests = {name: found for name, found in recorded.items() if found[0] < SHORT}
    print(
        f"{len(tests)} of {len(recorded)} tests are asked; longer than {SHORT:g} s: {', '.join(sorted(recorded.keys() - tests))}",
        flush=True,
    )
    of = drawn(weaver.mutants, sample)
    numbers = [number for number in of if weaver.mutants[number - 1].area == area and weaver.mutants[number - 1].key not in known]
    # Forked before and after the modules are imported.
    for number in numbers:
        if number in weaver.early:
            book.write(replace(_judge(number, weaver, tests), of=of[number]))
    for name in ["tests/conftest.py", *(name for name in files if name not in _NOT_AHEAD)]:
        importlib.import_module(name.removesuffix(".py").replace("/", "."))
    for number in numbers:
        if number not in weaver.early:
            book.write(replace(_judge(number, weaver, tests), of=of[number]))


def _reaching(number: int, weaver: Weaver, tests: dict[str, tuple[float, set[int]]]) -> list[str]:
    """The tests that may see a mutant, the fastest first: of one that is on while its module is imported, those that reach the module."""
    alike = {number}
    if number in weaver.early:
        alike = {n for n, other in enumerate(weaver.mutants, 1) if other.file == weaver.mutants[number - 1].file}
    chosen = (name for name, (_, reached) in tests.items() if reached & alike)
    return sorted(chosen, key=lambda name: tests[name][0])


STATE: dict[str, Any] = {"on": 0, "reached": set()}


def _on(number: int) -> bool:
    if not STATE["on"]:
        STATE["reached"].add(number)
    return STATE["on"] == number


class Weaver(ast.NodeTransformer):
    """Writes each mutant beside what it replaces: `a - b if __mutant__(17) else a + b`."""

    def __init__(self) -> None:
        self.mutants: list[Mutant] = []
        self.early: set[int] = set()
        self._alike: Counter[tuple[str, str]] = Counter()
        self._file = ""
        self._functions: list[str] = []

    def weave(self, path: Path) -> ast.Module:
        """The tree of a module with all its mutants."""
        self._file = str(path.relative_to(SOURCES))
        return ast.fix_missing_locations(self.visit(ast.parse(path.read_text())))

    def _add(self, node: ast.AST, kind: str, what: str) -> int:
        inside = f" in {'.'.join(self._functions)}" if self._functions else ""
        what += inside
        self._alike[self._file, what] += 1
        area = self._file.split("/")[0]
        self.mutants.append(Mutant(area, self._file, getattr(node, "lineno", 0), kind, what, self._alike[self._file, what]))
        if not self._functions or self._functions[-1] == "(defaults)":
            self.early.add(len(self.mutants))
        return len(self.mutants)

    def _switch(self, node: ast.expr, woven: ast.expr, kind: str, instead: list[tuple[ast.expr, str]]) -> ast.expr:
        for other, what in instead:
            number = self._add(node, kind, what)
            test = ast.Call(ast.Name("__mutant__", ast.Load()), [ast.Constant(number)], [])
            woven = ast.copy_location(ast.IfExp(test, other, woven), node)
        return woven

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._functions += [node.name, "(defaults)"]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [self.visit(each) if each else None for each in node.args.kw_defaults]
        self._functions.pop()
        node.body = [self.visit(each) for each in node.body]
        self._functions.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [self.visit(each) for each in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value:
            node.value = self.visit(node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        # A type, such as dict[str, int]; what is looked up otherwise is mutated.
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            return node
        plain = ast.unparse(node.value)
        number = self._add(node, "Return", f"replace return {_short(plain)} with return None")
        woven = self.visit(node.value)
        test = ast.Call(ast.Name("__mutant__", ast.Load()), [ast.Constant(number)], [])
        node.value = ast.copy_location(ast.IfExp(test, ast.Constant(None), woven), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        instead: list[tuple[ast.expr, str]] = []
        for at, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                changed = copy.deepcopy(node)
                changed.ops[at] = other()
                instead.append((changed, f"replace {_short(ast.unparse(node))} with {_short(ast.unparse(changed))}"))
        return self._switch(node, self.generic_visit(copy.deepcopy(node)), "Comparison", instead)  # type: ignore[arg-type]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        instead: list[tuple[ast.expr, str]] = []
        for other in _OPERATORS.get(type(node.op), []):
            changed = copy.deepcopy(node)
            changed.op = other()
            instead.append((changed, f"replace {_short(ast.unparse(node))} with {_short(ast.unparse(changed))}"))
        return self._switch(node, self.generic_visit(copy.deepcopy(node)), "Arithmetic", instead)  # type: ignore[arg-type]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        changed = copy.deepcopy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        what = f"replace {_short(ast.unparse(node))} with {_short(ast.unparse(changed))}"
        return self._switch(node, self.generic_visit(copy.deepcopy(node)), "Boolean", [(changed, what)])  # type: ignore[arg-type]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        what = f"replace {_short(ast.unparse(node))} with {_short(ast.unparse(node.operand))}"
        return self._switch(node, self.generic_visit(copy.deepcopy(node)), "Boolean", [(copy.deepcopy(node.operand), what)])  # type: ignore[arg-type]

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value = node.value
        if not isinstance(value, bool | int | float):
            return node
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 1.05 if value else 1.0
        return self._switch(node, node, "Literal", [(ast.Constant(other), f"replace {value!r} with {other!r}")])


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self.trees = trees

    def find_spec(self, fullname: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if fullname not in self.trees:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=fullname in _PACKAGES, origin=str(_path(fullname)))

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = str(_path(module.__name__).absolute())
        if module.__name__ in _PACKAGES:
            module.__path__ = [str(_path(module.__name__).parent.absolute())]
        exec(compile(self.trees[module.__name__], module.__file__, "exec"), vars(module))


def _module(path: Path) -> str:
    return ".".join(("sawtooth", *path.relative_to(SOURCES).with_suffix("").parts)).removesuffix(".__init__")


def _path(module: str) -> Path:
    path = SOURCES.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


class _Recorder:
    """Which mutants each test reaches, and its processor time."""

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, set[int]]] = {}
        self.imported: set[int] = set()

    def pytest_collection_finish(self) -> None:
        self.imported = STATE["reached"]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        STATE["reached"] = set()
        start = time.process_time()
        yield
        self.tests[item.nodeid] = (time.process_time() - start, STATE["reached"])


_IMPORTING = "while modules are imported"
_QUIET = ["-q", "--no-header", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:randomly"]


def _record(files: Sequence[str]) -> dict[str, tuple[float, set[int]]]:
    """In a process of its own: libraries that have begun to work in threads do not survive a fork."""
    with tempfile.NamedTemporaryFile("r") as file:
        child = os.fork()
        if child == 0:
            recorder = _Recorder()
            code = pytest.main([*_QUIET, *files], plugins=[recorder])
            found = {**recorder.tests, _IMPORTING: (0.0, recorder.imported)}
            rows = {name: (seconds, sorted(reached)) for name, (seconds, reached) in found.items()}
            Path(file.name).write_text(json.dumps(rows))
            os._exit(int(code))
        if os.waitpid(child, 0)[1]:
            raise SystemExit("the unit tests fail without a mutant")
        return {name: (seconds, set(reached)) for name, (seconds, reached) in json.loads(Path(file.name).read_text()).items()}


class _First:
    def __init__(self, path: str) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            Path(self.path).write_text(report.nodeid)


def _judge(number: int, weaver: Weaver, tests: dict[str, tuple[float, set[int]]]) -> Outcome:
    mutant = weaver.mutants[number - 1]
    reaching = _reaching(number, weaver, tests)
    if not reaching:
        return Outcome(mutant, "unreached")
    seconds = int(5 * sum(tests[name][0] for name in reaching) + 10)
    with tempfile.NamedTemporaryFile("r") as file:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            STATE["on"] = number
            os._exit(int(pytest.main([*_QUIET, "-x", *reaching], plugins=[_First(file.name)])))
        status = os.waitpid(child, 0)[1]
        by = Path(file.name).read_text()
    if status == 0:
        return Outcome(mutant, "survived")
    return Outcome(mutant, "endless" if os.WIFSIGNALED(status) else "killed", by)
