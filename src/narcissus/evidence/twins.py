"""Canaries that move together: rows of one coin, by their places in the file and by their scores.

Each test compares how often two rows agree with how often independent fair coins do. Rows may be
one coin's side by side (a record and its copy), in parts of a file (all records, then all copies),
or alike in score. Copies whose scores differ and whose rows are shuffled are not told: for them the
coins are an assumption, and a column `cluster` names them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from narcissus._arrays import BoolArray, Floats
from narcissus.bounds import PoissonBinomial
from narcissus.errors import InputError

UNBELIEVABLE = 1e-6  # results of smaller probability refute coins of their own
_PARTS = range(2, 9)  # of a file that is made of copies, one after the other
_REMEDY = (
    "where one coin put several rows in, name them by one label in a column `cluster` (argument "
    "`clusters`); each cluster then counts once"
)


def require_no_twins(score: Floats, inside: BoolArray, chances: Floats | None = None) -> None:
    """Refuse rows that fair coins of their own make so alike with probability below 1e-6.

    score, inside: The canaries' scores, and whether each was in, shape (m,), as the file has them.
    chances: With which each was in, shape (m,); None: 1/2.

    InputError: Rows side by side, parts of the file, or rows of nearly one score move together.
    """
    m = inside.size
    chance = np.full(m, 0.5) if chances is None else chances
    places = np.arange(m)

    def agree(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
        p, q = chance[one], chance[other]
        law = PoissonBinomial(p * q + (1.0 - p) * (1.0 - q))
        same = int((inside[one] == inside[other]).sum())
        return law.tail(same) <= UNBELIEVABLE / len(_PARTS)

    if agree(places[0 : m - 1 : 2], places[1::2]):
        raise InputError(f"canaries move together: rows 1 and 2, 3 and 4, ... agree; {_REMEDY}")
    for parts in _PARTS:
        size = m // parts
        if m % parts == 0 and agree(places[:size], places[size : 2 * size]):
            raise InputError(
                f"canaries move together: the first {size:,} rows and the next {size:,} agree; "
                f"{_REMEDY}"
            )
    if chances is None and _alike_in_score(score, inside):
        raise InputError(f"canaries move together: rows of nearly one score agree; {_REMEDY}")


def _alike_in_score(score: Floats, inside: BoolArray) -> bool:
    """Say whether nearest pairs agree far more often than each pair does with its next row.

    A score that tells members makes near rows agree, the next one as well: of the places where only
    one of the two agrees, half are pairs.
    """
    order = np.argsort(score, kind="stable")
    value, coin = score[order], inside[order]
    if not np.isfinite(value).all():
        return False
    gaps = np.diff(value)
    around = np.concatenate([[np.inf], gaps, [np.inf]])
    nearest = (gaps < around[:-2]) & (gaps < around[2:])  # nearer than to the rows on both sides
    first = np.flatnonzero(nearest[:-1])
    pair = coin[first] == coin[first + 1]
    following = coin[first + 1] == coin[first + 2]
    by_pair, by_next = int((pair & ~following).sum()), int((following & ~pair).sum())
    return bool(stats.binom.sf(by_pair - 1, by_pair + by_next, 0.5) <= UNBELIEVABLE)


def of_clusters(
    score: Floats, inside: BoolArray, clusters: NDArray[np.generic]
) -> tuple[Floats, BoolArray]:
    """Return one canary a cluster: its mean score, and whether it was in, in order of first rows.

    InputError: A cluster has rows that were in and rows that were not.
    """
    if clusters.shape != score.shape:
        raise InputError(f"`clusters` must be of {score.size} scores, got shape {clusters.shape}")
    _, first, place = np.unique(clusters, return_index=True, return_inverse=True)
    place, times = place.ravel(), np.bincount(place.ravel())
    share = np.bincount(place, weights=inside) / times
    if ((share > 0) & (share < 1)).any():
        row = int(first[np.flatnonzero((share > 0) & (share < 1))[0]])
        raise InputError(
            f"`clusters`: the cluster of row {row + 1:,} has rows that were in and rows that were "
            "not; one coin puts a cluster in whole"
        )
    order = np.argsort(first)
    return (np.bincount(place, weights=score) / times)[order], share[order] == 1.0
