"""Canaries that move together: rows of one coin, by their places in the file and by their scores.

Each test compares two kinds of places of a file, rows that copies would be and rows that they would
not: among the places where only one kind agrees, half are of either kind if each row has a
separate coin, however the file is sorted. Copies may be side by side (a record and its copies), in
parts of a file (all records, then all copies), or near each other in score, shuffled or not. Copies
that are shuffled and whose scores differ by more than those of other rows are not told: for them
the coins are an assumption, and a column `cluster` names them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from narcissus._arrays import BoolArray, Floats
from narcissus.errors import InputError

UNBELIEVABLE = 1e-6  # results of smaller probability refute coins of their own
_COPIES = range(2, 9)  # of one record, that are looked for
_FARTHER = 9  # places, an odd number, beyond which a row in order of score is not near
_REMEDY = (
    "where one coin put several rows in, name them by one label in a column `cluster` (argument "
    "`clusters`); each cluster then counts once"
)


def require_no_twins(score: Floats, inside: BoolArray) -> None:
    """Refuse rows that fair separate coins make so alike with probability below 1e-6.

    score, inside: The canaries' scores, and whether each was in, shape (m,), as the file has them.

    InputError: Rows side by side, parts of the file, or rows of nearly one score move together.
    """
    m = inside.size
    for copies in _COPIES:
        firsts = np.arange(0, m - copies, copies)
        if _together(inside, (firsts, firsts + 1), (firsts + copies - 1, firsts + copies)):
            raise InputError(
                f"canaries move together: of {copies} rows each, side by side, the first two agree "
                f"and the last and the next one do not; {_REMEDY}"
            )
        size = m // copies
        places = np.arange(m - size - 1)
        if m % copies == 0 and _together(
            inside, (places, places + size), (places, places + size + 1)
        ):
            raise InputError(
                f"canaries move together: each row and the one {size:,} below it agree; {_REMEDY}"
            )
    if _alike_in_score(score, inside) or _near_in_score(score, inside):
        raise InputError(f"canaries move together: rows of nearly one score agree; {_REMEDY}")


def fair(inside: BoolArray, chances: Floats) -> BoolArray:
    """Return fair coins made of coins of known chances, by further coins of a fixed seed.

    A coin of chance ``q`` above 1/2 that came up is kept with chance ``1 / (2 q)``; one below that
    did not, with chance ``1 / (2 - 2 q)``. Coins that were independent stay so.
    """
    mask = np.random.default_rng(1).random(inside.size) < 0.5 / np.maximum(chances, 1.0 - chances)
    return np.where(chances >= 0.5, inside & mask, inside | ~mask)


Places = tuple[NDArray[np.int64], NDArray[np.int64]]


def _together(inside: BoolArray, copies: Places, others: Places) -> bool:
    """Say whether rows that would be copies agree far more often than rows that would not."""
    copy_agreements, other = (inside[first] == inside[second] for first, second in (copies, others))
    return _surpasses(copy_agreements, other)


def _surpasses(one: BoolArray, other: BoolArray) -> bool:
    """Say whether so many of the places where only one of two is true have it, by coins."""
    surplus, less = int((one & ~other).sum()), int((other & ~one).sum())
    return bool(stats.binom.sf(surplus - 1, surplus + less, 0.5) <= UNBELIEVABLE / len(_COPIES))


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
    return _surpasses(pair, following)


def _near_in_score(score: Floats, inside: BoolArray) -> bool:
    """Say whether rows agree with the next one in score far more often than with a farther one.

    Of three rows, in order of score, the first is at an even place and the others at odd ones:
    its coin is its own, and decides with which of two others that differ it agrees. A score that
    tells members makes nearer rows agree at most as many times more often as there are places
    between them, since the share of members rises once. Rows of one score are in an order drawn
    from a fixed seed, so that the order of the file tells nothing.
    """
    drawn = np.random.default_rng(0).permutation(inside.size)
    first = np.arange(0, inside.size - _FARTHER, 2)
    coin = inside[drawn][np.argsort(score[drawn], kind="stable")]
    near, far = coin[first] == coin[first + 1], coin[first] == coin[first + _FARTHER]
    surplus, less = int((near & ~far).sum()), int((far & ~near).sum())
    return bool(stats.binom.sf(surplus - _FARTHER - 1, surplus + less, 0.5) <= UNBELIEVABLE)


def first_of_clusters(inside: BoolArray, clusters: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return the places of the first row of each cluster, in their order.

    InputError: As `of_clusters`.
    """
    of_clusters(np.zeros(inside.size), inside, clusters)
    return np.sort(np.unique(clusters, return_index=True)[1])


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
