"""Rows far before in a file that tell the secret: any lag, and rows mirrored about any place.

Two files one below the other, of the same people, hold the secret of row i again half a file later;
one that was turned round holds it at the mirrored place. How often secrets agree at each lag, and
about each place, is a convolution, so all lags and places are compared at the same time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

from narcissus._arrays import Floats

Codes = NDArray[np.int64]

MOST_SECRETS = 4  # that are told apart, the most common ones
FEWEST_PAIRS = 30  # of rows that lie so far apart
FOUND = 5  # lags, and places, that agree most


def far_features(secret: NDArray[np.integer], fitted: int) -> Iterator[Codes]:
    """Yield the secrets far before each row, codes from 0, at the lags and places that tell most.

    secret: Of each row in the order of the file. fitted: First rows, which alone decide the choice.
    """
    values, codes, counts = np.unique(secret, return_inverse=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:MOST_SECRETS]
    codes = np.ravel(codes)
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[common] = 1 + np.arange(len(common))
    row_ranks, rows = ranks[codes], np.arange(len(codes))
    one_of_each = [(row_ranks[:fitted] == rank).astype(float) for rank in range(1, len(common) + 1)]
    lags = np.arange(1, fitted)
    for lag in lags[_best(_agree(one_of_each, is_mirrored=False)[fitted:], fitted - lags)]:
        yield _at(row_ranks, rows - lag, rows)
    centres = np.arange(2 * fitted - 1)
    pairs = (np.minimum(centres, 2 * fitted - 2 - centres) + 1) // 2
    each = _agree(one_of_each, is_mirrored=True)
    self_products = np.zeros_like(each)
    self_products[::2] = sum((indicator**2 for indicator in one_of_each), np.zeros(fitted))
    for centre in centres[_best((each - self_products) / 2, pairs)]:
        yield _at(row_ranks, centre - rows, rows)
    last = len(rows) - 1
    yield _at(row_ranks, last - rows, rows)


def _agree(one_of_each: list[Floats], *, is_mirrored: bool) -> Floats:
    """Return how much secrets agree beyond chance, at each lag or about each place."""
    total = np.zeros(2 * len(one_of_each[0]) - 1)
    for indicator in one_of_each:
        centred = indicator - indicator.mean()
        indicator[:] = centred
        total += fftconvolve(centred, centred if is_mirrored else centred[::-1])
    return np.round(total, 6)


def _best(agree: Floats, pairs: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the places of the largest agreement, by the number of pairs that it is a sum of."""
    scores = np.where(pairs >= FEWEST_PAIRS, agree / np.sqrt(np.maximum(pairs, 1)), -np.inf)
    best = np.argsort(-np.round(scores, 9), kind="stable")[:FOUND]
    return best[np.isfinite(scores[best])]


def _at(told: Codes, places: Codes, rows: Codes) -> Codes:
    """Return the secrets at some places, and 0 where these are not before the row."""
    is_before = (places >= 0) & (places < rows)
    return np.where(is_before, told[np.clip(places, 0, len(told) - 1)], 0)
