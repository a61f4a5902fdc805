"""Priors over very many values, whose masses by rank follow a formula, grouped into few."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SINGLE = 4096  # values that are kept as they are, the likeliest; the others come in groups
_GROWTH = 1.005  # from the first to the last rank of a group
_ALIKE = 1e-12  # masses that differ by so little, relatively, are one


class RankedPrior(Protocol):
    """A distribution of a secret, by the ranks of its values from the likeliest on.

    It must be hashable, as results computed from it are cached.
    """

    @property
    def n(self) -> int:
        """Number of values."""
        ...

    def probability(self, rank: int) -> float:
        """Return the probability of the value of a rank, from 1; it falls with the rank."""
        ...

    def head(self, k: int) -> float:
        """Return the total probability of the ``k`` likeliest values, ``0 <= k <= n``."""
        ...

    def collision(self) -> float:
        """Return the probability that two independent draws are equal."""
        ...

    def describe(self) -> str:
        """Describe the distribution in words."""
        ...


@lru_cache(maxsize=16)
def spread(prior: RankedPrior) -> tuple[FloatArray, FloatArray]:
    """Return masses and counts, shapes (1, K), of a prior that is at least as easy to guess.

    The likeliest values are kept. Of each group of further ranks, from ``a`` to ``b``, some values
    get the mass of rank ``a`` and the others the mass of ``b``, in numbers that preserve the
    group's mass. The counts need not be whole, as in `narcissus.bounds.optimum`.

    Notes
    -----
    Source: Narcissus theory 4.11. *Proof.* With multipliers ``lambda`` of sum ``Lambda`` the bound
    on the success is ``Lambda + sum_z h(D_z - lambda_z, Lambda - lambda_z)``, ``h`` jointly convex
    (`narcissus.bounds.listed_optimum`). A value of mass ``t p_a + (1-t) p_b`` gets the multiplier
    ``t lambda_a + (1-t) lambda_b``: its term is at most ``t`` times the term of ``p_a`` plus
    ``1-t`` times the term of ``p_b``. So any bound for the spread prior by its multipliers, on one
    target or on a count, holds for the prior itself.
    """
    ends = _ends(prior.n)
    heads = [prior.head(end) for end in ends]
    masses: list[float] = []
    counts: list[float] = []
    for a, b, mass in zip(ends[:-1], ends[1:], np.diff(heads).tolist(), strict=True):
        size, high, low = b - a, prior.probability(a + 1), prior.probability(b)
        many = size if high - low <= _ALIKE * high else (mass - size * low) / (high - low)
        if size in (1, many):
            masses.append(high)
            counts.append(size)
        elif 1 <= many <= size - 1:
            masses += [high, low]
            counts += [many, size - many]
        else:  # rounding: all that the group has, in values of its likeliest
            masses.append(high)
            counts.append(max(1.0, mass / high))
    rows, many_each = np.array([masses]), np.array([counts], dtype=np.float64)
    return rows / float((rows * many_each).sum()), many_each


def _ends(n: int) -> list[int]:
    """Return the last rank of each group, from 0 on."""
    ends = list(range(min(n, SINGLE) + 1))
    while ends[-1] < n:
        ends.append(min(n, int(ends[-1] * _GROWTH)))
    if len(ends) > SINGLE + 2 and ends[-1] - ends[-2] < SINGLE * (_GROWTH - 1):
        del ends[-2]  # the last group is no smaller than the others
    return ends
