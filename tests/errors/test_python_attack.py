"""Every public function with what nobody should give it: it does what can be done with that, or says what is expected and what it found."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sawtooth
from sawtooth import traffic
from sawtooth.errors import SawtoothError
from sawtooth.report import report
from sawtooth.stats import hurst
from sawtooth.study import Study

ANY: Any = sawtooth
STUDY = """\
name = "tiny"
[scenario]
duration = "0.1 s"
links.l = { rate = "1 Mbit/s", delay = "5 ms" }
flows = [{ path = ["l"] }]
"""
SCENARIO: dict[str, Any] = {
    "duration": "0.1 s",
    "links": {"l": {"rate": "1 Mbit/s", "delay": "5 ms"}},
    "flows": [{"name": "f", "path": ["l"], "transport": "udp", "source": "poisson"}],
}
ODD: dict[str, Any] = {
    "nothing": None,
    "an empty text": "",
    "a long text": "n" * 5000,
    "two lines": "a\nb",
    "a null": "a\0b",
    "half a letter": "\udcff",
    "bytes": b"x",
    "zero": 0,
    "a number": 5,
    "a negative number": -1,
    "a fraction": 1.5,
    "not a number": math.nan,
    "infinity": math.inf,
    "a huge number": 10**400,
    "numpy's number": np.int64(3),
    "numpy's nan": np.float32("nan"),
    "numpy's text": np.str_("none"),
    "an array": np.zeros(3),
    "true": True,
    "a list": [],
    "a list of nothing": [None],
    "a tuple": ("a",),
    "a mapping": {},
    "an object": object(),
    "a path": Path("none"),
    "a path of bytes": Path("\udcff"),
    "here": Path(),
    "a function": print,
}


def _scenario(**changes: Any) -> dict[str, Any]:
    return {**SCENARIO, **changes}


CALLS: dict[str, Callable[[Any, sawtooth.Dataset], object]] = {
    "simulate": lambda odd, _: ANY.simulate(odd),
    "a seed": lambda odd, _: ANY.simulate(SCENARIO, seed=odd),
    "a duration": lambda odd, _: ANY.simulate(_scenario(duration=odd)),
    "links": lambda odd, _: ANY.simulate(_scenario(links=odd)),
    "a rate": lambda odd, _: ANY.simulate(_scenario(links={"l": {"rate": odd}})),
    "flows": lambda odd, _: ANY.simulate(_scenario(flows=odd)),
    "a path of links": lambda odd, _: ANY.simulate(_scenario(flows=[{"path": odd}])),
    "a name": lambda odd, _: ANY.simulate(_scenario(flows=[{"path": ["l"], "name": odd}])),
    "a file": lambda odd, _: ANY.simulate(_scenario(links={"l": {"delay": "1 ms", "trace": {"file": odd}}})),
    "variables": lambda odd, _: ANY.simulate(_scenario(vars=odd)),
    "a variable": lambda odd, _: ANY.simulate(_scenario(vars={"N": odd})),
    "limits": lambda odd, _: ANY.simulate(_scenario(limits=odd)),
    "what is recorded": lambda odd, _: ANY.simulate(_scenario(record=odd)),
    "run": lambda odd, _: ANY.run(odd, "out"),
    "where to": lambda odd, _: ANY.run(Study.parse(STUDY, Path("tiny.toml")), odd),
    "threads": lambda odd, _: ANY.run(Study.parse(STUDY, Path("tiny.toml")), "out", jobs=odd),
    "options": lambda odd, _: ANY.run("tiny.toml", "out", options=odd),
    "an option": lambda odd, _: ANY.run("tiny.toml", "out", options=[odd]),
    "the value of an option": lambda odd, _: ANY.run("tiny.toml", "out", options=[f"repeat={odd}"]),
    "Study.load": lambda odd, _: ANY.Study.load(odd),
    "Study.parse": lambda odd, _: ANY.Study.parse(odd, Path("x.toml")),
    "the path of a study": lambda odd, _: ANY.make_plan(ANY.Study.parse(STUDY, odd)),
    "make_plan": lambda odd, _: ANY.make_plan(odd),
    "Dataset": lambda odd, _: ANY.Dataset(odd),
    "Dataset.open": lambda odd, _: ANY.Dataset.open(odd),
    "Dataset.create": lambda odd, _: ANY.Dataset.create(odd, ANY.make_plan(Study.parse(STUDY, Path("tiny.toml")))),
    "the plan of a dataset": lambda odd, _: ANY.Dataset.create("out", odd),
    "Dataset.table": lambda odd, dataset: dataset.table(odd),
    "Dataset.column": lambda odd, dataset: dataset.column(odd),
    "the table of a column": lambda odd, dataset: dataset.column("SegsRetrans", odd),
    "a measure": lambda odd, dataset: dataset.measure(odd),
    "the cells of a measure": lambda odd, dataset: dataset.measure("goodput_bps", where=odd),
    "the window of a measure": lambda odd, dataset: dataset.measure("goodput_bps", window=odd),
    "columns of a measure": lambda odd, dataset: dataset.measure("goodput_bps", by=odd),
    "the kind of a figure": lambda odd, dataset: dataset.figure(kind=odd, metric="goodput_bps"),
    "the axis of a figure": lambda odd, dataset: dataset.figure(metric="goodput_bps", x=odd),
    "the name of a figure": lambda odd, dataset: dataset.figure(metric="goodput_bps", name=odd),
    "where a figure goes": lambda odd, dataset: dataset.figure(metric="goodput_bps").save(odd),
    "a claim": lambda odd, dataset: dataset.finding(claim=odd, metric="goodput_bps", is_="above", than="1 Mbit/s"),
    "the other side of a claim": lambda odd, dataset: dataset.finding(claim="c", metric="goodput_bps", is_="above", than=odd),
    "what is compared with": lambda odd, dataset: dataset.compare(odd),
    "a measure that is compared": lambda odd, dataset: dataset.compare(dataset, metric=odd),
    "the tolerance of a comparison": lambda odd, dataset: dataset.compare(dataset, tolerance=odd),
    "published numbers": lambda odd, dataset: dataset.compare(reference=odd),
    "rfc4898": lambda odd, _: ANY.rfc4898(odd),
    "its table": lambda odd, _: ANY.rfc4898("SegsRetrans", odd),
    "report": lambda odd, _: report(odd),
    "where a report goes": lambda odd, dataset: report(dataset).write(odd),
    "departures": lambda odd, _: traffic.departures(odd, 1, "f"),
    "the seed of departures": lambda odd, _: traffic.departures(SCENARIO, odd, "f"),
    "the flow of departures": lambda odd, _: traffic.departures(SCENARIO, 1, odd),
    "noise": lambda odd, _: traffic.noise(odd, 8),
    "points of noise": lambda odd, _: traffic.noise(0.7, odd),
    "the seed of noise": lambda odd, _: traffic.noise(0.7, 8, odd),
    "the name of noise": lambda odd, _: traffic.noise(0.7, 8, 1, odd),
    "times": lambda odd, _: traffic.counts(odd, 0.1, 1.0),
    "a period": lambda odd, _: traffic.counts(np.zeros(3), odd, 1.0),
    "a time altogether": lambda odd, _: traffic.counts(np.zeros(3), 0.1, odd),
    "estimates": lambda odd, _: hurst.estimates(odd),
}
DONE_WITH: dict[str, set[str]] = {
    "a seed": {"nothing", "zero", "a number", "numpy's number"},
    "threads": {"nothing", "a number", "numpy's number"},
}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> sawtooth.Dataset:
    return sawtooth.run(Study.parse(STUDY, Path("tiny.toml")), tmp_path_factory.mktemp("attack") / "results")


@pytest.mark.parametrize("name", CALLS)
def test_an_odd_argument_is_used_or_told(name: str, dataset: sawtooth.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: set[str] = set()
    for odd, value in ODD.items():
        own = tmp_path / str(list(ODD).index(odd))
        own.mkdir()
        monkeypatch.chdir(own)
        (own / "tiny.toml").write_text(STUDY)
        try:
            CALLS[name](value, dataset)
            done.add(odd)
        except SawtoothError as error:
            assert len(str(error)) < 12_000, odd
            assert not re.search(r"object has no|\bErrno\b|<class|PosixPath", str(error)), (odd, str(error))
        except ValueError as error:
            # Documented of these.
            assert name in {"noise", "the flow of departures", "departures", "estimates"}, (odd, str(error))
            assert re.search(r"found|no flow|needed|Hurst|JSON", str(error)), (odd, str(error))
        except TypeError as error:
            assert re.search(r", found an? \w+: ", str(error)), (odd, str(error))
    assert done == DONE_WITH.get(name, done)
