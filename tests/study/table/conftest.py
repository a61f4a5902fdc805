"""What the tests of table studies share."""

from itertools import combinations

import pandas as pd
import pytest


@pytest.fixture(scope="session")
def counts_of():
    """Give a function that counts every k-way table that touches an unknown column."""

    def count(frame, unknown, k):
        lines = []
        for columns in combinations(frame.columns, k):
            if not set(columns) & set(unknown):
                continue
            levels = [sorted(frame[c].unique()) for c in columns]
            index = pd.MultiIndex.from_product(levels, names=columns)
            found = frame.groupby(list(columns)).size().reindex(index, fill_value=0)
            lines.append(found.rename("count").reset_index())
        return pd.concat(lines)

    return count
