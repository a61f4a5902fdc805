"""An upper limit of Shannon capacity from samples, without a union over outputs or priors.

The capacity that the samples themselves seem to have is no less than the mean, over the best prior,
of the true density ``ln(C_so / q_o)`` on them, whose mean is the capacity itself. How seldom that
mean comes out small is bounded by its exponential moments. These are largest where an output either
names its secret outright or tells against it a little, and where the best prior rests on two
secrets.

Source: Narcissus theory 6.15.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from narcissus.channels.measures import shannon_leakage
from narcissus.channels.prior_draws import how_many
from narcissus.channels.samples import Codes, Samples
from narcissus.channels.shannon_capacity import shannon_capacity

Floats = NDArray[np.float64]

HEAVIEST = 1 - 1 / math.e
"""No secret is likelier under the best prior.

Source: Majani and Rumsey 1991, for two secrets; Narcissus theory 6.15."""
POWERS, COARSE, FINE, HALVINGS = 24, 50, 50, 40
"""Points of the grids, and halvings of an interval; more could only lower the limit."""
NEAR = 1e-7
"""Of a root, in nats; it is rounded up."""
LIGHT = 1e-6
"""What the secrets that are next to impossible under the best prior weigh together."""
RARE = 0.01
"""Share of the heaviest secret's chance below which one is left out of a prior that is chosen."""
ROOM = 1.5
"""Nats that a limit from one sample would be below the information, roughly."""


def capacity_high(data: Samples, alpha: float) -> float:
    """Limit the Shannon capacity over the secrets seen from above, in nats.

    Secrets with too few samples count as told for certain: with k of them the capacity is at most
    ``ln(e^c + k)``, c that of the others. Which ones is told by the numbers of samples alone.

    data: samples, independent given their secrets; numbers per secret fixed or random.
    alpha: chance that the limit is too low, in (0, 1).
    """
    each = np.bincount(data.secret, minlength=len(data.names))
    fewest = np.unique(each[each > 0])
    given_up = (each > 0).sum() - (each[:, None] >= fewest).sum(axis=0)
    best = int(np.argmin(np.exp(2 / np.sqrt(fewest)) + given_up))
    kept = each >= fewest[best]
    counts = _joined(data, kept)
    near = 0.01 / math.sqrt(float(fewest[best]))
    shown = sparse.diags_array(1 / counts.sum(axis=1)) @ counts
    seen = shannon_capacity(shown, tolerance=near).high * math.log(2)
    most = most_capacity(seen, int(fewest[best]), int(kept.sum()), alpha)
    return math.log(math.exp(most) + int(given_up[best]))


def promising_prior(data: Samples, aside: Codes) -> Floats:
    """Choose a prior whose information is likely to limit the Shannon capacity best from below.

    data: samples.
    aside: numbers of those by which it is chosen, in random order.
    Returns Floats: the uniform prior, or that which reaches the capacity that these samples seem to
        have, secrets of little weight left out. Shape (secrets,).
    """
    half = len(aside) // 2
    learned, held = (data.counts(part).T.tocsr() for part in (aside[:half], aside[half:]))
    sizes = [np.asarray(part.sum(axis=1)).ravel() for part in (learned, held)]
    there = (sizes[0] > 0) & (sizes[1] > 0)
    uniform = np.full(there.size, 1 / there.size)
    if there.sum() < 2:
        return uniform
    shown = [
        sparse.diags_array(1 / size[there]) @ counts[there]
        for size, counts in zip(sizes, (learned, held), strict=True)
    ]
    best = shannon_capacity(shown[0], tolerance=0.01).prior
    made = np.zeros(there.size)
    made[there] = np.where(best < RARE * best.max(), 0.0, best)
    left = np.bincount(data.secret) - np.bincount(data.secret[aside], minlength=there.size)

    def promise(prior: Floats) -> float:
        told = shannon_leakage(shown[1], prior[there] / prior[there].sum()) * math.log(2)
        return told - ROOM / math.sqrt(how_many(left, prior, data.size))

    return max(uniform, made / made.sum(), key=promise)


def _joined(data: Samples, kept: NDArray[np.bool_]) -> Any:
    """Count outputs by secret; those seen with one secret only are one, which changes nothing."""
    counts = data.counts().tocsc()[:, kept].tocsr()
    alone = np.flatnonzero(np.diff(counts.indptr) == 1)
    shared = np.flatnonzero(np.diff(counts.indptr) > 1)
    own = np.asarray(counts[alone].sum(axis=0)).ravel()
    return sparse.csr_array(
        sparse.hstack([counts[shared].T, sparse.diags_array(own.astype(np.float64))])
    )


def most_capacity(seen: float, size: int, secrets: int, alpha: float) -> float:
    """Return the largest capacity, in nats, that samples so often seem as low as these.

    seen: capacity of the channel of relative frequencies, or more than that.
    size: samples of each secret, or fewer than that.
    secrets: how many.
    alpha: chance that the limit is too low, in (0, 1).

    >>> round(most_capacity(0.1, 1000, 3, 0.025), 3)
    0.133
    """
    top = math.log(secrets)

    def beyond(capacity: float) -> float:
        return capacity - room(capacity, size, secrets, alpha) - seen

    least = max(seen, NEAR)  # nothing seems to leak with a capacity of 0, and with more as well
    if least >= top or beyond(top) <= 0:
        return top
    if beyond(least) >= 0:
        return least
    return min(top, float(optimize.brentq(beyond, least, top, xtol=NEAR, rtol=NEAR)) + 3 * NEAR)


def room(capacity: float, size: int, secrets: int, alpha: float) -> float:
    """Return how far below its capacity a channel seems, but for chance alpha (all in nats).

    Notes
    -----
    With ``e(u, a)`` from `excess`, Chernoff's bound at power r times the size gives
    ``min_r (max_pi sum_s e(r pi_s, pi_s) + ln(1/alpha)/size) / r``. Over cells of pi: one secret is
    the heaviest, and the others, no heavier, have at most the steepest ``e / pi`` up to there.
    """
    top = min(HEAVIEST, math.exp(-capacity))
    light = LIGHT / secrets
    edges = np.concatenate(
        [np.geomspace(light, top / 5, COARSE + 1)[:-1], np.linspace(top / 5, top, FINE + 1)]
    )
    least, most = edges[:-1], edges[1:]
    power = np.geomspace(1e-4, 0.999 / top, POWERS)[:, None]
    cell = excess(power * most, least, capacity)
    steepest = np.maximum.accumulate(cell / least, axis=1)
    others = np.searchsorted(least, np.minimum(most, 1 - least), side="right") - 1
    total = (cell + (1 - least) * steepest[:, others]).max(axis=1) + power[:, 0] * capacity * LIGHT
    return float(((total - math.log(alpha) / size) / power[:, 0]).min())


def excess(power: Floats, weight: Floats, capacity: float) -> Floats:
    """Limit ``ln E e^(-u l) + u c`` for a density ``l = ln(P/q)``, ``E l = c``, ``P <= q/weight``.

    Parameters
    ----------
    power
        u, in [0, 1), shape (..., weights).
    weight
        Of the secret in the mixture q, shape (weights,), at most ``e^-c``.
    capacity
        c, in nats, above 0.

    Returns
    -------
    Floats
        Reached where P/q has two values, ``1/weight`` and ``1 - d``: whatever u is.
    """
    ratio = 1 / weight
    low, high = np.zeros_like(weight), np.ones_like(weight)
    for _ in range(HALVINGS):
        d = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(d < 1, (1 - d) * np.log1p(-d), 0.0)
        told = (d * ratio * np.log(ratio) + (ratio - 1) * rest) / (ratio - 1 + d)
        under = told <= capacity
        low, high = np.where(under, d, low), np.where(under, high, d)
    named = low * ratio / (ratio - 1 + low)
    others = (1 - named) * np.expm1(-power * np.log1p(-low))
    return np.log1p(named * np.expm1(-power * np.log(ratio)) + others) + power * capacity
