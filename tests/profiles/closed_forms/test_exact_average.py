"""The exact average by kinds of columns, against listing all data sets."""

from __future__ import annotations

import pytest

from narcissus.errors import TooLargeError
from narcissus.profiles.closed_forms.hidden_nature import (
    SmallTardos,
    exact_average_delta,
    small_delta,
)


@pytest.mark.states("Kaplan et al. 2025", "Definition 3.1")
@pytest.mark.parametrize(
    "size", [(2, 2, 2), (3, 2, 2), (6, 3, 2), (3, 2, 3), (5, 3, 3), (9, 2, 4), (4, 3, 1)]
)
@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_kinds_of_columns_against_all_data_sets(size, epsilon):
    listed = small_delta(
        SmallTardos(*size), lambda rows: tuple(map(sum, zip(*rows, strict=True))), epsilon
    )
    found = exact_average_delta(*size, epsilon)
    assert found == (pytest.approx(float(listed), abs=1e-14) if epsilon else listed)


@pytest.mark.parametrize(
    ("size", "value"),
    [((100, 20, 2), 0.05023638823), ((20, 20, 3), 0.06363201786), ((20, 12, 4), 0.15736458261)],
)
def test_values_of_the_theory(size, value):
    assert float(exact_average_delta(*size)) == pytest.approx(value, abs=5e-12)


def test_too_many_kinds():
    with pytest.raises(TooLargeError, match="kinds of averages"):
        exact_average_delta(20, 200, 12)
