"""From how many attributes on nobody comes near a row."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.profiles.closed_forms.average import (
    LEAST,
    dimensions,
    disagreement,
    limit_given_rows,
    places,
)
from narcissus.success.relations import Hamming


def test_floors_are_those_of_the_number_that_is_meant():
    assert [places(0.29, 100), places(Fraction(1, 3), 3), places(0.07, 100)] == [29, 1, 7]


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
def test_disagreement_by_its_sum():
    for n in range(1, 40):
        direct = Fraction(sum(min(c, n - c) for c in range(n + 1)), n * (n + 1))
        assert disagreement(n) == direct


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5", "Definition 4.1")
def test_the_tail_by_its_sum_and_known_rows_leave_fewer():
    for n, d, gamma in ((10, 100, 0.04), (7, 60, 0.1), (2, 5, 0.0), (40, 80, Fraction(1, 8))):
        for known in range(n - 1):
            q = disagreement(n - known)
            tail = sum(
                math.comb(d, i) * q**i * (1 - q) ** (d - i) for i in range(places(gamma, d) + 1)
            )
            exact = min(1, (n - known) * float(tail))
            assert limit_given_rows(n, d, gamma, known) == pytest.approx(exact, rel=1e-10)
        assert limit_given_rows(n, d, gamma, n - 1) == 1.0
    assert limit_given_rows(1, 5, 0.0) == 1.0
    assert limit_given_rows(100, 40_000, 0.04) == 100 * LEAST  # no tail is 0


TABLE = {
    0.04: {10: (95, 104), 20: (93, 102), 100: (96, 104), 1000: (112, 112), 10_000: (121, 129)},
    0.1: {10: (246, 253), 20: (226, 232), 100: (219, 231), 1000: (248, 254), 10_000: (278, 284)},
    0.2: {
        10: (6184, 6236), 20: (3399, 3441), 100: (2469, 2501), 1000: (2589, 2616),
        10_000: (2884, 2916),
    },
}  # fmt: skip
"""The first, and all later, attributes at which delta is 1e-6: by gamma and rows."""


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
@pytest.mark.parametrize(("gamma", "n"), [(g, n) for g, row in TABLE.items() for n in row])
def test_first_and_all_later_attributes(n, gamma):
    assert dimensions(n, gamma, 1e-6) == TABLE[gamma][n]
    if gamma < 0.2:  # one by one, beyond what the search looked at
        good = [limit_given_rows(n, d, gamma) <= 1e-6 for d in range(1, 700)]
        first, later = good.index(True) + 1, len(good) - good[::-1].index(False) + 1
        assert (first, later) == TABLE[gamma][n]


def test_a_share_that_no_float_holds_is_meant_as_the_fraction():
    """One sixth of 6 places is one, as the relation counts."""
    for d in (6, 12, 300):
        same = Fraction(1, 6)
        assert limit_given_rows(9, d, 1 / 6) == limit_given_rows(9, d, same)
    assert dimensions(9, 1 / 6, 1e-3) == dimensions(9, Fraction(1, 6), 1e-3)
    rng = np.random.default_rng(0)
    for gamma, d in ((0.29, 100), (1 / 6, 6), (0.07, 100), (35 / 2959, 2959)):
        k = places(gamma, d)
        data, z = np.zeros((1, 1, d), dtype=np.uint8), np.zeros((1, d), dtype=np.uint8)
        for off in (k, k + 1):
            z[0, :off] = 1
            assert Hamming(gamma).holds(data, z, rng)[0] == (off == k)


def test_no_place_may_differ_and_too_many_may():
    first, later = dimensions(5, 0.0, 1e-9)
    assert first == later
    assert limit_given_rows(5, first, 0.0) <= 1e-9 < limit_given_rows(5, first - 1, 0.0)
    with pytest.raises(InputError, match=r"below 0\.2 for n = 5"):
        dimensions(5, 0.2, 1e-6)
