"""An explorer that is killed is said to be gone, and a page goes on when one is there again."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.conftest import PATIENCE
from tests.web.conftest import serving

SLOW = """
name = "slow"
question = "Is it running still?"
repeat = 4000

[scenario]
duration = "60 s"
stack = "linux"
links.bottleneck = { rate = "50 Mbit/s", delay = "10 ms", queue = { name = "drop_tail", limit = "1 bdp" } }
flows = [{ path = ["bottleneck"], start = "start * 1 s" }]

[draws]
start = { distribution = "uniform", low = "0", high = "1" }
"""


@pytest.mark.xdist_group("real time")
def test_a_killed_explorer_is_gone_and_its_sweep_is_not_called_running(browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "slow.toml").write_text(SLOW)
    with serving(folder, "--allow-run") as explorer:
        context = browser.new_context(base_url=explorer.url)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(explorer.opening)
        page.goto("/studies?of=lab/slow.toml")
        page.get_by_role("button", name="Start", exact=True).click()
        sweeps = page.get_by_role("list", name="Sweeps")
        expect(sweeps).to_contain_text("running", timeout=PATIENCE)
        os.kill(explorer.process.pid, signal.SIGKILL)
        gone = page.get_by_role("alert").filter(has_text="The explorer is gone")
        gone.wait_for()
        expect(sweeps).to_contain_text("the explorer is gone, and this with it")
        expect(sweeps.get_by_role("button", name="Pause", exact=False)).to_have_count(0)
    port = explorer.url.rpartition(":")[2]
    command = [sys.executable, "-m", "sawtooth.cli", "serve", str(folder), "--port", port, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as again:
        assert again.stdout
        other = context.new_page()
        other.goto(again.stdout.readline().strip())
        # The new one knows of no sweep: those of the one before ended with it.
        expect(gone).to_have_count(0, timeout=PATIENCE)
        expect(sweeps).to_have_count(0)
        context.close()
        again.terminate()
