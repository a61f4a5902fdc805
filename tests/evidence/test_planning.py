"""How near limits can come, and how many trials a question takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.evidence import clopper_pearson, mean_limits, narrowest_limits, trials_for


@given(st.integers(1, 500), st.sampled_from([0.5, 0.9, 0.99]))
def test_the_floor_is_met_by_the_exact_limits_of_a_sure_success(n, confidence):
    """Clopper and Pearson at n of n are the best there are: the floor is exactly theirs."""
    low, high = narrowest_limits(1.0, n, confidence=confidence)
    assert low == pytest.approx(clopper_pearson(n, n, confidence=confidence).low, rel=1e-9)
    assert high == 1
    low, high = narrowest_limits(0.0, n, confidence=confidence)
    assert low == 0
    assert high == pytest.approx(clopper_pearson(0, n, confidence=confidence).high, rel=1e-9)


def test_the_floor_is_where_a_hidden_failure_shows_with_half_the_error():
    low, high = narrowest_limits(0.87, 100)
    assert 0.87 - low == pytest.approx(0.0315, abs=5e-5)  # 3.2 points
    assert (low / 0.87) ** 100 == pytest.approx(0.025)  # all values alike though the mean is low
    assert ((1 - high) / 0.13) ** 100 == pytest.approx(0.025)


@given(st.floats(0.01, 1), st.floats(0.001, 0.999), st.sampled_from([0.8, 0.95]))
def test_the_floor_and_its_inverse(mean, part, confidence):
    """With the trials planned for values that are all alike the floor is within the distance."""
    distance = part * mean
    n = trials_for(distance, 0.0, room=mean, confidence=confidence)
    low, _ = narrowest_limits(mean, n, confidence=confidence)
    assert mean - low <= distance * (1 + 1e-9)
    if n > 1:
        before, _ = narrowest_limits(mean, n - 1, confidence=confidence)
        assert mean - before > distance * (1 - 1e-9)


@pytest.mark.parametrize(
    ("people", "chance", "distance"),
    [(1, 0.5, 0.05), (1, 0.9, 0.05), (100, 0.87, 0.03), (100, 0.3, 0.02), (10, 0.6, 0.02)],
)
@pytest.mark.parametrize("upper", [True, False])
def test_the_plan_is_near_what_it_takes(people, chance, distance, upper):
    """The limits at the planned number of trials are .7 to 1.05 times the wanted distance."""
    variance, room = chance * (1 - chance) / people, 1 - chance if upper else chance
    n = trials_for(distance, variance, room=room)
    reach = []
    for seed in range(12):
        values = np.random.default_rng(seed).binomial(people, chance, n) / people
        found = mean_limits(values, people=people)
        reach.append(found.high - found.value if upper else found.value - found.low)
    assert 0.7 * distance < np.mean(reach) < 1.05 * distance


def test_what_no_number_of_trials_could_need():
    assert trials_for(0.5, 0.1, room=0.4) == 1
    for bad in ({"distance": 0.0}, {"variance": -1.0}, {"room": 0.0}):
        with pytest.raises(InputError, match=next(iter(bad))):
            trials_for(**{"distance": 0.1, "variance": 0.1, **bad})
