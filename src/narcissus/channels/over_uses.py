"""How Bayes security falls with the number of outputs that an attacker sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from narcissus._validation import integer
from narcissus.channels.compose import MOST_WRITTEN, ComposedSecurity, mixed_security
from narcissus.errors import InputError


@dataclass(frozen=True)
class AfterOutputs:
    """Bayes security after so many outputs in all."""

    outputs: int
    security: ComposedSecurity


def security_over_uses(
    uses: Sequence[tuple[Any, int]], *, points: int = 12, tolerance: float = 1e-3
) -> list[AfterOutputs]:
    """Return the Bayes security after the first outputs, up to all of them.

    Parameters
    ----------
    uses
        As in `mixed_security`; the outputs of one channel come after those of the one before.
    points
        At how many numbers of outputs, at most, in equal factors; at least 2.
    tolerance
        As in `mixed_security`; the limits hold anyway.

    Returns
    -------
    list of AfterOutputs
        The last one of all outputs, which never leak less than fewer of them.

    Examples
    --------
    >>> from narcissus.channels import KaryRandomizedResponse
    >>> found = security_over_uses([(KaryRandomizedResponse(10, 1).channel(), 20)], points=3)
    >>> [(one.outputs, round(one.security.beta_star, 4)) for one in found]
    [(1, 0.8534), (4, 0.6206), (20, 0.2336)]
    """
    given = [(one, integer("times", times, low=1)) for one, times in uses]
    if not given:
        raise InputError("composition needs at least one channel")
    total = sum(times for _, times in given)
    sizes = np.geomspace(1, total, integer("points", points, low=2)).round().astype(int)
    return [
        AfterOutputs(
            size, mixed_security(_first(given, size), most=MOST_WRITTEN, tolerance=tolerance)
        )
        for size in sorted(set(sizes.tolist()))
    ]


def _first(uses: Sequence[tuple[Any, int]], size: int) -> list[tuple[Any, int]]:
    """Keep the first so many outputs."""
    kept: list[tuple[Any, int]] = []
    for one, times in uses:
        if size > 0:
            kept.append((one, min(times, size)))
        size -= times
    return kept
