"""A small study with what figures have to cope with: two factors, arms, flows that finish, one that does not everywhere, and a call over UDP."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth.errors import StudyError
from sawtooth.execute import execute
from sawtooth.figures.spec import Drawn
from sawtooth.plan import make_plan
from sawtooth.presentation import presentation
from sawtooth.report import answers
from sawtooth.results.dataset import Dataset
from sawtooth.study import Study

STUDY = """
question = "What comes through?"
repeat = 3

[draws]
start = { distribution = "uniform", low = "0", high = "100" }

[scenario]
duration = "3 s"
sample = "50 ms"
record = ["episodes"]
links.l = { rate = "5 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "20 packets" } }
flows = [
  { path = ["l"], name = "long", start = "start * 1 ms" },
  { path = ["l"], name = "short", start = "start * 2 ms", source = { name = "bulk", size = "300 kB" } },
  { path = ["l"], name = "call", transport = "udp", source = { name = "constant_rate", rate = "100 kbit/s", size = "200 B" } },
]

[sweep]
"links.l.rate" = ["1 Mbit/s", "5 Mbit/s"]
"links.l.delay" = ["10 ms", "20 ms", "40 ms"]

[arms]
reno = { cc = "reno" }
cubic = { cc = "cubic" }

"""


def made(directory: Path, text: str = STUDY) -> Dataset:
    """The runs of a study."""
    plan = make_plan(loaded(directory, text))
    dataset = Dataset.create(directory / "out", plan)
    execute(plan, dataset)
    return dataset


def loaded(directory: Path, text: str) -> Study:
    """The study of a text."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "s.toml"
    path.write_text(text)
    return Study.load(path)


def drawn(dataset: Dataset, directory: Path, figure: str) -> Drawn:
    """The figure of these keys over runs that are there."""
    text = dataset.study.document.text
    study = loaded(directory, f'{text}\n[[figures]]\nname = "a"\n{figure}\n')
    (spec,) = presentation(study).figures
    return answers.Answers(dataset).drawn(spec)


def refused(directory: Path, figure: str, study: str = STUDY) -> StudyError:
    """Why a study with this figure is not planned."""
    with pytest.raises(StudyError) as caught:
        make_plan(loaded(directory, f'{study}\n[[figures]]\nname = "a"\n{figure}\n'))
    assert caught.value.place is not None
    return caught.value


def without(dataset: Dataset, **given: str) -> Dataset:
    """The same dataset as if the runs of an arm or level had not been done."""
    return _Without(dataset, given)  # pyright: ignore[reportReturnType]


class _Without:
    def __init__(self, dataset: Dataset, given: dict[str, str]) -> None:
        self._dataset, self._given = dataset, given

    def __getattr__(self, name: str) -> object:
        return getattr(self._dataset, name)

    def status(self) -> object:
        """Of the runs that are left."""
        runs = self._dataset.runs.filter(**self._given).select("run")
        return self._dataset.status().join(runs, on="run", how="anti")
