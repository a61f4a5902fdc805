"""Numbers as text: rounding never makes a limit tighter than it is."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.report.format import (
    GRADES,
    SIGNS,
    cell,
    limits,
    number,
    percent,
    points,
)
from narcissus.results import Grade

SHARES = st.floats(0, 1)


def value_of(text):
    return Decimal(re.search(r"-?[\d.]+(e[-+]\d+)?", text)[0]) / 100


def exactly(share):
    """Give the share without the noise of floating point, beyond twelve digits."""
    return Decimal(f"{share:.12g}")


@given(SHARES)
def test_up_is_never_below_and_down_never_above(share):
    assert value_of(percent(share, "up")) >= exactly(share)
    assert value_of(percent(share, "down")) <= exactly(share)


@given(SHARES)
def test_no_rounding_moves_a_share_by_more_than_a_tenth_of_a_percent(share):
    for rounding, most in (("nearest", "0.0005"), ("up", "0.001"), ("down", "0.001")):
        if share <= 0.9995:
            assert abs(value_of(percent(share, rounding)) - exactly(share)) <= Decimal(most)


@given(SHARES)
def test_a_loss_is_written_like_a_share(share):
    assert value_of(percent(-share, "up")) >= -exactly(share) >= value_of(percent(-share, "down"))
    assert "e+" not in percent(-share)


@given(SHARES)
def test_only_all_is_100_percent_and_only_none_is_0(share):
    if share < 1:
        assert not percent(share).startswith("100")
        assert not percent(share, "down").startswith("100")
    if share > 0:
        for rounding in ("nearest", "up", "down"):
            assert value_of(percent(share, rounding)) > 0


@pytest.mark.parametrize(
    ("share", "rounding", "text"),
    [
        (0.606, "nearest", "60.6%"),
        (0.606, "up", "60.6%"),
        (0.6061, "up", "60.7%"),
        (0.6069, "down", "60.6%"),
        (0.1, "up", "10.0%"),
        (0.1, "down", "10.0%"),
        (0.9999, "nearest", "above 99.9%"),
        (0.9999, "up", "100%"),
        (0.00012, "nearest", "0.012%"),
        (0.000121, "up", "0.013%"),
        (0.000129, "down", "0.012%"),
        (1, "down", "100%"),
        (0, "up", "0%"),
        (None, "nearest", "—"),
        (-0.7, "down", "-70.0%"),
        (-0.00044, "down", "-0.044%"),
        (-1, "up", "-100%"),
    ],
)
def test_percent(share, rounding, text):
    assert percent(share, rounding) == text


def test_limits_round_outwards_and_missing_ones_are_said():
    assert limits(0.5451, 0.5549).replace("\xa0", " ") == "54.5% to 55.5%"
    assert limits(None, 0.5541) == "at most 55.5%"
    assert limits(0.5549, None) == "at least 55.4%"
    assert limits(None, None) == "—"


def test_points_are_signed():
    assert points(0.0312) == "+3.1"
    assert points(-0.0312) == "−3.1"
    assert points(-0.0001) == "0.0"
    assert points(None) == "—"


def test_numbers_and_cells():
    assert number(12345) == "12,345"
    assert number(0.26805) == "0.2681"
    assert cell("text") == "text"
    assert cell(None) == "—"
    assert cell(0.25, is_percent=True) == "25.0%"
    assert cell(7) == "7"


def test_every_grade_has_a_sign_of_its_own():

    assert set(SIGNS) == set(GRADES) == set(Grade.__args__)
    assert len(set(SIGNS.values())) == len(SIGNS)
