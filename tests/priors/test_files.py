"""One prior a person from a file."""

from __future__ import annotations

import numpy as np
import pytest

from narcissus.errors import InputError
from narcissus.priors import read_priors


@pytest.fixture
def written(tmp_path):
    def write(text: str, name: str = "people.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b,c\n0.5,0.3,0.2\n0.9,0.1,\n", "people.csv"),
        ("0.5,0.3,0.2\n0.9,0.1,0\n", "people.csv"),
        ("[[0.5, 0.3, 0.2], [0.9, 0.1]]", "people.json"),
    ],
)
def test_a_row_is_a_person_and_a_column_a_value(written, text, name):
    np.testing.assert_array_equal(
        read_priors(written(text, name)), [[0.5, 0.3, 0.2], [0.9, 0.1, 0]]
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n0.5,0.5\n0.5,0.6\n", r"row 2 \(line 3\), must sum to 1 .* got 1.1; write more"),
        ("0.333,0.333\n0.3,0.3\n", r"row 1 \(line 1\), must sum to 1 .* \(2 rows do not\)"),
        ("id,a,b\n7,0.5,0.5\n", r"row 1 \(line 2\), column `id`, must be a probability.*got 7"),
        ("a,b\n1.2,-0.2\n", "column `a`, must be a probability"),
        ("a,b\n0.5,0.5\n,\n0.5,0.5\n", r"row 2 \(line 3\), is empty; drop it"),
        ("a,b\n0.5,x\n", "column `b`, must be a number"),
        ("", "is empty"),
    ],
)
def test_what_is_no_prior_is_refused_by_its_place(written, text, said):
    with pytest.raises(InputError, match=said):
        read_priors(written(text))
