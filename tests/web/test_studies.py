"""Studies as pages get them: which there are, what the command line says of a text, and saving; errors in its words."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sawtooth.cli import next as next_
from sawtooth.results.lock import lock
from sawtooth.study import shipped
from sawtooth.web import studies
from tests.web.conftest import STUDY


def entry(client: TestClient, address: str) -> dict[str, Any]:
    return next(each for each in client.get("/api/studies").json()["studies"] if each["address"] == address)


def checked(client: TestClient, text: str, of: str = "lab/studies/queues.toml", **more: Any) -> dict[str, Any]:
    answer = client.post("/api/studies/check", json={"of": of, "text": text, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(answer: Any, words: str) -> None:
    assert answer.status_code in (400, 403)
    assert words in answer.json()["error"]["message"]


def test_studies_that_come_along_and_own_ones_are_listed_with_what_was_run_of_them(client: TestClient) -> None:
    own = entry(client, "lab/studies/queues.toml")
    assert (own["name"], own["question"], own["state"]) == ("queues", "Does a short queue cost goodput?", "done")
    assert [(each["address"], each["done"], each["planned"], each["same"]) for each in own["results"]] == [
        ("lab/results/queues", 24, 24, True)
    ]
    shipped = entry(client, "shipped/gallery/l4s")
    assert shipped["state"] == "never run"
    assert shipped["question"]
    size = client.get("/api/studies/size", params={"of": "lab/studies/queues.toml"}).json()
    assert (size["runs"], size["cells"], size["problem"]) == (24, 3, None)
    assert size["deliveries"] > 1000
    assert size["times"] == 1
    # Of replicates until a rule is met the fewest are planned: 10 to 200 in each cell.
    incast = client.get("/api/studies/size", params={"of": "shipped/gallery/incast"}).json()
    assert (incast["runs"], incast["times"]) == (180, 20)


def test_a_study_with_mistakes_is_listed_and_hides_no_other(writing: TestClient, folder: Path) -> None:
    (folder / "studies" / "broken.toml").write_text("[scenario\n")
    (folder / "studies" / "bytes.toml").write_bytes(b"scenario = \xff")
    assert entry(writing, "lab/studies/broken.toml")["problem"]["place"]["line"] == 1
    assert entry(writing, "lab/studies/bytes.toml")["problem"]["message"]
    assert entry(writing, "lab/studies/queues.toml")["state"] == "done"


def test_what_cannot_be_read_is_listed_with_what_is_wrong(writing: TestClient, folder: Path) -> None:
    studies = folder / "studies"
    files = {
        "cut.toml": STUDY.replace("[scenario]\n", "[scen\n", 1).replace("[[scenario.flows]]", "flows =").encode(),
        "wide.toml": STUDY.encode("utf-16"),
        "bare.toml": b'question = "Where is it?"\nrepeat = 3\n',
    }
    for name, content in files.items():
        (studies / name).write_bytes(content)
    (studies / "link.toml").symlink_to(studies / "nowhere.toml")
    (studies / "away.toml").symlink_to("/etc/hostname")
    os.mkfifo(studies / "pipe.toml")
    (studies / "package.toml").write_text('name = "package"\nversion = "1"\n')
    cut = entry(writing, "lab/studies/cut.toml")
    place = cut["problem"]["place"]
    assert (place["name"], place["line"], place["column"]) == ("lab/studies/cut.toml", 6, 6)
    assert cut["isText"]
    assert writing.get("/api/studies/text", params={"of": "lab/studies/cut.toml"}).json()["canSave"]
    wide = entry(writing, "lab/studies/wide.toml")
    assert wide["problem"]["message"].endswith("wide.toml is no text: byte 0 is not UTF-8") and not wide["isText"]
    assert "scenario" in entry(writing, "lab/studies/bare.toml")["problem"]["message"]
    for name in ("link", "away"):
        each = entry(writing, f"lab/studies/{name}.toml")
        assert (
            each["problem"]["message"].startswith(f"`lab/studies/{name}.toml` is a link that leads nowhere, or out of")
            and not each["isText"]
        )
    assert entry(writing, "lab/studies/pipe.toml")["problem"]["message"].endswith("pipe.toml is a pipe")
    listed = [each["address"] for each in writing.get("/api/studies").json()["studies"]]
    assert "lab/studies/package.toml" not in listed
    # `sawtooth` alone looks at the same files.
    assert any("sawtooth lint studies/away.toml" in line for line in next_.advice(folder))


def test_a_study_that_may_not_be_read_is_listed_until_it_may(writing: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is forbidden to the one who runs tests in a container: the system is asked for it by a name of its own."""
    path = folder / "studies" / "queues.toml"
    opened, opens = Path.open, os.open

    def refuse(name: Any) -> None:
        if str(name) == str(path) and not path.stat().st_mode & 0o400:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def open_path(self: Path, *words: Any, **more: Any) -> Any:
        refuse(self)
        return opened(self, *words, **more)

    def open_handle(name: Any, *words: Any, **more: Any) -> int:
        refuse(name)
        return opens(name, *words, **more)

    monkeypatch.setattr(Path, "open", open_path)
    monkeypatch.setattr(os, "open", open_handle)
    path.chmod(0o200)
    found = entry(writing, "lab/studies/queues.toml")
    assert found["problem"]["message"].endswith("queues.toml: Permission denied") and not found["isText"]
    path.chmod(0o600)
    assert entry(writing, "lab/studies/queues.toml")["problem"] is None


def test_what_comes_along_is_listed_once_in_a_clone_too(asked: Callable[..., TestClient]) -> None:
    listed = [each["address"] for each in asked(shipped.DIRECTORY).get("/api/studies").json()["studies"]]
    assert listed == [f"shipped/{name}" for name in shipped.studies()]


def test_studies_in_folders_of_tests_are_told_as_such(writing: TestClient, folder: Path) -> None:
    (folder / "tests").mkdir()
    (folder / "tests" / "fixture.toml").write_text(STUDY)
    assert entry(writing, "lab/tests/fixture.toml")["tests"]
    assert not entry(writing, "lab/studies/queues.toml")["tests"]


def test_results_that_lost_their_manifest_are_told_and_their_text_is_no_study(writing: TestClient, folder: Path) -> None:
    (folder / "results" / "queues" / "manifest.json").unlink()
    studies = [entry["address"] for entry in writing.get("/api/studies").json()["studies"]]
    assert [address for address in studies if not address.startswith("shipped/")] == ["lab/studies/queues.toml"]
    (entry,) = writing.get("/api/results").json()["results"]
    assert entry["error"]["message"].endswith("is missing or damaged")


def test_a_text_is_planned_as_the_command_line_plans_it(client: TestClient) -> None:
    plan = checked(client, STUDY.replace("repeat = 4", "repeat = 6"))["plan"]
    assert (plan["runs"], plan["cells"]) == (36, 3)
    assert plan["size"] == "3 cells x 2 arms x 6 replicates = 36 runs"
    assert plan["axes"] == {"limit": ["0.25 bdp", "1 bdp", "4 bdp"]}


def test_a_mistake_has_the_words_and_the_place_of_the_command_line(client: TestClient) -> None:
    found = checked(client, STUDY.replace('cc = "cubic"', 'cc = "cubik"'))
    assert found["plan"] is None
    place = found["problem"]["place"]
    assert place["text"][place["column"] - 1 : place["end"] - 1] == '"cubik"'
    assert place["name"] == "lab/studies/queues.toml"
    assert found["problem"]["message"] == "unknown congestion control `cubik`"
    assert "did you mean `cubic`?" in found["problem"]["hint"]


def test_lint_is_told_with_its_places(client: TestClient) -> None:
    found = checked(client, STUDY.replace("repeat = 4", "repeat = 2"))
    assert found["lint"]
    assert all(each["rule"].startswith("SW") and each["message"] for each in found["lint"])


def test_a_text_names_files_of_the_folders_only(client: TestClient) -> None:
    published = STUDY + '\n[[references]]\nname = "published"\nsource = "somewhere"\nfile = "FILE"\n'
    found = checked(client, published.replace("FILE", "/etc/passwd"))
    assert "which is elsewhere" in found["problem"]["message"]
    assert "root:" not in str(found)
    found = checked(client, published.replace("FILE", "../../../published.csv"))
    assert "which is elsewhere" in found["problem"]["message"]
    trace = STUDY.replace('rate = "5 Mbit/s"', 'trace = { file = "/etc/passwd" }')
    found = checked(client, trace)
    assert "which is elsewhere" in found["problem"]["message"]
    assert "root:" not in str(found)
    found = checked(client, published.replace("FILE", "published.csv"))
    assert "which is elsewhere" not in found["problem"]["message"]


def test_an_explorer_that_reads_writes_nothing_and_runs_nothing(client: TestClient) -> None:
    for path in ("/api/studies/save", "/api/sweeps/start", "/api/sweeps/pause", "/api/sweeps/resume", "/api/sweeps/cancel"):
        answer = client.post(path, json={"study": "lab/studies/queues.toml", "of": "lab/studies/new.toml", "text": STUDY, "number": 1})
        assert answer.status_code == 403, path
        assert "--allow-run" in answer.json()["error"]["hint"]


def test_a_text_is_saved_over_what_was_opened_only(writing: TestClient, folder: Path) -> None:
    path = folder / "studies" / "queues.toml"
    opened = writing.get("/api/studies/text", params={"of": "lab/studies/queues.toml"}).json()
    assert opened["canSave"]
    mine = {"of": "lab/studies/queues.toml", "text": opened["text"] + "# mine\n", "digest": opened["digest"]}
    saved = writing.post("/api/studies/save", json=mine).json()
    assert path.read_text().endswith("# mine\n")
    path.write_text(STUDY + "# theirs\n")
    refused(writing.post("/api/studies/save", json=mine | {"digest": saved["digest"]}), "has been changed since")
    assert path.read_text().endswith("# theirs\n")
    refused(writing.post("/api/studies/save", json={"of": "lab/studies/queues.toml", "text": "x"}), "is there already")
    path.unlink()
    refused(writing.post("/api/studies/save", json=mine), "has been changed since")


@pytest.mark.parametrize(
    "address",
    [
        "shipped/hstcp",
        "shipped/mine.toml",
        "lab/../mine.toml",
        "mine.toml",
        "lab/.mine.toml",
        "lab/mine.txt",
        "lab/none/mine.toml",
        "lab/out/m.toml",
        7,
    ],
)
def test_nothing_is_written_elsewhere(writing: TestClient, folder: Path, address: Any) -> None:
    (folder / "out").symlink_to("/tmp")
    answer = writing.post("/api/studies/save", json={"of": address, "text": STUDY})
    assert answer.status_code == 400
    assert not Path("/tmp/m.toml").exists()
    assert not (folder.parent / "mine.toml").exists()


def test_a_folder_that_cannot_be_written_is_told(writing: TestClient) -> None:
    refused(writing.post("/api/studies/save", json={"of": "lab/studies/queues.toml/new.toml", "text": STUDY}), "cannot write")


def test_a_link_is_not_written_through(writing: TestClient, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("x")
    (folder / "linked.toml").symlink_to(tmp_path / "elsewhere.toml")
    refused(writing.post("/api/studies/save", json={"of": "lab/linked.toml", "text": STUDY, "digest": None}), "is a link")
    assert (tmp_path / "elsewhere.toml").read_text() == "x"


@pytest.mark.parametrize("asked", [[], {}, {"text": 3}])
def test_what_is_no_question_is_told(client: TestClient, asked: Any) -> None:
    refused(client.post("/api/studies/check", json=asked), "what is asked")


def test_a_text_with_a_character_of_code_0_is_told_with_its_line(client: TestClient) -> None:
    refused(
        client.post("/api/studies/check", json={"text": "a = 1\nb\0", "of": "lab/x.toml"}),
        "line 2 has a character of code 0, which no text has",
    )


def test_an_editor_knows_the_keys_and_the_measures(client: TestClient) -> None:
    words = client.get("/api/studies/words").json()
    assert "scenario" in words["schema"]["properties"]
    assert any(each["name"] == "goodput_bps" for each in words["measures"])


def test_a_study_that_another_command_is_running_is_running(writing: TestClient, folder: Path) -> None:
    assert entry(writing, "lab/studies/queues.toml")["state"] == "done"
    with lock(folder / "results" / "queues"):
        assert entry(writing, "lab/studies/queues.toml")["state"] == "running"
        refused(
            writing.post("/api/sweeps/start", json={"study": "lab/studies/queues.toml"}), "another command is writing to lab/results/queues"
        )
    assert entry(writing, "lab/studies/queues.toml")["state"] == "done"


def test_another_file_is_no_study(writing: TestClient, folder: Path) -> None:
    (folder / "Makefile").write_text("all:\n")
    for address in ("lab/Makefile", "lab/studies"):
        error = writing.get("/api/studies/text", params={"of": address}).json()["error"]
        assert (error["message"], error["hint"]) == (f"`{address}` is no study", "studies are files whose names end in .toml")


def test_what_is_wrong_with_a_listed_study_names_it_by_its_address(writing: TestClient, folder: Path) -> None:
    (folder / "latin.toml").write_bytes(b"scenario = 1\n\xff\xfe")
    answer = writing.get("/api/studies")
    (found,) = (each for each in answer.json()["studies"] if each["address"] == "lab/latin.toml")
    assert found["problem"]["message"] == "lab/latin.toml is no text: byte 13 is not UTF-8"
    assert str(folder) not in answer.text


def test_what_is_said_of_a_text_has_addresses_for_paths(writing: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"message": f"no {folder}/a.csv", "hint": f"see {folder}", "place": None}
    monkeypatch.setattr(studies, "look", lambda *_, **__: {"problem": said, "lint": [said], "plan": None})
    for asked in (
        writing.post("/api/studies/check", json={"of": "lab/new.toml", "text": ""}),
        writing.get("/api/studies/size", params={"of": "lab/studies/queues.toml"}),
    ):
        assert asked.json()["problem"] == {"message": "no lab/a.csv", "hint": "see lab", "place": None}
