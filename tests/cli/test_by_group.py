"""The column of groups is taken out of the outputs, or refused by name."""

from __future__ import annotations

import pandas as pd
import pytest

from narcissus.cli.estimate import taken
from narcissus.errors import InputError


def test_the_column_is_no_output_any_more():
    outputs = pd.DataFrame({"time": [1, 2], "region": ["n", "s"]})
    assert taken(outputs, "region", "secret").tolist() == ["n", "s"]
    assert list(outputs) == ["time"]


@pytest.mark.parametrize(
    ("columns", "group", "words"),
    [
        (["time", "region"], "regoin", "did you mean `region`"),
        (["time", "region"], "secret", "names the column of secrets"),
        (["region"], "region", "no column of outputs"),
    ],
)
def test_what_cannot_be_taken(columns, group, words):
    outputs = pd.DataFrame({name: [1, 2] for name in columns})
    with pytest.raises(InputError, match=words):
        taken(outputs, group, "secret")
