"""Runs the core's tests with each mutant on: first the unit tests, then for those that survive them the integration tests.

Of every test it is recorded once which mutants it reaches; a mutant is run against those that reach it, until one fails. A test that needs
five times its processor time and three seconds more is taken for one that does not end, and kills as well.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants.outcome import UNSEEN, Book, Mutant, Outcome, drawn
from tests.mutants.weave import Weaver

WORK = Path("target/mutants")
FRESH, TREE = WORK / "fresh", WORK / "tree"
MEMORY = 4 << 30
# A unit test that takes longer, in seconds, is left out, as is a test from outside that takes longer than LONG.
SHORT, LONG = 2.0, 1.0
# Of the tests from outside as many are asked about a mutant, the shortest first, as take this long together without it.
ASKED = 5.0


@dataclass
class _Test:
    program: Path
    name: str
    seconds: float = 0.0
    reached: set[int] = field(default_factory=set)


def run(book: Book, sample: int | None, known: set[str], outside: Sequence[str]) -> None:
    """Mutants, but for those `known`, against the unit tests, and the survivors against the tests of the core from outside.

    Of these those are asked whose names have a part of `outside`.
    """
    mutants, unviable = _weave()
    for each in unviable:
        book.write(Outcome(each, "unviable"))
    chosen = {number: of for number, of in drawn(mutants, sample).items() if mutants[number - 1].key not in known}
    tests = _record(_programs(["--lib"]), SHORT)
    left = _judge(chosen, mutants, tests, "unit", book)
    if outside:
        asked = _affordable(_record(_programs(["--test", "it"]), LONG, outside))
        _judge({number: chosen[number] for number in left}, mutants, asked, "all", book, left)


def _affordable(tests: list[_Test]) -> list[_Test]:
    """The same tests, each with those of its mutants that have not had so many shorter ones."""
    asked: Counter[int] = Counter()
    for test in sorted(tests, key=lambda test: test.seconds):
        test.reached = {number for number in test.reached if asked[number] + test.seconds <= ASKED}
        for number in test.reached:
            asked[number] += test.seconds
    return tests


def _weave() -> tuple[list[Mutant], list[Mutant]]:
    """Writes the woven copy, leaving out what does not compile, until it does."""
    listed = json.loads(_output(["cargo", "mutants", "--list", "--json", "-p", "sawtooth-core"], Path()))
    known = WORK / "unviable.txt"
    left_out = set(known.read_text().splitlines()) if known.exists() else set()
    while True:
        _copy()
        weaver = Weaver(listed, FRESH, left_out)
        weaver.write()
        _settle()
        found = _faulty(weaver.mutants)
        if not found:
            print(f"{len(weaver.mutants)} mutants, {len(weaver.unviable)} do not compile, {len(weaver.unwoven)} not woven", flush=True)
            (WORK / "unwoven.txt").write_text("\n".join(weaver.unwoven))
            return weaver.mutants, weaver.unviable
        print(f"{len(found)} of {len(weaver.mutants)} mutants do not compile", flush=True)
        left_out |= found
        known.write_text("\n".join(sorted(left_out)) + "\n")


def _copy() -> None:
    """What git knows, as it is now, to `FRESH`."""
    shutil.rmtree(FRESH, ignore_errors=True)
    names = [name for name in _output(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], Path()).split("\0") if name]
    for name in names:
        if name.startswith((".cargo/", "crates/", "Cargo", "tests/", "python/sawtooth/studies/")) and Path(name).is_file():
            to = FRESH / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(name, to)


def _settle() -> None:
    """Brings `TREE` to what `FRESH` is; a file that has not changed keeps its time, so that it is not built again."""
    for old in [path for path in TREE.rglob("*") if path.is_file() and not (FRESH / path.relative_to(TREE)).exists()]:
        old.unlink()
    for new in [path for path in FRESH.rglob("*") if path.is_file()]:
        to = TREE / new.relative_to(FRESH)
        if not to.exists() or to.read_bytes() != new.read_bytes():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(new, to)


def _faulty(mutants: list[Mutant]) -> set[str]:
    """Keys of the mutants that the compiler complains about."""
    done = subprocess.run(
        ["cargo", "check", "--quiet", "-p", "sawtooth-core", "--lib", "--tests", "--message-format=json"],
        cwd=TREE,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return set()
    found: set[str] = set()
    strange = []
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message")
        if not message or message["level"] != "error":
            continue
        for span in message["spans"]:
            if not span["is_primary"]:
                continue
            numbers = _around((TREE / span["file_name"]).read_bytes(), span["byte_start"])
            found |= {mutants[number - 1].key for number in numbers}
            if not numbers:
                strange.append(message["rendered"])
    if not found:
        raise SystemExit("the woven copy does not compile:\n" + "\n".join(strange or [done.stderr]))
    return found


def _around(source: bytes, at: int) -> list[int]:
    """The mutants of the innermost place around `at`."""
    opened: list[int] = []
    for mark in re.finditer(rb"/\*(?:<(\d+)|(\d+)>)\*/", source):
        if mark.start() > at:
            break
        if mark[1]:
            opened.append(int(mark[1]))
        else:
            opened.remove(int(mark[2]))
    if not opened:
        return []
    # Those whose marks stand side by side are of one place.
    numbers = [opened[-1]]
    while len(opened) > len(numbers) and b"/*<%d*//*<%d*/" % (opened[-len(numbers) - 1], opened[-len(numbers)]) in source:
        numbers.append(opened[-len(numbers) - 1])
    return numbers


def _programs(which: list[str]) -> list[Path]:
    """Builds test programs of the woven copy."""
    command = ["cargo", "test", "--no-run", "--quiet", "-p", "sawtooth-core", *which, "--message-format=json"]
    rows = [json.loads(line) for line in _output(command, TREE).splitlines() if line.startswith("{")]
    return [Path(row["executable"]) for row in rows if row.get("executable") and row["profile"]["test"]]


def _record(programs: list[Path], longest: float, parts: Sequence[str] = ("",)) -> list[_Test]:
    """Runs each test by itself, without a mutant, and notes what it reaches and how long it takes; those that take longer are left out."""
    tests = []
    for program in programs:
        names = [line.removesuffix(": test") for line in _output([str(program), "--list"], TREE).splitlines() if line.endswith(": test")]
        tests += [_Test(program, name) for name in names if any(part in name for part in parts)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(lambda test: _record_one(test, longest), tests))
    fine = [test for test, passes in zip(tests, passed, strict=True) if passes and test.seconds < longest]
    long = [test.name for test in tests if test.seconds >= longest]
    failing = [test.name for test, passes in zip(tests, passed, strict=True) if not passes and test.name not in long]
    print(f"{len(fine)} of {len(tests)} tests are asked; longer than {longest:g} s: {', '.join(long)}", flush=True)
    if failing:
        print(f"left out, as they fail in the copy without a mutant: {', '.join(failing)}", flush=True)
    return fine


def _record_one(test: _Test, longest: float) -> bool:
    most = int(longest) + 1
    path = (WORK / f"reached-{test.program.name}-{re.sub(r'[^A-Za-z0-9_]', '_', test.name)}").absolute()
    path.unlink(missing_ok=True)
    process = subprocess.Popen(
        [str(test.program), "--exact", test.name, "--test-threads=1"],
        cwd=TREE / "crates/sawtooth-core",
        env={**_environment(), "SAWTOOTH_REACHED": str(path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)),
    )
    # Processor time: the machine may be busy.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    test.seconds = usage.ru_utime + usage.ru_stime
    if path.exists():
        test.reached = set(map(int, path.read_text().split()))
        path.unlink()
    return process.returncode == 0


def _judge(
    numbers: dict[int, str], mutants: list[Mutant], tests: list[_Test], stage: str, book: Book, before: dict[int, str] | None = None
) -> dict[int, str]:
    """Runs mutants against tests; the fates of those that none has seen, of which `before` has those of an earlier stage."""

    def judge(number: int) -> Outcome:
        mutant = mutants[number - 1]
        near = "::".join(mutant.file.removesuffix(".rs").removesuffix("/mod").split("/")) + "::"
        reaching = [test for test in tests if number in test.reached]
        reaching.sort(key=lambda test: (not test.name.startswith(near), test.seconds))
        fate, by = "survived" if reaching else (before or {}).get(number, "unreached"), ""
        for program in dict.fromkeys(test.program for test in reaching):
            fate, by = _run([test for test in reaching if test.program == program], number)
            if fate != "survived":
                break
        return Outcome(mutant, fate, by, stage, numbers[number])

    left: dict[int, str] = {}
    start = time.monotonic()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, (number, outcome) in enumerate(zip(numbers, pool.map(judge, numbers), strict=True), 1):
            if outcome.fate in UNSEEN:
                left[number] = outcome.fate
            book.write(outcome)
            if done % 500 == 0:
                print(f"{done} of {len(numbers)} mutants after {time.monotonic() - start:.0f} s", flush=True)
    return left


def _run(tests: list[_Test], number: int) -> tuple[str, str]:
    """The fate of a mutant and the test that saw it."""
    budget = int(5 * sum(test.seconds for test in tests) + 3)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (budget, budget))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen(
        [str(tests[0].program), "--exact", *(test.name for test in tests), "--test-threads=1"],
        cwd=TREE / "crates/sawtooth-core",
        env={**_environment(), "SAWTOOTH_MUTANT": str(number)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=limit,
    )
    assert process.stdout is not None
    by = ""
    for line in process.stdout:
        if line.startswith("test ") and (name := line.split()[1]) != "result:":
            by = name
            if line.rstrip().endswith("FAILED"):
                process.kill()
                process.wait()
                return "killed", by
    code = process.wait()
    if code == 0:
        return "survived", ""
    # What ended the program: the processor time (SIGXCPU, SIGKILL), or the memory and the stack (SIGABRT, SIGSEGV).
    return ("endless" if code in (-24, -9) else "killed"), by


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "CARGO_TARGET_DIR": str((WORK / "build").absolute()),
        # Quick to build: the copy is large, and the tests that are asked are short. A mutant may index out of bounds or overflow where the compiler sees it.
        "RUSTFLAGS": "-A warnings -A unconditional_panic -A arithmetic_overflow",
        "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
        "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        "CARGO_INCREMENTAL": "0",
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "RUST_BACKTRACE": "0",
        "PROPTEST_FAILURE_PERSISTENCE": "off",
    }


def _output(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout
