"""What becomes of the values of a column, once all are known."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.tables import Bins
from narcissus.tables.coding import coding_of, mixed
from narcissus.tables.tally import RawColumn, ValueTally


def tally(*counted, missing=0):
    """ValueTally values that so many people have: ("a", 3), ..."""
    found = ValueTally("x")
    for value, times in [*counted, (None, missing)]:
        found.add(RawColumn("x", [value], np.zeros(times, dtype=np.int64)))
    return found


def test_numbers_in_their_order_with_what_is_missing_last():
    coding = coding_of(tally(("10", 2), ("9", 1), ("9.0", 5), missing=1), None, 200)
    assert coding.labels == ("9", "10", "(missing)")
    assert coding.codes.tolist() == [1, 0, 0, 2]
    assert coding.values is None
    whole = coding_of(tally(("10", 2), ("9", 1)), None, 200)
    assert whole.values.tolist() == [9, 10]
    assert whole.codes.tolist() == [1, 0, -1]


def test_quantiles_are_those_of_people():
    few = coding_of(tally(("1", 1), ("2", 1), ("3", 98)), Bins(quantiles=2), 200)
    assert few.labels == ("under 3", "3 and above")
    assert few.codes.tolist() == [0, 0, 1, -1]


def test_a_text_of_each_person_is_told_by_people_not_by_texts():
    coding_of(tally(("a", 1), ("b", 2), ("c", 1)), None, 200)
    with pytest.raises(InputError, match="another text in each of 3 rows"):
        coding_of(tally(("a", 1), ("b", 1), ("c", 1)), None, 200)


def test_the_label_for_missing_is_nobody_elses():
    assert coding_of(tally(("(missing)", 1), missing=2), None, 200).labels == (
        "(missing)",
        "((missing))",
    )


def test_truth_is_text_and_words_among_numbers_are_noted():
    assert coding_of(tally((True, 2), (False, 1)), None, 200).labels == ("False", "True")
    assert mixed(tally(("1", 2), ("2", 3))) == ""
    assert mixed(tally(("1", 2), ("?", 3), ("!", 1))) == ""  # mostly text
    said = mixed(tally(("1", 2), ("2", 1), ("?", 3), ("!", 1), ("3", 1)))
    assert "4 of 8 cells are not ('?' in row 4)" in said
