"""Points of a guarantee, and what every plan of a release must say."""

import math

import pytest
from scipy import optimize, stats

from narcissus.guarantees import ApproximateDP, GaussianDP, PureDP
from narcissus.mechanisms import Prepared, PublishedRows, TableMechanism
from narcissus.mechanisms.table.base import DEFAULT_DELTA, epsilon_at


def gaussian_delta(epsilon, mu):
    """Dong, Roth and Su 2022, Corollary 2.13, from SciPy's distribution."""
    low, high = -epsilon / mu - mu / 2, -epsilon / mu + mu / 2
    return stats.norm.cdf(high) - math.exp(epsilon + stats.norm.logcdf(low))


@pytest.mark.parametrize(("mu", "delta"), [(0.3, 1e-5), (1.0, 1e-3), (1.0, 0.3), (3.0, 1e-12)])
def test_the_point_of_gaussian_dp(mu, delta):
    expected = optimize.brentq(lambda e: gaussian_delta(e, mu) - delta, 0, 100, xtol=1e-13)
    assert epsilon_at(GaussianDP(mu), delta) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (1.0, 0.4), (20.0, 0.1)])
def test_the_point_of_pure_dp_is_that_of_randomized_response(epsilon, delta):
    """Its chances are e^eps and 1 over their sum, so delta(x) = (e^eps - e^x) / (e^eps + 1)."""
    expected = math.log(math.exp(epsilon) - delta * (math.exp(epsilon) + 1))
    assert epsilon_at(PureDP(epsilon), delta) == pytest.approx(expected, rel=1e-8)


def test_a_large_epsilon_is_found():
    """About mu^2 / 2 where mu is large."""
    assert epsilon_at(GaussianDP(2000.0), 0.5) == pytest.approx(2e6, rel=0.01)


@pytest.mark.parametrize(
    ("guarantee", "delta"),
    [
        (GaussianDP(1.0), 0.0),
        (GaussianDP(1.0), stats.norm.cdf(0.5) - stats.norm.cdf(-0.5)),  # no epsilon is needed
        (PureDP(1.0), 0.99),
        (ApproximateDP(1.0, 1e-3), 1e-4),  # no epsilon is enough
    ],
)
def test_some_deltas_have_no_epsilon(guarantee, delta):
    assert epsilon_at(guarantee, delta) is None


def test_a_delta_just_above_that_of_the_guarantee_has_one():
    assert 0.99 < epsilon_at(ApproximateDP(1.0, 1e-3), 1.0001e-3) <= 1.0


class Plan(TableMechanism):
    label, title = "mine", "Something"

    def prepare(self, columns):
        return PublishedRows().prepare(columns)


def test_a_plan_says_no_more_than_it_knows(columns):
    plan = Plan()
    assert plan.strength is None
    assert plan.point(GaussianDP(1.0)) == (epsilon_at(GaussianDP(1.0), 1e-5), DEFAULT_DELTA)
    assert plan.point(ApproximateDP(1.0, 0.1)) == (None, 1e-5)
    prepared: Prepared = plan.prepare(columns)
    assert prepared.releases.__name__ == "Microdata"


@pytest.mark.parametrize("member", ["label", "title", "prepare"])
def test_a_plan_must_be_called_something_and_prepare(member):
    members = {name: vars(Plan)[name] for name in ("label", "title", "prepare") if name != member}
    with pytest.raises(TypeError, match=f"abstract .*{member}"):
        type("Half", (TableMechanism,), members)()
