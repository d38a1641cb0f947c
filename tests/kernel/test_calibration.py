"""Links are as they are configured, measured in real guests; and what a backend cannot reach is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sawtooth import _core, calibration, doctor
from sawtooth.backends import netns
from sawtooth.calibration import Calibration, Point

GUEST = doctor.guest_finding()
needs_a_guest = pytest.mark.skipif(not GUEST.ok, reason=f"{GUEST.what}: {GUEST.detail}; {GUEST.advice}")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@needs_a_guest
def test_the_simulators_link_is_exact_in_virtual_time() -> None:
    made = calibration.measure("uml", rates_bps=(1e7, 1e8), delays_ms=(0, 20), limits=("5 packets", "75000 B"))
    assert not made.errors
    # The guest's clock stands at multiples of 64 to 256 ns; a packet's way through the device and the socket takes a few of them.
    assert all(abs(point.error or 0) < 5_000 for point in made.of("delay"))
    # Over 50 ms one such step at either end.
    assert all(abs(point.relative or 0) < 1e-4 for point in made.of("rate"))
    assert [point.error for point in (*made.of("queue"), *made.of("queue_bytes"))] == [0, 0]
    for point in made.of("transfer"):
        # One packet more or less at either end of what a sample covers.
        assert point.relative == pytest.approx(0, abs=0.01)
        # Packets are packets: none carries more than a segment, whether or not TCP hands several down at once.
        assert 1400 < (point.segment_bytes or 0) <= 1448
    assert {point.gso for point in made.of("transfer")} == {True, False}


@needs_a_guest
def test_the_kernels_link_is_within_what_its_headers_and_timers_cost() -> None:
    made = calibration.measure("uml", "kernel", rates_bps=(1e7, 1e8), delays_ms=(0, 20), limits=("5 packets", "75000 B"))
    assert not made.errors
    # That a token bucket lets a packet go 120 us early is made up for; what remains are steps of the guest's clock, 450 ns as measured.
    assert all(abs(point.error or 0) < 5_000 for point in made.of("delay"))
    # Ethernet's 14 bytes in 1500, 0.93 %, are made up for; half a microsecond of a timer for each packet of 120 us is not.
    assert all(abs(point.relative or 0) < 0.005 for point in made.of("rate"))
    assert [point.error for point in (*made.of("queue"), *made.of("queue_bytes"))] == [0, 0]
    assert all(1400 < (point.segment_bytes or 0) <= 1448 for point in made.of("transfer"))


def keys(rate: str, time: str = "real") -> dict[str, object]:
    scenario = {"duration": "1 s", "links": {"l": {"rate": rate}}, "flows": [{"path": ["l"]}], "kernel": {"time": time}}
    return dict(_core.kernel_settings(json.dumps(scenario)))


def keep(made: Calibration, cache: Path) -> None:
    path = cache / "sawtooth/calibration" / f"{made.backend}-{made.time}-{made.shaper}-{made.release}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(made.to_json()))


def test_a_rate_beyond_what_was_reached_is_said_and_one_within_is_not(cache: Path) -> None:
    points = [Point("transfer", 1e8, 0.999e8), Point("transfer", 1e9, 0.98e9), Point("transfer", 1e10, 1.23e9)]
    keep(Calibration("netns", "simulator", "real", netns.release(), "2026-01-01", points), cache)
    assert calibration.unreachable("netns", keys("1 Gbit/s")) is None
    assert calibration.unreachable("netns", keys("2 Gbit/s", "virtual")) == (
        f"a link of 2 Gbit/s is more than `netns` reached in real time on kernel {netns.release()} when it was calibrated on "
        "2026-01-01, 1.23 Gbit/s: what is measured may be the machine's limit, not TCP's"
    )


def test_nothing_is_said_of_what_was_never_calibrated_or_has_an_infinitely_fast_processor(cache: Path) -> None:
    assert not list(cache.iterdir())
    assert calibration.unreachable("netns", keys("100 Gbit/s")) is None
    assert calibration.unreachable("uml", keys("100 Gbit/s", "virtual")) is None
    assert calibration.unreachable("sim", keys("100 Gbit/s", "virtual")) is None


def test_a_damaged_calibration_is_as_good_as_none(cache: Path) -> None:
    keep(Calibration("netns", "simulator", "real", netns.release(), "2026-01-01", []), cache)
    (path,) = (cache / "sawtooth/calibration").iterdir()
    path.write_text("{")
    assert calibration.last("netns", "simulator", "real") is None
