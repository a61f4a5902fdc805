"""Conversions between guarantees: what follows, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.bounds import best, bounds_on, threat
from narcissus.errors import InputError
from narcissus.guarantees import (
    ApproximateDP,
    BayesSecurity,
    GaussianDP,
    ProfileCurve,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
    as_approximate,
    as_asked,
    as_gaussian,
    as_renyi,
    as_replace_one,
    as_zero_concentrated,
    require_replace_one,
)


@pytest.mark.states("Bun and Steinke 2016", "Proposition 1.4", "Proposition 1.6")
def test_conversions_hold():
    epsilon = np.linspace(-3, 6, 200)
    pure = PureDP(1.3)
    for weaker in (as_gaussian(pure), as_renyi(pure, 3.0), as_zero_concentrated(pure)):
        assert (weaker.profile(epsilon) >= pure.profile(epsilon) - 1e-12).all()
    # the Gaussian one touches at the fixed point of the trade-off function
    rate = 1 / (1 + np.exp(1.3))
    assert as_gaussian(pure).power(rate) == pytest.approx(float(pure.power(rate)), abs=1e-12)
    assert as_gaussian(PureDP(1e4)).mu > 100
    assert as_renyi(GaussianDP(1.0), 4.0).gamma == 2.0
    assert as_renyi(RenyiDP(4, 1.0), 2.0).gamma == 1.0
    assert as_zero_concentrated(GaussianDP(2.0)).rho == 2.0
    assert as_renyi(PureDP(2.0), 1e9).gamma == pytest.approx(2.0, abs=1e-6)
    found = as_approximate(GaussianDP(1.0), delta=1e-5)
    assert float(GaussianDP(1.0).profile(found.epsilon)) == pytest.approx(1e-5, rel=1e-12, abs=0)
    assert as_approximate(GaussianDP(1.0), epsilon=1.0).delta == GaussianDP(1.0).profile(1.0)
    assert as_approximate(PureDP(2.0), delta=0.9).epsilon == 0


@pytest.mark.parametrize(
    "convert",
    [
        lambda: as_gaussian(ApproximateDP(1, 0.1)),
        lambda: as_gaussian(ZeroConcentratedDP(1)),
        lambda: as_renyi(BayesSecurity(0.5), 2),
        lambda: as_renyi(RenyiDP(2, 1), 3),
        lambda: as_zero_concentrated(RenyiDP(2, 1)),
        lambda: as_approximate(ApproximateDP(1, 0.1), delta=0.01),
        lambda: as_approximate(PureDP(1)),
        lambda: as_replace_one(RenyiDP(2, 1, adjacency="add-remove")),
        lambda: RenyiDP(1, 1),
        lambda: RenyiDP(float("inf"), 1),
        lambda: ZeroConcentratedDP(-1),
        lambda: BayesSecurity(2),
        lambda: ProfileCurve((1.0,), (0.1, 0.2)),
        lambda: ProfileCurve((-1.0,), (0.1,)),
    ],
)
def test_what_does_not_follow_is_refused(convert):
    with pytest.raises(InputError):
        convert()


@pytest.mark.states("Dwork and Roth 2014", "Theorem 2.2")
@pytest.mark.states("Dong, Roth and Su 2022", "Theorem 2.14")
@pytest.mark.states("Bun and Steinke 2016", "Proposition 1.9")
@pytest.mark.states("Mironov 2017", "Proposition 11")
def test_replacing_is_removing_and_adding():
    def twice(guarantee):
        return as_replace_one(guarantee)

    assert twice(PureDP(1, adjacency="add-remove")) == PureDP(2)
    assert twice(GaussianDP(0.5, adjacency="add-remove")) == GaussianDP(1.0)
    assert twice(ZeroConcentratedDP(1, adjacency="add-remove")) == ZeroConcentratedDP(4)
    assert twice(ApproximateDP(1, 0.01, adjacency="add-remove")).delta == pytest.approx(
        0.01 * (1 + np.e)
    )
    assert twice(BayesSecurity(0.9, adjacency="add-remove")).beta_star == pytest.approx(0.8)
    assert twice(PureDP(1)) == PureDP(1)
    # two Gaussian steps of mu 1/2 are inside what each weaker statement gives
    epsilon = np.linspace(0, 4, 40)
    truth = GaussianDP(1.0).profile(epsilon)
    half = GaussianDP(0.5)
    curve = ProfileCurve.from_profile(
        lambda e: float(half.profile(e)), np.linspace(0, 6, 300), adjacency="add-remove"
    )
    assert (twice(curve).profile(epsilon) >= truth - 1e-12).all()
    renyi = RenyiDP(8, 8 * 0.125, adjacency="add-remove")
    assert (twice(renyi).profile(epsilon) >= truth - 1e-12).all()


@pytest.mark.parametrize(
    "known",
    [
        PureDP(1, adjacency="add-remove"),
        ApproximateDP(1, 1e-5, adjacency="add-remove"),
        GaussianDP(0.5, adjacency="add-remove"),
        ZeroConcentratedDP(0.5, adjacency="add-remove"),
        RenyiDP(8, 1, adjacency="add-remove"),
        BayesSecurity(0.9, adjacency="add-remove"),
        ProfileCurve((0.0, 1.0), (0.1, 0.01), adjacency="add-remove"),
    ],
)
def test_what_was_converted_says_from_what(known):
    found = as_replace_one(known)
    assert found.adjacency == "replace-one"
    assert found.converted_from == known.describe()
    assert f"one removed and one added: from {known.describe()})" in found.describe()
    assert as_replace_one(found) is found
    # what is equal is equal, wherever it came from; and nothing else is said to be converted
    assert "one removed" not in PureDP(2).describe()
    assert as_replace_one(PureDP(1, adjacency="add-remove")) == PureDP(2)
    assert (found.profile([0.0, 1.0]) >= known.profile([0.0, 1.0])).all()


KNOWN = [
    PureDP(0.7, adjacency="add-remove"),
    ApproximateDP(0.7, 1e-3, adjacency="add-remove"),
    GaussianDP(0.8, adjacency="add-remove"),
    ZeroConcentratedDP(0.3, adjacency="add-remove"),
    RenyiDP(8, 0.5, adjacency="add-remove"),
    BayesSecurity(0.9, adjacency="add-remove"),
    ProfileCurve((0.0, 1.0), (0.2, 0.01), adjacency="add-remove"),
]


@pytest.mark.states("Narcissus theory", "3")
@pytest.mark.parametrize("known", KNOWN)
def test_membership_needs_no_conversion_and_is_never_easier_than_a_value(known):
    inside, value = as_asked(known, "membership"), as_asked(known, "value")
    epsilon, rates = np.linspace(-2, 4, 31), np.linspace(0, 1, 31)
    assert (inside.profile(epsilon) == known.profile(epsilon)).all()
    assert (inside.power(rates) <= value.power(rates) + 1e-12).all()
    assert value == as_replace_one(known)
    assert as_asked(inside, "value") == value
    assert as_asked(inside, "value").secret == "value"
    assert value.question == "what value a person's record has"
    assert inside.question == "whether a person's record is in the data"
    assert "add-remove neighbours: the record is in or out)" in inside.describe()
    require_replace_one(inside)
    with pytest.raises(InputError, match="ask for membership"):
        require_replace_one(known)
    for danger in (threat(values=[0.5, 0.5]), threat(values=[0.8, 0.2], targets=5)):
        limits = [best(bounds_on(danger, one, dear=False)).value for one in (inside, value)]
        assert limits[0] <= limits[1] + 1e-12


def test_of_replaced_records_membership_is_about_another_in_its_place():
    known = GaussianDP(1)
    inside = as_asked(known, "membership")
    assert inside.question == "whether a person's record is in the data, or another in its place"
    assert "in, or another in its place)" in inside.describe()
    assert as_asked(known, "value") is known
    assert as_asked(inside, "value") == known
    assert inside != known  # nobody takes the answer to one question for that to the other
    with pytest.raises(InputError, match="was converted to a replaced record"):
        as_asked(as_replace_one(PureDP(1, adjacency="add-remove")), "membership")
    with pytest.raises(InputError, match="secret"):
        as_asked(known, "other")


def test_what_follows_is_about_the_same_question():
    inside = as_asked(GaussianDP(1, adjacency="add-remove"), "membership")
    for found in (as_approximate(inside, delta=1e-5), as_renyi(inside, 4.0)):
        assert (found.adjacency, found.secret) == ("add-remove", "membership")
