"""Batches of anything: what is one entry, and a selection."""

import numpy as np
import pytest

from narcissus.worlds.batches import distinct, gather, key_of, stacked

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "batch",
    [
        RNG.integers(0, 2, (60, 3)),
        RNG.integers(0, 2, (60, 1), dtype=np.uint8),
        RNG.integers(0, 2, (60, 2, 2), dtype=np.uint8),
        RNG.integers(0, 3, 60),
        RNG.random((60, 2)).round(1),
        RNG.random((60, 2)) < 0.5,
        np.zeros((5, 0)),
    ],
    ids=lambda b: f"{b.dtype}{b.shape}",
)
def test_distinct_entries_of_an_array(batch):
    kept, inverse = distinct(batch)
    assert kept.dtype == batch.dtype
    np.testing.assert_array_equal(kept[inverse], batch)
    assert len(kept) == len({entry.tobytes() for entry in batch})


def test_minus_zero_is_zero():
    kept, inverse = distinct(np.array([[0.0], [-0.0], [1.0]]))
    assert len(kept) == 2
    assert inverse[0] == inverse[1] != inverse[2]
    assert key_of(np.float64(-0.0)) == key_of(np.float32(0.0))


def test_distinct_entries_of_a_list_stand_in_the_order_in_which_they_came():
    entries = ["b", np.array([1, 2]), [1, "x"], "a", np.array([1, 2], dtype=np.int8), [1, "x"], "b"]
    kept, inverse = distinct(entries)
    assert [type(one) for one in kept] == [str, np.ndarray, list, str]
    assert inverse.tolist() == [0, 1, 2, 3, 1, 2, 0]
    objects = np.array([(1, 2), None, (1, 2)], dtype=object)
    assert distinct(objects)[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.int8(1), np.uint64(1), True),
        (np.array(True), np.int8(1), True),
        (np.float32(0.5), np.float64(0.5), True),
        (np.array([1, 2]), np.array([[1, 2]]), False),
        (np.array([1, 2]), np.array([2, 1]), False),
        ((1, np.array([2])), [1, np.array([2])], True),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        ("a", "b", False),
    ],
)
def test_keys_tell_entries_apart_by_what_they_hold(one, other, same):
    assert (key_of(one) == key_of(other)) == same
    hash(key_of(one))


def test_numbers_and_arrays_of_one_shape_are_one_array():
    assert stacked([1, 2.5, np.float64(3)]).tolist() == [1, 2.5, 3]
    assert stacked([np.zeros(2), np.ones(2)]).shape == (2, 2)
    for entries in ([], [np.zeros(2), np.zeros(3)], ["a", "b"], [np.zeros(2), None], [1, [2]]):
        assert stacked(entries) is entries


def test_a_selection_is_of_the_kind_of_the_batch():
    index = np.array([2, 0])
    assert gather(np.array([5, 6, 7]), index).tolist() == [7, 5]
    assert gather(["a", "b", "c"], index) == ["c", "a"]
