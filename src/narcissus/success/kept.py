"""Surprisal that a row must keep, given the attacker's side information, to count.

Source: Kaplan et al. 2025, Definition 4.4 and Remark 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import non_negative, probability

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Bits by which a surprisal may miss what is asked of it."""


@dataclass(frozen=True)
class KeptSurprisal:
    """The condition on ``h(z | K, others)`` for a recovered row ``z`` of the data set to count.

    Parameters
    ----------
    share
        Share of ``h(z | others)``, in [0, 1].
    bits
        Bits that must be left in addition, whatever the row had before, at least 0.
    fresh_share
        The same share for rows of fresh data, which count for the baseline only where they
        keep it; None sets no condition.
    """

    share: float
    bits: float = 0.0
    fresh_share: float | None = None

    def __post_init__(self) -> None:
        probability("share", self.share)
        non_negative("bits", self.bits)
        if self.fresh_share is not None:
            probability("fresh_share", self.fresh_share)

    @classmethod
    def of(cls, asked: float | KeptSurprisal) -> KeptSurprisal:
        """Convert a share alone to a condition."""
        return asked if isinstance(asked, KeptSurprisal) else cls(asked)

    @property
    def of_fresh(self) -> KeptSurprisal | None:
        """The condition on rows of fresh data; None for none."""
        return None if self.fresh_share is None else KeptSurprisal(self.fresh_share)

    def enough(self, told: Floats, plain: Floats) -> NDArray[np.bool_]:
        """Check surprisals with (``told``) and without (``plain``) ``K`` against the condition."""
        return np.asarray(told >= np.maximum(self.share * plain, self.bits) - ROUNDING)
