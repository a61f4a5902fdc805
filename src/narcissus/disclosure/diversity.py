"""How far those with equal known values share a secret: l-diversity and t-closeness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from narcissus.disclosure.classes import Codes, KeyClasses, Numbers


@dataclass(frozen=True)
class SecretMeasures:
    """What known values tell of one secret; each number is that of the worst class.

    secret: Its column.
    distinct: Fewest different secrets of those with equal known values (distinct l-diversity).
    entropy: Least l such that the entropy of their secrets is log l (entropy l-diversity).
    recursive: Least of the largest l with recursive (c, l)-diversity, c = 2.
    closeness: Largest distance t of their secrets from everybody's, in [0, 1]: of numbers the
        ordered one, else the equal one (half the sum of differences).
    is_ordered: Whether the secrets are numbers or bins.
    told: Number of people whose known values leave one secret only.
    nearest: Share of the people tried whose secret the nearest row of somebody else has, by the
        known values; None if nobody else is there.
    commonest: Share of all people who have the commonest secret.
    """

    secret: str
    distinct: int
    entropy: float
    recursive: int
    closeness: float
    is_ordered: bool
    told: int
    nearest: float | None
    commonest: float


def measure_secret(
    classes: KeyClasses,
    secret: Codes,
    *,
    name: str = "secret",
    ordered: bool = False,
    c: float = 2.0,
    nearest: float | None = None,
) -> SecretMeasures:
    """Measure a secret within the classes of equal known values.

    secret: Codes of the secret, in its order, shape (rows,); missing values are a value.
    c: Constant of recursive diversity, above 0.

    Source: Machanavajjhala et al. 2007 (l-diversity); Li et al. 2007, section 4 (its distances).

    >>> classes = key_classes(np.array([[0], [0], [1], [1]]))
    >>> measure_secret(classes, np.array([0, 1, 1, 1])).distinct
    1
    """
    values = np.unique(secret, return_inverse=True)[1].ravel()
    each, first = np.unique(  # rows of one person with the same known values and secret are one
        np.stack([classes.of_row, classes.units, values]), axis=1, return_index=True
    )
    shape = len(classes.keys), int(values.max()) + 1
    counts = scipy.sparse.csr_array((classes.times[first], (each[0], each[2])), shape)
    found = classes.matches @ counts
    found.sum_duplicates()
    whole = np.bincount(values[first], classes.times[first]) / classes.times[first].sum()
    kinds = np.diff(found.indptr)
    return SecretMeasures(
        secret=name,
        distinct=int(kinds.min()),
        entropy=float(_entropy(found).min()),
        recursive=int(_recursive(found, c).min()),
        closeness=float((_ordered if ordered else _equal)(found, whole).max()),
        is_ordered=ordered,
        told=classes.count((kinds == 1)[classes.of_row]),
        nearest=nearest,
        commonest=float(whole.max()),
    )


def _shares(found: scipy.sparse.csr_array) -> tuple[NDArray[np.intp], Numbers]:
    """Return for each entry its class, and its share of the class."""
    at = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    return at, found.data / np.bincount(at, found.data)[at]


def _entropy(found: scipy.sparse.csr_array) -> Numbers:
    """Return exp(entropy) of each class."""
    at, share = _shares(found)
    return np.exp(-np.bincount(at, share * np.log(share)))


def _recursive(found: scipy.sparse.csr_array, c: float) -> Codes:
    """Return the largest l of each class with r_1 < c (r_l + ... + r_m), at least 1."""
    at, _ = _shares(found)
    order = np.lexsort((-found.data, at))
    counts, first = found.data[order], found.indptr[:-1]
    before = np.cumsum(counts) - counts
    tail = np.add.reduceat(counts, first)[at] - (before - before[first][at])
    is_kept = counts[first][at] < c * tail - 1e-9
    is_kept[first] = True
    return np.add.reduceat(is_kept.astype(np.int64), first)


def _equal(found: scipy.sparse.csr_array, whole: Numbers) -> Numbers:
    at, share = _shares(found)
    above = np.maximum(share - whole[found.indices], 0.0)
    return np.bincount(at, above).astype(np.float64)


def _ordered(found: scipy.sparse.csr_array, whole: Numbers) -> Numbers:
    """Return the mean difference of cumulated shares, over all values but one.

    A class's cumulated share is constant between its values, and everybody's rises: so sums of
    their differences come from sums of the latter, split where they cross.
    """
    if len(whole) == 1:
        return np.zeros(found.shape[0])
    found.sort_indices()
    at, share = _shares(found)
    reached = np.cumsum(share)
    reached -= (reached - share)[found.indptr[:-1]][at]
    everybody = np.minimum(np.cumsum(whole), 1.0)
    sums = np.concatenate([[0.0], np.cumsum(everybody)])
    first = found.indptr[:-1]
    start = found.indices.astype(np.int64)
    end = np.append(start[1:], len(whole))
    end[np.append(first[1:], len(at)) - 1] = len(whole)
    middle = np.clip(np.searchsorted(everybody, reached), start, end)
    apart = reached * (2 * middle - start - end) + sums[start] + sums[end] - 2 * sums[middle]
    return (np.bincount(at, apart) + sums[start[first]]) / (len(whole) - 1)
