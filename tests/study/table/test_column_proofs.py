"""What is proved of shares of columns, against the best of all mechanisms and attackers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from narcissus.attacks.table import Targets
from narcissus.bounds import column_shares
from narcissus.guarantees import ApproximateDP, PureDP
from narcissus.knowledge import FactoredTargets
from narcissus.mechanisms import MarginalQueries
from narcissus.priors.factors import Factors
from narcissus.study.table import column_proofs
from narcissus.success import CodesRight, ColumnShare

SHAPE = (2, 3)
QUERIES = MarginalQueries((2, *SHAPE), (1, 2), 2)
NEAR = ColumnShare(SHAPE, (0.0, 1.0))
CRITERIA = [ColumnShare(SHAPE), NEAR]


def people(success, count=6, seed=0):
    prior = np.random.default_rng(seed).dirichlet(np.full(6, 0.5), size=count)
    return Targets(QUERIES, np.zeros((count, 3), dtype=np.int32), prior, success)


def without_list(targets):
    with np.errstate(divide="ignore"):
        table = np.log(targets.prior).reshape(-1, *SHAPE)
    factors = Factors(SHAPE, ((0, 1),), (table,), np.arange(len(table)))
    return FactoredTargets(QUERIES, targets.codes, factors, CodesRight(targets.success))


def best_of_all(weights, epsilon, delta=0.0):
    """Maximise the sum of weights[x, z] P(z | x) over attempts P under (epsilon, delta)-DP.

    A guarantee holds for every set of attempts: for finitely many, the parts by which one law
    exceeds another sum to at most delta.
    """
    values, guesses = weights.shape
    pairs = [(x, y) for x in range(values) for y in range(values) if x != y]
    first = values * guesses
    width = first + len(pairs) * guesses
    rows, right = [], []
    for number, (x, y) in enumerate(pairs):
        own = first + number * guesses
        for z in range(guesses):
            row = np.zeros(width)
            row[x * guesses + z], row[y * guesses + z] = 1, -np.exp(epsilon)
            row[own + z] = -1
            rows.append(row)
            right.append(0)
        row = np.zeros(width)
        row[own : own + guesses] = 1
        rows.append(row)
        right.append(delta)
    sums = np.zeros((values, width))
    for x in range(values):
        sums[x, x * guesses : (x + 1) * guesses] = 1
    price = np.concatenate([-weights.ravel(), np.zeros(width - first)])
    found = linprog(price, np.array(rows), right, sums, np.ones(values), bounds=(0, None))
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("success", CRITERIA)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_no_attacker_of_any_release_gets_a_larger_share(success, delta):
    """The columns depend on each other, and the attacker uses both; linear programs."""
    targets = people(success)
    guarantee = ApproximateDP(0.7, delta) if delta else PureDP(0.7)
    shares = column_proofs.shares(targets, guarantee)
    best = [best_of_all(own[:, None] * success.matrix(), 0.7, delta) for own in targets.prior]
    assert (shares >= np.array(best) - 1e-9).all()
    assert np.mean(shares - best) < 0.02  # and it is not far from what somebody gets
    assert (shares >= targets.best_chance - 1e-12).all()


@pytest.mark.parametrize("success", CRITERIA)
def test_no_release_adds_more_to_what_the_same_attempts_score_on_fresh_people(success):
    targets = people(success)
    guarantee = PureDP(0.7)
    ones = np.ones(targets.people)
    gains = column_proofs.gains(targets, guarantee, ones)
    matrix = success.matrix()
    for own, limit in zip(targets.prior, gains, strict=True):
        best = best_of_all(own[:, None] * (matrix - own @ matrix), 0.7)
        assert 0 < best <= limit + 1e-9
    assert (column_proofs.gains(targets, guarantee, ones / 100) <= 0.01).all()


@pytest.mark.parametrize("success", CRITERIA)
def test_it_is_the_same_without_a_list_of_joint_values(success):
    targets, guarantee = people(success), PureDP(1.5)
    other = without_list(targets)
    listed = column_proofs.shares(targets, guarantee)
    assert column_proofs.shares(other, guarantee) == pytest.approx(listed, abs=1e-9)
    gained = column_proofs.gains(targets, guarantee, listed)
    assert column_proofs.gains(other, guarantee, listed) == pytest.approx(gained, abs=1e-9)


def test_without_a_distance_it_is_the_theorem_on_columns():
    targets = people(ColumnShare(SHAPE))
    table = targets.prior.reshape(-1, *SHAPE)
    expected = column_shares([table.sum(axis=2), table.sum(axis=1)], PureDP(1.0))
    assert column_proofs.shares(targets, PureDP(1.0)) == pytest.approx(expected, abs=1e-12)
    assert column_proofs.share_theorem(ColumnShare(SHAPE)).id == "column-shares"
    assert "linear programs" in column_proofs.share_theorem(NEAR).statement
