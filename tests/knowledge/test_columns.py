"""What is told of people: their other columns, listed or factored, and types of people."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from narcissus.attacks.table import Targets
from narcissus.errors import InputError
from narcissus.knowledge import FactoredColumns, OtherColumns, OtherSecrets, columns
from narcissus.knowledge.columns import Types, row_keys
from narcissus.mechanisms import MarginalQueries
from narcissus.priors import BayesianNetwork, EmpiricalRows, best_guess
from narcissus.success import CodesRight, ColumnShare, ColumnsRight, exact_match
from narcissus.worlds import Draw, People

QUERIES = MarginalQueries((2, 3, 4), (2, 0), 2)
SUCCESS = ColumnsRight((4, 2), at_least=1)


class Chances:
    """A prior under which what is unknown depends on the middle column."""

    names, sizes = ("a", "b", "c"), (2, 3, 4)

    def __init__(self, factor=1.0, values=8):
        self.table = np.random.default_rng(9).dirichlet(np.ones(values), 3) * factor

    def sample(self, n, *, rng=None):
        raise NotImplementedError

    def conditional(self, codes, unknown):
        assert tuple(unknown) == (2, 0)
        assert not codes[:, [0, 2]].any()
        return self.table[codes[:, 1]]


def drawn(trials=3, n=50):
    rng = np.random.default_rng(2)
    return Draw(
        np.stack([rng.integers(0, s, (trials, n)) for s in QUERIES.sizes], -1).astype(np.int32)
    )


def test_the_unknown_columns_are_not_told():
    prior, draw, rng = Chances(), drawn(), np.random.default_rng(0)
    known = OtherColumns(prior, QUERIES, SUCCESS).reveal(None, draw, rng)
    assert len(known) == 3
    for targets, people in zip(known, draw.data, strict=True):
        assert (targets.codes[:, [0, 2]] == 0).all()
        np.testing.assert_array_equal(targets.codes[:, 1], people[:, 1])
        np.testing.assert_array_equal(targets.prior, prior.table[people[:, 1]])
        np.testing.assert_array_equal(targets.chances, SUCCESS.chances(targets.prior))
        for shared in (targets.codes, targets.prior):
            with pytest.raises(ValueError, match="read-only"):
                shared[0] = 1
    assert draw.data[..., [0, 2]].any()  # the data themselves are as they were


def test_fresh_people_have_the_same_known_columns_and_secrets_by_the_prior():
    """Chi-square of 60,000 secrets, false alarm 1e-6."""
    prior, draw, rng = Chances(), drawn(n=20_000), np.random.default_rng(7)
    side = OtherColumns(prior, QUERIES, SUCCESS)
    known = side.reveal(None, draw, rng)
    fresh = side.fresh(None, draw, known, rng)
    np.testing.assert_array_equal(fresh[..., 1], draw.data[..., 1])
    secrets = QUERIES.joint(fresh.reshape(-1, 3))
    middle = draw.data[..., 1].ravel()
    for value in range(3):
        of = secrets[middle == value]
        seen = np.bincount(of, minlength=8)
        assert stats.chisquare(seen, prior.table[value] * of.size).pvalue > 1e-6


def test_an_insider_is_told_all_secrets_besides():
    draw, rng = drawn(), np.random.default_rng(0)
    known = OtherColumns(Chances(), QUERIES, SUCCESS).reveal(None, draw, rng)
    told = OtherSecrets().add(draw, known)
    for insider, targets, people in zip(told, known, draw.data, strict=True):
        assert insider.targets is targets
        np.testing.assert_array_equal(insider.secrets, people[:, 2] * 2 + people[:, 0])


@pytest.mark.parametrize(
    ("prior", "says"), [(Chances(factor=2.0), "sum to 1"), (Chances(values=7), r"shape \(50, 8\)")]
)
def test_chances_that_are_none_are_refused(prior, says):
    with pytest.raises(InputError, match=says):
        OtherColumns(prior, QUERIES, SUCCESS).reveal(None, drawn(), np.random.default_rng(0))


def test_a_prior_of_other_columns_is_refused():
    other = MarginalQueries((2, 3, 5), (2, 0), 2)
    with pytest.raises(InputError, match="the prior has columns of"):
        OtherColumns(Chances(), other, SUCCESS).check(None)


@pytest.mark.parametrize("entries", [8, 30, 10**6])
def test_each_different_prior_is_asked_about_once(monkeypatch, entries):
    monkeypatch.setattr(columns, "ENTRIES", entries)
    [targets] = OtherColumns(Chances(), QUERIES, SUCCESS).reveal(None, drawn(1), None)
    asked = []

    def answer(rows):
        asked.append(rows)
        return np.stack([rows.max(axis=1), rows[:, 0]], axis=1)

    found = targets.each(answer)
    np.testing.assert_array_equal(found[:, 0], targets.prior.max(axis=1))
    np.testing.assert_array_equal(found[:, 1], targets.prior[:, 0])
    assert sum(map(len, asked)) == targets.alike.number == 3
    assert max(map(len, asked)) == min(3, entries // 8)


def test_fresh_secrets_do_not_depend_on_how_many_are_drawn_at_a_time(monkeypatch):
    side = OtherColumns(Chances(), QUERIES, SUCCESS)
    draw = drawn()
    known = side.reveal(None, draw, None)
    whole = side.fresh(None, draw, known, np.random.default_rng(3))
    monkeypatch.setattr(columns, "ENTRIES", 56)
    parts = side.fresh(None, draw, known, np.random.default_rng(3))
    np.testing.assert_array_equal(parts, whole)


def test_marginals_are_the_chances_of_each_column_in_the_order_of_the_unknown():
    draw = drawn(1, 20)
    prior = Chances()
    [targets] = OtherColumns(prior, QUERIES, SUCCESS).reveal(None, draw, None)
    first, second = targets.marginals
    for i, middle in enumerate(draw.data[0][:, 1]):
        table = prior.table[middle].reshape(4, 2)
        np.testing.assert_allclose(first[i], table.sum(axis=1))
        np.testing.assert_allclose(second[i], table.sum(axis=0))


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


def alike(rows):
    """Tell of each pair of people whether their rows are equal."""
    return (rows[:, None] == rows[None]).all(axis=2)


@pytest.mark.parametrize("sizes", [(2, 3), (2**20, 2**21, 3, 2**22, 2), (1,), ()])
def test_keys_are_equal_where_rows_are(sizes):
    """Also where the rows have more combinations than a whole number of 64 bits."""
    rng = np.random.default_rng(1)
    few = [rng.integers(0, size, 3) for size in sizes]
    codes = np.array([[rng.choice(column) for column in few] for _ in range(60)], dtype=np.int32)
    codes = codes.reshape(60, len(sizes))
    keys = row_keys(codes, sizes)
    np.testing.assert_array_equal(keys[:, None] == keys, alike(codes))


@pytest.mark.parametrize("block", [7, 1000])
def test_types_are_equal_known_columns_and_equal_priors(monkeypatch, block):
    monkeypatch.setattr(columns, "BLOCK", block)
    rng = np.random.default_rng(2)
    queries = MarginalQueries((2, 3, 4), (2,), 2)
    codes = np.stack([rng.integers(0, s, 80) for s in (2, 3, 1)], axis=1).astype(np.int32)
    prior = rng.dirichlet(np.ones(4), 3)[rng.integers(0, 3, 80)]
    found = Targets(queries, codes, prior, exact_match((4,))).types
    same = alike(np.hstack([codes, prior]))
    np.testing.assert_array_equal(found.of[:, None] == found.of, same)
    np.testing.assert_array_equal(found.first[found.of], same.argmax(axis=1))
    np.testing.assert_array_equal(found.people[found.of], same.sum(axis=1))
    assert 6 < found.number == len(np.unique(found.of)) < 80


def test_equal_rows_leave_types_as_they_are():
    some = Types.by(np.array([4, 4, 1]))
    assert some.split(np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]])) is some
    assert some.number == 2


@pytest.mark.parametrize("block", [7, 1000])
def test_equal_rows_are_found_among_numbers(monkeypatch, block):
    monkeypatch.setattr(columns, "BLOCK", block)
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(3), 9)[rng.integers(0, 9, 100)]
    found = Types.of_rows(rows)
    same = alike(rows)
    np.testing.assert_array_equal(found.of[:, None] == found.of, same)
    np.testing.assert_array_equal(rows[found.first][found.of], rows)
    assert found.number == 9


def test_rows_whose_keys_collide_are_told_apart(monkeypatch):
    monkeypatch.setattr(columns, "MIX", np.uint64(0))  # every key is 0
    rows = np.array([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])
    assert Types.of_rows(rows).of.tolist() == Types.of_rows(rows[::-1]).of.tolist() == [0, 1, 0]
