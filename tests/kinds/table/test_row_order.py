"""Rows that tell the secrets of the next ones leave a verdict in favour open."""

import numpy as np
import pandas as pd
import pytest

from narcissus.kinds.table.nearest import nearest_rows
from narcissus.kinds.table.row_order import is_sorted
from narcissus.study.reading import read_record

ROWS = 1200


def in_time(rng, ages):
    """Return secrets of which 95 of 100 are that of the row before."""
    fresh, changes = rng.integers(0, 3, ROWS), rng.random(ROWS) < 0.07
    changes[0] = True
    return fresh[np.maximum.accumulate(np.where(changes, np.arange(ROWS), 0))]


def in_a_slow_season(rng, ages):
    """Return secrets whose chance moves with time; the row before alone tells little."""
    chance = 0.5 + 0.4 * np.sign(np.sin(np.arange(ROWS) * 2 * np.pi / 300))
    return (rng.random(ROWS) < chance).astype(int)


def independent(rng, ages):
    return (rng.random(ROWS) < 0.2 + 0.5 * (ages > 50)).astype(int)


def sorted_by_the_secret(rng, ages):
    return np.sort(independent(rng, ages))


@pytest.fixture
def audited(tmp_path, monkeypatch, narcissus, study):
    monkeypatch.chdir(tmp_path)

    def audit(make, *, shuffled=False, seed=5, **threat):
        rng = np.random.default_rng(seed)
        ages = rng.integers(2, 8, ROWS) * 10
        frame = pd.DataFrame({"age": ages, "town": rng.integers(0, 4, ROWS)})
        frame["illness"] = make(rng, ages)
        frame = frame.iloc[rng.permutation(ROWS)] if shuffled else frame
        frame.to_csv("people.csv", index=False)
        path = study(
            data={"path": "people.csv"},
            threat={"unknown": ["illness"], "targets": 100, **threat},
            mechanism={"k": 2, "epsilon": 0.05},
            run={"trials": 5, "seed": 2},
            threshold={"share": 0.9},
        )
        code, _, err = narcissus("audit", path, "--quiet", "--restart")
        assert code in (0, 1, 3), err
        return code, read_record("results/s/record.json")

    return audit


@pytest.mark.parametrize("make", [in_time, in_a_slow_season])
def test_rows_that_depend_on_their_neighbours_wait_for_one_declaration(audited, make):
    """Rows in time order, 98 of 100 with the diagnosis of the row before, were *met*."""
    code, record = audited(make)
    assert (code, record.status) == (3, "undeclared")
    [left] = record.detail.unaccounted
    assert left.subject == "the order of the rows"
    assert "`order_hidden = true` in [threat]" in left.declaration
    assert audited(make, order_hidden=True)[0] == 0
    assert audited(make, shuffled=True)[0] == 0


@pytest.mark.parametrize("make", [independent, sorted_by_the_secret])
def test_an_order_that_tells_nothing_stays_met(audited, make):
    code, record = audited(make)
    assert (code, record.status) == (0, "met")


def test_what_is_sorted_is_told_from_what_is_in_time():
    rng = np.random.default_rng(0)
    known = rng.integers(0, 3, (90, 2))
    secret = rng.integers(0, 4, 90)
    assert is_sorted(np.sort(secret)[:, None], known)
    by_town = np.lexsort([secret, known[:, 1]])
    assert is_sorted(secret[by_town][:, None], known[by_town])
    assert not is_sorted(secret[:, None], known)
    assert not is_sorted(np.repeat(secret, 5)[:, None], np.repeat(known, 5, axis=0))


def test_the_row_most_like_it_is_found_among_those_before():
    """By enumeration: the largest sum of -log shares of equal values."""
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (60, 5))
    asked, like = nearest_rows(values, 30)
    assert len(asked) == 7

    def alike(i, j):
        return sum(
            -np.log((values[:, c] == values[i, c]).mean())
            for c in range(5)
            if values[i, c] == values[j, c]
        )

    best = {i: max(alike(i, j) for j in range(i)) for i in range(30, 60)}
    for i, j in zip(asked.tolist(), like.tolist(), strict=True):
        assert j < i
        assert alike(i, j) == pytest.approx(best[i])
    assert min(best[i] for i in asked) >= sorted(best.values())[-7] - 1e-9
