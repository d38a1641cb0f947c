"""What docs/validation/theory.md holds the simulator against: its formulas give the numbers that their papers print, and what it states holds."""

from __future__ import annotations

import math
import sys

import pytest

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "bench/theory"))

import formulas


def test_the_constants_of_the_square_root_law_are_those_of_mathis_and_ott() -> None:
    # sqrt(3/2) and sqrt(3/4); 1.3098 (Ott, Kemperman and Mathis 1996).
    assert formulas.periodic_constant(1) == pytest.approx(1.2247, abs=5e-5)
    assert formulas.periodic_constant(2) == pytest.approx(0.8660, abs=5e-5)
    assert formulas.random_constant(1) == pytest.approx(1.3098, abs=5e-5)
    assert formulas.random_constant(2) == pytest.approx(1.3098 / math.sqrt(2), abs=5e-5)


@pytest.mark.parametrize(
    ("p", "rtt", "cubic", "highspeed"),
    # RFC 8312 §5.1, Tables 1 and 2, C = 0.4; RFC 9438 §5.1 has the same.
    [(1e-4, 0.1, 187, 263), (1e-5, 0.1, 1054, 1795), (1e-6, 0.1, 5926, 12_279), (1e-7, 0.01, 5926, 83_981)],
)
def test_response_functions_are_those_of_the_rfcs_tables(p: float, rtt: float, cubic: float, highspeed: float) -> None:
    assert formulas.cubic(p, rtt) == pytest.approx(cubic, abs=0.5)
    # The table has 0.12 / p^0.835, RFC 3649's rounding of the line that is computed here: 1.2 % at most.
    assert formulas.highspeed(p) == pytest.approx(highspeed, rel=0.012)


def test_padhyes_approximation_is_near_the_model_where_losses_are_rare() -> None:
    # Padhye et al. 1998 §2.3: both end in sqrt(3 / (2 b p)) as p goes to 0.
    for p in (1e-5, 1e-6):
        limit = formulas.aimd(formulas.periodic_constant(2), p)
        assert formulas.padhye(p, 0.1, 1.0) == pytest.approx(limit, rel=0.02)
        assert formulas.padhye_short(p, 0.1, 1.0) == pytest.approx(limit, rel=0.02)


def test_queues_of_one_size_wait_half_as_long_as_exponential_ones() -> None:
    # M/M/1 at load 0.5: the service itself; M/D/1: half of it.
    assert formulas.pollaczek_khinchine(0.5, 1.0, 2.0) == 1.0
    assert formulas.pollaczek_khinchine(0.5, 1.0, 1.0) == 0.5
    # M/M/1/1 is Erlang's loss system with one server: r / (1 + r).
    assert formulas.blocked(0.5, 1) == pytest.approx(0.5 / 1.5)
    # The median wait at load 0.5 is 0: half of the packets find nobody.
    assert formulas.exponential_wait_quantile(0.5, 0.5, 1.0) == 0.0


def test_everything_stated_on_the_page_holds() -> None:
    page = (ROOT / "docs/validation/theory.md").read_text(encoding="utf-8")
    claims = page[page.index("| What |") : page.index("![")].splitlines()[2:]
    rows = [claim for claim in claims if claim]
    assert len(rows) >= 20
    assert all(row.endswith("| yes |") for row in rows)
