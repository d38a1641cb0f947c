"""Long names of results and of cells: a phone's screen holds them, and what tells cells apart is not cut off."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import sawtooth
from tests.web.conftest import STUDY, serving, showing

LONG = "lab/results/queues-of-the-second-campaign-on-another-machine"


@pytest.fixture(scope="module")
def phone(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page of a phone's width, of an explorer on results with long names."""
    folder = tmp_path_factory.mktemp("long") / "lab"
    folder.mkdir()
    text = STUDY.replace('duration = "4 s"', 'duration = "2 s"').replace("[arms]", '"links.bottleneck.delay" = ["10 ms", "20 ms"]\n[arms]')
    (folder / "queues.toml").write_text(text.replace('x = "limit"', 'x = "limit"\npanels = "delay"'))
    sawtooth.run(folder / "queues.toml", folder / "results" / LONG.rpartition("/")[2])
    shutil.copytree(folder / "results" / LONG.rpartition("/")[2], folder / "results" / "others")
    with serving(folder) as explorer, showing(browser, explorer) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        yield page


@pytest.mark.parametrize("path", ["/compare", f"/compare?of={LONG}&beside=lab/results/others", "/run?of=lab/results/others&run=3"])
def test_no_list_of_names_is_wider_than_the_screen(phone: Any, path: str) -> None:
    phone.goto(path)
    phone.locator("select option", has_text=LONG).first.wait_for(state="attached")
    phone.wait_for_load_state("networkidle")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_cells_of_a_verdict_are_named_to_their_ends(phone: Any) -> None:
    phone.goto("/results?of=lab/results/others")
    phone.locator(".verdict .plot svg").first.wait_for()
    names = [name for name in phone.locator(".verdict .plot svg").first.locator("text").all_text_contents() if "bdp" in name]
    assert names == [f"limit {limit} bdp, delay {delay} ms" for limit in (0.25, 1, 4) for delay in (10, 20)]
