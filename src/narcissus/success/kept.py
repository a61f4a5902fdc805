"""How much of its surprisal a row must keep, once the attacker was told something, to count.

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
    """What is asked of ``h(z | K, others)`` for a recovered row ``z`` of the data set to count.

    Parameters
    ----------
    share
        Share of ``h(z | others)``, in [0, 1].
    bits
        Bits that must be left besides, whatever the row had before, at least 0.
    fresh_share
        The same share for rows of fresh data, which then count for the baseline only where they
        keep it; None asks nothing of them.
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
        """Take a share alone, or all that is asked."""
        return asked if isinstance(asked, KeptSurprisal) else cls(asked)

    @property
    def of_fresh(self) -> KeptSurprisal | None:
        """What is asked of rows of fresh data; None for nothing."""
        return None if self.fresh_share is None else KeptSurprisal(self.fresh_share)

    def enough(self, told: Floats, plain: Floats) -> NDArray[np.bool_]:
        """Say of surprisals, to who knows ``K`` and who does not, whether enough is left."""
        return np.asarray(told >= np.maximum(self.share * plain, self.bits) - ROUNDING)
