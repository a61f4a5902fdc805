"""Scores of shadow models, checked where they enter."""

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.membership import shadow_scores


def test_what_is_given_is_kept():
    data = shadow_scores([[1, 2, 3], [4, 5, 6]], [[0, 1, 0], [1, 1, 0]], [0.5, 0.7, 0])
    assert data.models == 2
    assert data.outsiders.tolist() == [False, False, True]
    assert data.of([1]).scores.tolist() == [[4, 5, 6]]
    assert data.of([1]).members.tolist() == [[True, True, False]]
    assert shadow_scores(np.zeros((2, 1)), np.zeros((2, 1))).priors.tolist() == [0.5]


@pytest.mark.parametrize(
    ("scores", "members", "priors", "said"),
    [
        ([[1, 2]], [[0, 1]], None, "at least 2 models"),
        ([1, 2], [0, 1], None, "shape"),
        ([[1, 2], [3, 4]], [[0, 1]], None, "shape"),
        ([[1, 2], [3, float("inf")]], [[0, 1], [0, 1]], None, "model 1 on record 1"),
        ([[1, 2], [3, 4]], [[0, 2], [0, 1]], None, "0 .out. and 1"),
        ([["a", 2], [3, 4]], [[0, 1], [0, 1]], None, "numbers"),
        ([[1, 2], [3, 4]], [[0, 1], [0, 1]], [0.5], "2 records"),
        ([[1, 2], [3, 4]], [[0, 1], [0, 1]], [0.5, 0], "says 0 of record 1"),
        ([[1, 2], [3, 4]], [[0, 1], [0, 1]], [1, 0.5], "says 1 of record 0"),
    ],
)
def test_one_error_for_each_mistake(scores, members, priors, said):
    with pytest.raises(InputError, match=said):
        shadow_scores(scores, members, priors)
