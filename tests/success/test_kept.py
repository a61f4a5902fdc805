"""What is asked of surprisal for a row to count."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.success import KeptSurprisal


@pytest.mark.states("Kaplan et al. 2025", "Definition 4.4", "Remark 4.5")
def test_a_share_and_bits_are_both_asked_for():
    told, plain = np.array([1.0, 5.0, 9.0, 9.0]), np.array([2.0, 20.0, 10.0, 30.0])
    assert KeptSurprisal(0.5).enough(told, plain).tolist() == [True, False, True, False]
    assert KeptSurprisal(0.5, bits=3).enough(told, plain).tolist() == [False, False, True, False]
    assert KeptSurprisal(0.0, bits=5).enough(told, plain).tolist() == [False, True, True, True]


def test_of_fresh_data_something_is_asked_only_where_it_is_said():
    assert KeptSurprisal(0.5).of_fresh is None
    assert KeptSurprisal(0.5, 7, 0.2).of_fresh == KeptSurprisal(0.2)
    assert KeptSurprisal.of(0.5) == KeptSurprisal(0.5)
    assert KeptSurprisal.of(KeptSurprisal(0.1, 2)) == KeptSurprisal(0.1, 2)


@pytest.mark.parametrize(
    ("asked", "match"),
    [((1.5,), "`share`"), ((0.5, -1), "`bits`"), ((0.5, 0, 2), "`fresh_share`")],
)
def test_what_cannot_be_asked(asked, match):
    with pytest.raises(InputError, match=match):
        KeptSurprisal(*asked)
