"""A value of another type than its key takes is told with what was found and what to write: no key is without advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.plan import make_plan
from sawtooth.study import Study

STUDY = """\
name = "s"
seed = 1
repeat = 2
[scenario]
duration = "1 s"
sample = "100 ms"
links.l = { rate = "10 Mbit/s", delay = "5 ms" }
flows = [{ name = "f", path = ["l"], count = 1 }]
[sweep]
"links.l.loss" = [0, 0.01]
[arms]
a = {}
b = { "tcp.recovery" = "newreno" }
[[figures]]
name = "g"
metric = "goodput_bps"
x = "loss"
[[findings]]
claim = "c"
metric = "goodput_bps"
of = "f"
arm = "a"
is = "above"
than = { arm = "b", times = 1.1 }
"""
WITHIN = ('is = "above"\nthan = { arm = "b", times = 1.1 }', 'is = "within"\nthan = "9 Mbit/s"\nmargin = ')
RISING = ('is = "above"\nthan = { arm = "b", times = 1.1 }', 'is = "rising"\nalong = "loss"\nstrata = ')
RULE = ("repeat = 2", 'repeat = { until = "5 %", of = "goodput_bps", ')

# What is written instead of what, the value that is blamed, the message and the hint.
CASES = {
    "a number for a name": ('name = "s"', "name = 5", "5", "`name` must be a text, found 5", 'such as name = "goodput"'),
    "a list for a place": ('x = "loss"', 'x = ["loss"]', '["loss"]', '`x` must be a text, found ["loss"]', 'without the brackets: x = "loss"'),
    "true for a scale": ('x = "loss"', "scale = true", "true", "`scale` must be a text, found true", 'such as scale = "log"'),
    "a word that is not known": ('x = "loss"', 'scale = "lin"', '"lin"', "`scale` cannot be `lin`", "did you mean `linear`?"),
    "a text for a seed": ("seed = 1", 'seed = "1"', '"1"', '`seed` must be a whole number of at least 0, found "1"', "without quotes, such as seed = 7"),
    "a list of backends": ("seed = 1", 'backend = ["sim"]', '["sim"]', '`backend` must be a text, found ["sim"]', 'without the brackets: backend = "sim"'),
    "limits that are none": ("seed = 1", "limits = 3", "3", "`limits` must be a table, found 3", "such as limits = { runs = 1e7 }"),
    "a number for an arm": ("a = {}", "a = 1", "1", "`arms.a` must be a table, found 1", "write [arms.a] and its keys below it"),
    "arms of another type": ('arm = "a"', "arm = true", "true", "`arm` is an arm, or a list of arms, found true", 'such as arm = "reno"'),
    "items of another type": ('of = "f"', 'of = ["f", 3]', "3", "`of` is the name of a flow, of a link's direction, or a list of such names, found 3", 'such as of = "bulk"'),
    "cells that are no table": ('of = "f"', 'of = "f"\nwhere = "loss"', '"loss"', '`where` must be a table of factors and levels, or columns and values, found "loss"', 'such as where = { limit = "1 bdp" }'),
    "a list for a number": ('x = "loss"', 'x = "loss"\nwhere = { delivered_bytes = ["1 kB"] }', '["1 kB"]', '`delivered_bytes` is a number: one value or bound is chosen, found ["1 kB"]', 'such as delivered_bytes = "< 64 kB"'),
    "what is needed": ('claim = "c"\n', "", "[[findings]]", "`findings[0]` lacks `claim`", 'add claim = "CUBIC carries more than Reno"'),
    "a claim of nothing": ('claim = "c"', 'claim = ""', '""', "`claim` says nothing", 'such as claim = "CUBIC carries more than Reno"'),
    "no name of a queue": ("{ rate", "{ queue = { name = 3 }, rate", "3", "expected the name of a queue", "`sawtooth list queue` shows all"),
    "no end of a range": ("[scenario]", '[draws]\nS = { distribution = "uniform", low = "", high = "1 s" }\n[scenario]', '"', "the expression ends where a value was expected", 'a number, a quantity such as "20 ms", or an expression of variables'),
    "a list for what is under load": ('metric = "goodput_bps"\nx = "loss"', 'kind = "latency_under_load"\nmetric = "series.srtt_ns"\nbase = "1 ms"\nx = ["loss", "a"]', '["loss", "a"]', '`x` must be a text, found ["loss", "a"]', 'a text is written in quotes, such as x = "..."'),
    "percentiles of no expression": ('metric = "goodput_bps"\nx = "loss"', 'kind = "latency_under_load"\nmetric = "x y"\nx = "loss"', "y", "unexpected `y`", "between two values stands one of + - * /"),
    "a kind that is needed": ('is = "above"\n', "", "[[findings]]", "`findings[0]` lacks `is`", 'add is = one of "above", "below", "at least", "at most", "within", "rising", "falling", "dipping", "smooth", "crossing", "ranked", "alike", "reproduced", "all", "any"'),
    "a word for a number": ('x = "loss"', 'x = "loss"\nwhere = { delivered_bytes = "many" }', '"many"', "`many` is no quantity: a number with a unit was expected", 'such as delivered_bytes = "< 64 kB"'),
    "a bound that is none": ('x = "loss"', 'x = "loss"\nwhere = { loss = "<= los" }', '"<= los"', "`los` is no factor of the sweep, and no quantity", "did you mean `loss`?"),
    "a replicate that is no number": ('metric = "goodput_bps"\nx = "loss"', 'kind = "time"\nmetric = "series.srtt_ns"\nreplicate = "1"', '"1"', 'there is no replicate "1"', "they are counted from 1 to 2"),
    "a text for a factor": ("times = 1.1", 'times = "1.1"', '"1.1"', '`times` must be a number above 0, found "1.1"', "without quotes, such as times = 1.1"),
    "a factor below 0": ("times = 1.1", "times = -2", "-2", "`times` must be a number above 0, found -2", "such as times = 1.1"),
    "what is no margin": (WITHIN[0], f'{WITHIN[1]}"five"', '"five"', "`five` is no quantity: a number with a unit was expected", 'such as margin = "5 %"'),
    "what is no share": (WITHIN[0], f'{WITHIN[1]}"x5 %"', '"x5 %"', "`x5 %` is no share", 'such as "5 %"'),
    "a margin without its sign": (WITHIN[0], f"{WITHIN[1]}5", "5", "`margin` = 5 is 500 % without a sign of it", 'write "5 %", or "500 %" if that is meant'),
    "a list of margins": (WITHIN[0], f'{WITHIN[1]}["5 %"]', '["5 %"]', 'a quantity was expected, found ["5 %"]', 'such as margin = "5 %"'),
    "a margin of another unit": (WITHIN[0], f'{WITHIN[1]}"5 ms"', '"5 ms"', "`5 ms` is no rate, as `goodput_bps` is", 'its unit is bit/s, such as "10 Mbit/s"'),
    "a text for true": (RISING[0], f'{RISING[1]}"yes"', '"yes"', '`strata` is true or false, found "yes"', "without quotes: strata = true"),
    "few replicates": (RULE[0], f"{RULE[1]}min = 1 }}", "1", "`min` must be a whole number of at least 2, found 1", "such as min = 5"),
    "no confidence": (RULE[0], f'{RULE[1]}confidence = "high" }}', '"high"', '`confidence` is a share between 0 and 100 %, found "high"', 'for example confidence = "95 %"'),
    "a warm-up that is none": (RULE[0], 'repeat = { until = "5 %", of = "mean(series.srtt_ns)", warm_up = "mser" }', '"mser"', "`mser` is no quantity: a number with a unit was expected", 'such as "5 s", "10 %", or "mser-5"'),
    "an axis of one value": ("[0, 0.01]", "0.01", "0.01", "`links.l.loss` must be swept over a list of values, found 0.01", 'such as "links.l.loss" = [0.01, ...]; what has one value stands in the scenario'),
    # What the core refuses.
    "a queue by its size": ("{ rate", '{ queue = "50 packets", rate', '"50 packets"', "unknown queue `50 packets`", 'write queue = { name = "drop_tail", limit = "50 packets" }'),
    "true for a time": ('delay = "5 ms"', "delay = true", "true", "expected a number, a quantity or an expression", '`delay`: propagation, one way (time); such as delay = "20 ms"'),
    "a size for a time": ('delay = "5 ms"', 'delay = "5 kB"', '"5 kB"', "expected a time such as `20 ms`, found a number of bytes", '`delay`: propagation, one way (time); such as delay = "20 ms"'),
    "a size below 0": ("{ rate", '{ queue = { name = "drop_tail", limit = "-1 B" }, rate', '"-1 B"', "`limit` must be a whole number of bytes above zero, found -1", "`limit`: buffer size in packets, bytes or bandwidth-delay products, the packet in transmission included (packets, bytes or bdp; by default 100 packets)"),
    "a share above 1": ("[0, 0.01]", "[0, 2]", "2", "`loss` is a probability from 0 to 1, found 2", "`loss`: probability with which a packet is lost on the wire, after its transmission; or losses in bursts (number from 0 to 1, or table with a `name` of `loss` and its parameters); such as loss = 0.01"),
    "a size below 0 of a source": ("{ name = \"f\"", '{ source = { name = "bulk", size = "-1 B" }, name = "f"', '"-1 B"', "`size` must be a whole number of bytes above zero, found -1", "`size`: bytes to transfer; `none` for an endless transfer (bytes; by default none)"),
    "a direction that is no table": ("{ rate", '{ reverse = "1 Mbit/s", rate', '"1 Mbit/s"', "expected a table for links.l.reverse", '`reverse`: the direction of acknowledgements (table of the keys of a link but `count` and `reverse`); such as reverse = { rate = "1 Mbit/s" }'),
    "a limit that is no number": ("seed = 1", "limits = { runs = true }", "true", "expected a number, a quantity or an expression", "a limit is a number, such as runs = 1e7"),
    "ends of two kinds": ("[scenario]", '[draws]\nS = { distribution = "uniform", low = "0 kB", high = "1 s" }\n[scenario]', '"1 s"', "`low` is a number of bytes and `high` is a time", "write both in units of one kind"),
    "half a flow": ("count = 1", "count = 0.5", "0.5", "a count must be a whole number from 0 to 10000000, found 0.5", "`count`: how many there are: `NAME[1]` to `NAME[count]`, with the counter `i` in their expressions; of flows `0`, for none (whole number); such as count = 3"),
    "no file": ('rate = "10 Mbit/s"', 'trace = { file = "no.txt" }', '"no.txt"', "cannot read no.txt: No such file or directory", "files are named from the folder of the study"),
    "a variable of itself": ("[scenario]", '[vars]\nA = "A"\n[scenario]', "A", "variable `A` is defined by itself", 'a variable is a number, a quantity such as "20 ms", an expression of other variables, or a list of these'),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "_"))
def test_a_value_of_another_type_is_told_with_advice(case: str) -> None:
    old, new, blamed, message, hint = CASES[case]
    assert old in STUDY
    with pytest.raises(StudyError) as caught:
        make_plan(Study.parse(STUDY.replace(old, new, 1), Path("s.toml")))
    error, place = caught.value, caught.value.place
    assert (error.message, error.hint) == (message, hint)
    assert place is not None and place.text[place.column - 1 : place.end_column - 1] == blamed
