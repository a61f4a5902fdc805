"""Lower limits of channels whose likelihood ratios are assumed to be monotone.

The best event of a pair is then a half-line, the easiest pair the two ends, and the best rule for
all secrets a staircase. There are few of these, so that even continuous outputs have a limit.

Source: Karlin and Rubin 1956; Narcissus theory 6.10.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from narcissus.channels.lower_limits import ALIKE, Counts, below, of_events, thinned
from narcissus.channels.samples import Samples, restricted


def monotone_security_low(data: Samples, low: int, high: int, side: float) -> float:
    """Limit `beta*` from below: at least so large but for chance ``side``.

    Parameters
    ----------
    low, high
        Numbers of the smallest and the largest secret.
    """
    two = restricted(data, np.array([low, high]))
    assert two.points is not None
    each = np.bincount(two.secret)
    is_alike = each.max() <= ALIKE * each.min()
    counts = two.counts(thinned(two.secret) if is_alike else None)
    rising = np.argsort(two.points[:, 0], kind="stable")
    rows: Counts = np.rint(counts[rising].toarray().T).astype(np.int64)
    sizes = int(rows[0].sum()), int(rows[1].sum())
    # of the smaller secret above each threshold, of the larger up to it; and the other way round
    above = np.r_[sizes[0], sizes[0] - np.cumsum(rows[0])]
    upto = np.r_[0, np.cumsum(rows[1])]
    return of_events(np.r_[above, sizes[0] - above], np.r_[upto, sizes[1] - upto], sizes, side)


def monotone_risk_low(data: Samples, order: Sequence[int], side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    Parameters
    ----------
    order
        Numbers of the secrets, from the smallest to the largest.

    Notes
    -----
    The best staircase in hindsight is found by dynamic programming: up to each output, the most
    samples that are right if the last said is each of the secrets.
    """
    assert data.points is not None
    rising = np.argsort(data.points[:, 0], kind="stable")
    counts = data.counts()[rising][:, list(order)]
    right = 0.0
    for turned in (counts, counts[:, ::-1]):
        best = np.zeros(len(order))
        rows = turned.tocsr()
        for row in range(rows.shape[0]):
            best = np.maximum.accumulate(best)
            start, stop = rows.indptr[row], rows.indptr[row + 1]
            best[rows.indices[start:stop]] += rows.data[start:stop]
        right = max(right, float(best.max()))
    return below(data.size - round(right), data.size, side)
