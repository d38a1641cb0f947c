"""Pages of studies in a real browser: from an example to one's own study, its text checked while it is written, and a sweep that is started, paused and ended."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from sawtooth.results.lock import lock
from tests.conftest import PATIENCE
from tests.web.conftest import STUDY, Explorer
from tests.web.test_pages import violations
from tests.web.test_sweeps import LONG


def written(page: Any, text: str) -> None:
    """Puts a text into the editor, as by pasting it."""
    editor = page.get_by_label("Text of the study")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_an_example_becomes_a_study_of_ones_own_and_is_run(running_page: Any, folder: Path) -> None:
    page = running_page
    page.goto("/studies")
    page.get_by_role("searchbox", name="Find").fill("l4s")
    page.get_by_role("link", name="gallery/l4s").click()
    page.get_by_text("10 runs", exact=True).wait_for()
    page.get_by_role("textbox", name="As").fill("lab/mine.toml")
    page.get_by_role("button", name="Save as").click()
    page.wait_for_url("**/studies?of=lab%2Fmine.toml")
    assert (folder / "mine.toml").is_file()
    # Both buttons stand at the foot of their row.
    feet = [page.get_by_role("button", name=name, exact=True).bounding_box() for name in ("Save", "Save as")]
    assert feet[0]["y"] + feet[0]["height"] == feet[1]["y"] + feet[1]["height"]
    page.get_by_role("button", name="Start").click()
    page.get_by_text("done · 10 of 10 runs").wait_for(timeout=180_000)
    page.get_by_role("link", name="lab/results/l4s").first.click()
    page.get_by_role("heading", name="Does L4S give").wait_for()


def test_a_broken_study_is_listed_with_its_mistake_and_mended_here(running_page: Any, folder: Path) -> None:
    page = running_page
    (folder / "studies" / "cut.toml").write_text(STUDY.replace("repeat = 4", "repeat = = 4"))
    (folder / "studies" / "wide.toml").write_bytes(STUDY.encode("utf-16"))
    page.goto("/studies")
    cards = page.get_by_role("listitem")
    expect(cards.filter(has_text="lab/studies/cut.toml:4:10")).to_have_count(1)
    wide = cards.filter(has_text="wide.toml is no text: byte 0 is not UTF-8")
    expect(wide.get_by_role("heading", name="wide")).to_be_visible()
    # There is nothing to mend in an editor.
    expect(wide.get_by_role("link", name="wide", exact=True)).to_have_count(0)
    page.get_by_role("link", name="cut", exact=True).click()
    page.locator(".cm-lintRange-error").wait_for()
    written(page, STUDY)
    page.get_by_text("24 runs", exact=True).wait_for()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved as lab/studies/cut.toml.").wait_for()
    assert (folder / "studies" / "cut.toml").read_text() == STUDY


def test_a_study_is_run_from_its_own_page_only(running_page: Any) -> None:
    """While the page of what was just saved is on its way, the one before is not shown under its address: `Start` there would run the example."""
    page = running_page
    page.goto("/studies")
    page.get_by_role("searchbox", name="Find").fill("l4s")
    page.get_by_role("link", name="gallery/l4s").click()
    page.get_by_text("10 runs", exact=True).wait_for()
    held: list[Any] = []
    page.route("**/api/studies/text?of=lab*", lambda route: held.append(route))
    page.get_by_role("textbox", name="As").fill("lab/mine.toml")
    page.get_by_role("button", name="Save as").click()
    page.wait_for_url("**/studies?of=lab%2Fmine.toml")
    page.get_by_text("Loading …").wait_for()
    expect(page.get_by_role("button", name="Start")).to_have_count(0)
    for route in held:
        route.continue_()
    page.get_by_text("lab/mine.toml", exact=True).first.wait_for()
    page.get_by_role("button", name="Start").wait_for()


def test_a_mistake_is_shown_at_its_place_while_it_is_written_and_the_plan_follows(page: Any) -> None:
    page.goto("/studies?of=lab/studies/queues.toml")
    page.get_by_text("24 runs", exact=True).wait_for()
    written(page, STUDY.replace('cc = "cubic"', 'cc = "cubik"'))
    page.get_by_role("alert").get_by_text("unknown congestion control cubik").wait_for()
    page.get_by_role("alert").get_by_text("did you mean cubic?").first.wait_for()
    # What the command line has between back quotes stands as code.
    page.get_by_role("alert").locator("code", has_text="cubik").wait_for()
    assert page.locator(".cm-lintRange-error").inner_text() == '"cubik"'
    page.get_by_role("button", name="Show line").click()
    page.keyboard.insert_text('"cubic"')
    page.get_by_text("24 runs", exact=True).wait_for()
    written(page, STUDY.replace("repeat = 4", "repeat = 8"))
    page.get_by_text("48 runs", exact=True).wait_for()
    page.get_by_text("There are changes that are not saved.").first.wait_for()


@pytest.mark.parametrize(
    ("before", "typed", "offered", "becomes"),
    [
        ("[scenario]\n", "dur", "duration", "duration"),
        ("[[scenario.flows]]\ncc = ", "cub", "cubic", 'cc = "cubic"'),
        ("[scenario]\nlinks.a = { queue = { name = ", "fq_c", "fq_codel", 'name = "fq_codel"'),
        ("[arms]\none = { cc = ", "wes", "westwood", 'cc = "westwood"'),
        ("[[findings]]\nmetric = ", "goodput_b", "goodput_bps", 'metric = "goodput_bps"'),
        ("", "quest", "question", "question"),
    ],
)
def test_keys_and_names_are_completed(page: Any, before: str, typed: str, offered: str, becomes: str) -> None:
    page.goto("/studies?of=lab/studies/queues.toml")
    # What is known is there when the plan is: both were asked for at once.
    with page.expect_response("**/api/studies/words"):
        page.reload()
    written(page, before)
    page.keyboard.press("Control+End")
    page.keyboard.type(typed, delay=20)
    page.locator(".cm-tooltip-autocomplete").get_by_text(offered, exact=True).first.wait_for()
    page.wait_for_timeout(100)  # the first of a list can be chosen after a moment only, so that nobody does by mistake
    page.keyboard.press("Enter")
    page.locator(".cm-content").get_by_text(becomes).wait_for()


def test_what_was_changed_elsewhere_is_not_written_over(running_page: Any, folder: Path) -> None:
    page = running_page
    page.goto("/studies?of=lab/studies/queues.toml")
    page.get_by_text("24 runs", exact=True).wait_for()
    theirs = STUDY + "# theirs\n"
    (folder / "studies" / "queues.toml").write_text(theirs)
    written(page, STUDY + "# mine\n")
    page.keyboard.press("Control+s")
    page.get_by_role("alert").get_by_text("has been changed since it was opened here").wait_for()
    assert (folder / "studies" / "queues.toml").read_text() == theirs
    page.get_by_role("textbox", name="As").fill("lab/studies/mine.toml")
    page.get_by_role("button", name="Save as").click()
    page.wait_for_url("**/studies?of=lab%2Fstudies%2Fmine.toml")
    assert (folder / "studies" / "mine.toml").read_text() == STUDY + "# mine\n"


def test_a_sweep_is_paused_resumed_and_cancelled_with_the_keyboard_and_every_tab_follows(running_page: Any, folder: Path) -> None:
    (folder / "studies" / "long.toml").write_text(LONG)
    page = running_page
    other = page.context.new_page()
    other.goto("/studies")
    page.goto("/studies?of=lab/studies/long.toml")
    page.get_by_text("2,400 runs", exact=True).wait_for()
    page.get_by_role("button", name="Start").press("Enter")
    other.get_by_role("progressbar", name="Progress of long").wait_for()
    page.get_by_text("of 2,400 runs").wait_for()
    page.get_by_role("button", name="Pause long").press("Enter")
    expect(page.get_by_role("button", name="Resume long")).to_be_focused()
    other.get_by_text("paused ·").wait_for()
    # The tab that followed for all goes; the other one follows then.
    other.close()
    page.get_by_role("button", name="Resume long").press("Enter")
    page.get_by_role("button", name="Pause long").wait_for()
    page.get_by_role("button", name="Cancel long").press("Enter")
    page.get_by_role("list", name="Sweeps").wait_for(state="detached")
    expect(page.locator("main")).to_be_focused()


def test_an_answer_that_comes_late_does_not_hide_newer_news(running_page: Any) -> None:
    page = running_page
    late: list[tuple[Any, Any]] = []
    page.route("**/api/sweeps", lambda route: late.append((route, route.fetch())))
    page.goto("/studies?of=lab/studies/queues.toml")
    sweeps = page.get_by_role("list", name="Sweeps")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(sweeps).to_contain_text("done", timeout=PATIENCE)
    # What was asked before there was a sweep is answered now.
    route, answer = late[0]
    assert answer.json()["sweeps"] == []
    route.fulfill(response=answer)
    page.wait_for_timeout(300)
    expect(sweeps).to_contain_text("done")


def test_a_text_that_is_not_saved_is_not_left_without_a_question(page: Any) -> None:
    page.goto("/studies?of=lab/studies/queues.toml")
    page.get_by_text("24 runs", exact=True).wait_for()
    written(page, STUDY + "# mine\n")
    page.get_by_text("There are changes that are not saved.").wait_for()
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("link", name="Lessons").first.click()
    assert asked == ["The text is not saved. Leave it?"]
    page.get_by_text("There are changes that are not saved.").wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("link", name="Lessons").first.click()
    page.get_by_role("heading", name="Lessons").wait_for()


def test_going_back_from_a_text_that_is_not_saved_asks_as_a_link_does(page: Any) -> None:
    page.goto("/studies")
    page.get_by_role("link", name="queues", exact=True).click()
    page.get_by_text("24 runs", exact=True).wait_for()
    written(page, STUDY + "# mine\n")
    page.get_by_text("There are changes that are not saved.").wait_for()
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.evaluate("history.back()")
    page.wait_for_url("**/studies?of=lab*")
    expect(page.locator(".cm-content")).to_contain_text("# mine")
    assert asked == ["The text is not saved. Leave it?"]
    # Refused, it stands where it stood: one step back asks again.
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    page.evaluate("history.back()")
    page.get_by_role("heading", name="Studies").wait_for()
    assert len(asked) == 2
    # Forth and back again without a change: nobody is asked.
    page.evaluate("history.forward()")
    page.get_by_text("24 runs", exact=True).wait_for()
    page.evaluate("history.back()")
    page.get_by_role("heading", name="Studies").wait_for()
    assert len(asked) == 2


@pytest.mark.parametrize("width", [1200, 390])
def test_why_a_text_was_not_saved_comes_into_view(running_page: Any, folder: Path, width: int) -> None:
    page = running_page
    page.set_viewport_size({"width": width, "height": 700})
    page.goto("/studies?of=lab/studies/queues.toml")
    page.get_by_text("24 runs", exact=True).wait_for()
    (folder / "studies" / "queues.toml").write_text(STUDY + "# theirs\n")
    written(page, STUDY + "# mine\n")
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("alert").get_by_text("has been changed since it was opened here")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1200, 390])
def test_what_was_started_is_told_at_once_and_in_view(running_page: Any, folder: Path, width: int) -> None:
    (folder / "studies" / "long.toml").write_text(LONG)
    page = running_page
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/studies?of=lab/studies/long.toml")
    page.get_by_text("2,400 runs", exact=True).wait_for()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("region", name="Run").get_by_role("status")).to_contain_text("Started: lab/results/long")
    expect(page.get_by_role("progressbar", name="Progress of long")).to_be_in_viewport()
    page.get_by_role("button", name="Cancel long").click()
    page.get_by_role("list", name="Sweeps").wait_for(state="detached")
    # Nothing is filled any more.
    expect(page.get_by_role("region", name="Run").get_by_role("status")).to_have_text("")


def test_what_is_running_cannot_be_started_again(running_page: Any, folder: Path) -> None:
    (folder / "studies" / "long.toml").write_text(LONG)
    page = running_page
    page.goto("/studies?of=lab/studies/long.toml")
    page.get_by_text("2,400 runs", exact=True).wait_for()
    run = page.get_by_role("region", name="Run")
    run.get_by_role("button", name="Start", exact=True).click()
    expect(run.get_by_role("button", name="Running", exact=True)).to_be_disabled()
    # So it is for whoever comes to the page meanwhile; elsewhere it can be run.
    page.reload()
    page.get_by_text("2,400 runs", exact=True).wait_for()
    expect(run.get_by_role("button", name="Running", exact=True)).to_be_disabled()
    expect(run.get_by_role("status")).to_contain_text("lab/results/long is being filled")
    run.get_by_role("textbox", name="Results go to").fill("lab/results/other")
    expect(run.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    run.get_by_role("textbox", name="Results go to").fill("")
    page.get_by_role("button", name="Pause long").click()
    run.get_by_role("button", name="Resume", exact=True).click()
    page.get_by_role("button", name="Cancel long").click()
    expect(run.get_by_role("button", name="Start", exact=True)).to_be_enabled()


def test_what_another_command_writes_cannot_be_started_until_it_has_ended(running_page: Any, folder: Path) -> None:
    page = running_page
    run = page.get_by_role("region", name="Run")
    with lock(folder / "results" / "queues"):
        page.goto("/studies?of=lab/studies/queues.toml")
        page.get_by_text("24 runs", exact=True).wait_for()
        expect(run.get_by_role("button", name="Running", exact=True)).to_be_disabled()
        expect(run.get_by_role("status")).to_contain_text("Another command is writing to lab/results/queues")
    expect(run.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    expect(run.get_by_role("status")).to_have_text("")


def test_a_new_study_asks_what_its_flows_ask(running_page: Any) -> None:
    running_page.goto("/studies?new=1")
    running_page.get_by_text("60 runs", exact=True).wait_for()
    text = running_page.locator(".cm-content").inner_text()
    # Two flows of a kind in each arm: it is not asked how kinds share a link.
    assert text.count("[[scenario.flows]]") == 1
    assert "count = 2" in text
    assert "share" not in text
    assert 'question = "How much of a link do two flows of Reno carry, and two of CUBIC, as its buffer grows?"' in text
    # Nothing of it is what the linter warns of.
    expect(running_page.get_by_role("region", name="Lint")).to_contain_text("nothing to say")


def test_studies_in_folders_of_tests_are_folded(running_page: Any, folder: Path) -> None:
    (folder / "tests").mkdir()
    shutil.copyfile(folder / "studies" / "queues.toml", folder / "tests" / "fixture.toml")
    running_page.goto("/studies")
    expect(running_page.get_by_text("lab/studies/queues.toml", exact=True)).to_be_visible()
    fixture = running_page.get_by_text("lab/tests/fixture.toml", exact=True)
    expect(fixture).to_have_count(0)
    running_page.get_by_text("In folders of tests (1)").click()
    expect(fixture).to_be_visible()


def test_a_new_study_begins_with_one_that_can_be_run(running_page: Any) -> None:
    running_page.goto("/studies")
    running_page.get_by_role("link", name="New study").click()
    running_page.get_by_text("60 runs", exact=True).wait_for()
    running_page.get_by_role("button", name="Save as").click()
    running_page.wait_for_url("**/studies?of=lab%2Fmy-study.toml")


def test_an_explorer_that_reads_says_how_to_run(page: Any, reading: Explorer) -> None:
    page.goto(f"{reading.url}/studies?of=shipped/hstcp")
    page.get_by_text("sawtooth serve --allow-run").wait_for()
    assert page.get_by_role("button", name="Start").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("path", ["/studies", "/studies?of=lab/studies/queues.toml", "/studies?of=lab/studies/none.toml"])
def test_pages_are_accessible_and_no_wider_than_the_screen(page: Any, path: str, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path)
    page.get_by_text({"/studies": "24 runs · "}.get(path, "24 runs") if "none" not in path else "there is no").first.wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_mistakes_and_sweeps_are_accessible(running_page: Any, folder: Path, width: int, scheme: str) -> None:
    (folder / "studies" / "long.toml").write_text(LONG)
    page = running_page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/studies?of=lab/studies/long.toml")
    page.get_by_text("2,400 runs", exact=True).wait_for()
    page.get_by_role("textbox", name="Results go to").fill("lab/studies")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("ended with an error").wait_for()
    written(page, LONG.replace('cc = "cubic"', 'cc = "cubik"'))
    page.get_by_role("alert").get_by_text("unknown congestion control cubik").wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
