"""What becomes of the values of a column, once all are known."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.tables import Bins
from narcissus.tables.coding import codes_by_labels, coding_of, mixed
from narcissus.tables.tally import RawColumn, ValueTally


def tally(*counted, missing=0):
    """ValueTally values that so many people have: ("a", 3), ..."""
    found = ValueTally("x")
    for value, times in [*counted, (None, missing)]:
        found.add(RawColumn("x", [value], np.zeros(times, dtype=np.int64)))
    return found


def noted(values, bins=None):
    return mixed(values, coding_of(values, bins, 200), bins)


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
    assert noted(tally(("1", 2), ("2", 3))) == ""
    assert noted(tally(("1", 2), ("?", 3), ("!", 1))) == ""  # mostly text
    said = noted(tally(("1", 2), ("2", 1), ("?", 3), ("!", 1), ("3", 1)))
    assert "4 of 8 cells are not ('?' in row 4)" in said
    assert noted(tally(("1", 2), ("2", 1), ("?", 3)), Bins(width=1, codes=["?"])) == ""


def test_codes_stay_beside_the_bins_however_they_are_written():
    values = tally(("30", 5), ("N", 2), ("-9", 1), ("41", 1), ("-9.0", 3), missing=1)
    coding = coding_of(values, Bins(width=10, codes=["N", -9]), 200)
    assert coding.labels == ("30 to 39", "40 to 49", "-9", "N", "(missing)")
    assert coding.codes.tolist() == [0, 3, 2, 1, 2, 4]
    assert coding.values is None
    assert coding_of(values, Bins(width=10, codes=["N", "-9"]), 200).labels == coding.labels


def test_codes_have_labels_of_their_own_and_leave_numbers():
    inside = coding_of(tally(("1", 1), ("2", 1), ("3", 1)), Bins(width=1, codes=[2]), 200)
    assert inside.labels == ("1", "2", "3", "(2)")
    assert inside.codes.tolist() == [0, 3, 2, -1]
    with pytest.raises(InputError, match="every value is one of its `codes`"):
        coding_of(tally(("1", 1), ("2", 1)), Bins(width=1, codes=[1, 2]), 200)
    with pytest.raises(InputError, match=r"not numbers: it holds 'M'; name .* in `codes`"):
        coding_of(tally(("1", 1), ("N", 1), ("M", 1)), Bins(width=1, codes=["N"]), 200)


def test_common_values_stay_and_all_others_become_one():
    towns = tally(("d", 1), ("c", 2), ("a", 2), ("b", 2), ("e", 1), missing=1)
    coding = coding_of(towns, Bins(common=2), 200)
    assert coding.labels == ("a", "b", "(other)", "(missing)")
    assert coding.codes.tolist() == [2, 2, 0, 1, 2, 3]
    assert coding.values is None


def test_common_numbers_are_those_of_most_people_in_their_order():
    codes = tally(("10115", 1), ("9", 3), ("9.0", 3), ("80331", 5), ("7", 1))
    coding = coding_of(codes, Bins(common=2), 200)
    assert coding.labels == ("9", "80331", "(other)")
    assert coding.codes.tolist() == [2, 0, 0, 1, 2, -1]
    whole = coding_of(codes, Bins(common=4), 200)  # nothing is rare: as without bins
    assert whole.labels == ("7", "9", "10115", "80331")
    assert whole.values.tolist() == [7, 9, 10115, 80331]


def test_common_texts_identify_nobody():
    with pytest.raises(InputError, match="another text in each of 3 rows"):
        coding_of(tally(("a", 1), ("b", 1), ("c", 1)), Bins(common=1), 200)
    assert coding_of(tally(("(other)", 3), ("b", 1)), Bins(common=1), 200).labels == (
        "(other)",
        "((other))",
    )


def test_whole_numbers_of_64_bits_are_told_apart():
    coding = coding_of(tally(("9007199254740993", 1), ("9007199254740992", 2)), None, 200)
    assert coding.labels == ("9007199254740992", "9007199254740993")
    assert coding.codes.tolist() == [1, 0, -1]


def test_another_file_has_the_codes_of_the_table_whatever_its_spelling():
    found = ["9.0", "010", 9, "x", "(missing)", " N"]
    codes = codes_by_labels("x", found, ("9", "10", "N", "(missing)"))
    assert codes.tolist() == [0, 1, 0, -1, 3, 2]
    settled = coding_of(tally(("1", 9), ("2", 9), ("3", 9), ("4", 9)), Bins(quantiles=2), 9).settled
    assert codes_by_labels("x", ["1.0", "7", "03"], settled.labels, settled).tolist() == [0, 1, 1]
    tens = coding_of(tally(("12", 9), ("30", 9)), Bins(width=10), 9).settled
    assert codes_by_labels("x", ["9", "25.5", "40", "10 to 19"], tens.labels, tens).tolist() == [
        -1, 1, -1, 0,
    ]  # fmt: skip
