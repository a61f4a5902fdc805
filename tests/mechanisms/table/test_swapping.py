"""Swapping: values change hands within pairs that agree, and nothing else changes."""

from collections import Counter

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.mechanisms import Columns, Microdata, Swapping
from narcissus.mechanisms.table.swapping import swap

COLUMNS = Columns(
    ("id", "group", "s"),
    (tuple(map(str, range(200))), ("0", "1", "2"), tuple(map(str, range(200)))),
    (False,) * 3,
    (2,),
)


def people(n=200, seed=1):
    """Everybody has a number of their own, and it is their secret too."""
    group = np.random.default_rng(seed).integers(0, 3, n)
    return np.stack([np.arange(n), group, np.arange(n)], axis=1).astype(np.int32)


@pytest.mark.parametrize(("rate", "moved"), [(0.0, 0), (0.05, 10), (0.1, 20), (1.0, 200)])
def test_so_many_people_have_the_value_of_their_partner(rate, moved):
    rows = swap(people(), np.random.default_rng(2), rate=rate, swapped=[2], match=[])
    assert (rows[:, 0] != rows[:, 2]).sum() == moved
    partner = dict(zip(rows[:, 0], rows[:, 2], strict=True))
    assert all(partner[partner[i]] == i for i in range(200))
    assert sorted(rows[:, 0]) == sorted(rows[:, 2]) == list(range(200))
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0]), 1], people()[:, 1])


@pytest.mark.parametrize("rate", [0.2, 1.0])
def test_the_two_of_a_pair_agree_on_what_must_match(rate):
    data = people()
    rows = swap(data, np.random.default_rng(3), rate=rate, swapped=[2], match=[1])
    np.testing.assert_array_equal(data[rows[:, 0], 1], data[rows[:, 2], 1])
    odd = sum(size % 2 for size in Counter(data[:, 1]).values())
    assert (rows[:, 0] != rows[:, 2]).sum() == min(round(rate * 200), 200 - odd)


def test_several_columns_move_together():
    rows = swap(people(), np.random.default_rng(4), rate=1.0, swapped=[1, 2], match=[])
    np.testing.assert_array_equal(rows[:, 1], people()[rows[:, 2], 1])
    assert (rows[:, 0] != rows[:, 2]).all()


def test_pairs_and_order_are_random():
    """Over 2,000 releases everybody is swapped with everybody, and is in every place."""
    partners, places, moved = np.zeros((6, 6)), np.zeros((6, 6)), 0
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        rows = swap(people(6), rng, rate=1 / 3, swapped=[2], match=[])
        partners[rows[:, 0], rows[:, 2]] += 1
        places[rows[:, 0], np.arange(6)] += 1
        moved += int((rows[:, 0] != rows[:, 2]).sum())
    assert moved == 4_000
    off = partners[~np.eye(6, dtype=bool)]
    assert np.abs(off / 2_000 - 1 / 15).max() < 0.03  # five standard deviations and more
    assert np.abs(places / 2_000 - 1 / 6).max() < 0.045


def test_a_partner_is_not_given_away_by_the_order():
    """With all pairs swapped, a row's partner is beside it no more often than anybody else."""
    rng, beside = np.random.default_rng(6), 0
    for _ in range(400):
        rows = swap(people(20), rng, rate=1.0, swapped=[2], match=[])
        beside += int((rows[1:, 0] == rows[:-1, 2]).sum())
    assert beside / 400 == pytest.approx(1.0, abs=0.25)  # 19 neighbours, each with chance 1/19


def test_few_rows_are_no_difficulty():
    for n in (0, 1, 2):
        rows = swap(people(n), np.random.default_rng(0), rate=1.0, swapped=[2], match=[1])
        assert rows.shape == (n, 3)


def test_released_are_rows_with_the_unknown_columns_swapped():
    prepared = Swapping(rate=0.5).prepare(COLUMNS)
    [release] = prepared.release(people()[None], np.random.default_rng(7))
    assert isinstance(release, Microdata)
    assert (release.rows[:, 0] != release.rows[:, 2]).sum() == 100
    assert (prepared.guarantee, prepared.cellwise) == (None, False)
    other = Swapping(rate=1.0, columns=["id"], match=["group"]).prepare(COLUMNS)
    [release] = other.release(people()[None], np.random.default_rng(7))
    np.testing.assert_array_equal(people()[release.rows[:, 2], 1], release.rows[:, 1])


def test_it_is_named_and_ordered_by_its_rate():
    planned = Swapping(rate=0.05)
    assert (planned.label, planned.strength, planned.title) == ("rate 0.05", 0.05, "Swapped rows")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rate": 1.5}, r"`rate` must be in \[0, 1\]"),
        ({"rate": 0.1, "columns": []}, "at least one column"),
        ({"rate": 0.1, "columns": ["s"], "match": ["s"]}, "both name `s`"),
        ({"rate": 0.1, "match": ["s"]}, "`s`, which is unknown and thus swapped"),
        ({"rate": 0.1, "match": ["grup"]}, "did you mean `group`"),
    ],
)
def test_what_cannot_be_swapped_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        Swapping(**options).prepare(COLUMNS)


def test_everybody_with_a_partner_is_as_likely_to_be_swapped():
    """The groups of ``match`` have their share of the swaps: 4,000 releases, six deviations."""
    data = people(30)
    data[:, 1] = np.repeat([0, 1, 2], 10)
    rng, moved = np.random.default_rng(8), np.zeros(30)
    for _ in range(4_000):
        rows = swap(data, rng, rate=0.2, swapped=[2], match=[1])
        moved[rows[rows[:, 0] != rows[:, 2], 0]] += 1
    assert np.abs(moved / 4_000 - 0.2).max() < 6 * np.sqrt(0.2 * 0.8 / 4_000)
