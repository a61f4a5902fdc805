"""Attacks by name: from scores of targets and shadows to scores of membership."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from narcissus._validation import one_of
from narcissus.membership.lira import lira
from narcissus.membership.rmia import rmia
from narcissus.membership.shadows import ShadowScores

FloatArray = NDArray[np.float64]
MembershipScore = Callable[[FloatArray, ShadowScores], FloatArray]


def own_score(targets: FloatArray, shadows: ShadowScores) -> FloatArray:
    """Return the scores unchanged: one threshold for all records, or an attack of the user's."""
    return targets


ATTACKS: dict[str, MembershipScore] = {
    "lira": lira,
    "lira-fixed": partial(lira, variance="fixed"),
    "lira-offline": partial(lira, offline=True),
    "lira-offline-fixed": partial(lira, offline=True, variance="fixed"),
    "rmia": rmia,
    "rmia-offline": partial(rmia, offline=True),
    "score": own_score,
}
"""Name -> attack; it may look at the shadows' membership, never at that of the targets."""


def attack_scores(name: str, targets: FloatArray, shadows: ShadowScores) -> FloatArray:
    """Attack targets with one of `ATTACKS`; larger: more likely in, shape (targets, records)."""
    return ATTACKS[one_of("attack", name, ATTACKS)](targets, shadows)
