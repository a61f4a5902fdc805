"""Limits as text: never on the unsafe side of themselves, and near."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus._outwards import lower, upper

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=False)
SHARES = st.floats(-1, 1)


def twelve(value: float) -> Decimal:
    return Decimal(f"{value:.12g}")


@given(NUMBERS, st.integers(1, 8))
def test_figures_keep_to_the_safe_side_of_the_twelfth_digit(value, figures):
    above, below, exact = (
        Decimal(upper(value, figures)),
        Decimal(lower(value, figures)),
        twelve(value),
    )
    assert below <= exact <= above
    assert above - below <= abs(exact) * Decimal(10) ** (1 - figures)
    assert Decimal(lower(-value, figures)) == -above


@given(SHARES, st.integers(0, 6))
def test_places_keep_to_the_safe_side_too(value, places):
    above, below = upper(value, places=places), lower(value, places=places)
    assert Decimal(below) <= twelve(value) <= Decimal(above)
    assert Decimal(above) - Decimal(below) <= Decimal(10) ** -places
    assert all(len(text.partition(".")[2]) == places for text in (above, below))


@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        (0.1234561, "0.123457", "0.123456"),
        (0.12345649, "0.123457", "0.123456"),
        (0.1 + 0.2, "0.3", "0.3"),  # noise of floating point
        (0.9999999, "1", "0.999999"),
        (-0.30049, "-0.30049", "-0.30049"),
        (1e-300, "1e-300", "1e-300"),
        (100.0, "100", "100"),
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (float("inf"), "inf", "inf"),
    ],
)
def test_six_figures_as_people_write_them(value, above, below):
    assert (upper(value), lower(value)) == (above, below)


def test_a_zero_has_no_sign():
    assert (upper(-0.00001, places=1), lower(0.00001, places=1)) == ("0.0", "0.0")
    assert (upper(0.99043, 3), upper(0.3, 3), upper(-0.30049, 3)) == ("0.991", "0.3", "-0.3")
