"""What measures the explorer's pages ends with what there is, where it is asked for what cannot come."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = """
import sys
from pathlib import Path
from bench.explorer import MEASURE, explorer, shown

with explorer(Path(sys.argv[1])) as watched:
    shown(watched.page, "/results?of=lab/results/queues", "figure")
    assert watched.changed(MEASURE, "retransmits").wall > 0
    watched.changed(MEASURE, sys.argv[2])
"""


@pytest.mark.parametrize(("measure", "said"), [("nosuch", "there is no measure nosuch"), ("retransmits", "is `retransmits` already")])
@pytest.mark.usefixtures("browser")
def test_a_change_that_cannot_be_drawn_is_not_waited_for(made: Path, measure: str, said: str) -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT, str(made), measure], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("`Measure, or an expression of some`") and said in ended.stderr
