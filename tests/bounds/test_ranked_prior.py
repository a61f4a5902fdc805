"""Groups of values: few numbers that are never easier to limit than the prior itself."""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest

from narcissus.bounds.one_target import optimum, profile_cost
from narcissus.bounds.threat import spread
from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.priors import Zipf

MODULE = sys.modules["narcissus.bounds.threat"]  # the room has a function of that name


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


GUARANTEES = (PureDP(2.0), ApproximateDP(5.0, 0.01), GaussianDP(2.0))


@pytest.mark.parametrize("s", [0.3, 1.0, 1.7])
def test_coarse_groups_are_above_the_prior_and_fine_ones_come_near(monkeypatch, s):
    """With 16 single values and groups that double."""
    law = Zipf(s, 3000)
    true = {g: float(optimum(listed(law), g)[0]) for g in GUARANTEES}
    monkeypatch.setattr(MODULE, "SINGLE", 16)
    found = {}
    for growth in (2.0, 1.1):
        monkeypatch.setattr(MODULE, "_GROWTH", growth)
        masses, counts = spread.__wrapped__(law)
        assert 0.99 * law.n <= float(counts.sum()) <= law.n * (1 + 1e-9)
        for guarantee in GUARANTEES:
            found[growth, guarantee] = float(optimum(masses, guarantee, counts=counts)[0])
    for guarantee, truth in true.items():
        assert truth - 1e-8 <= found[1.1, guarantee] <= found[2.0, guarantee] + 1e-9
        assert found[1.1, guarantee] <= truth * (1 + 1e-2)
    assert found[2.0, GUARANTEES[2]] > true[GUARANTEES[2]] + 1e-6


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("epsilon", [0.3, 1.5, 4.0])
def test_its_multipliers_are_multipliers_of_the_prior(monkeypatch, guarantee, epsilon):
    """A value between those of its group gets a mixture of theirs: the same sum, no more cost."""
    law = Zipf(0.8, 500)
    monkeypatch.setattr(MODULE, "SINGLE", 8)
    monkeypatch.setattr(MODULE, "_GROWTH", 3.0)
    masses, counts = spread.__wrapped__(law)
    base, cost = (float(part[0]) for part in profile_cost(masses, guarantee, epsilon, counts))

    def multiplier(mass):
        return np.clip((mass - np.exp(-epsilon) * base) / -np.expm1(-epsilon), 0.0, mass)

    assert float((counts * multiplier(masses)).sum()) == pytest.approx(base, abs=1e-12)
    true = listed(law)
    mixed = multiplier(true)
    edges = [8, 24, 72, 216, 500]
    for a, b in pairwise(edges):
        ends = true[[a, b - 1]]
        share = (true[a:b] - ends[1]) / (ends[0] - ends[1])
        mixed[a:b] = share * multiplier(ends)[0] + (1 - share) * multiplier(ends)[1]
    assert mixed.sum() == pytest.approx(base, abs=1e-12)
    left = true - mixed
    paid = left > 0
    level = np.log(base - mixed[paid]) - np.log(left[paid])
    assert float((left[paid] * guarantee.profile(level)).sum()) <= cost + 1e-12
