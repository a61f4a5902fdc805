"""Local differential privacy of a channel."""

import math

import numpy as np
import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


@pytest.mark.states(
    "Chatzikokolakis et al. 2023",
    "Equation 2",
    "Proposition 2",
    "Equation 3",
    "section V-B",
    "section V-C",
)
def test_local_dp_by_enumeration():
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(5), 6)
    ratio = max(rows[a, o] / rows[b, o] for a in range(6) for b in range(6) for o in range(5))
    assert ch.local_dp_epsilon(rows) == pytest.approx(math.log(ratio), rel=1e-13)
    for epsilon in (0.0, 0.3, 1.0, 5.0):
        delta = max(
            sum(max(0, rows[a, o] - math.exp(epsilon) * rows[b, o]) for o in range(5))
            for a in range(6)
            for b in range(6)
        )
        assert ch.local_dp_delta(rows, epsilon) == pytest.approx(delta, rel=1e-12)
    assert ch.local_dp_delta(rows, 0) == pytest.approx(1 - ch.beta_star(rows).value, abs=1e-14)
    assert ch.local_dp_delta(rows, ch.local_dp_epsilon(rows)) < 1e-15


def test_local_dp_with_impossible_outputs():
    rows = [[0.5, 0.5, 0.0], [0.5, 0.3, 0.2]]
    assert ch.local_dp_epsilon(rows) == math.inf
    assert ch.local_dp_delta(rows, 1e4) == pytest.approx(0.2)
    profile = ch.local_dp_profile(rows)
    assert profile.delta[-1] == pytest.approx(0.2)
    assert list(profile.to_frame().columns) == ["epsilon", "delta"]
    with pytest.raises(InputError, match="at least 0"):
        ch.local_dp_profile(rows, [-1.0])
    import matplotlib.pyplot as plt

    assert profile.plot().get_xlabel() == "epsilon"
    plt.close("all")
