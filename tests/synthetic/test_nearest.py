"""Distances, against a loop."""

import numpy as np
import pandas as pd
import pytest

from narcissus.synthetic import assess, read_files


@pytest.mark.parametrize("block", [2**23, 50])
def test_distances_are_sums_over_columns(block, monkeypatch):
    monkeypatch.setattr(assess, "_BLOCK", block)
    rng = np.random.default_rng(1)

    def some(n):
        return pd.DataFrame(
            {
                "few": rng.integers(0, 9, n),
                "text": rng.choice(list("abc"), n),
                "many": rng.normal(size=n).round(3),
                "words": [f"w{i}" for i in rng.integers(0, 90, n)],
            }
        )

    real, synthetic = some(40), some(25)
    files = read_files(real, synthetic)
    # the files' rows stand in the order of their values
    order = sorted(real)
    real, synthetic = (frame.sort_values(order) for frame in (real, synthetic))
    both = pd.concat([real, synthetic])
    span = {c: np.ptp(both[c]) for c in ("few", "many")}
    columns = [0, 1, 2, 3]
    found = np.zeros((40, 25))
    for part, apart in assess.distances(
        files.table, files.rows("real"), files.rows("synthetic"), columns
    ):
        found[part] = apart
    for i, a in enumerate(real.itertuples(index=False)):
        for j, b in enumerate(synthetic.itertuples(index=False)):
            expected = abs(a.few - b.few) / span["few"] + abs(a.many - b.many) / span["many"]
            expected += (a.text != b.text) + (a.words != b.words)
            assert found[i, j] == pytest.approx(expected, abs=1e-5)
