"""The numbers of a page that nothing accounts for: `python -m tests.docs.accounted [PAGE]`. docs/development/guards.md has the rule."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
STUDIES = ROOT / "python/sawtooth/studies"
ACCOUNTS = Path(__file__).with_suffix(".toml")
TEMPLATES = ("bench/ns2/old_kernels.md", "bench/queues/reasons.md", "bench/theory/theory.md", "tests/fuzz/page.md", "tests/mutants/page.md")
"""What a program writes a page of whole: its words are somebody's, and are held to the same."""
READMES = tuple(sorted(str(path.relative_to(ROOT)) for path in STUDIES.glob("*/README.md")))
"""What stands beside the studies that come along."""
CODE = re.compile(r"(?ms)^ *```(\w*)[^\n]*\n(.*?)^ *```")
OUTPUT = ("", "console", "text", "json", "csv")
"""What a block of code is called that shows what something prints, or is called nothing."""
BLOCKS = re.compile(r"(?s)<!-- (.+?) -->\n.*?<!-- (?:/\1|/written|end) -->")
MEASURED = re.compile(r"[Mm]easured on (\d{4}-\d\d-\d\d) in commit `([0-9a-f]{8,40})` by ((?:`[^`]+`(?:, | and )?)+)")
# What has digits and counts nothing: documents and their parts, versions, days, names.
NAMES = (
    r"\b\d+\.\d+\.\d+\.\d+\b", r"RFCs? \d+(?:(?:, and |, | and | or )\d{4})*", r"§ ?\d[\d.]*", r"\bdraft-[\w-]+", r"\bIEEE \d+(?:\.\d\w*)?", r"\b802\.\d[\w.]*", r"\b[\w-]+\(\d\)",
    r"\b(?:[Ss]tep|[Pp]art|[Ff]igure|[Tt]able|[Ss]ection|[Ee]quation|[Rr]ule|[Ss]tudy|[Ll]esson|modulo) \d+(?:\.\d+)*",
    r"\b(?:[Ff]igures|[Tt]ables|[Kk]ernels) \d+(?:\.\d+)*(?:(?:, | and | or | to )\d+(?:\.\d+)*)*", r"(?<=\| )\d\.\d (?:\(\d\) )?(?=\|)",
    r"\b(?:Linux|C?Python|Debian|Rust|rustc|QEMU|TShark|tshark|tcptrace|glibc|iperf|flent|SLURM|OpenSSH|Apache|ECT|version|kernel) \d+(?:\.\d+)*", r"\b\d+\.\d+\.\d+\b", r"\bns-[23](?:\.\d+)*",
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)\b",
    r"\b(?:19[5-9]\d|200[1-9]|20[1-4]\d)(?:-\d\d(?:-\d\d)?)?\b(?![ -](?:bytes?|B|runs?|packets?|flows?|[kM])\b)", r"\b[A-Za-z]+-?\d+\b", r"\b\d+(?:\.\d+)?(?:st|nd|rd|th)\b", r"\bx86-64-v\d\b", r"\b[45]G\b",
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.,/^-])[-+\u2212]?\d(?:[\d.,]*\d)?")
UNIT = (
    r"%|[kMGT]?bit/s|[KkMG]i?B(?:/s)?|B\b|bytes?\b|[numµ]?s\b|min\b|minutes?\b|seconds?\b|packets?\b|segments?\b|BDP\b|bdp\b|Hz\b|runs?\b"
)
_TIMES = r"(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|a hundred|a thousand) times|twice|thrice"
_PARTS = (
    r"half|(?:a|one|two|three|four) (?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|twentieth|thirtieth|hundredth|thousandth)s?"
)
_COSTS = r"fast(?:er)?(?! retransmit| recover)|slow(?:er)?|quick(?:er)?|cheap(?:er)?|processors?|memory|per second|a second|instructions|(?:of the|less|more) time|(?:less|more) work"
RATIO = re.compile(rf"(?i)\b({_TIMES}|{_PARTS})\b[^.;:|]{{0,60}}?\b(?:{_COSTS})\b")
"""A ratio in words of what something costs: such comes from a measurement as one in digits does. Of other words nobody can tell by their form whether they are a rule or a result."""
HOLE = r"[\w.,\u2212+-]+?(?:\s[\w/%]+?)?"
"""What may stand where a sentence of facts.py has a hole: a number, perhaps with its unit."""
# The unit stands behind the last number of a list or a range.
QUANTITY = re.compile(rf"(\d(?:[\d.,]*\d)?)(?:(?:, and|, or|,| and| or| to) [\d.,]*\d)*[ -]?({UNIT})?")


class Record(NamedTuple):
    """That something was measured: when, in which commit and by which commands, and where in the page the numbers of that are."""

    day: str
    commit: str
    commands: tuple[str, ...]
    begin: int
    end: int


def pages() -> list[str]:
    """Below docs, but for those that a program writes whole, and beside studies. The README has a guard of its own, in which words are numbers, too."""
    every = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
    return [page for page in every if writer(text_of(page)) is None] + [*READMES]


def file_of(page: str) -> Path:
    return (ROOT if page in (*TEMPLATES, *READMES) else DOCS) / page


def text_of(page: str) -> str:
    return file_of(page).read_text(encoding="utf-8")


def left_of(page: str, text: str, given: Sequence[str] = (), sentences: Sequence[str] = ()) -> list[str]:
    """As `unaccounted`, of a page with such a text: beside a study, what its files have counts where the page names them."""
    named = re.findall(r"`([\w-]+\.toml)`", text) if page in READMES else []
    return unaccounted(text, given, sentences, tuple(path for name in named if (path := file_of(page).with_name(name)).is_file()))


def writer(text: str) -> str | None:
    """The program that a page says to be written by, in a comment in its first line or in the first sentence below its heading."""
    found = re.match(r"(?:<!-- Written by|# .*\n\nWritten by `python) (-m [\w.]+|[\w/.]+\.py)\b", text)
    return found and found[1]


def accounts(page: str) -> dict[str, Any]:
    """What accounted.toml has for a page: `given`, phrases, and `tested`, phrases by the file of a test."""
    return _accounts().get(page, {})


def listed() -> list[str]:
    """The pages of accounted.toml."""
    return list(_accounts())


@cache
def _accounts() -> dict[str, Any]:
    return tomllib.loads(ACCOUNTS.read_text(encoding="utf-8"))


def unaccounted(text: str, given: Sequence[str] = (), sentences: Sequence[str] = (), files: tuple[Path, ...] = ()) -> list[str]:
    """Each number that nothing accounts for, with the words around it.

    Args:
        text: of a page.
        given: phrases whose numbers are accounted for.
        sentences: those with holes for numbers that a test fills.
        files: of studies, besides those that the page calls by their names.

    """
    prose, shown = _prose(text), inputs(text, files)
    covered = [*_covered(text, given, sentences), *((record.begin, record.end) for record in records(text))]
    return list(_left(prose, covered, shown))


def _left(prose: str, covered: Sequence[tuple[int, int]], shown: frozenset[tuple[str, str]]) -> Iterator[str]:
    for number in NUMBER.finditer(prose):
        quantity = QUANTITY.match(prose, number.start() + len(number[0]) - len(number[0].lstrip("-+\u2212")))
        assert quantity is not None
        # Nothing, and one of something, say no more than the words do.
        bare = number[0] in ("0", "1") and not quantity[2] and not re.match(r"\s+(?:of|to)\b", prose[number.end() :])
        if not bare and _said(quantity) not in shown and not any(begin <= number.start() < end for begin, end in covered):
            yield f"{number[0]}: {' '.join(prose[max(0, number.start() - 70) : number.end() + 50].split())}"
    for ratio in RATIO.finditer(prose):
        if not any(begin <= ratio.start() < end for begin, end in covered):
            yield f"{ratio[1]}: {' '.join(prose[max(0, ratio.start() - 70) : ratio.end() + 50].split())}"


def _said(quantity: re.Match[str]) -> tuple[str, str]:
    unit = re.sub(r"s$", "", quantity[2] or "") if len(quantity[2] or "") > 2 else quantity[2] or ""
    return quantity[1].replace(",", ""), unit.replace("byte", "B").replace("BDP", "bdp")


@cache
def inputs(text: str, files: tuple[Path, ...] = ()) -> frozenset[tuple[str, str]]:
    """Quantities in the page's code that somebody types, and in the files of the studies that it names or links."""
    page = BLOCKS.sub("", text)
    code = [re.sub(r" # .*", "", block[2]) for block in CODE.finditer(page) if block[1] not in OUTPUT]
    code += re.findall(r"`([^`\n]+)`", CODE.sub("", page))
    named = {
        path
        for path in STUDIES.rglob("*.toml")
        if (name := _named(path)) and re.search(rf"`(?:sawtooth \w+ )?{re.escape(name)}[`# ]|sawtooth \w+ {re.escape(name)}\b", text)
    } | {*files}
    studied = (_said(found) for path in named for found in QUANTITY.finditer(re.sub(r"#.*", "", path.read_text(encoding="utf-8"))))
    return frozenset(_said(found) for each in code for found in QUANTITY.finditer(each)) | {said for said in studied if said[1]}


def _named(path: Path) -> str:
    """What a command calls a study that comes along."""
    return str(path.relative_to(STUDIES).with_suffix("")).removesuffix("/study")


@cache
def _prose(text: str) -> str:
    """The page with spaces in the place of code, of what programs fill, of names and of targets of links; what commands are said to do stays."""
    prose = _blank(BLOCKS, text)
    prose = CODE.sub(lambda block: _remarks(block) if block[1] == "sh" else _spaces(block[0]), prose)
    for pattern in (r"(?s)<!--.*?-->", r"`[^`]*`", r"\]\([^)]*\)", r"(?m)^ *\d+\. ", *NAMES):
        prose = _blank(re.compile(pattern), prose)
    return prose


def _blank(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: _spaces(found[0]), text)


def _spaces(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _remarks(block: re.Match[str]) -> str:
    return "\n".join(
        " " * len(before) + mark + remark for line in block[0].split("\n") for before, mark, remark in (line.partition(" # "),)
    )


def _covered(text: str, given: Sequence[str], sentences: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where these phrases and sentences are, however their lines are broken."""
    for parts in [*([phrase] for phrase in given), *(re.split(r"\{[^}]*\}", sentence) for sentence in sentences)]:
        parts = [r"\s+".join(map(re.escape, part.split(" "))) for part in parts]
        pattern = rf"(?<![\d.,]){HOLE.join(parts)}(?!\d|[.,]\d)"
        yield from (found.span() for found in re.finditer(pattern, text))


def records(text: str) -> list[Record]:
    """`Measured on DAY in commit ID by COMMAND` accounts for its paragraph or item, and for what is below if that ends in a colon; a paragraph in italics does for its section."""
    found: list[Record] = []
    for match in re.finditer(MEASURED.pattern.replace(" ", r"\s+"), text):
        begin = max(text.rfind("\n\n", 0, match.start()), text.rfind("\n- ", 0, match.start()), 0)
        ends = [at for mark in ("\n\n", "\n- ") if (at := text.find(mark, match.end())) >= 0]
        if re.match(r"\s*\*[^*]", text[begin : match.start() + 2]):
            begin, end = _section(text, match.start())
        else:
            end = min(ends, default=len(text))
            if text[match.end() : end].rstrip().endswith(":"):
                end = min((at for at in (text.find("\n\n", end + 2),) if at >= 0), default=len(text))
        found.append(Record(match[1], match[2], tuple(re.findall(r"`([^`]+)`", match[3])), begin, end))
    return found


def _section(text: str, at: int) -> tuple[int, int]:
    """From the heading above to the next that is not below it."""
    headings = [(found.start(), len(found[1])) for found in re.finditer(r"(?m)^(#+) ", _blank(CODE, text))]
    begin, depth = max((heading for heading in headings if heading[0] <= at), default=(0, 0))
    return begin, min((start for start, level in headings if start > at and level <= depth), default=len(text))


def outputs(text: str) -> list[str]:
    """Blocks that show what something prints, with a number, and that no program fills."""
    blocks = CODE.finditer(BLOCKS.sub("", text))
    return [block[2] for block in blocks if block[1] in ("", "console", "text") and re.search(r"\d", block[2])]


def main() -> None:
    from tests.docs.facts import FACTS

    for page in sys.argv[1:] or pages():
        its = accounts(page)
        given = [*its.get("given", ()), *(phrase for phrases in its.get("tested", {}).values() for phrase in phrases)]
        for each in left_of(page, text_of(page), given, [sentence for there, sentence, _ in FACTS if there == page]):
            print(f"{file_of(page).relative_to(ROOT)}: {each}")


if __name__ == "__main__":
    main()
