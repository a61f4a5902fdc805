"""A counting query that answers only away from its ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from narcissus._validation import between, integer, positive
from narcissus.errors import InputError
from narcissus.mechanisms.base import ReleaseChannel, deterministic
from narcissus.worlds.base import Array


@dataclass(frozen=True)
class CountingQuery:
    """Release the exact share of ones; nothing (NaN) if it is below ``tau`` or above ``1 - tau``.

    Parameters
    ----------
    tau
        The cut, in [0, 1/2]; 0 always answers.

    Notes
    -----
    Source: Cohen et al. 2025 (the later version of 003), Appendix A.
    """

    tau: float = 0.0
    exchangeable = True

    def __post_init__(self) -> None:
        between("tau", self.tau, 0, 0.5)

    def release(self, data: Array, rng: np.random.Generator) -> Array:
        """Return the shares, shape (trials,)."""
        n = data.shape[1]
        if data.size != len(data) * n:
            raise InputError("the mechanism `counting-query` counts records of one value each")
        ones = data.reshape(len(data), n).sum(axis=1, dtype=np.int64)
        # Compared as counts, so that 3/10 is not below a cut of 0.3 by rounding.
        low = self.tau * n - 1e-9
        return np.where((ones >= low) & (n - ones >= low), ones / n, np.nan)

    def channel(self, data: Array) -> ReleaseChannel:
        """Write the mechanism out."""
        return deterministic(self.release(data, np.random.default_rng(0)))


def published_cut(epsilon: float, delta: float, n: int) -> tuple[float, float]:
    """Return ``gamma`` and ``tau`` of the paper's counting query.

    With them it is (epsilon, delta)-Narcissus-resilient for every prior of independent and alike
    records. `narcissus.smallest` finds far smaller cuts that suffice.

    Parameters
    ----------
    epsilon, delta
        Target; ``epsilon > 0``, ``0 < delta < 1``.
    n
        Records.

    Raises
    ------
    InputError
        The paper's conditions ``gamma >= 6`` and ``tau <= 1/4`` do not hold.

    Notes
    -----
    Source: Cohen et al. 2025 (the later version of 003), Appendix A.

    Examples
    --------
    >>> gamma, tau = published_cut(1, 0.01, 2100)
    >>> round(gamma, 5), round(tau, 6)
    (8.36533, 0.247389)
    """
    positive("epsilon", epsilon)
    between("delta", delta, 0, 1, open_low=True, open_high=True)
    integer("n", n, low=1)
    factor = (1 - delta) * math.exp(epsilon)
    if factor <= 1:
        raise InputError(f"`epsilon` and `delta` need (1 - delta) e^epsilon > 1, got {factor:g}")
    gamma = (6 * factor - 2) / (factor - 1)
    tau = (gamma**2 + 2 * gamma) * math.log(4 / delta) / n
    if gamma < 6:
        raise InputError(f"the paper's theorem needs gamma >= 6, got {gamma:g}")
    if tau > 0.25:
        raise InputError(
            f"the paper's theorem needs tau <= 1/4, got {tau:g}: `n` must be at least "
            f"{math.ceil(4 * tau * n)}"
        )
    return gamma, tau
