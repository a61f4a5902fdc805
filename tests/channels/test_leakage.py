"""How estimates are printed."""

import numpy as np


def test_printed_limits_still_hold():
    from narcissus.channels.leakage import rounded

    rng = np.random.default_rng(0)
    for value in [0.0, 1.0, 0.3, 0.7, *rng.random(500)]:
        assert rounded(value, 4, up=False) <= value + 1e-12
        assert rounded(value, 4, up=True) >= value - 1e-12
        assert rounded(value, 4, up=True) - rounded(value, 4, up=False) < 1.0001e-4
