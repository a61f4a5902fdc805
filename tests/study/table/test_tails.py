"""Tails as they are kept: whole of few people, of many a part that is never too small."""

import numpy as np
import pytest

from narcissus.bounds import PoissonBinomial
from narcissus.study.table import tails
from narcissus.study.table.tails import mean_tails, packed, unpacked


def table_of(chances, spent):
    table = np.minimum(PoissonBinomial(chances).tails() + spent, 1.0)
    table[-1] = 0.0
    return table


def test_of_few_people_all_is_kept():
    table = table_of(np.full(20, 0.3), 0.01)
    kept = packed("tails/0", table)
    assert list(kept) == ["tails/0"]
    assert kept["tails/0"] is table
    np.testing.assert_array_equal(unpacked(kept, "tails/0", 20), table)


@pytest.mark.parametrize("chance", [0.0001, 0.3, 0.9999])
@pytest.mark.parametrize("spent", [0.0, 0.02, 0.7, 2.0])
def test_of_many_people_nothing_is_too_small(monkeypatch, chance, spent):
    """With 40 standard deviations kept, the rest is told to the last digit that counts."""
    n = 20_000
    monkeypatch.setattr(tails, "KEPT", 4000)
    table = table_of(np.full(n, chance), spent)
    kept = packed("published", table)
    assert kept["published"].shape == (4000,)
    whole = unpacked(kept, "published", n)
    assert whole.shape == table.shape
    assert (whole >= table).all()
    assert (np.diff(whole) <= 0).all()
    np.testing.assert_allclose(whole, table, rtol=0, atol=1e-100)


def test_means_are_over_whole_tables(monkeypatch):
    monkeypatch.setattr(tails, "KEPT", 700)
    tables = [table_of(np.full(3000, chance), 0.01) for chance in (0.2, 0.5, 0.6)]
    trials = [packed("tails/0", table) for table in tables]
    np.testing.assert_allclose(mean_tails(trials, "tails/0", 3000), np.mean(tables, axis=0))
    few = [{"tails/0": table} for table in tables]
    np.testing.assert_array_equal(mean_tails(few, "tails/0", 3000), np.mean(tables, axis=0))
