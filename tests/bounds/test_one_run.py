"""The published p-values of auditing in one run against the exact optimum."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import THEOREMS, Question, exact_optimum, f_dp_one_run_p_value, threat
from narcissus.guarantees import ApproximateDP, GaussianDP, ProfileCurve

SLACK = 1e-6  # the solver's tolerance


@pytest.mark.states("Narcissus theory", "4.7")
@pytest.mark.parametrize("guesses_made", ["all", "some"])
def test_the_f_dp_recursion_is_not_below_the_optimum(guesses_made):
    """From the same points of a profile; uniform values, exact match."""
    rng = np.random.default_rng(7)
    looser = 0
    for _ in range(24):
        values, targets = int(rng.integers(2, 4)), int(rng.integers(1, 3))
        made = targets if guesses_made == "all" else int(rng.integers(1, targets + 1))
        v = int(rng.integers(1, made + 1))
        mu = float(rng.choice([0.2, 1.0, 2.0]))
        points = np.linspace(0, 2.5 * mu, 3)
        deltas = GaussianDP(mu).profile(points)
        curve = ProfileCurve(tuple(points.tolist()), tuple(deltas.tolist()))
        prior = np.full(values, 1 / values)
        found = exact_optimum([prior] * targets, curve, v, guesses=made, epsilons=points)
        claimed = f_dp_one_run_p_value(targets, made, v, curve, values)
        assert claimed >= found.value - SLACK
        looser += claimed > found.value + 1e-3
    assert 0 < looser < 24 or guesses_made == "some"


def test_the_recursion_is_asked_where_it_applies():
    recursion = THEOREMS["f-dp-one-run"]
    even = threat(values=[0.5, 0.5], targets=2)
    assert recursion.lacks(Question(even, GaussianDP(1.0), 2)) is None
    assert recursion.lacks(Question(even, ApproximateDP(1.0, 1e-3), 2)) is None
    for danger, guarantee in [
        (threat(values=[0.6, 0.4], targets=2), GaussianDP(1.0)),
        (threat(prior=0.5, targets=2), GaussianDP(1.0)),
        (threat(values=[1 / 3] * 3, within=1, targets=2), GaussianDP(1.0)),
        (even, ProfileCurve((0.5, 1.0), (0.1, 0.01))),
        (threat(values=[0.5, 0.5], targets=900), GaussianDP(1.0)),
    ]:
        assert recursion.lacks(Question(danger, guarantee, danger.targets)) is not None
