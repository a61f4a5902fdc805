"""What earlier rows say of a row: it is never its own secret or a later one, and finds blocks."""

import numpy as np
import pytest

from narcissus.kinds.table.earlier import earlier_features
from narcissus.kinds.table.lookup import agreement

ROWS = 1500


def blocks(rng, length, group):
    """Return arms that are balanced in blocks of each group."""
    arms = np.zeros(len(group), dtype=np.int64)
    for value in np.unique(group):
        rows = np.flatnonzero(group == value)
        drawn = [rng.permutation(np.arange(length) % 2) for _ in range(len(rows) // length + 1)]
        arms[rows] = np.concatenate(drawn)[: len(rows)]
    return arms


def in_blocks_of_a_site(rng, site, town):
    return blocks(rng, 4, site)


def in_blocks_of_a_site_and_town(rng, site, town):
    return blocks(rng, 6, 10 * site + town)


def case_of_a_set(rng, site, town):
    """Return one case in each set of five rows of a town, in any place."""
    return np.concatenate([rng.permutation([1, 0, 0, 0, 0]) for _ in range(ROWS // 5)])


def twelve_rows_on(rng, site, town):
    secret = rng.integers(0, 2, ROWS)
    for row in range(12, ROWS):
        secret[row] = secret[row - 12] if rng.random() < 0.9 else secret[row]
    return secret


def last_of_a_round(rng, site, town):
    return (np.arange(ROWS) % 31 < 15).astype(np.int64)


def best(secret, known):
    classes = np.unique(secret, return_inverse=True)[1]
    return max(agreement(feature, classes) for feature in earlier_features(secret, known))


MADE = {
    in_blocks_of_a_site: 0.6,
    in_blocks_of_a_site_and_town: 0.57,
    case_of_a_set: 0.72,
    twelve_rows_on: 0.75,
    last_of_a_round: 0.99,
}


@pytest.mark.parametrize(("make", "least"), MADE.items())
def test_an_order_is_a_feature(make, least):
    rng = np.random.default_rng(1)
    site, town = rng.integers(0, 8, ROWS), rng.integers(0, 3, ROWS)
    secret, known = make(rng, site, town), np.column_stack([site, town])
    assert best(secret, known) > least
    assert best(rng.permutation(secret), known) < max(0.56, least - 0.02)


def test_no_feature_of_a_row_depends_on_its_secret_or_a_later_one():
    """Of 300 rows: other secrets from row 200 on leave all features up to it as they were."""
    rng = np.random.default_rng(2)
    known, secret = rng.integers(0, 4, (300, 2)), np.arange(300) % 3
    changed = secret.copy()
    changed[200:] = rng.permutation(secret[200:])
    pairs = zip(earlier_features(secret, known), earlier_features(changed, known), strict=True)
    for one, other in pairs:
        # numbers of combinations may differ, which rows share one may not
        assert len({*zip(one[:201].tolist(), other[:201].tolist(), strict=True)}) == len(
            {*one[:201].tolist()}
        )


def test_few_rows_and_one_secret_have_features_too():
    for rows in (2, 5):
        found = list(earlier_features(np.zeros(rows, dtype=int), np.zeros((rows, 1), dtype=int)))
        assert all(feature.shape == (rows,) for feature in found)
