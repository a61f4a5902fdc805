"""The count of the later version: resilient for every rate, not private."""

from __future__ import annotations

import math

import numpy as np
import pytest

from narcissus_papers.cohen import scaling

NUMBER = "Appendix A"


@pytest.mark.states("Cohen et al. 2025", "Appendix A")
def test_all_claims_hold_but_for_two_remarks(says):
    says(NUMBER, "cutting the edges is necessary", "n >= 4 (gamma^2", paper="000")


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_slope_bound_covers_all_rates(epsilon):
    """Rates between the coarse grid's are below the bound, and it is not far above."""
    limit = scaling.at_most(30, epsilon, 40)
    fine = max(scaling.uncut(30, p, epsilon) for p in np.linspace(0, 1, 1001))
    assert fine <= limit
    step = 1e-4
    slopes = [
        abs(scaling.uncut(30, p + step, epsilon) - scaling.uncut(30, p, epsilon)) / step
        for p in np.linspace(0, 1 - step, 400)
    ]
    assert max(slopes) <= 1 + math.exp(epsilon)
    assert limit <= fine + (1 + math.exp(epsilon)) / 80 + 1e-12


def test_the_formula_is_the_exact_profile():
    for rate in (0.01, 0.3, 0.5):
        assert scaling.uncut(50, rate, 1.0) == pytest.approx(
            scaling.exact(50, rate, 0.0), abs=1e-12
        )


WRONG = [
    ("uncut", lambda f: lambda *a: 3 * f(*a)),
    ("exact", lambda f: lambda *a: f(*a) + 1e-3),
    ("published_cut", lambda f: lambda e, d, n: (f(e, d, n)[0], 0.01)),
    ("at_most", lambda f: lambda *a: f(*a) + 0.2),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_claim_fails_where_something_is_wrong(spoiled, monkeypatch, name, wrong):
    monkeypatch.setattr(scaling, "SETTINGS", [(1.0, 0.01)])
    monkeypatch.setattr(scaling, "for_every_rate", list)
    assert spoiled(monkeypatch, NUMBER, scaling, name, wrong, paper="000")


MISTAKEN = [
    ("every_rate", lambda f: lambda tau, **k: f(tau + 0.01, **k)),
    ("beyond_two_values", lambda f: lambda cases: f(1) + 1e-9),
]


@pytest.mark.parametrize(("name", "wrong"), MISTAKEN)
def test_a_claim_about_every_rate_fails_where_something_is_wrong(monkeypatch, name, wrong):
    monkeypatch.setattr(scaling, name, wrong(getattr(scaling, name)))
    assert not all(one.holds for one in scaling.for_every_rate())
