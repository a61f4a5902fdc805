"""Proposition B.1 of 001: attained by randomized response, within its condition and not beyond."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus_papers import ITEMS, Given
from narcissus_papers.swanberg.proposition_b1 import (
    bayes_guess,
    enumerated,
    priors,
    success,
)


@pytest.mark.states("Swanberg et al. 2025", "Proposition B.1")
def test_all_claims_hold():
    made = ITEMS["001/statement-proposition-b.1"].make(Given())
    assert made.verdict == "agrees"
    assert made.shown == "checked"
    attained, theorem = (line.y for line in made.panels[0].lines[:2])
    apart = np.subtract(theorem, attained)
    edge = np.e / (1 + np.e)
    inside = np.array(made.panels[0].lines[0].x) <= edge
    np.testing.assert_allclose(apart[inside], 0, atol=1e-12)
    assert (apart[~inside] > 1e-3).all()


@pytest.mark.states("Swanberg et al. 2025", "Proposition B.1")
def test_two_records_by_hand():
    """Uniform bits at odds 3: each is right with probability 3/4, given any release."""
    found = enumerated(np.array([0.5, 0.5]), np.log(3), 2)
    assert found.says_what_it_sees
    assert found.apart < 1e-14
    assert success(np.array([0.5, 0.5]), np.log(3)) == pytest.approx((0.75, 0.75))
    # Outside: the likelier value is said whatever is seen, and the theorem grants odds of 27.
    assert success(np.array([0.9, 0.1]), np.log(3)) == pytest.approx((0.9, 27 / 28))
    assert not enumerated(np.array([0.9, 0.1]), np.log(3), 1).says_what_it_sees


def test_priors_meet_the_condition_and_touch_its_edge():
    found = priors(3, 1.0)
    ratios = [prior.max() / prior.min() for prior in found]
    assert max(ratios) == pytest.approx(np.e)
    assert min(ratios) == 1.0
    for prior in found:
        assert prior.sum() == pytest.approx(1)


def test_of_equals_what_is_seen_is_said():
    channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    assert bayes_guess(np.array([0.75, 0.25]), channel).tolist() == [0, 1]
    assert bayes_guess(np.array([0.76, 0.24]), channel).tolist() == [0, 0]
