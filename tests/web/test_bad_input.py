"""What is wrong from the beginning: a port that another has, a folder that is no dataset, a token that is another's."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from tests.web.conftest import Explorer


def test_a_port_in_use_is_told_without_a_traceback(made: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "sawtooth.cli", "serve", str(made), "--port", str(port), "--no-browser"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"error: cannot listen at port {port}: Address already in use\nhint: another explorer may be at it; choose one with --port N\n"
    )


@pytest.mark.parametrize("address", ["lab/studies", "lab/studies/queues.toml", "lab", "lab/nothing"])
@pytest.mark.parametrize("asked", ["head", "verdicts", "validity", "table"])
def test_a_folder_that_is_no_dataset_is_told(client: TestClient, address: str, asked: str) -> None:
    answer = client.get(f"/api/results/{asked}", params={"of": address, "table": "flows"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert address in error["message"] or "no results" in error["message"]
    assert error["hint"]


def test_a_folder_that_is_no_dataset_is_told_on_the_page(page: Any) -> None:
    page.goto("/results?of=lab/studies")
    expect(page.get_by_role("alert")).to_contain_text("no results")


def test_a_wrong_token_leads_to_no_page(browser: Any, reading: Explorer) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"{reading.url}/?token=wrong")
    assert answer.status == 401
    expect(page.locator("body")).to_contain_text("sawtooth serve")
    context.close()
