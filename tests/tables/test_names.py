"""What the name of a column says."""

from __future__ import annotations

import pytest

from narcissus.tables.names import CODES, IDENTIFIES, PUBLIC, SECRET, says, words


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("HomeZipcode_2", ["home", "zipcode", "2"]),
        ("yrs_married", ["yrs", "married"]),
        ("RAC1P", ["rac1p"]),
        ("patientID", ["patient", "id"]),
        (" Zipcode of Incident", ["zipcode", "of", "incident"]),
    ],
)
def test_words_of_a_name(name, found):
    assert set(found) <= set(words(name))


def test_a_word_within_another_says_nothing():
    assert says("annual-income", SECRET)
    assert not says("outcome", SECRET)
    assert not says("reunion", SECRET)
    assert not says("video", IDENTIFIES)
    assert says("user.ID", IDENTIFIES)
    assert not says("average", PUBLIC)
    assert says("zipCode", CODES)
    assert not says("", IDENTIFIES)
