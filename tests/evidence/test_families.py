"""Levels of several claims: the union bound, and sequences that need none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.evidence import each_confidence, first_in_sequence


def test_the_error_is_shared():
    assert each_confidence(0.95, 1) == pytest.approx(0.95)
    assert 1 - each_confidence(0.9, 8) == pytest.approx(0.0125)
    with pytest.raises(InputError, match="family"):
        each_confidence(0.95, 0)


@pytest.mark.parametrize(
    ("passed", "kept"), [([], 0), ([True], 1), ([False, True], 0), ([True, True, False, True], 2)]
)
def test_a_sequence_stops_at_the_first_failure(passed, kept):
    assert first_in_sequence(passed) == kept


@pytest.mark.coverage_claim
def test_a_sequence_has_the_level_of_one_test():
    """Independent tests, each false from the fourth on, at level .1: false alarm 1e-6.

    Any false claim means that the fourth passed; counting every test that passes would err in .41
    of the runs.
    """
    rng = np.random.default_rng(8)
    runs = 4000
    passed = rng.random((runs, 8)) < np.r_[np.full(3, 0.95), np.full(5, 0.1)]
    false = sum(first_in_sequence(row) > 3 for row in passed)
    assert false <= stats.binom.isf(1e-6, runs, 0.1)
    assert passed[:, 3:].any(axis=1).sum() > stats.binom.isf(1e-6, runs, 0.1)
