"""Rows from a function: what it is given, what is released, and into what the rows are counted."""

import numpy as np
import pytest

from narcissus.guarantees import PureDP
from narcissus.mechanisms import Columns, MarginalQueries, Microdata
from narcissus.mechanisms.table.rows import PreparedRows


def columns_of(number, unknown=(0,)):
    names = tuple(f"c{i}" for i in range(number))
    return Columns(names, (("0", "1"),) * number, (False,) * number, unknown)


def same(codes, rng):
    return codes


@pytest.mark.parametrize(("number", "k"), [(1, 1), (2, 2), (3, 3), (5, 3)])
def test_rows_are_counted_into_tables_of_three_columns_or_as_many_as_there_are(number, k):
    prepared = PreparedRows.of(columns_of(number, (number - 1,)), same)
    assert prepared.queries == MarginalQueries((2,) * number, (number - 1,), k)


def test_what_is_said_of_it_is_kept():
    plain = PreparedRows.of(columns_of(2), same)
    assert (plain.guarantee, plain.assumes, plain.must_vary) == (None, (), False)
    told = PreparedRows.of(columns_of(2), same, PureDP(1.0), assumes=("it does",), must_vary=True)
    assert (told.guarantee, told.assumes, told.must_vary) == (PureDP(1.0), ("it does",), True)
    assert told.make is same
    assert (told.releases, told.noise, told.cellwise) == (Microdata, None, False)


def test_each_data_set_is_released_in_turn_by_one_generator():
    seen = []

    def noted(codes, rng):
        seen.append((codes.dtype, codes.tolist(), rng.random()))
        return codes[:1]

    data = np.array([[[0, 0], [1, 1]], [[0, 1], [1, 1]], [[1, 0], [0, 0]]])
    releases = PreparedRows.of(columns_of(2), noted).release(data, np.random.default_rng(4))
    coins = np.random.default_rng(4).random(3).tolist()
    assert seen == [(np.int32, d, c) for d, c in zip(data.tolist(), coins, strict=True)]
    assert [release.rows.tolist() for release in releases] == data[:, :1].tolist()


def test_a_function_that_writes_into_its_rows_changes_nobody():
    def spoilt(codes, rng):
        codes[:] = 1
        return codes

    data = np.zeros((1, 4, 2), dtype=np.int32)
    (release,) = PreparedRows.of(columns_of(2), spoilt).release(data, np.random.default_rng(0))
    assert release.rows.all()
    assert not data.any()


def test_released_rows_cannot_be_written_to():
    def turned(codes, rng):
        return codes.astype(float)[:, ::-1][:, ::-1].T.copy().T

    data = np.eye(2, dtype=np.int64)[None]
    (release,) = PreparedRows.of(columns_of(2), turned).release(data, np.random.default_rng(0))
    assert release.rows.dtype == np.int32
    assert release.rows.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        release.rows[0, 0] = 1
