"""The same scenario in a virtual machine with the distribution's cloud kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from sawtooth import doctor
from sawtooth.backends import qemu, uml
from sawtooth.errors import BackendUnavailable

from .test_uml import busy_host, tree

GUEST = doctor.qemu_finding(fetch=True)
pytestmark = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")


@pytest.mark.xdist_group("real time")
def test_virtual_time_does_not_follow_the_load_of_the_host() -> None:
    scenarios = [tree("2 s", "1 MB", sample="100 ms", cc=f"kernel:{name}") for name in ("reno", "cubic", "yeah")]
    once = qemu.run_batch(scenarios, [1, 2, 3])
    assert not once.errors
    with busy_host():
        again = qemu.run_batch(scenarios, [1, 2, 3])
    assert once.tables["flows"]["cc"].to_list() == ["reno", "cubic", "yeah"]
    assert once.tables["flows"]["delivered_bytes"].to_list() == [1_000_000] * 3
    for name in ("flows", "links", "series"):
        assert once.tables[name].equals(again.tables[name]), name


@pytest.mark.skipif(not doctor.guest_finding().ok, reason="needs user-mode Linux, too")
def test_two_kinds_of_guests_agree() -> None:
    scenario = tree("2 s", "1 MB")
    times = [backend.run_batch([scenario], [1]).tables["flows"]["completion_ns"][0] for backend in (uml, qemu)]
    # 1 MB takes 0.93 s. The kernels differ in their ticks (100 and 250 Hz), and the emulated processor needs time for each packet.
    assert abs(times[0] - times[1]) < 0.02e9


def test_a_machine_without_the_memory_to_boot_shows_its_console() -> None:
    batch = qemu.run_batch([tree(kernel={"memory": "24 MiB"})], [1])
    assert batch.errors[0].startswith("the guest of `qemu` did not boot; its console ended with: ")
    assert batch.errors[0].endswith("(it had 24 MiB of memory; 128 MiB suffice for a boot)")


@pytest.mark.long
@pytest.mark.xdist_group("real time")
def test_real_time_gives_a_guest_several_processors() -> None:
    batch = qemu.run_batch([tree("10 s", kernel={"time": "real", "cpus": 2, "memory": "256 MiB"})], [1])
    assert not batch.errors
    assert batch.tables["flows"]["delivered_bytes"].to_list() == [100_000]
    (entry,) = qemu.provenance([tree(kernel={"time": "real", "cpus": 2})])
    assert (entry["time"], entry["cpus"], entry["accelerator"]) == ("real", 2, "tcg" if qemu.kvm_problem() else "kvm")


def test_virtual_time_refuses_several_processors() -> None:
    with pytest.raises(BackendUnavailable) as raised:
        qemu.run_batch([tree(kernel={"cpus": 2})], [1])
    assert str(raised.value) == (
        "error: 2 processors are not possible in virtual time: QEMU stands still with more than one\n"
        'hint: set `kernel.time = "real"`, or `kernel.cpus = 1`'
    )


def test_a_built_kernel_is_refused() -> None:
    with pytest.raises(BackendUnavailable, match="is a kernel for user-mode Linux"):
        qemu.run_batch([tree(kernel={"image": "exact"})], [1])


def test_without_the_package_the_error_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendUnavailable) as raised:
        qemu.run_batch([tree()], [1])
    assert str(raised.value) == (
        "error: QEMU is not installed\nhint: install the package qemu-system-x86; `sawtooth doctor` shows what is there"
    )
