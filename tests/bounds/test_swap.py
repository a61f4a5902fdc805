"""The swap bound against the exact optimum."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import certify, swap_program, swap_tail, threat
from narcissus.guarantees import ApproximateDP


@pytest.mark.states("Narcissus theory", "4.3")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_swap_bound_is_exact_where_all_is_symmetric(n):
    rng = np.random.default_rng(n)
    cases = [([0.5, 0.5], np.eye(2), 0.5, 0.5)]
    if n < 3:
        cases += [
            ([1 / 3] * 3, np.eye(3), 1 / 3, 1 / 3),
            ([1 / 3] * 3, 1 - np.eye(3), 2 / 3, 1 / 3),
        ]
    for prior, success, p, kappa in cases:
        for _ in range(6):
            epsilon, delta = float(rng.uniform(0, 3)), float(rng.choice([0, 0.001, 0.02]))
            guarantee = ApproximateDP(epsilon, delta)
            for v in range(1, n + 1):
                value = float(swap_tail(n, p, epsilon, delta, v, inseparable=kappa))
                assert certify(value, [prior] * n, guarantee, v, success).exact
                even = threat(prior=p, targets=n, inseparable=kappa)
                program = swap_program(even, guarantee, v)
                assert program == pytest.approx(value, abs=1e-9)
