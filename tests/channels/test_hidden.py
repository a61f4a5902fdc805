"""How much a pair can leak unnoticed: the second moment, against one counted out by hand."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from narcissus.channels.estimate import hidden_share, second_moment


def counted(shift, shares, number, secrets):
    """Sum the mean product of likelihood ratios over all two hidden pairs and coins."""
    signs = [np.repeat(coins, 2) * np.tile([1, -1], len(shares) // 2)
             for coins in product([1, -1], repeat=len(shares) // 2)]  # fmt: skip
    hidden = [
        {a: shares * (1 + shift * sign), b: shares * (1 - shift * sign)}
        for a, b in combinations(range(secrets), 2)
        for sign in signs
    ]
    total = 0.0
    for one, other in product(hidden, repeat=2):
        total += math.prod(
            float((one[s] * other[s] / shares).sum()) ** number for s in set(one) & set(other)
        )
    return total / len(hidden) ** 2 - 1


@pytest.mark.states("Narcissus theory", "6.10")
@pytest.mark.parametrize("secrets", [2, 3, 4])
@pytest.mark.parametrize(("number", "shift"), [(3, 0.2), (40, 0.02), (40, 0.2)])
def test_it_is_the_second_moment_or_more(secrets, number, shift):
    shares = np.full(6, 1 / 6)
    exact = counted(shift, shares, number, secrets)
    found = second_moment(shift, shares, number, secrets)
    assert exact <= found * (1 + 1e-12)
    if shift < 0.1:
        assert found == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize(
    ("values", "each", "beta", "floor"), [(400, 1_000, 0.9387, 0.80), (200, 500, 0.9129, 0.76)]
)
def test_randomised_response_hides_much(values, each, beta, floor):
    share = hidden_share(np.full(values, 1 / values), each, values)
    assert 0.5 < beta * (1 - share) < floor


def test_more_samples_hide_less_and_continuous_outputs_everything():
    shares = np.full(50, 0.02)
    found = [hidden_share(shares, each, 50) for each in (100, 1_000, 10_000)]
    assert found[0] > found[1] > found[2] > 0
    assert hidden_share(np.full(1_000_000, 1e-6), 50, 2) == pytest.approx(1.0)


def test_only_what_is_moved_is_hidden():
    """Of two outputs both have the smaller one's chance at stake: the rest is in both rows."""
    shares = np.array([0.15, 0.5, 0.05, 0.3])
    assert hidden_share(shares, 0.01, 2) == pytest.approx(0.7)
    for each in (20, 200, 2_000):
        shift = hidden_share(shares, each, 2) / 0.7
        up = shares + shift * np.array([0.05, 0.3, -0.05, -0.3])
        down = shares - shift * np.array([0.05, 0.3, -0.05, -0.3])
        assert 1 - np.minimum(up, down).sum() == pytest.approx(hidden_share(shares, each, 2))
    assert hidden_share(np.ones(1), 100, 2) == 0.0
