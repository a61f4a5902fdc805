"""A channel's results: tables are square, lists are paired, limits are in order."""

import pytest
from pydantic import ValidationError

from narcissus.study.reading import read_record
from narcissus.study.results.channel import (
    ExactChannel,
    LimitedShare,
    Pairwise,
    PrivacyProfile,
    SampledChannel,
)


def changed(model, **changes):
    return type(model)(**{**dict(model), **changes})


def test_which_of_the_two_it_is_is_told_by_its_source(old_record):
    exact = read_record(old_record("last", "channel")).results
    assert isinstance(exact, ExactChannel)
    sampled = read_record(old_record("last", "samples")).results
    assert isinstance(sampled, SampledChannel)
    with pytest.raises(ValidationError):
        changed(exact, source="samples")
    with pytest.raises(ValidationError):
        changed(exact, secrets=1)


def test_the_table_of_all_pairs_has_a_row_and_a_column_for_each_secret():
    assert Pairwise(secrets=("a", "b"), values=((0.0, 0.3), (0.3, 0.0)))
    for values in (((0.0, 0.3),), ((0.0,), (0.3,)), ((0.0, 0.3), (0.3,)), ()):
        with pytest.raises(ValidationError, match="a row and a column for each secret"):
            Pairwise(secrets=("a", "b"), values=values)


def test_a_profile_has_one_delta_for_each_epsilon():
    assert PrivacyProfile(epsilon=(0.0, 1.0), delta=(0.5, 0.1))
    with pytest.raises(ValidationError, match="one delta for each epsilon"):
        PrivacyProfile(epsilon=(0.0, 1.0), delta=(0.5,))
    with pytest.raises(ValidationError):
        PrivacyProfile(epsilon=(-1.0,), delta=(0.5,))


def test_limits_of_an_estimate_are_in_order_and_may_miss_it():
    """Limits hold at a level: the estimate by itself may lie outside of them."""
    good = {"estimate": 0.5, "low": 0.1, "high": 0.4, "why": ""}
    assert LimitedShare(**good)
    for missing in ({"low": None}, {"high": None}):
        assert LimitedShare(**{**good, **missing})
    with pytest.raises(ValidationError, match="limit"):
        LimitedShare(**{**good, "low": 0.45})


def test_measures_have_their_ranges(old_record):
    exact = read_record(old_record("last", "channel")).results.exact
    assert changed(exact) == exact
    for wrong in ({"beta_star": 1.1}, {"bayes_risk": -0.1}, {"capacity": 0.9}, {"beta": 1.1},
                  {"epsilon_ldp": -1.0}, {"min_entropy_leakage": -0.1}):  # fmt: skip
        with pytest.raises(ValidationError):
            changed(exact, **wrong)
