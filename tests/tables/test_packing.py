"""Records as keys of one word or several: their order, their counts, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import TooLargeError
from narcissus.tables import counted
from narcissus.tables.counted import Distinct, Packing, tallied, tallied_columns

SIZES = [
    (2, 3, 4),  # far from a word
    (2**32, 2**32),  # exactly a word
    (2**32, 2**32 + 1),  # a little more
    (200,) * 16,  # three words
    (1, 7, 1),
    (70_000, 3),
]


def records(sizes, n, rng):
    """Some that repeat, with the smallest and the largest codes."""
    few = [rng.integers(0, size, 6) for size in sizes]
    for column, size in zip(few, sizes, strict=True):
        column[0], column[1] = 0, size - 1
    return np.column_stack([column[rng.integers(0, 6, n)] for column in few])


@pytest.mark.parametrize("sizes", SIZES)
def test_keys_go_back_to_their_records_and_keep_their_order(sizes):
    codes = records(sizes, 300, np.random.default_rng(1))
    packed = Packing(sizes)
    keys = packed.pack(list(codes.T))
    np.testing.assert_array_equal(packed.unpack(keys), codes)
    assert packed.unpack(keys).dtype == np.min_scalar_type(max(sizes) - 1)
    by_key = np.lexsort(keys.T[::-1])
    by_record = np.lexsort(codes.T[::-1])
    np.testing.assert_array_equal(codes[by_key], codes[by_record])


def test_as_many_columns_as_fit_are_in_a_word():
    assert Packing((2**32, 2**32)).words == [range(2)]
    assert Packing((2**32, 2**32, 2)).words == [range(2), range(2, 3)]
    assert len(Packing((200,) * 8).words) == 1
    assert len(Packing((200,) * 16).words) == 3


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("waiting", [0, 40, 10**6])
def test_distinct_records_are_counted_as_numpy_counts_them(sizes, waiting, monkeypatch):
    monkeypatch.setattr(counted, "_WAITING", waiting)
    rng = np.random.default_rng(2)
    codes = records(sizes, 500, rng)
    distinct = Distinct(sizes, 500)
    for part in np.split(codes, [0, 13, 14, 300]):
        distinct.add(list(part.T))
    expected, times = np.unique(codes, axis=0, return_counts=True)
    found, counts = distinct.records()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counts, times)
    assert distinct.rows == 500
    keep = [2, 0] if len(sizes) > 2 else [1]
    few, sums = tallied_columns([found[:, j] for j in keep], [sizes[j] for j in keep], counts)
    expected, times = np.unique(codes[:, keep], axis=0, return_counts=True)
    np.testing.assert_array_equal(few, expected)
    np.testing.assert_array_equal(sums, times)


def test_counts_beyond_a_word_of_32_bits():
    keys = np.zeros((3, 1), dtype=np.uint64)
    found, counts = tallied(keys, np.array([2**40, 2**40, 1]))
    assert found.tolist() == [[0]]
    assert counts.tolist() == [2**41 + 1]


@pytest.mark.parametrize(("words", "sizes"), [(1, (1000, 2)), (2, (2**63, 2**30))])
def test_more_distinct_records_than_fit_are_refused_as_soon_as_they_are_met(
    words, sizes, monkeypatch
):
    monkeypatch.setattr(counted, "_WAITING", 10)
    monkeypatch.setattr(counted, "MOST_BYTES", 60 * (24 * words + 40))
    distinct = Distinct(sizes, 700)
    assert distinct.most == 50
    for start in range(0, 40, 20):
        distinct.add([np.arange(start, start + 20), np.zeros(20, int)])
    distinct.add([np.arange(40), np.zeros(40, int)])  # nobody new
    said = r"100 of 700 rows have 60 distinct records of 2 columns; at most 50 .*, in .* GiB"
    with pytest.raises(TooLargeError, match=said):
        distinct.add([np.arange(40, 60), np.zeros(20, int)])
