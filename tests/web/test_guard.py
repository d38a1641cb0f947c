"""Who may ask an explorer, and what it never gives."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sawtooth.web.app import application
from sawtooth.web.settings import Settings

HOST = "http://127.0.0.1:8321"


@pytest.fixture
def settings(made: Path) -> Settings:
    return Settings([made], port=8321)


def asked(settings: Settings, base: str = HOST) -> TestClient:
    return TestClient(application(settings), base_url=base, follow_redirects=False)


def test_without_the_token_nothing_is_answered(settings: Settings) -> None:
    client = asked(settings)
    for path in ("/", "/api/session", "/api/results", "/static/app.js"):
        answer = client.get(path)
        assert answer.status_code == 401
        assert "sawtooth serve" in answer.text
    assert client.get("/?token=wrong").status_code == 401


def test_the_token_becomes_a_cookie_that_no_script_and_no_other_site_has(settings: Settings) -> None:
    client = asked(settings)
    answer = client.get(f"/results?of=a%26b&token={settings.token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/results?of=a%26b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/api/session").status_code == 200


def test_a_path_of_two_slashes_leads_to_no_other_host(settings: Settings) -> None:
    answer = asked(settings).get(f"{HOST}//elsewhere.example/?token={settings.token}")
    assert answer.headers["location"] == "/elsewhere.example/"


@pytest.mark.parametrize("base", ["http://elsewhere.example:8321", "http://127.0.0.1:8322", "http://127.0.0.1.elsewhere.example:8321"])
def test_another_name_for_this_machine_is_not_answered(settings: Settings, base: str) -> None:
    answer = asked(settings, base).get("/api/session", headers={"Authorization": f"Bearer {settings.token}"})
    assert answer.status_code == 421


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://elsewhere.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
)
def test_pages_of_other_sites_may_not_ask(settings: Settings, headers: dict[str, str]) -> None:
    answer = asked(settings).get("/api/session", headers={"Authorization": f"Bearer {settings.token}", **headers})
    assert answer.status_code == 403


def test_what_changes_something_says_from_where_it_comes(settings: Settings) -> None:
    client = asked(settings)
    client.get(f"/?token={settings.token}")
    assert client.post("/api/results/figure?of=lab/results/queues", json={"metric": "goodput_bps"}).status_code == 403
    answer = client.post(
        "/api/results/figure?of=lab/results/queues", json={"metric": "goodput_bps", "x": "limit", "curves": "arm"}, headers={"Origin": HOST}
    )
    assert answer.status_code == 200


def test_every_answer_has_a_policy_that_lets_nothing_from_elsewhere_in(settings: Settings) -> None:
    client = asked(settings)
    for answer in (client.get("/"), client.get("/results", headers={"Authorization": f"Bearer {settings.token}"})):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "address",
    ["lab/../../etc/passwd", "lab/..", "..", "/etc/passwd", "lab//etc/passwd", "lab/link", "elsewhere/x", "lab/\0", "shipped/../../x", ""],
)
def test_what_is_not_below_the_folders_does_not_exist(folder: Path, address: str) -> None:
    (folder / "link").symlink_to("/etc")
    settings = Settings([folder], port=8321)
    answer = asked(settings).get("/api/results/head", params={"of": address}, headers={"Authorization": f"Bearer {settings.token}"})
    assert answer.status_code == 400
    assert "message" in answer.json()["error"]
    assert "root:" not in answer.text
