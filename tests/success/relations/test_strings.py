"""Relations about a string, against their definitions and against all data sets of small worlds."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Sha256
from narcissus.success.relations import FirstBit, NamesSecret, OneOfPair, Pinned, Prefix, SameImage
from narcissus.worlds import Bits, Records, Secret

RNG = np.random.default_rng(0)
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
