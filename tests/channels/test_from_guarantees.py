"""Bayes security from guarantees, against the worst channels that have them."""

import numpy as np
import pytest
from scipy import optimize

from narcissus import channels as ch
from narcissus import guarantees as gu

from .conftest import refused


def least_overlap_under_dp(records, epsilon):
    """The least overlap of two databases at distance ``records``, by a linear program.

    The best attacker announces one of the two with some probability for each database on the way
    between them; neighbours on the way are epsilon-indistinguishable.
    """
    n = records + 1
    ratio = np.exp(epsilon)
    constraints, limits = [], []
    for i in range(records):
        for x, y in ((i, i + 1), (i + 1, i)):
            # p_x <= e^eps p_y, and 1 - p_x <= e^eps (1 - p_y)
            yes, no = np.zeros(n), np.zeros(n)
            yes[[x, y]], no[[x, y]] = (1, -ratio), (-1, ratio)
            constraints += [yes, no]
            limits += [0, ratio - 1]
    objective = np.zeros(n)
    objective[0], objective[-1] = -1, 1
    found = optimize.linprog(
        objective, A_ub=np.array(constraints), b_ub=limits, bounds=(0, 1), method="highs"
    )
    return 1 + found.fun


@pytest.mark.states("Chatzikokolakis et al. 2023", "Corollary 2")
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_two_neighbouring_databases_by_linear_program(epsilon):
    """For the uniform prior the limit is reached, for every other prior it holds."""
    limit = ch.from_local_dp(epsilon).value
    assert limit == pytest.approx(2 / (1 + np.exp(epsilon)), rel=1e-12)
    assert limit == pytest.approx(least_overlap_under_dp(1, epsilon), rel=1e-6)
    response = np.array([[2 - limit, limit], [limit, 2 - limit]]) / 2
    assert ch.beta(response) == pytest.approx(limit, rel=1e-12)
    rng = np.random.default_rng(5)
    for prior in rng.uniform(0.01, 0.99, 20):
        pair = response @ rng.dirichlet(np.ones(4), 2)
        assert ch.local_dp_epsilon(pair) <= epsilon + 1e-12
        assert ch.beta(pair, [prior, 1 - prior]) >= limit - 1e-12


@pytest.mark.states("Narcissus theory", "6.1")
@pytest.mark.parametrize("records", range(1, 8))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
@pytest.mark.one_in(3)
def test_databases_by_linear_program(records, epsilon):
    sharp = ch.from_database_dp(epsilon, records)
    assert sharp.value == pytest.approx(least_overlap_under_dp(records, epsilon), rel=1e-6)
    assert sharp.value >= ch.naive_database_bound(epsilon, records).value - 1e-15


@pytest.mark.states("Chatzikokolakis et al. 2023", "Corollary 1")
@pytest.mark.parametrize(("records", "values"), [(1, 3), (2, 2), (2, 3), (3, 2)])
def test_corollary_1_holds_and_is_tight_for_products(records, values):
    # Independent randomized response of each record reaches Theorem 6 for the uniform prior.
    epsilon = 0.8
    one = ch.KaryRandomizedResponse(values, epsilon).channel().matrix
    whole = one
    for _ in range(records - 1):
        whole = np.kron(whole, one)
    bound = ch.from_database_dp(epsilon, records, values, prior="uniform")
    assert "Corollary 1" in bound.theorem
    assert ch.beta(whole) == pytest.approx(bound.value, rel=1e-12)
    rng = np.random.default_rng(0)
    for prior in rng.dirichlet(np.ones(len(whole)), 50):
        found = ch.from_database_dp(epsilon, records, values, prior=float(prior.max()))
        assert ch.beta(whole, prior) >= found.value - 1e-12
    assert ch.beta_star(whole).value >= ch.from_database_dp(epsilon, records).value - 1e-12


@pytest.mark.states("Chatzikokolakis et al. 2023", "section V")
def test_guarantees():
    assert ch.from_local_dp(0).value == 1
    assert ch.from_local_dp(1e4).value == 0
    assert ch.from_local_dp(700).value == pytest.approx(2 * np.exp(-700.0), rel=1e-12, abs=0)
    assert ch.from_local_dp(0.7, 0.1).value == pytest.approx(
        1 - (np.exp(0.7) - 1 + 0.2) / (np.exp(0.7) + 1)
    )
    assert ch.to_approximate_dp(0.75) == (0.0, 0.25)
    for epsilon in (0.0, 0.1, 0.5, 0.69, 0.7, 3.0):
        assert ch.yeom_bound(epsilon).value <= ch.from_local_dp(epsilon).value + 1e-15
        assert ch.humphries_bound(epsilon).value == ch.from_local_dp(epsilon).value
    assert "at least" in str(ch.from_local_dp(1))
    assert ch.from_local_dp(1).advantage.value == pytest.approx(np.tanh(0.5))
    assert ch.from_database_dp(1, 10_000).value == 0
    for call, words in (
        (lambda: ch.from_local_dp(-1), "epsilon"),
        (lambda: ch.from_local_dp(1, 2), "delta"),
        (lambda: ch.from_database_dp(1, 0), "records"),
        (lambda: ch.from_database_dp(1, 2, prior="uniform"), "`values` is needed"),
        (lambda: ch.to_approximate_dp(1.5), "beta_star"),
    ):
        refused(words, call)


@pytest.mark.states("Narcissus theory", "6")
@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_approximate_ldp_bound_is_reached(epsilon, delta):
    # With probability delta the secret itself, otherwise randomized response.
    d = (1 - delta) / (1 + np.exp(epsilon))
    c = [[delta, 0, (1 - delta) - d, d], [0, delta, d, (1 - delta) - d]]
    assert ch.local_dp_delta(c, epsilon) == pytest.approx(delta, abs=1e-12)
    assert ch.beta_star(c).value == pytest.approx(ch.from_local_dp(epsilon, delta).value, rel=1e-12)


@pytest.mark.states("Chatzikokolakis et al. 2023", "Theorem 6")
@pytest.mark.parametrize(("records", "values"), [(1, 3), (2, 2), (3, 2)])
def test_theorem_6_is_reached_by_responses_and_holds_for_others(records, values):
    epsilon = 0.8
    whole = np.ones((1, 1))
    for _ in range(records):
        whole = np.kron(whole, ch.KaryRandomizedResponse(values, epsilon).channel().matrix)
    bound = ch.database_capacity(epsilon, records, values)
    assert ch.multiplicative_leakage(whole) == pytest.approx(bound.value, rel=1e-12)
    other = np.ones((1, 1))
    for _ in range(records):
        other = np.kron(other, ch.Geometric(values, epsilon / (values - 1)).channel().matrix)
    assert ch.capacity(other) <= bound.value * (1 + 1e-12)
    assert values == 2 or ch.capacity(other) < 0.99 * bound.value
    assert ch.database_capacity(1, 10_000, 3).value == np.inf
    assert "Theorem 6" in str(bound)


GUARANTEES = [
    gu.PureDP(0.7),
    gu.ApproximateDP(0.7, 0.1),
    gu.BayesSecurity(0.4),
    gu.GaussianDP(1.3),
    gu.RenyiDP(2.5, 0.4),
    gu.ZeroConcentratedDP(0.3),
    gu.ProfileCurve((0.2, 1.0), (0.3, 0.1)),
]


@pytest.mark.states("Narcissus theory", "6.12")
@pytest.mark.states("Chatzikokolakis et al. 2023", "Proposition 2")
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: type(g).__name__)
@pytest.mark.one_in(2)
def test_any_guarantee_against_its_own_trade_off(guarantee):
    """beta* is the least sum of the two errors; the curve's points are valid limits of it."""
    alpha = np.linspace(0, 1, 2_001)
    errors = alpha + guarantee.trade_off(alpha)
    found = ch.from_guarantee(guarantee)
    assert found.value == pytest.approx(errors.min(), abs=2e-3)
    assert found.value >= 1 - float(guarantee.profile(0.0)) - 1e-12
    assert found.tight


@pytest.mark.states("Narcissus theory", "6.12")
@pytest.mark.parametrize(("alpha", "gamma"), [(1.2, 0.3), (4.0, 0.01), (20.0, 1.5)])
def test_no_channel_with_a_renyi_guarantee_is_below_and_response_reaches_it(alpha, gamma):
    found = ch.from_guarantee(gu.RenyiDP(alpha, gamma)).value
    response = np.array([[1 - found / 2, found / 2], [found / 2, 1 - found / 2]])
    assert renyi(*response, alpha) == pytest.approx(gamma, rel=1e-9)
    rng, below = np.random.default_rng(8), 0
    for p, q in rng.dirichlet(np.ones(3) * 2, (3000, 2)):
        if max(renyi(p, q, alpha), renyi(q, p, alpha)) <= gamma:
            below += 1
            assert np.minimum(p, q).sum() >= found - 1e-12
    assert below > 20


@pytest.mark.states("Narcissus theory", "6.12")
def test_zero_concentrated_dp_is_kept_by_the_response_at_every_order():
    rho = 0.4
    found = ch.from_guarantee(gu.ZeroConcentratedDP(rho)).value
    row = np.array([1 - found / 2, found / 2])
    orders = 1 + np.geomspace(1e-6, 300, 200)
    divergences = np.array([renyi(row, row[::-1], a) for a in orders])
    assert (divergences <= rho * orders * (1 + 1e-6)).all()
    assert (divergences / orders).max() == pytest.approx(rho, rel=1e-4)


def renyi(p, q, alpha):
    return np.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1)


def test_small_values_keep_their_digits_and_conversions_are_not_tight():
    assert ch.from_guarantee(gu.GaussianDP(20.0)).value == pytest.approx(1.5239706e-23, rel=1e-6)
    assert ch.from_guarantee(gu.RenyiDP(3.0, 200.0)).value == pytest.approx(
        2 * np.exp(-200 * 2 / 3), rel=0.5
    )
    assert ch.from_guarantee(gu.RenyiDP(2.0, 0.0)).value == 1
    around = gu.as_replace_one(gu.PureDP(0.5, adjacency="add-remove"))
    assert not ch.from_guarantee(around).tight
    assert ch.from_guarantee(around).value == ch.from_local_dp(1.0).value
    assert "add-remove" in str(ch.from_guarantee(gu.PureDP(0.5, adjacency="add-remove")))
