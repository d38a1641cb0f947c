"""Every number in the README's prose is what a plan, a table or a page of validation says today."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sawtooth
from docs import generate
from sawtooth import _core
from sawtooth.cli import app
from sawtooth.plan import Plan, make_plan
from sawtooth.study import Study, shipped
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "twenty-one",
    "twenty-two",
    "twenty-three",
    "twenty-four",
    "twenty-five",
]


def plan(name: str) -> Plan:
    return make_plan(Study.load(name))


def validated() -> list[dict[str, str]]:
    with (ROOT / "docs/validation/linux.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def of_ns2() -> list[int]:
    """Cases that are identical in every flow, all, and those of them that were drawn last."""
    page = (ROOT / "docs/validation/ns2.md").read_text(encoding="utf-8")
    row = re.search(r"\| all \| (\d+) \| (\d+) ", page)
    assert row is not None
    pairs = [(int(row[2]), int(row[1])), *((int(same), int(of)) for same, of in re.findall(r"(\d+) of (\d+) cases of", page))]
    return [sum(same for same, _ in pairs), sum(of for _, of in pairs), pairs[-1][1]]


def rates_of_gigabit() -> list[int]:
    cells = plan("hstcp/gigabit").cells
    rates = {value for cell in cells for path, value in cell.factors.items() if path in ("Bw", "vars.Bw")}
    return sorted(round(_core.evaluate(str(rate), {})[0] / 1e9) for rate in rates)


def background_rate() -> list[int]:
    (run, *_) = make_plan(Study.load("self-similar-background", short=True)).runs
    tree: dict[str, Any] = json.loads(run.scenario)
    rates = [_core.evaluate(str(link["rate"]), tree.get("vars", {}))[0] for link in tree["links"].values()]
    return [round(min(rates) / 1e9)]


def python_version() -> list[str]:
    return [tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"].removeprefix(">=")]


def gallery() -> list[int]:
    return [len([name for name in shipped.studies() if name.startswith("gallery/")])]


def hstcp() -> Plan:
    return plan("hstcp")


# A sentence of the README with a hole for each number, and what fills the holes.
FACTS: dict[str, Callable[[], list[Any]]] = {
    "Both need Python {} or newer": python_version,
    "published study of {} experiments": lambda: [len(hstcp().cells)],
    "in {} arms, {} simulations": lambda: [WORDS[len(hstcp().study.arms)], f"{len(hstcp().runs):,}"],
    "all {} sums of throughput and all {} indices": lambda: [2 * len(hstcp().cells)] * 2,
    "to {}, {} and {} Gbit/s": rates_of_gigabit,
    "segment size, {} runs in seconds": lambda: [len(plan("tahoe-vs-reno").runs)],
    "has {} random starts": lambda: [plan("tahoe-vs-reno/random").study.repeat],
    "traffic at {} Gbit/s": background_rate,
    "`gallery` has {} short ones, each one question, one figure": lambda: [WORDS[n] for n in gallery()],
    "`make gallery` runs all {} in": lambda: [WORDS[n] for n in gallery()],
    "{} of {} random networks agree in every flow, of which {} were drawn": of_ns2,
    "{} algorithms in {} scenarios are held against": lambda: [
        WORDS[len({row["cc"] for row in validated()})].capitalize(),
        WORDS[len({row["case"] for row in validated()})],
    ],
}
# Names with numbers, and times that depend on the machine.
NAMES = (
    r"ns-2\.35",
    r"ns-3\.24",
    r"ns-[23]",
    r"L4S",
    r"binary64",
    r"one command",
    "one page and one contact sheet",
    "on two cores",
    "Apache-2.0",
)


def prose() -> str:
    """The README without code, comments, tables and targets of links, on one line."""
    text = re.sub(r"(?s)```.*?```|<!--.*?-->", "", README)
    text = re.sub(r"(?m)^\|.*$", "", text)
    return " ".join(text.split())


@pytest.mark.parametrize("sentence", FACTS)
def test_a_number_of_the_readme_is_what_a_command_says(sentence: str) -> None:
    assert sentence.format(*FACTS[sentence]()) in prose()


def test_the_readme_has_no_number_that_nothing_checks() -> None:
    text = re.sub(r"\]\([^)]*\)", "]", prose()).replace("`", "")
    for sentence in FACTS:
        pattern = re.escape(re.sub(r"\]\([^)]*\)", "]", sentence).replace("`", "")).replace(r"\{\}", r"[\w.,-]+?")
        text, count = re.subn(pattern, "", text)
        assert count == 1, sentence
    for name in NAMES:
        text = re.sub(name, "", text)
    number = re.compile(rf"\b(\d[\d.,]*|{'|'.join(WORDS[2:])})\b(?!\]?-)", re.IGNORECASE)
    studies = re.sub(r"studies/[\w.-]+", "", text)
    assert not [(match[0], studies[max(0, match.start() - 40) : match.end() + 20]) for match in number.finditer(studies)]


def test_what_is_not_modelled_is_in_no_table() -> None:
    tables = _core.registry()
    names = {row["name"] for rows in tables.values() for row in rows}
    names |= {param["name"] for rows in tables.values() for row in rows for param in row.get("params", ())}
    words = {word for name in names for word in re.split(r"[^a-z0-9]+", name.lower())}
    joined = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in names}
    for what, told in generate.NOT_MODELLED.items():
        assert told, what
        assert not set(told) & (words | joined), what


def test_what_is_modelled_is_what_the_tables_have() -> None:
    section = README.partition("<!-- modelled -->\n")[2].partition("<!-- /modelled -->\n")[0]
    assert section == generate.modelled(_core.registry())
    tables = _core.registry()
    for kind in generate.MODELLED:
        for row in tables[kind]:
            assert f"`{row['name']}`" in section
    # A new table of parts has to be told of, or to be left out on purpose: those are not of the network, or told elsewhere.
    elsewhere = {"cc", "walk", "distribution", "arrivals", "partial", "delayed_ack", "tcp", "host", "kernel", "key", "limit", "unit"}
    assert set(tables) == set(generate.MODELLED) | elsewhere


def test_list_names_all_the_kinds_that_it_has() -> None:
    helped = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["list", "--help"]).output
    listed = re.search(r"(?s)Arguments:.*?(cc, .*?)\.", helped)
    assert listed is not None
    named = re.split(r", | or ", " ".join(listed[1].split()))
    told = CliRunner().invoke(app, ["list", "nothing"]).exception
    assert getattr(told, "hint", None) == f"there are {', '.join(named)}"


@pytest.mark.long
def test_the_whole_published_study_is_reproduced_to_the_digit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    out = tmp_path / "out"
    assert CliRunner().invoke(app, ["run", "hstcp", "--out", str(out)]).exit_code == 0
    assert CliRunner().invoke(app, ["report", str(out)]).exit_code == 0
    agreement = pl.read_csv(out / "report/tables/agreement.csv").filter(pl.col("arm").is_in(["newreno", "sack"]))
    assert agreement["sums_as_printed"].sum() == agreement["jain_as_printed"].sum() == agreement["experiments"].sum() == 512


def block(begins: str) -> str:
    """The block of the README with this beginning, with or without a language."""
    (found,) = (text for text in re.findall(r"(?s)```\w*\n(.*?)```", README) if text.startswith(begins))
    return found


def test_the_mistake_of_the_readme_is_told_as_it_says() -> None:
    study = block('name = "reno-vs-sack"').replace('start = "S * i / 4"', 'start = "S * i / 4"\ncc = { name = "highsped" }')
    with pytest.raises(sawtooth.StudyError) as caught:
        make_plan(Study.parse(study, Path("study.toml")))
    assert str(caught.value) == block("error:").rstrip("\n")


def test_the_commands_of_the_readme_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(block('name = "reno-vs-sack"').replace("repeat = 20", "repeat = 2"), encoding="utf-8")
    for line in block("sawtooth plan").splitlines():
        command = line.partition("#")[0].split()[1:]
        # Nobody is at the address of the cluster.
        if command[0] in ("stall", "serve", "list") or "--dask" in command:
            command += ["--help"]
        ran = CliRunner().invoke(app, command)
        assert ran.exit_code == 0, (line, ran.output)
    # What its first sentence promises.
    assert "SACK carries more than NewReno, whatever the buffer" in Path("results/reno-vs-sack/report/report.html").read_text(
        encoding="utf-8"
    )
    assert Path("results/reno-vs-sack/report/figures/goodput.svg").is_file()
    exec(compile(block("import sawtooth"), "README.md", "exec"), {})


def test_the_linux_stack_does_what_the_readme_says() -> None:
    (linux,) = (stack["values"] for stack in _core.registry()["stack"] if stack["name"] == "linux")
    said = re.search(r"is a TCP that does what a current Linux does: (.*?);", prose())
    assert said is not None
    keys = {
        "RACK-TLP": ("recovery", "rack"), "PRR": ("prr", "true"), "F-RTO": ("frto", "true"), "Eifel": ("eifel", "window"),
        "delivery rates": ("algorithms", "linux"), "pacing": ("pacing", "algorithm"), "buffers that tune themselves": ("receive_auto_tuning", "true"),
        "quick and delayed acknowledgements": ("adaptive_delayed_ack", "true"),
    }  # fmt: skip
    assert said[1].split(", ") == list(keys)
    defaults = {param["name"]: param["default"] for param in _core.registry()["tcp"]}
    for what, (key, value) in keys.items():
        assert (what, linux.get(key, defaults[key])) == (what, value)


def test_make_help_lists_what_pages_name_and_what_installs_for_development() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    commands = "\n".join(re.findall(r"```.*?```", text, re.DOTALL))
    named = {*re.findall(r"`make ([a-z][a-z-]*)", text), *re.findall(r"^make ([a-z][a-z-]*)", commands, re.MULTILINE), "dev"}
    assert "study" in named
    assert {name for name in named if f"  make {name} " not in listed} == set()
