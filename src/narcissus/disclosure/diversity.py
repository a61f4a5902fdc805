"""How far those with equal known values share a secret: l-diversity and t-closeness."""

from __future__ import annotations

import numpy as np
import scipy
from pydantic import Field

from narcissus.disclosure.classes import Codes, KeyClasses, Numbers
from narcissus.rows import Count, Fact, Positive, Share


class SecretMeasures(Fact):
    """What known values tell of one secret, of the worst group with equal known values."""

    secret: str = Field(description="Its column.")
    distinct: Positive = Field(description="Fewest different secrets: distinct l-diversity.")
    entropy: float = Field(ge=0, description="Entropy l-diversity, exp of the least entropy.")
    recursive: Positive = Field(description="Recursive (2, l)-diversity.")
    closeness: float = Field(ge=0, description="t-closeness: distance from everybody's secrets.")
    is_ordered: bool = Field(description="Whether by the ordered distance, else the equal one.")
    told: Count = Field(description="People whose known values leave one secret only.")
    nearest: Share | None = Field(description="Right by the nearest row of somebody else.")
    commonest: Share = Field(description="Right by the commonest secret.")


def measure_secret(
    classes: KeyClasses,
    secret: Codes,
    *,
    name: str = "secret",
    ordered: bool = False,
    nearest: float | None = None,
) -> SecretMeasures:
    """Measure a secret within the classes of equal known values.

    secret: Codes of the secret, in its order, shape (rows,); missing values are a value.

    Source: Machanavajjhala et al. 2007 (l-diversity); Li et al. 2007, section 4 (its distances).

    >>> from narcissus.disclosure import key_classes
    >>> classes = key_classes(np.array([[0], [0], [1], [1]]))
    >>> measure_secret(classes, np.array([0, 1, 1, 1])).distinct
    1
    """
    values = np.unique(secret, return_inverse=True)[1].ravel()
    # rows of one person with the same known values and secret are one
    key, _, value = np.unique(np.stack([classes.of_row, classes.units, values]), axis=1)
    shape = len(classes.people), int(values.max()) + 1
    found = classes.matches @ scipy.sparse.csr_array((np.ones(len(key)), (key, value)), shape)
    found.sort_indices()
    whole = np.bincount(value) / len(value)
    at = np.repeat(np.arange(shape[0]), np.diff(found.indptr))
    share = found.data / np.bincount(at, found.data)[at]
    distance = _ordered if ordered else _equal
    return SecretMeasures(
        secret=name,
        distinct=int(np.bincount(at).min()),
        entropy=float(np.exp(-np.bincount(at, share * np.log(share)).max())),
        recursive=int(_recursive(at, found.data, found.indptr[:-1]).min()),
        closeness=float(distance(at, share, found.indices.astype(np.int64), whole).max()),
        is_ordered=ordered,
        told=classes.count(np.bincount(at) == 1),
        nearest=nearest,
        commonest=float(whole.max()),
    )


def _recursive(at: Codes, counts: Numbers, first: Codes) -> Codes:
    """Return the largest l of each class with r_1 < 2 (r_l + ... + r_m), at least 1."""
    falling = counts[np.lexsort((-counts, at))]
    before = np.cumsum(falling) - falling
    tail = np.add.reduceat(falling, first)[at] - (before - before[first][at])
    is_kept = falling[first][at] < 2 * tail
    is_kept[first] = True
    return np.add.reduceat(is_kept.astype(np.int64), first)


def _equal(at: Codes, share: Numbers, values: Codes, whole: Numbers) -> Numbers:
    return np.bincount(at, np.maximum(share - whole[values], 0.0)).astype(np.float64)


def _ordered(at: Codes, share: Numbers, values: Codes, whole: Numbers) -> Numbers:
    """Return the mean difference of cumulated shares, over all values but one.

    A class's cumulated share is constant between its values, and everybody's rises: so sums of
    their differences come from sums of the latter, split where they cross.
    """
    first = np.flatnonzero(np.diff(at, prepend=-1))
    reached = np.cumsum(share) - np.arange(len(first))[at]  # shares of a class sum to 1
    everybody = np.minimum(np.cumsum(whole), 1.0)
    sums = np.concatenate([[0.0], np.cumsum(everybody)])
    end = np.append(values[1:], len(whole))
    end[np.append(first[1:], len(at)) - 1] = len(whole)
    middle = np.clip(np.searchsorted(everybody, reached), values, end)
    apart = reached * (2 * middle - values - end) + sums[values] + sums[end] - 2 * sums[middle]
    found = (np.bincount(at, apart) + sums[values[first]]) / max(1, len(whole) - 1)
    return np.maximum(found, 0.0)
