"""Files that a study or a comparison names: traces of links, tables of changes, jitter, distributions, draws, published numbers.

An input is the name of its format, a line feed, and what the file holds. Most are valid files with a line or two changed, and they are to be run; the others
have any bytes. Whatever is wrong with a file is an error that says so.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from pathlib import Path

from sawtooth import reference_files
from sawtooth.backends import sim
from sawtooth.errors import SawtoothError
from sawtooth.plan import make_plan
from sawtooth.study import Study
from tests.fuzz.attempt import Attempts
from tests.fuzz.tally import Tally

NAME = "files"
SUMMARY = "a changed trace, table of changes, of jitter, of sizes, of draws or of published numbers is used, or refused by an error. Reached: the end of the run, or of reading."
WEIGHT = 1.0


def fuzz(seed: int, seconds: float, work: Path) -> Tally:
    """Tries files for `seconds`."""
    rng = random.Random(f"files/{seed}")
    with Attempts(NAME, work) as attempts:
        while attempts.seconds < seconds:
            data = make(rng)
            attempts.begin(data)
            try:
                attempts.end(reached=attempt(data, work))
            except BaseException as error:  # a panic of the core is no Exception
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise
                attempts.fail(traceback.format_exc(), data)
        return attempts.tally()


def replay(saved: Path, work: Path) -> None:
    """Tries one file."""
    attempt(saved.read_bytes(), work)


def attempt(data: bytes, work: Path) -> bool:
    """Whether the file was used; raises if it was not refused as it should be."""
    form, _, content = data.partition(b"\n")
    use = _FORMS[form.decode()][1]
    (work / "input").write_bytes(content)
    try:
        use(work)
    except SawtoothError as error:
        str(error)
        return False
    return True


# --- uses ---------------------------------------------------------------------------------------------------------------

_SCENARIO = """\
repeat = 2
{head}
[scenario]
duration = "0.2 s"
links.l = {{ rate = "2 Mbit/s", delay = "5 ms" {link} }}
[[scenario.flows]]
path = ["l"]
{flow}
"""


def _run(work: Path, head: str = "", link: str = "", flow: str = "") -> None:
    # Tables are remembered by name: every input has another file, as far as that goes.
    _forget()
    plan = make_plan(Study.parse(_SCENARIO.format(head=head, link=link, flow=flow), work / "study.toml"))
    batch = sim.run_batch([run.scenario for run in plan.runs], [run.seed for run in plan.runs])
    for message in batch.errors.values():
        if message.startswith("the simulator failed"):
            raise AssertionError(message)


def _forget() -> None:
    from sawtooth import plan
    from sawtooth.study import linkfiles

    for module in (linkfiles, plan):
        for each in vars(module).values():
            if hasattr(each, "cache_clear"):
                each.cache_clear()


def _trace(work: Path) -> None:
    _run(work, link=', trace = { file = "input" }')


def _changes(work: Path) -> None:
    _run(work, link=', changes = { file = "input", every = "1 s" }')


def _changes_once(work: Path) -> None:
    _run(work, link=', changes = { file = "input" }')


def _jitter(work: Path) -> None:
    _run(work, link=', jitter = { name = "table", file = "input" }')


def _sizes(work: Path) -> None:
    _run(work, flow='source = { name = "bulk", size = { name = "empirical", file = "input" } }')


def _draws(work: Path) -> None:
    head = '[draws]\nS = { distribution = "table", file = "input", row = "cell", column = "s{replicate}_ms", unit = "ms" }'
    _run(work, head=head, flow='start = "S"')


def _published(work: Path) -> None:
    reference_files.of_file(work / "input", reference_files.Columns("mean_bps", ci="half_bps"), ["rate"])


# --- contents -----------------------------------------------------------------------------------------------------------


def make(rng: random.Random) -> bytes:
    """A format and what a file of it holds."""
    form = rng.choice(list(_FORMS))
    lines = _FORMS[form][0](rng)
    wild = rng.random() < 0.35
    if wild:
        for _ in range(rng.randint(1, 4)):
            _wreck(lines, rng)
    text = rng.choice(("\n", "\n", "\n", "\r\n", "\r")).join(lines) + rng.choice(("\n", "\n", ""))
    data = text.encode(errors="surrogatepass")
    if wild and rng.random() < 0.3:
        data = _bytes_changed(data, rng)
    return form.encode() + b"\n" + data


def _trace_lines(rng: random.Random) -> list[str]:
    at, lines = 0, list[str]()
    for _ in range(rng.randint(1, 60)):
        at += rng.choice((0, 1, 1, 2, 5, 40))
        lines.append(str(at))
    return lines if at else [*lines, "1"]


def _change_lines(rng: random.Random) -> list[str]:
    columns = [rng.choice(("at", "t")), *rng.sample(("rate", "delay", "loss"), rng.randint(1, 3))]
    at, lines = 0.0, [",".join(columns)]
    for _ in range(rng.randint(1, 30)):
        cells = {"rate": f"{rng.uniform(0.1, 9):.3g} Mbit/s", "delay": f"{rng.uniform(0, 40):.3g} ms", "loss": f"{rng.uniform(0, 0.3):.3g}"}
        lines.append(
            ",".join(
                [
                    f"{at:.3f}" if rng.random() < 0.5 else f"{at:.3f} s",
                    *(cells[column] if rng.random() < 0.9 else "" for column in columns[1:]),
                ]
            )
        )
        at += rng.uniform(0.001, 0.02)
    return lines


def _jitter_lines(rng: random.Random) -> list[str]:
    return [f"{rng.uniform(0, 30):.4g}" for _ in range(rng.randint(2, 50))]


def _size_lines(rng: random.Random) -> list[str]:
    count = rng.randint(1, 12)
    shares = sorted(rng.random() for _ in range(count - 1))
    values = sorted(rng.randint(0, 10**6) for _ in range(count))
    return [f"{value} {share:.6g}" for value, share in zip(values, [*shares, 1], strict=True)]


def _draw_lines(rng: random.Random) -> list[str]:
    return ["cell,s1_ms,s2_ms", *(f"{cell},{rng.randint(0, 100)},{rng.uniform(0, 100):.3f}" for cell in range(1, rng.randint(2, 5)))]


def _published_lines(rng: random.Random) -> list[str]:
    return [
        "cell,rate,mean_bps,half_bps,note",
        *(
            f"{cell},{rng.randint(1, 9)} Mbit/s,{rng.uniform(1, 1e7):.5g},{rng.uniform(0, 1e5):.3g},x"
            for cell in range(1, rng.randint(2, 9))
        ),
    ]


_FORMS: dict[str, tuple[Callable[[random.Random], list[str]], Callable[[Path], None]]] = {
    "trace": (_trace_lines, _trace),
    "changes": (_change_lines, _changes),
    "changes_once": (_change_lines, _changes_once),
    "jitter": (_jitter_lines, _jitter),
    "sizes": (_size_lines, _sizes),
    "draws": (_draw_lines, _draws),
    "published": (_published_lines, _published),
}


_CELLS = (
    "", " ", "0", "-1", "-0", "1e400", "nan", "inf", "-inf", "1e-320", "1e308", "99999999999999999999", "9" * 5000, "18446744073709551616", "0.1.2", "1,5", "1e", "0x10", "1_000", "٣",
    "1 ms", "1 s", "1 Mbit/s", "-5 ms", "2", "1.0000001", "\t", '"', '""', '"a\nb"', "'", "#", "\u0000", "é", "\ufeff", "=1+1", "(" * 3000, "-" * 3000 + "1", "x" * 200_000, "1 bdp", "1 B", "1e30 s",
)  # fmt: skip


def _wreck(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines)) if lines else 0
    choice = rng.randrange(9)
    if not lines or choice == 0:
        lines.insert(at, rng.choice(("", "# a remark", "a,b,c", ",", ",,,,,,,,", " ", *_CELLS)))
    elif choice == 1:
        del lines[at]
    elif choice == 2:
        lines.insert(at, rng.choice(lines))
    elif choice == 3:
        rng.shuffle(lines)
    elif choice == 4:
        lines[at] = lines[at] + rng.choice((",", ",5", " ", " 5", '"'))
    elif choice == 5:
        lines[at] = lines[at][: rng.randrange(len(lines[at]) + 1)]
    else:
        separator = "," if "," in lines[at] else " "
        cells = lines[at].split(separator)
        cells[rng.randrange(len(cells))] = rng.choice(_CELLS)
        lines[at] = separator.join(cells)


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 30))):
        at = rng.randrange(len(text) + 1)
        if rng.random() < 0.5:
            text[at : at + 1] = bytes([rng.randrange(256)])
        else:
            text[at:at] = rng.choice(
                (b"\xff\xfe", b"\x00", b"\r", b"\x1a", b"\x80", b"\xed\xa0\x80", bytes(rng.randrange(256) for _ in range(40)))
            )
    return bytes(text)
