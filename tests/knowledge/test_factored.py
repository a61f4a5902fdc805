"""What is known of many unknown columns, against lists of their joint values."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.knowledge import FactoredColumns, OtherColumns
from narcissus.mechanisms import MarginalQueries
from narcissus.priors import BayesianNetwork, EmpiricalRows, best_guess
from narcissus.success import CodesRight, ColumnShare, ColumnsRight
from narcissus.worlds import People

SIZES = (3, 2, 4, 3, 2)
UNKNOWN = (1, 2, 3)
SHAPE = (2, 4, 3)
POSITIONS = (None, (0.0, 2.0, 4.0, 6.0), None)
CRITERIA = [
    ColumnsRight(SHAPE),
    ColumnsRight(SHAPE, at_least=2),
    ColumnsRight(SHAPE, (0.0, 1.0, 0.0), None, POSITIONS),
    ColumnsRight(SHAPE, (0.0, 1.0, 0.0), 2, POSITIONS),
    ColumnShare(SHAPE, (0.0, 1.0, 0.0), None, POSITIONS),
]


def network():
    rng = np.random.default_rng(0)
    parents = ((), (0,), (0, 1), (2, 1), (3,))
    tables = [
        rng.dirichlet(np.ones(size), size=tuple(SIZES[p] for p in own))
        for own, size in zip(parents, SIZES, strict=True)
    ]
    return BayesianNetwork(tuple("abcde"), parents, tuple(np.asarray(t) for t in tables))


def both(columns, people=40):
    """Tell about the same people with and without a list."""
    prior, queries = network(), MarginalQueries(SIZES, UNKNOWN, 2)
    rng = np.random.default_rng(5)
    world = People(prior, people)
    draw = world.draw(1, rng)
    listed = OtherColumns(prior, queries, columns)
    factored = FactoredColumns(prior, queries, CodesRight(columns))
    [one] = listed.reveal(world, draw, rng)
    [other] = factored.reveal(world, draw, rng)
    return one, other, draw, factored


@pytest.mark.parametrize("columns", CRITERIA)
def test_chances_are_those_of_the_joint_values(columns):
    listed, factored, draw, _ = both(columns)
    rng = np.random.default_rng(2)
    for _ in range(5):
        guess = np.stack([rng.integers(0, s, 40) for s in columns.guess_shape], axis=1)
        joint = np.ravel_multi_index(tuple(guess.T), columns.guess_shape)
        expected = listed.chances[np.arange(40), joint]
        assert factored.chance(guess) == pytest.approx(expected, abs=1e-12)
        assert factored.column_chances(guess) == pytest.approx(listed.column_chances(joint))
    secrets = factored.secrets(draw.data[0])
    expected = listed.secret_chance(listed.secrets(draw.data[0]))
    assert factored.secret_chance(secrets) == pytest.approx(expected)


@pytest.mark.parametrize("columns", CRITERIA)
@pytest.mark.parametrize("rounds", [0, 50])
def test_the_best_guess_is_the_best_or_nearly(columns, rounds, monkeypatch):
    """The best where the search ends; else never above the best there is, nor this the limit."""
    monkeypatch.setattr(best_guess, "_ROUNDS", rounds)
    listed, factored, _, _ = both(columns)
    found = factored.best_chance
    assert factored.chance(factored.best_guess) == pytest.approx(found)
    if rounds or columns.exact or columns.by_column:
        assert found == pytest.approx(listed.best_chance, abs=3e-9)
        assert (factored.best_limit == found).all()
    else:
        assert (factored.best_limit > found).any()
    assert (found <= listed.best_chance + 1e-12).all()
    assert (factored.best_limit >= listed.best_chance - 3e-9).all()
    assert found.mean() > listed.best_chance.mean() - 0.01


def test_fresh_people_have_the_prior_of_the_people_played():
    """Chi-squared over the joint values of three people; false alarm 1e-6."""
    from scipy import stats

    listed, factored, draw, side = both(ColumnsRight(SHAPE), people=3)
    rng = np.random.default_rng(3)
    again = np.concatenate([side.fresh(None, draw, [factored], rng) for _ in range(3000)])
    assert (again[:, :, [0, 4]] == draw.data[:, :, [0, 4]]).all()
    for i in range(3):
        joint = np.ravel_multi_index(tuple(again[:, i, list(UNKNOWN)].T), SHAPE)
        counts = np.bincount(joint, minlength=24)
        assert stats.chisquare(counts, 3000 * listed.prior[i]).pvalue > 1e-6 / 3


def test_codes_cannot_be_changed_and_secrets_are_not_told():
    _, factored, _, _ = both(ColumnsRight(SHAPE))
    assert not factored.codes[:, list(UNKNOWN)].any()
    with pytest.raises(ValueError, match="read-only"):
        factored.codes[0, 0] = 1


def test_a_prior_that_can_only_list_values_is_refused_with_a_remedy():
    queries = MarginalQueries(SIZES, UNKNOWN, 2)
    rows = np.zeros((1, 5), dtype=np.int32)
    prior = EmpiricalRows(tuple("abcde"), SIZES, rows, np.ones(1))
    side = FactoredColumns(prior, queries, CodesRight(ColumnsRight(SHAPE)))
    with pytest.raises(InputError, match=r"EmpiricalRows has no `factors`.*bayesian-network"):
        side.check(People(prior, 2))
    other = FactoredColumns(network(), MarginalQueries((3, 2, 4), (1,), 2), side.success)
    with pytest.raises(InputError, match="the prior has columns of"):
        other.check(People(network(), 2))
