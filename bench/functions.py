"""Instructions per packet by function, with what it has in place of the standard library: where the figures of `instructions.py` come from.

    python bench/functions.py                                        32 flows, and linux/cubic
    python bench/functions.py linux/bbr --before OTHER               beside another build of the example `effort`, such as one before a change

An instruction belongs to the innermost function of this project that its line stands in, however deep that has been put in place of calls. Needs
`valgrind` and `addr2line` (Debian: binutils).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from instructions import Case, build, cases, profile
from pages import table

CASES = ["ns2/newreno, 32 flows", "linux/cubic"]
LEAST = 15.0
# A line of costs: an address, whole or as a difference, a line of the source, and instructions, if any.
COST = re.compile(r"(0x[0-9a-f]+|[+-]\d+|\*) \S+(?: (\d+))?")
OBJECT = re.compile(r"c?ob=\((\d+)\)(?: (.*))?")
OURS = re.compile(r"crates/[^/]+/src/(.*)\.rs")
ELSEWHERE = ("(libraries)", "")

Function = tuple[str, str]


def main() -> int:
    known = {name: case for name, case in cases().items() if case.unit == "packet"}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", default=CASES, choices=[*known, CASES], metavar="CASE", help=f"one of {', '.join(known)}")
    parser.add_argument("--before", type=Path, metavar="PROGRAM", help="another build to show beside this tree's")
    parser.add_argument("--least", type=float, default=LEAST, help=f"functions below this are one row (default: {LEAST:g})")
    options = parser.parse_args()
    programs = [*([options.before] if options.before else []), build()]
    for name in options.case:
        print(f"{name}\n\n{comparison([by_function(program, known[name]) for program in programs], options.least)}\n")
    return 0


def by_function(program: Path, case: Case) -> dict[Function, float]:
    """Instructions for each packet that the longer run has more of."""
    (short, short_packets), (long, long_packets) = (costs(program, tree) for tree in (case.short, case.long))
    places = functions(program, long.keys() | short.keys())
    found: Counter[Function] = Counter()
    for address, function in places.items():
        found[function] += long[address] - short[address]
    return {function: count / (long_packets - short_packets) for function, count in found.items()}


def costs(program: Path, tree: Mapping[str, object]) -> tuple[Counter[int | None], int]:
    """Instructions of a run by address, those of other objects at none; and packets that it delivered."""
    text, packets = profile([program], tree)
    found: Counter[int | None] = Counter()
    for address, count in own_costs(text, program):
        found[address] += count
    return found, packets


def own_costs(text: str, program: Path) -> Iterator[tuple[int | None, int]]:
    """Of a profile with addresses, what each instruction itself took."""
    names: dict[str, str] = {}
    address, here, is_of_call = 0, False, False
    for line in text.splitlines():
        if line.startswith("calls="):
            is_of_call = True
        elif named := OBJECT.fullmatch(line):
            number, name = named.groups()
            names[number] = name or names[number]
            if line.startswith("ob"):
                here = Path(names[number]).name == program.name
        elif cost := COST.fullmatch(line):
            where, count = cost.groups()
            address = int(where, 16) if where.startswith("0x") else address + int(where) if where != "*" else address
            if count and not is_of_call:
                yield (address if here else None), int(count)
            is_of_call = False


def functions(program: Path, addresses: Iterable[int | None]) -> dict[int | None, Function]:
    """The innermost function of this project at each address."""
    command = ["addr2line", "--addresses", "--inlines", "--functions", "--demangle", f"--exe={program}"]
    asked = "\n".join(hex(address) for address in addresses if address is not None)
    answers = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout.splitlines()
    found: dict[int | None, Function] = {None: ELSEWHERE}
    address: int | None = None
    for name, place in zip(answers, [*answers[1:], ""], strict=True):
        if re.fullmatch(r"0x[0-9a-f]{16}", name):
            address = int(name, 16)
            found[address] = ELSEWHERE
        elif found[address] == ELSEWHERE and (ours := OURS.search(place)):
            found[address] = (ours[1], bare(name))
    return found


def bare(name: str) -> str:
    """A function's own name, without where it is defined and for which types."""
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    return name.rpartition("::")[2] or "(closure)"


def comparison(sides: list[dict[Function, float]], least: float) -> str:
    """A table of the functions, the dearest first."""
    dearest = sorted(set().union(*sides), key=lambda function: -max(side.get(function, 0.0) for side in sides))
    shown = [function for function in dearest if max(side.get(function, 0.0) for side in sides) >= least]
    rows = [[module, name, *(f"{side.get((module, name), 0.0):.1f}" for side in sides)] for module, name in shown]
    rest = [sum(side.values()) - sum(side.get(function, 0.0) for function in shown) for side in sides]
    rows += [["all others", "", *(f"{count:.1f}" for count in rest)], ["**sum**", "", *(f"{sum(side.values()):.1f}" for side in sides)]]
    return table(["File", "Function", *(["Before"] if len(sides) > 1 else []), "Instructions per packet"], rows, "ll" + len(sides) * "r")


if __name__ == "__main__":
    sys.exit(main())
