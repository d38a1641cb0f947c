"""Texts of studies: planned, and if they can be, run. Whatever is wrong with one is a located error.

Most are shipped studies, cut to a fraction of a second and a few runs, with one to three values changed a little: they are to reach the simulator.
The others change more: types, magnitudes, units, names, keys, nesting, expressions, sweeps, draws and arms, and single bytes of the text.
"""

from __future__ import annotations

import copy
import functools
import json
import random
import tomllib
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sawtooth import _core
from sawtooth.backends import sim
from sawtooth.errors import SawtoothError, StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study, shipped
from tests.fuzz.attempt import Attempts
from tests.fuzz.tally import Tally

NAME = "study"
SUMMARY = "a changed text of a study is planned and run, or refused by an error that has its place. Reached: the simulator."
WEIGHT = 2.0

STUDIES = shipped.DIRECTORY
_HERE = STUDIES / "fuzzed.toml"
"""Where the texts say they are, so that the files they name are found."""


def fuzz(seed: int, seconds: float, work: Path) -> Tally:
    """Tries changed studies for `seconds`."""
    rng = random.Random(f"study/{seed}")
    with Attempts(NAME, work) as attempts:
        while attempts.seconds < seconds:
            data = make(rng)
            attempts.begin(data)
            try:
                attempts.end(reached=attempt(data))
            except BaseException as error:  # a panic of the core is no Exception
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                attempts.fail(traceback.format_exc(), data, ".toml")
        return attempts.tally()


def replay(saved: Path, work: Path) -> None:  # noqa: ARG001
    """Tries one text."""
    attempt(saved.read_bytes())


def attempt(data: bytes) -> bool:
    """Whether the text was run; raises if it was not refused as it should be."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    try:
        plan = make_plan(Study.parse(text, _HERE))
    except StudyError as error:
        str(error)
        if error.place is None:
            raise AssertionError(f"an error without a place: {error.message}") from error
        return False
    except SawtoothError as error:
        str(error)
        return False
    if plan.study.backend != "sim" or not plan.runs:
        return False
    plan.table()
    run = plan.runs[0]
    batch = sim.run_batch([run.scenario], [run.seed])
    for message in batch.errors.values():
        if message.startswith("the simulator failed"):
            raise AssertionError(message)
    return True


# --- texts --------------------------------------------------------------------------------------------------------------


def make(rng: random.Random) -> bytes:
    """A text to try."""
    tree = copy.deepcopy(rng.choice(_bases()))
    gentle = rng.random() < 0.7
    for _ in range(rng.randint(1, 3) if gentle else rng.randint(1, 8)):
        (_nudge if gentle else _wreck)(tree, rng)
    try:
        data = written(tree).encode(errors="surrogatepass")
    except RecursionError:  # nested in itself so often that there is no text to try
        return make(rng)
    if not gentle and rng.random() < 0.3:
        data = _bytes_changed(data, rng)
    return data


@functools.cache
def _bases() -> list[dict[str, Any]]:
    """Every study, cut to what takes milliseconds."""
    found: list[dict[str, Any]] = []
    for path in sorted(STUDIES.glob("**/*.toml")):
        tree = tomllib.loads(path.read_text())
        _relocate(tree, path.parent)
        _simulate(tree)
        tree.pop("short", None)
        tree["repeat"] = 1
        # What a run may take in a fuzzed study: milliseconds, and some megabytes.
        tree["limits"] = {"events": 30_000, "rows": 20_000, "memory": "200 MB", "runs": 300, "draws": 3000, "flows": 300, "file": "1 MB"}
        tree["backend"] = "sim"
        tree["scenario"]["duration"] = "0.3 s"
        if "arms" in tree:
            tree["arms"] = {name: arm for name, arm in list(tree["arms"].items())[:2] if "sim" in arm.get("backends", ["sim"])} or tree[
                "arms"
            ]
        tree["sweep"] = _shortened(tree.get("sweep", {}))
        plain = {key: value for key, value in tree.items() if key not in ("figures", "findings", "report")}
        found += [base for base in (tree, plain, {**plain, "sweep": {}}) if _is_valid(base)]
    return found


def _is_valid(tree: dict[str, Any]) -> bool:
    try:
        make_plan(Study.parse(written(tree), _HERE))
    except StudyError:
        return False
    return True


def _simulate(tree: Any) -> None:
    """The simulator's algorithms in place of those of kernels."""
    for holder, key in _leaves(tree):
        if isinstance(holder[key], str):
            holder[key] = holder[key].removeprefix("kernel:")


def _shortened(sweep: Any) -> Any:
    if isinstance(sweep, dict):
        return {key: _shortened(value) for key, value in sweep.items()}
    if isinstance(sweep, list):
        return [_shortened(value) for value in sweep[:2]]
    return sweep


def _relocate(tree: Any, folder: Path) -> None:
    """Names of files as they are from where the texts say they are."""
    for holder, key in _leaves(tree):
        value = holder[key]
        if key == "file" and isinstance(value, str):
            holder[key] = str((folder / value).relative_to(STUDIES))


def written(tree: dict[str, Any]) -> str:
    """A tree as TOML."""
    return "".join(f"{_quoted(key)} = {_value(value)}\n" for key, value in tree.items())


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    return repr(value)


# --- changes ------------------------------------------------------------------------------------------------------------


def _leaves(tree: Any) -> list[tuple[Any, Any]]:
    """Holder and key of every value that is neither a table nor a list."""
    found: list[tuple[Any, Any]] = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        if isinstance(value, dict | list):
            found += _leaves(value)
        else:
            found.append((tree, key))
    return found


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """Holder and key of every value."""
    found: list[tuple[Any, Any]] = []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        found.append((tree, key))
        found += _nodes(value)
    return found


def _nudge(tree: dict[str, Any], rng: random.Random) -> None:
    """A small change that most likely leaves a study valid."""
    scenario = tree["scenario"]
    choice = rng.random()
    if choice < 0.55:
        holder, key = rng.choice(_leaves(scenario) + _leaves(tree.get("vars", {})) + _leaves(tree.get("arms", {})) + _leaves(tree["sweep"]))
        holder[key] = _near(holder[key], rng)
    elif choice < 0.8:
        _part(scenario, rng)
    else:
        _option(scenario, rng)


def _near(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return max(1, value + rng.choice((-1, 1, 2, value)))
    if isinstance(value, float):
        return value * rng.choice((0.5, 0.9, 1.1, 2.0))
    if isinstance(value, str):
        number, _, unit = value.partition(" ")
        try:
            scaled = float(number) * rng.choice((0.1, 0.5, 0.9, 1.1, 2, 10))
        except ValueError:
            return _sibling(value, rng)
        return f"{scaled:g} {unit}".strip()
    return value


def _sibling(name: str, rng: random.Random) -> str:
    """Another row of the table that a name is from."""
    tables = [names for names in _names().values() if name in names]
    return rng.choice(rng.choice(tables)) if tables else name


@functools.cache
def _names() -> dict[str, list[str]]:
    return {table: [row["name"] for row in rows] for table, rows in _core.registry().items() if table not in ("tcp", "host", "kernel")}


@functools.cache
def _rows(table: str) -> list[dict[str, Any]]:
    return _core.registry()[table]


def _random_part(table: str, rng: random.Random) -> dict[str, Any]:
    row = rng.choice(_rows(table))
    part = {"name": row["name"]}
    for param in row["params"]:
        if rng.random() < 0.2:
            part[param["name"]] = _of_kind(param, rng)
    return part


def _of_kind(param: dict[str, str], rng: random.Random) -> Any:
    """A value that the parameter takes, most likely."""
    kind = param["kind"]
    words = kind.split()
    if kind.startswith(("number from", "whole number from")):
        low, high = float(words[-3]), float(words[-1])
        high = min(high, max(low + 1, 1e6))
        low = max(low, -1e6)
        number = rng.choice((low, high, rng.uniform(low, high), rng.uniform(low, min(high, low + 10))))
        return int(number) if kind.startswith("whole") else number
    if kind.startswith("true"):
        return rng.random() < 0.5
    if kind.startswith("one of"):
        return rng.choice(kind.removeprefix("one of ").split(", "))
    if "time" in kind:
        return f"{10 ** rng.uniform(-2, 3):.4g} ms"
    if "rate" in kind:
        return f"{10 ** rng.uniform(-1, 2):.4g} Mbit/s"
    if "bdp" in kind:
        return rng.choice(("0.5 bdp", "2 bdp", "20 packets", "30 kB"))
    if "packets" in kind:
        return f"{rng.randint(1, 200)} packets"
    if "bytes" in kind:
        return f"{int(10 ** rng.uniform(0, 6))} B"
    return param["default"]


def _part(scenario: dict[str, Any], rng: random.Random) -> None:
    """Another congestion control, queue, source, loss ... somewhere."""
    links = [link for link in scenario.get("links", {}).values() if isinstance(link, dict)] or [{}]
    flows = [flow for flow in scenario.get("flows", []) if isinstance(flow, dict)] or [{}]
    link, flow = rng.choice(links), rng.choice(flows)
    what = rng.choice(("cc", "queue", "source", "loss", "jitter", "reorder", "medium", "forwarding", "stack", "walk", "distribution"))
    if what == "cc":
        rng.choice((scenario, flow))["cc"] = _random_part("cc", rng)
    elif what == "source":
        flow["source"] = _random_part("packet_source" if flow.get("transport") == "udp" else "source", rng)
    elif what == "stack":
        scenario["stack"] = rng.choice(_names()["stack"])
    elif what == "distribution":
        flow["source"] = {"name": "bulk", "size": {**_random_part("distribution", rng)}}
    elif what == "walk":
        link["walk"] = {param["name"]: _of_kind(param, rng) for param in _rows("walk")}
    else:
        link[what] = _random_part(what, rng)


def _option(scenario: dict[str, Any], rng: random.Random) -> None:
    """A parameter of TCP, or something of a link, a flow or the recording."""
    flows = [flow for flow in scenario.get("flows", []) if isinstance(flow, dict)] or [{}]
    links = [link for link in scenario.get("links", {}).values() if isinstance(link, dict)] or [{}]
    flow, link = rng.choice(flows), rng.choice(links)
    choice = rng.randrange(8)
    if choice < 3:
        param = rng.choice(_rows("tcp"))
        table = rng.choice((scenario, flow)).setdefault("tcp", {})
        if isinstance(table, dict):
            table[param["name"]] = _of_kind(param, rng)
    elif choice == 3:
        scenario["sample"] = rng.choice(("ack", "10 ms", "1 ms", "100 us"))
    elif choice == 4:
        scenario["record"] = rng.sample(
            ("variables", "episodes", "limited", "transfers", "waits", "link_flows", "stalls", "layers"), rng.randint(1, 3)
        )
    elif choice == 5:
        link.update(
            rng.choice(({"corrupt": 0.01}, {"duplicate": 0.01}, {"drop": [2, 5, 6]}, {"delay": "3 ms"}, {"reverse": {"rate": "1 Mbit/s"}}))
        )
    elif choice == 6:
        flow.update(rng.choice(({"count": 3}, {"start": "10 ms * i"}, {"delay": "5 ms"}, {"stop": "200 ms"})))
    else:
        flow["arrivals"] = {
            "rate": rng.choice((1, 20, 300)),
            "size": rng.choice(("1 B", "20 kB")),
            **{p["name"]: _of_kind(p, rng) for p in _rows("arrivals") if rng.random() < 0.2},
        }


_STRANGE: tuple[Any, ...] = (
    0, -1, 1, 2, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30, 10**9, 10**12, 10**15, 0.0, -0.0, 1e-320, 1e308, 1e-9, 0.5,
    float("inf"), float("nan"), True, False, "", " ", "0", "nan", "inf", "-1", "1e400 s", "1e9", "1e12 s", "1 ns", "1e-30 s", "0 s", "-5 ms", "3 bdp", "1e18 bdp", "1e9 packets",
    "1 packets", "0 packets", "1e15 B", "0 B", "1 B", "1e12 Mbit/s", "1 bit/s", "1e-9 bit/s", "0 Mbit/s", "none", "ack", "i", "i / n", "n * 1 ms", "x", "x[0]", "x[1]", "x[1e9]",
    "(1 ms", "1 ms)", "1 / 0", "0 / 0", "sqrt(-1)", "log(0)", "exp(1e4)", "max()", "min(1 s, 2)", "1 s * 1 s", "2 %", "0,5 Mbit/s", "µs", "5 µs", "\u017f", "\u0000", "\U0001d518", "a\nb",
    "\u202egnp", "'", '"', "$", "$x^2$", "{}", "../../etc/passwd", "/dev/zero", "/dev/null", "/", ".", "nosuchfile", [], {}, [[]], [{}], {"": ""}, {"name": ""}, {"name": 5}, {"file": 5},
    {"file": "/dev/zero"}, {"file": "/"}, {"name": "empirical", "file": "/dev/zero"}, [1, "2", [3]], ["a"] * 40,
)  # fmt: skip


def _strange(rng: random.Random) -> Any:
    choice = rng.random()
    if choice < 0.7:
        return copy.deepcopy(rng.choice(_STRANGE))
    if choice < 0.8:
        return _expression(rng, rng.randint(1, 6))
    if choice < 0.84:
        return rng.choice(("-", "(", "+-", "1+", "sqrt(", "x[", "--(")) * rng.choice((3, 50, 5000)) + "1"
    if choice < 0.9:
        return _nested(rng, rng.choice((2, 5, 20, 200)))
    if choice < 0.95:
        return f"{10 ** rng.uniform(-20, 20):.3g} {rng.choice(('ns', 'ms', 's', 'h', 'bit/s', 'Mbit/s', 'Tbit/s', 'B', 'MB', 'TB', 'packets', 'bdp', 'parsec', ''))}".strip()
    return "".join(
        chr(rng.choice((rng.randrange(32, 127), rng.randrange(1, 0xD800), rng.randrange(0x10000, 0x10FFFF))))
        for _ in range(rng.randint(1, 30))
    )


def _nested(rng: random.Random, depth: int) -> Any:
    value: Any = rng.choice((1, "x", {}))
    for _ in range(depth):
        value = [value] if rng.random() < 0.5 else {rng.choice(("a", "name", "reverse", "cc")): value}
    return value


def _expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(
            (
                "1",
                "2.5",
                "10 ms",
                "1 Mbit/s",
                "1500 B",
                "3 packets",
                "1 bdp",
                "i",
                "n",
                "x",
                "Tp",
                "H",
                "start",
                "1e300",
                "0",
                "-1",
                ".",
                "1__0",
                "1e",
                "5K",
            )
        )
    left, right = _expression(rng, depth - 1), _expression(rng, depth - 1)
    form = rng.choice(
        (
            "{} + {}",
            "{} - {}",
            "{} * {}",
            "{} / {}",
            "{} % {}",
            "({} * {})",
            "min({}, {})",
            "max({}, {})",
            "-{} + {}",
            "sqrt({}) * {}",
            "round({} / {})",
            "{}[{}]",
            "{} {}",
        )
    )
    return form.format(left, right)


@functools.cache
def _vocabulary() -> list[str]:
    """Every key that any study uses, and every parameter."""
    keys: dict[str, None] = {}
    for base in _bases():
        for _, key in _nodes(base):
            if isinstance(key, str):
                keys[key] = None
    for rows in _core.registry().values():
        for row in rows:
            keys[row["name"]] = None
            for param in row.get("params", ()):
                keys[param["name"]] = None
    return list(keys)


def _wreck(tree: dict[str, Any], rng: random.Random) -> None:
    """Any change at all."""
    changes: tuple[Callable[[dict[str, Any], random.Random], None], ...] = (
        _replace,
        _replace,
        _replace,
        _remove,
        _add,
        _rename,
        _graft,
        _double,
        _structure,
        _nudge,
    )
    try:
        rng.choice(changes)(tree, rng)
    except (KeyError, AttributeError, TypeError, IndexError):  # what an earlier change has left cannot be changed so
        return


def _replace(tree: dict[str, Any], rng: random.Random) -> None:
    holder, key = rng.choice(_nodes(tree))
    holder[key] = _strange(rng)


def _remove(tree: dict[str, Any], rng: random.Random) -> None:
    holder, key = rng.choice(_nodes(tree))
    del holder[key]


def _tables(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(holder[key] for holder, key in _nodes(tree) if isinstance(holder[key], dict))]


def _add(tree: dict[str, Any], rng: random.Random) -> None:
    rng.choice(_tables(tree))[rng.choice(_vocabulary())] = _strange(rng)


def _rename(tree: dict[str, Any], rng: random.Random) -> None:
    table = rng.choice([table for table in _tables(tree) if table])
    old = rng.choice(list(table))
    new = rng.choice(
        (rng.choice(_vocabulary()), old + "s", old.upper(), "", " ", "a.b", "a[0]", "flows[*].cc", '"', "\n", "é", "_x", old[:-1])
    )
    items = [(new if key == old else key, value) for key, value in table.items()]
    table.clear()
    table.update(items)


def _graft(tree: dict[str, Any], rng: random.Random) -> None:
    """A part of another study in this one."""
    giver, key = rng.choice(_nodes(rng.choice(_bases())))
    taker, where = rng.choice(_nodes(tree))
    value = copy.deepcopy(giver[key])
    if isinstance(taker, dict) and isinstance(key, str) and rng.random() < 0.5:
        taker[key] = value
    else:
        taker[where] = value


def _double(tree: dict[str, Any], rng: random.Random) -> None:
    lists = [holder[key] for holder, key in _nodes(tree) if isinstance(holder[key], list) and holder[key]]
    chosen = rng.choice(lists)
    chosen.insert(rng.randrange(len(chosen) + 1), copy.deepcopy(rng.choice(chosen)))


def _structure(tree: dict[str, Any], rng: random.Random) -> None:
    """Sweeps, draws, arms, figures and findings of other shapes."""
    paths = [
        "scenario.duration",
        "duration",
        "links.x.rate",
        "flows[*].cc",
        "flows[0].count",
        "flows[9].cc",
        "tcp.recovery",
        "vars.x",
        "repeat",
        "seed",
        "arms",
        "links",
        "[",
        "flows[*]",
        "flows[-1]",
        "",
    ]
    values: list[Any] = [[], [1, 2], ["1 s", "2 s"], "x", {"a": 1}, [[1]], [None.__class__.__name__], ["newreno", "sack"], [1, 1]]
    path, value = rng.choice(paths), copy.deepcopy(rng.choice(values))
    draw = {
        "distribution": rng.choice(("uniform", "uniform_integer", "table", "normal", "", [1])),
        "low": _strange(rng),
        "high": _strange(rng),
        "unit": rng.choice(("ms", "", "parsec", 5)),
        "count": rng.choice((1, 3, 10**9, 10**7, 0, "n")),
    }
    where = rng.randrange(9)
    if where == 0:
        tree["sweep"] = {path: value}
    elif where == 1:
        tree["sweep"] = [{rng.choice(("grid", "zip", "cases", "grids", "x")): rng.choice(([{path: value}], {path: value}, value))}]
    elif where == 2:
        tree["draws"] = {rng.choice(("S", "start", "x", "a b", "")): {key: draw[key] for key in draw if rng.random() < 0.9}}
    elif where == 3:
        tree["arms"] = {rng.choice(("a", "_a", "$x$", "")): rng.choice(({path: value}, value, {}, {"backends": value}))}
    elif where == 4:
        tree["short"] = {path: value}
    elif where == 5:
        tree["repeat"] = rng.choice((10**9, 10**18, 0, -1, 1.5, "3", True))
    elif where == 6:
        tree["sweep"] = {f"vars.v{number}": list(range(100)) for number in range(6)}
        tree["vars"] = {f"v{number}": 1 for number in range(6)}
    elif where == 7:
        tree["figures"] = [
            {"name": _strange(rng), "metric": rng.choice(("goodput_bps", "flows.goodput_bps", "srtt_ns", 5)), "x": _strange(rng)}
        ]
    else:
        tree["findings"] = [
            {"claim": _strange(rng), "metric": "goodput_bps", "is": rng.choice(("above", "below", 5)), "than": _strange(rng)}
        ]


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """Bytes overwritten, taken out, put in and repeated."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(text) + 1)
        choice = rng.randrange(5)
        if choice == 0:
            text[at : at + 1] = bytes([rng.randrange(256)])
        elif choice == 1:
            del text[at : at + rng.randint(1, 20)]
        elif choice == 2:
            text[at:at] = rng.choice(
                (
                    b"[",
                    b"]",
                    b"{",
                    b"}",
                    b'"',
                    b"'",
                    b"=",
                    b"\n",
                    b".",
                    b"#",
                    b"\\",
                    b'"""',
                    b"\xff",
                    b"\xc3\xa9",
                    b"[[a]]\n",
                    b"9" * 5000,
                    b"[" * 10_000,
                    b"{a=" * 300,
                )
            )
        elif choice == 3:
            end = min(len(text), at + rng.randint(1, 200))
            text[at:at] = text[at:end]
        else:
            del text[at:]
    return bytes(text)
