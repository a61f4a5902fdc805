"""Relations about rows, against their definitions and against all data sets of small worlds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success.relations import AnyOf, AtLeast, CloseAndUnique, Hamming, Member, Prefix
from narcissus.worlds import Bits, MonaLisa, Records, Uniform

RNG = np.random.default_rng(0)
POINTS = [[0.0, 0.0], [1.0, 0.0], [3.0, 4.0]]


# SciPy 1.17's binomial distribution function gives 0 for the last two.
@pytest.mark.parametrize(("d", "allowed"), [(12, 3), (1000, 2), (1116, 37), (1193, 32)])
def test_the_baseline_of_near_rows_by_exact_integers(d, allowed):
    rows = Fraction(sum(math.comb(d, j) for j in range(allowed + 1)), 2**d)
    found = Hamming(allowed / d).baseline(Uniform(3, d), np.zeros((1, d)))
    assert found == pytest.approx(float(1 - (1 - rows) ** 3), rel=1e-11, abs=0)


def rows_of(levels, d):
    return np.array(list(product(range(levels), repeat=d)))


@pytest.mark.parametrize(
    ("world", "attempts"),
    [
        (MonaLisa(3, 2, 0.3), rows_of(2, 2)),
        (MonaLisa(1, 1, 0.9), rows_of(2, 1)),
        (Uniform(3, 2), rows_of(2, 2)),
        (Uniform(2, 2, 3), rows_of(3, 2)),
        (Records(3, [0.5, 0.3, 0.2]), np.arange(4)),
        (Records(2, [0.2, 0.5, 0.3], POINTS), np.array([*POINTS, [9.0, 9.0]])),
        (Records(1, [1.0, 0.0]), np.arange(2)),
    ],
    ids=repr,
)
def test_a_member_is_named_with_its_exact_chance(enumerated, world, attempts):
    exact = enumerated(Member(), world, attempts)
    assert Member().baseline(world, attempts) == pytest.approx(exact)
    assert Member().best(world) == pytest.approx(max(exact))


def test_a_member_has_no_formula_where_records_differ():
    for world in (Records(2, [[0.5, 0.5], [0.1, 0.9]]), Bits(3), object()):
        assert Member().baseline(world, np.array([0])) is None
        assert Member().best(world) is None


def test_members_are_the_rows_that_are_the_attempt():
    data, attempts = RNG.integers(0, 2, (50, 3, 2)), RNG.integers(0, 2, (50, 2))
    expected = [[list(row) == list(z) for row in d] for d, z in zip(data, attempts, strict=True)]
    assert Member().matches(data, attempts).tolist() == expected
    assert Member().holds(data, attempts, RNG).tolist() == [any(one) for one in expected]
    numbers = Member().matches(data[..., 0], attempts[:, 0])
    np.testing.assert_array_equal(numbers, data[..., 0] == attempts[:, :1])
    np.testing.assert_array_equal(
        Member().guesses(data[:2]), np.unique(data[:2].reshape(6, 2), axis=0)
    )
    assert Member().guesses(np.array([[3, 1], [1, 2]])).tolist() == [1, 2, 3]


@pytest.mark.parametrize("gamma", [0.0, 0.34, 0.5, 0.67, 1.0])
def test_near_rows_by_definition_and_their_exact_chance(enumerated, gamma):
    data, attempts = RNG.integers(0, 2, (60, 2, 3)), RNG.integers(0, 2, (60, 3))
    far = (data != attempts[:, None]).sum(axis=2)
    expected = [[Fraction(int(f), 3) <= Fraction(str(gamma)) for f in one] for one in far]
    relation = Hamming(gamma)
    assert relation.matches(data, attempts).tolist() == expected
    assert relation.holds(data, attempts, RNG).tolist() == [any(one) for one in expected]
    one_string = relation.holds(data[:, 0], attempts, RNG)
    assert one_string.tolist() == [one[0] for one in expected]
    exact = enumerated(relation, Uniform(2, 3), attempts)
    assert relation.baseline(Uniform(2, 3), attempts) == pytest.approx(exact)
    for world in (Uniform(2, 3, 3), Records(2, [0.5, 0.5]), MonaLisa(2, 3)):
        assert relation.baseline(world, attempts) is None


def test_a_share_that_is_a_whole_number_of_places_but_for_rounding_allows_them():
    """.29 of 100 places is 28.999999999999996 in floating point."""
    assert 0.29 * 100 < 29
    row = np.zeros((1, 1, 100), dtype=int)
    for places, held in ((29, True), (30, False)):
        attempt = (np.arange(100) < places)[None].astype(int)
        assert Hamming(0.29).holds(row, attempt, RNG).tolist() == [held]
    inside = Fraction(sum(math.comb(100, j) for j in range(30)), 2**100)
    found = Hamming(0.29).baseline(Uniform(1, 100), np.zeros((1, 100)))
    assert found == pytest.approx(float(inside), rel=1e-9)


def test_all_rows_of_bits_are_guesses_up_to_two_to_the_sixteen():
    data = np.zeros((1, 2, 3), dtype=np.uint8)
    found = Hamming(0.1).guesses(data)
    np.testing.assert_array_equal(found, rows_of(2, 3))
    assert found.dtype == np.uint8
    assert len(Hamming(0.1).guesses(np.zeros((1, 16), dtype=np.uint8))) == 2**16
    with pytest.raises(InputError, match=r"rows of 17 bits make 2\^17 guesses"):
        Hamming(0.1).guesses(np.zeros((1, 17)))


def test_close_and_unique_by_definition():
    data, attempts = RNG.integers(0, 6, (300, 3, 2)), RNG.integers(0, 6, (300, 2))
    held = CloseAndUnique(close=1.0, unique=2.0).holds(data, attempts, RNG)
    for rows, attempt, found in zip(data, attempts, held, strict=True):
        expected = any(
            math.dist(row, attempt) <= 1
            and all(math.dist(row, rows[j]) > 2 for j in range(3) if j != i)
            for i, row in enumerate(rows)
        )
        assert found == expected
    assert 0 < held.sum() < 300
    for wrong in ((-1, 1), (1, -1), (float("nan"), 1)):
        with pytest.raises(InputError):
            CloseAndUnique(*wrong)
    with pytest.raises(InputError, match="`close-and-unique` needs rows of attributes"):
        CloseAndUnique(1, 1).holds(np.zeros((2, 3)), attempts, RNG)


@pytest.mark.parametrize("close", [0.0, 1.0])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_at_least_so_many_rows_are_found_by_definition(close, count):
    data = RNG.integers(0, 3, (200, 3, 2))
    lists = [RNG.integers(0, 3, (int(size), 2)) for size in RNG.integers(0, 7, 200)]
    held = AtLeast(count, close).holds(data, lists, RNG)
    for rows, guesses, found in zip(data, lists, held, strict=True):
        near = [any(math.dist(row, guess) <= close for guess in guesses) for row in rows]
        assert found == (sum(near) >= count)
    assert 0 < held.sum() < 200


def test_lists_have_at_least_one_right():
    for relation in (lambda: AtLeast(0), lambda: AnyOf(Member(), 0), lambda: AtLeast(1, -1.0)):
        with pytest.raises(InputError, match="must be"):
            relation()
    with pytest.raises(InputError, match="`at-least` needs rows of attributes"):
        AtLeast(1).holds(np.zeros((2, 3)), [[], []], RNG)


@pytest.mark.parametrize("count", [1, 2])
def test_any_of_a_list_by_definition(count):
    """Lists of different lengths, for data that is an array and for data that is not."""
    data = RNG.integers(0, 3, (100, 2))
    lists = [list(RNG.integers(0, 3, (int(size), 2))) for size in RNG.integers(0, 5, 100)]
    expected = [
        sum(list(guess) == list(d) for guess in guesses) >= count
        for d, guesses in zip(data, lists, strict=True)
    ]
    assert AnyOf(Prefix(), count).holds(data, lists, RNG).tolist() == expected
    assert any(expected)

    class Equal:
        def holds(self, data, attempt, rng):
            return np.array([list(d) == list(z) for d, z in zip(data, attempt, strict=True)])

    assert AnyOf(Equal(), count).holds(list(data), lists, RNG).tolist() == expected
    assert AnyOf(Equal()).holds(data[:0], [], RNG).tolist() == []


@pytest.mark.parametrize(("n", "gamma"), [(10, 0.4), (8, 0.125), (5, 0.0), (64, 0.05)])
def test_the_baseline_of_a_string_of_fair_bits(n, gamma):
    """The string is the only row: so many of its bits may be wrong."""
    allowed = int(gamma * n + 1e-9)
    found = Hamming(gamma).baseline(Bits(n), np.zeros((2, n)))
    assert found == pytest.approx([sum(math.comb(n, k) for k in range(allowed + 1)) / 2**n] * 2)
    assert Hamming(gamma).baseline(Bits(n, 0.4), np.zeros((2, n))) is None
