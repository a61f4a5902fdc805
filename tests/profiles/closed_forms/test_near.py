"""From how many attributes on nobody comes near a row."""

from __future__ import annotations

from fractions import Fraction

import pytest

from narcissus.errors import InputError
from narcissus.profiles.closed_forms.near import (
    dimensions,
    disagreement,
    limit_given_rows,
    places,
)


def test_floors_are_those_of_the_number_that_is_meant():
    assert [places(0.29, 100), places(Fraction(1, 3), 3), places(0.07, 100)] == [29, 1, 7]


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
def test_disagreement_by_its_sum():
    for n in range(1, 40):
        direct = Fraction(sum(min(c, n - c) for c in range(n + 1)), n * (n + 1))
        assert disagreement(n) == direct


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5", "Definition 4.1")
def test_no_known_row_is_the_lemma_and_known_rows_leave_fewer():
    for n, d, gamma in ((10, 100, 0.04), (7, 60, 0.1), (1, 5, 0.0)):
        assert limit_given_rows(n, d, gamma) == pytest.approx(limit_given_rows(n, d, gamma))
        for known in range(n):
            assert limit_given_rows(n, d, gamma, known) == pytest.approx(
                limit_given_rows(n - known, d, gamma)
            )


@pytest.mark.states("Kaplan et al. 2025", "Lemma 3.5")
@pytest.mark.parametrize(
    ("n", "gamma", "expected"),
    [
        (10, 0.04, (95, 104)),
        (100, 0.04, (96, 104)),
        (1000, 0.04, (112, 112)),
        (10_000, 0.04, (121, 129)),
        (100, 0.1, (219, 231)),
        (1000, 0.1, (248, 254)),
        (10, 0.2, (6184, 6236)),
        (100, 0.2, (2469, 2501)),
    ],
)
def test_first_and_all_later_attributes(n, gamma, expected):
    assert dimensions(n, gamma, 1e-6) == expected
    if gamma < 0.2:  # one by one, beyond what the search looked at
        good = [limit_given_rows(n, d, gamma) <= 1e-6 for d in range(1, 700)]
        first, later = good.index(True) + 1, len(good) - good[::-1].index(False) + 1
        assert (first, later) == expected


def test_no_place_may_differ_and_too_many_may():
    first, later = dimensions(5, 0.0, 1e-9)
    assert first == later
    assert limit_given_rows(5, first, 0.0) <= 1e-9 < limit_given_rows(5, first - 1, 0.0)
    with pytest.raises(InputError, match=r"below 0\.2 for n = 5"):
        dimensions(5, 0.2, 1e-6)
