"""What is proved without a list of joint values, against what is proved with one."""

from itertools import product

import numpy as np
import pytest

from narcissus.bounds import interpolation_tails
from narcissus.guarantees import GaussianDP, PureDP
from narcissus.knowledge import FactoredColumns, OtherColumns
from narcissus.mechanisms import MarginalQueries
from narcissus.priors import BayesianNetwork
from narcissus.study.table import factored_proofs, proofs
from narcissus.success import CodesRight, ColumnsRight
from narcissus.worlds import People

SIZES, UNKNOWN, SHAPE = (3, 2, 4, 3), (1, 2, 3), (2, 4, 3)
CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnsRight(SHAPE, at_least=1),
    ColumnsRight(SHAPE, at_least=2),
    ColumnsRight(SHAPE, (0.0, 1.0, 0.0)),
]
GUARANTEES = [PureDP(0.5), PureDP(3.0), GaussianDP(0.5), GaussianDP(2.0)]


def both(success):
    rng = np.random.default_rng(3)
    parents = ((), (0,), (0, 1), (2, 1))
    tables = [
        rng.dirichlet(np.ones(size), size=tuple(SIZES[p] for p in own))
        for own, size in zip(parents, SIZES, strict=True)
    ]
    prior = BayesianNetwork(tuple("abcd"), parents, tuple(np.asarray(t) for t in tables))
    queries, world = MarginalQueries(SIZES, UNKNOWN, 2), People(prior, 30)
    draw = world.draw(1, rng)
    [listed] = OtherColumns(prior, queries, success).reveal(world, draw, rng)
    [factored] = FactoredColumns(prior, queries, CodesRight(success)).reveal(world, draw, rng)
    return listed, factored


@pytest.mark.parametrize("success", CRITERIA)
def test_no_guess_is_likelier_than_the_limit_says(success):
    listed, factored = both(success)
    limit = factored_proofs.best_chances(factored)
    assert (limit >= proofs.best_chances(listed) - 1e-12).all()
    if success.exact:
        assert limit == pytest.approx(proofs.best_chances(listed))
    # and it says something, where more than one column must be right
    assert limit.min() < 1 or success.needed == 1


def test_all_guesses_are_limited_far_below_markovs_inequality():
    """Nine of twelve columns in a chain, where one value is likeliest whatever came before."""
    columns, rng = 12, np.random.default_rng(1)
    success = ColumnsRight((2,) * columns, at_least=9)
    step = np.array([[0.8, 0.2], [0.6, 0.4]])
    tables = (np.array([0.6, 0.4]), *(step,) * (columns - 1))
    parents = ((), *((c,) for c in range(columns - 1)))
    prior = BayesianNetwork(tuple("abcdefghijkl"), parents, tables)
    queries = MarginalQueries((2,) * columns, tuple(range(columns)), 1)
    world = People(prior, 4)
    side = FactoredColumns(prior, queries, CodesRight(success))
    [targets] = side.reveal(world, world.draw(1, rng), rng)
    limit = factored_proofs.best_chances(targets)
    values = np.array(list(product((0, 1), repeat=columns)))
    chances = np.exp(prior.log_probability(values))
    best = max((chances * ((values == guess).sum(axis=1) >= 9)).sum() for guess in values)
    assert limit.min() >= best - 1e-12
    assert limit.max() <= best + 0.02
    markov = sum(m[0].max() for m in targets.marginals) / 9
    assert limit.max() < markov - 0.1


def test_markovs_inequality_is_attained_where_columns_are_right_together():
    """Two coins that always agree: one right is as likely as two."""
    success = ColumnsRight((2, 2), at_least=2)
    tables = (np.array([0.5, 0.5]), np.eye(2))
    prior = BayesianNetwork(("a", "b"), ((), (0,)), tables)
    queries, rng = MarginalQueries((2, 2), (0, 1), 1), np.random.default_rng(0)
    world = People(prior, 4)
    side = FactoredColumns(prior, queries, CodesRight(success))
    [targets] = side.reveal(world, world.draw(1, rng), rng)
    assert targets.chance(np.zeros((4, 2), dtype=int)) == pytest.approx(0.5)
    assert factored_proofs.best_chances(targets) == pytest.approx(0.5)


def test_secrets_that_differ_are_what_sums_of_squares_leave():
    listed, factored = both(ColumnsRight(SHAPE))
    assert factored_proofs.differ(factored) == pytest.approx(1 - (listed.prior**2).sum(axis=1))


@pytest.mark.parametrize("success", CRITERIA)
@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_limits_are_never_below_those_of_the_listed_values(success, guarantee):
    """Mean share, gain and tails: the same theorems, from less."""
    listed, factored = both(success)
    shares, of_list = factored_proofs.shares(factored, guarantee), proofs.shares(listed, guarantee)
    assert (shares >= of_list - 1e-9).all()
    if success.exact:  # all values are listed: nothing is lost
        assert shares == pytest.approx(of_list, abs=2e-6)
    gains = factored_proofs.gains(factored, guarantee, np.ones(30))
    assert gains == pytest.approx(proofs.gains(listed, guarantee, np.ones(30)))
    [point] = factored_proofs.best_points(factored, guarantee, [0.95])
    o, theta = factored_proofs.single_success(factored, point, float(guarantee.profile(point)))
    costs = factored_proofs.costs(factored, guarantee, point, theta)
    assert ((costs >= 0) & (costs <= 1)).all()
    table = interpolation_tails(o, costs)
    assert table[0] == 1.0
    assert (np.diff(table) <= 1e-12).all()
    assert factored_proofs.other_tails(factored, guarantee) == {}


@pytest.mark.parametrize("success", CRITERIA)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_pair_of_the_domination_theorem_is_feasible(success, epsilon):
    """For every set of values that a guess covers, mu = o D must be reached by flows of Theta."""
    listed, factored = both(success)
    o, theta = factored_proofs.single_success(factored, epsilon, 1e-5)
    if success.exact:  # there mu = (e^eps D - o)+ / (e^eps - 1) must not sum to more than o
        least = np.maximum(np.exp(epsilon) * listed.prior - o[:, None], 0) / np.expm1(epsilon)
        assert (least.sum(axis=1) <= o + 1e-9).all()
        assert theta == pytest.approx(1 - o)
        return
    matrix = np.array([
        [success.score(np.array([x]), np.array([z]))[0] for z in range(success.guesses)]
        for x in range(24)
    ])  # fmt: skip
    for i in range(5):
        prior = listed.prior[i]
        mu, flows = o[i] * prior, np.zeros((24, 24))
        for z in range(success.guesses):
            inside = matrix[:, z]
            lacking, left = (prior - mu)[inside].sum(), mu[~inside].sum()
            assert lacking <= np.exp(-epsilon) * left + 1e-12
            for x, y in product(np.flatnonzero(inside), np.flatnonzero(~inside)):
                flow = (prior - mu)[x] * mu[y] / left if left else 0.0
                flows[x, y] = max(flows[x, y], flow)
        assert flows.sum() <= theta[i] + 1e-12


def test_a_list_that_is_cut_gives_a_limit_that_is_valid_and_less_sharp(monkeypatch):
    listed, factored = both(ColumnsRight(SHAPE))
    exact = proofs.shares(listed, PureDP(3.0))
    monkeypatch.setattr(factored_proofs, "MOST_LISTED", 3)
    cut = factored_proofs.shares(factored, PureDP(3.0))
    assert (cut >= exact - 1e-9).all()
    assert cut.mean() > exact.mean() + 0.01
    assert (cut <= proofs.from_best_guess(listed.best_chance, PureDP(3.0)) + 1e-12).all()


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_share_of_columns_is_limited_by_each_columns_own_optimum(guarantee):
    from narcissus.bounds import optimum

    listed, factored = both(ColumnsRight(SHAPE, at_least=2))
    table = listed.prior.reshape(30, *SHAPE)
    each = [
        optimum(table.sum(axis=tuple(a for a in (1, 2, 3) if a != 1 + c)), guarantee)
        for c in range(3)
    ]
    found = factored_proofs.columns_share(factored, guarantee)
    assert found == pytest.approx(np.mean(each))
    guess = np.mean([m.max(axis=1) for m in factored.marginals])
    assert guess < found < 1
    _, near = both(ColumnsRight(SHAPE, (0.0, 1.0, 0.0)))
    assert factored_proofs.columns_share(near, guarantee) is None
