"""Groups of values: few numbers that are never easier to limit than the prior itself."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import ranked_prior
from narcissus.bounds.one_target import optimum, profile_cost
from narcissus.bounds.ranked_prior import spread
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.priors import Zipf


def listed(law):
    mass = np.arange(1, law.n + 1, dtype=float) ** -law.s
    return mass / mass.sum()


@pytest.mark.parametrize(
    "law", [Zipf(1.1, 10**9), Zipf(0.0, 10**12), Zipf(3.0, 10**15), Zipf(2.2, 4098), Zipf(1, 7)]
)
def test_mass_and_number_of_values_stay(law):
    masses, counts = spread(law)
    assert masses.shape == counts.shape
    assert masses.shape[1] < 20_000
    assert float((masses * counts).sum()) == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(masses[0]) <= 1e-12 * masses[0, :-1]).all()
    assert (counts >= 1).all()
    assert masses[0, 0] == pytest.approx(law.probability(1), rel=1e-9)
    if law.s < 2:  # beyond, what is left in the tail is rounding
        assert float(counts.sum()) == pytest.approx(law.n, rel=1e-6)


@pytest.mark.parametrize("s", [0.3, 1.0, 1.7])
def test_coarse_groups_are_above_the_prior_and_fine_ones_come_near(monkeypatch, s):
    """With 16 single values and groups that double, by whatever multipliers the bound takes."""
    law, guarantees = Zipf(s, 3000), (PureDP(2.0), ApproximateDP(5.0, 0.01), GaussianDP(2.0))
    true = listed(law)
    monkeypatch.setattr(ranked_prior, "SINGLE", 16)
    found = {}
    for growth in (2.0, 1.2, 1.1):
        monkeypatch.setattr(ranked_prior, "_GROWTH", growth)
        masses, counts = spread.__wrapped__(law)
        assert float(counts.sum()) == pytest.approx(law.n, rel=1e-6)
        for guarantee in guarantees:
            found[growth, guarantee] = float(optimum(masses, guarantee, counts=counts)[0])
            for epsilon in (0.0, 0.5, 3.0):
                sums = [
                    sum(float(part[0]) for part in profile_cost(*asked))
                    for asked in (
                        (masses, guarantee, epsilon, counts),
                        (true, guarantee, epsilon),
                    )
                ]
                assert sums[0] >= sums[1] - 1e-9
    for guarantee in guarantees:
        truth = float(optimum(true, guarantee)[0])
        coarse, _, fine = (found[growth, guarantee] for growth in (2.0, 1.2, 1.1))
        assert truth - 1e-8 <= fine <= coarse + 1e-9
        assert fine <= truth * (1 + 1e-2)
    assert found[2.0, guarantees[2]] > float(optimum(true, guarantees[2])[0]) + 1e-6
