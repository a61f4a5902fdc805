"""Lower limits of channels that are assumed to treat all secrets alike, as randomised response.

One chance then says all: that a secret is shown as itself. All samples tell of it.

Source: Narcissus theory 6.10.
"""

from __future__ import annotations

import numpy as np

from narcissus.channels.lower_limits import below
from narcissus.channels.samples import Samples


def symmetric_security(kept: float, secrets: int) -> float:
    """Give `beta*` from the chance that a secret is shown as itself.

    Parameters
    ----------
    kept
        That chance, in [0, 1]; each other secret is shown with the same share of the rest.
    secrets
        How many, at least 2.
    """
    other = (1 - kept) / (secrets - 1)
    return min(1.0, 2 * min(kept, other) + (secrets - 2) * other)


def symmetric_security_low(data: Samples, side: float) -> float:
    """Limit `beta*` from below: at least so large but for chance ``side``.

    Notes
    -----
    `beta*` rises with the chance to be shown as oneself up to ``1 / secrets`` and falls from there:
    only the limit on the far side can be the one that fails, so both may have all of ``side``.
    """
    assert data.shown is not None
    right = int((data.shown[data.output] == data.secret).sum())
    secrets = len(data.names)
    low, high = below(right, data.size, side), 1 - below(data.size - right, data.size, side)
    return min(symmetric_security(low, secrets), symmetric_security(high, secrets))


def symmetric_risk_low(data: Samples, side: float) -> float:
    """Limit the Bayes risk from below: at least so large but for chance ``side``.

    Notes
    -----
    The best rule says of an output either that secret or one that is the same for all (the
    commonest); where a secret is shown as itself less often than as another, the commonest, or of
    its own output one other. The best of these in hindsight errs no more often than the true one.
    """
    assert data.shown is not None
    size = len(data.names)
    counts = np.zeros((size, size), dtype=np.int64)  # output, secret
    np.add.at(counts, (data.shown[data.output], data.secret), 1)
    own = np.diag(counts)
    right = int(np.maximum(own[:, None], counts).sum(axis=0).max())
    others = counts.copy()
    np.fill_diagonal(others, 0)
    right = max(right, int((others.sum(axis=0) + others.max(axis=1)).max()))
    return below(data.size - right, data.size, side)
