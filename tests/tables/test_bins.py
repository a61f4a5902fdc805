"""Bins: which bin a number falls into, and what the bins are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narcissus.errors import InputError
from narcissus.tables import Bins


def binned(numbers, **how):
    codes, labels = Bins(**how).apply(np.array(numbers, dtype=float))
    return codes.tolist(), list(labels)


@pytest.mark.parametrize(
    ("numbers", "how", "codes", "labels"),
    [
        ([30, 39, 40, 65], {"width": 10}, [0, 0, 1, 3],
         ["30 to 39", "40 to 49", "50 to 59", "60 to 69"]),
        ([0.1, 0.2, 0.3, 0.35], {"width": 0.1}, [0, 1, 2, 2],
         ["0.1 to under 0.2", "0.2 to under 0.3", "0.3 to under 0.4"]),
        ([-5, -1, 0, 4], {"width": 5}, [0, 0, 1, 1], ["-5 to -1", "0 to 4"]),
        ([2, 3], {"width": 1}, [0, 1], ["2", "3"]),
        ([3, 17, 18, 64, 65, 90], {"edges": [18, 65]}, [0, 0, 1, 1, 2, 2],
         ["under 18", "18 to 64", "65 and above"]),
        # outer bins only where somebody is
        ([20, 30, 70], {"edges": [0, 18, 65, 100]}, [1, 1, 2],
         ["0 to 17", "18 to 64", "65 to 99"]),
        ([0.5, 2], {"edges": [1]}, [0, 1], ["under 1", "1 and above"]),
        ([0.5, 1, 2], {"edges": [0, 1.5, 3]}, [0, 0, 1], ["0 to under 1.5", "1.5 to under 3"]),
        ([0, 0.1, 3], {"above": 0}, [0, 1, 1], ["at most 0", "above 0"]),
    ],
)  # fmt: skip
def test_bins_and_their_labels(numbers, how, codes, labels):
    assert binned(numbers, **how) == (codes, labels)


def test_quantiles_make_groups_of_equal_size():
    numbers = np.random.default_rng(1).permutation(1000)
    codes, labels = binned(numbers, quantiles=5)
    assert np.bincount(codes).tolist() == [200] * 5
    assert labels[0] == "under 200"
    assert labels[1] == "200 to 399"
    assert labels[-1] == "800 and above"


def test_quantiles_count_people():
    few = Bins(quantiles=2).apply(np.array([1.0, 2, 3, 4]), np.array([1, 1, 1, 97]))
    assert few[1] == ("under 4", "4 and above")
    assert binned([0] * 90 + list(range(1, 11)), quantiles=4)[1] == ["0 and above"]


@given(
    numbers=st.lists(st.integers(-1000, 1000), min_size=1, max_size=50),
    width=st.sampled_from([1, 3, 10, 0.5, 0.1, 7.25]),
)
def test_every_number_lies_in_its_bin(numbers, width):
    values = np.array(numbers, dtype=float)
    codes, labels = Bins(width=width).apply(values)
    assert codes.min() == 0
    assert codes.max() == len(labels) - 1
    start = np.floor(np.round(values.min() / width, 9)) * width
    low = start + codes * width
    assert (values >= low - 1e-6).all()
    assert (values < low + width + 1e-6).all()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "exactly one of .* got none"),
        ({"width": 1, "above": 2}, "got width and above"),
        ({"width": 0}, "`width` must be above 0"),
        ({"width": float("nan")}, "NaN"),
        ({"width": float("inf")}, "finite"),
        ({"edges": []}, "at least one"),
        ({"edges": [3, 3]}, "rising"),
        ({"edges": [3, 1]}, "rising"),
        ({"edges": [1, float("inf")]}, "finite"),
        ({"edges": "12"}, "list of numbers"),
        ({"edges": [1, "x"]}, "`edges` must be a number"),
        ({"edges": 5}, "list of numbers"),
        ({"quantiles": 1}, "at least 2"),
        ({"quantiles": 2.5}, "whole number"),
        ({"above": float("inf")}, "finite"),
        ({"above": "0"}, "must be a number"),
        ({"common": 0}, "at least 1"),
        ({"common": 2, "width": 1}, "got width and common"),
        ({"common": 2, "codes": ["N"]}, "`codes` go with bins of numbers"),
        ({"codes": ["N"]}, "exactly one of .* got none"),
        ({"width": 1, "codes": "N"}, "list of texts or numbers"),
        ({"width": 1, "codes": [None]}, "`codes` must be a number"),
    ],
)
def test_bad_bins(how, message):
    with pytest.raises(InputError, match=message):
        Bins(**how)
