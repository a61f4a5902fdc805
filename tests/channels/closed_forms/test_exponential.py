"""The exponential mechanism."""

import pytest

from narcissus import channels as ch
from narcissus.errors import InputError


def test_exponential_mechanism_is_private():
    import numpy as np

    rng = np.random.default_rng(0)
    mechanism = ch.Exponential(rng.normal(size=(6, 9)), 1.5)
    assert mechanism.local_epsilon <= 1.5 + 1e-12
    assert mechanism.beta_star >= ch.from_local_dp(mechanism.local_epsilon).value - 1e-12
    with pytest.raises(InputError, match="finite"):
        ch.Exponential([[0, np.inf], [0, 1]], 1)
