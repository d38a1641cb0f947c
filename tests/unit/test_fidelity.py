"""`sawtooth doctor --fidelity`: what was compared with a kernel that is like a study."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sawtooth import fidelity
from sawtooth.cli import app
from sawtooth.errors import StudyError
from sawtooth.fidelity import MEASURES, REACH, Compared, K, Situation
from sawtooth.fidelity.answer import AFRESH, LOOKED_AT
from sawtooth.fidelity.compared import FRESH
from sawtooth.plan import make_plan
from sawtooth.study import Study

PLACE = Situation("cubic", 10e6, 0.04, 1.0, 0.0, marks=False, slow_acks=False, flows=1, ends=False)
STUDY = """
name = "asked"
question = "Is it near?"
[scenario]
duration = "10 s"
stack = "linux"
cc = "cubic"
links.l = { rate = "10 Mbit/s", delay = "20 ms", queue = { name = "drop_tail", limit = "50 kB" } }
[[scenario.flows]]
path = ["l"]
"""


def row(place: Situation, of: str = "train", scenario: str = "1", **apart: float) -> Compared:
    every = dict.fromkeys(MEASURES, None) | apart
    return Compared(of, scenario, "6.1", "2026-01-01", "abc", place, "parts", every, dict.fromkeys(MEASURES, None))


def told(text: str, rows: list[Compared]) -> fidelity.Answer:
    return fidelity.answer(make_plan(Study.parse(text)), rows)


def printed(folder: Path, text: str, *words: str) -> str:
    path = folder / "asked.toml"
    path.write_text(text, encoding="utf-8")
    ran = CliRunner(env={"COLUMNS": "60"}).invoke(app, ["doctor", "--fidelity", str(path), *words])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def by_hand(one: Situation, other: Situation) -> float:
    if one.algorithm != other.algorithm:
        return math.inf
    numbers = [(one.rate_bps, other.rate_bps), (one.rtt_s, other.rtt_s), (one.buffer_bdp, other.buffer_bdp), (one.flows, other.flows)]
    squares = sum((math.log10(a) - math.log10(b)) ** 2 for a, b in numbers)
    if one.loss > 0 and other.loss > 0:
        squares += (math.log10(one.loss) - math.log10(other.loss)) ** 2
    elif one.loss != other.loss:
        squares += 1
    return math.sqrt(squares + (one.marks != other.marks) + (one.slow_acks != other.slow_acks) + 0.25 * (one.ends != other.ends))


def anywhere(draw: random.Random) -> Situation:
    rate, rtt, buffer, loss = (10 ** draw.uniform(*ends) for ends in ((5, 9), (-3, 0), (-1, 1), (-4, -2)))
    marks, slow, ends, lossy = (draw.random() < 0.4 for _ in range(4))
    return Situation(draw.choice(("reno", "cubic")), rate, rtt, buffer, loss * lossy, marks, slow, draw.randint(1, 9), ends)


def test_a_factor_of_ten_and_a_case_of_its_own_are_1_and_what_ends_a_half() -> None:
    def far(**changed: object) -> float:
        return fidelity.distance(PLACE, dataclasses.replace(PLACE, **changed))  # pyright: ignore[reportArgumentType]

    assert far() == 0
    for name in ("rate_bps", "rtt_s", "buffer_bdp", "flows"):
        assert far(**{name: getattr(PLACE, name) * 10}) == pytest.approx(1) == far(**{name: getattr(PLACE, name) / 10})
    assert far(loss=0.001) == far(loss=0.02) == far(marks=True) == far(slow_acks=True) == 1
    assert far(ends=True) == 0.5
    assert far(rate_bps=100e6, rtt_s=0.4) == pytest.approx(math.sqrt(2))
    assert far(algorithm="reno") == math.inf
    lossy = dataclasses.replace(PLACE, loss=0.01)
    assert fidelity.distance(lossy, dataclasses.replace(PLACE, loss=0.001)) == pytest.approx(1)


def test_the_nearest_are_those_that_looking_at_all_finds() -> None:
    draw = random.Random(1)
    rows = [row(anywhere(draw), scenario=str(at)) for at in range(300)]
    for _ in range(100):
        to = anywhere(draw)
        found = fidelity.nearest(to, rows)
        wanted = sorted((by_hand(to, each.situation), int(each.scenario)) for each in rows)[:K]
        assert [int(each.row.scenario) for each in found] == [number for _, number in wanted]
        assert [each.distance for each in found] == pytest.approx([far for far, _ in wanted])


def test_a_study_is_placed_by_the_link_that_has_least() -> None:
    (asked,) = fidelity.asked(make_plan(Study.parse(STUDY)))
    assert asked.situation == PLACE and asked.unlike == [] and asked.stack == "linux"
    lossy = STUDY.replace('delay = "20 ms"', 'delay = "20 ms", loss = 0.01, reverse = { rate = "500 kbit/s", delay = "20 ms" }')
    more = lossy.replace('path = ["l"]', 'path = ["l"]\ncount = 3\nsource = { name = "bulk", size = "1 MB" }')
    (asked,) = fidelity.asked(make_plan(Study.parse(more)))
    assert asked.situation == dataclasses.replace(PLACE, loss=pytest.approx(0.01), slow_acks=True, flows=3, ends=True)
    marked = STUDY.replace('"drop_tail"', '"step", mark_above = "10 packets"').replace('cc = "cubic"', 'cc = "dctcp"')
    (asked,) = fidelity.asked(make_plan(Study.parse(marked)))
    assert asked.situation == dataclasses.replace(PLACE, algorithm="dctcp", marks=True)


def test_what_no_compared_scenario_has_is_named() -> None:
    text = STUDY.replace('"drop_tail"', '"codel"').replace('delay = "20 ms"', 'delay = "20 ms", jitter = { name = "uniform" }')
    text += 'tcp = { recovery = "sack" }\n[[scenario.flows]]\npath = ["l"]\ncc = "reno"\n'
    first, second = fidelity.asked(make_plan(Study.parse(text)))
    assert first.unlike == ["`jitter` of a link", "the queue `codel`", "another algorithm beside it", "`tcp.recovery`"]
    assert second.unlike == ["`jitter` of a link", "the queue `codel`", "another algorithm beside it"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            'rate = "10 Mbit/s"',
            'rate = "10 Mbit/s", walk = { rate_step = "1 Mbit/s", rate_min = "1 Mbit/s", rate_max = "20 Mbit/s" }',
            "the rate of its path changes",
        ),
        ('delay = "20 ms"', 'delay = "0 ms"', "its path has no delay"),
        (
            'delay = "20 ms"',
            'delay = "20 ms", loss = { name = "gilbert_elliott", p = 0.01, r = 0.3 }',
            "its losses are not those of chance alone",
        ),
        ('delay = "20 ms"', 'delay = "20 ms", drop = [7]', "its losses are not those of chance alone"),
    ],
)
def test_what_has_no_place_on_the_map_says_why(tmp_path: Path, old: str, new: str, why: str) -> None:
    (each,) = told(STUDY.replace(old, new), [row(PLACE)]).by_algorithm["cubic"]
    assert each.asked.unplaced == why and not each.reached and each.closest is None
    said = printed(tmp_path, STUDY.replace(old, new))
    assert f"  {why}\n" in said and said.endswith("    nothing like this was compared\n")


def test_what_is_within_reach_is_told_by_provenance_and_what_is_beyond_is_not() -> None:
    edge = dataclasses.replace(PLACE, rate_bps=PLACE.rate_bps * 9.99)
    beyond = dataclasses.replace(PLACE, rate_bps=PLACE.rate_bps * 10.01)
    rows = [
        row(edge, FRESH, goodput=-0.5), row(PLACE, "train", goodput=0.01), row(PLACE, "fixed", goodput=-0.03), row(PLACE, "train", goodput=0.02),
        row(beyond, FRESH, goodput=9.0),
    ]  # fmt: skip
    (each,) = told(STUDY, rows).by_algorithm["cubic"]
    assert list(each.groups) == [AFRESH, LOOKED_AT]
    assert [near.row for near in each.groups[AFRESH].neighbours] == rows[:1]
    spread = each.groups[LOOKED_AT].spread("goodput")
    assert spread and (spread.number, spread.median, spread.worst) == (3, 0.02, 0.03)
    assert each.groups[LOOKED_AT].spread("packets") is None
    (each,) = told(STUDY, [row(beyond)]).by_algorithm["cubic"]
    assert not each.reached and each.closest and REACH < each.closest.distance < 1.001


def test_cells_of_a_study_are_told_from_the_nearest_to_the_farthest(tmp_path: Path) -> None:
    text = STUDY + '[sweep]\n"links.l.rate" = ["10 Mbit/s", "1 kbit/s", "20 Mbit/s", "100 Gbit/s", "40 Mbit/s"]\n'
    found = told(text, [row(PLACE)])
    assert len(found.by_algorithm["cubic"]) == 5
    assert {word: each.asked.cell for word, each in found.chosen("cubic").items()} == {"nearest": 1, "median": 5, "farthest": 4}
    said = printed(tmp_path, text)
    # The table that comes along has this rate, and a buffer of one product.
    assert "\ncubic: 5 situations, " in said and "\n  nearest: cell " in said and "\n  farthest: cell " in said
    assert "nothing like this was compared; the nearest is " in said


def test_of_very_many_cells_it_says_how_many_were_looked_at(tmp_path: Path) -> None:
    rates, seconds = [f"{at} Mbit/s" for at in range(1, 61)], [f"{at} s" for at in range(1, 51)]
    text = STUDY + f'[sweep]\n"links.l.rate" = {json.dumps(rates)}\nduration = {json.dumps(seconds)}\n'
    assert "\nOf its 3,000 cells and arms 2,000 were looked at, evenly spaced.\n" in printed(tmp_path, text)
    found = json.loads(printed(tmp_path, text, "--json"))
    assert (found["cells_and_arms"], found["cells_and_arms_looked_at"], len(found["situations"])) == (3000, 2000, 60)


def test_flows_that_are_alike_are_one_situation_of_several_cells() -> None:
    text = STUDY + '[sweep]\n"duration" = ["10 s", "20 s"]\n[arms]\none = {}\nreno = { cc = "reno" }\n'
    found = told(text, [row(PLACE)])
    assert {name: [each.number for each in every] for name, every in found.by_algorithm.items()} == {"cubic": [2], "reno": [2]}


def test_the_answer_says_which_stack_was_compared_and_what_was_looked_at(tmp_path: Path) -> None:
    said = printed(tmp_path, STUDY)
    assert "This study uses `linux`, which is what was compared." in said
    assert "looked at while the simulator was mended" in said
    if not any(each.fresh for each in fidelity.compared()):
        assert "None was drawn afresh since" in said
    other = " ".join(printed(tmp_path, STUDY.replace('stack = "linux"\n', "")).split())
    assert (
        "This study uses `rfc`, which was never compared with a kernel here: what follows is of `linux` in such scenarios, not of this study."
        in other
    )
    kernel = " ".join(
        printed(tmp_path, STUDY.replace("[scenario]", 'backend = "uml"\n[scenario]').replace('"cubic"', '"kernel:cubic"')).split()
    )
    assert "This study runs on a kernel (backend `uml`), where nothing is simulated" in kernel and "cubic: one situation" in kernel
    nothing = printed(tmp_path, STUDY.replace('"cubic"', '"copa"'))
    assert "nothing like this was compared: nothing of `copa` was" in nothing
    udp = printed(
        tmp_path, STUDY.replace('path = ["l"]', 'path = ["l"]\ntransport = "udp"\nsource = { name = "constant_rate", rate = "1 Mbit/s" }')
    )
    assert "It has no flows of TCP, so there is nothing to compare." in udp


def test_the_same_as_json(tmp_path: Path) -> None:
    found = json.loads(printed(tmp_path, STUDY, "--json"))
    assert (found["study"], found["stacks"], found["reach"], found["k"]) == ("asked", ["linux"], REACH, K)
    assert {each["set"]: each["looked_at"] for each in found["compared"]} | {FRESH: False} == {"train": True, "fixed": True, FRESH: False}
    (each,) = found["situations"]
    assert each["situation"]["rate_bps"] == 10e6 and each["reached"]
    near = next(group for group in each["groups"] if group["looked_at"])
    assert near["provenance"] == LOOKED_AT and len(near["neighbours"]) <= K
    sizes = [abs(size) for one in near["neighbours"] if (size := one["apart"]["goodput"]) is not None]
    assert near["apart"]["goodput"]["worst"] == max(sizes) and near["apart"]["goodput"]["number"] == len(sizes)
    assert [one["distance"] for one in near["neighbours"]] == sorted(one["distance"] for one in near["neighbours"])
    assert json.loads(printed(tmp_path, STUDY, "--json", "--set", "stack=rfc"))["stacks"] == ["rfc"]


def test_the_table_that_comes_along_can_be_written_and_read(tmp_path: Path) -> None:
    from sawtooth.fidelity.compared import TABLE, read, write

    rows = read(TABLE)
    write(rows, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == TABLE.read_text(encoding="utf-8")
    assert {each.set for each in rows} <= {FRESH, "train", "fixed"} and all(each.commit and each.date and each.kernel for each in rows)


def test_mistakes_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def error(*words: str) -> str:
        with pytest.raises(StudyError) as raised:
            CliRunner().invoke(app, ["doctor", *words], catch_exceptions=False)
        return str(raised.value)

    monkeypatch.chdir(tmp_path)
    Path("asked.toml").write_text(STUDY.replace('"cubic"', '"cubik"'), encoding="utf-8")
    assert error("--fidelity", "hstp") == "error: there is no file hstp, and no study of that name comes along\nhint: did you mean `hstcp`?"
    assert error("--fidelity", "askd.toml").startswith("error: there is no file askd.toml\n")
    assert error("--fidelity", "asked.toml").startswith("error: unknown congestion control `cubik`\n --> asked.toml:7:6\n")
    for words, said in (
        (["--fidelity", "asked.toml", "--clean"], "--clean and --fidelity are two questions: ask one at a time"),
        (
            ["--short"],
            "--short, --set and --no-files are about the study of --fidelity, which is missing: `sawtooth doctor --fidelity STUDY`",
        ),
    ):
        ran = CliRunner().invoke(app, ["doctor", *words])
        assert ran.exit_code == 2 and said in " ".join(ran.stderr.split())
