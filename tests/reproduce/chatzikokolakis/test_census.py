"""The made table has the Census's size; a user's file is read, and refused where it is another."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.reproduce import Given
from narcissus.reproduce.chatzikokolakis import census


@pytest.fixture
def folder(tmp_path):
    """Write a small file of the Census's form: caseid, three of its other columns, ours."""
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.integers(0, n, 500) for n in (9, 8, 5, 5, 2)])
    lines = [",".join(map(str, (i, *row))) for i, row in enumerate(rows)]
    text = "\n".join(["caseid,iClass,dAge,dIncome1,iMarital,iSex", *lines, ""])
    (tmp_path / census.FILE.name).write_text(text)
    return tmp_path, rows[:, 1:]


def test_what_is_made_is_as_large_and_uneven():
    held, is_read = census.counts(Given())
    assert not is_read
    assert held.shape == (400,)
    assert held.sum() == census.RECORDS
    by_age = held.reshape(8, 5, 5, 2)
    assert by_age[:2, 1:].sum() == 0  # no child earns
    assert by_age[:2, :, :4].sum() == 0  # or is married
    assert (held > 0).sum() < 300
    assert np.array_equal(held, census.made.__wrapped__())


@pytest.mark.states("Chatzikokolakis et al. 2023", "Appendix H")
def test_a_users_file_is_counted(folder):
    path, rows = folder
    held, is_read = census.counts(Given(data=path))
    assert is_read
    assert held.sum() == 500
    one = rows[7]
    place = np.ravel_multi_index(tuple(one), (8, 5, 5, 2))
    assert held[place] == (rows == one).all(axis=1).sum()


def test_another_table_is_refused(tmp_path):
    path = tmp_path / census.FILE.name
    path.write_text(
        "dAge,dIncome1,iMarital,iSex\n"
        + "".join(f"{i},{i % 2},{i % 2},{i % 2}\n" for i in range(9))
    )
    with pytest.raises(InputError, match="dAge 8"):
        census.counts(Given(data=tmp_path))


def test_a_folder_without_the_file_is_like_none(tmp_path):
    assert not census.counts(Given(data=tmp_path))[1]
