"""No page has a number that nothing accounts for, and what accounts for one is there."""

from __future__ import annotations

import re
import shlex
import subprocess
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth.cli import app
from sawtooth.study import shipped
from tests.docs import accounted
from tests.docs.facts import FACTS

ROOT = Path(__file__).parents[2]
PAGES = [*accounted.pages(), *accounted.TEMPLATES]
EVERY = [*sorted(str(path.relative_to(accounted.DOCS)) for path in accounted.DOCS.rglob("*.md")), *accounted.READMES]
# Programs that fill blocks of pages, or write whole ones.
PROGRAMS = [path for folder in ("docs", "bench", "tests") for path in (ROOT / folder).rglob("*.py")]


def sentences(page: str) -> list[str]:
    return [sentence for there, sentence, _ in FACTS if there == page]


def phrases(page: str) -> list[str]:
    its = accounted.accounts(page)
    return [*its.get("given", ()), *(phrase for those in its.get("tested", {}).values() for phrase in those)]


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_is_accounted_for(page: str) -> None:
    assert accounted.left_of(page, accounted.text_of(page), phrases(page), sentences(page)) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_number_that_is_put_into_a_page_is_found(page: str) -> None:
    planted = "\n\n## Planted\n\nIt takes 98.7654 s, and three times as much of a processor as before.\n"
    found = accounted.left_of(page, accounted.text_of(page) + planted, phrases(page), sentences(page))
    # A record for the whole page accounts for all of it.
    whole = any(record.end == len(accounted.text_of(page)) and record.begin < 1000 for record in accounted.records(accounted.text_of(page)))
    assert [each.partition(":")[0] for each in found] == ([] if whole else ["98.7654", "three times"])


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_to_be_printed_is_filled_by_a_program_or_named(page: str) -> None:
    text = accounted.text_of(page)
    shown = accounted.accounts(page).get("shown", ())
    begins = [block.split("\n")[0] for block in accounted.outputs(text)]
    assert sorted(begins) == sorted(shown), (
        "numbers in a block come from a program: fill it (docs/blocks.py), or name its first line in accounted.toml"
    )


@pytest.mark.parametrize("page", sorted(accounted.listed()))
def test_what_accounts_for_a_number_is_needed(page: str) -> None:
    assert page in PAGES, "there is no such page, or a program writes it"
    text, every = accounted.text_of(page), phrases(page)
    for phrase in every:
        rest = [other for other in every if other != phrase]
        assert accounted.left_of(page, text, rest, sentences(page)), f"{page} needs {phrase!r} no more"
    for test in accounted.accounts(page).get("tested", {}):
        assert accounted.file_of(page).name in (ROOT / test).read_text(encoding="utf-8"), f"{test} does not name {page}"


@pytest.mark.parametrize("page", EVERY)
def test_a_page_that_says_to_be_written_by_a_program_is(page: str) -> None:
    program = accounted.writer(accounted.text_of(page))
    if program is None:
        return
    folder = program.removeprefix("-m ").replace(".", "/") if program.startswith("-m ") else program
    sources = [ROOT / folder] if folder.endswith(".py") else sorted((ROOT / folder).glob("*.py"))
    assert sources
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    name = Path(page).name
    assert name in text or name.replace(".md", "") in text or page.startswith("reference/"), f"{program} does not name {page}"


@pytest.mark.parametrize("page", [page for page in EVERY if "<!-- /" in accounted.text_of(page)])
def test_every_block_of_a_page_is_some_programs(page: str) -> None:
    programs = [path.read_text(encoding="utf-8") for path in PROGRAMS]
    for found in accounted.BLOCKS.finditer(accounted.text_of(page)):
        words = found[1].split()
        assert any(all(word.strip("`") in program for word in words) for program in programs), (
            f"no program fills <!-- {found[1]} --> of {page}"
        )


RECORDS = [(page, record) for page in [*EVERY, *accounted.TEMPLATES] for record in accounted.records(accounted.text_of(page))]


@pytest.mark.parametrize(("page", "record"), RECORDS, ids=[f"{page}: {record.commit}" for page, record in RECORDS])
def test_what_is_said_to_have_been_measured_can_be_measured_again(page: str, record: accounted.Record) -> None:
    assert date(2026, 11, 1) <= date.fromisoformat(record.day) <= date.today(), page
    whole = (
        subprocess.run(
            ["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()
        == "false"
    )
    if whole:
        found = subprocess.run(["git", "cat-file", "-t", record.commit], cwd=ROOT, capture_output=True, text=True, check=False)
        assert found.stdout.strip() == "commit", f"{page} names {record.commit}, which is no commit"
    for command in record.commands:
        assert known(command) is None, f"{page}: {known(command)}"


def known(command: str) -> str | None:
    """What is wrong with a command, if anything is: its program has to be there, and to know its options."""
    first, *words = shlex.split(command)
    if first == "make":
        return None if re.search(rf"(?m)^{words[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8")) else f"no target {words[0]}"
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    if first == "sawtooth":
        told = CliRunner(env={"COLUMNS": "200"}).invoke(app, [words[0], "--help"]).output
        missing = [study for study in words[1:2] if words[0] == "run" and study not in shipped.studies()]
        return next(
            (f"`{command}`: there is no {word}" for word in [*missing, *(option for option in options if option not in told)]), None
        )
    if first != "python":
        return f"`{command}` is none of make, sawtooth and python"
    module = words[1].replace(".", "/") if words[0] == "-m" else ""
    program = next((name for name in (f"{module}.py", f"{module}/__main__.py") if module and (ROOT / name).is_file()), module or words[0])
    if not (ROOT / program).is_file():
        return f"there is no {program}"
    text = (ROOT / program).read_text(encoding="utf-8")
    return next((f"{program} has no {option}" for option in options if f'"{option}"' not in text), None)


PAGE = """# How fast?

It takes 12.5 s over 10 Mbit/s, as RFC 6298 of 2011 has it in step 2.

```toml
rate = "10 Mbit/s"
```

```sh
sawtooth plan study.toml    # 384 runs
```

<!-- made -->
| 77 |
<!-- /made -->
"""


def left(text: str, *given: str, of: tuple[str, ...] = ()) -> list[str]:
    return [each.partition(":")[0] for each in accounted.unaccounted(text, given, of)]


def test_a_number_is_found_that_is_no_input_name_or_block_of_a_program() -> None:
    assert left(PAGE) == ["12.5", "384"]
    assert left(PAGE, "12.5 s", of=("# {} runs",)) == []
    assert left(PAGE, "2.5 s") == ["12.5", "384"], "a part of a number accounts for nothing"
    assert left(PAGE.replace("10 Mbit/s, as", "10 ms, as"))[:2] == ["12.5", "10"], "another unit is another number"


def test_a_record_accounts_for_its_paragraph_what_follows_a_colon_or_its_section() -> None:
    record = "easured on 2026-11-27 in commit `0123abcd` by `make bench`"
    table = "\n\n| 7 |\n|---|\n| 8 |\n\nAnd 9 flows.\n\n## Then\n\nAnd 11 runs.\n"
    assert left(f"# A\n\n5 runs, m{record}.{table}") == ["7", "8", "9", "11"]
    assert left(f"# A\n\n5 runs, m{record}:{table}") == ["9", "11"]
    assert left(f"# A\n\n## Now\n\n*M{record}.*\n\n5 runs.{table}") == ["11"]
    assert left(f"# A\n\n- 5 runs, m{record}\n- 6 runs\n") == ["6"]


def test_a_command_that_is_gone_is_told() -> None:
    assert (
        known("make bench") is None
        and known("sawtooth run stall/modern --backend uml") is None
        and known("python bench/cluster.py --replicates 30") is None
    )
    assert known("make benches") == "no target benches"
    assert known("sawtooth run stall/ancient") == "`sawtooth run stall/ancient`: there is no stall/ancient"
    assert known("python bench/cluster.py --copies 30") == "bench/cluster.py has no --copies"
    assert known("python bench/none.py") == "there is no bench/none.py"
