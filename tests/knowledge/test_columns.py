"""What is told of people: their other columns, or everybody else's secrets besides."""

import numpy as np
import pytest
from scipy import stats

from narcissus.errors import InputError
from narcissus.knowledge import OtherColumns, OtherSecrets, columns
from narcissus.mechanisms import MarginalQueries
from narcissus.success import ColumnsRight
from narcissus.worlds import Draw

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
    ("prior", "says"),
    [(Chances(factor=2.0), "sum to 1"), (Chances(values=7), r"shape \(50, 8\)")],
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
