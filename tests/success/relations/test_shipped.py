"""Relations by definition and by enumeration: rows, strings, secrets, predicates."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Sha256
from narcissus.success.relations import (
    AnyOf,
    AtLeast,
    CloseAndUnique,
    FirstBit,
    Hamming,
    Isolates,
    Member,
    NamesSecret,
    OneOfPair,
    Pinned,
    Prefix,
    RandomRow,
    SameImage,
    TablePredicate,
)
from narcissus.success.relations.shipped import as_predicates
from narcissus.worlds import Bits, MonaLisa, Records, Secret, Uniform

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


UNEVEN = Bits(4, [0.1, 0.9, 0.5, 0.3])


def tuples(values, length):
    return np.array(list(product(range(values), repeat=length)))


@pytest.mark.parametrize("length", [None, 1, 3])
def test_a_prefix_is_the_first_entries(enumerated, length):
    size = 4 if length is None else length
    data, attempts = RNG.integers(0, 2, (60, 4)), RNG.integers(0, 2, (60, size))
    expected = [list(d[:size]) == list(z) for d, z in zip(data, attempts, strict=True)]
    assert Prefix(length).holds(data, attempts, RNG).tolist() == expected
    assert any(expected)
    every = tuples(2, size)
    exact = enumerated(Prefix(length), UNEVEN, every)
    assert Prefix(length).baseline(UNEVEN, every) == pytest.approx(exact)
    assert sum(exact) == pytest.approx(1)
    assert Prefix(length).baseline(Records(4, [0.5, 0.5]), every) is None
    found = Prefix(length).guesses(tuples(2, 4))
    np.testing.assert_array_equal(np.unique(found, axis=0), every)
    assert len(found) == len(every)


def test_rows_are_one_string_after_the_other():
    data = np.array([[[0, 1], [1, 0]]])
    assert Prefix(3).holds(data, np.array([[0, 1, 1]]), RNG)[0]
    assert Prefix().holds(data, data.copy(), RNG)[0]
    assert not Prefix(3).holds(data, np.array([[0, 1, 0]]), RNG)[0]


@pytest.mark.parametrize("length", [0, -1, 5, 9])
def test_a_prefix_is_at_least_one_and_no_longer_than_the_data(length):
    data = np.zeros((1, 4), dtype=int)
    with pytest.raises(InputError, match="`length` must be at"):
        Prefix(length).holds(data, data, RNG)
    with pytest.raises(InputError, match="`length` must be at"):
        Prefix(length).guesses(data)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_pinned_names_different_places_and_what_stands_there(enumerated, k):
    data = RNG.integers(0, 2, (200, 4))
    attempts = np.stack([RNG.integers(0, 4, (200, k)), RNG.integers(0, 2, (200, k))], axis=1)
    expected = [
        len(set(places)) == k and all(d[p] == e for p, e in zip(places, entries, strict=True))
        for d, (places, entries) in zip(data, attempts, strict=True)
    ]
    relation = Pinned(k)
    assert relation.holds(data, attempts, RNG).tolist() == expected
    assert any(expected)
    assert relation.coordinates == k
    every = np.stack(
        [np.repeat(tuples(4, k), 2**k, axis=0), np.tile(tuples(2, k), (4**k, 1))], axis=1
    )
    exact = enumerated(relation, UNEVEN, every)
    assert relation.baseline(UNEVEN, every) == pytest.approx(exact)
    assert relation.best(UNEVEN) == pytest.approx(max(exact))
    strange = np.stack([np.arange(k)[None], np.full((1, k), 2)], axis=1)
    assert relation.baseline(UNEVEN, strange).tolist() == [0]
    for other in (Records(4, [0.5, 0.5]), object()):
        assert relation.baseline(other, every) is None
        assert relation.best(other) is None


@pytest.mark.parametrize("k", [1, 2, 4])
def test_all_pinned_guesses_are_listed_once_and_lumped_at_the_first_places(k):
    data = tuples(3, 4)
    listed = Pinned(k).guesses(data).tolist()
    expected = [
        [list(places), list(entries)]
        for places in combinations(range(4), k)
        for entries in product(range(3), repeat=k)
    ]
    assert sorted(listed) == sorted(expected)
    lumped = Pinned(k).guesses(data, lumped=True).tolist()
    assert sorted(lumped) == sorted(one for one in expected if one[0] == list(range(k)))


def test_pinned_refuses_what_cannot_be_named():
    with pytest.raises(InputError, match="`k` must be at least 1"):
        Pinned(0)
    with pytest.raises(InputError, match="`k` is 5, and a data set has 4 places only"):
        Pinned(5).guesses(tuples(2, 4))
    with pytest.raises(InputError, match=f"8 of 40 places make {comb(40, 8) * 2**8} guesses"):
        Pinned(8).guesses(np.eye(40, dtype=int))
    # a million are listed, and no more
    thousand = np.arange(1000)[:, None].repeat(2, axis=1)
    assert len(Pinned(2).guesses(thousand)) == 1_000_000
    one_more = np.resize(np.arange(9901), (99, 101))
    with pytest.raises(InputError, match="1 of 101 places make 1000001 guesses"):
        Pinned(1).guesses(one_more)


def test_the_same_image_is_an_input_that_the_function_takes_there():
    relation, data = SameImage(Sha256(3)), tuples(2, 6).astype(np.uint8)
    images = [tuple(np.ravel(one)) for one in Sha256(3).release(data, RNG)]
    other = RNG.permutation(64)
    expected = [images[i] == images[j] for i, j in enumerate(other)]
    assert relation.holds(data, data[other].astype(float), RNG).tolist() == expected
    assert 0 < sum(expected) < 64
    found = [tuple(np.ravel(one)) for one in Sha256(3).release(relation.guesses(data), RNG)]
    assert len(found) == len(set(found)) == len(set(images))


def test_the_first_bit():
    data = np.array([[2, 0], [0, 5], [3, 3], [0, 1]])
    assert FirstBit().holds(data, np.array([2, 5, 3, 0]), RNG).tolist() == [True, False, True, True]
    assert FirstBit().guesses(data).tolist() == [0, 2, 3]
    rows = data.reshape(2, 2, 2)
    assert FirstBit().holds(rows, np.array([[2], [4]]), RNG).tolist() == [True, False]
    assert FirstBit().guesses(rows).tolist() == [2, 3]


# Cohen et al. 2024, proof of Theorem C.2: whether (S_0, z_1), (S_0, z_2), (S_1, z_1), (S_1, z_2)
# are in the relation.
@pytest.mark.parametrize(
    ("number", "pairs"), [(1, "1000"), (2, "1001"), (3, "1101"), (4, "0001"), (5, "1011")]
)
def test_the_relations_that_tell_two_data_sets_apart(number, pairs):
    expected = [one == "1" for one in pairs]
    for zero in (0, 7):
        data = np.array([[zero, 1], [zero, 1], [3, 1], [3, 1]])
        held = OneOfPair(number, zero).holds(data, np.array([0, 1, 0, 1]), RNG)
        assert held.tolist() == expected
    default = OneOfPair(number).holds(np.array([[0], [0], [3], [3]]), np.array([0, 1, 0, 1]), RNG)
    assert default.tolist() == expected
    assert OneOfPair(number).guesses(data).tolist() == [0, 1]


@pytest.mark.parametrize("number", [0, 6])
def test_there_are_five_of_them(number):
    with pytest.raises(InputError, match="`number`"):
        OneOfPair(number)


COINS = np.random.default_rng(1)


def test_it_holds_for_the_number_alone_and_knows_its_baseline():
    relation, world = NamesSecret(3), Secret([0.5, 0.3, 0.2])
    guesses = np.array([0, 2, 2])
    assert relation.holds(np.array([0, 1, 2]), guesses, COINS).tolist() == [True, False, True]
    assert relation.baseline(world, guesses).tolist() == [0.5, 0.2, 0.2]
    assert relation.baseline(Bits(1), guesses) is None
    assert relation.guesses(None).tolist() == [0, 1, 2]


@pytest.mark.parametrize("guess", [[3], [-1], [0.5], [[0]], ["0"]])
def test_what_is_no_secret_is_an_error(guess):
    with pytest.raises(InputError, match="number of a secret, 0 to 2"):
        NamesSecret(3).holds(np.array([0]), guess, COINS)


WORLDS = [Records(3, [0.5, 0.3, 0.2]), Uniform(2, 2), MonaLisa(3, 1, 0.4), Bits(4, 0.25)]


def test_a_table_of_predicates_is_looked_up_row_by_row():
    support = np.array([[0, 0], [0, 1], [1, 1]])
    holds = RNG.random((40, 3)) < 0.5
    rows = RNG.integers(0, 2, (40, 5, 2))
    said = TablePredicate(support, holds)(rows)
    for t, i in product(range(40), range(5)):
        listed = [k for k, value in enumerate(support) if list(value) == list(rows[t, i])]
        assert said[t, i] == any(holds[t, k] for k in listed)  # [1, 0] is in no list
    numbers = TablePredicate(np.array([1, 3]), np.array([[True, False], [False, True]]))
    assert numbers(np.array([[1, 2, 3], [1, 2, 3]])).tolist() == [
        [True, False, False], [False, False, True]
    ]  # fmt: skip
    assert len(numbers) == 2
    assert numbers.take(np.array([1])).holds.tolist() == [[False, True]]


@pytest.mark.parametrize("world", WORLDS, ids=repr)
def test_weights_and_baselines_of_all_predicates_by_enumeration(world):
    """Weight: over the records of a law; isolating: over all data sets."""
    written = world.enumerate()
    law = written.weight @ written.sample
    every = Isolates().guesses(written.data)
    values = np.unique(written.data.reshape(-1, *written.data.shape[2:]), axis=0)
    np.testing.assert_array_equal(every.support, values)
    assert len({tuple(one) for one in every.holds}) == len(every) == 2 ** len(values)
    weights = every.weight(world)
    isolating, drawn = Isolates().baseline(world, every), RandomRow().baseline(world, every)
    for place in range(len(every)):
        one = every.take(np.full(len(law), place))
        held = one(written.data)
        assert weights[place] == pytest.approx(law @ held[:, 0])
        assert drawn[place] == pytest.approx(law @ RandomRow().probability(written.data, one))
        chance = law @ Isolates().holds(written.data, one, RNG)
        assert isolating[place] == pytest.approx(chance)
        assert chance == pytest.approx(law @ (held.sum(axis=1) == 1))


def test_predicates_of_one_record_each():
    found = RandomRow().guesses(np.array([[3, 1], [1, 0]]))
    assert found.support.tolist() == [0, 1, 3]
    np.testing.assert_array_equal(found.holds, np.eye(3, dtype=bool))


def test_a_world_without_a_law_knows_no_weight():
    every = Isolates().guesses(np.array([[0, 1]]))
    for world in (Bits(2, [0.1, 0.2]), object()):
        assert every.weight(world) is None
        assert Isolates().baseline(world, every) is None
        assert RandomRow().baseline(world, every) is None


def test_at_most_twelve_records_are_put_into_predicates():
    assert len(Isolates().guesses(np.arange(12)[None])) == 2**12
    with pytest.raises(InputError, match=r"13 records make 2\^13 predicates"):
        Isolates().guesses(np.arange(13)[None])


def test_functions_of_a_user_are_predicates():
    rows = np.array([[0, 1, 2], [0, 1, 2], [0, 1, 2]])
    for functions in (
        [lambda row: row == 1, None, lambda row: 0.5],
        (lambda row: row == 1, None, lambda row: 0.5),
    ):
        made = as_predicates(functions)
        assert made(rows).tolist() == [[0, 1, 0], [0, 0, 0], [0.5, 0.5, 0.5]]
        assert len(made) == 3
        assert Isolates().holds(rows, functions, RNG).tolist() == [True, False, False]
        assert Isolates().baseline(Bits(3), functions) is None
        assert RandomRow().baseline(Bits(3), functions) is None
    pairs = as_predicates([lambda row: row[0] < row[1]] * 2)
    assert pairs(np.array([[[0, 1], [1, 0]], [[1, 1], [2, 3]]])).tolist() == [[1, 0], [0, 1]]

    def unknown(rows):
        return np.ones(rows.shape[:2])

    assert RandomRow().baseline(Bits(3), unknown) is None
    assert Isolates().baseline(Bits(3), unknown) is None
    assert as_predicates(made) is made
    for wrong in ([1, 2], np.array([1]), (None, "x"), "x"):
        with pytest.raises(InputError, match="predicates on records"):
            as_predicates(wrong)


def test_a_row_is_drawn_at_random_and_a_probability_is_tossed_for(within):
    """Of the rows 0, 0, 1 a predicate for 1 holds once in three; one that says .3 so often."""
    trials = 20_000
    rows = np.tile([0, 0, 1], (trials, 1))
    for functions, rate in (
        ([lambda row: row == 1] * trials, 1 / 3),
        ([lambda row: 0.3] * trials, 0.3),
    ):
        held = RandomRow().holds(rows, functions, np.random.default_rng(1))
        assert within(int(held.sum()), trials, rate)
    table = TablePredicate(np.array([0, 1]), np.tile([[False, True]], (trials, 1)))
    held = RandomRow().holds(rows, table, np.random.default_rng(2))
    assert within(int(held.sum()), trials, 1 / 3)
