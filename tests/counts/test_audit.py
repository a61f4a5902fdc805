"""Limits, determined cells, data sets and people, against all data sets one by one."""

import numpy as np
import pytest

from narcissus.counts import audit_tables, system

from .worlds import all_data_sets, world


@pytest.fixture(params=["crossed", "cliques", "tables"])
def crossing(request, monkeypatch):
    """How dimensions are crossed: all of them, by cliques, or each table by itself."""
    if request.param != "crossed":
        monkeypatch.setattr(system, "CROSSED", 0)
    if request.param == "tables":
        monkeypatch.setattr(system, "IN_CLIQUES", 0)
    return request.param


def check(seed, crossing):
    """Compare with enumeration, digit for digit, where all labels that exist are shown."""
    found = world(seed)
    shown = {k: {c.labels[k] for c in found.cells if k in c.labels} for k in found.dimensions}
    if any(shown[k] != set(v) for k, v in found.dimensions.items()):
        return None  # a dimension that no table shows is none
    vectors = all_data_sets(found)
    audit = audit_tables(found.cells, limit=1_000_000)
    inside = np.array([
        [cell.labels.items() <= one.items() for one in found.finest] for cell in found.cells
    ])  # fmt: skip
    sums = vectors @ inside.T
    least, most = sums.min(axis=0), sums.max(axis=0)
    exact = np.array([one.exact for one in audit.cells])
    low = np.array([one.low for one in audit.cells])
    high = np.array([one.high for one in audit.cells])
    assert (low <= least).all()
    assert (high >= most).all()
    assert (low[exact] == least[exact]).all()
    assert (high[exact] == most[exact]).all()
    assert exact.all() or crossing == "tables"
    assert audit.all_counted or crossing != "crossed"
    assert audit.data_sets is None or audit.data_sets <= len(vectors)
    assert audit.data_sets == len(vectors) or not audit.all_counted
    people = [one for one, n in zip(found.finest, vectors.min(axis=0), strict=True)
              for _ in range(n)]  # fmt: skip
    if audit.determined_people is not None:
        assert sorted(map(str, audit.people)) == sorted(map(str, people))
        assert audit.determined_people == len(people)
    return len(vectors), (~exact).sum()


@pytest.mark.repeats(80, 1000, "worlds")
def test_small_tables_as_by_enumeration(worlds, crossing):
    played = [one for seed in range(worlds) if (one := check(seed, crossing))]
    assert len(played) > worlds / 2
    assert min(played)[0] == 1
    assert max(played)[0] > 100
